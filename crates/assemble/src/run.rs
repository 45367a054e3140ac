//! The stages of an assembly.

use std::sync::Arc;

use gyrase_count::histogram::Histogram;
use gyrase_fabric::{Alone, SpillFolder};
use gyrase_table::gyk::Database;
use gyrase_tabulate::spill_path;
use gyrase_work::Progress;

use crate::Error;
use crate::clean::{Cleaned, Errors, clean};
use crate::config::{AssemblyError, Config};
use crate::foreign::{AdapterReads, phix};
use crate::graph::{Graph, Pieces, Way, compact};
use crate::longer::longer;
use crate::pairs::{PairJoins, resolve};
use crate::plan::{count_config, fits, graph_bytes, plan};
use crate::reads::Reads;
use crate::scaffold::{Scaffold, scaffolds};
use crate::solid::{FIRST_K, KmerDepth, lengths};
use crate::statistics::Statistics;
use crate::unitigs::{Means, SharedUnitigs, SolidKmers, build};

/// What came out.
#[derive(Debug)]
pub struct Assembled {
    /// The contigs, longest first, and how they overlap.
    pub graph: Graph,
    /// Reads.
    pub reads: u64,
    /// Their letters.
    pub bases: u64,
    /// What the counts of the k-mers say.
    pub depth: KmerDepth,
    /// Each k, and what was done with its graph.
    pub stages: Vec<GraphStage>,
    /// What mates made of the last.
    pub resolved: PairJoins,
    /// Reads that hold each of [`ADAPTERS`](crate::ADAPTERS).
    pub adapters: AdapterReads,
    /// Contigs that are the control PhiX174.
    pub phix: Vec<Way>,
}

impl Assembled {
    /// The numbers of contigs of at least so many bases.
    pub fn statistics(&self, least: usize) -> Statistics {
        let graph = &self.graph;
        let long = graph.nodes().filter(|&way| graph.length(way) >= least);
        Statistics::of(long.map(|way| graph.codes(way)))
    }

    /// The contigs as far as pairs put them behind each other.
    pub fn scaffolds(&self) -> Vec<Scaffold> {
        scaffolds(&self.graph, &self.resolved.open)
    }
}

/// What was done for one k.
#[derive(Clone, Copy, Debug)]
pub struct GraphStage {
    /// Bases of the k-mers.
    pub k: usize,
    /// Nodes of the graph as it was made.
    pub nodes: usize,
    /// What was taken out.
    pub cleaned: Cleaned,
    /// Nodes of the graph then.
    pub left: usize,
}

/// Assembles.
///
/// # Errors
/// See [`AssemblyError`].
pub fn run(config: &Config, progress: &Progress) -> Result<Assembled, AssemblyError> {
    plan(config)?.admit(config)?;
    progress.start("read", 0);
    let reads = Reads::load(&config.libraries, config.threads, progress)?;
    refuse_long(&reads)?;
    let (graph, depth) = first(config, reads.held(), progress)?;
    let mut stages = Vec::new();
    let mut graph = cleaned(graph, depth.peak, &mut stages, progress);
    let ks = config.ks.clone().unwrap_or_else(|| lengths(&reads, depth));
    for k in ks {
        progress.start("longer k-mers", reads.blocks().len() as u64);
        let larger = longer(&graph, &reads, k, config.threads, progress)?;
        let depth = depth.at(k, reads.typical_length());
        graph = cleaned(larger, depth, &mut stages, progress);
    }
    let (graph, resolved) = resolve(graph, &reads, config.threads, progress)?;
    Ok(Assembled {
        phix: phix(&graph),
        adapters: reads.adapters(),
        graph,
        resolved,
        reads: reads.len(),
        bases: reads.bases(),
        depth,
        stages,
    })
}

/// Reads that are longer come of other machines, and have other errors.
const LONGEST: u32 = 1000;

fn refuse_long(reads: &Reads) -> Result<(), AssemblyError> {
    match reads.typical_length() {
        length @ (LONGEST..) => Err(AssemblyError::LongReads { length }),
        _ => Ok(()),
    }
}

fn cleaned(graph: Graph, depth: u64, stages: &mut Vec<GraphStage>, progress: &Progress) -> Graph {
    progress.start("clean", 0);
    let (k, nodes) = (graph.k(), graph.len());
    let errors = match stages.is_empty() {
        true => Errors::Kmers,
        false => Errors::Walks,
    };
    let (graph, cleaned) = clean(graph, depth, errors);
    stages.push(GraphStage {
        k,
        nodes,
        cleaned,
        left: graph.len(),
    });
    graph
}

/// The graph of the smallest k: of the k-mers that are seen often enough. The reads take `held`
/// bytes beside it.
fn first(
    config: &Config,
    held: u64,
    progress: &Progress,
) -> Result<(Graph, KmerDepth), AssemblyError> {
    let output = config.scratch.clone();
    let memory = config.memory.saturating_sub(held);
    gyrase_count::run(&count_config(config, memory), progress)?;
    let database = Database::open(&output)?;
    let histogram = Histogram::of(&database, config.threads, progress)?;
    let depth = KmerDepth::of(&histogram);
    let seen = histogram.rows().filter(|row| row.0 >= depth.least);
    fits(held + graph_bytes(seen.map(|row| row.1).sum()), config)?;
    let unitigs = unitigs_of(database, depth.least, config, memory, progress)?;
    // Where it stays the caller removes it, with the folder that it is in.
    let _ = std::fs::remove_file(&output);
    Ok((compact(FIRST_K, &Pieces::of(unitigs.own())), depth))
}

/// The unitigs of the k-mers that are seen often enough, made within `memory`.
fn unitigs_of(
    database: Database,
    least: u32,
    config: &Config,
    memory: u64,
    progress: &Progress,
) -> Result<SharedUnitigs, AssemblyError> {
    let path = spill_path(&config.tmp, "gyrase", &config.scratch);
    let means = Means {
        threads: config.threads,
        memory,
        folder: Arc::new(SpillFolder::new(path, None, false)),
    };
    let kmers = SolidKmers::Databases {
        databases: vec![database],
        min_count: least,
    };
    let held = config.memory - memory;
    let unitigs = build(kmers, &means, &Alone, progress).map_err(|error| match error {
        Error::Memory { needed, .. } => AssemblyError::memory(needed + held, config),
        other => other.into(),
    })?;
    means.folder.remove();
    Ok(unitigs)
}
