//! Words of queries in the order of their keys: all threads put some of the words where those of
//! the same part of the keys are, then each sorts some parts.

use std::ops::Range;
use std::slice::IterMut;

use gyrase_align::arch::{BEFORE, SIDE_LANES};
use gyrase_align::packed::Packed;
use gyrase_work::{in_threads, prefer_large_pages};

use super::words::{Entry, FIRST_OF_QUERY, Words};

/// Bits of a digit of keys.
const DIGIT: u32 = 11;

/// Parts of the keys that a thread sorts.
struct Parts<'w> {
    parts: Range<usize>,
    /// The number of the first entry.
    first: usize,
    entries: &'w mut [Entry],
    windows: &'w mut [u64],
    present: &'w mut [u64],
    before: &'w mut [u32],
}

impl<'w> Parts<'w> {
    /// The first parts up to one, of so many entries and keys of so many bits each.
    fn take(&mut self, end: usize, entries: usize, part_bits: u32) -> Parts<'w> {
        let keys = (end - self.parts.start) << part_bits;
        // Parts of long words have none.
        let windows = entries.min(self.windows.len());
        let own = Parts {
            parts: self.parts.start..end,
            first: self.first,
            entries: split_off(&mut self.entries, entries),
            windows: split_off(&mut self.windows, windows),
            present: split_off(&mut self.present, keys.div_ceil(64)),
            before: split_off(&mut self.before, keys.div_ceil(64)),
        };
        (self.parts.start, self.first) = (end, self.first + entries);
        own
    }
}

/// The first so many.
fn split_off<'w, T>(all: &mut &'w mut [T], count: usize) -> &'w mut [T] {
    all.split_off_mut(..count).expect("there are so many")
}

impl Words {
    /// Sorts so many words, which begin at the positions of these ranges.
    pub(super) fn sort(
        &mut self,
        masked: &Packed,
        starts: Vec<Range<usize>>,
        count: usize,
        threads: usize,
    ) {
        let shares = cut(starts, count.div_ceil(threads).max(1));
        let counts = in_threads(shares.iter().collect(), |starts| self.counts(starts));
        let mut entries = vec![[0; 2]; count + self.parts()];
        prefer_large_pages(&mut entries);
        let shares = shares.into_iter().zip(places(&mut entries, &counts));
        in_threads(shares.collect(), |(starts, places)| {
            self.put(starts, places)
        });
        let blocks = (1_usize << self.key_bits).div_ceil(64);
        let (mut present, mut before) = (vec![0; blocks], vec![0; blocks]);
        let windows = match self.step {
            1 => entries.len() + SIDE_LANES,
            _ => 0,
        };
        let mut windows = vec![0; windows];
        prefer_large_pages(&mut present);
        prefer_large_pages(&mut before);
        prefer_large_pages(&mut windows);
        let of_shares = |part: usize| counts.iter().map(|counts| counts[part]).sum();
        let words: Vec<usize> = (0..self.parts()).map(of_shares).collect();
        let all = Parts {
            parts: 0..self.parts(),
            first: 0,
            entries: &mut entries,
            windows: &mut windows,
            present: &mut present,
            before: &mut before,
        };
        let sort = |parts| self.sort_parts(masked, &words, parts);
        in_threads(self.divided(&words, threads, all), sort);
        (self.entries, self.windows) = (entries, windows);
        (self.present, self.before) = (present, before);
    }

    fn key_at(&self, position: usize) -> usize {
        self.key(self.packed.window(position - BEFORE))
    }

    /// How many of the words at some positions each part of their keys has.
    fn counts(&self, starts: &[Range<usize>]) -> Vec<usize> {
        let mut counts = vec![0; self.parts()];
        for position in starts.iter().cloned().flatten() {
            counts[self.key_at(position) >> self.part_bits] += 1;
        }
        counts
    }

    /// Puts the words at some positions where those of their parts are.
    fn put(&self, starts: Vec<Range<usize>>, mut places: Vec<IterMut<Entry>>) {
        for position in starts.into_iter().flatten() {
            let key = self.key_at(position);
            let place = places[key >> self.part_bits].next();
            *place.expect("all were counted") = [key as u32, position as u32];
        }
    }

    /// Parts for each thread, of about as many words.
    fn divided<'w>(&self, words: &[usize], threads: usize, mut rest: Parts<'w>) -> Vec<Parts<'w>> {
        let each = rest.entries.len().div_ceil(threads);
        let (mut all, mut entries) = (Vec::new(), 0);
        for part in rest.parts.clone() {
            entries += words[part] + 1;
            if entries >= each || part + 1 == rest.parts.end {
                all.push(rest.take(part + 1, std::mem::take(&mut entries), self.part_bits));
            }
        }
        all
    }

    /// Sorts the words of some parts.
    fn sort_parts(&self, masked: &Packed, words: &[usize], mut own: Parts) {
        let (mut pairs, mut spare) = (Vec::new(), Vec::new());
        for part in own.parts.clone() {
            let count = words[part];
            let part = own.take(part + 1, count + 1, self.part_bits);
            pairs.clear();
            pairs.extend_from_slice(&part.entries[..count]);
            sort_by_keys(&mut pairs, &mut spare, self.part_bits);
            self.note(masked, &pairs, part);
        }
    }

    /// Notes the sorted words of a part: their positions and windows, which keys there are, and
    /// where the words of each of these begin.
    fn note(&self, masked: &Packed, pairs: &[Entry], part: Parts) {
        let (mut keys, mut last) = (0, None);
        for (number, &[key, position]) in pairs.iter().enumerate() {
            if last.replace(key) != Some(key) {
                part.entries[keys][1] = (part.first + number) as u32;
                keys += 1;
                let key = key as usize % (1 << self.part_bits);
                part.present[key / 64] |= 1 << (key % 64);
            }
            part.entries[number][0] = position;
            if let Some(window) = part.windows.get_mut(number) {
                *window = self.whole_window(masked, position as usize);
            }
        }
        part.entries[keys][1] = (part.first + pairs.len()) as u32;
        let mut place = part.first as u32;
        for (before, bits) in part.before.iter_mut().zip(part.present) {
            *before = place;
            place += bits.count_ones();
        }
    }

    /// The window of a word that has a key as a whole, with what tells that it is the first.
    fn whole_window(&self, masked: &Packed, position: usize) -> u64 {
        let is_first = u64::from(masked.others(position - 1) & 1 == 1);
        self.packed.window(position - BEFORE) ^ (is_first * FIRST_OF_QUERY)
    }
}

/// Where each share puts its words of each part, of which it has so many.
fn places<'e>(mut entries: &'e mut [Entry], counts: &[Vec<usize>]) -> Vec<Vec<IterMut<'e, Entry>>> {
    let mut places: Vec<Vec<_>> = counts.iter().map(|_| Vec::new()).collect();
    for part in 0..counts[0].len() {
        for (places, counts) in places.iter_mut().zip(counts) {
            places.push(split_off(&mut entries, counts[part]).iter_mut());
        }
        split_off(&mut entries, 1);
    }
    places
}

/// Sorts pairs by keys of which so many lower bits differ, digit by digit; those with the same key
/// stay in their order.
fn sort_by_keys(pairs: &mut Vec<Entry>, spare: &mut Vec<Entry>, bits: u32) {
    spare.resize(pairs.len(), [0; 2]);
    for shift in (0..bits).step_by(DIGIT as usize) {
        let digit = |pair: Entry| (pair[0] >> shift) as usize % (1 << DIGIT);
        let mut places = [0_u32; 1 << DIGIT];
        pairs.iter().for_each(|&pair| places[digit(pair)] += 1);
        let mut sum = 0;
        for place in &mut places {
            (*place, sum) = (sum, sum + *place);
        }
        for &pair in &*pairs {
            let place = &mut places[digit(pair)];
            spare[*place as usize] = pair;
            *place += 1;
        }
        std::mem::swap(pairs, spare);
    }
}

/// Ranges for several threads, of so many positions together each but for the last.
fn cut(ranges: Vec<Range<usize>>, each: usize) -> Vec<Vec<Range<usize>>> {
    let (mut all, mut own, mut room) = (Vec::new(), Vec::new(), each);
    for mut range in ranges {
        while range.len() > room {
            own.push(range.start..range.start + room);
            all.push(std::mem::take(&mut own));
            (range.start, room) = (range.start + room, each);
        }
        room -= range.len();
        own.push(range);
    }
    all.push(own);
    all
}
