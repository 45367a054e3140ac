//! Folders on the command line: the files of sequences in them.

use std::path::{Path, PathBuf};

use gyrase_picture::words::things;

use crate::failure::{Failure, Result};
use crate::session::Session;

/// Endings of FASTA, and of FASTQ.
const FASTA: [&str; 6] = ["fna", "fasta", "fa", "fas", "ffn", "fsa"];
const FASTQ: [&str; 2] = ["fastq", "fq"];

/// Endings that compressed files have behind these.
const COMPRESSIONS: [&str; 5] = ["gz", "bgz", "zst", "bz2", "xz"];

/// What is looked for in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// References: FASTA.
    References,
    /// Any sequences: FASTA and FASTQ.
    Sequences,
}

impl Wanted {
    fn endings(self) -> Vec<&'static str> {
        match self {
            Wanted::References => FASTA.to_vec(),
            Wanted::Sequences => [&FASTA[..], &FASTQ].concat(),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Wanted::References => "references",
            Wanted::Sequences => "sequences",
        }
    }

    fn is_named_so(self, path: &Path) -> bool {
        let has = |path: &Path, endings: &[&str]| {
            path.extension()
                .and_then(|ending| ending.to_str())
                .is_some_and(|ending| endings.contains(&ending))
        };
        let endings = self.endings();
        has(path, &endings) || has(path, &COMPRESSIONS) && has(&path.with_extension(""), &endings)
    }
}

/// The files that are meant, none where none is named: lists are read, folders are searched, their
/// files in the order of their names. Says how many a folder has.
pub fn files(named: &[PathBuf], wanted: Wanted, session: &Session) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if named.is_empty() {
        return Ok(files);
    }
    for path in gyrase_fastx::expand_lists(named)? {
        if !path.is_dir() {
            files.push(path);
            continue;
        }
        let found = files_in(&path, wanted)?;
        if session.is_first() {
            let count = things(found.len() as u64, "file");
            tracing::info!("{}: {count} of {}", path.display(), wanted.word());
        }
        files.extend(found);
    }
    Ok(files)
}

fn files_in(folder: &Path, wanted: Wanted) -> Result<Vec<PathBuf>> {
    let unreadable = |error| {
        Failure::usage(format!(
            "cannot read the folder {}: {error}",
            folder.display()
        ))
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        files.extend((path.is_file() && wanted.is_named_so(&path)).then_some(path));
    }
    if files.is_empty() {
        let (path, endings) = (folder.display(), wanted.endings().join(", ."));
        let word = wanted.word();
        return Err(Failure::usage(format!(
            "the folder {path} has no {word}: no file whose name ends in .{endings}, compressed \
             or not"
        )));
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_names() {
        let is = |wanted: Wanted, name| wanted.is_named_so(Path::new(name));
        for name in ["a.fna", "a.b.fa.gz", "GCF_1.2_genomic.fna.zst", "x.fasta"] {
            assert!(is(Wanted::References, name), "{name}");
            assert!(is(Wanted::Sequences, name), "{name}");
        }
        for name in ["a.fq", "b.fastq.gz"] {
            assert!(!is(Wanted::References, name), "{name}");
            assert!(is(Wanted::Sequences, name), "{name}");
        }
        for name in ["fna", "a.gz", "a.tsv.gz", "nodes.dmp"] {
            assert!(!is(Wanted::Sequences, name), "{name}");
        }
    }
}
