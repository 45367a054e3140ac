//! Strains: of the ways between the same two nodes that are alike the best covered one is kept.
//!
//! Strains of a species differ in few bases. In the graph each difference is a **bubble**: ways
//! that leave one node and meet again in one node. No pair tells which ways of several bubbles are
//! of one strain, so that contigs would end at each of them.

use crate::graph::{Graph, Pieces, Way, compact};

/// Two ways are of strains where one base in so many differs, or fewer.
const ALIKE: usize = 10;
/// Bases that are compared at most: longer ways are contigs of their own.
const LONGEST: usize = 20_000;

/// The graph in which of each bubble of strains one way is left, with the counts of all; and how
/// many ways went.
pub fn collapsed(graph: &Graph) -> (Graph, u64) {
    let (mut graph, mut all) = (graph.clone(), 0);
    loop {
        let bubbles = bubbles(&graph);
        if bubbles.is_empty() {
            return (graph, all);
        }
        all += bubbles.len() as u64;
        let mut counts: Vec<u64> = graph.nodes().map(|way| graph.count(way)).collect();
        let mut goes = vec![false; graph.len()];
        for (weak, kept) in bubbles {
            let share = u128::from(graph.count(weak)) * u128::from(graph.kmers(kept))
                / u128::from(graph.kmers(weak));
            counts[kept.node()] += u64::try_from(share).unwrap_or(u64::MAX);
            goes[weak.node()] = true;
        }
        let mut pieces = Pieces::default();
        for way in graph.nodes().filter(|way| !goes[way.node()]) {
            pieces.push(graph.codes(way), counts[way.node()]);
        }
        graph = compact(graph.k(), &pieces);
    }
}

/// For each node whether it is a side of a bubble.
pub fn sides(graph: &Graph) -> Vec<bool> {
    let is_side = |way: Way| {
        let Some(from) = graph.before(way).next() else {
            return false;
        };
        let to = between(graph, from, way);
        let mut others = graph.next(from).iter().filter(|&&other| other != way);
        to.is_some() && others.any(|&other| between(graph, from, other) == to)
    };
    graph.nodes().map(is_side).collect()
}

/// Ways that go, and for each the way that is kept.
fn bubbles(graph: &Graph) -> Vec<(Way, Way)> {
    let mut bubbles = Vec::new();
    for from in graph.ways() {
        let mut sides: Vec<(Way, Way)> = graph
            .next(from)
            .iter()
            .filter_map(|&side| Some((between(graph, from, side)?, side)))
            .collect();
        sides.sort_unstable_by_key(|side| side.0);
        for equal in sides.chunk_by(|one, other| one.0 == other.0) {
            // Each bubble is seen from both of its ends, and once is enough.
            if equal.len() < 2 || equal[0].0.flipped() < from {
                continue;
            }
            let best = equal.iter().map(|side| side.1).reduce(|best, side| {
                if is_better(graph, side, best) {
                    side
                } else {
                    best
                }
            });
            let Some(best) = best else { continue };
            let others = equal.iter().map(|side| side.1).filter(|&side| side != best);
            let alike = others.filter(|&side| are_alike(graph.codes(side), graph.codes(best)));
            bubbles.extend(alike.map(|side| (side, best)));
        }
    }
    bubbles
}

/// The node behind `side` that it leads to from `from`, where it leads nowhere else.
fn between(graph: &Graph, from: Way, side: Way) -> Option<Way> {
    let ([to], [_]) = (graph.next(side), graph.next(side.flipped())) else {
        return None;
    };
    let nodes = [from.node(), side.node(), to.node()];
    let differ = nodes[0] != nodes[1] && nodes[1] != nodes[2] && nodes[0] != nodes[2];
    differ.then_some(*to)
}

/// Whether the coverage of one is better; of equal ones the first in the order of the graph is.
fn is_better(graph: &Graph, one: Way, other: Way) -> bool {
    let of = |way: Way| (u128::from(graph.count(way)), u128::from(graph.kmers(way)));
    let ((a, a_kmers), (b, b_kmers)) = (of(one), of(other));
    (a * b_kmers, other.node()) > (b * a_kmers, one.node())
}

/// Whether so few bases differ, are missing or are too many that both are of strains.
fn are_alike(one: &[u8], other: &[u8]) -> bool {
    let longer = one.len().max(other.len());
    let most = longer / ALIKE;
    if longer > LONGEST || one.len().abs_diff(other.len()) > most {
        return false;
    }
    // For each diagonal how far so many differences reach in `one` (Ukkonen, Myers).
    let middle = most + 1;
    let mut reach = vec![-1isize; 2 * middle + 1];
    let goal = (middle + one.len()) as isize - other.len() as isize;
    for differences in 0..=most {
        let mut next = reach.clone();
        for diagonal in middle - differences..=middle + differences {
            let before = if diagonal == 0 {
                -1
            } else {
                reach[diagonal - 1] + 1
            };
            let behind = reach.get(diagonal + 1).copied().unwrap_or(-1);
            let start = before.max(reach[diagonal] + 1).max(behind);
            let start = if differences == 0 { 0 } else { start };
            let mut at = start.min(one.len() as isize);
            let place = |at: isize| usize::try_from(at + middle as isize - diagonal as isize).ok();
            while let Some(place) = place(at)
                && (at as usize) < one.len()
                && other.get(place) == Some(&one[at as usize])
            {
                at += 1;
            }
            next[diagonal] = at;
        }
        reach = next;
        if reach[goal as usize] >= one.len() as isize {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use gyrase_kmer::mix;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn of_two_strains_the_better_covered_is_kept() {
        let genome: Vec<u8> = (0..200).map(|at| (mix(at) >> 62) as u8).collect();
        let mut strain = genome.clone();
        strain[60] ^= 1;
        strain.remove(130);
        let k = 11;
        let graph = |counts: [u64; 2]| {
            let mut kmers: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
            for (codes, count) in [&genome, &strain].into_iter().zip(counts) {
                for window in codes.windows(k) {
                    let other: Vec<u8> = window.iter().rev().map(|code| 3 - code).collect();
                    *kmers.entry(other.min(window.to_vec())).or_default() += count;
                }
            }
            let mut pieces = Pieces::default();
            kmers
                .iter()
                .for_each(|(codes, &count)| pieces.push(codes, count));
            compact(k, &pieces)
        };
        for (counts, kept) in [([9, 5], &genome), ([5, 9], &strain)] {
            let graph = graph(counts);
            assert_eq!(graph.len(), 7);
            let (collapsed, went) = collapsed(&graph);
            assert_eq!((collapsed.len(), went), (1, 2));
            let codes = collapsed.codes(Way::forward(0));
            let other: Vec<u8> = kept.iter().rev().map(|code| 3 - code).collect();
            assert!(codes == &kept[..] || codes == &other[..]);
        }
    }

    /// Edits by the whole table.
    fn distance(one: &[u8], other: &[u8]) -> usize {
        let mut row: Vec<usize> = (0..=other.len()).collect();
        for (i, a) in one.iter().enumerate() {
            let mut before = row[0];
            row[0] = i + 1;
            for (j, b) in other.iter().enumerate() {
                let change = before + usize::from(a != b);
                before = row[j + 1];
                row[j + 1] = change.min(before + 1).min(row[j] + 1);
            }
        }
        row[other.len()]
    }

    proptest! {
        #[test]
        fn alike_is_what_few_edits_make_of_each_other(
            one in proptest::collection::vec(0..4u8, 1..60),
            edits in proptest::collection::vec((0..60usize, 0..3u8, 0..4u8), 0..8),
        ) {
            let mut other = one.clone();
            for (place, edit, code) in edits {
                let place = place % other.len().max(1);
                match edit {
                    0 => other.insert(place, code),
                    1 if other.len() > 1 => drop(other.remove(place)),
                    _ => other[place] = code,
                }
            }
            let most = one.len().max(other.len()) / ALIKE;
            prop_assert_eq!(are_alike(&one, &other), distance(&one, &other) <= most);
        }
    }
}
