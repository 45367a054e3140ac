//! Keeps outputs off what a run reads, and off each other.

use std::collections::HashSet;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use gyrase_fastx::Compression;
use gyrase_picture::Svg;
use gyrase_seqdb::gysd;
use gyrase_suffix::gysa;
use gyrase_table::{gydb, gyk};

use crate::failure::{Code, Failure, Result};

/// Refuses standard input, which the processes of a job cannot share.
pub fn refuse_standard_input<'p>(inputs: impl IntoIterator<Item = &'p PathBuf>) -> Result<()> {
    if !inputs.into_iter().any(|input| input.as_os_str() == "-") {
        return Ok(());
    }
    let what = "several processes cannot share standard input; give files that all of them can \
                open, or use one process";
    Err(Failure::usage(what))
}

/// A kind of database.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Counted k-mers.
    Gyk,
    /// Features of references.
    Gydb,
    /// Sequences.
    Gysd,
    /// Suffixes of sequences.
    Gysa,
}

impl Kind {
    /// What its file begins with, but for the end of the line, which other systems change.
    fn start(self) -> [u8; 7] {
        let magic = match self {
            Kind::Gyk => gyk::MAGIC,
            Kind::Gydb => gydb::MAGIC,
            Kind::Gysd => gysd::MAGIC,
            Kind::Gysa => gysa::MAGIC,
        };
        let [start @ .., b'\n'] = magic else {
            unreachable!("magics end a line")
        };
        start
    }

    fn ending(self) -> &'static str {
        match self {
            Kind::Gyk => ".gyk",
            Kind::Gydb => ".gydb",
            Kind::Gysd => ".gysd",
            Kind::Gysa => ".gysa",
        }
    }
}

/// The name of standard output, where a verb prints what it is asked for.
pub fn standard_output() -> &'static PathBuf {
    static NAME: LazyLock<PathBuf> = LazyLock::new(|| "-".into());
    &NAME
}

/// Where an output goes that need not be named.
pub fn or_standard_output(named: &Option<PathBuf>) -> &PathBuf {
    named.as_ref().unwrap_or(standard_output())
}

/// The name of an output without the ending that says how it is compressed.
pub fn without_compression(path: &Path) -> PathBuf {
    match Compression::for_output(path) {
        Compression::Plain => path.to_path_buf(),
        _ => path.with_extension(""),
    }
}

/// True where the name of an output says that it is compressed.
pub fn is_compressed(path: &Path) -> bool {
    Compression::for_output(path) != Compression::Plain
}

/// True where a file will be, not a stream or a device.
pub fn is_file(path: &Path) -> bool {
    path.as_os_str() != "-" && path.metadata().map_or(true, |there| there.is_file())
}

/// True where a file will be that holds the text as it is.
pub fn is_plain(path: &Path) -> bool {
    is_file(path) && Compression::for_output(path) == Compression::Plain
}

/// How a picture is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// As text, compressed where the name says so.
    Svg,
    /// As pixels.
    Png,
}

impl Picture {
    /// What the name of a file says; what has none is SVG. Refuses other names.
    pub fn of(path: &Path) -> Result<Picture> {
        let plain = without_compression(path);
        let ending = plain.extension().unwrap_or_default().to_ascii_lowercase();
        let is_device = || path.metadata().is_ok_and(|there| !there.is_file());
        let (path, plain) = (path.display(), plain.as_path());
        if ending == "svg" || plain.as_os_str() == "-" || is_device() {
            return Ok(Picture::Svg);
        }
        if ending != "png" {
            let names = ["svg", "png"].map(|ending| plain.with_extension(ending));
            return Err(Failure::usage(format!(
                "{path} names no kind of picture; name it {} or {}",
                names[0].display(),
                names[1].display()
            )));
        }
        if path.to_string() != plain.display().to_string() {
            return Err(Failure::usage(format!(
                "{path} would compress a PNG again, which makes it no smaller; name it {}",
                plain.display()
            )));
        }
        Ok(Picture::Png)
    }

    /// The file.
    pub fn finish(self, svg: Svg) -> Vec<u8> {
        match self {
            Picture::Svg => svg.finish().into_bytes(),
            Picture::Png => svg.finish_png(),
        }
    }
}

/// Endings of compressed files and archives that nothing here writes.
const FOREIGN: [&str; 12] = [
    "7z", "br", "lz", "lz4", "lzma", "lzo", "rar", "sz", "tar", "tgz", "z", "zip",
];

/// Refuses a name that promises another compression than there is.
fn refuse_foreign(output: &Path) -> Result<()> {
    let ending = output.extension().unwrap_or_default().to_ascii_lowercase();
    if ending
        .to_str()
        .is_none_or(|ending| !FOREIGN.contains(&ending))
    {
        return Ok(());
    }
    let names = ["gz", "zst", "bz2", "xz"].map(|ending| output.with_extension(ending));
    let [gz, zst, bz2, xz] = names.each_ref().map(|name| name.display());
    Err(Failure::usage(format!(
        "{} names a compression that is not written here; name it {gz}, {zst}, {bz2} or {xz}",
        output.display()
    )))
}

/// Refuses an output that is one of the inputs, two outputs of one name (what was read would be
/// lost), two on standard output, and names of compressions that are not written.
pub fn keep_apart<'a>(
    inputs: impl IntoIterator<Item = &'a PathBuf>,
    outputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<()> {
    let inputs = inputs.into_iter().filter_map(|path| identity(path));
    all_apart(&inputs.collect(), &outputs.into_iter().collect::<Vec<_>>())
}

fn all_apart(inputs: &HashSet<Identity>, outputs: &[&PathBuf]) -> Result<()> {
    let mut named = HashSet::new();
    let mut streamed = false;
    for output in outputs {
        if output.as_os_str() == "-" {
            if std::mem::replace(&mut streamed, true) {
                return Err(Failure::usage(
                    "two outputs go to standard output; give one of them a file, as -o FILE and \
                     --report FILE do",
                ));
            }
            continue;
        }
        refuse_foreign(output)?;
        let Some(identity) = identity(output) else {
            continue;
        };
        if inputs.contains(&identity) {
            return Err(Failure::usage(format!(
                "{} is an input; name another file to write",
                output.display()
            )));
        }
        if !named.insert(identity) {
            return Err(Failure::usage(format!(
                "{} is named for two outputs",
                output.display()
            )));
        }
    }
    Ok(())
}

/// Refuses a file that is named twice among inputs that are to be different.
pub fn keep_different(inputs: &[PathBuf]) -> Result<()> {
    match twice(inputs) {
        Some(path) => Err(Failure::usage(format!(
            "{} is named twice; name different files",
            path.display()
        ))),
        None => Ok(()),
    }
}

/// The first input that is named twice.
pub fn twice(inputs: &[PathBuf]) -> Option<&PathBuf> {
    let mut named = HashSet::new();
    inputs.iter().find(|path| match path.as_os_str() == "-" {
        true => !named.insert(Identity::ToCome("-".into())),
        false => identity(path).is_some_and(|identity| !named.insert(identity)),
    })
}

/// What two names of one file have in common.
#[derive(PartialEq, Eq, Hash)]
enum Identity {
    /// Device and number of a file that is there.
    There(u64, u64),
    /// The place of one that is not.
    ToCome(PathBuf),
}

/// Nothing for devices and pipes, which may be shared.
fn identity(path: &Path) -> Option<Identity> {
    match path.metadata() {
        Ok(there) => there
            .is_file()
            .then(|| Identity::There(there.dev(), there.ino())),
        Err(_) => place(path).map(Identity::ToCome),
    }
}

/// Where a file that is not there yet will be, however its folder is spelled.
fn place(path: &Path) -> Option<PathBuf> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

/// Refuses to put a database in the place of a file that is none of its kind, such as reads whose
/// name slipped behind `-o`, to write one to standard output, and a name that says compressed.
pub fn keep_databases_only(output: &Path, kind: Kind) -> Result<()> {
    let plain = without_compression(output);
    if plain != output {
        let (ending, output) = (kind.ending(), output.display());
        return Err(Failure::usage(format!(
            "a {ending} database is not compressed as a whole, as {output} says; name it {}",
            plain.display()
        )));
    }
    if output.as_os_str() == "-" {
        let ending = kind.ending();
        let what = "database cannot go to standard output, since it appears whole or not at all; \
                    name a file with -o";
        return Err(Failure::usage(format!(
            "a {ending} {what}, such as -o x{ending}"
        )));
    }
    // A pipe would not be opened before somebody writes to it; an empty file is a reserved name.
    if !output
        .metadata()
        .is_ok_and(|there| there.is_file() && there.len() > 0)
    {
        return Ok(());
    }
    let mut start = kind.start();
    let foreign = match File::open(output).and_then(|mut file| file.read_exact(&mut start)) {
        Ok(()) => start != kind.start(),
        Err(error) => error.kind() == ErrorKind::UnexpectedEof,
    };
    if foreign {
        let (path, ending) = (output.display(), kind.ending());
        let what = format!(
            "it exists and is no {ending} database; remove it first, or name another file with -o"
        );
        return Err(Failure::new(
            Code::Output,
            format!("cannot write {path}: {what}"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use gyrase_files::container::what_it_is;

    use super::*;

    #[test]
    fn every_kind_is_known_by_what_it_begins_with() {
        for kind in [Kind::Gyk, Kind::Gydb, Kind::Gysd, Kind::Gysa] {
            let start = [&kind.start()[..], b"\n"].concat();
            let what = what_it_is(&start).expect("it is a format of this program");
            assert!(what.contains(kind.ending()), "{what}");
        }
    }
}
