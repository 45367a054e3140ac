//! Greedy gapped extension of nucleotides with a cost for each gap and none for opening it, as
//! megablast makes it: by the number of differences, along diagonals (Zhang and others, J. Comput.
//! Biol. 7 (2000) 203, section 3; NCBI's `greedy_align.c`: `BLAST_GreedyAlign`).

use crate::gapped::{Prefixes, Step};
use crate::nucleotide::BASES;

/// Differences of one extension at most (NCBI's `GREEDY_MAX_COST`).
const MOST_DIFFERENCES: usize = 1000;
/// No base of the subject.
const NOWHERE: i32 = -2;
/// Diagonals on both sides of a row on which nothing is reached. The next row begins and ends one
/// further, and looks at one beside each of its own.
const BESIDE: usize = 2;

/// Where a diagonal is among all, of a row that begins with a first one.
fn place(at: usize, first: i32, diagonal: i32) -> usize {
    (at as i64 + i64::from(diagonal) - i64::from(first)) as usize
}

/// What an extension scores and may lose. A base beside a gap costs half a match and a mismatch.
#[derive(Clone, Copy, Debug)]
pub struct GreedyLimits {
    /// Of a match; above 0.
    pub reward: i32,
    /// Of a mismatch; below 0.
    pub penalty: i32,
    /// What the score may fall below the best.
    pub x_drop: i32,
}

/// The best extension, and the longest run of matches in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GreedyExtension {
    /// Bases of both, and differences instead of a score.
    pub ends: Prefixes,
    /// Where the longest run begins, in query and subject.
    pub run: (usize, usize),
    /// Its length.
    pub run_length: usize,
}

/// The furthest bases of the subject by diagonals, for one number of differences.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The first diagonal: how far the query is ahead of the subject.
    first: i32,
    /// Where it is among all.
    at: usize,
}

/// The memory of extensions, used again and again.
#[derive(Default)]
pub struct Greedy {
    rows: Vec<Row>,
    furthest: Vec<i32>,
    best_scores: Vec<i32>,
}

/// The best extension that is known.
#[derive(Clone, Copy)]
struct Best {
    differences: usize,
    diagonal: i32,
    ends: (i32, i32),
}

/// The diagonals that are still followed, and the longest run of matches so far.
struct Front {
    lower: i32,
    upper: i32,
    query_ended: bool,
    subject_ended: bool,
    /// Where the run begins, in both.
    run: (usize, usize),
    run_length: usize,
}

impl Front {
    fn new(matches: usize) -> Front {
        Front {
            lower: -1,
            upper: 1,
            query_ended: false,
            subject_ended: false,
            run: (0, 0),
            run_length: matches,
        }
    }
}

impl Best {
    fn extension(&self, front: &Front) -> GreedyExtension {
        GreedyExtension {
            ends: Prefixes {
                score: self.differences as i32,
                query: self.ends.0 as usize,
                subject: self.ends.1 as usize,
            },
            run: front.run,
            run_length: front.run_length,
        }
    }
}

impl Greedy {
    /// The best alignment that begins with the first bases of both, or none of them. Both are read
    /// by position from there on: in reverse for an extension to the left.
    pub fn extend(
        &mut self,
        limits: GreedyLimits,
        query: impl Direction,
        subject: impl Direction,
    ) -> GreedyExtension {
        let (best, front) = self.run(limits, &query, &subject);
        best.extension(&front)
    }

    /// The same with its steps, which are pushed to `steps` from the last to the first.
    pub fn trace(
        &mut self,
        limits: GreedyLimits,
        query: impl Direction,
        subject: impl Direction,
        steps: &mut Vec<Step>,
    ) -> GreedyExtension {
        let (best, front) = self.run(limits, &query, &subject);
        self.steps_back(best, steps);
        best.extension(&front)
    }

    fn run(
        &mut self,
        limits: GreedyLimits,
        query: &impl Direction,
        subject: &impl Direction,
    ) -> (Best, Front) {
        // Doubled where a half of the reward is needed.
        let factor = 1 + limits.reward % 2;
        let half = limits.reward * factor / 2;
        let difference = (limits.reward - limits.penalty) * factor;
        let x_drop = limits.x_drop * factor;
        let back = ((x_drop + half) / difference + 1) as usize;
        let most = MOST_DIFFERENCES.min(subject.length() / 2 + 1);
        let matches = matching(query, subject, 0, 0);
        let start = matches as i32;
        let mut best = Best {
            differences: 0,
            diagonal: 0,
            ends: (start, start),
        };
        let mut front = Front::new(matches);
        self.begin(start, start * 2 * half);
        if matches == query.length() || matches == subject.length() {
            return (best, front);
        }
        for differences in 1..=most {
            let before = differences
                .checked_sub(back)
                .map_or(0, |at| self.best_scores[at]);
            let least = before + difference * differences as i32 - x_drop;
            let least = least.div_euclid(half) + i32::from(least.rem_euclid(half) != 0);
            let (extent, (at, diagonal)) =
                self.advance(&mut front, differences, least, query, subject);
            let score = extent * half - differences as i32 * difference;
            let highest = self.best_scores[differences - 1];
            self.best_scores.push(score.max(highest));
            if score > highest {
                best = Best {
                    differences,
                    diagonal,
                    ends: (at + diagonal, at),
                };
            }
            if front.lower > front.upper {
                break;
            }
            front.lower -= i32::from(!front.subject_ended);
            front.upper += i32::from(!front.query_ended);
        }
        (best, front)
    }

    /// Makes the row of so many differences; the furthest sum of both positions, and where.
    fn advance(
        &mut self,
        front: &mut Front,
        differences: usize,
        least: i32,
        query: &impl Direction,
        subject: &impl Direction,
    ) -> (i32, (i32, i32)) {
        let Row { first, at } = self.rows[differences - 1];
        let start = self.furthest.len();
        let width = (front.upper - front.lower + 1) as usize;
        self.furthest.resize(start + width + 2 * BESIDE, NOWHERE);
        self.rows.push(Row {
            first: front.lower,
            at: start + BESIDE,
        });
        let (rows, row) = self.furthest.split_at_mut(start);
        let before = &rows[place(at, first, front.lower - 1)..];
        let (mut extent, mut of_extent) = (0, (0, 0));
        let (mut less, mut same) = (before[0], before[1]);
        let cells = row[BESIDE..][..width].iter_mut().zip(&before[2..]);
        for (diagonal, (furthest, &more)) in (front.lower..).zip(cells) {
            // By one difference more than the row before has.
            let at = (more.max(same) + 1).max(less);
            (less, same) = (same, more);
            let in_query = at + diagonal;
            if at < 0 || in_query + at < least {
                front.lower += i32::from(diagonal == front.lower);
                continue;
            }
            front.upper = diagonal;
            let length = matching(query, subject, in_query as usize, at as usize);
            if length > front.run_length {
                (front.run, front.run_length) = ((in_query as usize, at as usize), length);
            }
            let (at, in_query) = (at + length as i32, in_query + length as i32);
            *furthest = at;
            if at + in_query > extent {
                (extent, of_extent) = (at + in_query, (at, diagonal));
            }
            if at as usize == subject.length() {
                (front.lower, front.subject_ended) = (diagonal + 1, true);
            }
            if in_query as usize == query.length() {
                (front.upper, front.query_ended) = (diagonal - 1, true);
            }
        }
        (extent, of_extent)
    }

    fn begin(&mut self, furthest: i32, score: i32) {
        self.rows.clear();
        self.furthest.clear();
        self.best_scores.clear();
        self.rows.push(Row {
            first: 0,
            at: BESIDE,
        });
        self.furthest.resize(1 + 2 * BESIDE, NOWHERE);
        self.furthest[BESIDE] = furthest;
        self.best_scores.push(score);
    }

    fn steps_back(&self, best: Best, steps: &mut Vec<Step>) {
        let Best {
            mut diagonal,
            ends: (_, mut at),
            ..
        } = best;
        for row in (0..best.differences).rev() {
            let Row { first, at: start } = self.rows[row];
            let before = &self.furthest[place(start, first, diagonal - 1)..];
            let (less, same, more) = (before[0], before[1], before[2]);
            let (next, step) = if less > same.max(more) {
                (less, Step::Query)
            } else if same > more {
                (same, Step::Both)
            } else {
                (more, Step::Subject)
            };
            let matches = at - next - i32::from(step == Step::Subject);
            steps.extend(std::iter::repeat_n(Step::Both, matches.max(0) as usize));
            match step {
                Step::Both => {}
                Step::Query => diagonal -= 1,
                Step::Subject => diagonal += 1,
            }
            if step != Step::Both {
                steps.push(step);
            }
            at = next;
        }
        steps.extend(std::iter::repeat_n(Step::Both, at as usize));
    }
}

/// Bases that are read from a place on, in one direction.
pub trait Direction {
    /// How many there are.
    fn length(&self) -> usize;
    /// Eight from a number on, the first in the lowest byte, where there are so many.
    fn eight(&self, number: usize) -> Option<u64>;
    /// One by its number.
    fn base(&self, number: usize) -> u8;
}

/// Bases from the first on.
pub struct Forward<'b>(pub &'b [u8]);

/// Bases from the last on.
pub struct Backward<'b>(pub &'b [u8]);

impl Direction for Forward<'_> {
    fn length(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn eight(&self, number: usize) -> Option<u64> {
        let bytes = self.0.get(number..)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    }

    fn base(&self, number: usize) -> u8 {
        self.0[number]
    }
}

impl Direction for Backward<'_> {
    fn length(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn eight(&self, number: usize) -> Option<u64> {
        let end = self.0.len().checked_sub(number)?;
        let bytes = self.0[..end].last_chunk()?;
        Some(u64::from_be_bytes(*bytes))
    }

    fn base(&self, number: usize) -> u8 {
        self.0[self.0.len() - 1 - number]
    }
}

/// The bits that no base has, in eight codes.
const NO_BASE: u64 = u64::from_ne_bytes([!(BASES as u8 - 1); 8]);

/// How many bases match from two places on. Letters for several bases match nothing.
#[inline(always)]
fn matching(
    query: &impl Direction,
    subject: &impl Direction,
    in_query: usize,
    in_subject: usize,
) -> usize {
    let mut length = 0;
    while let Some((one, other)) = query
        .eight(in_query + length)
        .zip(subject.eight(in_subject + length))
    {
        let different = (one ^ other) | (one & NO_BASE);
        if different != 0 {
            return length + different.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    let left = |all: usize, at: usize| all.saturating_sub(at + length);
    let most = left(query.length(), in_query).min(left(subject.length(), in_subject));
    let differs = |&number: &usize| {
        let base = query.base(in_query + length + number);
        usize::from(base) >= BASES || base != subject.base(in_subject + length + number)
    };
    length + (0..most).find(differs).unwrap_or(most)
}
