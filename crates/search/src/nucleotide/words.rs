//! Words of queries: every stretch of a few bases that is not masked, by its key.

use std::convert::Infallible;
use std::ops::Range;

use gyrase_align::arch::prefetch;
use gyrase_align::packed::{Packed, WINDOW};
use gyrase_align::residue::BORDER;
use gyrase_work::in_parallel;

use super::coarse::{Coarse, bit};
use super::options::Setting;
use super::seed::Seed;
use crate::Sequences;
use crate::frames::Frames;

/// Bases of a window before its word.
pub(super) const BEFORE: usize = 10;
/// Part of a code that says that it is masked.
pub(crate) const MASKED: u8 = 32;
/// Keys of a part fit into a cache with the words that they have.
pub(super) const PARTS: usize = 256;
/// Queries of few words have one part.
const FEW: usize = 1 << 18;
/// Codes of a block whose frame is known.
const BLOCK: usize = 256;

/// Bits of the word in a window that say that nothing before it may be equal: one for queries and
/// one for subjects. Both have the same word, so that nothing else makes them differ.
const FIRST_OF_QUERY: u64 = 1 << BEFORE;
pub(super) const FIRST_OF_SUBJECT: u64 = 1 << (WINDOW + BEFORE);

/// The words of all queries by their keys.
pub(super) struct Words {
    /// Which bases make a key.
    pub seed: Seed,
    /// Every so many words of subjects are looked up.
    pub step: usize,
    /// Keys of a part, as a power of two.
    pub part_bits: u32,
    /// The text of the queries; what is masked has another bit.
    pub text: Vec<u8>,
    /// The same without masks, and with masks as what is no base.
    pub packed: Packed,
    pub masked: Packed,
    /// Where the words of each key that there is begin, and where one more would.
    starts: Vec<u32>,
    pub windows: Vec<u64>,
    pub positions: Vec<u32>,
    /// Which keys there are, and of each 64 how many are before.
    present: Vec<u64>,
    before: Vec<u32>,
    /// What each word has at one of so many neighbouring places, where few words of subjects do.
    pub coarse: Option<Coarse>,
    /// The frame of the first code of each block.
    frames: Vec<u32>,
}

impl Words {
    /// The words of the frames of queries.
    pub(super) fn new(queries: &Sequences, setting: &Setting, seed: Seed, threads: usize) -> Words {
        let bases = seed.bases;
        let text = masked(queries, setting);
        let masked = Packed::of(&text);
        let mut words = Words {
            seed,
            step: setting.word - bases + 1,
            part_bits: 2 * bases as u32,
            text,
            packed: Packed::of(queries.text()),
            masked: Packed::default(),
            starts: Vec::new(),
            windows: Vec::new(),
            positions: Vec::new(),
            present: vec![0; (1_usize << (2 * bases)).div_ceil(64)],
            before: Vec::new(),
            coarse: None,
            frames: frames(queries),
        };
        words.fill(&masked, setting.word.max(seed.span), threads);
        words.masked = masked;
        if words.step == 1 && !seed.is_template() {
            let windows = words.positions.iter();
            let windows = windows.map(|&position| words.packed.window(position as usize));
            let bits = windows.map(|window| [window, window >> WINDOW]);
            words.coarse = Coarse::new(bits, seed);
        }
        words
    }

    /// Sorts the words of unmasked stretches that have so many bases at least.
    fn fill(&mut self, masked: &Packed, word: usize, threads: usize) {
        let all = masked.stretches(0..masked.len());
        let long = all.filter(|range| range.len() >= word);
        let starts = long.map(|range| range.start..range.end + 1 - self.seed.span);
        let count: usize = starts.clone().map(|range| range.len()).sum();
        if count > FEW {
            self.part_bits = self.part_bits.saturating_sub(PARTS.ilog2());
        }
        let pairs = self.sorted(starts.flatten(), count, threads);
        let mut last = None;
        for (number, pair) in pairs.iter().enumerate() {
            let key = (pair >> WINDOW) as usize;
            if last.replace(key) != Some(key) {
                self.starts.push(number as u32);
                self.present[key / 64] |= 1 << (key % 64);
            }
        }
        self.positions = pairs.iter().map(|&pair| pair as u32).collect();
        drop(pairs);
        self.windows = vec![0; count];
        self.fill_windows(masked, threads);
        self.starts.push(count as u32);
        let mut keys = 0;
        let before = self.present.iter().map(|bits| {
            keys += bits.count_ones();
            keys - bits.count_ones()
        });
        self.before = before.collect();
    }

    /// Reads the windows of all words.
    fn fill_windows(&mut self, masked: &Packed, threads: usize) {
        let packed = &self.packed;
        let read = |(windows, positions): (&mut [u64], &[u32])| -> Result<(), Infallible> {
            for (window, &position) in windows.iter_mut().zip(positions) {
                let position = position as usize;
                let is_first = u64::from(masked.others(position - 1) & 1 == 1);
                *window = packed.window(position - BEFORE) ^ (is_first * FIRST_OF_QUERY);
            }
            Ok(())
        };
        let each = self.positions.len().div_ceil(threads).max(1);
        let parts = self
            .windows
            .chunks_mut(each)
            .zip(self.positions.chunks(each));
        let Ok(_) = in_parallel(parts.collect(), read);
    }

    /// The keys of so many words in the upper halves, their positions in the lower ones, sorted:
    /// first by parts, which are in a cache, then part by part.
    fn sorted(
        &self,
        positions: impl Iterator<Item = usize> + Clone,
        count: usize,
        threads: usize,
    ) -> Vec<u64> {
        let key = |position: usize| self.key(self.packed.window(position - BEFORE));
        let mut ends = vec![0; self.parts() + 1];
        for position in positions.clone() {
            ends[(key(position) >> self.part_bits) + 1] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let mut pairs = vec![0; count];
        for position in positions {
            let key = key(position);
            let place: &mut usize = &mut ends[key >> self.part_bits];
            pairs[*place] = (key as u64) << WINDOW | position as u64;
            *place += 1;
        }
        // Each has become where the next begins.
        let (mut rest, mut start) = (&mut pairs[..], 0);
        let mut shares: Vec<Vec<&mut [u64]>> = (0..threads).map(|_| Vec::new()).collect();
        for (number, &end) in ends[..self.parts()].iter().enumerate() {
            let (part, behind) = rest.split_at_mut(end - start);
            shares[number % threads].push(part);
            (rest, start) = (behind, end);
        }
        let sort = |parts: Vec<&mut [u64]>| -> Result<(), Infallible> {
            parts.into_iter().for_each(|part| part.sort_unstable());
            Ok(())
        };
        let Ok(_) = in_parallel(shares, sort);
        pairs
    }

    /// The key of the word in a window.
    #[inline(always)]
    pub(super) fn key(&self, window: u64) -> usize {
        self.key_of(window >> BEFORE, window >> (WINDOW + BEFORE))
    }

    /// The key of the word whose lower and upper bits begin these.
    #[inline(always)]
    pub(super) fn key_of(&self, low: u64, high: u64) -> usize {
        self.seed.key(low, high)
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
        prefetch(&self.starts, place);
        place
    }

    /// The numbers of the words of a key by its place; their windows will be asked for.
    #[inline(always)]
    pub(super) fn of(&self, place: usize) -> Range<usize> {
        let start = self.starts[place] as usize;
        prefetch(&self.windows, start);
        start..self.starts[place + 1] as usize
    }

    /// Parts of the keys.
    pub(super) fn parts(&self) -> usize {
        ((1_usize << (2 * self.seed.bases)) >> self.part_bits).max(1)
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
        let keys = 1_u64 << (2 * setting.key_bases());
        // A pair while they are sorted, a window, a position and a start; text, packed and masked.
        let word = 2 * size_of::<u64>() + 2 * size_of::<u32>() + 3;
        codes as u64 * word as u64 + keys / 8 + keys / 16
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

/// The text in which words are looked for; what is of a strand that nobody asked for is masked.
fn masked(queries: &Sequences, setting: &Setting) -> Vec<u8> {
    let mut text = queries.seed_text().to_vec();
    let strands = Frames::Strands.numbers().iter().cycle();
    for (number, &strand) in (0..queries.len()).zip(strands) {
        if !setting.strands.have(strand) {
            mask(&mut text[queries.range(number)]);
        }
    }
    text
}

fn mask(codes: &mut [u8]) {
    codes.iter_mut().for_each(|code| *code |= MASKED);
}

/// Whether a code is the border of a sequence.
#[inline(always)]
pub(super) fn is_border(code: u8) -> bool {
    code == BORDER
}
