//! What an assembly will take, before its first byte.

use gyrase_count::{Estimate, least_memory_among};

use crate::config::{AssemblyError, Config, Sample};
use crate::graph::shape_of;
use crate::reads::{least_room, room_for_reads};
use crate::solid::first_k;

/// Bytes that a read takes beside its bases.
const READ: u64 = 5;
/// Bytes that a k-mer takes once it is counted.
const COUNTED: u64 = 12;
/// And of the graph, with the index by which reads are found in it. Where that is made its
/// processes share its k-mers, and it takes no more.
const GRAPH: u64 = 7;
/// Bytes of a k-mer of its share in a process that asks others, with the anchors that fall to it.
const SHARED: u64 = 24;
/// Bytes of a k-mer of the last graph, with and without strains, in the process that writes it.
const LAST: u64 = 1;
/// How often a k-mer of a genome is taken to be seen; where it is less, the graph is larger.
const COVERAGE: u64 = 20;
/// The same of a metagenome.
const COVERAGE_MIXED: u64 = 7;
/// Bytes of code, stacks and batches.
const BESIDE: u64 = 24 << 20;

/// What a run will take.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Letters of the reads.
    pub bases: Estimate,
    /// Bytes of memory that are expected: for reads that cover their genome twenty times or more,
    /// or the genomes of a metagenome seven times.
    pub memory: Estimate,
    /// The least `memory`, in bytes: with which a run is begun, on one thread, and with which the
    /// graph is made of reads that cover their genomes so.
    pub least_memory: Estimate,
    /// Threads for which the memory of a run is enough, up to those that it may have.
    pub threads: usize,
}

impl Plan {
    /// Refuses a run that is promised too little memory.
    ///
    /// # Errors
    /// [`AssemblyError::Memory`].
    pub fn admit(&self, config: &Config) -> Result<(), AssemblyError> {
        fits(self.least_memory.least, config)
    }
}

/// Refuses what does not fit the memory of a run.
pub fn fits(needed: u64, config: &Config) -> Result<(), AssemblyError> {
    match needed <= config.memory {
        true => Ok(()),
        false => Err(AssemblyError::memory(needed, config)),
    }
}

/// Says what a run will take, each of so many processes.
///
/// # Errors
/// The reads cannot be opened.
pub fn plan(config: &Config, ranks: usize) -> Result<Plan, AssemblyError> {
    let counted = gyrase_count::plan(&count_config(config, config.memory))?;
    let packed = |bases: u64| (bases / 4 + bases / 100 * READ) / ranks as u64;
    let kmers = |bases: u64| bases / coverage(config.sample);
    let room = room_for_reads(config.memory);
    let held = |bases: u64, counting: u64| {
        let reads = packed(bases).min(room);
        let counting = counting + kmers(bases) * COUNTED;
        reads + counting.max(graph_bytes(kmers(bases), ranks))
    };
    let with_reads = |beside: u64, bases: u64| beside + packed(bases).min(least_room(beside));
    let least = counted.bases.least;
    let begun_with = |threads| -> Result<u64, AssemblyError> {
        let counting = gyrase_count::Config {
            threads,
            ..count_config(config, config.memory)
        };
        let counting = least_memory_among(&counting, ranks)?;
        Ok(with_reads(counting, least))
    };
    let begun = begun_with(1)?;
    let with_graph = |bases: u64| {
        let graph = graph_bytes(kmers(bases), ranks);
        begun.max(with_reads(graph, bases))
    };
    let mut threads = config.threads;
    while threads > 1 && begun_with(threads)? > config.memory {
        threads -= 1;
    }
    Ok(Plan {
        bases: counted.bases,
        memory: Estimate {
            least: held(least, counted.memory_of_repeats),
            most: counted.bases.most.map(|most| held(most, counted.memory)),
        },
        least_memory: Estimate {
            least: begun,
            most: counted.bases.most.map(with_graph),
        },
        threads,
    })
}

/// How often a k-mer is taken to be seen.
fn coverage(sample: Sample) -> u64 {
    match sample {
        Sample::Isolate => COVERAGE,
        Sample::Metagenome { .. } => COVERAGE_MIXED,
    }
}

/// Bytes of the least memory for a graph of so many k-mers, which so many processes have together.
pub fn graph_bytes(kmers: u64, ranks: usize) -> u64 {
    let all_here = whole_bytes(kmers);
    BESIDE
        + match ranks {
            1 => all_here,
            _ => all_here.min(shared_bytes(kmers, ranks).max(kmers * LAST)),
        }
}

/// Bytes of a graph of so many k-mers, with its index, in a process that has all of it.
pub fn whole_bytes(kmers: u64) -> u64 {
    kmers * GRAPH
}

/// Bytes in each of so many processes that ask each other.
pub fn shared_bytes(kmers: u64, ranks: usize) -> u64 {
    kmers.div_ceil(ranks as u64) * SHARED
}

/// Bytes that are left for a graph beside the reads, where these take so many.
pub fn room_for_graph(memory: u64, reads: u64) -> u64 {
    memory.saturating_sub(BESIDE + reads)
}

/// How the k-mers of the first graph are counted, with so much memory.
pub fn count_config(config: &Config, memory: u64) -> gyrase_count::Config {
    let inputs = config.libraries.iter().flat_map(|library| library.files());
    gyrase_count::Config {
        inputs: inputs.collect(),
        output: config.output.clone(),
        shape: shape_of(first_k(config.sample)),
        // What is seen once is an error, or so thin that nothing can be made of it.
        min_count: 2,
        max_count: u32::MAX,
        min_base_quality: None,
        paired: false,
        threads: config.threads,
        memory,
        tmp: config.tmp.clone(),
        max_tmp: None,
        resume: false,
        chunk: None,
    }
}
