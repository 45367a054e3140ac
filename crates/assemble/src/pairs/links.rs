//! Where mates are in a graph.

use std::collections::HashMap;

use gyrase_fabric::{FabricError, World};
use gyrase_kmer::mix;
use gyrase_work::Progress;

use crate::config::AssemblyError;
use crate::graph::{Graph, Way};
use crate::index::Index;
use crate::over_bins::over_bins;
use crate::reads::{Block, ReadBlocks, Reads};
use crate::together::summed;

/// Bases of an anchor, where the k-mers of the graph have as many.
const ANCHOR: usize = 31;
/// Neighbouring k-mers of which one is an anchor: an index of all takes more than the graph does.
const NEIGHBOURS: usize = 2;
/// Bases of the longest fragment that is measured.
const LONGEST: usize = 4096;
/// Fragments are measured in nodes of so many bases or more: short ones hold short fragments only.
const LONG: usize = 2 * LONGEST;

/// Fragments that go from one node to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// How many.
    pub pairs: u64,
    /// Bases that they have in both nodes together.
    pub bases: i64,
}

/// Links by the ways that they leave and enter, in both directions.
pub type Links = HashMap<(Way, Way), Link>;

/// What mates say.
pub struct Found {
    /// How many fragments within long nodes have each length.
    pub inserts: Vec<u64>,
    /// Fragments between nodes.
    pub links: Links,
}

/// Finds all mates.
///
/// # Errors
/// Somebody cancelled.
pub fn find(
    graph: &Graph,
    reads: &Reads,
    threads: usize,
    progress: &Progress,
) -> Result<Found, AssemblyError> {
    let index = Index::of_minimizers(graph, ANCHOR.min(graph.k()), NEIGHBOURS, threads)?;
    let (none, blocks) = (|_| Found::default(), (0..reads.count()).collect::<Vec<_>>());
    let states = (0..threads).map(none).collect();
    let found = over_bins(states, &blocks, progress, |found: &mut Found, block| {
        found.block(graph, &index, &*reads.get(block)?);
        Ok::<_, AssemblyError>(())
    })?;
    let mut all = Found::default();
    found.into_iter().for_each(|one| all.add(one));
    all.of_all(reads.world())?;
    let flipped: Vec<_> = all
        .links
        .iter()
        .map(|(&(from, to), &link)| ((to.flipped(), from.flipped()), link))
        .collect();
    all.links.extend(flipped);
    Ok(all)
}

impl Default for Found {
    fn default() -> Found {
        Found {
            inserts: vec![0; LONGEST + 1],
            links: Links::new(),
        }
    }
}

impl Found {
    fn block(&mut self, graph: &Graph, index: &Index, block: &Block) {
        if !block.paired {
            return;
        }
        let (mut first, mut is_second) = (None, false);
        index.for_each_read(block, |read, minimizers| {
            // Where the read would begin in the way, whatever is before its anchor.
            let place = || {
                let (at, way, offset) = index.first_of(read, minimizers)?;
                Some((way, offset as i64 - at as i64))
            };
            if !is_second {
                first = place();
            } else if let (Some((from, start)), Some((back, end))) = (first, place()) {
                let to = back.flipped();
                self.pair(graph, (from, start), (to, graph.length(to) as i64 - end));
            }
            is_second = !is_second;
        });
    }

    /// Adds a fragment that begins and ends in places of ways, the latter in its own direction.
    fn pair(&mut self, graph: &Graph, (from, start): (Way, i64), (to, end): (Way, i64)) {
        if from == to && end > start {
            let length = (end - start) as usize;
            if graph.length(from) >= LONG && length <= LONGEST {
                self.inserts[length] += 1;
            }
            return;
        }
        if from.node() == to.node() {
            return;
        }
        let key = (from, to).min((to.flipped(), from.flipped()));
        let link = self.links.entry(key).or_default();
        link.pairs += 1;
        link.bases += graph.length(from) as i64 - start + end;
    }

    /// Makes it what all processes found.
    ///
    /// Collective.
    fn of_all(&mut self, world: &dyn World) -> Result<(), FabricError> {
        if world.ranks() == 1 {
            return Ok(());
        }
        self.inserts = world.sum(&self.inserts)?;
        let row = |(&(from, to), link): (&(Way, Way), &Link)| {
            let key = (from.index() as u64) << 32 | to.index() as u64;
            (mix(key), [key], [link.pairs, link.bases as u64])
        };
        let own: Vec<_> = self.links.iter().map(row).collect();
        let all = summed(world, &own)?.into_iter();
        let link = |([key], [pairs, bases]): ([u64; 1], [u64; 2])| {
            let ways = [key >> 32, key & u64::from(u32::MAX)];
            let [from, to] = ways.map(|index| Way::of_index(index as usize));
            let bases = bases as i64;
            ((from, to), Link { pairs, bases })
        };
        self.links = all.map(link).collect();
        Ok(())
    }

    fn add(&mut self, other: Found) {
        let inserts = self.inserts.iter_mut().zip(other.inserts);
        inserts.for_each(|(sum, more)| *sum += more);
        for (key, more) in other.links {
            let link = self.links.entry(key).or_default();
            link.pairs += more.pairs;
            link.bases += more.bases;
        }
    }
}
