//! What an assembly will take, before its first byte.

use gyrase_count::Estimate;

use crate::config::{AssemblyError, Config};
use crate::graph::shape_of;
use crate::solid::first_k;

/// Bytes that a read takes beside its bases.
const READ: u64 = 5;
/// Bytes that a k-mer takes while the first graph is made.
const KMER: u64 = 36;
/// And of the graph, with the index by which reads are found in it.
const GRAPH: u64 = 20;
/// k-mers of a genome are taken to be seen so often; where it is less, the graph is larger.
const COVERAGE: u64 = 20;
/// The same of the genomes of a metagenome.
const COVERAGE_MIXED: u64 = 7;
/// Bytes of a k-mer that is seen once and comes back, while it is joined to the graph.
const SPARED: u64 = 56;
/// Bytes of code, stacks and batches.
const BESIDE: u64 = 48 << 20;

/// What a run will take.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Letters of the reads.
    pub bases: Estimate,
    /// Bytes of memory that are expected: for reads that cover their genome twenty times or more,
    /// or the genomes of a metagenome seven times.
    pub memory: Estimate,
    /// The least `memory` that a run is begun with.
    pub least_memory: u64,
}

impl Plan {
    /// Refuses a run that is promised too little memory.
    ///
    /// # Errors
    /// [`AssemblyError::Memory`].
    pub fn admit(&self, config: &Config) -> Result<(), AssemblyError> {
        fits(self.least_memory, config)
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
    let coverage = if config.sample.is_mixed() {
        COVERAGE_MIXED
    } else {
        COVERAGE
    };
    let graph = |bases: u64| bases / coverage * KMER;
    let held = |bases: u64, counting: u64| packed(bases) + BESIDE + counting.max(graph(bases));
    let least = counted.bases.least;
    Ok(Plan {
        bases: counted.bases,
        memory: Estimate {
            least: held(least, counted.memory_of_repeats),
            most: counted.bases.most.map(|most| held(most, counted.memory)),
        },
        least_memory: packed(least) + BESIDE + counted.least_memory,
    })
}

/// Bytes of the first graph in each of so many processes, while it is made of so many k-mers: they
/// share these, and each has the graph then.
pub fn graph_bytes(kmers: u64, ranks: usize) -> u64 {
    BESIDE + kmers * GRAPH.max(KMER / ranks as u64)
}

/// Bytes of a graph of so many k-mers to which others are joined.
pub fn joined_bytes(kmers: u64, others: u64) -> u64 {
    BESIDE + kmers * GRAPH + others * SPARED
}

/// How the k-mers of the first graph are counted, with so much memory.
pub fn count_config(config: &Config, memory: u64) -> gyrase_count::Config {
    let inputs = config.libraries.iter().flat_map(|library| library.files());
    gyrase_count::Config {
        inputs: inputs.collect(),
        output: config.scratch.clone(),
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
