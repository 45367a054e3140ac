//! Sequences that may overlap, before they are joined.

use gyrase_kmer::Kmer;

use super::nodes::{Graph, Pieces, complement, kmer_of};
use super::way::Way;

/// Sequences of at least k bases, no k-mer in two of them, with the sums of the counts of their
/// k-mers.
pub trait Sequences<const W: usize> {
    /// How many.
    fn len(&self) -> usize;

    /// The sum of the counts of the k-mers of one.
    fn count(&self, sequence: usize) -> u64;

    /// Its first and its last `bases` bases, fewer than it has.
    fn ends(&self, sequence: usize, bases: usize) -> [Kmer<W>; 2];

    /// Appends the codes of one in a direction, without the first `skip`.
    fn append(&self, way: Way, skip: usize, codes: &mut Vec<u8>);
}

impl<const W: usize> Sequences<W> for Pieces {
    fn len(&self) -> usize {
        self.len()
    }

    fn count(&self, sequence: usize) -> u64 {
        self.counts[sequence]
    }

    fn ends(&self, sequence: usize, bases: usize) -> [Kmer<W>; 2] {
        ends_of(self.codes(sequence), bases)
    }

    fn append(&self, way: Way, skip: usize, codes: &mut Vec<u8>) {
        let own = self.codes(way.node());
        if way.is_backward() {
            codes.extend(complement(own).skip(skip));
        } else {
            codes.extend_from_slice(&own[skip..]);
        }
    }
}

/// Nodes of a graph, and k-mers beside them: neither is copied.
pub struct Extended<'g, const W: usize> {
    graph: &'g Graph,
    k: usize,
    /// Numbers of the nodes, and the sums of the counts of their k-mers.
    nodes: Vec<(u32, u64)>,
    /// k-mers with their counts.
    kmers: &'g [(Kmer<W>, u32)],
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
        let nodes = long.map(|way| (way.node() as u32, count(way))).collect();
        Extended {
            graph,
            k,
            nodes,
            kmers,
        }
    }

    /// A node, or else a k-mer and its count.
    fn one(&self, sequence: usize) -> Result<Way, (Kmer<W>, u32)> {
        match self.nodes.get(sequence) {
            Some(&(node, _)) => Ok(Way::forward(node as usize)),
            None => Err(self.kmers[sequence - self.nodes.len()]),
        }
    }
}

impl<const W: usize> Sequences<W> for Extended<'_, W> {
    fn len(&self) -> usize {
        self.nodes.len() + self.kmers.len()
    }

    fn count(&self, sequence: usize) -> u64 {
        match self.one(sequence) {
            Ok(_) => self.nodes[sequence].1,
            Err((_, count)) => count.into(),
        }
    }

    fn ends(&self, sequence: usize, bases: usize) -> [Kmer<W>; 2] {
        match self.one(sequence) {
            Ok(way) => ends_of(self.graph.codes(way), bases),
            Err((kmer, _)) => {
                debug_assert_eq!(bases, self.k - 1);
                [kmer.without_last(), kmer.masked(bases)]
            }
        }
    }

    fn append(&self, way: Way, skip: usize, codes: &mut Vec<u8>) {
        match self.one(way.node()) {
            Ok(node) => {
                let node = if way.is_backward() {
                    node.flipped()
                } else {
                    node
                };
                codes.extend_from_slice(&self.graph.codes(node)[skip..]);
            }
            Err((kmer, _)) if way.is_backward() => {
                codes.extend((skip..self.k).map(|place| 3 - kmer.base(place)));
            }
            Err((kmer, _)) => codes.extend((0..self.k - skip).rev().map(|place| kmer.base(place))),
        }
    }
}

fn ends_of<const W: usize>(codes: &[u8], bases: usize) -> [Kmer<W>; 2] {
    [&codes[..bases], &codes[codes.len() - bases..]].map(kmer_of)
}
