//! What an import or an export will take, before its first k-mer.

use std::mem::size_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gyrase_fabric::LocalFabric;
use gyrase_kmer::{BINS, Shape, with_words};
use gyrase_table::gyk::{self, Cutoffs, Database};
use gyrase_tabulate::Estimate;

use super::error::Result;
use super::export::{ExportConfig, Format, listing, parts_of, plan_of};
use super::import::{ImportConfig, shape_of};
use super::open::open_metered;
use super::scatter::{Counted, Shares, record_bytes};
use super::{kff, kmc};
use crate::dump;
use crate::ops::STARTED;

/// Bytes that a run takes beside its records, and each thread, as measured; where records are
/// spilled, those of the spills too.
const BESIDE: u64 = 2 << 20;
const EACH: u64 = 1 << 20;
const SPILLED: u64 = 18 << 20;
const SPILLING: u64 = 5 << 20;
/// Bytes of finished bins that wait for an earlier one, for each of several threads, and the part
/// of all records that they are at most.
const WAITING: u64 = 6 << 20;
const WAITING_PART: u64 = 6;

/// Bytes of a foreign file that its k-mers are judged by, as they are stored.
const SAMPLE: u64 = 4 << 20;
/// One part in so many that the rest may differ by.
const DIFFERS: u64 = 16;

/// What an import or an export will take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangePlan {
    /// k-mers that are read; no upper bound where the input is a pipe.
    pub kmers: Estimate,
    /// Bytes of memory, those of the database among them that is exported, which is mapped.
    pub memory: u64,
    /// Bytes of temporary files; 0 where all fits in memory.
    pub tmp: Estimate,
    /// Bytes of the output, before it is compressed.
    pub output: Estimate,
}

/// Predicts what an export takes.
///
/// # Errors
/// A database that cannot be opened, or too little memory.
pub fn plan_export(config: &ExportConfig) -> Result<ExchangePlan> {
    if let Format::Text(style) = config.format {
        let (read, output) = dump::plan(&listing(config, style))?;
        return Ok(ExchangePlan {
            kmers: Estimate::exactly(read.kmers),
            memory: read.memory,
            tmp: Estimate::exactly(0),
            output,
        });
    }
    let database = Database::open(&config.input)?;
    let shares = Shares::of(config.memory, config.threads)?;
    let (shape, summary) = (database.shape(), database.header().summary());
    let kept = dump::listed(&summary, config.cutoffs);
    let held = Held::of(shape, parts_of(shape.k()), kept.most, shares);
    let sorted = with_words!(shape, W => {
        let records = held.records.min(shares.sort) / record_bytes(W) as u64;
        records * size_of::<Counted<W>>() as u64
    });
    let plan = plan_of(database.header(), config.cutoffs);
    let (each, fixed, table) = match config.format {
        Format::Kmc => kmc::sizes(plan, shares.prefixes),
        _ => kff::sizes(plan),
    };
    let whole = |kmers: u64| kmers * each + fixed;
    Ok(ExchangePlan {
        kmers: Estimate::exactly(summary.distinct),
        memory: summary.file_bytes + held.with(sorted, shares) + table,
        tmp: held.tmp(),
        output: Estimate {
            least: whole(kept.least),
            most: kept.most.map(whole),
        },
    })
}

/// Predicts what an import takes.
///
/// # Errors
/// An input that cannot be read or does not tell its length, or too little memory.
pub fn plan_import(config: &ImportConfig) -> Result<ExchangePlan> {
    let shares = Shares::of(config.memory, config.threads)?;
    let (shape, kmers, come_once) = sampled(config)?;
    let held = Held::of(shape, BINS, kmers.most, shares);
    let waiting = match shares.threads as u64 {
        1 => 0,
        threads => (threads * WAITING)
            .min(held.records / WAITING_PART)
            .min(shares.waiting),
    };
    // Of a pipe nobody knows what comes.
    let memory = match kmers.most {
        Some(_) => held.with(0, shares) + waiting,
        None => config.memory,
    };
    let is_whole = come_once && config.cutoffs == Cutoffs::default();
    let least = if is_whole { kmers.least } else { 0 };
    Ok(ExchangePlan {
        kmers,
        memory,
        tmp: held.tmp(),
        output: Estimate {
            least: least * (gyk::bytes_for(shape, 1) - gyk::bytes_for(shape, 0)),
            most: kmers.most.map(|kmers| gyk::bytes_for(shape, kmers)),
        },
    })
}

/// The records of a run and where they are.
struct Held {
    /// Bytes of all of them; nothing is known of a pipe.
    records: u64,
    known: bool,
    /// Bytes of memory that the fabric has for them.
    fabric: u64,
    spilled: bool,
}

impl Held {
    fn of(shape: Shape, partitions: usize, kmers: Option<u64>, shares: Shares) -> Held {
        let number = kmers.unwrap_or(0);
        let records = number * record_bytes(shape.words()) as u64;
        let held = LocalFabric::expected_memory(partitions, shares.threads, number, records);
        Held {
            records,
            known: kmers.is_some(),
            fabric: held.min(shares.fabric),
            spilled: kmers.is_none() || held > shares.fabric,
        }
    }

    /// Bytes of the process, which sorts so many of the records at a time once all are there.
    fn with(&self, sorted: u64, shares: Shares) -> u64 {
        let threads = shares.threads as u64;
        let beside = STARTED + BESIDE + threads * EACH;
        match self.spilled {
            true => beside + (self.fabric + SPILLED + threads * SPILLING).max(sorted),
            false => beside + self.fabric + sorted,
        }
    }

    /// Bytes of spill files: compressed, they take half or more.
    fn tmp(&self) -> Estimate {
        match self.spilled {
            true => Estimate {
                least: self.records / 2,
                most: self.known.then_some(self.records),
            },
            false => Estimate::exactly(0),
        }
    }
}

/// The shape of what is imported, how many k-mers come, and whether each comes once: as a pair of
/// KMC says it, else by the first of them and the bytes that they take.
fn sampled(config: &ImportConfig) -> Result<(Shape, Estimate, bool)> {
    let stored = Arc::new(AtomicU64::new(0));
    let mut source = open_metered(&config.input, Arc::clone(&stored))?;
    let shape = shape_of(&*source, config)?;
    if source.kmers() > 0 {
        return Ok((shape, Estimate::exactly(source.kmers()), true));
    }
    let size = config.input.metadata().ok().filter(|there| there.is_file());
    let Some(size) = size.map(|there| there.len()) else {
        let unknown = Estimate {
            least: 0,
            most: None,
        };
        return Ok((shape, unknown, false));
    };
    let (mut kmers, mut before) = (0_u64, stored.load(Relaxed));
    while source.next()?.is_some() {
        let now = stored.load(Relaxed);
        if now > before && before >= SAMPLE {
            // The bytes before are just used up.
            let all = (kmers as f64 * size as f64 / before as f64) as u64;
            let kmers = Estimate {
                least: all - all / DIFFERS,
                most: Some(all + all / DIFFERS),
            };
            return Ok((shape, kmers, false));
        }
        (kmers, before) = (kmers + 1, now);
    }
    Ok((shape, Estimate::exactly(kmers), false))
}
