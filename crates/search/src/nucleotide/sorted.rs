//! Words of queries in the order of their keys: all threads sort some of the words by parts of the
//! keys, then each some parts.

use std::convert::Infallible;
use std::ops::Range;

use gyrase_align::packed::{Packed, WINDOW};
use gyrase_work::{in_parallel, prefer_large_pages};

use super::words::{BEFORE, FIRST_OF_QUERY, Words};

/// Bits of a digit of keys.
const DIGIT: u32 = 11;

/// Words of a share of the queries by parts of their keys: of each the key in the upper half, the
/// position in the lower one.
struct Share {
    pairs: Vec<u64>,
    /// Where parts end.
    ends: Vec<usize>,
}

/// Parts of the keys that a thread sorts, and where their words go.
struct Parts<'w> {
    parts: Range<usize>,
    /// The number of the first word.
    first: usize,
    positions: &'w mut [u32],
    windows: &'w mut [u64],
    present: &'w mut [u64],
    /// Where the words of each key that there is begin.
    starts: &'w mut [u32],
}

impl<'w> Parts<'w> {
    /// The first parts up to one, of so many words and keys of so many bits each.
    fn take(&mut self, end: usize, words: usize, part_bits: u32) -> Parts<'w> {
        let keys = (end - self.parts.start) << part_bits;
        // Parts of long words have none.
        let windows = words.min(self.windows.len());
        let own = Parts {
            parts: self.parts.start..end,
            first: self.first,
            positions: split_off(&mut self.positions, words),
            windows: split_off(&mut self.windows, windows),
            present: split_off(&mut self.present, keys.div_ceil(64)),
            starts: split_off(&mut self.starts, words),
        };
        (self.parts.start, self.first) = (end, self.first + words);
        own
    }
}

/// The first so many.
fn split_off<'w, T>(all: &mut &'w mut [T], count: usize) -> &'w mut [T] {
    all.split_off_mut(..count).expect("there are so many")
}

impl Share {
    fn part(&self, part: usize) -> &[u64] {
        let start = part.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.pairs[start..self.ends[part]]
    }
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
        let of_share = |starts: Vec<Range<usize>>| Ok::<_, Infallible>(self.by_parts(&starts));
        let Ok(shares) = in_parallel(shares, of_share);
        let windows = if self.step == 1 { count } else { 0 };
        let (mut positions, mut windows) = (vec![0; count], vec![0; windows]);
        let mut present = vec![0; (1_usize << self.key_bits).div_ceil(64)];
        let mut starts = vec![0; count + 1];
        prefer_large_pages(&mut positions);
        prefer_large_pages(&mut windows);
        prefer_large_pages(&mut present);
        prefer_large_pages(&mut starts);
        let all = Parts {
            parts: 0..self.parts(),
            first: 0,
            positions: &mut positions,
            windows: &mut windows,
            present: &mut present,
            starts: &mut starts,
        };
        let parts = self.divided(&shares, threads, all);
        let of_parts = |parts: Parts| {
            let first = parts.first;
            Ok::<_, Infallible>((first, self.sort_parts(masked, &shares, parts)))
        };
        let Ok(keys) = in_parallel(parts, of_parts);
        drop(shares);
        (self.positions, self.windows, self.present) = (positions, windows, present);
        // Each thread wrote those of its keys where its words begin.
        let mut distinct = 0;
        for (first, own) in keys {
            starts.copy_within(first..first + own, distinct);
            distinct += own;
        }
        starts[distinct] = count as u32;
        starts.truncate(distinct + 1);
        self.starts = starts;
        let mut keys = 0;
        let before = self.present.iter().map(|bits| {
            keys += bits.count_ones();
            keys - bits.count_ones()
        });
        self.before = before.collect();
    }

    /// The words at some positions by parts of their keys.
    fn by_parts(&self, starts: &[Range<usize>]) -> Share {
        let key = |position: usize| self.key(self.packed.window(position - BEFORE));
        let positions = || starts.iter().cloned().flatten();
        let mut ends = vec![0; self.parts() + 1];
        for position in positions() {
            ends[(key(position) >> self.part_bits) + 1] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let mut pairs = vec![0; sum];
        prefer_large_pages(&mut pairs);
        for position in positions() {
            let key = key(position);
            let place: &mut usize = &mut ends[key >> self.part_bits];
            pairs[*place] = (key as u64) << WINDOW | position as u64;
            *place += 1;
        }
        // Each has become where the next begins.
        ends.pop();
        Share { pairs, ends }
    }

    /// Parts for each thread, of about as many words.
    fn divided<'w>(&self, shares: &[Share], threads: usize, mut rest: Parts<'w>) -> Vec<Parts<'w>> {
        let each = rest.positions.len().div_ceil(threads).max(1);
        let words = |part: usize| -> usize {
            let of_shares = shares.iter().map(|share| share.part(part).len());
            of_shares.sum()
        };
        let (mut all, mut count) = (Vec::new(), 0);
        for part in rest.parts.clone() {
            count += words(part);
            if count >= each || part + 1 == rest.parts.end {
                all.push(rest.take(part + 1, std::mem::take(&mut count), self.part_bits));
            }
        }
        all
    }

    /// Sorts words of some parts, reads their windows, and notes which keys there are: where the
    /// words of each of these begin. Returns how many keys.
    fn sort_parts(&self, masked: &Packed, shares: &[Share], parts: Parts) -> usize {
        let (mut keys, mut number) = (0, 0);
        let (mut pairs, mut spare) = (Vec::new(), Vec::new());
        let least = parts.parts.start << self.part_bits;
        for part in parts.parts {
            pairs.clear();
            shares
                .iter()
                .for_each(|share| pairs.extend_from_slice(share.part(part)));
            sort_by_keys(&mut pairs, &mut spare, self.part_bits);
            let mut last = None;
            for &pair in &pairs {
                let (key, position) = ((pair >> WINDOW) as usize, pair as u32);
                if last.replace(key) != Some(key) {
                    parts.starts[keys] = (parts.first + number) as u32;
                    keys += 1;
                    parts.present[(key - least) / 64] |= 1 << (key % 64);
                }
                parts.positions[number] = position;
                if let Some(window) = parts.windows.get_mut(number) {
                    *window = self.whole_window(masked, position as usize);
                }
                number += 1;
            }
        }
        keys
    }

    /// The window of a word that has a key as a whole, with what tells that it is the first.
    fn whole_window(&self, masked: &Packed, position: usize) -> u64 {
        let is_first = u64::from(masked.others(position - 1) & 1 == 1);
        self.packed.window(position - BEFORE) ^ (is_first * FIRST_OF_QUERY)
    }
}

/// Sorts pairs by keys of which so many lower bits differ, digit by digit; those with the same key
/// stay in their order.
fn sort_by_keys(pairs: &mut Vec<u64>, spare: &mut Vec<u64>, bits: u32) {
    spare.resize(pairs.len(), 0);
    for shift in (WINDOW as u32..WINDOW as u32 + bits).step_by(DIGIT as usize) {
        let digit = |pair: u64| (pair >> shift) as usize % (1 << DIGIT);
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
