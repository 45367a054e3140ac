//! Why reads cannot be classified.

use std::io;

use gyrase_files::OutputError;
use gyrase_table::gydb::GydbError;
use gyrase_tabulate::TabulateError;

use crate::stored::StoredError;

/// Why reads could not be classified.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The reads cannot be read, or the run was cancelled.
    #[error(transparent)]
    Reads(#[from] TabulateError),
    /// The database is damaged.
    #[error(transparent)]
    Database(#[from] GydbError),
    /// The place where answers go does not take them.
    #[error("cannot write the answers: {0}")]
    Sink(#[source] io::Error),
    /// Stored hits cannot be written or read.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// One process of a job cannot read what others can.
    #[error("the process of rank {rank} cannot read what others can: {why}")]
    Apart {
        /// Its rank.
        rank: usize,
        /// What it says.
        why: String,
    },
    /// Reads cannot be extracted.
    #[error(transparent)]
    Extract(#[from] OutputError),
}
