//! Nucleotides as two bits each: many are compared at once.

mod share;

use std::ops::Range;

use gyrase_work::{prefer_large_pages, prefetch};

use crate::arch::{COLUMNS, Kernels};
use crate::nucleotide;

pub use share::PackedShare;

/// Bases of a window.
pub const WINDOW: usize = 32;

/// What unpacks a window or two: to choose would take longer.
const PORTABLE: Kernels = Kernels::Scalar;
/// Codes that are packed at a time.
const AT_ONCE: usize = 8;
/// The lowest bit of each of eight codes.
const LOW: u64 = 0x0101_0101_0101_0101;
/// Brings the lowest bits of eight bytes to the highest byte of a product.
const GATHER: u64 = 0x0102_0408_1020_4080;
/// The bits that no base has, in eight codes.
const NO_BASE: u64 = 0xfcfc_fcfc_fcfc_fcfc;
/// What makes a code that has one of them 128 or more.
const CARRY: u64 = 0x7c7c_7c7c_7c7c_7c7c;
/// Words behind the last base.
const SPARE: usize = 2;
/// Words of which bits are sorted at a time.
const WORDS: usize = 256;
/// The lower half of a word.
const HALF: u64 = u32::MAX as u64;

/// Codes of nucleotides in two bits each, and beside them what is no base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// Of each 32 bases the lower bits of their codes in the lower half, the upper ones in the
    /// other; the lowest bit of each half is of the first base. What is no base is an A here. Two
    /// more are 0: a window may end behind the last base.
    words: Vec<u64>,
    /// A bit for what is no base.
    others: Vec<u32>,
    runs: Vec<Run>,
    length: usize,
}

/// Neighbouring codes that are the same and no base.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    range: Range<usize>,
    code: u8,
}

impl Packed {
    /// Packs codes of nucleotides, all below 128.
    pub fn of(codes: &[u8]) -> Packed {
        let mut packed = Packed::default();
        packed.push(codes);
        packed
    }

    /// None, with room for so many.
    pub fn with_room(codes: usize) -> Packed {
        let room = codes.div_ceil(WINDOW) + SPARE;
        // Memory that is 0 from the start is taken when it is first written.
        let mut words = vec![0; room];
        prefer_large_pages(&mut words);
        Packed {
            words,
            others: vec![0; room],
            ..Packed::default()
        }
    }

    /// Codes so far.
    pub fn len(&self) -> usize {
        self.length
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Adds codes of nucleotides, all below 128.
    pub fn push(&mut self, codes: &[u8]) {
        self.make_room(codes.len());
        let (whole, rest) = codes.as_chunks::<WINDOW>();
        for part in whole {
            self.push_window(part, WINDOW);
        }
        if !rest.is_empty() {
            let mut part = [0; WINDOW];
            part[..rest.len()].copy_from_slice(rest);
            self.push_window(&part, rest.len());
        }
    }

    #[inline(always)]
    fn push_window(&mut self, part: &[u8; WINDOW], count: usize) {
        let (mut word, mut others) = (0, 0);
        for (number, eight) in part.as_chunks::<AT_ONCE>().0.iter().enumerate() {
            let codes = u64::from_le_bytes(*eight);
            let bits = |lowest: u64| lowest.wrapping_mul(GATHER) >> 56;
            word |= (bits(codes & LOW) | bits(codes >> 1 & LOW) << WINDOW) << (AT_ONCE * number);
            let other = ((codes & NO_BASE) + CARRY) >> 7 & LOW;
            others |= (bits(other) as u32) << (AT_ONCE * number);
        }
        let mut rest = others;
        while rest != 0 {
            let place = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let at = self.length + place;
            self.add_run(at..at + 1, part[place]);
        }
        let no_base = u64::from(others);
        self.append(word & !(no_base | no_base << WINDOW), others, count);
    }

    /// Adds nucleotides by their letters; gaps (`-` and `.`) are none.
    pub fn push_letters(&mut self, letters: &[u8]) {
        self.make_room(letters.len());
        Kernels::detect().run(
            #[inline(always)]
            || {
                let (whole, rest) = letters.as_chunks::<WINDOW>();
                whole.iter().for_each(|part| match are_bases(part) {
                    true => self.append(planes_of_letters(part), 0, WINDOW),
                    false => self.push_some_letters(part),
                });
                self.push_some_letters(rest);
            },
        );
    }

    /// Adds letters of a window at most, whatever they are.
    #[cold]
    fn push_some_letters(&mut self, letters: &[u8]) {
        let mut codes = [0; WINDOW];
        let mut count = 0;
        for &letter in letters
            .iter()
            .filter(|letter| !nucleotide::is_gap(**letter))
        {
            codes[count] = nucleotide::code(letter);
            count += 1;
        }
        self.push(&codes[..count]);
    }

    /// Adds bases of two bits, the first in the upper bits of a byte, as databases have them: so
    /// many from one of the first four on.
    ///
    /// # Panics
    /// When there are not so many.
    pub fn push_bytes(&mut self, bytes: &[u8], first: usize, count: usize) {
        let place = self.leave(count).start;
        PackedShare::new(&mut self.words, 0).write(place, bytes, first, count);
    }

    /// Adds so many bases that are written afterwards, by [`PackedShare::write`]; where they are.
    pub fn leave(&mut self, count: usize) -> Range<usize> {
        self.make_room(count);
        let start = self.length;
        self.length += count;
        start..self.length
    }

    /// Shares of about so many codes each of a range of all: each thread may write bases that were
    /// left in shares of its own.
    pub fn shares(&mut self, range: Range<usize>, codes: usize) -> Vec<PackedShare<'_>> {
        let words = range.start / WINDOW..range.end.div_ceil(WINDOW);
        let each = codes.div_ceil(WINDOW).max(1);
        let firsts = words.clone().step_by(each);
        let shares = firsts.zip(self.words[words].chunks_mut(each));
        shares
            .map(|(first, words)| PackedShare::new(words, first))
            .collect()
    }

    /// Makes an A of all codes of a range that are no bases, whatever was written for them.
    pub fn settle(&mut self, range: Range<usize>) {
        let first = self
            .runs
            .partition_point(|run| run.range.end <= range.start);
        for run in &self.runs[first..] {
            if run.range.start >= range.end {
                break;
            }
            clear(&mut self.words, run.range.clone());
        }
    }

    /// Makes some of the codes, all behind those of which this was said before, another one that is
    /// no base.
    ///
    /// # Panics
    /// When there are not so many.
    pub fn replace(&mut self, range: Range<usize>, code: u8) {
        for at in range.clone() {
            self.others[at / WINDOW] |= 1 << (at % WINDOW);
        }
        clear(&mut self.words, range.clone());
        self.add_run(range, code);
    }

    fn make_room(&mut self, codes: usize) {
        let words = (self.length + codes).div_ceil(WINDOW) + SPARE;
        if words > self.words.len() {
            self.words.resize(words, 0);
            self.others.resize(words, 0);
        }
    }

    /// Adds what there is room for; behind its bases all bits are 0.
    #[inline(always)]
    fn append(&mut self, word: u64, others: u32, count: usize) {
        let (number, by) = (self.length / WINDOW, self.length % WINDOW);
        // Borders touch no memory: the threads that write the bases between them take it.
        if word != 0 {
            let (low, high) = ((word & HALF) << by, (word >> WINDOW) << by);
            self.words[number] |= low & HALF | high << WINDOW;
            self.words[number + 1] |= low >> WINDOW | high & !HALF;
        }
        if others != 0 {
            let others = u64::from(others) << by;
            self.others[number] |= others as u32;
            self.others[number + 1] |= (others >> WINDOW) as u32;
        }
        self.length += count;
    }

    fn add_run(&mut self, range: Range<usize>, code: u8) {
        match self.runs.last_mut() {
            Some(last) if last.range.end == range.start && last.code == code => {
                last.range.end = range.end;
            }
            _ => self.runs.push(Run { range, code }),
        }
    }

    /// Stretches of bases that have something of a range, in their order, each as long as it can
    /// be.
    pub fn stretches(
        &self,
        range: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + Clone + '_ {
        let before = self
            .runs
            .partition_point(|run| run.range.end <= range.start);
        let mut start = before
            .checked_sub(1)
            .map_or(0, |last| self.runs[last].range.end);
        let ends = self.runs[before..].iter().map(|run| run.range.clone());
        let all = ends.chain(std::iter::once(self.length..self.length));
        let stretches = all.map(move |run| std::mem::replace(&mut start, run.end)..run.start);
        let stretches = stretches.take_while(move |stretch| stretch.start < range.end);
        stretches.filter(move |stretch| !stretch.is_empty() && stretch.end > range.start)
    }

    /// The code at a position.
    ///
    /// # Panics
    /// When there is none.
    #[inline(always)]
    pub fn code(&self, at: usize) -> u8 {
        let (word, by) = (self.words[at / WINDOW], at % WINDOW);
        if self.others[at / WINDOW] >> by & 1 == 1 {
            return self.other(at);
        }
        (word >> by & 1 | (word >> (WINDOW + by) & 1) << 1) as u8
    }

    #[cold]
    fn other(&self, at: usize) -> u8 {
        let run = self.runs.partition_point(|run| run.range.end <= at);
        self.runs[run].code
    }

    /// Writes the codes from a position on.
    ///
    /// # Panics
    /// When there are not so many.
    pub fn unpack(&self, start: usize, codes: &mut [u8]) {
        let range = start..start + codes.len();
        let kernels = Kernels::detect();
        kernels.run(
            #[inline(always)]
            || {
                let (whole, rest) = codes.as_chunks_mut::<WINDOW>();
                // A closure of `for_each` would be compiled without the vectors of `Kernels::run`.
                for (number, codes) in whole.iter_mut().enumerate() {
                    kernels.unpack_window(self.window(range.start + number * WINDOW), codes);
                }
                if !rest.is_empty() {
                    let mut last = [0; WINDOW];
                    kernels.unpack_window(self.window(range.end - rest.len()), &mut last);
                    rest.copy_from_slice(&last[..rest.len()]);
                }
            },
        );
        let before = self
            .runs
            .partition_point(|run| run.range.end <= range.start);
        for run in &self.runs[before..] {
            if run.range.start >= range.end {
                break;
            }
            let clip = |at: usize| at.clamp(range.start, range.end) - range.start;
            codes[clip(run.range.start)..clip(run.range.end)].fill(run.code);
        }
    }

    /// Writes the codes from a position on.
    ///
    /// # Panics
    /// When there are not so many.
    #[inline]
    pub fn codes_from(&self, at: usize, codes: &mut [u8; COLUMNS]) {
        if self.others(at) | self.others(at + WINDOW) != 0 {
            return self.unpack(at, codes);
        }
        for (part, codes) in codes.as_chunks_mut().0.iter_mut().enumerate() {
            PORTABLE.unpack_window(self.window(at + part * WINDOW), codes);
        }
    }

    /// Writes the codes before a position, the last first.
    ///
    /// # Panics
    /// When there are not so many.
    #[inline]
    pub fn codes_before(&self, end: usize, codes: &mut [u8; COLUMNS]) {
        let start = end - COLUMNS;
        if self.others(start) | self.others(start + WINDOW) != 0 {
            self.unpack(start, codes);
            codes.reverse();
            return;
        }
        for (part, codes) in codes.as_chunks_mut().0.iter_mut().enumerate() {
            let window = self.window(end - (part + 1) * WINDOW);
            PORTABLE.unpack_window(window.reverse_bits().rotate_left(WINDOW as u32), codes);
        }
    }

    /// The codes from a position on, up to the end.
    pub fn forward(&self, start: usize) -> impl Iterator<Item = u8> + '_ {
        let mut part = [0; WINDOW];
        (start..self.length).map(move |at| {
            let place = (at - start) % WINDOW;
            if place == 0 {
                self.unpack_some(at..self.length.min(at + WINDOW), &mut part);
            }
            part[place]
        })
    }

    /// The codes before a position, the last first.
    pub fn backward(&self, end: usize) -> impl Iterator<Item = u8> + '_ {
        let mut part = [0; WINDOW];
        (0..end).map(move |by| {
            let place = by % WINDOW;
            if place == 0 {
                self.unpack_some((end - by).saturating_sub(WINDOW)..end - by, &mut part);
            }
            part[WINDOW.min(end - (by - place)) - 1 - place]
        })
    }

    /// Writes the codes of a range of a window at most to the first places.
    #[inline]
    fn unpack_some(&self, range: Range<usize>, codes: &mut [u8; WINDOW]) {
        match self.others(range.start) {
            0 => PORTABLE.unpack_window(self.window(range.start), codes),
            _ => self.unpack(range.start, &mut codes[..range.len()]),
        }
    }

    /// Adds a part of others.
    pub fn push_part_of(&mut self, other: &Packed, range: Range<usize>) {
        self.make_room(range.len());
        let start = self.length;
        for at in range.clone().step_by(WINDOW) {
            let count = WINDOW.min(range.end - at);
            let mask = HALF >> (WINDOW - count);
            let others = other.others(at) & mask as u32;
            self.append(other.window(at) & (mask | mask << WINDOW), others, count);
        }
        let first = other
            .runs
            .partition_point(|run| run.range.end <= range.start);
        let runs = other.runs[first..].iter();
        for run in runs.take_while(|run| run.range.start < range.end) {
            let from = run.range.start.max(range.start) - range.start;
            let to = run.range.end.min(range.end) - range.start;
            self.add_run(start + from..start + to, run.code);
        }
    }

    /// The window that begins with a base: the lower bits of its codes in the lower half.
    ///
    /// # Panics
    /// When there is no such base.
    #[inline(always)]
    pub fn window(&self, at: usize) -> u64 {
        let [low, high] = self.bits(at / WINDOW);
        low >> (at % WINDOW) & HALF | high >> (at % WINDOW) << WINDOW
    }

    /// Asks the processor for the window that begins with a base, which will be read soon.
    #[inline(always)]
    pub fn prefetch_window(&self, at: usize) {
        prefetch(&self.words, at / WINDOW);
        prefetch(&self.words, at / WINDOW + 1);
    }

    /// The same, and which of its letters are no bases.
    #[inline(always)]
    pub fn prefetch(&self, at: usize) {
        self.prefetch_window(at);
        prefetch(&self.others, at / WINDOW);
    }

    /// Which letters of the window that begins with a base are no bases: a bit for each.
    ///
    /// # Panics
    /// When there is no such base.
    #[inline(always)]
    pub fn others(&self, at: usize) -> u32 {
        let two = &self.others[at / WINDOW..][..2];
        ((u64::from(two[1]) << WINDOW | u64::from(two[0])) >> (at % WINDOW)) as u32
    }

    /// The lower and the upper bits of 64 bases, from that with `32 * number` before it on.
    ///
    /// # Panics
    /// When there is no such base.
    #[inline(always)]
    pub fn bits(&self, number: usize) -> [u64; 2] {
        joined(&self.words[number..][..2])
    }

    /// The same for several numbers.
    ///
    /// # Panics
    /// When there are no such bases.
    #[inline(always)]
    pub fn bits_of(&self, numbers: Range<usize>) -> impl Iterator<Item = [u64; 2]> + '_ {
        self.words[numbers.start..=numbers.end]
            .windows(2)
            .map(joined)
    }

    /// All bits, for a checksum.
    pub fn bits_of_all(&self) -> impl Iterator<Item = u64> + '_ {
        let words = self.length.div_ceil(WINDOW);
        let runs = self.runs.iter();
        let runs = runs
            .flat_map(|Run { range, code }| [range.start as u64, range.end as u64, (*code).into()]);
        self.words[..words].iter().copied().chain(runs)
    }
}

/// Whether letters are those of one base each, in either case.
#[inline(always)]
fn are_bases(letters: &[u8; WINDOW]) -> bool {
    let is_base = |letter: u8| {
        let lower = letter | 0x20;
        (lower == b'a') | (lower == b'c') | (lower == b'g') | (lower == b't') | (lower == b'u')
    };
    letters
        .iter()
        .fold(true, |all, &letter| all & is_base(letter))
}

/// The lower bits of the codes of bases, by their letters, and the upper ones in the other half.
/// The second and the third bit of a letter tell its code.
#[inline(always)]
fn planes_of_letters(letters: &[u8; WINDOW]) -> u64 {
    let eights = letters.as_chunks::<AT_ONCE>().0.iter().enumerate();
    eights.fold(0, |word, (number, eight)| {
        let letters = u64::from_le_bytes(*eight);
        let bits = |lowest: u64| (lowest & LOW).wrapping_mul(GATHER) >> 56;
        let (low, high) = (bits(letters >> 1 ^ letters >> 2), bits(letters >> 2));
        word | (low | high << WINDOW) << (AT_ONCE * number)
    })
}

/// The lower and the upper bits of the bases of two neighbouring words.
#[inline(always)]
fn joined(two: &[u64]) -> [u64; 2] {
    [
        two[0] & HALF | two[1] << WINDOW,
        two[0] >> WINDOW | two[1] & !HALF,
    ]
}

/// Makes all bits of a range of codes 0.
fn clear(words: &mut [u64], range: Range<usize>) {
    for at in range {
        let bit = 1_u64 << (at % WINDOW);
        words[at / WINDOW] &= !(bit | bit << WINDOW);
    }
}

/// The bases in which two windows differ, a bit each, from their difference: one exclusive or the
/// other.
#[inline(always)]
pub fn differing(difference: u64) -> u32 {
    (difference | difference >> WINDOW) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residue::BORDER;

    #[test]
    fn windows_tell_where_bases_differ() {
        let mut codes: Vec<u8> = (0..100_u32).map(|at| (at * at % 7 % 4) as u8).collect();
        let packed = Packed::of(&codes);
        assert_eq!(packed.stretches(0..100).next(), Some(0..100));
        let before = packed.window(40);
        codes[40] ^= 1;
        codes[45] ^= 2;
        codes[71] ^= 3;
        codes[60] = 14;
        codes[99] = BORDER;
        let packed = Packed::of(&codes);
        let stretches = |range| packed.stretches(range).collect::<Vec<_>>();
        assert_eq!(stretches(0..100), [0..60, 61..99]);
        assert_eq!(packed.stretches(0..61).last(), Some(0..60));
        assert_eq!(packed.stretches(60..62).next(), Some(61..99));
        let differing = differing(packed.window(40) ^ before);
        assert_eq!(differing & !(1 << 20), 1 | 1 << 5 | 1 << 31);
        assert_eq!(packed.others(59), 1 << 1);
        for at in [0, 1, 31, 32, 33, 67] {
            let (window, others) = (packed.window(at), packed.others(at));
            let [low, high] = packed.bits(at / WINDOW);
            for place in 0..WINDOW {
                let code = if others >> place & 1 == 1 {
                    0
                } else {
                    codes[at + place]
                };
                let of_window = [window >> place & 1, window >> (WINDOW + place) & 1];
                assert_eq!(of_window, [code & 1, code >> 1].map(u64::from));
                let shift = at % WINDOW + place;
                assert_eq!([low >> shift & 1, high >> shift & 1], of_window);
                assert_eq!(others >> place & 1 == 1, codes[at + place] > 3);
            }
        }
        assert_eq!(Packed::of(&[]).stretches(0..1).count(), 0);
    }

    #[test]
    fn letters_are_packed_as_their_codes_are() {
        let all: Vec<u8> = (0..=255_u8).chain(b"ACGTacgtuU".repeat(20)).collect();
        let texts = (0..=all.len()).step_by(7).map(|from| &all[from..]);
        for letters in texts.chain([&b""[..], b"-", b"ACGT", b"A-C.GTN"]) {
            let kept = letters.iter().filter(|letter| !b"-.".contains(letter));
            let codes: Vec<u8> = kept.map(|&letter| nucleotide::code(letter)).collect();
            let mut packed = Packed::of(&[2, BORDER]);
            packed.push_letters(letters);
            let expected = [&[2, BORDER], &codes[..]].concat();
            assert!(packed.forward(0).eq(expected.iter().copied()));
            let equal: Vec<u64> = Packed::of(&expected).bits_of_all().collect();
            assert!(packed.bits_of_all().eq(equal));
        }
    }

    #[test]
    fn all_kernels_sort_the_same_bits() {
        let bytes: Vec<[u8; 8]> = (0..19_u64)
            .map(|at| (at * at).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes())
            .collect();
        for kernels in Kernels::available() {
            let mut words = vec![0; bytes.len()];
            kernels.planes(&bytes, &mut words);
            for (eight, word) in bytes.iter().zip(words) {
                for place in 0..WINDOW {
                    let base = eight[place / 4] >> (6 - 2 * (place % 4)) & 3;
                    let of_word = [word >> place & 1, word >> (WINDOW + place) & 1];
                    assert_eq!(of_word, [base & 1, base >> 1].map(u64::from));
                }
            }
        }
    }

    #[test]
    fn shares_are_written_as_all_is_pushed() {
        let bytes: Vec<u8> = (0..1500_u32).map(|at| (at * at % 251) as u8).collect();
        let pieces = [(7, 0, 1), (0, 2, 0), (1, 3, 5003), (60, 0, 97), (0, 1, 700)];
        let (mut expected, mut packed) = (Packed::default(), Packed::default());
        let mut left = Vec::new();
        for (before, first, count) in pieces {
            for packed in [&mut expected, &mut packed] {
                packed.push(&vec![BORDER; before]);
            }
            expected.push_bytes(&bytes, first, count);
            left.push((packed.leave(count), first));
        }
        let start = expected.len() - 30;
        for packed in [&mut expected, &mut packed] {
            packed.replace(start..start + 20, 9);
        }
        let all = 0..packed.len();
        for codes in [32, 100, 640, 1 << 20] {
            let mut packed = packed.clone();
            for mut share in packed.shares(all.clone(), codes) {
                let own = share.range();
                for (piece, first) in &left {
                    let from = piece.start.max(own.start);
                    let count = piece.end.min(own.end).saturating_sub(from);
                    if count > 0 {
                        let source = first + from - piece.start;
                        share.write(from, &bytes[source / 4..], source % 4, count);
                    }
                }
            }
            packed.settle(all.clone());
            assert!(packed.bits_of_all().eq(expected.bits_of_all()), "{codes}");
        }
    }

    #[test]
    fn codes_come_back_from_wherever_they_were_added() {
        let bases: Vec<u8> = (0..300_u32).map(|at| (at * at % 11 % 4) as u8).collect();
        let bytes: Vec<u8> = bases
            .chunks(4)
            .map(|four| four.iter().fold(0, |byte, base| byte << 2 | base))
            .collect();
        for (before, first, count) in [
            (0, 0, 300),
            (1, 1, 299),
            (31, 3, 250),
            (33, 2, 1),
            (7, 0, 0),
        ] {
            let mut codes = vec![14; before];
            let mut packed = Packed::of(&codes);
            packed.push_bytes(&bytes, first, count);
            codes.extend(&bases[first..first + count]);
            packed.push(&[3, BORDER, 2]);
            codes.extend([3, BORDER, 2]);
            if count > 40 {
                packed = {
                    let mut again = Packed::of(&codes[..before]);
                    again.push_bytes(&bytes, first, count);
                    again.replace(before + 20..before + 40, 9);
                    again.push(&[3, BORDER, 2]);
                    again
                };
                codes[before + 20..before + 40].fill(9);
            }
            assert_eq!(packed.len(), codes.len());
            let equal: Vec<u64> = Packed::of(&codes).bits_of_all().collect();
            assert!(packed.bits_of_all().eq(equal));
            assert!(packed.forward(0).eq(codes.iter().copied()));
            assert!(packed.backward(codes.len()).eq(codes.iter().rev().copied()));
            for from in [0, 1, before, codes.len() / 2] {
                let mut part = vec![0; codes.len() - from];
                packed.unpack(from, &mut part);
                assert_eq!(part, codes[from..]);
                assert!((from..codes.len()).all(|at| packed.code(at) == codes[at]));
                let mut some = [0; COLUMNS];
                if from + COLUMNS <= codes.len() {
                    packed.codes_from(from, &mut some);
                    assert_eq!(some, codes[from..from + COLUMNS]);
                }
                if let Some(start) = from.checked_sub(COLUMNS) {
                    packed.codes_before(from, &mut some);
                    some.reverse();
                    assert_eq!(some, codes[start..from]);
                }
                let mut part = Packed::of(&codes[..before]);
                part.push_part_of(&packed, from..codes.len());
                let expected = [&codes[..before], &codes[from..]].concat();
                let equal: Vec<u64> = Packed::of(&expected).bits_of_all().collect();
                assert!(part.bits_of_all().eq(equal));
            }
        }
    }
}
