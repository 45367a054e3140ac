//! Joins sequences where there is nothing to choose.

use std::ops::Range;

use gyrase_kmer::{Key, Kmer, with_words};
use gyrase_work::{in_threads, run_of};

use super::nodes::{Graph, Pieces, shape_of};
use super::sequences::{Extended, Sequences};
use crate::meetings::Overlap;
use crate::way::Way;
use crate::{BaseSlice, BaseString};

/// Ends of sequences that are looked at together; tests have few.
const AT_ONCE: usize = if cfg!(test) { 1 << 5 } else { 1 << 20 };
/// Ends for which it pays to start a thread.
const LEAST: usize = AT_ONCE >> 5;

/// [`compact_of`] some pieces.
#[cfg(test)]
pub fn compact(k: usize, pieces: &Pieces, threads: usize) -> Graph {
    with_words!(shape_of(k), W => compact_of::<W>(k, pieces, threads))
}

/// The graph of some sequences of at least `k` bases, no k-mer in two of them: where one sequence
/// alone ends with k-1 bases and one alone begins with them they are joined.
pub fn compact_of<const W: usize>(
    k: usize,
    sequences: &impl Sequences<W>,
    threads: usize,
) -> Graph {
    let mut graph = Graph::of(k, Joins::of(k, sequences, threads).pieces(k, sequences));
    let edges = with_words!(shape_of(k), W => edges::<W>(&graph, threads));
    graph.set_edges(edges, Vec::new());
    graph
}

/// All overlaps of k-1 bases, in both directions.
fn edges<const W: usize>(graph: &Graph, threads: usize) -> Vec<(Way, Way)> {
    let nodes = Extended::<W>::of((graph, graph.k()), |way| graph.count(way), &[]);
    let all = |overlap: &Overlap, pairs: &mut Vec<_>| pairs.extend(overlap.pairs());
    let mut edges = Vec::new();
    for_each_pair(graph.k(), &nodes, threads, all, |(one, other)| {
        edges.push((one, other));
        edges.push((other.flipped(), one.flipped()));
    });
    edges
}

/// Calls `each` for the pairs of ways that `find` adds for each overlap, in any order. Only a part
/// of all ends is in memory at a time, which threads share.
fn for_each_pair<const W: usize>(
    k: usize,
    sequences: &impl Sequences<W>,
    threads: usize,
    find: impl Fn(&Overlap, &mut Vec<(Way, Way)>) + Sync,
    mut each: impl FnMut((Way, Way)),
) {
    let all = 2 * sequences.len();
    let threads = threads.min(all / LEAST).max(1);
    let parts = all.div_ceil(AT_ONCE);
    for part in 0..parts {
        let shares = (0..threads).map(|thread| run_of(sequences.len(), thread, threads));
        let ends_of = |share| ends_of(k, sequences, share, (part * threads, threads), parts);
        let mut shares = in_threads(shares.collect(), ends_of);
        let of_thread = |thread: usize| {
            let ends = shares.iter_mut();
            ends.map(|ends| std::mem::take(&mut ends[thread])).collect()
        };
        let ends: Vec<Vec<Vec<End>>> = (0..threads).map(of_thread).collect();
        let found = in_threads(ends, |lists| {
            let ends = lists.concat();
            drop(lists);
            pairs_of(k, sequences, ends, &find)
        });
        found.into_iter().flatten().for_each(&mut each);
    }
}

/// The ends of a share of the sequences whose hashes are in some parts of all: lists for these
/// parts, from `first` on. Of as many parts there are `times` as many.
fn ends_of<const W: usize>(
    k: usize,
    sequences: &impl Sequences<W>,
    share: Range<usize>,
    (first, parts): (usize, usize),
    times: usize,
) -> Vec<Vec<End>> {
    let mut ends = vec![Vec::new(); parts];
    let all = (times * parts) as u128;
    for sequence in share {
        let way = Way::forward(sequence);
        let own = sequences.ends(sequence, k - 1);
        for (kmer, begins) in own.into_iter().zip([true, false]) {
            let other = kmer.reverse_complement(k - 1);
            let hash = Key::from(kmer.min(other)).0[0];
            let part = ((u128::from(hash) * all) >> 64) as usize;
            let Some(ends) = part.checked_sub(first).and_then(|part| ends.get_mut(part)) else {
                continue;
            };
            if kmer <= other {
                ends.push(End::of(hash, way, begins));
            }
            // Both for a palindrome.
            if other <= kmer {
                ends.push(End::of(hash, way.flipped(), !begins));
            }
        }
    }
    ends
}

/// The pairs that `find` adds for the overlaps of some ends, which are all of their hashes.
fn pairs_of<const W: usize>(
    k: usize,
    sequences: &impl Sequences<W>,
    mut ends: Vec<End>,
    find: impl Fn(&Overlap, &mut Vec<(Way, Way)>),
) -> Vec<(Way, Way)> {
    let (mut equal, mut ways, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    ends.sort_unstable();
    let alike = ends.chunk_by(|one, other| one.hash() == other.hash());
    for alike in alike.filter(|alike| alike.len() > 1) {
        let with_kmer = |end: &End| (end.kmer(k, sequences), end.begins(), end.way());
        equal.clear();
        equal.extend(alike.iter().map(with_kmer));
        equal.sort_unstable();
        for equal in equal.chunk_by(|one, other| one.0 == other.0) {
            ways.clear();
            ways.extend(equal.iter().map(|end| end.2));
            let (before, behind) = ways.split_at(equal.partition_point(|end| !end.1));
            let kmer = equal[0].0;
            let overlap = Overlap {
                before,
                behind,
                palindrome: kmer == kmer.reverse_complement(k - 1),
            };
            find(&overlap, &mut pairs);
        }
    }
    pairs
}

/// An end of a sequence in a word: some of the hash of its k-1 bases, whether a way begins with
/// them or ends, and the way: that which has the lesser of the two strands there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End(u64);

impl End {
    /// Lower bits of the hash: the upper ones say which part of all ends it is in.
    fn of(hash: u64, way: Way, begins: bool) -> End {
        End(hash << 33 | u64::from(begins) << 32 | way.index() as u64)
    }

    fn hash(self) -> u64 {
        self.0 >> 33
    }

    fn begins(self) -> bool {
        self.0 >> 32 & 1 == 1
    }

    fn way(self) -> Way {
        Way::of_index(self.0 as u32 as usize)
    }

    /// The k-1 bases.
    fn kmer<const W: usize>(self, k: usize, sequences: &impl Sequences<W>) -> Kmer<W> {
        let way = self.way();
        let [first, last] = sequences.ends(way.node(), k - 1);
        match (self.begins(), way.is_backward()) {
            (true, false) => first,
            (false, false) => last,
            (true, true) => last.reverse_complement(k - 1),
            (false, true) => first.reverse_complement(k - 1),
        }
    }
}

/// What is joined to what.
pub struct Joins {
    /// The way behind each way, where they are joined, or else its own other direction: what goes
    /// on with its own other strand is never joined.
    next: Vec<Way>,
}

impl Joins {
    pub fn none(sequences: usize) -> Joins {
        let ways = (0..2 * sequences).map(Way::of_index);
        Joins {
            next: ways.map(Way::flipped).collect(),
        }
    }

    fn of<const W: usize>(k: usize, sequences: &impl Sequences<W>, threads: usize) -> Joins {
        let only = |overlap: &Overlap, pairs: &mut Vec<_>| pairs.extend(overlap.only_pair());
        let mut joins = Joins::none(sequences.len());
        for_each_pair(k, sequences, threads, only, |(one, other)| {
            joins.join(one, other);
            joins.join(other.flipped(), one.flipped());
        });
        joins
    }

    /// Says that a way is followed by another; its other direction has to be said as well.
    pub fn join(&mut self, from: Way, to: Way) {
        self.next[from.index()] = to;
    }

    fn next(&self, way: Way) -> Option<Way> {
        Some(self.next[way.index()]).filter(|&next| next != way.flipped())
    }

    /// The first way of the chain that a way is in, and whether the chain is a ring.
    fn start(&self, way: Way) -> (Way, bool) {
        let mut at = way.flipped();
        while let Some(before) = self.next(at) {
            if before == way.flipped() {
                return (way, true);
            }
            at = before;
        }
        (at.flipped(), false)
    }

    /// What is joined.
    fn pieces<const W: usize>(&self, k: usize, sequences: &impl Sequences<W>) -> Pieces {
        let mut joined = Pieces::default();
        self.for_each_chain(k, sequences, |_, made| {
            joined.push_chain(k, &made);
        });
        joined
    }

    /// Calls `each` with the ways of each chain, and what they make together.
    pub fn for_each_chain<const W: usize>(
        &self,
        k: usize,
        sequences: &impl Sequences<W>,
        mut each: impl FnMut(&[Way], Chain),
    ) {
        let mut seen = vec![false; sequences.len()];
        let (mut chain, mut bases) = (Vec::new(), BaseString::default());
        for sequence in 0..sequences.len() {
            if seen[sequence] {
                continue;
            }
            let (start, is_ring) = self.start(Way::forward(sequence));
            bases.clear();
            let (mut at, mut count, mut overlap) = (Some(start), 0, 0);
            while let Some(way) = at.filter(|way| !seen[way.node()]) {
                seen[way.node()] = true;
                sequences.append(way, overlap, &mut bases);
                count += sequences.count(way.node());
                overlap = k - 1;
                at = self.next(way);
                chain.push(way);
            }
            let bases = &bases;
            each(
                &chain,
                Chain {
                    bases,
                    count,
                    is_ring,
                },
            );
            chain.clear();
        }
    }
}

/// What sequences make that are joined.
pub struct Chain<'c> {
    pub bases: &'c BaseString,
    /// The sum of the counts of its k-mers.
    pub count: u64,
    /// Its end meets its beginning: the first k-1 bases are at its end again.
    pub is_ring: bool,
}

impl Pieces {
    /// Adds a chain in its definite form; true where it is the other strand now.
    pub fn push_chain(&mut self, k: usize, chain: &Chain) -> bool {
        let turned = push_normal(k, chain.bases, chain.is_ring, &mut self.bases);
        self.close(chain.count);
        turned
    }
}

/// Appends a sequence in the lesser of its directions, and of a ring the least of all its
/// rotations; true where it is now the other strand.
fn push_normal(k: usize, bases: &BaseString, ring: bool, to: &mut BaseString) -> bool {
    let all = 0..bases.len();
    if !ring {
        let turned = bases.reverse_is_lesser();
        match turned {
            false => to.append(bases, all),
            true => to.append_reverse_complement(bases, all),
        }
        return turned;
    }
    let kmers = bases.len() - (k - 1);
    let least = |codes: &[u8]| -> Vec<u8> {
        let start = least_rotation(&codes[..kmers]);
        let turned = codes[..kmers].iter().cycle().skip(start);
        turned.take(kmers + k - 1).copied().collect()
    };
    let codes = BaseSlice::of(bases, all).codes();
    let other: Vec<u8> = complement(&codes).collect();
    let (one, other) = (least(&codes), least(&other));
    let turned = other < one;
    to.push_codes(if turned { &other } else { &one });
    turned
}

/// The codes of the other strand.
fn complement(codes: &[u8]) -> impl Iterator<Item = u8> {
    codes.iter().rev().map(|code| 3 - code)
}

/// Where the least rotation begins (Duval's and Booth's two candidates that race each other).
fn least_rotation(codes: &[u8]) -> usize {
    let len = codes.len();
    let (mut one, mut other, mut equal) = (0, 1, 0);
    while one < len && other < len && equal < len {
        let (a, b) = (codes[(one + equal) % len], codes[(other + equal) % len]);
        if a == b {
            equal += 1;
            continue;
        }
        if a > b {
            one += equal + 1;
        } else {
            other += equal + 1;
        }
        if one == other {
            other += 1;
        }
        equal = 0;
    }
    one.min(other)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_least_rotation_is_least() {
        let texts: [&[u8]; 5] = [
            &[0],
            &[1, 0],
            &[3, 1, 2, 1, 2],
            &[0, 0, 0],
            &[1, 0, 1, 0, 1],
        ];
        for text in texts {
            let rotation = |start: usize| [&text[start..], &text[..start]].concat();
            let least = (0..text.len()).map(rotation).min().unwrap();
            assert_eq!(rotation(least_rotation(text)), least);
        }
    }

    /// The k-mers of some sequences, in their canonical form, and how often each is there.
    fn kmers(k: usize, texts: impl Iterator<Item = Vec<u8>>) -> BTreeMap<Vec<u8>, usize> {
        let mut kmers = BTreeMap::new();
        for text in texts {
            for window in text.windows(k) {
                let other: Vec<u8> = complement(window).collect();
                *kmers.entry(other.min(window.to_vec())).or_default() += 1;
            }
        }
        kmers
    }

    /// Each k-mer of some texts as a piece.
    fn pieces(k: usize, texts: &[Vec<u8>]) -> (Pieces, BTreeMap<Vec<u8>, usize>) {
        let kmers = kmers(k, texts.iter().cloned());
        let mut pieces = Pieces::default();
        kmers.keys().for_each(|kmer| pieces.push(kmer, 1));
        (pieces, kmers)
    }

    fn check(k: usize, graph: &Graph, expected: &BTreeMap<Vec<u8>, usize>) {
        let found = kmers(k, graph.nodes().map(|way| graph.codes(way)));
        assert!(found.keys().eq(expected.keys()));
        assert!(
            found.values().all(|&times| times == 1),
            "no k-mer is in two nodes"
        );
        for way in graph.ways() {
            let codes = graph.codes(way);
            let follows = |next: &Way| graph.codes(*next)[..k - 1] == codes[codes.len() - k + 1..];
            let expected: Vec<Way> = graph.ways().filter(follows).collect();
            let mut found = graph.next(way).to_vec();
            found.sort();
            assert_eq!(found, expected);
            // What could be joined is joined.
            if let [next] = graph.next(way) {
                let choice = graph.before(*next).len() > 1 || *next == way.flipped();
                assert!(choice || next.node() == way.node(), "{way:?} {next:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn nodes_are_the_longest_without_a_choice_in_any_order(
            texts in proptest::collection::vec(
                proptest::collection::vec(0..4u8, 5..60), 0..6),
            rings in proptest::collection::vec(proptest::collection::vec(0..4u8, 1..12), 0..3),
            turn in 0..1000usize,
            threads in 1..4usize,
        ) {
            let k = 5;
            let ring = |ring: &Vec<u8>| -> Vec<u8> {
                ring.iter().cycle().take(ring.len() + k - 1).copied().collect()
            };
            let texts: Vec<Vec<u8>> = texts.into_iter().chain(rings.iter().map(ring)).collect();
            let (pieces, kmers) = pieces(k, &texts);
            let graph = compact(k, &pieces, threads);
            check(k, &graph, &kmers);
            // The other way round, and some pieces on their other strand.
            let mut others = Pieces::default();
            for piece in (0..pieces.len()).rev() {
                let codes = pieces.bases(piece).codes();
                let other: Vec<u8> = complement(&codes).collect();
                others.push(if (piece + turn) % 3 == 0 { &other } else { &codes }, 1);
            }
            let again = compact(k, &others, 1);
            let text = |graph: &Graph| -> Vec<Vec<u8>> {
                graph.nodes().map(|way| graph.codes(way)).collect()
            };
            prop_assert_eq!(text(&graph), text(&again));
        }
    }
}
