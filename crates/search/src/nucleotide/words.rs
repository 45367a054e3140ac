//! Words of queries: every stretch of a few bases that is not masked, by its key.

use std::ops::{Range, RangeInclusive};
use std::sync::{Arc, Mutex, PoisonError};

use gyrase_align::arch::{BEFORE, SIDE_LANES};
use gyrase_align::packed::{Packed, WINDOW};
use gyrase_align::residue::BORDER;
use gyrase_work::prefetch;

use super::coarse::{Coarse, bit};
use super::options::Setting;
use super::seed::Seed;
use crate::Sequences;
use crate::frames::Frames;

/// Part of a code that says that it is masked.
pub(crate) const MASKED: u8 = 32;
/// Keys of a part fit into a cache with the words that they have.
pub(super) const PARTS: usize = 256;
/// Queries of few words have one part.
const FEW: usize = 1 << 18;
/// Bits of which keys of parts of long words set one each, for each word: most words of subjects
/// that are no query's have none.
const SPARSE: usize = 16;
/// Bits of such keys.
const HASH_BITS: RangeInclusive<u32> = 12..=27;
/// Keys of parts are whole words of bits.
const LEAST_PART_BITS: u32 = 6;
/// What spreads keys: 2^64 by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// Words of a key whose bases are asked for before they are read.
const SOME: usize = 8;
/// Codes of a block whose frame is known.
const BLOCK: usize = 256;

/// Bits of the word in a window that say that nothing before it may be equal: one for queries and
/// one for subjects. Both have the same word, so that nothing else makes them differ.
pub(super) const FIRST_OF_QUERY: u64 = 1 << BEFORE;
pub(super) const FIRST_OF_SUBJECT: u64 = 1 << (WINDOW + BEFORE);

/// Of the words of a part of the keys the key and the position of each, until they are sorted; then
/// the position of each, and beside these where the words of each key that there is begin, and
/// where one more would: a part has an entry more than words.
pub(super) type Entry = [u32; 2];

/// The words of all queries by their keys.
pub(super) struct Words {
    /// Which bases make a key.
    pub seed: Seed,
    /// Every so many words of subjects are looked up.
    pub step: usize,
    /// Keys, as a power of two.
    pub key_bits: u32,
    /// Keys of a part, as a power of two.
    pub part_bits: u32,
    /// The text of the queries without masks, and with masks as what is no base.
    pub packed: Packed,
    pub masked: Packed,
    /// The position of each word, and where the words of each key that there is begin.
    pub(super) entries: Vec<Entry>,
    /// Their windows, and as many more as are compared at once; none of parts of long words, of
    /// which few are asked for.
    pub(super) windows: Vec<u64>,
    /// Which keys there are, and the place of the first of each 64.
    pub(super) present: Vec<u64>,
    pub(super) before: Vec<u32>,
    /// What each word has at one of so many neighbouring places, where few words of subjects do.
    pub coarse: Option<Coarse>,
    /// The frame of the first code of each block.
    frames: Vec<u32>,
}

/// The words of the queries that were searched for last: they may be searched for in one part of
/// a database after the other.
#[derive(Default)]
pub(crate) struct KeptWords(Mutex<Option<Arc<Words>>>);

impl KeptWords {
    /// The words of the frames of queries.
    pub(super) fn of(
        &self,
        queries: &Sequences,
        setting: &Setting,
        seed: Seed,
        threads: usize,
    ) -> Arc<Words> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let are_same = |words: &Arc<Words>| {
            words.seed == seed && words.masked == Packed::of(queries.seed_text())
        };
        let same = kept.take().filter(are_same);
        let words = same.unwrap_or_else(|| Arc::new(Words::new(queries, setting, seed, threads)));
        *kept = Some(Arc::clone(&words));
        words
    }
}

impl Words {
    /// The words of the frames of queries.
    pub(super) fn new(queries: &Sequences, setting: &Setting, seed: Seed, threads: usize) -> Words {
        let mut words = Words {
            seed,
            step: setting.step(),
            key_bits: 0,
            part_bits: 0,
            packed: Packed::of(queries.text()),
            masked: Packed::of(queries.seed_text()),
            entries: Vec::new(),
            windows: Vec::new(),
            present: Vec::new(),
            before: Vec::new(),
            coarse: None,
            frames: frames(queries),
        };
        words.fill(queries, setting, threads);
        if words.step == 1 && !seed.is_template() {
            // What a part has more than words has no position.
            let all = words.entries.iter().filter(|entry| entry[0] > 0);
            let windows = all.map(|entry| words.packed.window(entry[0] as usize));
            let bits = windows.map(|window| [window, window >> WINDOW]);
            words.coarse = Coarse::new(bits, words.entries.len() - words.parts(), seed);
        }
        words
    }

    /// Sorts the words of the strands that are asked for, of unmasked stretches that are as long as
    /// the least word.
    fn fill(&mut self, queries: &Sequences, setting: &Setting, threads: usize) {
        let masked = std::mem::take(&mut self.masked);
        let word = setting.word.max(self.seed.span);
        let is_asked_for = |range: &Range<usize>| {
            let strands = Frames::Strands.numbers();
            let frame = self.frame(queries, range.start);
            setting.strands.have(strands[frame % strands.len()])
        };
        let all = masked.stretches(0..masked.len());
        let long = all.filter(|range| range.len() >= word && is_asked_for(range));
        let starts = long.map(|range| range.start..range.end + 1 - self.seed.span);
        let starts: Vec<Range<usize>> = starts.collect();
        let count = starts.iter().map(Range::len).sum();
        self.key_bits = key_bits(&self.seed, self.step, count);
        let parts = Words::most_parts(count);
        let bits = self.key_bits.saturating_sub(parts.ilog2());
        self.part_bits = bits.max(LEAST_PART_BITS);
        self.sort(&masked, starts, count, threads);
        self.masked = masked;
    }

    /// The key of the word in a window; of a part of a long word its hash.
    #[inline(always)]
    pub(super) fn key(&self, window: u64) -> usize {
        let key = self.key_of(window >> BEFORE, window >> (WINDOW + BEFORE));
        if self.step == 1 {
            return key;
        }
        ((key as u64).wrapping_mul(SPREAD) >> (u64::BITS - self.key_bits)) as usize
    }

    /// The key of the whole word whose lower and upper bits begin these.
    #[inline(always)]
    pub(super) fn key_of(&self, low: u64, high: u64) -> usize {
        self.seed.key(low, high)
    }

    /// All keys of which there is a word, in ascending order.
    pub(super) fn keys(&self) -> impl Iterator<Item = usize> + '_ {
        let numbered = self.present.iter().enumerate();
        numbered.flat_map(|(number, &bits)| {
            let next = |&left: &u64| Some(left & (left - 1)).filter(|left| *left != 0);
            let lefts = std::iter::successors(Some(bits).filter(|bits| *bits != 0), next);
            lefts.map(move |left| number * 64 + left.trailing_zeros() as usize)
        })
    }

    /// Whether there is a word of a key.
    #[inline(always)]
    pub(super) fn has(&self, key: usize) -> bool {
        bit(&self.present, key)
    }

    /// The place of a key among those that there are; its words will be asked for.
    #[inline(always)]
    pub(super) fn place(&self, key: usize) -> usize {
        let lower = self.present[key / 64] & ((1 << (key % 64)) - 1);
        let place = (self.before[key / 64] + lower.count_ones()) as usize;
        prefetch(&self.entries, place);
        place
    }

    /// The numbers of the words of a key by its place; their windows will be asked for.
    #[inline(always)]
    pub(super) fn of(&self, place: usize) -> Range<usize> {
        let [start, end] = [place, place + 1].map(|place| self.entries[place][1] as usize);
        match self.step {
            1 => {
                prefetch(&self.windows, start);
                prefetch(&self.windows, start + SIDE_LANES - 1);
            }
            _ => prefetch(&self.entries, start),
        }
        start..end
    }

    /// The window of a word.
    #[inline(always)]
    pub(super) fn window(&self, number: usize) -> u64 {
        match self.windows.get(number) {
            Some(window) => *window,
            None => self.packed.window(self.position(number) - BEFORE),
        }
    }

    /// Asks for the bases of the first of some words, where `windows` has no copy of them.
    #[inline(always)]
    pub(super) fn prefetch_bases(&self, numbers: Range<usize>) {
        for number in numbers.take(SOME) {
            self.packed.prefetch_window(self.position(number) - BEFORE);
        }
    }

    /// The position of a word.
    #[inline(always)]
    pub(super) fn position(&self, number: usize) -> usize {
        self.entries[number][0] as usize
    }

    /// Parts of the keys.
    pub(super) fn parts(&self) -> usize {
        1 << self.key_bits.saturating_sub(self.part_bits)
    }

    /// The same of so many words, at most.
    pub(super) fn most_parts(words: usize) -> usize {
        if words > FEW { PARTS } else { 1 }
    }

    /// Which frame of the queries has that position of the text.
    pub(super) fn frame(&self, queries: &Sequences, position: usize) -> usize {
        let first = self.frames[position / BLOCK] as usize;
        let mut later = first..queries.len();
        later
            .find(|&frame| position <= queries.range(frame).end)
            .unwrap_or(first)
    }

    /// Bytes that the words of a text of so many codes take, and what makes them.
    pub(super) fn bytes(codes: usize, setting: &Setting) -> u64 {
        let step = setting.step();
        let bits = setting.seeds.iter().map(|seed| key_bits(seed, step, codes));
        let keys = 1_u64 << bits.max().unwrap_or_default();
        // An entry; packed and masked.
        let word = size_of::<Entry>() + 2;
        let window = if step == 1 { size_of::<u64>() } else { 0 };
        codes as u64 * (word + window) as u64 + keys / 8 + keys / 16
    }
}

/// Bits of the keys of so many words, of which every so many are looked up.
fn key_bits(seed: &Seed, step: usize, words: usize) -> u32 {
    match step {
        1 => 2 * seed.bases as u32,
        _ => {
            let bits = (words * SPARSE).next_power_of_two().ilog2();
            bits.clamp(*HASH_BITS.start(), *HASH_BITS.end())
        }
    }
}

/// The frame of the first code of each block of the text.
fn frames(queries: &Sequences) -> Vec<u32> {
    let mut frame = 0;
    let blocks = (0..queries.text().len()).step_by(BLOCK);
    let of_block = |from: usize| {
        while frame + 1 < queries.len() && from > queries.range(frame).end {
            frame += 1;
        }
        frame as u32
    };
    blocks.map(of_block).collect()
}

/// Whether a code is the border of a sequence.
#[inline(always)]
pub(super) fn is_border(code: u8) -> bool {
    code == BORDER
}
