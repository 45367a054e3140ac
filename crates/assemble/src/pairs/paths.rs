//! Which nodes follow each other, and by which way through the graph.

use super::inserts::Inserts;
use super::links::{Link, Links};
use crate::config::Sample;
use crate::graph::{Graph, Way};

/// Links that a join needs.
const LEAST_LINKS: u64 = 4;
/// A candidate with less than one in so many links of another is a mistake of anchors.
const RARE: u64 = 5;
/// Nodes that are looked at between two others.
const MOST_STEPS: usize = 2000;
/// Ways between two nodes that are told apart.
const MOST_PATHS: usize = 16;

/// Two nodes that follow each other, and what is between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The first.
    pub from: Way,
    /// The nodes between.
    pub path: Vec<Way>,
    /// Bases of the last that the one before it ends with.
    pub overlap: usize,
    /// The last.
    pub to: Way,
    /// Pairs that say so.
    pub pairs: u64,
}

/// Two nodes that follow each other, where several ways between them fit, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenJoin {
    /// The first.
    pub from: Way,
    /// The bases between, as pairs tell them; below 0 where both overlap.
    pub gap: i64,
    /// The other.
    pub to: Way,
    /// Pairs that say so.
    pub pairs: u64,
}

/// All joins, and what stays open.
pub fn joins(
    graph: &Graph,
    links: &Links,
    inserts: &Inserts,
    sample: Sample,
) -> (Vec<Join>, Vec<OpenJoin>) {
    let resolver = Resolver::new(graph, links, inserts, sample);
    let (mut joins, mut open) = (Vec::new(), Vec::new());
    for from in graph.ways().filter(|&way| resolver.unique[way.node()]) {
        let Some((to, gap, link)) = resolver.next(from) else {
            continue;
        };
        let back = resolver.next(to.flipped());
        // Each join is found from both of its ends.
        if back.is_none_or(|back| back.0 != from.flipped()) || to.flipped() < from {
            continue;
        }
        match resolver.path(from, to, gap, link) {
            Some(path) => joins.push(Join {
                from,
                path,
                overlap: graph.k() - 1,
                to,
                pairs: link.pairs,
            }),
            None => open.push(OpenJoin {
                from,
                gap,
                to,
                pairs: link.pairs,
            }),
        }
    }
    (joins, open)
}

struct Resolver<'g> {
    graph: &'g Graph,
    links: &'g Links,
    inserts: &'g Inserts,
    /// For each node whether a genome has it once, or may have it.
    unique: Vec<bool>,
    /// Whether that is for the coverage of two nodes to say, which then is about the same.
    mixed: bool,
    /// For each way the ways that links lead to.
    ahead: Vec<Vec<(Way, Link)>>,
}

impl<'g> Resolver<'g> {
    fn new(
        graph: &'g Graph,
        links: &'g Links,
        inserts: &'g Inserts,
        sample: Sample,
    ) -> Resolver<'g> {
        let mut ahead = vec![Vec::new(); 2 * graph.len()];
        for (&(from, to), &link) in links {
            ahead[from.index()].push((to, link));
        }
        ahead
            .iter_mut()
            .for_each(|ahead| ahead.sort_unstable_by_key(|ahead| ahead.0));
        Resolver {
            unique: match sample {
                Sample::Isolate => unique(graph),
                Sample::Metagenome { .. } => long(graph),
            },
            mixed: sample.is_mixed(),
            graph,
            links,
            inserts,
            ahead,
        }
    }

    fn edge(&self) -> i64 {
        self.graph.k() as i64
    }

    fn gap(&self, from: Way, to: Way, link: Link) -> i64 {
        let lengths = [from, to].map(|way| self.graph.length(way) as i64);
        self.inserts
            .gap(link.pairs, link.bases, lengths, self.edge())
    }

    /// The next node that a genome has once, how far it is, and what says so; nothing where links
    /// contradict each other.
    fn next(&self, from: Way) -> Option<(Way, i64, Link)> {
        let ahead = &self.ahead[from.index()];
        let mut candidates: Vec<(Way, i64, Link)> = ahead
            .iter()
            .filter(|(to, link)| link.pairs >= LEAST_LINKS && self.unique[to.node()])
            .filter(|(to, _)| !self.mixed || are_near(self.graph, from, *to))
            .map(|&(to, link)| (to, self.gap(from, to, link), link))
            .collect();
        let most = candidates.iter().map(|found| found.2.pairs).max()?;
        candidates.retain(|found| found.2.pairs * RARE >= most);
        candidates.sort_by_key(|&(to, gap, _)| (gap, to));
        let (first, others) = candidates.split_first()?;
        let end = first.1 + self.graph.length(first.0) as i64;
        let behind = |other: &(Way, i64, Link)| {
            let doubt = self.inserts.doubt(first.2.pairs) + self.inserts.doubt(other.2.pairs);
            other.1 + self.edge() + doubt >= end
        };
        others.iter().all(behind).then_some(*first)
    }

    /// The only way between two nodes that is about as long as the gap.
    fn path(&self, from: Way, to: Way, gap: i64, link: Link) -> Option<Vec<Way>> {
        let doubt = self.inserts.doubt(link.pairs);
        let mut search = Search {
            graph: self.graph,
            to,
            range: gap - doubt..=gap + doubt,
            path: Vec::new(),
            found: Vec::new(),
            steps: 0,
        };
        let overlap = self.graph.k() as i64 - 1;
        search.from(from, -overlap)?;
        match search.found.len() {
            0 => None,
            1 => search.found.pop(),
            _ => self.supported(from, to, search.found),
        }
    }

    /// The one of several paths that links of its inner nodes speak for, where none speaks for
    /// another.
    fn supported(&self, from: Way, to: Way, paths: Vec<Vec<Way>>) -> Option<Vec<Way>> {
        let links_of = |way: Way| {
            let pairs = |key| self.links.get(&key).map_or(0, |link| link.pairs);
            pairs((from, way)) + pairs((way, to))
        };
        let for_path = |path: &Vec<Way>| {
            let own = path.iter().filter(|&way| {
                let others = paths.iter().filter(|&other| other != path);
                others.clone().all(|other| !other.contains(way))
            });
            own.map(|&way| links_of(way)).sum::<u64>()
        };
        let support: Vec<u64> = paths.iter().map(for_path).collect();
        let best = (0..paths.len()).max_by_key(|&path| support[path])?;
        let others = (0..paths.len()).filter(|&path| path != best);
        let clear = support[best] >= LEAST_LINKS
            && others
                .into_iter()
                .all(|path| support[path] * RARE < support[best]);
        clear.then(|| paths[best].clone())
    }
}

/// Looks for ways between two nodes.
struct Search<'g> {
    graph: &'g Graph,
    to: Way,
    range: std::ops::RangeInclusive<i64>,
    path: Vec<Way>,
    found: Vec<Vec<Way>>,
    steps: usize,
}

impl Search<'_> {
    /// Goes on from a way, which ends so many bases behind the first. Nothing where there is too
    /// much to look at.
    fn from(&mut self, way: Way, at: i64) -> Option<()> {
        for &next in self.graph.next(way) {
            self.steps += 1;
            if self.steps > MOST_STEPS || self.found.len() > MOST_PATHS {
                return None;
            }
            if next == self.to {
                if self.range.contains(&at) {
                    self.found.push(self.path.clone());
                }
                continue;
            }
            let overlap = self.graph.k() as i64 - 1;
            let end = at + self.graph.length(next) as i64 - overlap;
            if end <= *self.range.end() {
                self.path.push(next);
                self.from(next, end)?;
                self.path.pop();
            }
        }
        Some(())
    }
}

/// Whether two nodes may be of one genome, and in it as often: neither has more than eight fifths
/// of the other's coverage.
fn are_near(graph: &Graph, one: Way, other: Way) -> bool {
    let of = |way: Way| (u128::from(graph.count(way)), u128::from(graph.kmers(way)));
    let ((a, a_kmers), (b, b_kmers)) = (of(one), of(other));
    let (a, b) = (a * b_kmers, b * a_kmers);
    5 * a <= 8 * b && 5 * b <= 8 * a
}

/// For each node whether it is long enough for mates to tell where it is.
fn long(graph: &Graph) -> Vec<bool> {
    let is_long = |way: Way| graph.length(way) >= 2 * graph.k();
    graph.nodes().map(is_long).collect()
}

/// For each node whether a genome has it once: it is long enough for mates to tell, and its
/// coverage is near to what half of all bases have.
fn unique(graph: &Graph) -> Vec<bool> {
    let mut by_depth: Vec<Way> = graph.nodes().collect();
    by_depth.sort_by(|&a, &b| {
        let of = |way: Way| (u128::from(graph.count(way)), u128::from(graph.kmers(way)));
        let ((a, a_kmers), (b, b_kmers)) = (of(a), of(b));
        (a * b_kmers).cmp(&(b * a_kmers))
    });
    let all: u64 = by_depth.iter().map(|&way| graph.kmers(way)).sum();
    let mut seen = 0;
    let typical = by_depth.iter().find(|&&way| {
        seen += graph.kmers(way);
        2 * seen >= all
    });
    let Some(&typical) = typical else {
        return Vec::new();
    };
    let (count, kmers) = (
        u128::from(graph.count(typical)),
        u128::from(graph.kmers(typical)),
    );
    let is_once = |way: Way| {
        let (own, own_kmers) = (u128::from(graph.count(way)), u128::from(graph.kmers(way)));
        let (own, typical) = (5 * own * kmers, own_kmers * count);
        graph.length(way) >= 2 * graph.k() && own > 2 * typical && own < 7 * typical
    };
    graph.nodes().map(is_once).collect()
}
