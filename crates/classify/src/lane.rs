//! Where the reads of a sample are.

use std::path::{Path, PathBuf};

use gyrase_fastx::{Error, Options, PairedReader, Reader};
use gyrase_tabulate::Source;

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

    /// True where its reads are pairs.
    pub fn is_paired(&self) -> bool {
        self.mates.is_some() || self.interleaved
    }

    /// Bytes of its files, as they are stored; nothing where one is a pipe or a device.
    pub fn bytes(&self) -> Option<u64> {
        let size = |path: &PathBuf| path.metadata().ok().filter(|there| there.is_file());
        self.files().map(|path| Some(size(path)?.len())).sum()
    }

    /// The first of its files that can be read only once, since it is a pipe or a device.
    pub fn read_once(&self) -> Option<&Path> {
        let no_file = |path: &&PathBuf| !path.metadata().is_ok_and(|there| there.is_file());
        let first = self.files().find(no_file)?;
        (first.as_os_str() == "-" || first.exists()).then_some(first)
    }

    /// Finds early that a file is missing; what is no file is left alone, since it may be read only
    /// once.
    ///
    /// # Errors
    /// The first file that cannot be opened or is of no known format.
    pub fn check(&self) -> Result<(), Error> {
        let named = self.files().filter(|path| path.as_os_str() != "-");
        let mut files = named.filter(|path| !path.exists() || path.is_file());
        files.try_for_each(|path| Reader::open(path, &Source::options()).map(drop))
    }

    /// Opens them, to be read in batches of so many bytes, with records of at most so many.
    ///
    /// # Errors
    /// A file cannot be opened or is of no known format.
    pub fn open(&self, batch: usize, longest_record: usize) -> Result<Source, Error> {
        let options = Options {
            batch_bytes: batch,
            longest_record,
            ..Source::options()
        };
        Ok(match &self.mates {
            Some(mates) => {
                Source::Paired(Box::new(PairedReader::open(&self.reads, mates, &options)?))
            }
            None if self.interleaved => Source::Paired(Box::new(PairedReader::open_interleaved(
                &self.reads,
                &options,
            )?)),
            None => Source::Single(Box::new(Reader::open(&self.reads, &options)?)),
        })
    }
}

/// The name of a sample: that of its file without what tells the format, and of two files of mates
/// without the number of the mate.
pub fn sample_of(reads: &Path, mates: Option<&Path>) -> String {
    let name = stem(reads);
    let common = mates.and_then(|mates| unnumbered(&name, &stem(mates)).map(str::to_string));
    common.unwrap_or(name)
}

fn stem(reads: &Path) -> String {
    let name = reads.file_name().unwrap_or_default().to_string_lossy();
    let name = name
        .split('.')
        .next()
        .filter(|name| !name.is_empty() && *name != "-");
    name.unwrap_or("sample").to_string()
}

/// What stands before `_1` and `_2`, or `_R1` and `_R2`, in names that are else the same.
fn unnumbered<'n>(first: &'n str, second: &str) -> Option<&'n str> {
    let at = first
        .bytes()
        .zip(second.bytes())
        .position(|(first, second)| first != second)?;
    let (before, behind) = (first.get(..at)?, first.get(at..)?.strip_prefix('1')?);
    if second.get(at..)?.strip_prefix('2')? != behind {
        return None;
    }
    let before = before.strip_suffix(['R', 'r']).unwrap_or(before);
    before
        .strip_suffix(['_', '-'])
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_named_by_their_files() {
        for (file, name) in [
            ("x/a_1.fq.gz", "a_1"),
            ("b", "b"),
            ("-", "sample"),
            (".fq", "sample"),
        ] {
            assert_eq!(sample_of(Path::new(file), None), name);
        }
        for (first, second, name) in [
            ("x/quick_1.fq", "y/quick_2.fq", "quick"),
            ("s_1_R1_001.fq.gz", "s_1_R2_001.fq.gz", "s_1"),
            ("a.1.fq", "a.2.fq", "a"),
            ("a1.fq", "a2.fq", "a1"),
            ("_1.fq", "_2.fq", "_1"),
            ("a_1.fq", "b_2.fq", "a_1"),
            ("a_1x.fq", "a_2.fq", "a_1x"),
            ("a_2.fq", "a_1.fq", "a_2"),
        ] {
            assert_eq!(sample_of(Path::new(first), Some(Path::new(second))), name);
        }
    }
}
