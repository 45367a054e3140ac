//! Words of queries: every stretch of a few bases that is not masked, by its key.

use std::ops::Range;

use gyrase_align::mask::dust::Dust;
use gyrase_align::nucleotide::{ANY, BASES};
use gyrase_align::packed::{Packed, WINDOW};
use gyrase_align::residue::BORDER;

use super::options::Setting;
use crate::Sequences;
use crate::frames::Frames;

/// Bases of a window before its word.
pub(super) const BEFORE: usize = 10;
/// Bases of a word that has a key; longer ones are found by parts of them.
const LONGEST_KEY: usize = 11;
/// Part of a code that says that it is masked.
pub(super) const MASKED: u8 = 32;
/// Keys of a part fit into a cache with the words that they have.
const PARTS: usize = 256;

/// A bit of the word in a window that says that nothing before it may be equal: one for queries
/// and one for subjects. Both have the same word, so that nothing else makes them differ.
const FIRST_OF_QUERY: u64 = 1 << (2 * BEFORE);
pub(super) const FIRST_OF_SUBJECT: u64 = 2 << (2 * BEFORE);

/// The words of all queries by their keys.
pub(super) struct Words {
    /// Bases of a key.
    pub bases: usize,
    /// Every so many words of subjects are looked up.
    pub step: usize,
    /// Keys of a part, as a power of two.
    pub part_bits: u32,
    /// The text of the queries; what is masked has another bit.
    pub text: Vec<u8>,
    starts: Vec<u32>,
    pub windows: Vec<u64>,
    pub positions: Vec<u32>,
    present: Vec<u64>,
}

impl Words {
    /// The words of the frames of queries.
    pub(super) fn new(queries: &Sequences, setting: &Setting) -> Words {
        let bases = setting.word.min(LONGEST_KEY);
        let text = masked(queries, setting);
        let mut packed = Packed::default();
        packed.load(&text);
        let mut words = Words {
            bases,
            step: setting.word - bases + 1,
            part_bits: (2 * bases as u32).saturating_sub(PARTS.ilog2()),
            text,
            starts: vec![0; (1 << (2 * bases)) + 1],
            windows: Vec::new(),
            positions: Vec::new(),
            present: vec![0; (1_usize << (2 * bases)).div_ceil(64)],
        };
        words.fill(&packed, setting.word);
        words
    }

    /// Sorts all words by their keys.
    fn fill(&mut self, packed: &Packed, word: usize) {
        let stretches = || {
            let long = packed
                .stretches()
                .iter()
                .filter(|range| range.len() >= word);
            long.map(|range| range.start..range.end + 1 - self.bases)
        };
        let mut next = vec![0_u32; self.starts.len()];
        for position in stretches().flatten() {
            next[self.key(packed.window(position - BEFORE)) + 1] += 1;
        }
        let mut sum = 0;
        for count in &mut next {
            sum += *count;
            *count = sum;
        }
        let mut windows = vec![0; sum as usize];
        let mut positions = vec![0; sum as usize];
        let starts = next.clone();
        for range in stretches() {
            for position in range.clone() {
                let window = packed.window(position - BEFORE);
                let place = &mut next[self.key(window)];
                let first = u64::from(position == range.start) * FIRST_OF_QUERY;
                windows[*place as usize] = window ^ first;
                positions[*place as usize] = position as u32;
                *place += 1;
            }
        }
        for (key, range) in starts.windows(2).enumerate() {
            self.present[key / 64] |= u64::from(range[0] < range[1]) << (key % 64);
        }
        (self.starts, self.windows, self.positions) = (starts, windows, positions);
    }

    /// The key of the word in a window.
    #[inline(always)]
    pub(super) fn key(&self, window: u64) -> usize {
        (window >> (2 * BEFORE)) as usize & ((1 << (2 * self.bases)) - 1)
    }

    /// Whether there is a word of a key.
    #[inline(always)]
    pub(super) fn has(&self, key: usize) -> bool {
        self.present[key / 64] >> (key % 64) & 1 == 1
    }

    /// The numbers of the words of a key.
    #[inline(always)]
    pub(super) fn of(&self, key: usize) -> Range<usize> {
        self.starts[key] as usize..self.starts[key + 1] as usize
    }

    /// Parts of the keys.
    pub(super) fn parts(&self) -> usize {
        ((1_usize << (2 * self.bases)) >> self.part_bits).max(1)
    }

    /// Bytes that the words of a text of so many codes take, and what makes them.
    pub(super) fn bytes(codes: usize, setting: &Setting) -> u64 {
        let keys = 1_u64 << (2 * setting.word.min(LONGEST_KEY));
        let (word, made) = (size_of::<u64>() + size_of::<u32>(), 2 * size_of::<u32>());
        codes as u64 * (word as u64 + 2) + keys * made as u64 + keys / 8
    }
}

/// The text of queries; what is of low complexity, or of a strand that nobody asked for, is masked.
fn masked(queries: &Sequences, setting: &Setting) -> Vec<u8> {
    let mut text = queries.text().to_vec();
    let mut dust = Dust::default();
    let frames = Frames::Strands.numbers();
    for number in (0..queries.len()).step_by(frames.len()) {
        let known: Vec<u8> = queries
            .residues(number)
            .iter()
            .map(|&code| known(code))
            .collect();
        let masks = if setting.dust { dust.mask(&known) } else { &[] };
        for (place, &frame) in frames.iter().enumerate() {
            let codes = &mut text[queries.range(number + place)];
            if !setting.strands.have(frame) {
                mask(codes);
            }
            for range in masks {
                mask(&mut codes[Frames::Strands.place(range, frame, known.len())]);
            }
        }
    }
    text
}

/// As the mask takes codes: what stands for some bases is an A.
fn known(code: u8) -> u8 {
    match code {
        ANY => ANY,
        code if usize::from(code) < BASES => code,
        _ => 0,
    }
}

fn mask(codes: &mut [u8]) {
    codes.iter_mut().for_each(|code| *code |= MASKED);
}

/// Whether a code is the border of a sequence.
#[inline(always)]
pub(super) fn is_border(code: u8) -> bool {
    code == BORDER
}

const _: () = assert!(BEFORE + LONGEST_KEY < WINDOW);
