//! Where a k-mer is in a graph.

use gyrase_kmer::mix;

use crate::graph::{Graph, Way};
use crate::rolling::{Rolling, Window};

/// An empty slot.
const EMPTY: u64 = 0;
/// The place of a k-mer that is in several.
const MANY: u64 = (1 << 31) - 1;
/// Bits of a slot that are a place plus one; the others are of the hash.
const PLACE: u32 = 31;

/// The places of the `k`-mers of all nodes of a graph, `k` at most that of the graph: a hash table
/// of eight bytes a slot, at most two thirds of it full.
pub struct Index<'g> {
    graph: &'g Graph,
    k: usize,
    rolling: Rolling,
    slots: Vec<u64>,
}

impl<'g> Index<'g> {
    /// The index of a graph.
    ///
    /// # Panics
    /// When the graph has 2^31 bases or more.
    pub fn of(graph: &'g Graph, k: usize) -> Index<'g> {
        assert!(
            (graph.bases() as u64) < MANY,
            "a graph has less than 2^31 bases"
        );
        let slots = vec![EMPTY; slots_of(graph.bases() as u64) as usize];
        let rolling = Rolling::new(k);
        let mut index = Index {
            graph,
            k,
            rolling,
            slots,
        };
        let mut place = 0;
        for way in graph.nodes() {
            let codes = graph.codes(way);
            let mut window = rolling.start(&codes[..k]);
            for at in 0..=codes.len() - k {
                if at > 0 {
                    window = rolling.next(window, codes[at - 1], codes[at + k - 1]);
                }
                index.insert(window.hash(), place + at);
            }
            place += codes.len();
        }
        index
    }

    /// Bases of a k-mer.
    pub fn k(&self) -> usize {
        self.k
    }

    fn insert(&mut self, hash: u64, place: usize) {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        let tag = tag_of(hash);
        while self.slots[slot] != EMPTY {
            if self.slots[slot] >> PLACE == tag && self.same(self.slots[slot], place) {
                self.slots[slot] |= MANY;
                return;
            }
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = tag << PLACE | (place as u64 + 1);
    }

    /// Whether a slot is of the k-mer at a place. One that is of many may be taken for another with
    /// the same 33 bits of the hash: the k-mer is then not found, which costs an anchor.
    fn same(&self, slot: u64, place: usize) -> bool {
        let found = slot & MANY;
        if found == MANY {
            return true;
        }
        let (way, at) = self.graph.at(found as usize - 1);
        let (other, from) = self.graph.at(place);
        let window = &self.graph.codes(other)[from..from + self.k];
        self.way(way, at, window).is_some()
    }

    /// The direction of a node in which it has `window` at the place of `at` in the forward one.
    fn way(&self, way: Way, at: usize, window: &[u8]) -> Option<(Way, usize)> {
        let back = self.graph.length(way) - self.k - at;
        [(way, at), (way.flipped(), back)]
            .into_iter()
            .find(|&(way, at)| &self.graph.codes(way)[at..at + self.k] == window)
    }

    /// The one place of a window in the graph; nothing where there is none, or several.
    #[inline]
    fn find(&self, hash: u64, window: &[u8]) -> Option<(Way, usize)> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        let tag = tag_of(hash);
        while self.slots[slot] != EMPTY {
            if self.slots[slot] >> PLACE == tag {
                let place = self.slots[slot] & MANY;
                if place == MANY {
                    return None;
                }
                let (way, at) = self.graph.at(place as usize - 1);
                if let Some(found) = self.way(way, at, window) {
                    return Some(found);
                }
            }
            slot = (slot + 1) & mask;
        }
        None
    }

    /// The first window of `codes` at or behind `from` that is in the graph: where it begins, and
    /// its place.
    pub fn first(&self, codes: &[u8], from: usize) -> Option<(usize, Way, usize)> {
        let k = self.k;
        if from + k > codes.len() {
            return None;
        }
        let mut window: Window = self.rolling.start(&codes[from..from + k]);
        let mut at = from;
        loop {
            if let Some((way, offset)) = self.find(window.hash(), &codes[at..at + k]) {
                return Some((at, way, offset));
            }
            if at + k == codes.len() {
                return None;
            }
            window = self.rolling.next(window, codes[at], codes[at + k]);
            at += 1;
        }
    }
}

fn slots_of(bases: u64) -> u64 {
    (bases + bases / 2 + 2).next_power_of_two()
}

/// Bits of a hash that do not say where its slot is.
#[inline(always)]
fn tag_of(hash: u64) -> u64 {
    mix(hash) >> PLACE
}
