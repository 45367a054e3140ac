//! What a count will need, before its first byte.

use std::path::Path;

use gyrase_fabric::{Alone, ExchangeFabric, LocalFabric, Partitioning};
use gyrase_fastx::{Compression, Input, Inputs};
use gyrase_kmer::{BINS, Shape, with_words};
use gyrase_table::gyk;
use gyrase_tabulate::{Estimate, InputContents, census, decompressing, input_contents};

use crate::config::whole;
use crate::reading::{BATCH, WINDOW, options, windows};
use crate::super_kmers::SuperKmers;
use crate::{Config, Error};

/// What a count is predicted to take. The bytes come from samples of the inputs; the time is a
/// guess for a machine of today.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Bytes of memory that the run is expected to take, from above: where it stays in memory, as
    /// if no super-k-mer came again.
    pub memory: u64,
    /// The same if the super-k-mers are those of deep, accurate reads: the repeats of large inputs
    /// are made one.
    pub memory_of_repeats: u64,
    /// Bytes of the database; the upper bound as if no k-mer came again.
    pub output: Estimate,
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
        check_tmp(config, self.tmp, true)
    }
}

/// Bases that a thread cuts and counts in a second, as measured with k = 31.
const BASES_PER_SECOND: f64 = 100e6;
/// Bytes that a thread decompresses in a second.
const INFLATED_PER_SECOND: f64 = 600e6;

/// Bytes of memory that a process takes that has read next to nothing, as measured.
const STARTED: u64 = 49 << 18;
/// Bytes of batches of a thread, and what each thread beside the first takes for a heap of its own.
const BATCHES: u64 = 2 << 20;
const HEAP: u64 = 2 << 20;
/// Bytes that stay with the process of the sample of an xz file, as far as there is text.
const SAMPLED: u64 = 4 << 20;
/// Letters of a record from which on it counts as long, and batches take twice as much.
const LONG: u64 = 1000;
/// Bytes that a thread takes to spill: what it gathers, compresses and combines, as measured.
const SPILLING: u64 = 18 << 20;
/// Bytes of tables for a byte of the expanded k-mers of the largest bin, as measured.
const TABLES: u64 = 3;
/// Bytes of the inputs, as they are stored, by which is told how unequal bins are.
const LOOKED_AT: u64 = 4 << 20;

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

/// Code, stacks, batches, write buffers: what one of `ranks` processes takes besides fabric and
/// tables, as measured.
fn overhead(threads: usize, ranks: usize) -> u64 {
    let [process, thread] = if ranks == 1 { [32, 8] } else { [100, 24] };
    (process << 20) + threads as u64 * (thread << 20)
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

/// What a run cannot do without, in one of `ranks` processes.
pub(crate) fn least_memory(threads: usize, ranks: usize, windows: u64) -> u64 {
    let beside = overhead(threads, ranks) + threads as u64 * LEAST_TABLES;
    let least = beside + least_fabric(threads, ranks);
    least.saturating_add(windows)
}

/// Bytes of memory without which a run of one of `ranks` processes is refused.
///
/// # Errors
/// An input cannot be opened.
pub fn least_memory_among(config: &Config, ranks: usize) -> Result<u64, Error> {
    let inputs = Inputs::open(&config.inputs, options(config, false))?;
    let windows = windows(&inputs, config.threads);
    Ok(least_memory(config.threads, ranks, windows))
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
        let taken = overhead(threads, ranks) + windows;
        let least = least_fabric(threads, ranks);
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

/// What the inputs are expected to hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    pub(crate) bases: Estimate,
    pub(crate) records: Estimate,
}

/// k-mers, and the super-k-mers that they are sent as.
#[derive(Clone, Copy, Debug)]
struct Sent {
    kmers: u64,
    super_kmers: u64,
    bytes: u64,
}

impl Sent {
    /// Of so many bases in so many records, where their letters are random: two in `window` + 1
    /// places begin another super-k-mer.
    fn of(bases: u64, records: u64, shape: Shape) -> Sent {
        let overlap = shape.k() as u64 - 1;
        let kmers = bases.saturating_sub(records.saturating_mul(overlap));
        let begun = records.min(kmers);
        let cuts = 2.0 / (shape.window() as f64 + 1.0);
        let super_kmers = begun as f64 + (kmers - begun) as f64 * cuts;
        // A byte for the length, and a last byte that is not full.
        let each = 1.5 + overlap as f64 / 4.0;
        Sent {
            kmers,
            super_kmers: super_kmers as u64,
            bytes: (super_kmers * each + kmers as f64 / 4.0) as u64,
        }
    }

    /// Bytes of a super-k-mer.
    fn record(self) -> f64 {
        self.bytes as f64 / self.super_kmers.max(1) as f64
    }
}

/// How unequal the bins are.
struct Bins {
    /// The share of the bytes that each has.
    shares: Vec<f64>,
}

impl Bins {
    /// By a sample of the inputs.
    fn of(config: &Config, inputs: &Inputs, record: f64) -> Result<Bins, Error> {
        let bins = Partitioning::of_bins(BINS);
        let options = options(config, false);
        let sizes = with_words!(config.shape, W => {
            let cut = SuperKmers::<W>::new(config.shape, &bins);
            census::<Error>(inputs, &options, &Alone, cut, BINS, LOOKED_AT)
        })?;
        // What the sample has not may still come.
        let sizes: Vec<f64> = sizes.iter().map(|&bytes| bytes as f64 + record).collect();
        let all: f64 = sizes.iter().sum();
        let shares = sizes.into_iter().map(|bytes| bytes / all).collect();
        Ok(Bins { shares })
    }

    fn largest(&self) -> f64 {
        self.shares.iter().copied().fold(0.0, f64::max)
    }
}

/// Predicts what the count will take in one process.
///
/// # Errors
/// When an input cannot be opened.
pub fn plan(config: &Config) -> Result<Plan, Error> {
    let inputs = Inputs::open(&config.inputs, options(config, false))?;
    let windows = windows(&inputs, config.threads);
    let enough = config.memory.max(least_memory(config.threads, 1, windows));
    let contents = input_contents(inputs.inputs());
    let expected = Expected {
        bases: contents.bases,
        records: contents.records,
    };
    let budget = Budget::shared_out(enough, config.threads, 1, windows);
    let (least, most) = sent(config, expected, budget);
    let reading = batches(&contents, config.threads)
        + sampled(inputs.inputs(), &contents)
        + decompressing(inputs.inputs(), &contents, config.threads, WINDOW);
    let memory = match most {
        // All that is allowed where nobody knows what comes.
        None => [config.memory; 2],
        Some(sent) => {
            let bins = Bins::of(config, &inputs, sent.record())?;
            memory(config, sent, &bins, budget)
        }
    };
    let [memory, memory_of_repeats] = memory.map(|memory| (memory + reading).min(enough));
    let bases = contents.bases;
    let work =
        |bases: u64| bases as f64 / BASES_PER_SECOND + contents.inflated / INFLATED_PER_SECOND;
    Ok(Plan {
        memory,
        memory_of_repeats,
        output: Estimate {
            least: gyk::bytes_for(config.shape, 0),
            most: most.map(|sent| gyk::bytes_for(config.shape, sent.kmers)),
        },
        least_memory: least_memory(config.threads, 1, windows),
        windows,
        tmp: temporary(config, expected, budget),
        super_kmers: Estimate {
            least: least.bytes,
            most: most.map(|sent| sent.bytes),
        },
        bases,
        seconds: bases.most.map(|bases| work(bases) / config.threads as f64),
    })
}

/// Bytes of the batches of all threads: no more than there is text.
fn batches(contents: &InputContents, threads: usize) -> u64 {
    let long = contents.bases.least > LONG * contents.records.least;
    let each = if long { 2 * BATCHES } else { BATCHES };
    let all = threads as u64 * each + (threads as u64 - 1) * HEAP;
    match contents.bases.most {
        Some(_) => (4 * contents.text as u64).min(all),
        None => all,
    }
}

/// Bytes that the sample of an input leaves behind, where its window is large.
fn sampled(inputs: &[Input], contents: &InputContents) -> u64 {
    let any = inputs
        .iter()
        .any(|input| input.compression == Compression::Xz);
    if any {
        SAMPLED.min(contents.inflated as u64)
    } else {
        0
    }
}

/// What one of the processes that the budget is for sends, as much as any other: at least, and at
/// most where that can be known.
fn sent(config: &Config, expected: Expected, budget: Budget) -> (Sent, Option<Sent>) {
    let shared = |estimate: Estimate| estimate.times(1.0 / budget.ranks as f64);
    let (bases, records) = (shared(expected.bases), shared(expected.records));
    let of = |bases, records| Sent::of(bases, records, config.shape);
    let most = bases.most.zip(records.most);
    let least = of(bases.least, records.least);
    (least, most.map(|(bases, records)| of(bases, records)))
}

/// Bytes of spill files of one of the processes that the budget is for.
pub(crate) fn temporary(config: &Config, expected: Expected, budget: Budget) -> Estimate {
    let (least, most) = sent(config, expected, budget);
    let room = budget.fabric - least_fabric(config.threads, budget.ranks);
    let spilled = |bytes: u64| if bytes <= room { 0 } else { bytes };
    let bases = expected.bases.times(1.0 / budget.ranks as f64);
    Estimate {
        least: spilled((least.bytes as f64 / REPEATS) as u64),
        most: most.map(|sent| spilled(sent.bytes).saturating_add(waiting(config, bases, budget))),
    }
}

/// Bytes of memory that it takes to count what is sent, beside what reading it does: if nothing
/// comes again, and if repeats do.
fn memory(config: &Config, sent: Sent, bins: &Bins, budget: Budget) -> [u64; 2] {
    // Who has no whole batch to read sends nothing.
    let batches = sent.bytes.div_ceil(BATCH as u64);
    let senders = config.threads.min(batches.max(1) as usize);
    let threads = config.threads as u64;
    let bytes = || bins.shares.iter().map(|share| share * sent.bytes as f64);
    let held_of = |record| LocalFabric::expected_memory_of(bytes(), senders, record);
    let held = held_of(sent.record());
    let expanded = sent.kmers as f64 * (8 * config.shape.words() + 4) as f64;
    let tables = TABLES * (expanded * bins.largest()) as u64;
    let beside = STARTED + budget.windows + budget.finished;
    // Where few are different, some bins stay empty.
    let repeated = held_of(sent.record() * REPEATS)
        .min(LocalFabric::AMPLE.max((held as f64 / REPEATS) as u64));
    [held, repeated].map(|held| match held <= budget.fabric {
        true => beside + held + threads * tables.min(budget.tables),
        // Where it does not fit, all threads spill; before bins are counted the buffers are gone.
        false => {
            let tables = tables.min(budget.for_tables_only(config.threads).tables);
            beside + (budget.fabric + threads * SPILLING).max(threads * tables)
        }
    })
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
pub(crate) fn check_tmp(config: &Config, tmp: Estimate, warn: bool) -> Result<(), Error> {
    let free = free_bytes(&config.tmp);
    let (limit, given) = (config.max_tmp.unwrap_or(u64::MAX), free.unwrap_or(u64::MAX));
    let Estimate { least, most } = tmp;
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
