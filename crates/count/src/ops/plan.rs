//! What is done with databases takes memory that their sizes tell.

use std::path::PathBuf;

use gyrase_table::gyk::{self, Database};
use gyrase_tabulate::Estimate;

use super::{Config, Operation, OperationError};

/// Bytes that a process takes that has opened next to nothing, as measured.
pub(crate) const STARTED: u64 = 13 << 20;
/// Bytes of a thread that combines bins.
const COMBINING: u64 = 8 << 20;

/// What it will take to read whole databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabasesPlan {
    /// Bytes of memory, most of them the databases, which are mapped.
    pub memory: u64,
    /// k-mers of all databases.
    pub kmers: u64,
}

/// Predicts what a histogram takes.
///
/// # Errors
/// A database that cannot be opened.
pub fn plan_reading(databases: &[PathBuf]) -> Result<DatabasesPlan, OperationError> {
    let (mut bytes, mut kmers) = (0, 0);
    for path in databases {
        let summary = Database::open(path)?.header().summary();
        bytes += summary.file_bytes;
        kmers += summary.distinct;
    }
    Ok(DatabasesPlan {
        memory: STARTED + bytes,
        kmers,
    })
}

/// Predicts what an operation takes, and the bytes of the database that it makes.
///
/// # Errors
/// A database that cannot be opened, or has another shape.
pub fn plan(config: &Config) -> Result<(DatabasesPlan, Estimate), OperationError> {
    let mut opened = Vec::new();
    for path in &config.inputs {
        opened.push(Database::open(path)?);
    }
    let distinct = || {
        opened
            .iter()
            .map(|database| database.header().summary().distinct)
    };
    let (all, largest) = (distinct().sum::<u64>(), distinct().max().unwrap_or(0));
    let first = distinct().next().unwrap_or(0);
    let (least, most) = match config.operation {
        Operation::Union => (largest, all),
        Operation::Intersect => (0, distinct().min().unwrap_or(0)),
        Operation::Subtract | Operation::SubtractCounts => ((2 * first).saturating_sub(all), first),
    };
    // A cut-off leaves out what nobody knows.
    let least = if config.cutoffs == gyk::Cutoffs::default() {
        least
    } else {
        0
    };
    let shape = opened
        .first()
        .map(Database::shape)
        .ok_or(OperationError::NoInput)?;
    let read = plan_reading(&config.inputs)?;
    let bytes = read.memory - STARTED;
    let memory = read.memory + (config.threads as u64 * COMBINING).min(bytes / 8);
    let of = |kmers| gyk::bytes_for(shape, kmers);
    Ok((
        DatabasesPlan { memory, ..read },
        Estimate {
            least: of(least),
            most: Some(of(most)),
        },
    ))
}
