//! What can be wrong with a database.

use std::io;
use std::path::PathBuf;

use gyrase_fabric::FabricError;
use gyrase_files::container::{ContainerError, u64_at};
use gyrase_files::{Garbled, OrderedError, OutputError};

/// A database that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum GydbError {
    /// The file cannot be opened, is of another version, truncated or corrupt.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// The file does not begin as a database does.
    #[error(
        "{} is not a .gydb database: it {found}; `gyrase db build` makes databases of references",
        path.display()
    )]
    NotGydb {
        /// The file.
        path: PathBuf,
        /// What it is instead, as far as its first bytes tell: "is a FASTA file".
        found: &'static str,
    },
    /// The database has no section of this name.
    #[error(
        "the database {} has no section {name:?}, it has {there}; build it again",
        path.display()
    )]
    NoSection {
        /// The file.
        path: PathBuf,
        /// The section that was asked for.
        name: String,
        /// The names of those that are there.
        there: String,
    },
    /// There is no memory for a database that is to stay there.
    #[error(
        "cannot get {bytes} bytes of memory for the database {}: {source}; build it in a file \
         instead",
        path.display()
    )]
    Memory {
        /// The file, or what stands for it.
        path: PathBuf,
        /// Bytes of the database.
        bytes: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] OutputError),
    /// What waits for its place in the file cannot be written.
    #[error(transparent)]
    Spill(#[from] FabricError),
    /// The file system lost what processes wrote.
    #[error(transparent)]
    Garbled(#[from] Garbled),
    /// Another thread of the same run failed and called `Writer::abandon`.
    #[error("the database {} was abandoned because another thread failed", path.display())]
    Abandoned {
        /// The file that was to appear.
        path: PathBuf,
    },
}

impl From<OrderedError<FabricError>> for GydbError {
    fn from(error: OrderedError<FabricError>) -> GydbError {
        match error {
            OrderedError::Write(error) => GydbError::Write(error),
            OrderedError::Spill(error) => GydbError::Spill(error),
            OrderedError::Abandoned { path } => GydbError::Abandoned { path },
            OrderedError::Garbled(error) => GydbError::Garbled(error),
        }
    }
}

/// What a file that is no database seems to be, to follow "it".
pub(super) fn what_it_is(bytes: &[u8]) -> &'static str {
    const BEGINNINGS: [(&[u8], &str); 10] = [
        (b"GYRASEK\n", "is a .gyk database of counted k-mers"),
        (
            b"\x1f\x8b",
            "is compressed with gzip (decompress it first if it is a database)",
        ),
        (
            b"\x28\xb5\x2f\xfd",
            "is compressed with zstd (decompress it first if it is a database)",
        ),
        (
            b"BZh",
            "is compressed with bzip2 (decompress it first if it is a database)",
        ),
        (
            b"\xfd7zXZ",
            "is compressed with xz (decompress it first if it is a database)",
        ),
        (b"K2TAXDAT", "is the taxonomy of a Kraken 2 database"),
        (b"KMCP", "is a part of a KMC database"),
        (b"KMCS", "is a part of a KMC database"),
        (b">", "looks like a FASTA file"),
        (b"@", "looks like a FASTQ file"),
    ];
    let known = BEGINNINGS
        .iter()
        .find(|(beginning, _)| bytes.starts_with(beginning));
    match known {
        Some((_, what)) => what,
        None if bytes.is_empty() => "is empty",
        None if is_kraken_hash(bytes) => "is the hash table of a Kraken 2 database",
        None => "does not begin with \"GYRASED\"",
    }
}

/// True for capacity, size, key bits and value bits of Kraken 2's table, whose cells have 32 bits.
fn is_kraken_hash(bytes: &[u8]) -> bool {
    if bytes.len() < 32 {
        return false;
    }
    let [capacity, size, key_bits, value_bits] = [0, 8, 16, 24].map(|at| u64_at(bytes, at));
    size <= capacity
        && key_bits > 0
        && value_bits > 0
        && key_bits.checked_add(value_bits) == Some(32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_files_are_named() {
        let kraken: Vec<u8> = [1000u64, 700, 17, 15]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let cases: [(&[u8], &str); 6] = [
            (b"", "empty"),
            (b"GYRASEK\n\x01", "counted k-mers"),
            (b"\x1f\x8b\x08", "gzip"),
            (b">seq\nACGT", "FASTA"),
            (&kraken, "Kraken 2"),
            (b"hello", "GYRASED"),
        ];
        for (bytes, word) in cases {
            assert!(what_it_is(bytes).contains(word), "{word}");
        }
    }
}
