//! Sequences and their overlaps.

use std::ops::{Deref, Range};

use gyrase_kmer::{Kmer, Shape};

use super::outline::Outline;
use super::outlines::Outlines;
use crate::records::put_slice;
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

    /// The k-mers of some texts, each of which was read so often.
    #[cfg(test)]
    pub fn of_texts<'t>(k: usize, texts: impl IntoIterator<Item = (&'t Vec<u8>, u64)>) -> Pieces {
        let mut kmers = std::collections::BTreeMap::<Vec<u8>, u64>::new();
        for (codes, count) in texts {
            for window in codes.windows(k) {
                let other: Vec<u8> = window.iter().rev().map(|code| 3 - code).collect();
                *kmers.entry(other.min(window.to_vec())).or_default() += count;
            }
        }
        let mut pieces = Pieces::default();
        kmers
            .iter()
            .for_each(|(kmer, &count)| pieces.push(kmer, count));
        pieces
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

    /// What is known of one without its bases.
    fn outline(&self, piece: usize) -> Outline {
        Outline {
            length: self.stretch(piece).len(),
            count: self.counts[piece],
            ..Outline::default()
        }
    }

    fn stretch(&self, piece: usize) -> Range<usize> {
        piece.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[piece]
    }
}

/// Nodes and their overlaps. Nodes are in a definite order, longest first and then by their bases,
/// and each is the lesser of its two directions: a graph depends on its k-mers alone.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    outlines: Outlines,
    /// The bases of all nodes, one behind the other, and the reverse complement of each at the same
    /// place.
    strands: [BaseString; 2],
}

/// All that is known of nodes without their bases.
impl Deref for Graph {
    type Target = Outlines;

    fn deref(&self) -> &Outlines {
        &self.outlines
    }
}

impl Graph {
    /// The bases of a node in one direction.
    #[inline]
    pub fn bases(&self, way: Way) -> BaseSlice<'_> {
        let strand = &self.strands[usize::from(way.is_backward())];
        BaseSlice::of(strand, self.stretch(way.node()))
    }

    /// Appends all that there is to say of a node to what one process sends to another: its outline
    /// and its bases.
    pub fn put(&self, node: Way, bytes: &mut Vec<u8>) {
        self.outline(node).put(bytes);
        put_slice(self.bases(node), bytes);
    }

    /// The codes of a node in one direction, one a byte.
    pub fn codes(&self, way: Way) -> Vec<u8> {
        self.bases(way).codes()
    }

    /// The way behind `way` that goes on with a base.
    pub fn next_with(&self, way: Way, code: u8) -> Option<Way> {
        let goes_on = |next: &&Way| self.bases(**next).base(self.k() - 1) == code;
        self.next(way).iter().find(goes_on).copied()
    }

    /// The nodes that `keep` wants, as pieces.
    pub fn kept(&self, mut keep: impl FnMut(usize) -> bool) -> Pieces {
        let mut pieces = Pieces::default();
        for node in (0..self.len()).filter(|&node| keep(node)) {
            let way = Way::forward(node);
            pieces.push_bases(self.bases(way), self.count(way));
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
        let (mut outlines, mut bases) = (Outlines::empty(k), BaseString::default());
        bases.reserve(pieces.bases.len());
        for piece in order {
            pieces.bases(piece).append_to(&mut bases);
            outlines.push(pieces.outline(piece));
        }
        // Before there are bases of the other strand, too.
        drop(pieces);
        Graph::with(outlines, bases)
    }

    /// Nodes that have these bases, one behind the other.
    pub(super) fn with(outlines: Outlines, bases: BaseString) -> Graph {
        let mut other = BaseString::default();
        other.reserve(bases.len());
        for node in 0..outlines.len() {
            other.append_reverse_complement(&bases, outlines.stretch(node));
        }
        Graph {
            outlines,
            strands: [bases, other],
        }
    }

    /// Sequences as they are, which nothing follows.
    pub fn of_sequences(k: usize, pieces: &Pieces) -> Graph {
        let mut outlines = Outlines::empty(k);
        (0..pieces.len()).for_each(|piece| outlines.push(pieces.outline(piece)));
        Graph::with(outlines, pieces.bases.clone())
    }

    /// Says what overlaps what ([`Edges::of`](super::Edges::of)).
    pub(super) fn set_edges(&mut self, edges: Vec<(Way, Way)>, in_degrees: Vec<u8>) {
        self.outlines.set_edges(edges, in_degrees);
    }

    /// Nodes with their counts, and what follows their ways.
    #[cfg(test)]
    pub fn told(&self) -> Vec<(Vec<u8>, u64, [Vec<Way>; 2])> {
        let node = |way| {
            (
                self.codes(way),
                self.count(way),
                self.outline(way).next.map(|next| next.to_vec()),
            )
        };
        self.nodes().map(node).collect()
    }

    /// Some of the nodes. What follows them stays numbered as it is.
    #[cfg(test)]
    pub(super) fn some(&self, nodes: impl Iterator<Item = usize>) -> Graph {
        let (mut outlines, mut bases) = (Outlines::empty(self.k()), BaseString::default());
        for way in nodes.map(Way::forward) {
            outlines.push(self.outline(way));
            self.bases(way).append_to(&mut bases);
        }
        Graph::with(outlines, bases)
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
