//! k-mers of the larger k that walks of reads have.

use gyrase_fabric::{FabricError, World};
use gyrase_kmer::Kmer;

use super::counts::{Counted, Counts, merge};
use super::crossings::Crossings;
use crate::graph::{Extended, Graph, Way, kmer_of};
use crate::reads::Block;
use crate::together;
use crate::walk::{Step, Walker};

/// k-mers that a worker collects, at least, before it makes equal ones one.
const ROOM: usize = 1 << 18;

/// What reads say of the k-mers of the larger k.
pub struct Found<'g, const W: usize> {
    graph: &'g Graph,
    /// Bases of the k-mers.
    pub k: usize,
    /// For each node how many k-mers of reads are within it.
    inner: Vec<u64>,
    /// k-mers that are in more than two nodes, as they come.
    kmers: Vec<Kmer<W>>,
    /// Those of all workers, and what was filled, ascending, with their counts.
    pub counted: Vec<Counted<W>>,
}

impl<'g, const W: usize> Found<'g, W> {
    /// Nothing yet.
    pub fn new(graph: &'g Graph, k: usize) -> Found<'g, W> {
        Found {
            graph,
            k,
            inner: vec![0; graph.len()],
            kmers: Vec::new(),
            counted: Vec::new(),
        }
    }

    /// Adds what the reads of a block say.
    pub fn block(
        &mut self,
        walker: &Walker,
        block: &Block,
        (counts, crossings): (&Counts<W>, &Crossings),
    ) {
        let mut steps = Vec::new();
        walker.index().for_each_read(block, |read, minimizers| {
            walker.walk_of(read, minimizers, &mut steps, |steps| {
                self.stretch(read, steps, crossings);
            });
            if self.kmers.len() >= ROOM.max(counts.len() / 4) {
                self.settle(counts);
            }
        });
    }

    /// Adds the k-mers of a stretch of a read.
    fn stretch(&mut self, read: &[u8], steps: &[Step], crossings: &Crossings) {
        // A k-mer has so many smaller ones behind its first.
        let behind = self.k - self.graph.k();
        let Some(last) = steps.last() else {
            return;
        };
        let end = (last.at + last.kmers).saturating_sub(behind);
        for (number, step) in steps.iter().enumerate() {
            let step_end = step.at + step.kmers;
            let first_crossing = step_end.saturating_sub(behind).max(step.at);
            self.inner[step.way.node()] += (first_crossing.min(end).max(step.at) - step.at) as u64;
            for at in first_crossing..step_end.min(end) {
                let edge = (step.way, steps[number + 1].way);
                if crossings.add(edge, step_end - at) {
                    continue;
                }
                let kmer: Kmer<W> = kmer_of(&read[at..at + self.k]);
                self.kmers.push(kmer.canonical(self.k));
            }
        }
    }

    /// Counts the k-mers that came.
    pub fn settle(&mut self, counts: &Counts<W>) {
        counts.add(&mut self.kmers);
    }

    /// Adds k-mers, ascending and each once.
    pub fn merge(&mut self, others: &[Counted<W>]) {
        self.counted.reserve_exact(others.len());
        merge(&mut self.counted, others);
    }

    /// How many k-mers of reads are within a node.
    pub fn inner(&self, way: Way) -> u64 {
        self.inner[way.node()]
    }

    /// The count of a k-mer that is in more than two nodes, or was filled.
    pub fn count(&self, kmer: Kmer<W>) -> Option<u32> {
        let place = self
            .counted
            .binary_search_by_key(&kmer, |counted| counted.0);
        place.ok().map(|place| self.counted[place].1)
    }

    /// Nodes that are long enough, and the k-mers between nodes.
    pub fn sequences(&self, crossings: &Crossings) -> Extended<'_, W> {
        let own = Extended::of((self.graph, self.k), |way| self.inner(way), &self.counted);
        own.with(crossings.seen())
    }

    /// Makes it what all processes found.
    ///
    /// Collective.
    pub fn of_all(&mut self, world: &dyn World) -> Result<(), FabricError> {
        self.inner = world.sum(&self.inner)?;
        self.counted = together::counted(world, std::mem::take(&mut self.counted))?;
        Ok(())
    }

    /// Adds what a worker found.
    pub fn add(&mut self, other: &Found<W>) {
        let inner = self.inner.iter_mut().zip(&other.inner);
        inner.for_each(|(sum, more)| *sum += more);
    }
}
