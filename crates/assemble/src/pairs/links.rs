//! Where mates are in a graph.

use std::collections::HashMap;

use gyrase_fabric::{FabricError, World};
use gyrase_kmer::mix;

use super::anchors::Anchors;
use crate::among::Among;
use crate::config::AssemblyError;
use crate::graph::{Graph, Way};
use crate::index::Index;
use crate::over_bins::over_bins;
use crate::reads::{Block, ReadBlocks};
use crate::together::summed;

/// Bases of an anchor, where the k-mers of the graph have as many.
pub const ANCHOR: usize = 31;
/// Neighbouring k-mers of which one is an anchor: an index of all takes more than the graph does.
pub const NEIGHBOURS: usize = 2;
/// Bases of the longest fragment that is measured.
const LONGEST: usize = 4096;
/// Fragments are measured in nodes of so many bases or more: short ones hold short fragments only.
const LONG: usize = 2 * LONGEST;

/// Fragments that go from one node to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// How many.
    pub pairs: u64,
    /// Bases that they have in both nodes together.
    pub bases: i64,
}

/// Links by the ways that they leave and enter, in both directions.
pub type Links = HashMap<(Way, Way), Link>;

/// What mates say.
pub struct Found {
    /// How many fragments within long nodes have each length.
    pub inserts: Vec<u64>,
    /// Fragments between nodes.
    pub links: Links,
}

/// The way that a read begins in, and how many bases behind its first.
pub type Begin = (Way, i64);

/// Finds all mates.
///
/// Collective.
///
/// # Errors
/// The graph is too large, another process failed, or somebody cancelled.
pub fn find(graph: &Graph, reads: &dyn ReadBlocks, among: &Among) -> Result<Found, AssemblyError> {
    among.progress.start("pairs", reads.count() as u64);
    let mut all = match among.world.ranks() {
        1 => Found::here(graph, reads, among)?,
        _ => Found::of_processes(graph, reads, among)?,
    };
    let flipped: Vec<_> = all
        .links
        .iter()
        .map(|(&(from, to), &link)| ((to.flipped(), from.flipped()), link))
        .collect();
    all.links.extend(flipped);
    Ok(all)
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
    /// What the mates say that are all here.
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
        found.into_iter().for_each(|one| all.add(one));
        Ok(all)
    }

    /// What the mates of all processes say.
    ///
    /// Collective.
    fn of_processes(
        graph: &Graph,
        reads: &dyn ReadBlocks,
        among: &Among,
    ) -> Result<Found, AssemblyError> {
        let mut all = Found::default();
        let anchors = Anchors::of(graph, among)?;
        anchors.for_each_pair(reads, |one, other| all.pair(graph, one, other))?;
        all.of_all(among.world)?;
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
                Some((way, offset as i64 - at as i64))
            };
            if !is_second {
                first = place();
            } else if let (Some(one), Some(other)) = (first, place()) {
                self.pair(graph, one, other);
            }
            is_second = !is_second;
        });
    }

    /// Adds a fragment whose strands begin so.
    fn pair(&mut self, graph: &Graph, (from, start): Begin, (back, end): Begin) {
        let (to, end) = (back.flipped(), graph.length(back) as i64 - end);
        if from == to && end > start {
            let length = (end - start) as usize;
            if graph.length(from) >= LONG && length <= LONGEST {
                self.inserts[length] += 1;
            }
            return;
        }
        if from.node() == to.node() {
            return;
        }
        let key = (from, to).min((to.flipped(), from.flipped()));
        let link = self.links.entry(key).or_default();
        link.pairs += 1;
        link.bases += graph.length(from) as i64 - start + end;
    }

    /// Makes it what all processes found.
    ///
    /// Collective.
    fn of_all(&mut self, world: &dyn World) -> Result<(), FabricError> {
        self.inserts = world.sum(&self.inserts)?;
        let row = |(&(from, to), link): (&(Way, Way), &Link)| {
            let key = (from.index() as u64) << 32 | to.index() as u64;
            (mix(key), [key], [link.pairs, link.bases as u64])
        };
        let own: Vec<_> = self.links.iter().map(row).collect();
        let all = summed(world, &own)?.into_iter();
        let link = |([key], [pairs, bases]): ([u64; 1], [u64; 2])| {
            let ways = [key >> 32, key & u64::from(u32::MAX)];
            let [from, to] = ways.map(|index| Way::of_index(index as usize));
            let bases = bases as i64;
            ((from, to), Link { pairs, bases })
        };
        self.links = all.map(link).collect();
        Ok(())
    }

    fn add(&mut self, other: Found) {
        let inserts = self.inserts.iter_mut().zip(other.inserts);
        inserts.for_each(|(sum, more)| *sum += more);
        for (key, more) in other.links {
            let link = self.links.entry(key).or_default();
            link.pairs += more.pairs;
            link.bases += more.bases;
        }
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
            (k, ranks) in (prop_oneof![Just(11usize), Just(33)], 2..5usize),
        ) {
            let mut genome = genome;
            let (from, bases, to) = repeat;
            genome.copy_within(from..from + bases, to);
            let (mut pieces, mut kmers) = (Pieces::default(), Vec::new());
            for window in genome.windows(k) {
                kmers.push(window.to_vec().min(complement(window)));
            }
            kmers.sort_unstable();
            kmers.dedup();
            kmers.iter().for_each(|kmer| pieces.push(kmer, 1));
            let graph = compact(k, &pieces, 1);
            let blocks: Vec<Vec<Vec<u8>>> = fragments.iter().map(|&(start, length, read, wrong, flips)| {
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
            }).collect();
            let reads = Reads::of_blocks(&blocks);
            let share = |rank: usize, ranks: usize| {
                let own = (rank..reads.count()).step_by(ranks).collect();
                Mates(TestShare { blocks: &reads, own })
            };
            let progress = Progress::default();
            let among = Among::of_test(&Alone, &progress);
            let expected = find(&graph, &share(0, 1), &among).unwrap();
            let made = run(ranks, Steal::default(), |process| {
                let progress = Progress::default();
                let among = Among::of_test(process, &progress);
                find(&graph, &share(World::rank(process), ranks), &among)
            });
            for made in made {
                let made = made.unwrap();
                prop_assert_eq!(&made.links, &expected.links);
                prop_assert_eq!(&made.inserts, &expected.inserts);
            }
        }
    }
}
