//! What can go wrong in a model of counting.

use std::io;
use std::path::PathBuf;

use gyrase_fabric::FabricError;
use gyrase_simulate::SimulateError;
use gyrase_tabulate::TabulateError;
use gyrase_work::Cancelled;

/// Why nothing was modelled.
#[derive(Debug, thiserror::Error)]
pub enum SsdError {
    /// The reads cannot be read, a spill failed, or the run was cancelled.
    #[error(transparent)]
    Tabulate(#[from] TabulateError),
    /// Reads for the published sets could not be simulated.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// Counting failed whose times were to be measured.
    #[error(transparent)]
    Count(#[from] gyrase_count::Error),
    /// There is no room for temporary files.
    #[error("cannot make a folder for temporary files in {}", folder.display())]
    Temporary {
        /// Where.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The run cannot keep its promise of memory.
    #[error(
        "the profile needs at least {} MiB of memory, {} MiB were given", needed.div_ceil(1 << 20),
        given >> 20
    )]
    Memory {
        /// Least bytes.
        needed: u64,
        /// Bytes given.
        given: u64,
    },
    /// A partition is too large for the memory.
    #[error(
        "the partition of the minimizer {minimizer} needs about {} MiB of memory, {} MiB were \
         given", needed.div_ceil(1 << 20), given >> 20
    )]
    LargePartition {
        /// Its letters.
        minimizer: String,
        /// Bytes that would be enough.
        needed: u64,
        /// Bytes given.
        given: u64,
    },
    /// A file of constants is not understood.
    #[error("{} has no such constants", path.display())]
    Constants {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
    /// A device cannot be as it is described.
    #[error("the device has {found}, but it must have {expected}")]
    Device {
        /// What it has.
        found: String,
        /// What it must have.
        expected: String,
    },
}

impl From<FabricError> for SsdError {
    fn from(error: FabricError) -> SsdError {
        SsdError::Tabulate(error.into())
    }
}

impl From<Cancelled> for SsdError {
    fn from(cancelled: Cancelled) -> SsdError {
        SsdError::Tabulate(cancelled.into())
    }
}
