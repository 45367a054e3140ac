//! Why nothing was built.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use gyrase_fabric::FabricError;
use gyrase_files::OutputError;
use gyrase_table::gydb::GydbError;
use gyrase_tabulate::TabulateError;

/// Why nothing was built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Reading or spilling failed, or the run was cancelled.
    #[error(transparent)]
    Tabulate(#[from] TabulateError),
    /// The database cannot be written.
    #[error(transparent)]
    Database(#[from] GydbError),
    /// No read could ever get a taxon.
    #[error("none of the {references} references has a taxon, so no read would ever get one")]
    NoTaxon {
        /// How many references there are.
        references: usize,
    },
    /// There are more windows than a location can name.
    #[error("the references have more than 4,294,967,295 windows")]
    TooManyWindows,
    /// More memory would be needed than there is.
    #[error(
        "{what} needs about {} MiB of memory, not {} MiB", needed.div_ceil(1 << 20), given >> 20
    )]
    Memory {
        /// For what.
        what: MemoryFor,
        /// Bytes needed.
        needed: u64,
        /// Bytes given.
        given: u64,
    },
    /// A pipe or a device, where the references are read more than once.
    #[error(
        "{why}, and the references can only be read once, since {} is no file; write them to a \
         file first, or leave --gpu out",
        path.display()
    )]
    ReadOnce {
        /// Its name.
        path: PathBuf,
        /// Why they are read again.
        why: String,
    },
    /// References are not what they were in the pass before.
    #[error("the references changed while they were read; build again")]
    Changed,
}

/// What a build needs memory for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFor {
    /// Its threads.
    Threads,
    /// The whole database, which is made in memory.
    Database,
    /// Sorting the largest partition.
    Sorting,
}

impl Display for MemoryFor {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        out.write_str(match self {
            MemoryFor::Threads => "a build with so many threads",
            MemoryFor::Database => "a database of these references in memory",
            MemoryFor::Sorting => "sorting the features of these references",
        })
    }
}

impl From<gyrase_fastx::Error> for BuildError {
    fn from(error: gyrase_fastx::Error) -> BuildError {
        BuildError::Tabulate(error.into())
    }
}

impl From<OutputError> for BuildError {
    fn from(error: OutputError) -> BuildError {
        BuildError::Database(error.into())
    }
}

impl From<FabricError> for BuildError {
    fn from(error: FabricError) -> BuildError {
        BuildError::Tabulate(error.into())
    }
}
