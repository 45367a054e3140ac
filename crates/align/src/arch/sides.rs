//! What the bases on both sides of a word score without gaps, by which of them differ: for one
//! window with a word, and for many at once.

use super::lanes::Lanes;
use crate::packed::differing;

/// Bases of a window before its word.
pub const BEFORE: usize = 10;
/// Bases behind the word that count.
pub const BEHIND: usize = 11;
/// Windows that are compared with another at once.
pub const SIDE_LANES: usize = 8;

/// Bases beside a word whose scores are looked up together, before those farther away.
pub(super) const NEAR: usize = 5;
/// Bases of the largest part of a side.
const PART: usize = 6;

/// The bases before a word of which one has to differ: the last, or, of the word itself, the one
/// that stands for it where nothing is before.
pub(super) const FIRST: u32 = 3 << (BEFORE - 1);

/// What bases beside a word score.
#[derive(Clone, Copy, Debug)]
pub struct SideScores {
    /// Of a match.
    pub reward: i32,
    /// Of a mismatch; below 0.
    pub penalty: i32,
    /// What all bases of a side score beyond these: there may be more that match.
    pub beyond: i32,
}

/// The best score of each side of a word, by which bases of it differ: 0 at least.
pub struct Sides {
    /// Bases of the word.
    pub(super) word: usize,
    before: Box<[i8; 1 << BEFORE]>,
    behind: Box<[i8; 1 << BEHIND]>,
    pub(super) parts: Box<Parts>,
}

/// The same by parts of sides, for lanes: the tables of a byte's lower bits.
pub(super) struct Parts {
    /// Of the bases beside the word the best score, and that of all.
    pub near_before: [Lanes<i8>; 2],
    pub near_behind: [Lanes<i8>; 2],
    /// Of those farther away the best.
    pub far_before: Lanes<i8>,
    pub far_behind: Lanes<i8>,
}

impl Sides {
    /// The sides of words of so many bases. Scores above 127 count as 127.
    pub fn new(word: usize, scores: SideScores) -> Sides {
        let near = SideScores {
            beyond: 0,
            ..scores
        };
        let before = |bits| best(scores, (0..BEFORE).rev().map(|place| bits >> place));
        let behind = |bits| best(scores, (0..BEHIND).map(|place| bits >> place));
        let table = |of: &dyn Fn(usize) -> i8| Lanes(std::array::from_fn(of));
        let near_before = |bits: usize| (0..NEAR).rev().map(move |place| bits >> place);
        let near_behind = |bits: usize| (0..NEAR).map(move |place| bits >> place);
        let far_before = |bits: usize| (0..BEFORE - NEAR).rev().map(move |place| bits >> place);
        let far_behind = |bits: usize| (0..PART).map(move |place| bits >> place);
        Sides {
            word,
            before: Box::new(std::array::from_fn(before)),
            behind: Box::new(std::array::from_fn(behind)),
            parts: Box::new(Parts {
                near_before: [
                    table(&|bits| best(near, near_before(bits))),
                    table(&|bits| sum(near, near_before(bits))),
                ],
                near_behind: [
                    table(&|bits| best(near, near_behind(bits))),
                    table(&|bits| sum(near, near_behind(bits))),
                ],
                far_before: table(&|bits| best(scores, far_before(bits))),
                far_behind: table(&|bits| best(scores, far_behind(bits))),
            }),
        }
    }

    /// What the best of the bases that end a window's part before the word scores.
    #[inline(always)]
    pub fn before(&self, differing: u32) -> i32 {
        i32::from(self.before[differing as usize % (1 << BEFORE)])
    }

    /// The same of those from a place on.
    #[inline(always)]
    pub fn behind(&self, differing: u32, place: usize) -> i32 {
        i32::from(self.behind[(differing >> place) as usize % (1 << BEHIND)])
    }

    /// Whether a word is the first of its run, and both sides score so much together.
    #[inline(always)]
    pub fn score(&self, least: i32, differing: u32) -> bool {
        let sum = self.before(differing) + self.behind(differing, BEFORE + self.word);
        (differing & FIRST != 0) & (sum >= least)
    }

    /// Which of the first so many windows score so much beside another one, a bit each. They are
    /// looked at four by four: how many there are cannot be foreseen.
    #[inline(always)]
    pub(super) fn scoring(
        &self,
        least: i32,
        window: u64,
        others: &[u64; SIDE_LANES],
        count: usize,
    ) -> u32 {
        let scores = |lane: usize| u32::from(self.score(least, differing(window ^ others[lane])));
        let four = |first: usize| {
            let lanes = first..first + SIDE_LANES / 2;
            lanes.fold(0, |found, lane| found | scores(lane) << lane)
        };
        match count > SIDE_LANES / 2 {
            true => four(0) | four(SIDE_LANES / 2),
            false => four(0),
        }
    }
}

/// What the best of so many bases scores, from the word on.
fn best(scores: SideScores, differing: impl Iterator<Item = usize>) -> i8 {
    let (mut best, mut sum) = (0, 0);
    for differs in differing {
        sum += scores.of(differs);
        best = best.max(sum);
    }
    best.max(sum + scores.beyond).min(127) as i8
}

/// What all of them score.
fn sum(scores: SideScores, differing: impl Iterator<Item = usize>) -> i8 {
    let sum: i32 = differing.map(|differs| scores.of(differs)).sum();
    sum.clamp(-128, 127) as i8
}

impl SideScores {
    /// Of a base that differs where the lowest bit says so.
    fn of(&self, differs: usize) -> i32 {
        match differs & 1 {
            0 => self.reward,
            _ => self.penalty,
        }
    }
}

const _: () = assert!(BEFORE == 2 * NEAR && BEHIND == NEAR + PART);
