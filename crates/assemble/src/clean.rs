//! Takes errors out of a graph.
//!
//! In rounds, each of which decides by the graph as it was at its start: what goes does not depend
//! on any order. Coverage is compared as fractions, by cross-multiplication.

use crate::graph::{Graph, Way, compact};

/// Rounds at most; a graph that still changes then is clean enough.
const ROUNDS: usize = 20;

/// What was taken out, in nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// With one end that nothing follows, beside something of more coverage.
    pub tips: u64,
    /// Beside another way between the same two nodes that is clearly better covered.
    pub bubbles: u64,
    /// Between two places that both have clearly better covered ways.
    pub links: u64,
    /// Without neighbours, short and thin.
    pub isolated: u64,
}

impl Cleaned {
    /// All.
    pub fn all(self) -> u64 {
        self.tips + self.bubbles + self.links + self.isolated
    }
}

/// What is left to take out of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errors {
    /// k-mers with errors.
    Kmers,
    /// Walks through a graph without such: a read with an error may take a wrong turn, once.
    Walks,
}

/// Cleans a graph; `depth` is the coverage of what a genome has once, 0 where it is not known.
pub fn clean(mut graph: Graph, depth: u64, errors: Errors) -> (Graph, Cleaned) {
    let mut all = Cleaned::default();
    for round in 0..ROUNDS {
        let round = Round {
            graph: &graph,
            depth,
            errors,
            // Short ones first: a long one may be part of what is left.
            tip: (graph.k() + 20) * (round + 1),
        };
        let (verdicts, cleaned) = round.verdicts();
        if cleaned.all() == 0 && round.tip > 2 * graph.k() + 40 {
            break;
        }
        all.tips += cleaned.tips;
        all.bubbles += cleaned.bubbles;
        all.links += cleaned.links;
        all.isolated += cleaned.isolated;
        if cleaned.all() > 0 {
            graph = compact(graph.k(), &graph.kept(|node| !verdicts[node]));
        }
    }
    (graph, all)
}

struct Round<'g> {
    graph: &'g Graph,
    depth: u64,
    errors: Errors,
    /// Bases that a tip may have.
    tip: usize,
}

impl Round<'_> {
    fn verdicts(&self) -> (Vec<bool>, Cleaned) {
        let mut cleaned = Cleaned::default();
        let mut verdicts = vec![false; self.graph.len()];
        for way in self.graph.nodes() {
            let kind = match way {
                _ if !self.is_thin(way, (2, 5)) => None,
                _ if self.is_tip(way) || self.is_tip(way.flipped()) => Some(&mut cleaned.tips),
                _ if self.errors == Errors::Walks && !self.is_thin(way, (1, 5)) => None,
                _ if self.is_bubble(way) => Some(&mut cleaned.bubbles),
                _ if self.is_link(way) => Some(&mut cleaned.links),
                _ if self.is_isolated(way) => Some(&mut cleaned.isolated),
                _ => None,
            };
            if let Some(kind) = kind {
                *kind += 1;
                verdicts[way.node()] = true;
            }
        }
        (verdicts, cleaned)
    }

    /// Whether the coverage of a node is below `part.0 / part.1` of another's.
    fn is_below(&self, way: Way, part: (u64, u64), other: Way) -> bool {
        let of = |way: Way| {
            let (count, kmers) = (self.graph.count(way), self.graph.kmers(way));
            (u128::from(count), u128::from(kmers))
        };
        let ((count, kmers), (other_count, other_kmers)) = (of(way), of(other));
        count * other_kmers * u128::from(part.1) < other_count * kmers * u128::from(part.0)
    }

    /// Whether the coverage of a node is below a part of what the genome has once. Hardly anything
    /// that it has is below two fifths; of larger k, whose coverage is a few reads, below a fifth.
    fn is_thin(&self, way: Way, part: (u64, u64)) -> bool {
        let (count, kmers) = (self.graph.count(way), self.graph.kmers(way));
        self.depth == 0 || part.1 * count < part.0 * self.depth * kmers
    }

    /// Other ways that go on to `next`.
    fn siblings(&self, way: Way, next: Way) -> impl Iterator<Item = Way> {
        self.graph.before(next).filter(move |&other| other != way)
    }

    fn is_tip(&self, way: Way) -> bool {
        let graph = self.graph;
        let dead = graph.next(way.flipped()).is_empty() && !graph.next(way).is_empty();
        dead && graph.length(way) < self.tip.min(2 * graph.k() + 40)
            && graph.next(way).iter().all(|&next| {
                let better = |other| self.is_below(way, (1, 2), other);
                self.siblings(way, next).any(better)
            })
    }

    fn is_bubble(&self, way: Way) -> bool {
        let graph = self.graph;
        let [next] = graph.next(way) else {
            return false;
        };
        let [back] = graph.next(way.flipped()) else {
            return false;
        };
        let limit = 2 * graph.k() + 40;
        let is_between =
            |other: Way| graph.next(other) == [*next] && graph.next(other.flipped()) == [*back];
        graph.length(way) <= limit
            && self.siblings(way, *next).any(|other| {
                is_between(other)
                    && graph.length(other) <= limit
                    && self.is_below(way, (2, 5), other)
            })
    }

    fn is_link(&self, way: Way) -> bool {
        let short = self.graph.length(way) < 2 * self.graph.k() + 40;
        short
            && [way, way.flipped()].into_iter().all(|way| {
                let next = self.graph.next(way);
                !next.is_empty()
                    && next.iter().all(|&next| {
                        let better = |other| self.is_below(way, (1, 5), other);
                        self.siblings(way, next).any(better)
                    })
            })
    }

    fn is_isolated(&self, way: Way) -> bool {
        let graph = self.graph;
        let alone = graph.next(way).is_empty() && graph.next(way.flipped()).is_empty();
        alone && graph.length(way) < 3 * graph.k()
    }
}
