//! What a count will need, before its first byte.

use std::path::Path;

use gyrase_fabric::LocalFabric;
use gyrase_fastx::{Compression, Format, Input, Inputs};
use gyrase_kmer::{BINS, Shape};

use crate::{Config, Error};

/// What a count is predicted to take. The bytes are upper estimates, but for compressed inputs that hold more than five times
/// their size; the time is a guess for a machine of today.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of memory without which the run is refused.
    pub least_memory: u64,
    /// Bytes of spill files; 0 when all fits in memory.
    pub tmp: u64,
    /// Bytes of super-k-mers, wherever they go.
    pub super_kmers: u64,
    /// Bases in the inputs; `None` when an input is a pipe.
    pub bases: Option<u64>,
    /// Seconds.
    pub seconds: f64,
}

impl Plan {
    /// Bytes to reserve for the fabric: all that it may take when the inputs do not tell how much will come, as pipes and
    /// compressed files do not.
    pub(crate) fn reserved(&self, inputs: &Inputs, budget: Budget, threads: usize) -> u64 {
        let ample = (2 * self.super_kmers).max(256 << 20) + LocalFabric::least_memory(BINS, threads);
        let tells = |input: &Input| input.size.is_some() && input.compression == Compression::Plain;
        if inputs.inputs().iter().all(tells) { budget.fabric.min(ample) } else { budget.fabric }
    }
}

/// Bytes of text that a byte of a compressed file stands for, more than in files of reads.
const EXPANSION: f64 = 5.0;
/// Bases that a thread cuts and counts in a second, as measured with k = 31.
const BASES_PER_SECOND: f64 = 100e6;
/// Bytes that a thread decompresses in a second.
const INFLATED_PER_SECOND: f64 = 600e6;

/// How the memory of a run is shared out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// For the buffers of the fabric.
    pub(crate) fabric: u64,
    /// For the tables of one thread.
    pub(crate) tables: u64,
}

/// Code, stacks, batches, write buffers: what a run takes besides fabric and tables.
fn overhead(threads: usize) -> u64 {
    (100 << 20) + threads as u64 * (24 << 20)
}

/// The least for the tables of one thread.
const LEAST_TABLES: u64 = 8 << 20;

fn least_memory(threads: usize) -> u64 {
    overhead(threads) + LocalFabric::least_memory(BINS, threads) + threads as u64 * LEAST_TABLES
}

impl Budget {
    pub(crate) fn of(config: &Config) -> Result<Budget, Error> {
        let (threads, least) = (config.threads, least_memory(config.threads));
        if config.memory < least {
            let needed = least.div_ceil(1 << 20);
            return Err(Error::Memory { k: config.shape.k(), threads, needed, given: config.memory >> 20 });
        }
        let tables = (config.memory / 16 / threads as u64).clamp(LEAST_TABLES, 1 << 30);
        let for_tables = config.memory - overhead(threads) - LocalFabric::least_memory(BINS, threads);
        let tables = tables.min(for_tables / threads as u64);
        Ok(Budget { fabric: config.memory - overhead(threads) - threads as u64 * tables, tables })
    }
}

/// Bytes of super-k-mers for a base of input: runs of (w + 1) / 2 k-mers on average, each with a byte for its length.
fn bytes_per_base(shape: Shape) -> f64 {
    let kmers = (shape.window() as f64 + 1.0) / 2.0;
    (1.5 + (kmers + shape.k() as f64 - 1.0) / 4.0) / kmers
}

/// Bases in the inputs: from above, or `None` when there is a pipe.
fn bases(inputs: &Inputs) -> Option<u64> {
    inputs
        .inputs()
        .iter()
        .map(|input| {
            let text = match input.compression {
                Compression::Plain => input.size? as f64,
                _ => input.size? as f64 * EXPANSION,
            };
            Some(if input.format == Some(Format::Fastq) { text / 2.0 } else { text } as u64)
        })
        .sum()
}

/// Predicts what the count will take.
///
/// # Errors
/// When an input cannot be opened.
pub fn plan(config: &Config) -> Result<Plan, Error> {
    let inputs = Inputs::open(&config.inputs, crate::run::options(config, false))?;
    let least = least_memory(config.threads);
    let budget = Budget::of(&Config { memory: config.memory.max(least), ..config.clone() })?;
    Ok(predict(config, &inputs, budget))
}

pub(crate) fn predict(config: &Config, inputs: &Inputs, budget: Budget) -> Plan {
    let bases = bases(inputs);
    let super_kmers = (bases.unwrap_or(0) as f64 * bytes_per_base(config.shape)) as u64;
    let least = LocalFabric::least_memory(BINS, config.threads);
    let fits = bases.is_some() && super_kmers + least <= budget.fabric;
    let fabric = if fits { super_kmers + least } else { budget.fabric };
    let compressed: u64 = inputs
        .inputs()
        .iter()
        .filter(|input| input.compression != Compression::Plain)
        .filter_map(|input| input.size)
        .sum();
    let work = bases.unwrap_or(0) as f64 / BASES_PER_SECOND + compressed as f64 * EXPANSION / INFLATED_PER_SECOND;
    Plan {
        memory: overhead(config.threads)
            + fabric
            + config.threads as u64 * budget.tables.min(LEAST_TABLES + super_kmers / 64),
        least_memory: least_memory(config.threads),
        tmp: if fits { 0 } else { super_kmers },
        super_kmers,
        bases,
        seconds: work / config.threads as f64,
    }
}

/// Refuses a run whose spill files would not fit.
pub(crate) fn check_tmp(config: &Config, plan: &Plan) -> Result<(), Error> {
    let needed = plan.tmp.min(config.max_tmp.unwrap_or(u64::MAX));
    match free_bytes(&config.tmp) {
        Some(free) if free < needed => {
            Err(Error::TmpSpace { folder: config.tmp.clone(), needed: needed >> 20, free: free >> 20 })
        }
        _ => Ok(()),
    }
}

fn free_bytes(folder: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(folder).ok()?;
    Some(stat.f_bavail * stat.f_frsize)
}
