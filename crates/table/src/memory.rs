//! A table in memory that counts keys and gives them back in order.

use gyrase_fabric::KeyRange;
use gyrase_kmer::{Key, SuperKmer};
use gyrase_work::prefetch;

/// What a [`CountTable`] counts.
pub trait TableKey: Copy + Eq {
    /// A uniform number. Where keys must come out sorted, a larger key never has a smaller number.
    fn place(&self) -> u64;
    /// 0 for equal keys only.
    fn differs(&self, other: &Self) -> u64;
    /// Any key: it fills empty slots.
    const FILLING: Self;
}

impl<const W: usize> TableKey for Key<W> {
    #[inline(always)]
    fn place(&self) -> u64 {
        self.0[0]
    }
    #[inline(always)]
    fn differs(&self, other: &Self) -> u64 {
        self.0
            .iter()
            .zip(&other.0)
            .fold(0, |differs, (one, other)| differs | one ^ other)
    }
    const FILLING: Self = Key([0; W]);
}

impl<const W: usize> TableKey for SuperKmer<W> {
    #[inline(always)]
    fn place(&self) -> u64 {
        // Two multiplications a word: the high bits, which choose the slot, depend on all others.
        self.0.iter().fold(0u64, |place, &word| {
            let place = (place ^ word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (place.rotate_left(32) ^ (word >> 64) as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        })
    }
    #[inline(always)]
    fn differs(&self, other: &Self) -> u64 {
        let differs = self
            .0
            .iter()
            .zip(&other.0)
            .fold(0, |differs, (one, other)| differs | one ^ other);
        differs as u64 | (differs >> 64) as u64
    }
    const FILLING: Self = SuperKmer([0; W]);
}

/// Packed, since tables shall fit the cache.
#[derive(Clone, Copy)]
#[repr(Rust, packed(4))]
struct Slot<K> {
    key: K,
    count: u32,
}

/// Open addressing whose first slot for a key is in proportion to its place, so that a walk over
/// the slots meets keys almost in order and sorting them costs next to nothing. Counts saturate at
/// 2^32-1; a count of 0 marks an empty slot.
///
/// The answer does not depend on how the table was sized: too small a guess costs a rebuild.
pub struct CountTable<K> {
    slots: Vec<Slot<K>>,
    /// Slots that are a first slot of some key; a few more follow for the last ones' neighbours.
    homes: usize,
    len: usize,
    /// Where all places are (see [`CountTable::clear`]).
    places: KeyRange,
    /// Homes for 2^64 places, once the range is stretched by `shift` bits.
    spread: u64,
    shift: u32,
}

/// Keys whose slots are asked for together.
const AHEAD: usize = 32;

/// Adds `weight` to the count of `key` in the first of `slots` that is empty or holds it: true when
/// it is new, `None` when there is no such slot.
#[inline(always)]
fn add_near<K: TableKey>(slots: &mut [Slot<K>], key: K, weight: u32) -> Option<bool> {
    for slot in slots {
        let count = slot.count;
        // One branch for both that is mostly taken: whether a key is new, nobody can foresee.
        if { slot.key }.differs(&key).min(u64::from(count)) == 0 {
            *slot = Slot {
                key,
                count: count.saturating_add(weight),
            };
            return Some(count == 0);
        }
    }
    None
}

/// Slots behind the last home.
const OVERHANG: usize = 32;

impl<K> Default for CountTable<K> {
    fn default() -> CountTable<K> {
        CountTable {
            slots: Vec::new(),
            homes: 0,
            len: 0,
            places: KeyRange::ALL,
            spread: 0,
            shift: 0,
        }
    }
}

impl<K: TableKey> CountTable<K> {
    /// Bytes that a table for `keys` keys takes.
    pub fn bytes_for(keys: usize) -> usize {
        (homes_for(keys) + OVERHANG) * size_of::<Slot<K>>()
    }

    /// Bytes that the table takes.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<K>>()
    }

    /// Empties the table and makes room for about `keys` keys, whose places are all in a range.
    pub fn clear(&mut self, keys: usize, places: KeyRange) {
        self.homes = homes_for(keys);
        self.places = places;
        let width = places.last - places.first;
        self.shift = width.leading_zeros().min(63);
        self.spread =
            (((self.homes as u128) << (64 - self.shift)) / (u128::from(width) + 1)) as u64;
        self.len = 0;
        self.slots.clear();
        self.slots.resize(
            self.homes + OVERHANG,
            Slot {
                key: K::FILLING,
                count: 0,
            },
        );
    }

    /// Number of distinct keys.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when nothing was added.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    fn home(&self, key: &K) -> usize {
        let place = key.place().wrapping_sub(self.places.first) << self.shift;
        ((u128::from(place) * u128::from(self.spread)) >> 64) as usize
    }

    /// Adds to the count of each key a weight (at least 1); returns how many there were.
    ///
    /// A few keys ahead their slots are asked for, so that the memory is waited for together.
    #[inline(always)]
    pub fn add_all(&mut self, keys: impl IntoIterator<Item = (K, u32)>) -> usize {
        let (mut keys, mut all) = (keys.into_iter(), 0);
        let mut waiting = [(K::FILLING, 0, 0); AHEAD];
        loop {
            self.relieve();
            let mut arrived = 0;
            for (place, (key, weight)) in waiting.iter_mut().zip(keys.by_ref()) {
                let home = self.home(&key);
                prefetch(&self.slots, home);
                *place = (key, weight, home);
                arrived += 1;
            }
            self.add_waiting(&waiting[..arrived]);
            all += arrived;
            if arrived < AHEAD {
                return all;
            }
        }
    }

    #[inline(always)]
    fn add_waiting(&mut self, waiting: &[(K, u32, usize)]) {
        let mut added = 0;
        for (i, &(key, weight, home)) in waiting.iter().enumerate() {
            let Some(new) = add_near(&mut self.slots[home..], key, weight) else {
                self.len += added;
                self.grow();
                waiting[i..]
                    .iter()
                    .for_each(|&(key, weight, _)| self.add(key, weight));
                return;
            };
            added += usize::from(new);
        }
        self.len += added;
    }

    /// Adds `weight` (at least 1) to the count of `key`.
    #[inline(always)]
    pub fn add(&mut self, key: K, weight: u32) {
        loop {
            let home = self.home(&key);
            if let Some(new) = add_near(&mut self.slots[home..], key, weight) {
                self.len += usize::from(new);
                return;
            }
            self.grow();
        }
    }

    /// Gives `key` the count 1 if it is not there.
    #[inline(always)]
    pub fn make_present(&mut self, key: K) {
        let from = self.home(&key);
        let slot = self.slots[from..]
            .iter()
            .find(|slot| slot.count == 0 || { slot.key } == key);
        if slot.is_none_or(|slot| slot.count == 0) {
            self.add(key, 1);
        }
    }

    /// Adds `weight` to the count of `key` if it is there.
    #[inline(always)]
    pub fn add_to_present(&mut self, key: K, weight: u32) {
        let from = self.home(&key);
        for slot in &mut self.slots[from..] {
            if slot.count == 0 {
                return;
            }
            if { slot.key } == key {
                slot.count = slot.count.saturating_add(weight);
                return;
            }
        }
    }

    /// Doubles the room when the table is too full to be fast; call it now and then while adding.
    #[inline(always)]
    pub fn relieve(&mut self) {
        if self.len > self.homes / 8 * 7 {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let (room, places) = (self.homes.max(16) * 2, self.places);
        let old = std::mem::take(&mut self.slots);
        self.clear(room / 8 * 5, places);
        for slot in old.into_iter().filter(|slot| slot.count > 0) {
            self.add(slot.key, slot.count);
        }
    }

    /// Calls `each` with every key and its count, in no particular order.
    #[inline(always)]
    pub fn for_each(&self, mut each: impl FnMut(K, u32)) {
        for slots in self.slots.chunks(64) {
            // Which are occupied, nobody can foresee: all of them at a time, then from one to the
            // next.
            let occupied = slots
                .iter()
                .rev()
                .fold(0u64, |bits, slot| bits << 1 | u64::from(slot.count > 0));
            let mut left = occupied;
            while left != 0 {
                let slot = &slots[left.trailing_zeros() as usize];
                each(slot.key, slot.count);
                left &= left - 1;
            }
        }
    }
}

/// Five slots for three keys, as measured: fewer collide, more fall out of the cache.
fn homes_for(keys: usize) -> usize {
    (keys * 5 / 3).max(16)
}

impl<const W: usize> CountTable<Key<W>> {
    /// Appends every key whose count less `discount` (at least 0) is in `counted`, and that count,
    /// in order of key.
    pub fn append_sorted(
        &mut self,
        discount: u32,
        counted: std::ops::RangeInclusive<u32>,
        keys: &mut Vec<[u64; W]>,
        counts: &mut Vec<u32>,
    ) {
        let start = keys.len();
        let (mut end, room) = (start, start + self.len);
        keys.resize(room + 1, [0; W]);
        counts.resize(room + 1, 0);
        for slot in &self.slots {
            keys[end] = slot.key.0;
            counts[end] = slot.count.wrapping_sub(discount);
            end += usize::from(slot.count > 0 && counted.contains(&counts[end]));
        }
        keys.truncate(end);
        counts.truncate(end);
        sort_nearly_sorted(&mut keys[start..], &mut counts[start..]);
    }
}

/// Insertion sort: linear when every key is near its place.
fn sort_nearly_sorted<const W: usize>(keys: &mut [[u64; W]], counts: &mut [u32]) {
    for end in 1..keys.len() {
        if keys[end - 1] <= keys[end] {
            continue;
        }
        let (key, count) = (keys[end], counts[end]);
        let mut at = end;
        while at > 0 && keys[at - 1] > key {
            keys[at] = keys[at - 1];
            counts[at] = counts[at - 1];
            at -= 1;
        }
        keys[at] = key;
        counts[at] = count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gyrase_kmer::mix;
    use std::collections::BTreeMap;

    fn check<const W: usize>(guess: usize, distinct: u64, places: KeyRange) {
        let mut table = CountTable::<Key<W>>::default();
        let mut expected = BTreeMap::new();
        table.clear(guess, places);
        let width = u128::from(places.last - places.first) + 1;
        let within = |word: u64| places.first + ((u128::from(word) * width) >> 64) as u64;
        for i in 0..distinct * 3 {
            let mut key = [within(mix(i * i % distinct)); W];
            key[W - 1] ^= if W > 1 { i % 2 } else { 0 };
            table.add(Key(key), 1 + (i % 3) as u32);
            *expected.entry(key).or_insert(0) += 1 + (i % 3) as u32;
            table.relieve();
        }
        table.add_to_present(Key([places.last; W]), 9);
        let (first, count) = expected.iter_mut().next().unwrap();
        table.add_to_present(Key(*first), 9);
        *count += 9;
        assert_eq!(table.len(), expected.len());
        let (mut keys, mut counts) = (vec![[7; W]], vec![7]);
        table.append_sorted(0, 4..=u32::MAX, &mut keys, &mut counts);
        let expected: Vec<_> = expected
            .into_iter()
            .filter(|&(_, count)| count >= 4)
            .collect();
        assert_eq!(
            keys[1..]
                .iter()
                .copied()
                .zip(counts[1..].iter().copied())
                .collect::<Vec<_>>(),
            expected
        );
    }

    #[test]
    fn counts_and_sorts_whatever_the_guess() {
        for guess in [0, 10, 1000, 100_000] {
            for distinct in [1, 2, 50, 3000] {
                check::<1>(guess, distinct, KeyRange::ALL);
                check::<2>(guess, distinct, KeyRange::ALL.part(6, 7));
                check::<4>(guess, distinct, KeyRange::ALL.part(5, 32));
                check::<1>(guess, distinct, KeyRange::ALL.part(500, 1001));
            }
        }
    }

    #[test]
    fn batches_count_as_one_key_after_the_other_does() {
        for guess in [0, 100, 10_000] {
            // A third crowds at the end of the table, which then has to grow within a batch; words
            // behind the first tell keys apart.
            let key = |i: u64| match i % 3 {
                0 => [u64::MAX - ((i % 200) << 52), 0, 0],
                word => [mix(i % 1000), 0, word],
            };
            let all = (0..5000).map(|i| (Key(key(i)), 1 + (i % 5) as u32));
            let mut expected = BTreeMap::new();
            all.clone()
                .for_each(|(key, weight)| *expected.entry(key.0).or_insert(0) += weight);
            let mut table = CountTable::default();
            table.clear(guess, KeyRange::ALL);
            assert_eq!(table.add_all(all), 5000);
            let (mut keys, mut counts) = (Vec::new(), Vec::new());
            table.append_sorted(0, 1..=u32::MAX, &mut keys, &mut counts);
            assert!(keys.into_iter().zip(counts).eq(expected), "{guess}");
        }
    }

    #[test]
    fn counts_saturate() {
        let mut table = CountTable::<Key<1>>::default();
        table.clear(4, KeyRange::ALL);
        table.add(Key([1]), u32::MAX - 1);
        table.add(Key([1]), 5);
        table.add_all([(Key([2]), 7), (Key([1]), 1), (Key([2]), 9)]);
        let mut counts = Vec::new();
        table.for_each(|key, count| counts.push((key.0, count)));
        assert_eq!(counts, [([1], u32::MAX), ([2], 16)]);
    }
}
