//! A hash table of places, which threads fill together.
//!
//! The slots of a bucket and their tags are one line of the cache: what is there is found in one
//! access to memory, and so is most of what is not.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

use gyrase_kmer::mix;
use gyrase_work::{prefer_large_pages, prefetch};

/// Slots of a bucket.
const SLOTS: usize = 12;
/// The tag of a place that is not written yet.
const NO_TAG: u8 = 0;
/// What an empty slot has; others have their place and 1.
const EMPTY: u32 = 0;
/// Says of a place that the k-mer is at others, too.
const SEVERAL: u32 = 1 << 31;
/// Places are below.
pub const END: usize = SEVERAL as usize - 1;

#[derive(Default)]
#[repr(C, align(64))]
struct Bucket {
    /// Bits of the hash of each.
    tags: [AtomicU8; SLOTS],
    places: [AtomicU32; SLOTS],
}

/// Places below [`END`] by the hashes of what is there.
pub struct Places {
    buckets: Vec<Bucket>,
}

impl Places {
    /// With room for so many: four fifths of it will be full.
    pub fn with_room_for(places: usize) -> Places {
        let slots = places + places / 4;
        let count = slots / SLOTS + 1;
        let mut buckets = Vec::with_capacity(count);
        prefer_large_pages(buckets.spare_capacity_mut());
        buckets.resize_with(count, Bucket::default);
        Places { buckets }
    }

    /// Asks for where a hash is looked for.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        prefetch(&self.buckets, self.home(hash));
    }

    /// Adds a place, or notes of one with the same that there are several.
    pub fn add(&self, hash: u64, place: u32, are_same: impl Fn(u32, u32) -> bool) {
        let own = tag(hash);
        for (tag, slot) in self.slots(hash) {
            // Whoever comes first has the slot; no two look for the same in another order.
            let Err(other) = slot.compare_exchange(EMPTY, place + 1, Relaxed, Relaxed) else {
                return tag.store(own, Relaxed);
            };
            let other_tag = tag.load(Relaxed);
            let may_be_same = other_tag == own || other_tag == NO_TAG;
            if may_be_same && are_same((other & !SEVERAL) - 1, place) {
                slot.fetch_or(SEVERAL, Relaxed);
                return;
            }
        }
        unreachable!("a fifth of the slots is empty")
    }

    /// The places whose hash may be this one, and whether each is the only one.
    #[inline(always)]
    pub fn of(&self, hash: u64) -> impl Iterator<Item = (u32, bool)> {
        let own = tag(hash);
        let full = self
            .slots(hash)
            .map(|(tag, slot)| (tag, slot.load(Relaxed)));
        let full = full.take_while(|&(_, place)| place != EMPTY);
        let own = full.filter(move |(tag, _)| tag.load(Relaxed) == own);
        own.map(|(_, place)| ((place & !SEVERAL) - 1, place < SEVERAL))
    }

    /// The slots that a hash may be in, one after the other.
    #[inline(always)]
    fn slots(&self, hash: u64) -> impl Iterator<Item = (&AtomicU8, &AtomicU32)> {
        let (before, from) = self.buckets.split_at(self.home(hash));
        let buckets = from.iter().chain(before);
        buckets.flat_map(|bucket| bucket.tags.iter().zip(&bucket.places))
    }

    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        // Hashes that are kept are small.
        ((u128::from(mix(hash)) * self.buckets.len() as u128) >> 64) as usize
    }
}

/// Bits of a hash that do not say where its bucket is.
#[inline(always)]
fn tag(hash: u64) -> u8 {
    (mix(hash) as u8).max(1)
}
