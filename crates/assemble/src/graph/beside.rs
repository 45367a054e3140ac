//! k-mers beside the nodes of a graph, which may begin and end in the middle of nodes.

use gyrase_fabric::{FabricError, World, all_to_all};
use gyrase_table::Bloom;
use gyrase_work::run_of;

use super::nodes::{Graph, kmer_of};
use super::sequences::Stretch;
use crate::among::Among;
use crate::rolling::Rolling;
use crate::together::{Counted, bytes_of, of_bytes, owner};
use crate::way::Way;

/// Room in the filter for each k-mer that is beside: few others pass it then.
const ROOM: usize = 8;

/// The nodes of this process, cut wherever one of some k-mers may follow or be followed, and those
/// of the k-mers that the graph has not: the graph of both may be made of them. Each process has
/// the k-mers that fall to it, in their canonical form, ascending.
///
/// Collective.
pub fn beside<const W: usize>(
    graph: &Graph,
    kmers: Vec<Counted<W>>,
    among: &Among,
) -> Result<(Vec<Stretch>, Vec<Counted<W>>), FabricError> {
    let ends = Ends::of_all(graph.k(), &kmers, among)?;
    let (mut stretches, mut met) = (Vec::new(), Vec::new());
    let (mut codes, mut places) = (Vec::new(), Vec::new());
    for way in graph.nodes() {
        let k = graph.k();
        codes.clear();
        graph.bases(way).append_codes(&mut codes);
        ends.places(&codes, &mut places);
        let both = places.windows(2).filter(|two| two[0] + 1 == two[1]);
        met.extend(both.map(|two| kmer_of::<W>(&codes[two[0]..two[0] + k]).canonical(k)));
        push(graph, way, &places, &mut stretches);
    }
    let mut there = vec![false; kmers.len()];
    let word = |kmer| (owner(kmer, among.world.ranks()), bytes_of(kmer, 0));
    among.tell(&met, word, |bytes| {
        let (kmer, _) = of_bytes(bytes);
        if let Ok(place) = kmers.binary_search_by_key(&kmer, |counted| counted.0) {
            there[place] = true;
        }
    })?;
    let (mut there, mut kmers) = (there.into_iter(), kmers);
    kmers.retain(|_| !there.next().expect("there are as many"));
    Ok((stretches, kmers))
}

/// Adds a node, cut at some places: where its k-mers begin that are not to follow another.
fn push(graph: &Graph, way: Way, places: &[usize], stretches: &mut Vec<Stretch>) {
    let kmers = graph.kmers(way) as usize;
    let inner = places
        .iter()
        .copied()
        .filter(|place| (1..kmers).contains(place));
    let mut from = 0;
    for to in inner.chain([kmers]) {
        stretches.push(Stretch {
            node: way.node() as u32,
            from: from as u32,
            kmers: (to - from) as u32,
            count: graph.count_of(way, (to - from) as u64),
        });
        from = to;
    }
}

/// The k-1 bases with which k-mers begin and end.
struct Ends {
    bases: usize,
    rolling: Rolling,
    filter: Bloom,
}

impl Ends {
    /// Those of the k-mers of all processes.
    ///
    /// Collective.
    fn of_all<const W: usize>(
        k: usize,
        kmers: &[Counted<W>],
        among: &Among,
    ) -> Result<Ends, FabricError> {
        let rolling = Rolling::new(k - 1);
        let mut filter = Bloom::default();
        filter.clear(ROOM * among.sum(kmers.len())? as usize);
        let mut codes = vec![0; k];
        for (kmer, _) in kmers {
            let bases = (0..k).rev().map(|place| kmer.base(place));
            codes
                .iter_mut()
                .zip(bases)
                .for_each(|(code, base)| *code = base);
            for end in [&codes[1..], &codes[..k - 1]] {
                filter.note(rolling.start(end).hash());
            }
        }
        unite(filter.words_mut(), among.world)?;
        Ok(Ends {
            bases: k - 1,
            rolling,
            filter,
        })
    }

    /// Where in a node k-1 bases begin that may be an end.
    fn places(&self, codes: &[u8], places: &mut Vec<usize>) {
        places.clear();
        let mut window = self.rolling.start(&codes[..self.bases]);
        for (place, &new) in codes[self.bases..].iter().enumerate() {
            if self.filter.has(window.hash()) {
                places.push(place);
            }
            window = self.rolling.next(window, codes[place], new);
        }
        if self.filter.has(window.hash()) {
            places.push(codes.len() - self.bases);
        }
    }
}

/// Makes bits those of all processes: each unites a run of them.
///
/// Collective.
fn unite(words: &mut [u64], world: &dyn World) -> Result<(), FabricError> {
    let ranks = world.ranks();
    if ranks == 1 {
        return Ok(());
    }
    let run = |rank: usize| run_of(words.len(), rank, ranks);
    let bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let runs = (0..ranks).map(|rank| bytes(&words[run(rank)]));
    let mut own = vec![0; run(world.rank()).len()];
    for bytes in all_to_all(world, runs.collect())? {
        let more = bytes
            .as_chunks()
            .0
            .iter()
            .map(|&word| u64::from_le_bytes(word));
        own.iter_mut()
            .zip(more)
            .for_each(|(word, more)| *word |= more);
    }
    let all = world.all_gather(&bytes(&own))?;
    let all = all.iter().flat_map(|bytes| bytes.as_chunks().0);
    let united = words.iter_mut().zip(all);
    united.for_each(|(word, &all)| *word = u64::from_le_bytes(all));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use gyrase_fabric::Alone;
    use gyrase_kmer::Kmer;
    use gyrase_work::Progress;
    use proptest::prelude::*;

    use super::*;
    use crate::graph::compact::compact_of;
    use crate::graph::{Extended, Pieces, compact};

    fn kmers(k: usize, text: &[u8]) -> BTreeSet<Kmer<1>> {
        let windows = text.windows(k);
        windows.map(|window| kmer_of(window).canonical(k)).collect()
    }

    fn graph(k: usize, kmers: &BTreeSet<Kmer<1>>) -> Graph {
        let mut pieces = Pieces::default();
        for kmer in kmers {
            let codes: Vec<u8> = (0..k).rev().map(|place| kmer.base(place)).collect();
            pieces.push(&codes, 1);
        }
        compact(k, &pieces, 1)
    }

    proptest! {
        #[test]
        fn the_graph_is_that_of_all_kmers(
            text in proptest::collection::vec(0..4u8, 7..90),
            other in proptest::collection::vec(0..4u8, 0..60),
            shared in 0..80usize,
        ) {
            let k = 5;
            let at = shared.min(text.len() - k);
            let other = [&other, &text[at..at + k], &other].concat();
            let (own, beside_them) = (kmers(k, &text), kmers(k, &other));
            let graph_of_own = graph(k, &own);
            let counted = beside_them.iter().map(|&kmer| (kmer, 1)).collect();
            let progress = Progress::default();
            let among = Among::of_test(&Alone, &progress);
            let (stretches, left) = beside(&graph_of_own, counted, &among).unwrap();
            let expected: Vec<_> = beside_them.difference(&own).map(|&kmer| (kmer, 1)).collect();
            prop_assert_eq!(&left, &expected);
            let all = Extended::of_stretches((&graph_of_own, k), stretches, &left);
            let made = compact_of(k, &all, 1);
            let expected = graph(k, &own.union(&beside_them).copied().collect());
            let nodes = |graph: &Graph| -> Vec<(Vec<u8>, u64)> {
                let node = |way| (graph.codes(way), graph.count(way));
                graph.nodes().map(node).collect()
            };
            prop_assert_eq!(nodes(&made), nodes(&expected));
        }
    }
}
