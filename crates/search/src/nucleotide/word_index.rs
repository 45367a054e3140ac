//! Where each word of subjects is: what many searches of few queries look up, and none of them
//! goes through all of the subjects.

use std::ops::Range;

use gyrase_align::arch::{COLUMNS, Kernels};
use gyrase_align::packed::{Packed, WINDOW};

use super::seed::Seed;
use crate::Sequences;
use crate::positions::{Keyed, Positions};

/// Its words: those of `blastn`.
const SEED: Seed = Seed::contiguous(11);
/// Words that there may be.
const KEYS: usize = 1 << (2 * SEED.bases);
/// Keys of a part, as a power of two: positions are sorted by parts, and then in a cache by keys.
const PART_BITS: u32 = 14;
/// Says that no base stands before a word.
pub(super) const FIRST: u32 = 1 << 31;

/// The positions of all words of subjects by key, with [`FIRST`] where no base is before.
pub(crate) struct WordIndex(Positions);

impl WordIndex {
    /// The index of all words that are not masked. There is none of so many bases that a position
    /// does not fit, or where so many words are alike that sorting them takes more than is said.
    pub(crate) fn new(subjects: &Sequences, threads: usize) -> Option<WordIndex> {
        let packed = subjects.packed();
        if packed.len() >= FIRST as usize {
            return None;
        }
        let words = SubjectWords {
            subjects,
            kernels: Kernels::detect(),
        };
        let (text, parts) = (COLUMNS..packed.len() - COLUMNS, KEYS >> PART_BITS);
        let by_part = Positions::new(text, parts, &words, threads);
        let most = (0..parts).map(|part| by_part.count(part)).max();
        let at_once = by_part.len() / (2 * most.unwrap_or_default()).max(1);
        let part = |entry| key_at(packed, (entry & !FIRST) as usize) % (1 << PART_BITS);
        (at_once > 0).then(|| {
            let threads = threads.min(at_once);
            WordIndex(by_part.divided(1 << PART_BITS, part, threads))
        })
    }

    /// Bytes that it takes for so many bases, and making it once more; none where there is none.
    pub(crate) fn bytes(bases: u64) -> u64 {
        match bases < FIRST.into() {
            true => size_of::<u32>() as u64 * (KEYS as u64 + bases),
            false => 0,
        }
    }

    /// Whether it is of the words of a seed.
    pub(super) fn is_of(seed: Seed) -> bool {
        seed == SEED
    }

    /// How many words of a key there are.
    pub(super) fn count(&self, key: usize) -> usize {
        self.0.count(key)
    }

    /// Where the words of a key are, in ascending order, some at a time; with [`FIRST`] where no
    /// base is before.
    #[inline(always)]
    pub(super) fn some(
        &self,
        key: usize,
        at_once: usize,
    ) -> impl Iterator<Item = impl Iterator<Item = u32> + Clone + '_> {
        self.0.some(key, at_once)
    }

    /// Asks the processor for the first words of a key.
    #[inline(always)]
    pub(super) fn prefetch(&self, key: usize) {
        self.0.prefetch(key);
    }
}

/// The key of the word at a position.
#[inline(always)]
fn key_at(packed: &Packed, at: usize) -> usize {
    let [low, high] = packed.bits(at / WINDOW);
    SEED.key(low >> (at % WINDOW), high >> (at % WINDOW))
}

/// The words of subjects, by parts of their keys.
struct SubjectWords<'s> {
    subjects: &'s Sequences,
    kernels: Kernels,
}

impl Keyed for SubjectWords<'_> {
    fn of(&self, text: Range<usize>, mut each: impl FnMut(usize, u32)) {
        for stretch in self.subjects.seed_stretches(text.clone()) {
            let end = (stretch.end + 1).saturating_sub(SEED.span).min(text.end);
            let own = stretch.start.max(text.start)..end;
            let first = stretch.start;
            self.kernels.run(
                #[inline(always)]
                || self.of_stretch(own, first, &mut each),
            );
        }
    }
}

impl SubjectWords<'_> {
    #[inline(always)]
    fn of_stretch(&self, own: Range<usize>, first: usize, each: &mut impl FnMut(usize, u32)) {
        for number in own.start / WINDOW..own.end.div_ceil(WINDOW) {
            let [low, high] = self.subjects.packed().bits(number);
            let start = number * WINDOW;
            let within = |at: usize| at.saturating_sub(start).min(WINDOW);
            for place in within(own.start)..within(own.end) {
                let flag = if start + place == first { FIRST } else { 0 };
                let part = SEED.key(low >> place, high >> place) >> PART_BITS;
                each(part, (start + place) as u32 | flag);
            }
        }
    }
}
