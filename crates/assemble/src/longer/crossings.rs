//! Counts of k-mers that cross one edge of the smaller graph: a number for each place of an edge.

use std::cmp::Ordering::{Equal, Greater, Less};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use gyrase_fabric::{FabricError, World};

use crate::graph::{Crossing, Graph, Way};

/// Numbers that processes add up at once.
const AT_ONCE: usize = 1 << 20;

/// How often each k-mer was seen that has smaller ones of two nodes.
pub struct Crossings<'g> {
    graph: &'g Graph,
    /// Smaller k-mers of one, half of them: an odd k less another is even.
    half: usize,
    /// For each edge those that have fewer of the node before it than of the one behind. The
    /// others have fewer of what is before the same edge in the other direction.
    counts: Vec<AtomicU32>,
}

impl<'g> Crossings<'g> {
    /// None yet, of `k`-mers.
    pub fn none(graph: &'g Graph, k: usize) -> Crossings<'g> {
        let half = (k - graph.k()) / 2;
        let counts = (0..graph.edges().len() * half).map(|_| AtomicU32::new(0));
        Crossings {
            graph,
            half,
            counts: counts.collect(),
        }
    }

    /// Where the count is of a k-mer that has so many smaller ones of the node before an edge; none
    /// where it has some of other nodes.
    fn place(&self, edge: (Way, Way), before: usize) -> Option<usize> {
        let (from, to) = edge;
        let behind = 2 * self.half + 1 - before;
        let has = |way, kmers| kmers as u64 <= self.graph.kmers(way);
        if !has(from, before) || !has(to, behind) {
            return None;
        }
        let (edge, fewer) = match before < behind {
            true => (edge, before),
            false => ((to.flipped(), from.flipped()), behind),
        };
        Some(self.graph.edges().number(edge)? * self.half + fewer - 1)
    }

    /// Counts one more; false where it has smaller ones of other nodes.
    pub fn add(&self, edge: (Way, Way), before: usize) -> bool {
        let place = self.place(edge, before);
        place.inspect(|&place| {
            self.counts[place].fetch_add(1, Relaxed);
        });
        place.is_some()
    }

    /// How often one was seen.
    pub fn count(&self, edge: (Way, Way), before: usize) -> u32 {
        let place = self.place(edge, before);
        place.map_or(0, |place| self.counts[place].load(Relaxed))
    }

    /// Makes it what all processes have seen.
    ///
    /// Collective.
    pub fn of_all(&self, world: &dyn World) -> Result<(), FabricError> {
        if world.ranks() == 1 {
            return Ok(());
        }
        for counts in self.counts.chunks(AT_ONCE) {
            let own: Vec<u64> = counts
                .iter()
                .map(|count| count.load(Relaxed).into())
                .collect();
            for (count, sum) in counts.iter().zip(world.sum(&own)?) {
                count.store(u32::try_from(sum).unwrap_or(u32::MAX), Relaxed);
            }
        }
        Ok(())
    }

    /// All that were seen, each edge in one direction.
    pub fn seen(&self) -> Vec<Crossing> {
        let mut seen = Vec::new();
        for from in self.graph.ways() {
            for &to in self.graph.next(from) {
                let edge = (from, to);
                match edge.cmp(&(to.flipped(), from.flipped())) {
                    Less => self.seen_of(edge, 2 * self.half, &mut seen),
                    // What goes on with its own other strand has each twice.
                    Equal => self.seen_of(edge, self.half, &mut seen),
                    Greater => {}
                }
            }
        }
        seen
    }

    /// Adds those of an edge that have at most so many smaller ones of the node before it.
    fn seen_of(&self, edge: (Way, Way), most: usize, seen: &mut Vec<Crossing>) {
        let mut last: Option<Crossing> = None;
        for before in (1..=most).rev() {
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
                        first: before as u32,
                        kmers: 1,
                        count: count.into(),
                    });
                }
            }
        }
        seen.extend(last);
    }
}
