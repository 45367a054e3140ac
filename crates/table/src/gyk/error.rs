//! What can be wrong with a database.

use std::io;
use std::path::PathBuf;

use gyrase_fabric::FabricError;
use gyrase_files::{Garbled, OrderedError, OutputError};

use super::layout::VERSION;

/// A database that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum GykError {
    /// The file cannot be opened or mapped.
    #[error("cannot open the database {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file does not begin as a database does.
    #[error(
        "{} is not a .gyk database: it does not begin with \"GYRASEK\"; `gyrase count` makes \
         databases, `gyrase kmers import` converts those of other programs",
        path.display()
    )]
    NotGyk {
        /// The file.
        path: PathBuf,
    },
    /// The file is a database of another version of the format.
    #[error(
        "{} is a .gyk database of version {found}, this program reads version {VERSION}; count \
         again or use the program that made it",
        path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The file is shorter or longer than its header says.
    #[error(
        "the database {} is truncated or was changed: its header says {expected} bytes, the file \
         has {found}; copy or count it again",
        path.display()
    )]
    Length {
        /// The file.
        path: PathBuf,
        /// Bytes that the header promises.
        expected: u64,
        /// Bytes of the file.
        found: u64,
    },
    /// A checksum or a value contradicts the rest.
    #[error("the database {} is corrupt: {what}; copy or count it again", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What was expected and what was found.
        what: String,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] OutputError),
    /// Finished bins cannot wait on the disk for their place in the file.
    #[error(transparent)]
    Spill(#[from] FabricError),
    /// The file does not hold what several processes wrote to it.
    #[error(transparent)]
    Garbled(#[from] Garbled),
    /// Another thread of the same run failed and called `Writer::abandon`.
    #[error("the database {} was abandoned because another thread failed", path.display())]
    Abandoned {
        /// The file that was to appear.
        path: PathBuf,
    },
}

impl From<OrderedError<FabricError>> for GykError {
    fn from(error: OrderedError<FabricError>) -> GykError {
        match error {
            OrderedError::Write(error) => GykError::Write(error),
            OrderedError::Spill(error) => GykError::Spill(error),
            OrderedError::Abandoned { path } => GykError::Abandoned { path },
            OrderedError::Garbled(error) => GykError::Garbled(error),
        }
    }
}
