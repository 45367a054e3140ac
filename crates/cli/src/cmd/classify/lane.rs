//! Where the reads of a sample are.

use std::path::{Path, PathBuf};

use gyrase_fastx::{PairedReader, Reader};
use gyrase_tabulate::Source;

use crate::failure::{Failure, Result};

/// A file of reads, two files of mates, or one in which mates follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Reads, or first mates.
    pub reads: PathBuf,
    /// Second mates, where they have a file of their own.
    pub mates: Option<PathBuf>,
    /// True where `reads` has both mates.
    pub interleaved: bool,
}

impl Lane {
    /// Its files.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.reads].into_iter().chain(&self.mates)
    }

    /// True where reads come in pairs.
    pub fn is_paired(&self) -> bool {
        self.mates.is_some() || self.interleaved
    }

    /// Refuses what cannot be read twice.
    pub fn keep_rereadable(&self) -> Result<()> {
        match self.files().find(|path| !path.is_file()) {
            Some(pipe) if pipe.as_os_str() == "-" || pipe.exists() => {
                let what = "--drop-least-covered reads the reads twice";
                let name = pipe.display();
                Err(Failure::usage(format!("{what}, and {name} is no file; write the reads to a file first")))
            }
            _ => Ok(()),
        }
    }

    /// Opens them.
    pub fn open(&self) -> Result<Source> {
        let options = Source::options();
        Ok(match &self.mates {
            Some(mates) => Source::Paired(Box::new(PairedReader::open(&self.reads, mates, &options)?)),
            None if self.interleaved => {
                Source::Paired(Box::new(PairedReader::open_interleaved(&self.reads, &options)?))
            }
            None => Source::Single(Box::new(Reader::open(&self.reads, &options)?)),
        })
    }
}

/// The name of a sample: that of its file without what tells the format.
pub fn sample_of(reads: &Path) -> String {
    let name = reads.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split('.').next().filter(|name| !name.is_empty() && *name != "-");
    name.unwrap_or("sample").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_named_by_their_files() {
        for (file, name) in [("x/a_1.fq.gz", "a_1"), ("b", "b"), ("-", "sample"), (".fq", "sample")] {
            assert_eq!(sample_of(Path::new(file)), name);
        }
    }
}
