//! Thin ends, which come off better covered neighbours.
//!
//! Genomes have sequences in common, and so the end of a thin one meets the middle of one that is
//! well covered. What is thin may be true, and stays: its first k-mer alone goes, so that both do
//! not meet. Nothing is joined that reads do not join: they lead on along the rival.

use crate::graph::{Halo, Way};
use crate::solid::GOES_ON;

/// A rival is covered so often that it tells what is thin.
const DEEP: u64 = 3;
/// What has less than this of the coverage of a deep rival is thin.
const THIN: (u64, u64) = (1, 20);

/// Whether the first k-mer of a way goes.
pub fn is_thin(halo: &Halo, way: Way) -> bool {
    let mut rivals = halo.siblings(way.flipped()).map(Way::flipped);
    // What no read has goes beside what half of the reads have, but for what a deep end was filled
    // with; and it goes beside what leads on where it does not.
    let unseen = |way: Way| halo.count(way) == 0;
    let is_dead = |way: Way| unseen(way) && halo.next(way).is_empty();
    let is_deep = |&way: &Way| 100 * halo.count(way) >= GOES_ON * halo.kmers(way);
    let filled = || halo.next(way).iter().any(is_deep);
    rivals.any(|rival| {
        let (count, kmers) = (halo.count(rival), halo.kmers(rival));
        count >= DEEP * kmers && halo.is_below(way, THIN, rival)
            || unseen(way) && 2 * count >= kmers && !filled()
            || is_dead(way) && !is_dead(rival)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::{Verdict, left};
    use crate::graph::{Pieces, SharedGraph, compact};

    #[test]
    fn a_thin_branch_comes_off_and_stays() {
        let bases = |seed: u64, count: u64| {
            let codes = (0..count).map(move |at| (gyrase_kmer::mix(seed << 32 | at) >> 62) as u8);
            codes.collect::<Vec<u8>>()
        };
        let k = 11;
        let (before, behind, mut other) = (bases(1, 60), bases(2, 60), bases(3, 60));
        if other[0] == behind[0] {
            other[0] = 3 - other[0];
        }
        let end = &before[before.len() - (k - 1)..];
        for (thin, parts) in [(3, 2), (40, 3)] {
            let mut pieces = Pieces::default();
            pieces.push(&before, 50 * 100);
            pieces.push(&[end, &behind].concat(), 60 * 100);
            pieces.push(&[end, &other].concat(), 60 * thin);
            let graph = SharedGraph::alone(compact(k, &pieces, 1));
            let halo = Halo::of(&graph);
            let verdict = |way: Way| Verdict {
                goes: None,
                thin: [way, way.flipped()].map(|way| is_thin(&halo, way)),
            };
            let verdicts: Vec<Verdict> = halo.own().map(verdict).collect();
            let graph = compact(k, &left(graph.own(), &verdicts), 1);
            // Both are joined where the third is not beside them, which loses a base.
            assert_eq!(graph.len(), parts);
            let bases = 60 + 60 + 60 + 10 + if parts == 3 { 10 } else { -1 };
            assert_eq!(graph.total() as i64, bases);
        }
    }
}
