//! k-mers of the larger k that walks of reads have.

use gyrase_fabric::{FabricError, World};
use gyrase_kmer::Kmer;

use crate::graph::{Graph, Pieces, Way, kmer_of, write_codes};
use crate::reads::Block;
use crate::together;
use crate::walk::{Step, Walker};

/// k-mers that a worker collects before it makes equal ones one.
const ROOM: usize = 1 << 18;

/// What reads say of the k-mers of the larger k.
pub struct Found<'g, const W: usize> {
    graph: &'g Graph,
    /// Bases of the k-mers.
    pub k: usize,
    /// For each node how many k-mers of reads are within it.
    inner: Vec<u64>,
    /// k-mers that are in no single node, as they come.
    kmers: Vec<Kmer<W>>,
    /// The same, ascending, with their counts.
    pub counted: Vec<(Kmer<W>, u32)>,
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
    pub fn block(&mut self, walker: &Walker, block: &Block) {
        let mut steps = Vec::new();
        block.for_each(|read| {
            walker.walk(read, &mut steps, |steps| self.stretch(read, steps));
            if self.kmers.len() >= ROOM {
                self.settle();
            }
        });
    }

    /// Adds the k-mers of a stretch of a read.
    fn stretch(&mut self, read: &[u8], steps: &[Step]) {
        // A k-mer has so many smaller ones behind its first.
        let behind = self.k - self.graph.k();
        let Some(last) = steps.last() else {
            return;
        };
        let end = (last.at + last.kmers).saturating_sub(behind);
        for step in steps {
            let first_crossing = (step.at + step.kmers).saturating_sub(behind).max(step.at);
            self.inner[step.way.node()] += (first_crossing.min(end).max(step.at) - step.at) as u64;
            for at in first_crossing..(step.at + step.kmers).min(end) {
                let kmer: Kmer<W> = kmer_of(&read[at..at + self.k]);
                self.kmers.push(kmer.canonical(self.k));
            }
        }
    }

    /// Makes equal k-mers one.
    pub fn settle(&mut self) {
        self.kmers.sort_unstable();
        let runs = self.kmers.chunk_by(|one, other| one == other);
        let counted = runs.map(|run| (run[0], run.len() as u32)).collect();
        self.kmers.clear();
        self.merge(counted);
    }

    /// Adds k-mers, ascending and each once.
    pub fn merge(&mut self, others: Vec<(Kmer<W>, u32)>) {
        let mut all = std::mem::take(&mut self.counted);
        all.extend(others);
        // Two sorted runs: the stable sort merges them.
        all.sort_by_key(|counted| counted.0);
        all.dedup_by(|one, kept| {
            let equal = one.0 == kept.0;
            kept.1 = if equal {
                kept.1.saturating_add(one.1)
            } else {
                kept.1
            };
            equal
        });
        self.counted = all;
    }

    /// How many k-mers of reads are within a node.
    pub fn inner(&self, way: Way) -> u64 {
        self.inner[way.node()]
    }

    /// Nodes that are long enough, and the k-mers between nodes.
    pub fn pieces(&self) -> Pieces {
        let (graph, mut pieces) = (self.graph, Pieces::default());
        for way in graph.nodes().filter(|&way| graph.length(way) >= self.k) {
            pieces.push(graph.codes(way), self.inner[way.node()]);
        }
        let mut codes = vec![0; self.k];
        for &(kmer, count) in &self.counted {
            write_codes(kmer, &mut codes);
            pieces.push(&codes, count.into());
        }
        pieces
    }

    /// Makes it what all processes found.
    ///
    /// Collective.
    pub fn of_all(&mut self, world: &dyn World) -> Result<(), FabricError> {
        self.inner = world.sum(&self.inner)?;
        self.counted = together::counted(world, std::mem::take(&mut self.counted))?;
        Ok(())
    }

    /// Adds what another worker found.
    pub fn add(&mut self, other: Found<W>) {
        let inner = self.inner.iter_mut().zip(other.inner);
        inner.for_each(|(sum, more)| *sum += more);
        self.merge(other.counted);
    }
}
