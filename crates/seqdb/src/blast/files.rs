//! Files of a database: their names, and what is read of them.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use gyrase_table::map;
use memmap2::Mmap;

use crate::SeqDbError;

/// The name of a file of a database. A name may have dots, so none of it is replaced.
pub(super) fn with_ending(prefix: &Path, letter: char, ending: &str) -> PathBuf {
    let mut name = prefix.as_os_str().to_owned();
    name.push(format!(".{letter}{ending}"));
    PathBuf::from(name)
}

/// A file of a volume.
#[derive(Debug)]
pub(super) struct Mapped {
    pub path: PathBuf,
    pub bytes: Mmap,
}

impl Mapped {
    pub fn open(prefix: &Path, letter: char, ending: &str) -> Result<Mapped, SeqDbError> {
        let path = with_ending(prefix, letter, ending);
        let bytes = File::open(&path).and_then(|file| map(&file));
        match bytes {
            Ok(bytes) => Ok(Mapped { path, bytes }),
            Err(source) => Err(SeqDbError::open(path, source)),
        }
    }

    pub fn get(&self, range: Range<usize>) -> Result<&[u8], SeqDbError> {
        self.bytes.get(range.clone()).ok_or_else(|| {
            let has = self.bytes.len();
            self.corrupt(format!(
                "it is truncated: bytes {} to {} are wanted, it has {has}",
                range.start, range.end
            ))
        })
    }

    pub fn corrupt(&self, what: String) -> SeqDbError {
        SeqDbError::corrupt(self.path.clone(), what)
    }
}

/// A number of four bytes, the highest first.
pub(super) fn big_endian(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes.try_into().expect("four bytes"))
}
