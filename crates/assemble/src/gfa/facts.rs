//! What is said of a graph.

use super::SegmentGraph;
use crate::Statistics;
use crate::graph::{Edges, Way};

/// Segments that links connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// The segments, ascending.
    pub segments: Vec<usize>,
    /// Their bases.
    pub bases: u64,
    /// Whether it is one ring and nothing else.
    pub circular: bool,
}

/// A graph in numbers. Lengths are in bases.
#[derive(Clone, Debug)]
pub struct GraphFacts {
    /// Lengths of the segments.
    pub lengths: Statistics,
    /// Links, each once however often the file has it.
    pub links: u64,
    /// The smallest and the largest overlap.
    pub overlaps: Option<(u32, u32)>,
    /// Ends of segments that no link leaves.
    pub dead_ends: u64,
    /// Segments that no link leaves on either end.
    pub isolated: u64,
    /// Connected segments, most bases first.
    pub components: Vec<Component>,
    /// The depth that half of all bases are below.
    pub median_depth: Option<f64>,
}

impl GraphFacts {
    /// Of a graph.
    pub fn of(graph: &SegmentGraph) -> GraphFacts {
        let edges = graph.edges();
        let ways = (0..graph.segments().len()).map(Way::forward);
        let open = |way: Way| edges.next(way).is_empty();
        let overlaps = graph.links().iter().filter_map(|link| link.overlap);
        let overlaps = overlaps.fold(None, |found: Option<(u32, u32)>, overlap| {
            let (least, most) = found.unwrap_or((overlap, overlap));
            Some((least.min(overlap), most.max(overlap)))
        });
        let lengths: Vec<u64> = graph.segments().iter().map(|one| one.length).collect();
        let depths = graph.segments().iter().map(|one| (one.depth, one.length));
        GraphFacts {
            links: links(edges, ways.clone()),
            overlaps,
            dead_ends: ways
                .clone()
                .map(|way| u64::from(open(way)) + u64::from(open(way.flipped())))
                .sum(),
            isolated: ways.filter(|&way| open(way) && open(way.flipped())).count() as u64,
            components: components(edges, &lengths),
            median_depth: median_depth(depths),
            lengths: Statistics::of_lengths(lengths),
        }
    }

    /// How many components are one ring.
    pub fn circular(&self) -> u64 {
        self.components.iter().filter(|one| one.circular).count() as u64
    }
}

/// Each link once: those that are their own reverse are in one list once, others in two.
fn links(edges: &Edges, ways: impl Iterator<Item = Way>) -> u64 {
    let both = ways.flat_map(|way| [way, way.flipped()]);
    let of = |way: Way| {
        let next = edges.next(way).iter();
        next.filter(|&&to| (way, to) <= (to.flipped(), way.flipped()))
            .count() as u64
    };
    both.map(of).sum()
}

/// The depth that half of all bases with a known depth are below; `None` where none is known.
pub fn median_depth(depths: impl Iterator<Item = (Option<f64>, u64)>) -> Option<f64> {
    let mut known: Vec<(f64, u64)> = depths
        .filter_map(|(depth, length)| Some((depth?, length)))
        .collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: u64 = known.iter().map(|known| known.1).sum();
    let mut seen = 0;
    let reached = |known: &&(f64, u64)| {
        seen += known.1;
        2 * seen >= all
    };
    known.iter().find(reached).map(|known| known.0)
}

/// What links connect, most bases first.
pub fn components(edges: &Edges, lengths: &[u64]) -> Vec<Component> {
    let mut seen = vec![false; lengths.len()];
    let mut components = Vec::new();
    for first in 0..lengths.len() {
        if std::mem::replace(&mut seen[first], true) {
            continue;
        }
        let mut segments = vec![first];
        let mut done = 0;
        while let Some(&segment) = segments.get(done) {
            let way = Way::forward(segment);
            let both = [way, way.flipped()];
            for next in both.iter().flat_map(|&way| edges.next(way)) {
                if !std::mem::replace(&mut seen[next.node()], true) {
                    segments.push(next.node());
                }
            }
            done += 1;
        }
        segments.sort_unstable();
        components.push(Component {
            bases: segments.iter().map(|&segment| lengths[segment]).sum(),
            circular: is_ring(edges, &segments),
            segments,
        });
    }
    components.sort_by_key(|one| (std::cmp::Reverse(one.bases), one.segments[0]));
    components
}

/// Whether each segment is followed by one, until all were passed and the first comes again, in its
/// own direction.
fn is_ring(edges: &Edges, segments: &[usize]) -> bool {
    let start = Way::forward(segments[0]);
    let (mut way, mut passed) = (start, 0);
    loop {
        let ([next], [_]) = (edges.next(way), edges.next(way.flipped())) else {
            return false;
        };
        (way, passed) = (*next, passed + 1);
        if way.node() == start.node() {
            return way == start && passed == segments.len();
        }
    }
}
