//! What a process knows of the nodes that links lead to, which others may have.

use std::cmp::Ordering;
use std::collections::HashMap;

use gyrase_fabric::FabricError;

use super::links::Links;
use crate::among::Among;
use crate::graph::{SharedGraph, Way};

/// How long a node is, and how often it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    pub length: usize,
    pub kmers: u64,
    /// The sum of the counts of its k-mers.
    pub count: u64,
}

impl Known {
    /// A node of this process.
    pub fn of(graph: &SharedGraph, own: Way) -> Known {
        let graph = graph.own();
        Known {
            length: graph.length(own),
            kmers: graph.kmers(own),
            count: graph.count(own),
        }
    }

    /// How often its k-mers are seen, times those of both.
    fn depth_beside(&self, other: &Known) -> u128 {
        u128::from(self.count) * u128::from(other.kmers)
    }

    /// How its depth compares with that of another.
    fn by_depth(&self, other: &Known) -> Ordering {
        self.depth_beside(other).cmp(&other.depth_beside(self))
    }

    /// Whether two nodes may be of one genome, and in it as often: neither has more than eight
    /// fifths of the other's coverage.
    pub fn is_near(&self, other: &Known) -> bool {
        let (own, other) = (self.depth_beside(other), other.depth_beside(self));
        5 * own <= 8 * other && 5 * other <= 8 * own
    }

    /// Whether a genome has it once, by the coverage of what is typical: more than two fifths of it
    /// and less than seven.
    pub fn is_once(&self, typical: &Known) -> bool {
        let (own, typical) = (5 * self.depth_beside(typical), typical.depth_beside(self));
        own > 2 * typical && own < 7 * typical
    }

    fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.kmers.to_le_bytes());
        bytes[8..].copy_from_slice(&self.count.to_le_bytes());
        bytes
    }

    fn of_bytes(bytes: [u8; 16], k: usize) -> Known {
        let [kmers, count] = [0, 1].map(|at| u64::from_le_bytes(bytes.as_chunks().0[at]));
        Known {
            length: kmers as usize + k - 1,
            kmers,
            count,
        }
    }
}

/// The nodes that links of this process leave or enter, by their numbers among those of all.
///
/// Collective.
pub fn linked(
    graph: &SharedGraph,
    links: &Links,
    among: &Among,
) -> Result<HashMap<usize, Known>, FabricError> {
    let ways = links.keys().flat_map(|&(from, to)| [from, to]);
    let mut ways: Vec<Way> = ways.map(|way| Way::forward(way.node())).collect();
    ways.sort_unstable();
    ways.dedup();
    let answer = |way| Known::of(graph, graph.own_way(Way::of_bytes(way))).to_bytes();
    let known = among.ask(&ways, |way| graph.question(way), answer)?;
    let of = |(way, bytes): (&Way, [u8; 16])| (way.node(), Known::of_bytes(bytes, graph.k()));
    Ok(ways.iter().zip(known).map(of).collect())
}

/// A node whose coverage half of all k-mers have, or less: nothing where there is no node.
///
/// Each round takes a node in the middle of those that are left, and leaves those on one side of it
/// (weighted selection).
///
/// Collective.
pub fn typical(graph: &SharedGraph, among: &Among) -> Result<Option<Known>, FabricError> {
    let k = graph.k();
    let mut left: Vec<Known> = graph
        .own()
        .nodes()
        .map(|way| Known::of(graph, way))
        .collect();
    left.sort_by(Known::by_depth);
    let weight = |nodes: &[Known]| nodes.iter().map(|node| node.kmers).sum::<u64>();
    let all = among.world.sum(&[weight(&left)])?[0];
    let (mut left, mut seen) = (&left[..], 0);
    loop {
        let Some(pivot) = proposed(left, k, among)? else {
            return Ok(None);
        };
        let less = left.partition_point(|node| node.by_depth(&pivot).is_lt());
        let equal = left.partition_point(|node| node.by_depth(&pivot).is_le());
        let own = [weight(&left[..less]), weight(&left[..equal])];
        let sums = among.world.sum(&own)?;
        if 2 * (seen + sums[0]) >= all {
            left = &left[..less];
        } else if 2 * (seen + sums[1]) >= all {
            return Ok(Some(pivot));
        } else {
            (left, seen) = (&left[equal..], seen + sums[1]);
        }
    }
}

/// One in the middle of those that are in the middle of each process's.
///
/// Collective.
fn proposed(left: &[Known], k: usize, among: &Among) -> Result<Option<Known>, FabricError> {
    let own: u64 = left.iter().map(|node| node.kmers).sum();
    let mut proposal = Vec::new();
    if let Some(middle) = middle(left.iter().map(|&node| (node, node.kmers)), own) {
        proposal.extend(middle.to_bytes());
        proposal.extend(own.to_le_bytes());
    }
    let mut proposals = Vec::new();
    for bytes in among.world.all_gather(&proposal)? {
        if let Some((&node, weight)) = bytes.split_first_chunk() {
            let weight = weight.try_into().expect("eight bytes are left");
            proposals.push((Known::of_bytes(node, k), u64::from_le_bytes(weight)));
        }
    }
    proposals.sort_by(|one, other| one.0.by_depth(&other.0));
    let all = proposals.iter().map(|proposal| proposal.1).sum();
    Ok(middle(proposals.into_iter(), all))
}

/// The first with which half of a weight is reached.
fn middle(nodes: impl Iterator<Item = (Known, u64)>, all: u64) -> Option<Known> {
    let mut seen = 0;
    let mut reached = nodes.skip_while(|(_, weight)| {
        seen += weight;
        2 * seen < all
    });
    reached.next().map(|(node, _)| node)
}

#[cfg(test)]
mod tests {
    use gyrase_fabric::Steal;
    use gyrase_fabric::testing::run;
    use gyrase_work::Progress;
    use proptest::prelude::*;

    use super::*;
    use crate::Error;
    use crate::graph::{Pieces, compact};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn processes_find_what_half_of_all_kmers_have(
            nodes in proptest::collection::vec((5..60usize, 1..500u64), 0..20),
            ranks in 1..5usize,
        ) {
            let (k, mut pieces) = (5, Pieces::default());
            for (number, &(length, count)) in (0..).zip(&nodes) {
                let code = |at: u64| (gyrase_kmer::mix(number << 32 | at) >> 62) as u8;
                pieces.push(&(0..length as u64).map(code).collect::<Vec<u8>>(), count);
            }
            let graph = compact(k, &pieces, 1);
            let alone = SharedGraph::alone(graph.clone());
            let mut all: Vec<Known> = graph.nodes().map(|way| Known::of(&alone, way)).collect();
            all.sort_by(Known::by_depth);
            let expected = middle(
                all.iter().map(|&node| (node, node.kmers)),
                all.iter().map(|node| node.kmers).sum(),
            );
            let made = run(ranks, Steal::default(), |process| {
                let progress = Progress::default();
                let among = Among::of_test(process, &progress);
                Ok::<_, Error>(typical(&SharedGraph::share_of(graph.clone(), process)?, &among)?)
            });
            for made in made {
                match (made.expect("no process fails"), expected) {
                    (Some(made), Some(expected)) => prop_assert!(made.by_depth(&expected).is_eq()),
                    (made, expected) => prop_assert_eq!(made, expected),
                }
            }
        }
    }
}
