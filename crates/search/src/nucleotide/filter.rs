//! Which words are looked at more closely, by the bases around them.

use gyrase_align::arch::{BEFORE, BEHIND, Kernels, SIDE_LANES, SideScores, Sides};
use gyrase_align::packed::{WINDOW, differing};

use super::options::Setting;
use super::seed::Seed;

/// Matches that a side is taken to have beyond those, where its last bases may go on.
const BEYOND: i32 = 6;
/// Bases around a template that may differ.
const MOST_DIFFERENCES: u32 = 13;
/// What the best alignment through the bases around a word scores at least, below the segment that
/// is wanted.
const MARGIN: i32 = 2;

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
    /// What the bases before the word and behind it score, with what may be beyond.
    sides: Sides,
    kernels: Kernels,
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
        let scores = SideScores {
            reward: setting.reward,
            penalty: setting.penalty,
            beyond,
        };
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
            sides: Sides::new(seed.bases, scores),
            kernels: Kernels::detect(),
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

    /// Which of so many windows pass beside another one, a bit each.
    #[inline(always)]
    pub(super) fn passing(&self, window: u64, others: (&[u64; SIDE_LANES], usize)) -> u32 {
        if self.seed.is_template() || self.is_long() {
            let passes = |other: &u64| u32::from(self.passes(differing(window ^ other)));
            let lanes = others.0[..others.1].iter().map(passes).enumerate();
            return lanes.fold(0, |found, (lane, passes)| found | passes << lane);
        }
        let (sides, least) = (&self.sides, self.segment - self.beside);
        self.kernels.sides_scoring(sides, least, window, others)
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
        self.sides.score(least, differing)
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
        let best = |place| self.sides.behind(differing, place);
        let first = (differing >> BEFORE) % (1 << BEHIND);
        let mismatches = first.count_ones() as i32;
        let sum = self.reward * BEHIND as i32 - (self.reward - self.penalty) * mismatches;
        let behind = best(BEFORE).max(sum + best(BEFORE + BEHIND));
        self.sides.before(differing) + behind >= least
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

const _: () = assert!(BEFORE + BEHIND < WINDOW);
