//! k-mers beside the nodes of a graph, which may begin and end in the middle of nodes.

use std::iter::repeat;
use std::ops::Range;

use gyrase_fabric::FabricError;
use gyrase_kmer::mix;
use gyrase_table::Bloom;

use super::nodes::Graph;
use super::sequences::Stretch;
use crate::among::Among;
use crate::rolling::Rolling;
use crate::together::{Counted, bytes_of, of_bytes, owner};
use crate::way::Way;

/// Room in the filter for each end of a k-mer that is beside: few others pass it then.
const ROOM: usize = 4;
/// Bases of nodes that are looked up at once, but for those of a longer one.
const AT_ONCE: usize = 1 << 18;

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
    let (ends, k) = (Ends::of_all(graph.k(), &kmers, among)?, graph.k());
    let (mut stretches, mut met) = (Vec::new(), Vec::new());
    let (mut codes, mut hashes, mut places) = (Vec::new(), Vec::new(), Vec::new());
    let batches = batches(graph);
    let most = among.most(batches.len())? as usize;
    for batch in batches.into_iter().chain(repeat(0..0)).take(most) {
        hashes.clear();
        for way in batch.clone().map(Way::forward) {
            codes.clear();
            graph.bases(way).append_codes(&mut codes);
            ends.hash(&codes, &mut hashes);
        }
        let mut are_ends = ends.are_there(&hashes, among)?.into_iter();
        for way in batch.map(Way::forward) {
            let all = graph.length(way) + 2 - k;
            places.clear();
            places.extend(
                (0..all)
                    .zip(&mut are_ends)
                    .filter_map(|(place, is_end)| is_end.then_some(place)),
            );
            let both = places.windows(2).filter(|two| two[0] + 1 == two[1]);
            met.extend(both.map(|two| graph.bases(way).kmer::<W>(two[0], k).canonical(k)));
            push(graph, way, &places, &mut stretches);
        }
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
            // Whatever the cuts, what is joined again has what it had.
            count: graph.count_of(way, to as u64) - graph.count_of(way, from as u64),
        });
        from = to;
    }
}

/// Runs of nodes of so many bases that these are looked up at once.
fn batches(graph: &Graph) -> Vec<Range<usize>> {
    let (mut batches, mut from) = (Vec::new(), 0);
    for node in 0..graph.len() {
        let bases = graph.start(Way::forward(node)) - graph.start(Way::forward(from));
        if bases + graph.length(Way::forward(node)) > AT_ONCE && node > from {
            batches.push(from..node);
            from = node;
        }
    }
    batches.push(from..graph.len());
    batches
}

/// The k-1 bases with which k-mers begin and end, each at the process that it falls to.
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
        let (rolling, mut codes) = (Rolling::new(k - 1), vec![0; k]);
        let hashes = kmers.iter().flat_map(|(kmer, _)| {
            let bases = (0..k).rev().map(|place| kmer.base(place));
            codes.clear();
            codes.extend(bases);
            [&codes[1..], &codes[..k - 1]].map(|end| rolling.start(end).hash())
        });
        let hashes: Vec<u64> = hashes.collect();
        let mut fallen = Vec::new();
        among.tell(&hashes, |hash| key_of(hash, among), |key| fallen.push(key))?;
        let mut filter = Bloom::default();
        filter.clear(ROOM * fallen.len());
        for key in fallen {
            filter.note(hash_of(key));
        }
        Ok(Ends {
            bases: k - 1,
            rolling,
            filter,
        })
    }

    /// Appends the hashes of all k-1 bases of a node.
    fn hash(&self, codes: &[u8], hashes: &mut Vec<u64>) {
        let mut window = self.rolling.start(&codes[..self.bases]);
        for (place, &new) in codes[self.bases..].iter().enumerate() {
            hashes.push(window.hash());
            window = self.rolling.next(window, codes[place], new);
        }
        hashes.push(window.hash());
    }

    /// Whether each of some may be an end.
    ///
    /// Collective.
    fn are_there(&self, hashes: &[u64], among: &Among) -> Result<Vec<bool>, FabricError> {
        let question = |hash| key_of(hash, among);
        let answer = |key| [u8::from(self.filter.has(hash_of(key)))];
        let answers = among.ask(hashes, question, answer)?;
        Ok(answers.into_iter().map(|[answer]| answer > 0).collect())
    }
}

/// The process that a hash falls to, by its upper half, and the lower half.
fn key_of(hash: u64, among: &Among) -> (usize, [u8; 4]) {
    let rank = ((hash >> 32) * among.world.ranks() as u64) >> 32;
    (rank as usize, (hash as u32).to_le_bytes())
}

/// A hash of the lower half of one.
fn hash_of(key: [u8; 4]) -> u64 {
    mix(u32::from_le_bytes(key).into())
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
    use crate::graph::kmer_of;
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
