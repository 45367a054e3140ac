//! Sequences that may overlap, before they are joined.

use gyrase_kmer::Kmer;

use super::heads::Heads;
use super::nodes::{Graph, Pieces};
use crate::way::Way;
use crate::{BaseSlice, BaseString};

/// Sequences of at least k bases, no k-mer in two of them, with the sums of the counts of their
/// k-mers.
pub trait Sequences<const W: usize>: Sync {
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

/// Nodes of this process, k-mers that cross their edges, and others beside them: nothing is copied.
pub struct Extended<'g, const W: usize> {
    graph: &'g Graph,
    k: usize,
    /// Of nodes.
    stretches: Vec<Stretch>,
    /// And the bases around their edges.
    crossings: Vec<Crossing>,
    heads: Option<&'g Heads<'g>>,
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

/// Neighbouring k-mers that cross an edge of a graph of smaller k-mers: each has smaller ones of
/// both of its nodes, and of no other. The nodes are numbered among those of all processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// What follows what.
    pub edge: (Way, Way),
    /// How many smaller k-mers the first of them has of the node before the edge; each has one less
    /// than the one before.
    pub first: u32,
    /// How many they are.
    pub kmers: u32,
    /// The sum of their counts.
    pub count: u64,
}

impl Crossing {
    /// The same in the other direction, where a k-mer has so many smaller ones.
    fn turned(self, smaller: usize) -> Crossing {
        let (from, to) = self.edge;
        let last = self.first + 1 - self.kmers;
        Crossing {
            edge: (to.flipped(), from.flipped()),
            first: smaller as u32 - last,
            ..self
        }
    }

    /// Its bases before and behind the end of the first node.
    fn parts<'h>(self, heads: &'h Heads, k: usize) -> [BaseSlice<'h>; 2] {
        let (from, to) = self.edge;
        let overlap = heads.graph().k() - 1;
        let before = self.first as usize + overlap;
        let all = self.kmers as usize + k - 1;
        [
            heads.last(from, before),
            heads.first(to, overlap..overlap + all - before),
        ]
    }
}

/// A sequence.
enum One<'g, const W: usize> {
    Bases(BaseSlice<'g>),
    Parts([BaseSlice<'g>; 2]),
    Kmer(Kmer<W>),
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
            crossings: Vec::new(),
            heads: None,
            kmers,
        }
    }

    /// With k-mers that cross edges, of nodes of which these are the heads.
    pub fn with(self, crossings: Vec<Crossing>, heads: &'g Heads<'g>) -> Extended<'g, W> {
        Extended {
            crossings,
            heads: Some(heads),
            ..self
        }
    }

    /// A sequence in a direction, but a k-mer always forward.
    fn one(&self, way: Way) -> One<'g, W> {
        let Some(stretch) = self.stretches.get(way.node()) else {
            return self.beside(way);
        };
        let node = Way::forward(stretch.node as usize);
        let (from, bases) = (stretch.from as usize, stretch.kmers as usize + self.k - 1);
        One::Bases(match way.is_backward() {
            false => self.graph.bases(node).slice(from..from + bases),
            true => {
                let end = self.graph.length(node) - from;
                self.graph.bases(node.flipped()).slice(end - bases..end)
            }
        })
    }

    /// One that is not of a node.
    fn beside(&self, way: Way) -> One<'g, W> {
        let number = way.node() - self.stretches.len();
        let Some(&crossing) = self.crossings.get(number) else {
            return One::Kmer(self.kmers[number - self.crossings.len()].0);
        };
        let crossing = match way.is_backward() {
            false => crossing,
            true => crossing.turned(self.k + 1 - self.graph.k()),
        };
        let heads = self.heads.expect("crossings came with heads");
        One::Parts(crossing.parts(heads, self.k))
    }
}

impl<const W: usize> Sequences<W> for Extended<'_, W> {
    fn len(&self) -> usize {
        self.stretches.len() + self.crossings.len() + self.kmers.len()
    }

    fn count(&self, sequence: usize) -> u64 {
        if let Some(stretch) = self.stretches.get(sequence) {
            return stretch.count;
        }
        let number = sequence - self.stretches.len();
        match self.crossings.get(number) {
            Some(crossing) => crossing.count,
            None => self.kmers[number - self.crossings.len()].1.into(),
        }
    }

    fn ends(&self, sequence: usize, bases: usize) -> [Kmer<W>; 2] {
        debug_assert!(bases < self.k);
        match self.one(Way::forward(sequence)) {
            One::Bases(own) => ends_of(own, bases),
            One::Parts([before, behind]) => {
                let all = before.len() + behind.len();
                // Both begin before the edge.
                [0, all - bases].map(|at| {
                    let own = bases.min(before.len() - at);
                    let places = 0..bases - own;
                    let kmer = before.kmer(at, own);
                    places.fold(kmer, |kmer, place| kmer.push(behind.base(place)))
                })
            }
            One::Kmer(kmer) => {
                debug_assert_eq!(bases, self.k - 1);
                [kmer.without_last(), kmer.masked(bases)]
            }
        }
    }

    fn append(&self, way: Way, skip: usize, bases: &mut BaseString) {
        match self.one(way) {
            One::Bases(own) => own.behind(skip).append_to(bases),
            One::Parts([before, behind]) => {
                let own = skip.min(before.len());
                before.behind(own).append_to(bases);
                behind.behind(skip - own).append_to(bases);
            }
            One::Kmer(kmer) if way.is_backward() => {
                (skip..self.k).for_each(|place| bases.push(3 - kmer.base(place)));
            }
            One::Kmer(kmer) => {
                let places = (0..self.k - skip).rev();
                places.for_each(|place| bases.push(kmer.base(place)));
            }
        }
    }
}

fn ends_of<const W: usize>(own: BaseSlice, bases: usize) -> [Kmer<W>; 2] {
    [0, own.len() - bases].map(|at| own.kmer(at, bases))
}
