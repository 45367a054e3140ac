//! Which words are looked at more closely, by the bases around them.

use gyrase_align::packed::WINDOW;

use super::options::Setting;
use super::seed::Seed;
use super::words::BEFORE;

/// Bases behind a word that the filter looks at.
const AFTER: usize = 11;
/// Matches that a side is taken to have beyond those, where its last bases may go on.
const BEYOND: i32 = 6;
/// Bases around a template that may differ.
const MOST_DIFFERENCES: u32 = 13;
/// What the best alignment through the bases around a word scores at least, below the segment that
/// is wanted.
const MARGIN: i32 = 2;

/// The bases before a word of which one has to differ: the last, or, of the word itself, the one
/// that stands for it where nothing is before.
const FIRST: u32 = 3 << (BEFORE - 1);

/// The filter of words.
pub(super) struct Filter {
    /// Bases of a word.
    pub word: usize,
    /// Which of them have a key.
    pub seed: Seed,
    /// Bases from the first of a word on that are equal.
    pub sure: usize,
    /// What a segment scores at least.
    segment: i32,
    /// How much less the bases before and behind score together.
    beside: i32,
    /// The bases before a template, between its places and behind it.
    around: u32,
    /// What the best of the bases before the word, or behind it, scores, or all with what may be
    /// beyond, by which of them differ.
    before: Box<[i8; 1 << BEFORE]>,
    after: Box<[i8; 1 << AFTER]>,
    reward: i32,
    penalty: i32,
}

impl Filter {
    /// For words that have such a key, and segments that score so much.
    pub(super) fn new(setting: &Setting, seed: Seed, segment: i32) -> Filter {
        let beyond = match seed.is_template() {
            true => 0,
            false => BEYOND * setting.reward,
        };
        let best = |differing: usize, places: &mut dyn Iterator<Item = usize>| {
            let (mut best, mut sum) = (0, 0);
            for place in places {
                sum += match differing >> place & 1 {
                    0 => setting.reward,
                    _ => setting.penalty,
                };
                best = best.max(sum);
            }
            best.max(sum + beyond).clamp(0, 127) as i8
        };
        let before = std::array::from_fn(|differing| best(differing, &mut (0..BEFORE).rev()));
        let after = std::array::from_fn(|differing| best(differing, &mut (0..AFTER)));
        let of_word = match seed.is_template() {
            true => 0,
            false => seed.bases as i32 * setting.reward,
        };
        let behind = !seed.places & ((1 << (WINDOW - BEFORE)) - 1);
        Filter {
            word: setting.word,
            seed,
            sure: seed.sure(),
            segment,
            beside: MARGIN + of_word,
            around: ((1 << BEFORE) - 1) | (behind << BEFORE),
            before: Box::new(before),
            after: Box::new(after),
            reward: setting.reward,
            penalty: setting.penalty,
        }
    }

    /// Whether a word is the first of its run and may be in a good segment; of a long word, whether
    /// the bases around its part may be in it. From the bases of windows that differ.
    #[inline(always)]
    pub(super) fn passes(&self, differing: u32) -> bool {
        self.passes_for(self.segment, differing)
    }

    /// The same where a segment scores so much.
    #[inline(always)]
    pub(super) fn passes_for(&self, segment: i32, differing: u32) -> bool {
        let least = segment - self.beside;
        if self.seed.is_template() {
            return self.may_be_of_template(least, differing & !(1 << BEFORE));
        } else if self.is_long() {
            return self.may_be_long(differing);
        }
        let before = self.before[differing as usize % (1 << BEFORE)];
        let after = self.after[(differing >> (BEFORE + self.seed.bases)) as usize % (1 << AFTER)];
        (differing & FIRST != 0) & (i32::from(before) + i32::from(after) >= least)
    }

    /// Whether only parts of words have a key.
    pub(super) fn is_long(&self) -> bool {
        !self.seed.is_template() && self.word > self.seed.bases
    }

    /// Of a template every word counts: that before it may be none.
    fn may_be_of_template(&self, least: i32, differing: u32) -> bool {
        if (differing & self.around).count_ones() <= MOST_DIFFERENCES {
            return true;
        }
        let best = |at: usize| i32::from(self.after[(differing >> at) as usize % (1 << AFTER)]);
        let first = (differing >> BEFORE) % (1 << AFTER);
        let mismatches = first.count_ones() as i32;
        let sum = self.reward * AFTER as i32 - (self.reward - self.penalty) * mismatches;
        let behind = best(BEFORE).max(sum + best(BEFORE + AFTER));
        let before = self.before[differing as usize % (1 << BEFORE)];
        i32::from(before) + behind >= least
    }

    /// Whether the part is equal, as others may have its key, and the bases around it may be.
    fn may_be_long(&self, differing: u32) -> bool {
        let bases = self.seed.bases;
        let part = differing >> BEFORE & ((1 << bases) - 1);
        let before = (differing << (WINDOW - BEFORE)).leading_zeros() as usize;
        let after = (differing >> (BEFORE + bases)).trailing_zeros() as usize;
        let most = WINDOW - BEFORE - bases;
        let is_long = before >= BEFORE || after >= most || before + bases + after >= self.word;
        (part == 0) & is_long
    }
}

const _: () = assert!(BEFORE + AFTER < WINDOW);
