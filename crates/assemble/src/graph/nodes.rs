//! Sequences and their overlaps.

use std::ops::Range;

use gyrase_kmer::{Kmer, Shape};

use super::edges::Edges;
use super::outline::Outline;
use crate::unitigs::records::{put_bases, take_bases, take_number};
use crate::way::Way;
use crate::{BaseSlice, BaseString, Unitigs};

/// Sequences of bases with the sums of the counts of their k-mers, one behind the other.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    pub(super) bases: BaseString,
    ends: Vec<usize>,
    pub(super) counts: Vec<u64>,
}

impl Pieces {
    /// Adds all of some unitigs.
    pub fn add(&mut self, unitigs: &Unitigs) {
        for unitig in 0..unitigs.len() {
            let stretch = unitigs.stretch(unitig);
            let bases = BaseSlice::of(unitigs.bases(), stretch);
            self.push_bases(bases, unitigs.count_sum(unitig));
        }
    }

    /// Adds a sequence of codes.
    pub fn push(&mut self, codes: &[u8], count: u64) {
        self.bases.push_codes(codes);
        self.close(count);
    }

    /// Adds a sequence.
    pub fn push_bases(&mut self, bases: BaseSlice, count: u64) {
        bases.append_to(&mut self.bases);
        self.close(count);
    }

    /// Makes what was appended to the bases since the last one a sequence.
    pub(super) fn close(&mut self, count: u64) {
        self.ends.push(self.bases.len());
        self.counts.push(count);
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bases of one.
    pub fn bases(&self, piece: usize) -> BaseSlice<'_> {
        BaseSlice::of(&self.bases, self.stretch(piece))
    }

    fn stretch(&self, piece: usize) -> Range<usize> {
        piece.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[piece]
    }
}

/// Nodes and their overlaps. Nodes are in a definite order, longest first and then by their bases,
/// and each is the lesser of its two directions: a graph depends on its k-mers alone.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    k: usize,
    /// The bases of all nodes, one behind the other, and the reverse complement of each at the same
    /// place.
    strands: [BaseString; 2],
    /// Where each node begins, and the end of the last.
    starts: Vec<usize>,
    counts: Vec<u64>,
    edges: Edges,
}

impl Graph {
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

    /// Whether the coverage of a node is below a part of another's.
    pub fn is_below(&self, way: Way, part: (u64, u64), other: Way) -> bool {
        let of = |way: Way| (u128::from(self.count(way)), u128::from(self.kmers(way)));
        let ((count, kmers), (other_count, other_kmers)) = (of(way), of(other));
        count * other_kmers * u128::from(part.1) < other_count * kmers * u128::from(part.0)
    }

    /// The bases of a node in one direction.
    #[inline]
    pub fn bases(&self, way: Way) -> BaseSlice<'_> {
        let strand = &self.strands[usize::from(way.is_backward())];
        BaseSlice::of(strand, self.stretch(way.node()))
    }

    /// The codes of a node in one direction, one a byte.
    pub fn codes(&self, way: Way) -> Vec<u8> {
        self.bases(way).codes()
    }

    /// Where the bases of a node begin among those of all, forward.
    pub fn start(&self, way: Way) -> usize {
        self.starts[way.node()]
    }

    /// Where the bases of a node are among those of all.
    fn stretch(&self, node: usize) -> Range<usize> {
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
        self.strands[0].len()
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

    /// The way behind `way` that goes on with a base.
    pub fn next_with(&self, way: Way, code: u8) -> Option<Way> {
        let goes_on = |next: &&Way| self.bases(**next).base(self.k - 1) == code;
        self.next(way).iter().find(goes_on).copied()
    }

    /// True for a ring: its end overlaps its beginning, and nothing else overlaps either.
    pub fn is_circular(&self, way: Way) -> bool {
        self.edges.is_ring(way)
    }

    /// The nodes that `keep` wants, as pieces.
    pub fn kept(&self, mut keep: impl FnMut(usize) -> bool) -> Pieces {
        let mut pieces = Pieces::default();
        for node in (0..self.len()).filter(|&node| keep(node)) {
            pieces.push_bases(self.bases(Way::forward(node)), self.counts[node]);
        }
        pieces
    }

    /// The graph of sequences that are joined already.
    pub(super) fn of(k: usize, pieces: Pieces) -> Graph {
        let mut order: Vec<usize> = (0..pieces.len()).collect();
        order.sort_by(|&a, &b| {
            let (one, other) = (pieces.bases(a), pieces.bases(b));
            other.len().cmp(&one.len()).then_with(|| one.cmp(&other))
        });
        let mut graph = Graph::empty(k);
        let mut bases = BaseString::default();
        bases.reserve(pieces.bases.len());
        for piece in order {
            pieces.bases(piece).append_to(&mut bases);
            graph.starts.push(bases.len());
            graph.counts.push(pieces.counts[piece]);
        }
        // Before there are bases of the other strand, too.
        drop(pieces);
        graph.set_bases(bases);
        graph
    }

    fn set_bases(&mut self, bases: BaseString) {
        let mut other = BaseString::default();
        other.reserve(bases.len());
        for node in 0..self.len() {
            other.append_reverse_complement(&bases, self.stretch(node));
        }
        self.strands = [bases, other];
    }

    /// One of `k`-mers, the nodes of which are to be added in their order.
    pub(super) fn empty(k: usize) -> Graph {
        Graph {
            k,
            starts: vec![0],
            ..Graph::default()
        }
    }

    /// Sequences as they are, which nothing follows.
    pub fn of_sequences(k: usize, pieces: &Pieces) -> Graph {
        let mut graph = Graph::empty(k);
        for piece in 0..pieces.len() {
            graph.push_outline(Outline {
                length: pieces.stretch(piece).len(),
                count: pieces.counts[piece],
                ..Outline::default()
            });
        }
        graph.set_bases(pieces.bases.clone());
        graph
    }

    /// A node without its bases.
    pub fn outline(&self, way: Way) -> Outline {
        Outline {
            length: self.length(way),
            count: self.count(way),
            next: [way, way.flipped()].map(|way| self.next(way).to_vec()),
        }
    }

    /// Adds a node behind the others.
    pub(super) fn push_outline(&mut self, node: Outline) {
        self.starts.push(self.starts[self.len()] + node.length);
        self.counts.push(node.count);
        self.edges.push(node.next);
    }

    /// Nodes with their counts, and what follows their ways.
    #[cfg(test)]
    pub fn told(&self) -> Vec<(Vec<u8>, u64, [Vec<Way>; 2])> {
        let node = |way| (self.codes(way), self.count(way), self.outline(way).next);
        self.nodes().map(node).collect()
    }

    /// All of it, as one process sends it to another.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = (self.len() as u64).to_le_bytes().to_vec();
        self.nodes()
            .for_each(|way| self.outline(way).put(&mut bytes));
        put_bases(&self.strands[0], &mut bytes);
        bytes
    }

    /// What several processes sent, in their order.
    pub(super) fn of_parts(k: usize, parts: &[Vec<u8>]) -> Graph {
        let (mut graph, mut bases) = (Graph::empty(k), BaseString::default());
        for part in parts {
            let mut from = &part[..];
            for _ in 0..take_number(&mut from) {
                graph.push_outline(Outline::take(&mut from));
            }
            let own = take_bases(&mut from);
            bases.append(&own, 0..own.len());
        }
        graph.set_bases(bases);
        graph
    }

    /// The part of a process among so many: a run of the nodes. What follows them stays numbered as
    /// it is.
    #[cfg(test)]
    pub(super) fn run(&self, rank: usize, ranks: usize) -> Graph {
        let (mut run, mut bases) = (Graph::empty(self.k), BaseString::default());
        for way in gyrase_work::run_of(self.len(), rank, ranks).map(Way::forward) {
            run.push_outline(self.outline(way));
            self.bases(way).append_to(&mut bases);
        }
        run.set_bases(bases);
        run
    }

    /// Says what overlaps what: every overlap in both directions, perhaps several times.
    pub(super) fn set_edges(&mut self, edges: Vec<(Way, Way)>) {
        self.edges = Edges::of(self.len(), edges);
    }
}

/// The shape of the k-mers of a graph.
pub fn shape_of(k: usize) -> Shape {
    Shape::new(k, false).expect("the k of a graph was checked")
}

/// The k-mer of some codes.
pub fn kmer_of<const W: usize>(codes: &[u8]) -> Kmer<W> {
    codes.iter().fold(Kmer::ZERO, |kmer, &code| kmer.push(code))
}
