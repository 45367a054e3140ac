//! Sequences that may overlap, before they are joined.

use gyrase_kmer::Kmer;

use super::nodes::{Graph, Pieces};
use super::way::Way;
use crate::{BaseSlice, BaseString};

/// Sequences of at least k bases, no k-mer in two of them, with the sums of the counts of their
/// k-mers.
pub trait Sequences<const W: usize> {
    /// How many.
    fn len(&self) -> usize;

    /// The sum of the counts of the k-mers of one.
    fn count(&self, sequence: usize) -> u64;

    /// Its first and its last `bases` bases, fewer than it has.
    fn ends(&self, sequence: usize, bases: usize) -> [Kmer<W>; 2];

    /// Appends the bases of one in a direction, without the first `skip`.
    fn append(&self, way: Way, skip: usize, bases: &mut BaseString);
}

impl<const W: usize> Sequences<W> for Pieces {
    fn len(&self) -> usize {
        self.len()
    }

    fn count(&self, sequence: usize) -> u64 {
        self.counts[sequence]
    }

    fn ends(&self, sequence: usize, bases: usize) -> [Kmer<W>; 2] {
        ends_of(self.bases(sequence), bases)
    }

    fn append(&self, way: Way, skip: usize, bases: &mut BaseString) {
        let own = self.bases(way.node());
        match way.is_backward() {
            false => own.behind(skip).append_to(bases),
            true => {
                let own = own.slice(0..own.len() - skip);
                own.append_reverse_complement_to(bases);
            }
        }
    }
}

/// Nodes of a graph, and k-mers beside them: neither is copied.
pub struct Extended<'g, const W: usize> {
    graph: &'g Graph,
    k: usize,
    /// Of nodes.
    stretches: Vec<Stretch>,
    /// k-mers with their counts.
    kmers: &'g [(Kmer<W>, u32)],
}

/// Neighbouring k-mers of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The number of the node.
    pub node: u32,
    /// Where in the node the first of them begins.
    pub from: u32,
    /// How many they are.
    pub kmers: u32,
    /// The sum of their counts.
    pub count: u64,
}

impl<'g, const W: usize> Extended<'g, W> {
    /// Nodes of at least `k` bases with the counts that `count` has for them, and `k`-mers with
    /// theirs.
    pub fn of(
        (graph, k): (&'g Graph, usize),
        count: impl Fn(Way) -> u64,
        kmers: &'g [(Kmer<W>, u32)],
    ) -> Extended<'g, W> {
        let long = graph.nodes().filter(|&way| graph.length(way) >= k);
        let stretches = long.map(|way| Stretch {
            node: way.node() as u32,
            from: 0,
            kmers: (graph.length(way) + 1 - k) as u32,
            count: count(way),
        });
        Extended::of_stretches((graph, k), stretches.collect(), kmers)
    }

    /// Stretches of nodes, and `k`-mers with their counts.
    pub fn of_stretches(
        (graph, k): (&'g Graph, usize),
        stretches: Vec<Stretch>,
        kmers: &'g [(Kmer<W>, u32)],
    ) -> Extended<'g, W> {
        Extended {
            graph,
            k,
            stretches,
            kmers,
        }
    }

    /// The bases of a stretch in a direction, or else a k-mer and its count.
    fn one(&self, way: Way) -> Result<BaseSlice<'g>, (Kmer<W>, u32)> {
        let sequence = way.node();
        let Some(stretch) = self.stretches.get(sequence) else {
            return Err(self.kmers[sequence - self.stretches.len()]);
        };
        let node = Way::forward(stretch.node as usize);
        let (from, bases) = (stretch.from as usize, stretch.kmers as usize + self.k - 1);
        Ok(match way.is_backward() {
            false => self.graph.bases(node).slice(from..from + bases),
            true => {
                let end = self.graph.length(node) - from;
                self.graph.bases(node.flipped()).slice(end - bases..end)
            }
        })
    }
}

impl<const W: usize> Sequences<W> for Extended<'_, W> {
    fn len(&self) -> usize {
        self.stretches.len() + self.kmers.len()
    }

    fn count(&self, sequence: usize) -> u64 {
        match self.stretches.get(sequence) {
            Some(stretch) => stretch.count,
            None => self.kmers[sequence - self.stretches.len()].1.into(),
        }
    }

    fn ends(&self, sequence: usize, bases: usize) -> [Kmer<W>; 2] {
        match self.one(Way::forward(sequence)) {
            Ok(own) => ends_of(own, bases),
            Err((kmer, _)) => {
                debug_assert_eq!(bases, self.k - 1);
                [kmer.without_last(), kmer.masked(bases)]
            }
        }
    }

    fn append(&self, way: Way, skip: usize, bases: &mut BaseString) {
        match self.one(way) {
            Ok(own) => own.behind(skip).append_to(bases),
            Err((kmer, _)) if way.is_backward() => {
                (skip..self.k).for_each(|place| bases.push(3 - kmer.base(place)));
            }
            Err((kmer, _)) => {
                let places = (0..self.k - skip).rev();
                places.for_each(|place| bases.push(kmer.base(place)));
            }
        }
    }
}

fn ends_of<const W: usize>(own: BaseSlice, bases: usize) -> [Kmer<W>; 2] {
    [0, own.len() - bases].map(|at| own.kmer(at, bases))
}
