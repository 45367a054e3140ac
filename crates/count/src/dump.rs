//! Every k-mer and its count as text.

mod config;
mod letters;
mod plan;
mod sorted;

use std::io::Write;

use gyrase_kmer::{BINS, with_words};
use gyrase_table::gyk::Database;
use gyrase_work::Progress;

use crate::ops::OperationError;
use crate::ordered::{Out, write_ordered};
pub use config::{Config, Style};
use letters::{Line, kmers};
pub(crate) use plan::listed;
pub use plan::plan;

/// What was listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// k-mers of the database.
    pub distinct: u64,
    /// k-mers listed.
    pub listed: u64,
}

/// Writes the k-mers of a database to `sink`. The bytes do not depend on threads and memory.
pub fn run(
    config: &Config,
    sink: &mut dyn Write,
    progress: &Progress,
) -> Result<Summary, OperationError> {
    let database = Database::open(&config.database)?;
    let listed = with_words!(database.shape(), W => match config.sorted_within {
        None => as_stored::<W>(config, &database, sink, progress)?,
        Some(memory) => sorted::run::<W>(config, &database, memory, sink, progress)?,
    });
    Ok(Summary {
        distinct: database.header().distinct,
        listed,
    })
}

fn as_stored<const W: usize>(
    config: &Config,
    database: &Database,
    sink: &mut dyn Write,
    progress: &Progress,
) -> Result<u64, OperationError> {
    progress.start("dump", BINS as u64);
    let line = Line::<W>::new(database.shape().k(), config.style);
    write_ordered(
        config.threads,
        BINS,
        progress,
        sink,
        |bin, out: &mut Out| {
            let mut listed = 0;
            for (kmer, count) in kmers::<W>(database, bin, config.cutoffs)? {
                line.append(&mut out.text, kmer, count);
                out.pass()?;
                listed += 1;
            }
            Ok(listed)
        },
    )
}
