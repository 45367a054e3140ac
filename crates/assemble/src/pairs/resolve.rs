//! A graph in which nodes are joined.

use std::collections::{HashMap, HashSet};

use super::paths::Join;
use crate::graph::{Graph, Pieces, Way, linked};

/// The graph in which what `joins` says is one node. Nodes between stay where something else leads
/// through them. And how often two nodes were joined since nothing else is left behind one and
/// before the other.
pub fn apply(graph: &Graph, joins: &[Join]) -> (Graph, u64) {
    let chains = Chains::of(joins);
    let left = Left::of(graph, joins);
    let mut pieces = Pieces::default();
    // Where each old way is at the end of a new one.
    let mut ends: HashMap<Way, Way> = HashMap::new();
    let mut counts: Vec<u64> = graph.nodes().map(|way| graph.count(way)).collect();
    for chain in chains.all(graph) {
        let (first, last) = (chain[0], chain[chain.len() - 1]);
        let piece = Way::forward(pieces.len());
        ends.insert(last, piece);
        ends.insert(first.flipped(), piece.flipped());
        chains.push(graph, &chain, &mut counts, &mut pieces);
    }
    for way in graph
        .nodes()
        .filter(|&way| left.stays(way) && !chains.has(way))
    {
        let piece = Way::forward(pieces.len());
        ends.insert(way, piece);
        ends.insert(way.flipped(), piece.flipped());
        pieces.push_bases(graph.bases(way), counts[way.node()]);
    }
    let mut edges = Vec::new();
    for way in graph.ways() {
        for &next in graph.next(way) {
            let (from, to) = (ends.get(&way), ends.get(&next.flipped()));
            if let (Some(&from), Some(&to), true) = (from, to, left.edge_stays(way, next)) {
                edges.push((from, to.flipped()));
            }
        }
    }
    let linked = linked(graph.k(), &pieces, &edges);
    let freed = (pieces.len() - linked.len()) as u64;
    (linked, freed)
}

/// What is joined to what.
struct Chains<'j> {
    /// The join behind each way, and whether it is read backward.
    next: HashMap<Way, (&'j Join, bool)>,
}

impl<'j> Chains<'j> {
    fn of(joins: &'j [Join]) -> Chains<'j> {
        let mut next = HashMap::new();
        for join in joins {
            next.insert(join.from, (join, false));
            next.insert(join.to.flipped(), (join, true));
        }
        Chains { next }
    }

    fn has(&self, way: Way) -> bool {
        self.next.contains_key(&way) || self.next.contains_key(&way.flipped())
    }

    fn next(&self, way: Way) -> Option<Way> {
        let &(join, backward) = self.next.get(&way)?;
        Some(if backward {
            join.from.flipped()
        } else {
            join.to
        })
    }

    /// The nodes of each chain that a genome has once, in the order of their first.
    fn all(&self, graph: &Graph) -> Vec<Vec<Way>> {
        let (mut seen, mut chains) = (HashSet::new(), Vec::new());
        for way in graph.nodes().filter(|&way| self.has(way)) {
            if seen.contains(&way.node()) {
                continue;
            }
            // Back to the beginning, or once around.
            let mut start = way.flipped();
            while let Some(before) = self.next(start).filter(|&before| before != way.flipped()) {
                start = before;
            }
            let mut chain = Vec::new();
            let mut at = Some(start.flipped());
            while let Some(way) = at.filter(|way| seen.insert(way.node())) {
                chain.push(way);
                at = self.next(way);
            }
            chains.push(chain);
        }
        chains
    }

    /// Writes a chain as a piece; what it takes of the nodes between is taken off their counts.
    fn push(&self, graph: &Graph, chain: &[Way], counts: &mut [u64], pieces: &mut Pieces) {
        let overlap = graph.k() - 1;
        let (mut codes, mut count) = (graph.codes(chain[0]), graph.count(chain[0]));
        for two in chain.windows(2) {
            let (join, backward) = self.next[&two[0]];
            let mut path = join.path.clone();
            if backward {
                path.reverse();
                path.iter_mut().for_each(|way| *way = way.flipped());
            }
            let [one, other] = [two[0], two[1]].map(|way| (graph.count(way), graph.kmers(way)));
            for way in path {
                graph.bases(way).behind(overlap).append_codes(&mut codes);
                let share = u128::from(one.0 + other.0) * u128::from(graph.kmers(way))
                    / u128::from(one.1 + other.1);
                let share = u64::try_from(share).unwrap_or(u64::MAX);
                counts[way.node()] = counts[way.node()].saturating_sub(share);
                count += share;
            }
            let next = graph.bases(two[1]);
            next.behind(join.overlap).append_codes(&mut codes);
            // No read has the k-mers across a shorter overlap: they are as often there as others.
            let across = u128::from(one.0 + other.0) * (overlap - join.overlap) as u128
                / u128::from(one.1 + other.1);
            count += other.0 + u64::try_from(across).unwrap_or(u64::MAX);
        }
        pieces.push(&codes, count);
    }
}

/// What is left of the graph beside the joined.
struct Left {
    /// Edges that a join has, and nothing else.
    used: HashSet<(Way, Way)>,
    /// Nodes that are part of joins alone.
    gone: HashSet<usize>,
}

impl Left {
    fn of(graph: &Graph, joins: &[Join]) -> Left {
        let mut left = Left {
            used: HashSet::new(),
            gone: HashSet::new(),
        };
        let mut between: Vec<Way> = Vec::new();
        for join in joins {
            // What a genome has once is left and entered once.
            let first = join.path.first().copied().unwrap_or(join.to);
            let last = join.path.last().copied().unwrap_or(join.from);
            for edge in [(join.from, first), (last, join.to)] {
                left.used.insert(edge);
                left.used.insert((edge.1.flipped(), edge.0.flipped()));
            }
            between.extend(&join.path);
        }
        // What nothing else leads into, or out of, was there for the joins.
        loop {
            let ends = |way: &&Way| {
                let open = |way: Way| {
                    let mut next = graph.next(way).iter();
                    next.any(|&next| left.edge_stays(way, next))
                };
                left.stays(**way) && !(open(**way) && open(way.flipped()))
            };
            let more: Vec<usize> = between.iter().filter(ends).map(|way| way.node()).collect();
            if more.is_empty() {
                return left;
            }
            left.gone.extend(more);
        }
    }

    fn stays(&self, way: Way) -> bool {
        !self.gone.contains(&way.node())
    }

    fn edge_stays(&self, from: Way, to: Way) -> bool {
        self.stays(from) && self.stays(to) && !self.used.contains(&(from, to))
    }
}
