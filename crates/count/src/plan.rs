//! What a count will need, before its first byte.

use std::path::Path;

use gyrase_fabric::{ExchangeFabric, LocalFabric, Partitioning};
use gyrase_fastx::Inputs;
use gyrase_kmer::{BINS, Shape};

use crate::config::whole;
use crate::estimate::{Contents, Estimate, contents};
use crate::reading::{options, windows};
use crate::{Config, Error};

/// What a count is predicted to take. The bytes come from samples of the inputs; the time is a
/// guess for a machine of today.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Bytes of memory, from above.
    pub memory: u64,
    /// Bytes of memory without which the run is refused.
    pub least_memory: u64,
    /// Bytes of spill files; 0 when all fits in memory. The lower bound takes for granted that
    /// repeats become one.
    pub tmp: Estimate,
    /// Bytes of super-k-mers, wherever they go.
    pub super_kmers: Estimate,
    /// Bases in the inputs.
    pub bases: Estimate,
    /// Bytes of memory that decompressing takes, where that is much.
    pub windows: u64,
    /// Seconds; `None` when an input is a pipe.
    pub seconds: Option<f64>,
}

impl Plan {
    /// Why a run would be refused before its first byte, if it would.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::MaxTmp`] or [`Error::TmpSpace`].
    pub fn admit(&self, config: &Config) -> Result<(), Error> {
        refuse_too_little(config, 1, self.windows)?;
        check_tmp(config, self, true)
    }
}

/// Bases that a thread cuts and counts in a second, as measured with k = 31.
const BASES_PER_SECOND: f64 = 100e6;
/// Bytes that a thread decompresses in a second.
const INFLATED_PER_SECOND: f64 = 600e6;

/// How many times fewer the super-k-mers of deep, accurate reads become where repeats are made one,
/// as measured.
const REPEATS: f64 = 5.0;

/// How the memory of a run is shared out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// For the buffers of the fabric.
    pub(crate) fabric: u64,
    /// For the tables of one thread: of repeats while it scatters, of k-mers while it counts.
    pub(crate) tables: u64,
    /// For finished bins that wait for their place in the file, in a job of several processes.
    pub(crate) finished: u64,
    /// For what decompressors keep of their text.
    windows: u64,
    /// Processes.
    ranks: usize,
}

/// The part of what the fabric can do without that finished bins may take: they can wait on the
/// disk as well.
const FINISHED_PART: u64 = 8;

/// Code, stacks, batches, write buffers: what a run takes besides fabric and tables.
fn overhead(threads: usize) -> u64 {
    (100 << 20) + threads as u64 * (24 << 20)
}

/// The least for the tables of one thread.
const LEAST_TABLES: u64 = 8 << 20;

/// What the fabric of one of `ranks` processes cannot do without.
fn least_fabric(threads: usize, ranks: usize) -> u64 {
    match ranks {
        1 => LocalFabric::least_memory(BINS, threads),
        _ => {
            let partitions = Partitioning::most_partitions(BINS, ranks);
            ExchangeFabric::least_memory(partitions, ranks, threads)
        }
    }
}

fn least_memory(threads: usize, ranks: usize, windows: u64) -> u64 {
    let least = overhead(threads) + least_fabric(threads, ranks) + threads as u64 * LEAST_TABLES;
    least.saturating_add(windows)
}

impl Budget {
    /// The budget of each of `ranks` processes.
    pub(crate) fn of(config: &Config, inputs: &Inputs, ranks: usize) -> Result<Budget, Error> {
        let windows = windows(inputs, config.threads);
        refuse_too_little(config, ranks, windows)?;
        Ok(Budget::shared_out(
            config.memory,
            config.threads,
            ranks,
            windows,
        ))
    }

    /// Shares out memory that is enough.
    fn shared_out(memory: u64, threads: usize, ranks: usize, windows: u64) -> Budget {
        let (taken, least) = (overhead(threads) + windows, least_fabric(threads, ranks));
        let tables = (memory / 16 / threads as u64).clamp(LEAST_TABLES, 1 << 30);
        let for_tables = memory - taken - least;
        let tables = tables.min(for_tables / threads as u64);
        let fabric = memory - taken - threads as u64 * tables;
        // A process alone writes its bins as they come.
        let finished = if ranks == 1 {
            0
        } else {
            (fabric - least) / FINISHED_PART
        };
        Budget {
            fabric: fabric - finished,
            tables,
            finished,
            windows,
            ranks,
        }
    }

    /// The same with no more for the fabric than another process has.
    pub(crate) fn with_fabric(self, fabric: u64) -> Budget {
        Budget {
            fabric: fabric.min(self.fabric),
            ..self
        }
    }

    /// The same memory for the tables alone, once all records are on disk.
    pub(crate) fn for_tables_only(self, threads: usize) -> Budget {
        Budget {
            fabric: 0,
            tables: self.tables.max(self.fabric / threads as u64),
            ..self
        }
    }
}

fn refuse_too_little(config: &Config, ranks: usize, windows: u64) -> Result<(), Error> {
    let (threads, least) = (config.threads, least_memory(config.threads, ranks, windows));
    if config.memory >= least {
        return Ok(());
    }
    let (needed, windows) = (mebibytes(least), windows >> 20);
    Err(Error::Memory {
        k: config.shape.k(),
        threads,
        ranks,
        needed,
        windows,
        given: config.memory,
    })
}

/// Bytes of super-k-mers for a base of input: runs of (w + 1) / 2 k-mers on average, each with a
/// byte for its length.
fn bytes_per_base(shape: Shape) -> f64 {
    let kmers = (shape.window() as f64 + 1.0) / 2.0;
    (1.5 + (kmers + shape.k() as f64 - 1.0) / 4.0) / kmers
}

/// Predicts what the count will take in one process.
///
/// # Errors
/// When an input cannot be opened.
pub fn plan(config: &Config) -> Result<Plan, Error> {
    let inputs = Inputs::open(&config.inputs, options(config, false))?;
    let windows = windows(&inputs, config.threads);
    let enough = config.memory.max(least_memory(config.threads, 1, windows));
    Ok(predict(
        config,
        contents(inputs.inputs()),
        Budget::shared_out(enough, config.threads, 1, windows),
    ))
}

/// What one of the processes that the budget is for will take: as much as any other.
pub(crate) fn predict(config: &Config, contents: Contents, budget: Budget) -> Plan {
    let Contents { bases, inflated } = contents;
    let bases = bases.times(1.0 / budget.ranks as f64);
    let super_kmers = bases.times(bytes_per_base(config.shape));
    let least_fabric = least_fabric(config.threads, budget.ranks);
    let room = budget.fabric - least_fabric;
    let spilled = |bytes: u64| if bytes <= room { 0 } else { bytes };
    let tmp = Estimate {
        least: spilled((super_kmers.least as f64 / REPEATS) as u64),
        most: super_kmers.most.map(spilled),
    };
    let tmp = Estimate {
        most: tmp
            .most
            .map(|most| most.saturating_add(waiting(config, bases, budget))),
        ..tmp
    };
    let most = super_kmers.most.unwrap_or(u64::MAX);
    let tables = budget.tables.min(LEAST_TABLES.saturating_add(most / 64));
    let inflated = inflated / budget.ranks as f64;
    let work = |bases: u64| bases as f64 / BASES_PER_SECOND + inflated / INFLATED_PER_SECOND;
    Plan {
        memory: overhead(config.threads)
            + budget.windows
            + budget.finished
            + least_fabric
            + room.min(most)
            + config.threads as u64 * tables,
        least_memory: least_memory(config.threads, budget.ranks, budget.windows),
        windows: budget.windows,
        tmp,
        super_kmers,
        bases,
        seconds: bases.most.map(|bases| work(bases) / config.threads as f64),
    }
}

/// Bytes of finished bins that wait on the disk for their place in the file, if every k-mer is
/// another.
fn waiting(config: &Config, bases: Estimate, budget: Budget) -> u64 {
    let row = 8 * config.shape.words() as u64 + 1;
    match budget.ranks {
        1 => 0,
        _ => bases
            .most
            .unwrap_or(0)
            .saturating_mul(row)
            .saturating_sub(budget.finished),
    }
}

/// Refuses a run whose spill files would not fit, and may warn of one whose might not.
pub(crate) fn check_tmp(config: &Config, plan: &Plan, warn: bool) -> Result<(), Error> {
    let free = free_bytes(&config.tmp);
    let (limit, given) = (config.max_tmp.unwrap_or(u64::MAX), free.unwrap_or(u64::MAX));
    let Estimate { least, most } = plan.tmp;
    if least > limit {
        return Err(Error::MaxTmp {
            needed: mebibytes(least),
            given: limit,
        });
    }
    if least > given {
        return Err(Error::TmpSpace {
            folder: config.tmp.clone(),
            needed: mebibytes(least),
            free: given,
        });
    }
    if let Some(most) = most.filter(|&most| warn && most > limit.min(given)) {
        let (needed, folder) = (mebibytes(most), config.tmp.display());
        let has = if limit < given {
            "are allowed"
        } else {
            "are free"
        };
        let room = whole(limit.min(given));
        tracing::warn!("temporary files in {folder} may take up to {needed} MiB, and {room} {has}");
    }
    Ok(())
}

fn mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

/// Bytes that the spill files of a run may take: what is free there, or `max_tmp` where that is
/// less. `None` when neither is known.
pub fn room_for_tmp(config: &Config) -> Option<u64> {
    [config.max_tmp, free_bytes(&config.tmp)]
        .into_iter()
        .flatten()
        .min()
}

fn above(folder: &Path) -> &Path {
    folder
        .parent()
        .filter(|above| !above.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

fn free_bytes(folder: &Path) -> Option<u64> {
    // A folder that is still to be made has the room of the one above.
    let stat = rustix::fs::statvfs(folder)
        .or_else(|_| rustix::fs::statvfs(above(folder)))
        .ok()?;
    Some(stat.f_bavail * stat.f_frsize)
}
