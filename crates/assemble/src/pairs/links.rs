//! Where mates are in a graph.

use std::collections::HashMap;

use gyrase_fabric::FabricError;

use super::mates::{ANCHOR, Begin, Mates, NEIGHBOURS};
use crate::among::Among;
use crate::config::AssemblyError;
use crate::graph::{Graph, SharedGraph, Way};
use crate::index::Index;
use crate::over_bins::over_bins;
use crate::reads::{Block, ReadBlocks};

/// Bases of the longest fragment that is measured.
const LONGEST: usize = 4096;
/// Fragments are measured in nodes of so many bases or more: short ones hold short fragments only.
const LONG: i64 = 2 * LONGEST as i64;

/// Fragments that go from one node to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// How many.
    pub pairs: u64,
    /// Bases that they have in both nodes together.
    pub bases: i64,
}

/// Links by the ways that they leave and enter.
pub type Links = HashMap<(Way, Way), Link>;

/// What mates say.
pub struct Found {
    /// How many fragments within long nodes have each length.
    pub inserts: Vec<u64>,
    /// Fragments between nodes, in both directions: those that leave nodes of this process.
    pub links: Links,
}

/// Finds all mates.
///
/// Collective.
///
/// # Errors
/// The graph is too large, another process failed, or somebody cancelled.
pub fn find(
    graph: &SharedGraph,
    reads: &dyn ReadBlocks,
    among: &Among,
) -> Result<Found, AssemblyError> {
    among.progress.start("pairs", reads.count() as u64);
    let (kmers, ranks) = (graph.kmers(among)?, among.world.ranks());
    let own = match ranks {
        1 => Found::here(graph.own(), reads, among)?,
        _ if among.has_whole(kmers, is_small(kmers, among.bases, ranks as u64)) => {
            Found::here(&graph.copied(among.world)?, reads, among)?
        }
        _ => Found::by_anchors(graph, reads, among)?,
    };
    Ok(own.told(graph, among)?)
}

/// Whether a process indexes all of a graph of so many k-mers sooner than it asks others about
/// reads of so many bases. In an index a k-mer takes as long as ten bases take to be asked about,
/// and among so many processes as long as 22: each has a share of them then.
fn is_small(kmers: u64, bases: u64, ranks: u64) -> bool {
    kmers <= bases && kmers * (10 * ranks).saturating_sub(22) <= bases * ranks
}

impl Default for Found {
    fn default() -> Found {
        Found {
            inserts: vec![0; LONGEST + 1],
            links: Links::new(),
        }
    }
}

impl Found {
    /// What mates say of a graph that is all here.
    fn here(graph: &Graph, reads: &dyn ReadBlocks, among: &Among) -> Result<Found, AssemblyError> {
        let anchor = ANCHOR.min(graph.k());
        let index = Index::of_minimizers(graph, anchor, NEIGHBOURS, among.threads)?;
        let blocks: Vec<usize> = (0..reads.count()).collect();
        let states = (0..among.threads).map(|_| Found::default()).collect();
        let find = |found: &mut Found, block| {
            found.block(graph, &index, &*reads.get(block)?);
            Ok::<_, AssemblyError>(())
        };
        let found = over_bins(states, &blocks, among.progress, find)?;
        let mut all = Found::default();
        for one in found {
            let inserts = all.inserts.iter_mut().zip(one.inserts);
            inserts.for_each(|(sum, more)| *sum += more);
            let links = one.links.into_iter();
            links.for_each(|(key, more)| all.add(key, more));
        }
        Ok(all)
    }

    /// What mates say whose anchors are looked up by all processes.
    ///
    /// Collective.
    fn by_anchors(
        graph: &SharedGraph,
        reads: &dyn ReadBlocks,
        among: &Among,
    ) -> Result<Found, AssemblyError> {
        let mut own = Found::default();
        let mates = Mates::of(graph, among)?;
        mates.for_each_pair(reads, |one, other| own.pair(one, other))?;
        Ok(own)
    }

    /// What all processes found, of the nodes of this one.
    ///
    /// Collective.
    fn told(self, graph: &SharedGraph, among: &Among) -> Result<Found, FabricError> {
        let mut all = Found {
            inserts: among.world.sum(&self.inserts)?,
            links: Links::new(),
        };
        let both = |(key, link): (&(Way, Way), &Link)| [(*key, *link), (turned(*key), *link)];
        let links: Vec<_> = self.links.iter().flat_map(both).collect();
        let word =
            |(key, link): ((Way, Way), Link)| (graph.owner(key.0.node()), link.to_bytes(key));
        among.tell(&links, word, |bytes| {
            let (key, link) = Link::of_bytes(bytes);
            all.add(key, link);
        })?;
        Ok(all)
    }

    fn block(&mut self, graph: &Graph, index: &Index, block: &Block) {
        if !block.paired {
            return;
        }
        let (mut first, mut is_second) = (None, false);
        index.for_each_read(block, |read, minimizers| {
            // Where the read would begin in the way, whatever is before its anchor.
            let place = || {
                let (at, way, offset) = index.first_of(read, minimizers)?;
                Some(Begin {
                    way,
                    offset: offset as i64 - at as i64,
                    length: graph.length(way) as i64,
                })
            };
            if !is_second {
                first = place();
            } else if let (Some(one), Some(other)) = (first, place()) {
                self.pair(one, other);
            }
            is_second = !is_second;
        });
    }

    /// Adds a fragment whose strands begin so.
    fn pair(&mut self, one: Begin, other: Begin) {
        let (from, to) = (one.way, other.way.flipped());
        let end = other.length - other.offset;
        if from == to && end > one.offset {
            let length = (end - one.offset) as usize;
            if one.length >= LONG && length <= LONGEST {
                self.inserts[length] += 1;
            }
            return;
        }
        if from.node() == to.node() {
            return;
        }
        let link = Link {
            pairs: 1,
            bases: one.length - one.offset + end,
        };
        self.add((from, to).min(turned((from, to))), link);
    }

    fn add(&mut self, key: (Way, Way), more: Link) {
        let link = self.links.entry(key).or_default();
        link.pairs += more.pairs;
        link.bases += more.bases;
    }
}

/// The same edge or link in the other direction.
pub fn turned((from, to): (Way, Way)) -> (Way, Way) {
    (to.flipped(), from.flipped())
}

/// Bytes of a link as it travels.
const LINK: usize = 24;

impl Link {
    /// With its ways, as it travels.
    pub fn to_bytes(self, (from, to): (Way, Way)) -> [u8; LINK] {
        let mut bytes = [0; LINK];
        bytes[..4].copy_from_slice(&from.to_bytes());
        bytes[4..8].copy_from_slice(&to.to_bytes());
        bytes[8..16].copy_from_slice(&self.pairs.to_le_bytes());
        bytes[16..].copy_from_slice(&self.bases.to_le_bytes());
        bytes
    }

    /// What [`to_bytes`](Link::to_bytes) made.
    pub fn of_bytes(bytes: [u8; LINK]) -> ((Way, Way), Link) {
        let word = |at: usize| bytes.as_chunks::<8>().0[at];
        let ways = [0, 1].map(|way| Way::of_bytes(bytes.as_chunks().0[way]));
        let link = Link {
            pairs: u64::from_le_bytes(word(1)),
            bases: i64::from_le_bytes(word(2)),
        };
        (ways.into(), link)
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use gyrase_fabric::testing::run;
    use gyrase_fabric::{Alone, Steal, World};
    use gyrase_work::Progress;
    use proptest::prelude::*;

    use super::*;
    use crate::graph::{Pieces, compact};
    use crate::reads::{Reads, TestShare};

    /// Reads that are mates in turn.
    struct Mates<'b>(TestShare<'b>);

    impl ReadBlocks for Mates<'_> {
        fn count(&self) -> usize {
            self.0.count()
        }

        fn get(&self, number: usize) -> Result<Cow<'_, Block>, FabricError> {
            let mut block = self.0.get(number)?.into_owned();
            block.paired = true;
            Ok(Cow::Owned(block))
        }
    }

    fn complement(codes: &[u8]) -> Vec<u8> {
        codes.iter().rev().map(|code| (7 - code) % 4).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn processes_find_the_links_of_one(
            genome in proptest::collection::vec(0..4u8, 200..600),
            repeat in (0..150usize, 0..40usize, 0..150usize),
            fragments in proptest::collection::vec(
                (0..500usize, 30..90usize, 20..60usize, 0..90usize, any::<bool>()), 1..40),
            (k, ranks, bases) in (prop_oneof![Just(11usize), Just(33)], 2..5usize, 0..2u64),
        ) {
            let mut genome = genome;
            let (from, length, to) = repeat;
            genome.copy_within(from..from + length, to);
            let (mut pieces, mut kmers) = (Pieces::default(), Vec::new());
            for window in genome.windows(k) {
                kmers.push(window.to_vec().min(complement(window)));
            }
            kmers.sort_unstable();
            kmers.dedup();
            kmers.iter().for_each(|kmer| pieces.push(kmer, 1));
            let graph = compact(k, &pieces, 1);
            let blocks = fragments.iter().map(|&(start, length, read, wrong, flips)| {
                let end = (start + length).min(genome.len());
                let mut fragment = genome[start.min(end - 1)..end].to_vec();
                if let Some(code) = fragment.get_mut(wrong) {
                    *code = if wrong % 3 == 0 { 4 } else { 3 - *code };
                }
                let ends = [fragment.clone(), complement(&fragment)];
                let mut mates = ends.map(|codes| codes[..read.min(codes.len())].to_vec());
                if flips {
                    mates.reverse();
                }
                mates.to_vec()
            });
            let blocks: Vec<Vec<Vec<u8>>> = blocks.collect();
            let reads = Reads::of_blocks(&blocks);
            let share = |rank: usize, ranks: usize| {
                let own = (rank..reads.count()).step_by(ranks).collect();
                Mates(TestShare { blocks: &reads, own })
            };
            let progress = Progress::default();
            let among = Among::of_test(&Alone, &progress);
            let expected = find(&SharedGraph::alone(graph.clone()), &share(0, 1), &among);
            let expected = expected.expect("it is alone");
            let made = run(ranks, Steal::default(), |process| {
                let progress = Progress::default();
                let among = Among {
                    bases: bases * 100_000,
                    ..Among::of_test(process, &progress)
                };
                let shared = SharedGraph::share_of(graph.clone(), process)?;
                find(&shared, &share(World::rank(process), ranks), &among)
            });
            let mut links = Links::new();
            for made in made {
                let made = made.expect("no process fails");
                prop_assert_eq!(&made.inserts, &expected.inserts);
                links.extend(made.links);
            }
            prop_assert_eq!(&links, &expected.links);
        }
    }
}
