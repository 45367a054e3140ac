//! What can be wrong with a database.

use std::path::PathBuf;

use gyrase_fabric::FabricError;
use gyrase_files::container::ContainerError;
use gyrase_files::{Garbled, OrderedError, OutputError};

/// A database that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum GykError {
    /// The file cannot be opened, is no such database, of another version, truncated or corrupt.
    #[error(transparent)]
    Container(#[from] ContainerError),
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
