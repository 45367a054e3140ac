//! Joins the sequences that processes have together, and puts them in order.
//!
//! Each process hears what its sequences are joined to. What it can join by itself is a node, or a
//! run of a chain that goes on in others: chains of runs are put together as those of unitigs are.
//! Then every process gets the nodes that are in its part of the order.

use gyrase_kmer::mix;

use super::compact::{Chain, Joins, compact_of};
use super::in_order::in_order;
use super::nodes::{Graph, Pieces};
use super::sequences::Sequences;
use super::shared::SharedGraph;
use crate::Error;
use crate::among::Among;
use crate::meetings::{Overlap, Shared, meet};
use crate::numbering::Numbering;
use crate::unitigs::{NONE, RunEnd, Runs, collate, end_of, entered};
use crate::way::Way;

/// The graph of the sequences of all processes: [`compact_of`].
///
/// Collective.
pub fn compact_among<const W: usize>(
    k: usize,
    sequences: &impl Sequences<W>,
    among: &Among,
) -> Result<SharedGraph, Error> {
    if among.world.ranks() == 1 {
        return Ok(SharedGraph::alone(compact_of(k, sequences, among.threads)));
    }
    let (pieces, numbering) = in_order(&joined(k, sequences, among)?, among)?;
    SharedGraph::of_nodes::<W>(Graph::of(k, pieces), numbering, among)
}

/// What the sequences of all processes make where they are joined: some of it in each.
fn joined<const W: usize>(
    k: usize,
    sequences: &impl Sequences<W>,
    among: &Among,
) -> Result<Pieces, Error> {
    let numbering = Numbering::of_processes(among.world, sequences.len())?;
    if 2 * numbering.len() >= NONE as usize {
        return Err(Error::TooLarge);
    }
    let all = Shared {
        len: sequences.len(),
        ends: &|sequence| sequences.ends(sequence, k - 1),
        number: &|sequence| numbering.number(sequence),
        owner: &|number| numbering.owner(number),
    };
    let only = |overlap: &Overlap, joined: &mut Vec<_>| {
        if overlap.only_pair().is_some() {
            joined.extend(overlap.edges().map(|edge| Way::two_to_bytes(edge.ways)));
        }
    };
    let mut joins = Joins::none(sequences.len());
    // What ways are followed by in other processes.
    let mut beyond: Vec<Option<Way>> = vec![None; 2 * sequences.len()];
    meet(k, all, among, only, |joined| {
        let [from, to] = Way::two_of_bytes(joined);
        let here = |way: Way| way.of_node(numbering.own_place(way.node()));
        match numbering.owner(to.node()) == among.world.rank() {
            true => joins.join(here(from), here(to)),
            false => beyond[here(from).index()] = Some(to),
        }
    })?;
    let (mut pieces, mut runs) = (Pieces::default(), Runs::new(k));
    joins.for_each_chain(k, sequences, |ways, chain| {
        let ends = [ways[0].flipped(), ways[ways.len() - 1]];
        let next = ends.map(|end| beyond[end.index()]);
        if next != [None; 2] {
            let ends = [0, 1].map(|side| run_end(ends[side], next[side], &numbering, among));
            runs.push(chain.bases, chain.count, ends);
        } else {
            pieces.push_chain(k, &chain);
        }
    });
    drop((joins, beyond));
    if among.sum(runs.len())? > 0 {
        add_chains(&runs, &numbering, k, among, &mut pieces)?;
    }
    Ok(pieces)
}

/// The end of a run that a way leads out of, and where that goes on.
fn run_end(way: Way, beyond: Option<Way>, numbering: &Numbering, among: &Among) -> RunEnd {
    let left = way.of_node(numbering.number(way.node()));
    let end = end_of(left.node(), entered(left).other());
    // Chains are named by an end, and come to any process.
    let bin = (u128::from(mix(end.into())) * among.place.partitions as u128) >> 64;
    RunEnd {
        end,
        bin: bin as u32,
        kmer: end,
        joined: beyond.map_or(NONE, |next| end_of(next.node(), entered(next))),
    }
}

/// Adds what runs of several processes make.
///
/// Collective.
fn add_chains(
    runs: &Runs,
    numbering: &Numbering,
    k: usize,
    among: &Among,
    pieces: &mut Pieces,
) -> Result<(), Error> {
    for (linear, rings) in collate(runs, numbering, k, among)? {
        pieces.add(&linear.unitigs);
        for ring in rings {
            pieces.push_chain(
                k,
                &Chain {
                    bases: &ring.bases,
                    count: ring.count_sum,
                    is_ring: true,
                },
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use gyrase_fabric::testing::run;
    use gyrase_fabric::{Steal, World};
    use gyrase_work::Progress;
    use proptest::prelude::*;

    use super::*;
    use crate::graph::{Halo, compact};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn processes_make_the_graph_of_one_and_see_what_is_around(
            texts in proptest::collection::vec(proptest::collection::vec(0..4u8, 5..90), 0..4),
            rings in proptest::collection::vec(proptest::collection::vec(0..4u8, 1..14), 0..3),
            ranks in 2..6usize,
            dealt in any::<u64>(),
            edges in 0..3usize,
        ) {
            let k = 5;
            let ring = |ring: &Vec<u8>| -> Vec<u8> {
                ring.iter().cycle().take(ring.len() + k - 1).copied().collect()
            };
            let texts: Vec<_> = texts.into_iter().chain(rings.iter().map(ring)).collect();
            let all = Pieces::of_texts(k, texts.iter().zip(1..));
            let expected = compact(k, &all, 1);
            let made = run(ranks, Steal::default(), |process| {
                let progress = Progress::default();
                let among = Among::of_test(process, &progress);
                let mut own = Pieces::default();
                for piece in 0..all.len() {
                    if mix(dealt ^ piece as u64) as usize % ranks == World::rank(process) {
                        own.push_bases(all.bases(piece), all.counts[piece]);
                    }
                }
                let shared = compact_among::<1>(k, &own, &among)?;
                let mut halo = Halo::of(&shared);
                let seen = halo.seen(halo.own(), process, |halo, &way| {
                    [way, way.flipped()].map(|way| seen(halo, way, edges))
                })?;
                let own: Vec<usize> = shared.own_numbers().collect();
                Ok::<_, Error>((own, seen, shared.copied(process)?))
            });
            let expected = SharedGraph::alone(expected);
            let halo = Halo::of(&expected);
            for way in expected.own().ways() {
                let next = halo.next(way);
                let leads_there = |&other: &Way| halo.next(other) == next && !next.is_empty();
                let mut lead: Vec<Way> = expected.own().ways().filter(leads_there).collect();
                prop_assert_eq!(halo.in_degree_of_next(way), lead.len());
                lead.retain(|&other| other != way);
                prop_assert_eq!(lead, siblings_of(&halo, way));
            }
            for made in made {
                let (own, seen_here, whole) = made.unwrap();
                prop_assert_eq!(whole.told(), expected.own().told());
                for (node, seen_here) in own.into_iter().zip(seen_here) {
                    let way = Way::forward(node);
                    let ways = [way, way.flipped()];
                    prop_assert_eq!(seen_here, ways.map(|way| seen(&halo, way, edges)));
                }
            }
        }
    }

    /// The siblings of a way, ascending.
    fn siblings_of(graph: &Halo, way: Way) -> Vec<Way> {
        let mut siblings: Vec<Way> = graph.siblings(way).collect();
        siblings.sort_unstable();
        siblings
    }

    /// What is seen from a way of what follows it, so many edges far.
    fn seen(graph: &Halo, way: Way, edges: usize) -> String {
        let (length, count) = (graph.length(way), graph.count(way));
        let next = graph.next(way).iter().filter(|_| edges > 0);
        let next: Vec<String> = next.map(|&next| seen(graph, next, edges - 1)).collect();
        let (ahead, back) = (graph.next(way).len(), graph.next(way.flipped()).len());
        let (siblings, next) = (siblings_of(graph, way), next.join(", "));
        format!("{length} {count} {ahead} {back} {siblings:?} [{next}]")
    }
}
