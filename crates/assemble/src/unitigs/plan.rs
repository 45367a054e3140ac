//! What unitigs will take, before the first byte is read.

use gyrase_kmer::Shape;
use gyrase_table::gyk::Database;
use gyrase_tabulate::Estimate;

use super::build::{EIGHTHS, LEAST, beside, check};
use super::run::{Config, KmersOf, databases};
use crate::Error;

/// What a run is predicted to take. The bytes of reads come from samples; what their k-mers spell,
/// nobody knows before they are counted.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Different k-mers, at most as if no k-mer came more often than it has to.
    pub kmers: Estimate,
    /// Bytes of memory: at least if reads repeat, at most if all of their k-mers differ.
    pub memory: Estimate,
    /// Bytes of memory without which the run is refused.
    pub least_memory: u64,
    /// Bytes of temporary files.
    pub tmp: Estimate,
    /// Seconds, without those of k-mers that are errors; `None` when an input is a pipe.
    pub seconds: Option<f64>,
}

/// k-mers that a thread joins in a second, as measured with k = 31.
const KMERS_PER_SECOND: f64 = 4e6;
/// Bytes that a process takes that has joined next to nothing.
const STARTED: u64 = 24 << 20;

/// Predicts what a run will take.
///
/// # Errors
/// An input cannot be opened, or makes no unitigs, or the run would be refused.
pub fn plan(config: &Config) -> Result<Plan, Error> {
    match &config.kmers {
        KmersOf::Reads(reads) => of_reads(config, reads),
        KmersOf::Databases { paths, .. } => of_databases(config, &databases(paths)?),
    }
}

fn of_reads(config: &Config, reads: &gyrase_count::Config) -> Result<Plan, Error> {
    check(reads.shape)?;
    let counting = gyrase_count::plan(reads)?;
    counting.admit(reads)?;
    let most = |bases: u64| bases / u64::from(reads.min_count);
    let kmers = Estimate {
        least: 0,
        most: counting.bases.most.map(most),
    };
    let row = (size_of::<u64>() * reads.shape.words() + size_of::<u32>()) as f64;
    let (rows, graph) = (kmers.times(row), graph(kmers, reads.shape));
    let memory = match rows.most.zip(graph.most) {
        Some((rows, graph)) => (counting.memory + rows).max(STARTED + graph),
        None => config.memory,
    };
    Ok(Plan {
        kmers,
        memory: Estimate {
            least: counting.memory_of_repeats,
            most: Some(memory.clamp(counting.memory_of_repeats, config.memory)),
        },
        least_memory: counting.least_memory,
        tmp: Estimate {
            least: counting.tmp.least,
            most: match memory <= config.memory {
                true => counting.tmp.most,
                false => counting.tmp.sum(rows).most,
            },
        },
        seconds: counting.seconds,
    })
}

fn of_databases(config: &Config, databases: &[Database]) -> Result<Plan, Error> {
    let distinct = databases.iter().map(|database| database.header().distinct);
    let kmers = Estimate {
        least: 0,
        most: Some(distinct.sum()),
    };
    let least_memory = beside(config.threads) + LEAST * config.threads as u64;
    if config.memory < least_memory {
        return Err(Error::Memory {
            needed: least_memory,
            given: config.memory,
        });
    }
    let graph = graph(kmers, databases[0].shape());
    let joined = kmers.most.unwrap_or(0) as f64;
    Ok(Plan {
        kmers,
        memory: graph.sum(Estimate::exactly(STARTED + LEAST * config.threads as u64)),
        least_memory,
        tmp: Estimate {
            least: 0,
            most: Some(0),
        },
        seconds: Some(joined / KMERS_PER_SECOND / config.threads as f64),
    })
}

/// Bytes of the graph of so many k-mers, where repeats and errors are few.
fn graph(kmers: Estimate, shape: Shape) -> Estimate {
    // So many of the k-mers are guests, which begin a piece; each has some numbers, and its bases.
    let pieces = 2.0 / (shape.window() as f64 + 1.0);
    let each = 24.0 + (shape.k() as f64 + 1.0 / pieces) / 4.0;
    // Of one process or of several: a plan is for any.
    kmers.times(pieces * each * EIGHTHS[1] as f64 / 8.0)
}
