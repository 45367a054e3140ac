//! Dead ends that overlap. Where a genome is thin the reads before a place and those behind it have
//! fewer bases in common than a k-mer, and the graph ends on either side. Mates tell which two ends
//! these are; the bases that both have then say where they meet.

use std::collections::HashMap;

use gyrase_fabric::FabricError;

use super::inserts::Inserts;
use super::links::{Link, Links};
use super::paths::Join;
use crate::among::Among;
use crate::graph::{SharedGraph, Way};
use crate::records::{put_slice, take_bases};
use crate::{BaseSlice, BaseString};

/// Links that such a join needs: chance leads few mates to two ends that overlap.
const LEAST_LINKS: u64 = 2;
/// Bases that overlap, at least: two ends of a metagenome have as many by chance once in millions.
const LEAST_BASES: usize = 11;

/// The joins of dead ends that mates put together, and that overlap in one way alone: those that
/// begin at nodes of this process, in the order of these.
///
/// Collective.
///
/// # Errors
/// Another process failed.
pub fn overlapping(
    graph: &SharedGraph,
    links: &Links,
    inserts: &Inserts,
    among: &Among,
) -> Result<Vec<Join>, FabricError> {
    let own = graph.own();
    let is_dead = |way: Way| own.next(graph.own_way(way)).is_empty();
    let ends = links
        .iter()
        .filter(|(ways, link)| link.pairs >= LEAST_LINKS && is_dead(ways.0));
    let mut ends: Vec<((Way, Way), Link)> = ends.map(|(&ways, &link)| (ways, link)).collect();
    ends.sort_unstable_by_key(|end| end.0);
    let heads = heads(graph, &ends, among)?;
    let joins = ends.iter().filter_map(|&((from, to), link)| {
        let head = heads.get(&to)?;
        let tail = own.bases(graph.own_way(from));
        let overlap = overlap(graph.k(), [tail, BaseSlice::whole(head)], link, inserts)?;
        Some(Join {
            from,
            path: Vec::new(),
            overlap,
            to,
            pairs: link.pairs,
        })
    });
    let joins: Vec<Join> = joins.collect();
    let mut times: HashMap<Way, usize> = HashMap::new();
    for join in &joins {
        *times.entry(join.from).or_default() += 1;
    }
    // Each is found from both of its ends.
    let entered: Vec<Way> = joins.iter().map(|join| join.to.flipped()).collect();
    let answers = among.ask(
        &entered,
        |way| graph.question(way),
        |way| [u8::from(times.get(&Way::of_bytes(way)) == Some(&1))],
    )?;
    let alone = joins.into_iter().zip(answers).filter(|(join, is_alone)| {
        join.from < join.to.flipped() && times[&join.from] == 1 && *is_alone == [1]
    });
    Ok(alone.map(|(join, _)| join).collect())
}

/// The first bases of the ways that links lead to and nothing else does.
///
/// Collective.
fn heads(
    graph: &SharedGraph,
    ends: &[((Way, Way), Link)],
    among: &Among,
) -> Result<HashMap<Way, BaseString>, FabricError> {
    let mut ways: Vec<Way> = ends.iter().map(|end| end.0.1).collect();
    ways.sort_unstable();
    ways.dedup();
    let (own, k) = (graph.own(), graph.k());
    let answer = |way: Way, bytes: &mut Vec<u8>| {
        let is_dead = own.next(way.flipped()).is_empty();
        let head = if is_dead { k - 1 } else { 0 };
        put_slice(own.bases(way).slice(0..head), bytes);
    };
    let mut heads = HashMap::new();
    let take = |way: Way, from: &mut &[u8]| {
        let head = take_bases(from);
        if !head.is_empty() {
            heads.insert(way, head);
        }
    };
    graph.ask(&ways, among.world, answer, take)?;
    Ok(heads)
}

/// The only number of bases, below k, with which one sequence ends and the other begins, where
/// fragments that lead from one to the other have a fitting length then.
fn overlap(
    k: usize,
    [before, behind]: [BaseSlice; 2],
    link: Link,
    inserts: &Inserts,
) -> Option<usize> {
    let meets = |&bases: &usize| before.behind(before.len() - bases) == behind.slice(0..bases);
    let mut all = (LEAST_BASES..k).filter(meets);
    let (overlap, None) = (all.next()?, all.next()) else {
        return None;
    };
    let length = link.bases / link.pairs as i64 - overlap as i64;
    let fits = (length - inserts.median).abs() <= inserts.doubt(link.pairs);
    fits.then_some(overlap)
}

#[cfg(test)]
mod tests {
    use gyrase_fabric::Alone;
    use gyrase_work::Progress;

    use super::*;
    use crate::graph::{Pieces, compact};

    #[test]
    fn ends_meet_where_mates_and_bases_say_so() {
        let k = 31;
        let genome: Vec<u8> = (0..900u64)
            .map(|at| (gyrase_kmer::mix(at) >> 62) as u8)
            .collect();
        let graph = |overlap: usize| {
            let mut pieces = Pieces::default();
            pieces.push(&genome[..500], 500);
            pieces.push(&genome[500 - overlap..], 400);
            compact(k, &pieces, 1)
        };
        let mut counts = vec![0; 300];
        counts.extend([100; 101]);
        let inserts = Inserts::of(&counts).unwrap();
        let joins = |overlap: usize, pairs: u64, length: i64| {
            let graph = graph(overlap);
            let on = |way: &Way| graph.codes(*way).ends_with(&genome[490..500]);
            let from = graph.ways().find(on).unwrap();
            let onto = |way: &Way| graph.codes(*way).ends_with(&genome[890..]);
            let to = graph.ways().find(onto).unwrap();
            let bases = pairs as i64 * (length + overlap as i64);
            let link = Link { pairs, bases };
            let both = [(from, to), (to.flipped(), from.flipped())];
            let links = both.into_iter().map(|ways| (ways, link)).collect();
            let progress = Progress::default();
            let among = Among::of_test(&Alone, &progress);
            let graph = SharedGraph::alone(graph);
            let joins = overlapping(&graph, &links, &inserts, &among).expect("it is alone");
            joins.iter().map(|join| join.overlap).collect::<Vec<_>>()
        };
        assert_eq!(joins(17, 2, 350), [17]);
        assert_eq!(joins(29, 9, 360), [29]);
        assert!(joins(17, 1, 350).is_empty() && joins(9, 9, 350).is_empty());
        assert!(joins(17, 9, 900).is_empty());
    }
}
