//! A graph in which nodes are joined.
//!
//! Every process knows all joins, and makes some of the chains: it asks for the nodes of these.
//! What else is left of the graph is left to the processes that have it. The ends of chains are
//! ends of nodes, so that the graph of all is made as that of any sequences.

use std::collections::{HashMap, HashSet};

use gyrase_kmer::{mix, with_words};

use super::links::turned;
use super::paths::Join;
use crate::among::Among;
use crate::asked::AskedNodes;
use crate::graph::{Pieces, SharedGraph, Way, compact_among, shape_of};
use crate::{BaseSlice, BaseString, Error};

/// The graph in which what `joins` says is one node. Nodes between stay where something else leads
/// through them. And how often two nodes were joined since nothing else is left behind one and
/// before the other.
///
/// Collective. The joins are those of all processes.
///
/// # Errors
/// Another process failed.
pub fn apply(
    graph: SharedGraph,
    joins: &[Join],
    among: &Among,
) -> Result<(SharedGraph, u64), Error> {
    let (k, next) = (graph.k(), Next::of(joins));
    let chains = next.chains();
    let gone = gone(&graph, joins, &chains, among)?;
    let world = among.world;
    let is_mine =
        |chain: &&Chain| mix(chain.ways[0].node() as u64) as usize % world.ranks() == world.rank();
    let mine: Vec<&Chain> = chains.iter().filter(is_mine).collect();
    let nodes = AskedNodes::of(&graph, next.ways(&mine).into_iter(), among)?;
    let (mut pieces, mut taken) = (Pieces::default(), Vec::new());
    for chain in mine {
        next.push(chain, &nodes, k, &mut taken, &mut pieces);
    }
    let own = graph.own();
    let mut counts: Vec<u64> = own.nodes().map(|way| own.count(way)).collect();
    graph.tell(&taken, among, |way, taken| {
        let count = &mut counts[way.node()];
        *count = count.saturating_sub(taken);
    })?;
    for way in own.nodes() {
        let number = graph.number(way);
        if !gone.contains(&way.node()) && !next.has(number) {
            pieces.push_bases(own.bases(way), counts[way.node()]);
        }
    }
    drop((nodes, graph));
    let all = among.sum(pieces.len())?;
    let joined = with_words!(shape_of(k), W => compact_among::<W>(k, &pieces, among))?;
    let freed = all - joined.len() as u64;
    Ok((joined, freed))
}

/// What is joined to what.
struct Next<'j> {
    /// The join behind each way, and whether it is read backward.
    joins: HashMap<Way, (&'j Join, bool)>,
}

/// Nodes that are joined to each other.
struct Chain {
    /// The node with the least number is read forward.
    ways: Vec<Way>,
    /// A join leads from the last to the first, which has the least number: it is left out.
    is_ring: bool,
}

impl<'j> Next<'j> {
    fn of(joins: &'j [Join]) -> Next<'j> {
        let both = |join: &'j Join| {
            [
                (join.from, (join, false)),
                (join.to.flipped(), (join, true)),
            ]
        };
        Next {
            joins: joins.iter().flat_map(both).collect(),
        }
    }

    fn has(&self, way: Way) -> bool {
        self.joins.contains_key(&way) || self.joins.contains_key(&way.flipped())
    }

    fn way(&self, way: Way) -> Option<Way> {
        let &(join, backward) = self.joins.get(&way)?;
        Some(if backward {
            join.from.flipped()
        } else {
            join.to
        })
    }

    /// The join behind a way, and the nodes between, as they follow it.
    fn behind(&self, way: Way) -> (&'j Join, Vec<Way>) {
        let (join, backward) = self.joins[&way];
        let mut path = join.path.clone();
        if backward {
            path.reverse();
            path.iter_mut().for_each(|way| *way = way.flipped());
        }
        (join, path)
    }

    /// All chains, in the order of their least nodes.
    fn chains(&self) -> Vec<Chain> {
        let mut nodes: Vec<usize> = self.joins.keys().map(|way| way.node()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let (mut seen, mut chains) = (HashSet::new(), Vec::new());
        for way in nodes.into_iter().map(Way::forward) {
            if seen.contains(&way.node()) {
                continue;
            }
            // Back to the beginning, or once around.
            let mut start = way.flipped();
            while let Some(before) = self.way(start).filter(|&before| before != way.flipped()) {
                start = before;
            }
            let mut ways = Vec::new();
            let mut at = Some(start.flipped());
            while let Some(way) = at.filter(|way| seen.insert(way.node())) {
                ways.push(way);
                at = self.way(way);
            }
            chains.push(Chain {
                is_ring: at == Some(ways[0]),
                ways,
            });
        }
        chains
    }
}

impl Next<'_> {
    /// The ways that chains are made of.
    fn ways(&self, chains: &[&Chain]) -> Vec<Way> {
        let mut ways = Vec::new();
        for chain in chains {
            ways.extend(&chain.ways);
            for two in chain.ways.windows(2) {
                ways.extend(self.behind(two[0]).1);
            }
        }
        ways
    }

    /// Writes a chain as a piece, and notes what it takes of the counts of the nodes between.
    fn push(
        &self,
        chain: &Chain,
        nodes: &AskedNodes,
        k: usize,
        taken: &mut Vec<(Way, u64)>,
        pieces: &mut Pieces,
    ) {
        let overlap = k - 1;
        let (mut bases, mut count) = (BaseString::default(), nodes.counts(chain.ways[0]).0);
        nodes.append(chain.ways[0], 0, &mut bases);
        for two in chain.ways.windows(2) {
            let (join, path) = self.behind(two[0]);
            let [one, other] = [two[0], two[1]].map(|way| nodes.counts(way));
            let depth_of = |kmers: u64| {
                let share = u128::from(one.0 + other.0) * u128::from(kmers);
                u64::try_from(share / u128::from(one.1 + other.1)).unwrap_or(u64::MAX)
            };
            for way in path {
                nodes.append(way, overlap, &mut bases);
                let share = depth_of(nodes.counts(way).1);
                taken.push((way, share));
                count += share;
            }
            nodes.append(two[1], join.overlap, &mut bases);
            // No read has the k-mers across a shorter overlap: they are as often there as others.
            count += other.0 + depth_of((overlap - join.overlap) as u64);
        }
        pieces.push_bases(BaseSlice::whole(&bases), count);
    }
}

/// The nodes of this process that nothing leads through any more, but joins.
///
/// Collective.
fn gone(
    graph: &SharedGraph,
    joins: &[Join],
    chains: &[Chain],
    among: &Among,
) -> Result<HashSet<usize>, Error> {
    let own = graph.own();
    let rings = chains.iter().filter(|chain| chain.is_ring);
    let ends = rings.flat_map(|ring| [ring.ways[0].flipped(), ring.ways[ring.ways.len() - 1]]);
    let cut: HashSet<Way> = ends.collect();
    // Edges of nodes of this process that a join has, and nothing else.
    let mut used = HashSet::new();
    let mut between = Vec::new();
    for join in joins.iter().filter(|join| !cut.contains(&join.from)) {
        // What a genome has once is left and entered once.
        let first = join.path.first().copied().unwrap_or(join.to);
        let last = join.path.last().copied().unwrap_or(join.from);
        for edge in [(join.from, first), (last, join.to)] {
            let both = [edge, turned(edge)].into_iter();
            used.extend(both.filter(|edge| graph.if_own(edge.0).is_some()));
        }
        between.extend(join.path.iter().filter_map(|&way| graph.if_own(way)));
    }
    between.sort_unstable_by_key(|way| way.node());
    between.dedup_by_key(|way| way.node());
    let mut gone = HashSet::new();
    // What nothing else leads into, or out of, was there for the joins.
    loop {
        let is_open = |way: Way| {
            let mut next = own.next(way).iter();
            next.any(|&next| !used.contains(&(graph.number(way), next)))
        };
        let is_through = |way: Way| is_open(way) && is_open(way.flipped());
        let (stay, go): (Vec<Way>, Vec<Way>) =
            between.into_iter().partition(|&way| is_through(way));
        if among.sum(go.len())? == 0 {
            return Ok(gone);
        }
        let edges = go
            .iter()
            .flat_map(|&way| [way, way.flipped()])
            .flat_map(|way| {
                let from = graph.number(way);
                own.next(way).iter().map(move |&to| turned((from, to)))
            });
        let edges: Vec<(Way, Way)> = edges.collect();
        let word =
            |(from, to): (Way, Way)| (graph.owner(from.node()), Way::two_to_bytes([from, to]));
        among.tell(&edges, word, |edge| {
            let [from, to] = Way::two_of_bytes(edge);
            used.insert((from, to));
        })?;
        gone.extend(go.iter().map(|way| way.node()));
        between = stay;
    }
}

#[cfg(test)]
mod tests {
    use gyrase_fabric::Steal;
    use gyrase_fabric::testing::run;
    use gyrase_work::Progress;

    use super::*;
    use crate::graph::compact;

    #[test]
    fn what_joins_lead_around_is_a_ring_in_any_processes() {
        let k = 21;
        let random = |from: u64, bases: u64| -> Vec<u8> {
            let codes = (from..from + bases).map(|at| (mix(at) >> 62) as u8);
            codes.collect()
        };
        let (one, other, repeat) = (random(0, 200), random(1000, 150), random(2000, 60));
        let ring = [&one[..], &repeat, &other, &repeat].concat();
        let around: Vec<u8> = ring
            .iter()
            .cycle()
            .take(ring.len() + k - 1)
            .copied()
            .collect();
        let mut kmers: Vec<Vec<u8>> = Vec::new();
        for window in around.windows(k) {
            let turned: Vec<u8> = window.iter().rev().map(|code| 3 - code).collect();
            kmers.push(turned.min(window.to_vec()));
        }
        kmers.sort_unstable();
        kmers.dedup();
        let mut pieces = Pieces::default();
        kmers.iter().for_each(|kmer| pieces.push(kmer, 6));
        let graph = compact(k, &pieces, 1);
        assert_eq!(graph.len(), 3);
        let with = |codes: &[u8]| {
            let codes = &codes[codes.len() / 2..][..k];
            let has = |way: &Way| graph.codes(*way).windows(k).any(|window| window == codes);
            graph.ways().find(has).expect("it is there")
        };
        let [one, other, between] = [&one, &other, &repeat].map(|codes| with(codes));
        let join = |from, to| Join {
            from,
            path: vec![between],
            overlap: k - 1,
            to,
            pairs: 9,
        };
        for joins in [
            vec![join(one, other), join(other, one)],
            vec![join(one, other)],
        ] {
            for ranks in 1..4 {
                let made = run(ranks, Steal::default(), |process| {
                    let progress = Progress::default();
                    let among = Among::of_test(process, &progress);
                    let shared = SharedGraph::share_of(graph.clone(), process)?;
                    let (joined, freed) = apply(shared, &joins, &among)?;
                    Ok::<_, Error>((joined.copied(process)?, freed))
                });
                for made in made {
                    let (joined, freed) = made.expect("no process fails");
                    let contig = Way::forward(0);
                    assert_eq!((joined.len(), freed), (1, 1));
                    assert!(joined.is_circular(contig));
                    assert_eq!(joined.kmers(contig) as usize, ring.len());
                    let count = graph.nodes().map(|way| graph.count(way)).sum::<u64>();
                    assert_eq!(joined.count(contig), count);
                }
            }
        }
    }
}
