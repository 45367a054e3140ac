//! Where each word of subjects is: what many searches of few queries look up, and none of them
//! goes through all of the subjects.

use std::ops::Range;

use gyrase_align::arch::{BEFORE, COLUMNS, Kernels};
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
/// Words of a key that are asked for.
const PREFETCHED: usize = 48;
/// Says that no base stands before a word.
pub(super) const FIRST: u32 = 1 << 31;

/// The first bit that says which base stands before a word, where positions leave room for it.
const BASE_BEFORE: u32 = 29;
/// What no entry has from that bit on.
const NEVER: u32 = 1 << 3;

/// The positions of all words of subjects by key, with [`FIRST`] where no base is before, and the
/// code of the base that is.
pub(crate) struct WordIndex {
    entries: Positions,
    /// Which bits of an entry are its position.
    position: u32,
}

impl WordIndex {
    /// The index of all words that are not masked. There is none of so many bases that a position
    /// does not fit, or where so many words are alike that sorting them takes more than is said.
    pub(crate) fn new(subjects: &Sequences, threads: usize) -> Option<WordIndex> {
        let length = subjects.packed().len();
        if length >= FIRST as usize {
            return None;
        }
        WordIndex::made(subjects, length <= 1 << BASE_BEFORE, threads)
    }

    /// The index, with or without the bases before words.
    fn made(subjects: &Sequences, with_bases: bool, threads: usize) -> Option<WordIndex> {
        let packed = subjects.packed();
        let words = SubjectWords {
            subjects,
            with_bases,
            kernels: Kernels::detect(),
        };
        let position = match with_bases {
            true => (1 << BASE_BEFORE) - 1,
            false => !FIRST,
        };
        let (text, parts) = (COLUMNS..packed.len() - COLUMNS, KEYS >> PART_BITS);
        let by_part = Positions::new(text, parts, &words, threads);
        let most = (0..parts).map(|part| by_part.count(part)).max();
        let at_once = by_part.len() / (2 * most.unwrap_or_default()).max(1);
        let part = |entry| key_at(packed, (entry & position) as usize) % (1 << PART_BITS);
        (at_once > 0).then(|| {
            let threads = threads.min(at_once);
            let entries = by_part.divided(1 << PART_BITS, part, threads);
            WordIndex { entries, position }
        })
    }

    /// Bytes that it takes for so many bases, and making it once more; none where there is none.
    pub(crate) fn bytes(bases: u64) -> u64 {
        match bases < FIRST.into() {
            true => size_of::<u32>() as u64 * (KEYS as u64 + bases),
            false => 0,
        }
    }

    /// Whether it has the keys of words with a seed, of which every so many are looked up: those of
    /// parts of long words are others.
    pub(super) fn is_of(seed: Seed, step: usize) -> bool {
        seed == SEED && step == 1
    }

    /// How many words of a key there are.
    pub(super) fn count(&self, key: usize) -> usize {
        self.entries.count(key)
    }

    /// The entries of a key, in the order of their positions.
    #[inline(always)]
    pub(super) fn of(&self, key: usize) -> impl Iterator<Item = u32> + '_ {
        self.entries.of(key)
    }

    /// Where the word of an entry begins.
    #[inline(always)]
    pub(super) fn position(&self, entry: u32) -> u32 {
        entry & self.position
    }

    /// Which of its entries go on a run of equal bases, for a word of a query of such a window and
    /// key: true for an entry whose base before the word is the same. Where positions leave no room
    /// for that base none is said to.
    #[inline(always)]
    pub(super) fn goes_on(&self, window: u64, key: usize) -> impl Fn(u32) -> bool + use<> {
        let bit = |place: usize| (window >> place) as u32 & 1;
        let is_first = bit(BEFORE) != key as u32 & 1;
        let base = match is_first || self.position == !FIRST {
            true => NEVER,
            false => bit(BEFORE - 1) | bit(WINDOW + BEFORE - 1) << 1,
        };
        move |entry| entry >> BASE_BEFORE == base
    }

    /// Asks the processor for where the words of a key are.
    #[inline(always)]
    pub(super) fn prefetch_start(&self, key: usize) {
        self.entries.prefetch_start(key);
    }

    /// Asks the processor for the first words of a key.
    #[inline(always)]
    pub(super) fn prefetch(&self, key: usize) {
        self.entries.prefetch(key, PREFETCHED);
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
    /// Whether entries have the bases before words.
    with_bases: bool,
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
        let packed = self.subjects.packed();
        for number in own.start / WINDOW..own.end.div_ceil(WINDOW) {
            let [low, high] = packed.bits(number);
            let start = number * WINDOW;
            let last = packed.bits(number - 1).map(|bits| bits >> (WINDOW - 1) & 1);
            let before = [low << 1 | last[0], high << 1 | last[1]];
            let within = |at: usize| at.saturating_sub(start).min(WINDOW);
            for place in within(own.start)..within(own.end) {
                let flag = match start + place == first {
                    true => FIRST,
                    false if self.with_bases => {
                        let [low, high] = before.map(|bits| (bits >> place) as u32 & 1);
                        (low | high << 1) << BASE_BEFORE
                    }
                    false => 0,
                };
                let part = SEED.key(low >> place, high >> place) >> PART_BITS;
                each(part, (start + place) as u32 | flag);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Molecule;

    #[test]
    fn entries_tell_which_base_is_before() {
        let text = b"GATTACAGATTACACCAGTNGATTACAGATTACACCAGTTTTTTTTTTTTTTTTGATTACAGATTACA";
        let mut subjects = Sequences::default();
        for text in [&text[..], &text[3..]] {
            subjects.push(b"", text).expect("a few bases");
        }
        let mut subjects = subjects.of(Molecule::Nucleotide);
        subjects.pack();
        let packed = subjects.packed();
        let is_base = |at: usize| packed.others(at) & 1 == 0;
        for with_bases in [true, false] {
            let index = WordIndex::made(&subjects, with_bases, 2).expect("few words are alike");
            let mut words = 0;
            for key in (0..KEYS).filter(|&key| index.count(key) > 0) {
                for entry in index.of(key) {
                    let at = index.position(entry) as usize;
                    assert!(key_at(packed, at) == key && (entry >= FIRST) != is_base(at - 1));
                    let own = packed.window(at - BEFORE);
                    for other in 0..4 {
                        let bits = [BEFORE - 1, WINDOW + BEFORE - 1].map(|place| 1_u64 << place);
                        let other = (bits[0] * (other & 1)) | (bits[1] * (other >> 1));
                        let window = own & !(bits[0] | bits[1]) | other;
                        let goes_on = with_bases && is_base(at - 1) && window == own;
                        assert_eq!(index.goes_on(window, key)(entry), goes_on);
                        let first = window ^ (1 << BEFORE);
                        assert!(!index.goes_on(first, key)(entry));
                    }
                    words += 1;
                }
            }
            assert_eq!(words, 9 + 38 + 6 + 38);
        }
    }
}
