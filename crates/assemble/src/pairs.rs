//! Mates: which nodes follow each other, where the graph alone does not say it.
//!
//! Each mate has an **anchor**: its first minimizer of 31 bases (or k, where k is less) that is in
//! one place of the graph alone. Mates in one node tell how long fragments are. Mates in two nodes
//! are a **link**: one that says how far the nodes are from each other. A node that a genome has
//! once, by its coverage, is joined to the next such node when at least four links say so in both
//! directions, and exactly one way through the graph between them has a length that fits. In a
//! metagenome any long node is joined so to the next one of about its coverage, and two dead ends
//! that overlap are joined by two links.

mod inserts;
mod known;
mod links;
mod mates;
mod overlaps;
mod paths;
mod resolve;

use gyrase_fabric::{FabricError, Numbers, World};

use crate::among::Among;
use crate::config::{AssemblyError, Sample};
use crate::graph::SharedGraph;
use crate::reads::Reads;

pub use inserts::Inserts;
pub use paths::OpenJoin;

/// Rounds at most: what was joined may be joined again.
const ROUNDS: usize = 3;

/// What mates made of a graph.
#[derive(Clone, Debug, Default)]
pub struct PairJoins {
    /// How long fragments are; nothing where there are too few mates to tell.
    pub inserts: Option<Inserts>,
    /// For each join how many pairs support it, ascending.
    pub pairs: Vec<u64>,
    /// Joins of dead ends that overlap by less than a k-mer.
    pub overlapping: u64,
    /// Nodes that nothing but each other was left for, when joins were made.
    pub freed: u64,
    /// Nodes of the graph that follow each other, where several ways between them fit, or none.
    pub open: Vec<OpenJoin>,
}

/// Joins nodes of a graph as far as mates say it.
///
/// Collective.
///
/// # Errors
/// Another process failed, or somebody cancelled.
pub fn resolve(
    mut graph: SharedGraph,
    reads: &Reads,
    sample: Sample,
    among: &Among,
) -> Result<(SharedGraph, PairJoins), AssemblyError> {
    let (mut resolved, world) = (PairJoins::default(), among.world);
    for round in 0..=ROUNDS {
        let found = links::find(&graph, reads, among)?;
        let Some(inserts) = Inserts::of(&found.inserts) else {
            break;
        };
        let (joins, open) = paths::joins(&graph, &found.links, &inserts, sample, among)?;
        let mut joins = of_all(joins, world)?;
        if sample.is_mixed() {
            let ends = overlaps::overlapping(&graph, &found.links, &inserts, among)?;
            let ends = of_all(ends, world)?;
            resolved.overlapping += ends.len() as u64;
            joins.extend(ends);
        }
        resolved.inserts.get_or_insert(inserts);
        resolved.open = of_all(open, world)?;
        // What stays open is told of the last graph.
        if joins.is_empty() || round == ROUNDS {
            break;
        }
        resolved.pairs.extend(joins.iter().map(|join| join.pairs));
        let (next, freed) = resolve::apply(graph, &joins, among)?;
        (graph, resolved.freed) = (next, resolved.freed + freed);
    }
    resolved.pairs.sort_unstable();
    Ok((graph, resolved))
}

/// Those of all processes, in the order of ranks.
///
/// Collective.
fn of_all<J: Numbers>(own: Vec<J>, world: &dyn World) -> Result<Vec<J>, FabricError> {
    if world.ranks() == 1 {
        return Ok(own);
    }
    let mut numbers = Vec::new();
    own.iter().for_each(|join| join.put(&mut numbers));
    let bytes: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let mut all = Vec::new();
    for bytes in world.all_gather(&bytes)? {
        let words = bytes.as_chunks().0.iter();
        let numbers: Vec<u64> = words.map(|word| u64::from_le_bytes(*word)).collect();
        let mut numbers = numbers.into_iter();
        while numbers.len() > 0 {
            all.push(J::take(&mut numbers));
        }
    }
    Ok(all)
}
