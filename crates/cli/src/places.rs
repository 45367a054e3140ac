//! Keeps outputs off what a run reads, and off each other.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::failure::{Code, Failure, Result};

/// A kind of database.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Counted k-mers.
    Gyk,
    /// Features of references.
    Gydb,
}

impl Kind {
    /// What its file begins with.
    fn magic(self) -> [u8; 7] {
        match self {
            Kind::Gyk => *b"GYRASEK",
            Kind::Gydb => *b"GYRASED",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Kind::Gyk => ".gyk",
            Kind::Gydb => ".gydb",
        }
    }
}

/// Refuses an output that is one of the inputs, or two outputs of one name: what was read would be lost.
pub fn keep_apart<'a>(
    inputs: impl IntoIterator<Item = &'a PathBuf>,
    outputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<()> {
    let inputs: Vec<_> = inputs.into_iter().collect();
    let mut named: Vec<&PathBuf> = Vec::new();
    for output in outputs.into_iter().filter(|path| path.as_os_str() != "-") {
        if inputs.iter().any(|input| same(input, output)) {
            return Err(Failure::usage(format!("{} is an input; name another file to write", output.display())));
        }
        if named.iter().any(|other| same(other, output)) {
            return Err(Failure::usage(format!("{} is named for two outputs", output.display())));
        }
        named.push(output);
    }
    Ok(())
}

/// True when both are one file, or will be; devices and pipes may be shared.
fn same(a: &Path, b: &Path) -> bool {
    match (a.metadata(), b.metadata()) {
        (Ok(a), Ok(b)) => a.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino()),
        (Err(_), Err(_)) => place(a).is_some_and(|place_of_a| Some(place_of_a) == place(b)),
        _ => false,
    }
}

/// Where a file that is not there yet will be, however its folder is spelled.
fn place(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

/// Refuses to put a database in the place of a file that is none of its kind, such as reads whose name slipped behind `-o`.
pub fn keep_databases_only(output: &Path, kind: Kind) -> Result<()> {
    // A pipe would not be opened before somebody writes to it; an empty file is a reserved name.
    if !output.metadata().is_ok_and(|there| there.is_file() && there.len() > 0) {
        return Ok(());
    }
    let mut start = kind.magic();
    let foreign = match File::open(output).and_then(|mut file| file.read_exact(&mut start)) {
        Ok(()) => start != kind.magic(),
        Err(error) => error.kind() == ErrorKind::UnexpectedEof,
    };
    if foreign {
        let (path, ending) = (output.display(), kind.ending());
        let what = format!("it exists and is no {ending} database; remove it first, or name another file with -o");
        return Err(Failure::new(Code::Output, format!("cannot write {path}: {what}")));
    }
    Ok(())
}
