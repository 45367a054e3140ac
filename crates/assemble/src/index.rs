//! Where a k-mer is in a graph.

use std::ops::Range;

use gyrase_work::{in_threads, run_of};

use crate::graph::{Graph, Way};
use crate::minimizers::{Minimizers, Scheme};
use crate::places::{self, Places};
use crate::reads::Block;
use crate::{BaseSlice, Error};

/// k-mers whose places are asked for before the first of them is added.
const AHEAD: usize = 32;
/// Reads that are looked up at a time.
const AT_ONCE: usize = 16;

/// The places of the `k`-mers of all nodes of a graph, `k` at most that of the graph: a hash table
/// of 16 bytes for three slots, four fifths of it full.
///
/// It may keep one of some neighbours alone (a minimizer): of so many k-mers that follow each other
/// in a walk through the graph the one with the least hash.
pub struct Index<'g> {
    kmers: Kmers<'g>,
    places: Places,
}

impl<'g> Index<'g> {
    /// The index of one of so many neighbours, or of somewhat fewer: what has fewer k-mers that
    /// follow each other may not be found.
    ///
    /// # Errors
    /// [`Error::TooLarge`]: the graph has 2^31 bases or more.
    pub fn of_minimizers(
        graph: &'g Graph,
        k: usize,
        neighbours: usize,
        threads: usize,
    ) -> Result<Index<'g>, Error> {
        if graph.total() > places::END {
            return Err(Error::TooLarge);
        }
        let kmers = Kmers {
            graph,
            scheme: Scheme::new(k, neighbours),
        };
        let kept = kmers.by_threads(threads, |nodes| kmers.kept(nodes));
        let places = Places::with_room_for(kept.iter().sum());
        kmers.by_threads(threads, |nodes| kmers.put(nodes, &places));
        Ok(Index { kmers, places })
    }

    /// Bases of a k-mer.
    pub fn k(&self) -> usize {
        self.kmers.scheme.k()
    }

    /// Neighbours of which one is kept.
    pub fn neighbours(&self) -> usize {
        self.kmers.scheme.neighbours()
    }

    /// The one place of a window in the graph; nothing where there is none, or several.
    #[inline]
    fn find(&self, hash: u64, window: &[u8]) -> Option<(Way, usize)> {
        self.places.of(hash).find_map(|(place, is_only)| {
            let (way, at) = self.kmers.graph.at(place as usize);
            let found = self.kmers.way(way, at, window)?;
            Some(is_only.then_some(found))
        })?
    }

    /// Calls `each` with every read of a block, in their order, and its minimizers. Those of some
    /// reads are asked for at a time, so that memory is waited for together.
    pub fn for_each_read(&self, block: &Block, mut each: impl FnMut(&[u8], Option<Minimizers>)) {
        block.for_each_some(AT_ONCE, |reads| {
            let mut minimizers = [const { None }; AT_ONCE];
            for (minimizers, read) in minimizers.iter_mut().zip(reads) {
                *minimizers = self.minimizers(read, 0);
            }
            for (minimizers, read) in minimizers.into_iter().zip(reads) {
                each(read, minimizers);
            }
        });
    }

    /// The first window of `codes` at or behind `from` that is kept: where it begins, and its
    /// place. Of minimizers, only those are looked up whose neighbours are there, too.
    pub fn first(&self, codes: &[u8], from: usize) -> Option<(usize, Way, usize)> {
        self.first_of(codes, self.minimizers(codes, from))
    }

    /// The same of those minimizers.
    pub fn first_of(
        &self,
        codes: &[u8],
        minimizers: Option<Minimizers>,
    ) -> Option<(usize, Way, usize)> {
        let mut minimizers = minimizers?;
        loop {
            let (hash, place) = minimizers.least();
            if let Some((way, offset)) = self.find(hash, &codes[place..place + self.k()]) {
                return Some((place, way, offset));
            }
            minimizers.go_on(&self.kmers.scheme, codes)?;
        }
    }

    /// The minimizers of a sequence from a place on, if it is long enough; the place of the first
    /// is asked for.
    #[inline]
    pub fn minimizers(&self, codes: &[u8], from: usize) -> Option<Minimizers> {
        let minimizers = self.kmers.scheme.minimizers(codes, from)?;
        self.places.prefetch(minimizers.least().0);
        Some(minimizers)
    }
}

/// The k-mers of a graph of which some are kept.
#[derive(Clone, Copy)]
struct Kmers<'g> {
    graph: &'g Graph,
    scheme: Scheme,
}

impl Kmers<'_> {
    /// Does something with the nodes of each thread: of about as many bases.
    fn by_threads<T: Send>(
        &self,
        threads: usize,
        work: impl Fn(Range<usize>) -> T + Sync,
    ) -> Vec<T> {
        let bases = (0..threads).map(|thread| run_of(self.graph.total(), thread, threads));
        let first = |place| self.graph.first_from(place);
        let nodes = bases.map(|bases| first(bases.start)..first(bases.end));
        in_threads(nodes.collect(), work)
    }

    /// How many k-mers of some nodes are kept.
    fn kept(&self, nodes: Range<usize>) -> usize {
        let mut kept = 0;
        self.for_each_kept(nodes, |_, _| kept += 1);
        kept
    }

    /// Adds the k-mers of some nodes that are kept.
    fn put(&self, nodes: Range<usize>, places: &Places) {
        let mut waiting = [(0, 0); AHEAD];
        let mut count = 0;
        let add = |(hash, place)| {
            places.add(hash, place, |kept, place| self.are_same(kept, place));
        };
        self.for_each_kept(nodes, |hash, place| {
            places.prefetch(hash);
            let before = std::mem::replace(&mut waiting[count % AHEAD], (hash, place));
            if count >= AHEAD {
                add(before);
            }
            count += 1;
        });
        waiting[..count.min(AHEAD)].iter().copied().for_each(add);
    }

    /// Calls `each` with the hash and the place of every k-mer of some nodes that is kept.
    fn for_each_kept(&self, nodes: Range<usize>, mut each: impl FnMut(u64, u32)) {
        let mut codes = Vec::new();
        for way in nodes.map(Way::forward) {
            let start = self.graph.start(way);
            codes.clear();
            self.graph.bases(way).append_codes(&mut codes);
            for (hash, place) in self.scheme.kept(&codes) {
                each(hash, (start + place) as u32);
            }
        }
    }

    /// Whether a kept place is that of the k-mer at another.
    fn are_same(&self, kept: u32, place: u32) -> bool {
        let at = |place: u32| self.graph.at(place as usize);
        let ((way, at), (other, from)) = (at(kept), at(place));
        let window = self.graph.bases(other).slice(from..from + self.scheme.k());
        let places = self.places(way, at);
        places
            .into_iter()
            .any(|(way, at)| self.at(way, at) == window)
    }

    /// The direction of a node in which it has `window` at the place of `at` in the forward one.
    fn way(&self, way: Way, at: usize, window: &[u8]) -> Option<(Way, usize)> {
        let has = |&(way, at): &(Way, usize)| self.at(way, at).equal(window) == self.scheme.k();
        self.places(way, at).into_iter().find(has)
    }

    /// The place of a k-mer in both directions of a node, by that in the forward one.
    fn places(&self, way: Way, at: usize) -> [(Way, usize); 2] {
        let back = self.graph.length(way) - self.scheme.k() - at;
        [(way, at), (way.flipped(), back)]
    }

    /// The k-mer at a place of a way.
    #[inline]
    fn at(&self, way: Way, at: usize) -> BaseSlice<'_> {
        self.graph.bases(way).slice(at..at + self.scheme.k())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::{Pieces, compact};

    fn canonical(window: &[u8]) -> Vec<u8> {
        let other: Vec<u8> = window.iter().rev().map(|code| 3 - code).collect();
        other.min(window.to_vec())
    }

    /// The graph of the k-mers of a sequence.
    fn graph_of(genome: &[u8], k: usize) -> Graph {
        let mut kmers: Vec<Vec<u8>> = genome.windows(k).map(canonical).collect();
        kmers.sort_unstable();
        kmers.dedup();
        let mut pieces = Pieces::default();
        kmers.iter().for_each(|kmer| pieces.push(kmer, 1));
        compact(k, &pieces, 1)
    }

    proptest! {
        #[test]
        fn one_of_any_neighbours_of_a_walk_is_found(
            genome in proptest::collection::vec(0..4u8, 20..200),
            neighbours in 1..20usize,
            from in 0..200usize,
            backward in proptest::bool::ANY,
            threads in 1..4usize,
        ) {
            let k = 11;
            let graph = graph_of(&genome, k);
            let index = Index::of_minimizers(&graph, k, neighbours, threads);
            let index = index.expect("a small graph");
            let mut walk = genome;
            if backward {
                walk = walk.iter().rev().map(|code| 3 - code).collect();
            }
            let kmers = walk.len() + 1 - k;
            let found = index.first(&walk, from);
            prop_assert_eq!(found.is_some(), from + index.neighbours() <= kmers);
            if let Some((at, way, offset)) = found {
                prop_assert!((from..from + index.neighbours()).contains(&at));
                prop_assert_eq!(&graph.codes(way)[offset..offset + k], &walk[at..at + k]);
            }
        }

        #[test]
        fn what_is_at_one_place_alone_is_found(
            genome in proptest::collection::vec(0..2u8, 20..300),
            threads in 1..4usize,
        ) {
            let (k, shorter) = (11, 7);
            let graph = graph_of(&genome, k);
            let index = Index::of_minimizers(&graph, shorter, 1, threads);
            let index = index.expect("a small graph");
            let nodes: Vec<Vec<u8>> = graph.nodes().map(|way| graph.codes(way)).collect();
            let windows = nodes.iter().flat_map(|codes| codes.windows(shorter));
            let all: Vec<Vec<u8>> = windows.map(canonical).collect();
            for window in &all {
                let places = all.iter().filter(|other| *other == window).count();
                prop_assert_eq!(index.first(window, 0).is_some(), places == 1);
            }
        }
    }
}
