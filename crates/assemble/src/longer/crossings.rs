//! Counts of k-mers that cross one edge of the smaller graph: a number for each place of an edge.

use std::cmp::Ordering::{Equal, Greater, Less};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::graph::{Crossing, SharedGraph, Way};

/// How often each k-mer was seen that has smaller ones of two nodes: for the edges that leave nodes
/// of this process, each in the lesser of its directions.
pub struct Crossings<'g> {
    graph: &'g SharedGraph,
    /// Smaller k-mers of one.
    smaller: usize,
    /// The number of the first edge of each way.
    firsts: Vec<u32>,
    /// For each edge those that have one, two and so on of the node before it.
    counts: Vec<AtomicU32>,
}

/// k-mers of an edge: those that have from `first` down to `last` smaller ones of the node before
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Across {
    /// What follows what, among all.
    pub edge: (Way, Way),
    /// At least `last`.
    pub first: u32,
    /// At least 1.
    pub last: u32,
}

impl Across {
    /// A k-mer that has so many smaller ones of the node before an edge.
    pub fn one(edge: (Way, Way), before: usize) -> Across {
        let before = before as u32;
        Across {
            edge,
            first: before,
            last: before,
        }
    }

    /// The same in the lesser of both directions of the edge, where a k-mer has so many smaller
    /// ones.
    pub fn lesser(self, smaller: usize) -> Across {
        let (from, to) = self.edge;
        let flipped = (to.flipped(), from.flipped());
        if self.edge <= flipped {
            return self;
        }
        let behind = |before: u32| smaller as u32 - before;
        Across {
            edge: flipped,
            first: behind(self.last),
            last: behind(self.first),
        }
    }
}

/// Whether an edge is the lesser of its directions.
fn is_lesser((from, to): (Way, Way)) -> bool {
    (from, to) <= (to.flipped(), from.flipped())
}

impl<'g> Crossings<'g> {
    /// None yet, of `k`-mers.
    pub fn none(graph: &'g SharedGraph, k: usize) -> Crossings<'g> {
        let smaller = k + 1 - graph.k();
        let (mut firsts, mut edges) = (vec![0], 0);
        for way in graph.own().ways() {
            let from = graph.number(way);
            let next = graph.own().next(way).iter();
            edges += next.filter(|&&to| is_lesser((from, to))).count();
            firsts.push(edges as u32);
        }
        let counts = (0..edges * (smaller - 1)).map(|_| AtomicU32::new(0));
        Crossings {
            graph,
            smaller,
            firsts,
            counts: counts.collect(),
        }
    }

    /// Smaller k-mers of a k-mer.
    pub fn smaller(&self) -> usize {
        self.smaller
    }

    /// The counts of an edge that leaves a node of this process, in its lesser direction.
    fn of(&self, (from, to): (Way, Way)) -> &[AtomicU32] {
        let way = self.graph.own_way(from);
        let next = self.graph.own().next(way).iter();
        let place = next
            .filter(|&&to| is_lesser((from, to)))
            .position(|&next| next == to);
        let number = self.firsts[way.index()] as usize + place.expect("one follows the other");
        let places = self.smaller - 1;
        &self.counts[number * places..(number + 1) * places]
    }

    /// Where the count is of a k-mer with so many smaller ones of the node before an edge. What
    /// goes on with its own other strand has one for both.
    pub fn place(&self, (from, to): (Way, Way), before: u32) -> usize {
        let is_own = to == from.flipped();
        let behind = self.smaller as u32 - before;
        let before = if is_own { before.min(behind) } else { before };
        before as usize - 1
    }

    /// The counts of an edge that leaves a node of this process; none where its other direction is
    /// the lesser.
    pub fn counts(&self, edge: (Way, Way)) -> Vec<u32> {
        let counts = is_lesser(edge).then(|| self.of(edge));
        let counts = counts.unwrap_or_default().iter();
        counts.map(|count| count.load(Relaxed)).collect()
    }

    /// Counts k-mers, in the lesser direction of an edge that leaves a node of this process.
    pub fn add(&self, across: Across) {
        let counts = self.of(across.edge);
        for before in across.last..=across.first {
            counts[self.place(across.edge, before)].fetch_add(1, Relaxed);
        }
    }

    /// How often one was seen, in the lesser direction of an edge that leaves a node of this
    /// process.
    pub fn count(&self, edge: (Way, Way), before: u32) -> u32 {
        self.of(edge)[self.place(edge, before)].load(Relaxed)
    }

    /// All that were seen, each edge in one direction.
    pub fn seen(&self) -> Vec<Crossing> {
        let mut seen = Vec::new();
        for way in self.graph.own().ways() {
            let from = self.graph.number(way);
            for &to in self.graph.own().next(way) {
                let (edge, most) = ((from, to), self.smaller - 1);
                match edge.cmp(&(to.flipped(), from.flipped())) {
                    Less => self.seen_of(edge, most, &mut seen),
                    // What goes on with its own other strand has each twice.
                    Equal => self.seen_of(edge, most / 2, &mut seen),
                    Greater => {}
                }
            }
        }
        seen
    }

    /// The ways behind the edges that have counts here.
    pub fn behind(&self) -> Vec<Way> {
        let own = self.graph.own();
        let of_way = |way: Way| {
            let from = self.graph.number(way);
            let next = own.next(way).iter().copied();
            next.filter(move |&to| is_lesser((from, to)))
        };
        own.ways().flat_map(of_way).collect()
    }

    /// Adds those of an edge that have at most so many smaller ones of the node before it.
    fn seen_of(&self, edge: (Way, Way), most: usize, seen: &mut Vec<Crossing>) {
        let mut last: Option<Crossing> = None;
        for before in (1..=most as u32).rev() {
            let count = self.count(edge, before);
            match (&mut last, count) {
                (_, 0) => seen.extend(last.take()),
                (Some(run), _) => {
                    run.kmers += 1;
                    run.count += u64::from(count);
                }
                (None, _) => {
                    last = Some(Crossing {
                        edge,
                        first: before,
                        kmers: 1,
                        count: count.into(),
                    });
                }
            }
        }
        seen.extend(last);
    }
}
