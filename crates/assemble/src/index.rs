//! Where a k-mer is in a graph.

use gyrase_kmer::mix;

use crate::graph::{Graph, Way};
use crate::rolling::Rolling;
use crate::{BaseSlice, Error};

/// The tag of an empty slot.
const EMPTY: u8 = 0;
/// Says of a place that the k-mer is at others, too.
const SEVERAL: u32 = 1 << 31;
/// The most neighbours of which one is kept.
const MOST: usize = 16;

/// The places of the `k`-mers of all nodes of a graph, `k` at most that of the graph: a hash table
/// of five bytes a slot, three quarters of it full.
///
/// It may keep one of some neighbours alone (a minimizer): of so many k-mers that follow each other
/// in a walk through the graph the one with the least hash.
pub struct Index<'g> {
    kmers: Kmers<'g>,
    /// Bits of the hash of each k-mer, and its place.
    tags: Vec<u8>,
    places: Vec<u32>,
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
    ) -> Result<Index<'g>, Error> {
        if graph.total() >= SEVERAL as usize {
            return Err(Error::TooLarge);
        }
        let kmers = Kmers {
            graph,
            k,
            neighbours: neighbours.min(k).clamp(1, MOST),
            rolling: Rolling::new(k),
        };
        let mut kept = 0;
        kmers.for_each_kept(|_, _| kept += 1);
        let slots = kept + kept / 3 + 1;
        let (mut tags, mut places) = (vec![EMPTY; slots], vec![0; slots]);
        kmers.for_each_kept(|hash, place| {
            let tag = tag_of(hash);
            let slot = slots_from(hash, slots).find(|&slot| {
                tags[slot] == EMPTY || tags[slot] == tag && kmers.are_same(places[slot], place)
            });
            let slot = slot.expect("a quarter of the slots is empty");
            match tags[slot] {
                EMPTY => (tags[slot], places[slot]) = (tag, place),
                _ => places[slot] |= SEVERAL,
            }
        });
        Ok(Index {
            kmers,
            tags,
            places,
        })
    }

    /// Bases of a k-mer.
    pub fn k(&self) -> usize {
        self.kmers.k
    }

    /// Neighbours of which one is kept.
    pub fn neighbours(&self) -> usize {
        self.kmers.neighbours
    }

    /// The one place of a window in the graph; nothing where there is none, or several.
    #[inline]
    fn find(&self, hash: u64, window: &[u8]) -> Option<(Way, usize)> {
        let tag = tag_of(hash);
        for slot in slots_from(hash, self.tags.len()) {
            if self.tags[slot] == EMPTY {
                return None;
            }
            if self.tags[slot] == tag {
                let place = self.places[slot];
                let (way, at) = self.kmers.graph.at((place & !SEVERAL) as usize);
                if let Some(found) = self.kmers.way(way, at, window) {
                    return (place < SEVERAL).then_some(found);
                }
            }
        }
        None
    }

    /// The first window of `codes` at or behind `from` that is kept: where it begins, and its
    /// place. Of minimizers, only those are looked up whose neighbours are there, too.
    pub fn first(&self, codes: &[u8], from: usize) -> Option<(usize, Way, usize)> {
        let Kmers { k, rolling, .. } = self.kmers;
        if from + k > codes.len() {
            return None;
        }
        let mut window = rolling.start(&codes[from..from + k]);
        let mut least = Least::new(from, self.kmers.neighbours);
        let mut looked_up = None;
        for at in from.. {
            let (hash, place) = least.push(at, window.hash());
            let is_full = at + 1 - from >= self.kmers.neighbours;
            if is_full && looked_up != Some(place) {
                if let Some((way, offset)) = self.find(hash, &codes[place..place + k]) {
                    return Some((place, way, offset));
                }
                looked_up = Some(place);
            }
            if at + k == codes.len() {
                break;
            }
            window = rolling.next(window, codes[at], codes[at + k]);
        }
        None
    }
}

/// The k-mers of a graph of which some are kept.
#[derive(Clone, Copy)]
struct Kmers<'g> {
    graph: &'g Graph,
    k: usize,
    neighbours: usize,
    rolling: Rolling,
}

impl Kmers<'_> {
    /// Calls `each` with the hash and the place of every k-mer that is least among neighbours,
    /// wherever these begin. Those beyond the node are unknown: as if they were all greater.
    fn for_each_kept(&self, mut each: impl FnMut(u64, u32)) {
        let (mut start, mut codes) = (0, Vec::new());
        for way in self.graph.nodes() {
            codes.clear();
            self.graph.bases(way).append_codes(&mut codes);
            let kmers = codes.len() + 1 - self.k;
            let mut window = self.rolling.start(&codes[..self.k]);
            let mut least = Least::new(0, self.neighbours);
            let mut last = None;
            for at in 0..kmers + self.neighbours - 1 {
                let hash = if at < kmers { window.hash() } else { u64::MAX };
                let (hash, place) = least.push(at, hash);
                if last != Some(place) {
                    each(hash, (start + place) as u32);
                    last = Some(place);
                }
                if at + 1 < kmers {
                    window = self.rolling.next(window, codes[at], codes[at + self.k]);
                }
            }
            start += codes.len();
        }
    }

    /// Whether a kept place is that of the k-mer at another.
    fn are_same(&self, kept: u32, place: u32) -> bool {
        let at = |place: u32| self.graph.at((place & !SEVERAL) as usize);
        let ((way, at), (other, from)) = (at(kept), at(place));
        let window = self.graph.bases(other).slice(from..from + self.k);
        let places = self.places(way, at);
        places
            .into_iter()
            .any(|(way, at)| self.at(way, at) == window)
    }

    /// The direction of a node in which it has `window` at the place of `at` in the forward one.
    fn way(&self, way: Way, at: usize, window: &[u8]) -> Option<(Way, usize)> {
        let has = |&(way, at): &(Way, usize)| self.at(way, at).equal(window) == self.k;
        self.places(way, at).into_iter().find(has)
    }

    /// The place of a k-mer in both directions of a node, by that in the forward one.
    fn places(&self, way: Way, at: usize) -> [(Way, usize); 2] {
        let back = self.graph.length(way) - self.k - at;
        [(way, at), (way.flipped(), back)]
    }

    /// The k-mer at a place of a way.
    #[inline]
    fn at(&self, way: Way, at: usize) -> BaseSlice<'_> {
        self.graph.bases(way).slice(at..at + self.k)
    }
}

/// The least of the last hashes.
struct Least {
    neighbours: usize,
    hashes: [u64; MOST],
    place: usize,
}

impl Least {
    /// Of so many, from a place on.
    fn new(place: usize, neighbours: usize) -> Least {
        Least {
            neighbours,
            hashes: [u64::MAX; MOST],
            place,
        }
    }

    /// Adds the hash of the next place; the least, and its place, the first of equal ones.
    #[inline(always)]
    fn push(&mut self, at: usize, hash: u64) -> (u64, usize) {
        self.hashes[at % MOST] = hash;
        if at - self.place >= self.neighbours {
            let last = at + 1 - self.neighbours..=at;
            let least = last.min_by_key(|place| self.hashes[place % MOST]);
            self.place = least.expect("there is a neighbour");
        } else if hash < self.hashes[self.place % MOST] {
            self.place = at;
        }
        (self.hashes[self.place % MOST], self.place)
    }
}

/// The slots that the k-mer of a hash may be in, one after the other.
#[inline(always)]
fn slots_from(hash: u64, slots: usize) -> impl Iterator<Item = usize> {
    // Hashes that are kept are small.
    let first = ((u128::from(mix(hash)) * slots as u128) >> 64) as usize;
    (first..slots).chain(0..first)
}

/// Bits of a hash that do not say where its slot is.
#[inline(always)]
fn tag_of(hash: u64) -> u8 {
    (mix(hash) as u8).max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::{Pieces, compact};

    proptest! {
        #[test]
        fn one_of_any_neighbours_of_a_walk_is_found(
            genome in proptest::collection::vec(0..4u8, 20..200),
            neighbours in 1..20usize,
            from in 0..200usize,
            backward in proptest::bool::ANY,
        ) {
            let k = 11;
            let mut pieces = Pieces::default();
            let canonical = |window: &[u8]| -> Vec<u8> {
                let other: Vec<u8> = window.iter().rev().map(|code| 3 - code).collect();
                other.min(window.to_vec())
            };
            let mut kmers: Vec<Vec<u8>> = genome.windows(k).map(canonical).collect();
            kmers.sort_unstable();
            kmers.dedup();
            kmers.iter().for_each(|kmer| pieces.push(kmer, 1));
            let graph = compact(k, &pieces);
            let index = Index::of_minimizers(&graph, k, neighbours).expect("a small graph");
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
    }
}
