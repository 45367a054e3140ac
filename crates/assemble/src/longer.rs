//! From a cleaned graph to that of a larger k.
//!
//! A k-mer of the larger k is kept, **even if it was seen once**, when all smaller k-mers in it are
//! in the cleaned smaller graph: then it is a walk through that graph which some read took. So it
//! is not k-mers that are counted anew, but walks that are followed. A k-mer within one node is
//! implied by the node, and nothing has to be looked up: a node of at least k bases goes along as
//! it is, with the number of reads' k-mers in it. One that crosses an edge, and is in its two nodes
//! alone, has a number at a place of that edge. Only k-mers that are in more nodes are collected,
//! and these are few.
//!
//! Reads are thin at large k, and a k-mer of the genome may be in none of them. Then an end is left
//! that had a continuation in the smaller graph; it would look as if the other branch of a repeat
//! were the only one. So such ends are **filled**: all ways on through the smaller graph are added,
//! until they meet what is there. That makes a choice where there is one, and never takes one. In a
//! metagenome the thin genomes end everywhere, and what they have in common with others would make
//! choices there; so nothing is added that leads to where reads of something else lead.

mod counts;
mod crossings;
mod fill;
mod found;
mod larger_kmer;
mod surroundings;

use gyrase_kmer::with_words;

use crate::among::Among;
use crate::config::{AssemblyError, Sample};
use crate::graph::{Heads, SharedGraph, compact_among, shape_of};
use crate::reads::ReadBlocks;
use crate::strains;
use crate::walks::{Searched, Walks};
use found::Found;

/// Neighbouring k-mers of which one is looked up.
const NEIGHBOURS: usize = 8;

/// The graph of `k`-mers, for a `k` larger than that of `graph`.
///
/// Collective.
///
/// # Errors
/// Somebody cancelled, or another process failed.
pub fn longer(
    graph: &SharedGraph,
    reads: &dyn ReadBlocks,
    k: usize,
    sample: Sample,
    among: &Among,
) -> Result<SharedGraph, AssemblyError> {
    with_words!(shape_of(k), W => longer_of::<W>(graph, reads, k, sample, among))
}

fn longer_of<const W: usize>(
    graph: &SharedGraph,
    reads: &dyn ReadBlocks,
    k: usize,
    sample: Sample,
    among: &Among,
) -> Result<SharedGraph, AssemblyError> {
    // A larger k-mer has more smaller ones than these.
    let neighbours = NEIGHBOURS.min(k - graph.k());
    let searched = Searched::of(graph, among)?;
    let walks = Walks::of(&searched, neighbours)?;
    let mut found = Found::<W>::of(&walks, reads, k, among)?;
    let heads = Heads::of(graph, found.crossings.behind(), k - 1, among.world)?;
    let sides = match sample.is_mixed() {
        true => Some(strains::sides(graph, among.world)?),
        false => None,
    };
    let mut larger = compact_among(k, &found.sequences(&heads), among)?;
    for _ in 0..fill::ROUNDS {
        let filled = fill::filled(&walks, &larger, &found, sides.as_deref(), among)?;
        if among.sum(filled.len())? == 0 {
            break;
        }
        found.merge(&filled);
        // Its memory goes before there is another.
        drop(larger);
        larger = compact_among(k, &found.sequences(&heads), among)?;
    }
    Ok(larger)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use gyrase_fabric::testing::run;
    use gyrase_fabric::{Alone, Steal, World};
    use gyrase_work::Progress;
    use proptest::prelude::*;

    use super::*;
    use crate::graph::{Pieces, compact};
    use crate::reads::{Reads, TestShare};

    fn canonical(window: &[u8]) -> Vec<u8> {
        let other: Vec<u8> = window.iter().rev().map(|code| 3 - code).collect();
        other.min(window.to_vec())
    }

    fn kmers(k: usize, texts: impl Iterator<Item = Vec<u8>>) -> BTreeSet<Vec<u8>> {
        let of_text = |text: Vec<u8>| text.windows(k).map(canonical).collect::<Vec<_>>();
        texts.flat_map(of_text).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn what_is_kept_has_all_smaller_kmers_and_was_seen_or_leads_on(
            genome in proptest::collection::vec(0..4u8, 30..120),
            reads in proptest::collection::vec((0..100usize, 10..40usize, 0..200usize), 0..30),
            without in proptest::collection::vec(0..100usize, 0..4),
            (threads, ranks) in (1..4usize, 2..5usize),
            is_mixed in any::<bool>(),
        ) {
            let (small, k) = (5, 11);
            let keep_strains = true;
            let sample = match is_mixed {
                true => Sample::Metagenome { keep_strains },
                false => Sample::Isolate,
            };
            let reads: Vec<Vec<u8>> = reads
                .into_iter()
                .map(|(start, length, wrong)| {
                    let start = start % genome.len();
                    let end = (start + length).min(genome.len());
                    let mut read = genome[start..end].to_vec();
                    if let Some(code) = read.get_mut(wrong) {
                        *code = 3 - *code;
                    }
                    read
                })
                .collect();
            let mut pieces = Pieces::default();
            for kmer in kmers(small, [genome.clone()].into_iter()) {
                pieces.push(&kmer, 1);
            }
            let graph = compact(small, &pieces, 1);
            let graph = compact(small, &graph.kept(|node| !without.contains(&node)), 1);
            let there = kmers(small, graph.nodes().map(|way| graph.codes(way)));
            let is_kept = |window: &[u8]| {
                window.windows(small).all(|kmer| there.contains(&canonical(kmer)))
            };
            let seen = reads.iter().flat_map(|read| read.windows(k));
            let seen: Vec<Vec<u8>> =
                seen.filter(|window| is_kept(window)).map(canonical).collect();
            let times = seen.len() as u64;
            let mut expected: BTreeSet<Vec<u8>> = seen.into_iter().collect();
            expected.extend(kmers(k, graph.nodes().map(|way| graph.codes(way))));

            let blocks: Vec<_> = reads.iter().map(|read| [read.clone()]).collect();
            let stored = Reads::of_blocks(&blocks);
            let progress = Progress::default();
            let among = Among {
                threads,
                ..Among::of_test(&Alone, &progress)
            };
            let alone = SharedGraph::alone(graph.clone());
            let made = longer(&alone, &stored, k, sample, &among).unwrap();
            let made = made.own();
            // Several processes make the same.
            let shared = run(ranks, Steal::default(), |process| {
                let progress = Progress::default();
                let among = Among::of_test(process, &progress);
                let own = SharedGraph::share_of(graph.clone(), process)?;
                let reads = TestShare {
                    blocks: &stored,
                    own: (process.rank()..reads.len()).step_by(ranks).collect(),
                };
                let made = longer(&own, &reads, k, sample, &among)?;
                Ok::<_, AssemblyError>(made.copied(process)?)
            });
            for shared in shared {
                let shared = shared.unwrap();
                prop_assert_eq!(shared.told(), made.told());
            }
            let found = kmers(k, made.nodes().map(|way| made.codes(way)));
            prop_assert!(found.is_superset(&expected));
            prop_assert_eq!(made.nodes().map(|way| made.count(way)).sum::<u64>(), times);
            // What was filled is a walk too.
            prop_assert!(found.iter().all(|kmer| is_kept(kmer)));
        }
    }
}
