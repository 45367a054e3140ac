//! What can be wrong with a database.

use std::io;
use std::path::PathBuf;

use gyrase_fabric::FabricError;
use gyrase_files::container::ContainerError;
use gyrase_files::{Garbled, OrderedError, OutputError};

/// A database that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum GydbError {
    /// The file cannot be opened, is no such database, of another version, truncated or corrupt.
    #[error(transparent)]
    Container(#[from] ContainerError),
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
