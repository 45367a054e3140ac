//! Dead ends that overlap. Where a genome is thin the reads before a place and those behind it have
//! fewer bases in common than a k-mer, and the graph ends on either side. Mates tell which two ends
//! these are; the bases that both have then say where they meet.

use std::collections::HashMap;

use super::inserts::Inserts;
use super::links::{Link, Links};
use super::paths::Join;
use crate::graph::{Graph, Way};

/// Links that such a join needs: chance leads few mates to two ends that overlap.
const LEAST_LINKS: u64 = 2;
/// Bases that overlap, at least: two ends of a metagenome have as many by chance once in millions.
const LEAST_BASES: usize = 11;

/// The joins of dead ends that mates put together, and that overlap in one way alone.
pub fn overlapping(graph: &Graph, links: &Links, inserts: &Inserts) -> Vec<Join> {
    let is_dead = |way: Way| graph.next(way).is_empty();
    let joins = links.iter().filter_map(|(&(from, to), &link)| {
        let ends = link.pairs >= LEAST_LINKS && is_dead(from) && is_dead(to.flipped());
        let overlap = ends.then(|| overlap(graph, (from, to), link, inserts))??;
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
    let alone = |join: &Join| times[&join.from] == 1 && times[&join.to.flipped()] == 1;
    let mut joins: Vec<Join> = joins
        .into_iter()
        .filter(|join| join.from < join.to.flipped() && alone(join))
        .collect();
    joins.sort_unstable_by_key(|join| join.from);
    joins
}

/// The only number of bases with which one way ends and the other begins, where fragments that lead
/// from one to the other have a fitting length then.
fn overlap(graph: &Graph, (from, to): (Way, Way), link: Link, inserts: &Inserts) -> Option<usize> {
    let [before, behind] = [from, to].map(|way| graph.bases(way));
    let meets = |&bases: &usize| before.behind(before.len() - bases) == behind.slice(0..bases);
    let mut all = (LEAST_BASES..graph.k()).filter(meets);
    let (overlap, None) = (all.next()?, all.next()) else {
        return None;
    };
    let length = link.bases / link.pairs as i64 - overlap as i64;
    let fits = (length - inserts.median).abs() <= inserts.doubt(link.pairs);
    fits.then_some(overlap)
}

#[cfg(test)]
mod tests {
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
            let joins = overlapping(&graph, &links, &inserts);
            joins.iter().map(|join| join.overlap).collect::<Vec<_>>()
        };
        assert_eq!(joins(17, 2, 350), [17]);
        assert_eq!(joins(29, 9, 360), [29]);
        assert!(joins(17, 1, 350).is_empty() && joins(9, 9, 350).is_empty());
        assert!(joins(17, 9, 900).is_empty());
    }
}
