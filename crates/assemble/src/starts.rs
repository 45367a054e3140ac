//! Where the nodes of a graph begin, in both directions.

use crate::graph::{Graph, Way};
use crate::rolling::Rolling;
use crate::walk::Step;

/// The ways of a graph by their first k-mers: by them a sequence that was made of nodes is found
/// again, and they are few beside all k-mers.
pub struct Starts<'g> {
    graph: &'g Graph,
    rolling: Rolling,
    /// Ascending, with the hashes.
    ways: Vec<(u64, Way)>,
}

impl<'g> Starts<'g> {
    /// Those of a graph.
    pub fn of(graph: &'g Graph) -> Starts<'g> {
        let rolling = Rolling::new(graph.k());
        let hashed = graph.ways().map(|way| {
            let first = graph.bases(way).slice(0..graph.k()).codes();
            (rolling.start(&first).hash(), way)
        });
        let mut ways: Vec<_> = hashed.collect();
        ways.sort_unstable();
        Starts {
            graph,
            rolling,
            ways,
        }
    }

    /// The ways that a sequence of nodes passes, in their order. They may overlap by less than
    /// others do. A ring may begin in the middle of one.
    pub fn steps(&self, codes: &[u8]) -> Vec<Step> {
        let k = self.graph.k();
        let (mut steps, mut from) = (Vec::new(), 0);
        while let Some((at, way)) = self.first(codes, from) {
            if steps.is_empty() && at > 0 {
                steps.extend(self.before(way, &codes[..at + k - 1]));
            }
            let bases = self.graph.bases(way).equal(&codes[at..]);
            let kmers = bases + 1 - k;
            from = at + kmers;
            steps.push(Step {
                way,
                offset: 0,
                at,
                kmers,
            });
        }
        steps
    }

    /// The first window of a sequence at or behind `from` with which a way begins.
    fn first(&self, codes: &[u8], from: usize) -> Option<(usize, Way)> {
        let k = self.graph.k();
        let mut window = self.rolling.start(codes.get(from..from + k)?);
        for at in from.. {
            let way = self.way(window.hash(), &codes[at..at + k]);
            if way.is_some() || at + k == codes.len() {
                return way.map(|way| (at, way));
            }
            window = self.rolling.next(window, codes[at], codes[at + k]);
        }
        None
    }

    /// The way that begins with a window.
    fn way(&self, hash: u64, window: &[u8]) -> Option<Way> {
        let first = self.ways.partition_point(|&(other, _)| other < hash);
        let equal = self.ways[first..].iter().take_while(|way| way.0 == hash);
        let mut ways = equal.map(|&(_, way)| way);
        ways.find(|&way| self.graph.bases(way).equal(window) == window.len())
    }

    /// The end of the way before another with which a sequence begins: a k-mer or more.
    fn before(&self, way: Way, begin: &[u8]) -> Option<Step> {
        let kmers = begin.len() + 1 - self.graph.k();
        let ends_with = |way: &Way| {
            let behind = self.graph.length(*way).checked_sub(begin.len());
            behind.is_some_and(|behind| {
                self.graph.bases(*way).behind(behind).equal(begin) == begin.len()
            })
        };
        let way = self.graph.before(way).find(ends_with)?;
        Some(Step {
            way,
            offset: self.graph.kmers(way) as usize - kmers,
            at: 0,
            kmers,
        })
    }
}
