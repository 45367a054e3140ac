//! Nodes without their bases, and their overlaps.

use std::ops::Range;

use super::edges::Edges;
use super::outline::Outline;
use crate::contig::Contig;
use crate::way::Way;

/// The nodes of a graph without their bases, in their order.
#[derive(Clone, Debug, Default)]
pub struct Outlines {
    k: usize,
    /// Where each node begins among the bases of all, and the end of the last.
    starts: Vec<usize>,
    counts: Vec<u64>,
    edges: Edges,
}

impl Outlines {
    /// Those of `k`-mers, which are to be added in their order.
    pub(super) fn empty(k: usize) -> Outlines {
        Outlines {
            k,
            starts: vec![0],
            ..Outlines::default()
        }
    }

    /// Bases of a k-mer.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Nodes.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// All nodes, forward.
    pub fn nodes(&self) -> impl Iterator<Item = Way> + use<> {
        (0..self.len()).map(Way::forward)
    }

    /// All nodes in both directions.
    pub fn ways(&self) -> impl Iterator<Item = Way> + use<> {
        self.nodes().flat_map(|way| [way, way.flipped()])
    }

    /// Bases of a node.
    pub fn length(&self, way: Way) -> usize {
        self.starts[way.node() + 1] - self.starts[way.node()]
    }

    /// k-mers of a node.
    pub fn kmers(&self, way: Way) -> u64 {
        (self.length(way) + 1 - self.k) as u64
    }

    /// The sum of the counts of the k-mers of a node.
    pub fn count(&self, way: Way) -> u64 {
        self.counts[way.node()]
    }

    /// What so many of the k-mers of a node have of that sum, where all have as much.
    pub fn count_of(&self, way: Way, kmers: u64) -> u64 {
        let count = u128::from(self.count(way)) * u128::from(kmers) / u128::from(self.kmers(way));
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    /// Where the bases of a node begin among those of all, forward.
    pub fn start(&self, way: Way) -> usize {
        self.starts[way.node()]
    }

    /// Where the bases of a node are among those of all.
    pub(super) fn stretch(&self, node: usize) -> Range<usize> {
        self.starts[node]..self.starts[node + 1]
    }

    /// The first node that begins at or behind a place among the bases of all.
    pub fn first_from(&self, place: usize) -> usize {
        self.starts.partition_point(|&start| start < place)
    }

    /// The node that has a place among the bases of all, forward, and the place in it.
    pub fn at(&self, place: usize) -> (Way, usize) {
        let node = self.first_from(place + 1) - 1;
        (Way::forward(node), place - self.starts[node])
    }

    /// Bases of all nodes.
    pub fn total(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// What follows each way.
    pub fn edges(&self) -> &Edges {
        &self.edges
    }

    /// What follows a way: its last k-1 bases are their first.
    pub fn next(&self, way: Way) -> &[Way] {
        self.edges.next(way)
    }

    /// What comes before a way.
    pub fn before(&self, way: Way) -> impl ExactSizeIterator<Item = Way> {
        self.next(way.flipped()).iter().map(|way| way.flipped())
    }

    /// How many ways lead to what follows a way.
    pub fn in_degree_of_next(&self, way: Way) -> usize {
        self.edges.in_degree_of_next(way)
    }

    /// True for a ring: its end overlaps its beginning, and nothing else overlaps either.
    pub fn is_circular(&self, way: Way) -> bool {
        self.edges.is_ring(way)
    }

    /// A node without its bases.
    pub fn outline(&self, way: Way) -> Outline {
        let ways = [way, way.flipped()];
        Outline {
            length: self.length(way),
            count: self.count(way),
            next: ways.map(|way| self.next(way).iter().copied().collect()),
            in_degrees: ways.map(|way| self.in_degree_of_next(way) as u8),
        }
    }

    /// What headers tell of a node, where all nodes are here.
    pub fn contig(&self, node: Way) -> Contig {
        self.contig_of(node, node)
    }

    /// What headers tell of a node that has another number among those of all.
    pub(super) fn contig_of(&self, node: Way, number: Way) -> Contig {
        let sizes = (self.length(node), self.count(node));
        Contig::of(
            number,
            self.k,
            sizes,
            [self.next(node), self.next(node.flipped())],
        )
    }

    /// Adds a node behind the others.
    pub(super) fn push(&mut self, node: Outline) {
        self.starts.push(self.starts[self.len()] + node.length);
        self.counts.push(node.count);
        self.edges.push(node.next, node.in_degrees);
    }

    /// Says what overlaps what ([`Edges::of`]).
    pub(super) fn set_edges(&mut self, edges: Vec<(Way, Way)>, in_degrees: Vec<u8>) {
        self.edges = Edges::of(self.len(), edges, in_degrees);
    }
}
