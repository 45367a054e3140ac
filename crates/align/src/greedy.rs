//! Greedy gapped extension of nucleotides with a cost for each gap and none for opening it, as
//! megablast makes it: by the number of differences, along diagonals (Zhang and others, J. Comput.
//! Biol. 7 (2000) 203, section 3; NCBI's `greedy_align.c`: `BLAST_GreedyAlign`).

use std::ops::Range;

use crate::arch::Kernels;
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

/// What a query has behind its bases, and a subject; and what makes codes of a query match nothing.
const END_OF_QUERY: u8 = 255;
const END_OF_SUBJECT: u8 = 127;
const NO_MATCH: u8 = 128;
/// Bases that are compared at a time.
const AT_ONCE: usize = 8;

/// The memory of extensions, used again and again.
#[derive(Default)]
pub struct Greedy {
    /// Codes in the order in which they are read, as far as an extension may reach; then ends.
    query: Vec<u8>,
    subject: Vec<u8>,
    /// How many there are, also of what is out of reach.
    lengths: [usize; 2],
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
#[derive(Clone, Copy)]
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

    /// Leaves the diagonals of a row beside those that are followed; where one may have ended, by
    /// the lengths of both.
    #[inline(always)]
    fn follow(&mut self, first: i32, row: &[i32], ended: Option<[i32; 2]>) {
        if let Some(lengths) = ended {
            return self.follow_ended(first, row, lengths);
        }
        let dropped = row.iter().take_while(|at| **at == NOWHERE).count();
        self.lower = first + dropped as i32;
        if let Some(last) = row.iter().rposition(|at| *at != NOWHERE) {
            self.upper = first + last as i32;
        }
    }

    #[cold]
    fn follow_ended(&mut self, first: i32, row: &[i32], [of_query, of_subject]: [i32; 2]) {
        for (diagonal, &at) in (first..).zip(row) {
            if at == NOWHERE {
                self.lower += i32::from(diagonal == self.lower);
                continue;
            }
            self.upper = diagonal;
            if at == of_subject {
                (self.lower, self.subject_ended) = (diagonal + 1, true);
            }
            if at + diagonal == of_query {
                (self.upper, self.query_ended) = (diagonal - 1, true);
            }
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
    /// The best alignment that begins with the first bases of both, or none of them.
    pub fn extend(
        &mut self,
        limits: GreedyLimits,
        query: Direction,
        subject: Direction,
    ) -> GreedyExtension {
        let (best, front) = self.run(limits, query, subject);
        best.extension(&front)
    }

    /// The same with its steps, which are pushed to `steps` from the last to the first.
    pub fn trace(
        &mut self,
        limits: GreedyLimits,
        query: Direction,
        subject: Direction,
        steps: &mut Vec<Step>,
    ) -> GreedyExtension {
        let (best, front) = self.run(limits, query, subject);
        self.steps_back(best, steps);
        best.extension(&front)
    }

    fn run(&mut self, limits: GreedyLimits, query: Direction, subject: Direction) -> (Best, Front) {
        let reach = query.length() + MOST_DIFFERENCES;
        self.lengths = [query.length(), subject.length()];
        query.read(reach, &mut self.query);
        self.query.iter_mut().for_each(|code| {
            *code |= if usize::from(*code) < BASES {
                0
            } else {
                NO_MATCH
            };
        });
        subject.read(reach, &mut self.subject);
        self.query.extend([END_OF_QUERY; 2 * AT_ONCE]);
        self.subject.extend([END_OF_SUBJECT; 2 * AT_ONCE]);
        Kernels::detect().run(
            #[inline(always)]
            || self.extend_rows(limits),
        )
    }

    #[inline(always)]
    fn extend_rows(&mut self, limits: GreedyLimits) -> (Best, Front) {
        // Doubled where a half of the reward is needed.
        let factor = 1 + limits.reward % 2;
        let half = limits.reward * factor / 2;
        let difference = (limits.reward - limits.penalty) * factor;
        let x_drop = limits.x_drop * factor;
        let back = ((x_drop + half) / difference + 1) as usize;
        let [of_query, of_subject] = self.lengths;
        let most = MOST_DIFFERENCES.min(of_subject / 2 + 1);
        let matches = matching(&self.query, &self.subject, 0, 0) as usize;
        let start = matches as i32;
        let mut best = Best {
            differences: 0,
            diagonal: 0,
            ends: (start, start),
        };
        let mut front = Front::new(matches);
        self.begin(start, start * 2 * half);
        if matches == of_query || matches == of_subject {
            return (best, front);
        }
        for differences in 1..=most {
            let before = differences
                .checked_sub(back)
                .map_or(0, |at| self.best_scores[at]);
            let least = before + difference * differences as i32 - x_drop;
            let least = least.div_euclid(half) + i32::from(least.rem_euclid(half) != 0);
            let (extent, (at, diagonal));
            (front, (extent, (at, diagonal))) = self.advance(front, differences, least);
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
    #[inline(always)]
    fn advance(
        &mut self,
        mut front: Front,
        differences: usize,
        least: i32,
    ) -> (Front, (i32, (i32, i32))) {
        let row = self.next_row(&front, differences);
        let first = front.lower;
        let (query, subject) = (&self.query[..], &self.subject[..]);
        let [of_query, of_subject] = self.lengths.map(|length| length as i32);
        let row = &mut self.furthest[row];
        // Of equal ones that of the first diagonal, without a branch that depends on them.
        let (mut furthest_sum, mut longest, mut ended) = (0_u64, 0_u64, false);
        for (number, furthest) in (0_u32..).zip(row.iter_mut()) {
            let at = *furthest;
            let in_query = at + first + number as i32;
            if at < 0 || in_query + at < least {
                *furthest = NOWHERE;
                continue;
            }
            let length = matching(query, subject, in_query as u32, at as u32);
            let (at, in_query) = (at + length as i32, in_query + length as i32);
            *furthest = at;
            let keyed = |of: u32| u64::from(of) << u32::BITS | u64::from(!number);
            longest = longest.max(keyed(length));
            furthest_sum = furthest_sum.max(keyed((at + in_query) as u32));
            ended |= (at == of_subject) | (in_query == of_query);
        }
        front.follow(first, row, ended.then_some([of_query, of_subject]));
        let [sum, length] = [furthest_sum, longest].map(|keyed| (keyed >> u32::BITS) as usize);
        let ends = |keyed: u64| {
            let number = !(keyed as u32);
            (row[number as usize], first + number as i32)
        };
        if length > front.run_length {
            let (at, diagonal) = ends(longest);
            let begin = at - length as i32;
            front.run = ((begin + diagonal) as usize, begin as usize);
            front.run_length = length;
        }
        match furthest_sum {
            0 => (front, (0, (0, 0))),
            _ => (front, (sum as i32, ends(furthest_sum))),
        }
    }

    /// Adds the row of so many differences, with where one difference more than the row before has
    /// reaches; where the diagonals that are followed are in it.
    #[inline(always)]
    fn next_row(&mut self, front: &Front, differences: usize) -> Range<usize> {
        let Row { first, at } = self.rows[differences - 1];
        let start = self.furthest.len();
        let width = (front.upper - front.lower + 1) as usize;
        self.furthest.resize(start + width + 2 * BESIDE, NOWHERE);
        self.rows.push(Row {
            first: front.lower,
            at: start + BESIDE,
        });
        let (rows, row) = self.furthest.split_at_mut(start);
        let before = &rows[place(at, first, front.lower - 1)..][..width + 2];
        let beside = before.iter().zip(&before[1..]).zip(&before[2..]);
        for (furthest, ((&less, &same), &more)) in row[BESIDE..][..width].iter_mut().zip(beside) {
            *furthest = (more.max(same) + 1).max(less);
        }
        start + BESIDE..start + BESIDE + width
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

/// Codes that are read from a place on.
#[derive(Clone, Copy, Debug)]
pub enum Direction<'b> {
    /// From the first on.
    Forward(&'b [u8]),
    /// From the last on.
    Backward(&'b [u8]),
}

impl Direction<'_> {
    fn length(&self) -> usize {
        let (Direction::Forward(codes) | Direction::Backward(codes)) = self;
        codes.len()
    }

    /// Reads so many at most.
    fn read(&self, most: usize, read: &mut Vec<u8>) {
        read.clear();
        match self {
            Direction::Forward(codes) => read.extend_from_slice(&codes[..most.min(codes.len())]),
            Direction::Backward(codes) => read.extend(codes.iter().rev().take(most)),
        }
    }
}

/// How many bases match from two places on.
#[inline(always)]
fn matching(query: &[u8], subject: &[u8], in_query: u32, in_subject: u32) -> u32 {
    let eight = |codes: &[u8], at: u32| {
        let at = at as usize;
        let eight = codes.get(at..at + AT_ONCE)?.first_chunk();
        eight.map(|eight| u64::from_le_bytes(*eight))
    };
    let mut length = 0;
    // Nothing matches behind the ends.
    while let Some((one, other)) =
        eight(query, in_query + length).zip(eight(subject, in_subject + length))
    {
        if one != other {
            return length + (one ^ other).trailing_zeros() / 8;
        }
        length += AT_ONCE as u32;
    }
    length
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NO_BASE: u8 = 14;

    /// The best score of prefixes, by the least differences of all of them.
    fn best_score(limits: GreedyLimits, query: &[u8], subject: &[u8]) -> i32 {
        let mut before: Vec<i32> = (0..=subject.len() as i32).collect();
        let score = |row: usize, column: usize, differences: i32| {
            let bases = (row + column) as i32;
            bases * limits.reward - 2 * differences * (limits.reward - limits.penalty)
        };
        let mut best = 0;
        for row in 0..=query.len() {
            let mut now = before.clone();
            for column in 0..=subject.len() {
                if row > 0 {
                    now[column] = before[column] + 1;
                    if column > 0 {
                        let (one, other) = (query[row - 1], subject[column - 1]);
                        let differs = one != other || usize::from(one) >= BASES;
                        let both = before[column - 1] + i32::from(differs);
                        now[column] = now[column].min(both).min(now[column - 1] + 1);
                    }
                }
                best = best.max(score(row, column, now[column]));
            }
            before = now;
        }
        best
    }

    /// What steps score that begin at the start of both, doubled, and bases that they take.
    fn score_of(
        limits: GreedyLimits,
        steps: &[Step],
        query: &[u8],
        subject: &[u8],
    ) -> (i32, usize, usize) {
        let (mut differences, mut q, mut s) = (0, 0, 0);
        for &step in steps {
            let matches = step == Step::Both && query[q] == subject[s] && query[q] != NO_BASE;
            differences += i32::from(!matches);
            q += usize::from(step != Step::Subject);
            s += usize::from(step != Step::Query);
        }
        let bases = (q + s) as i32;
        let score = bases * limits.reward - 2 * differences * (limits.reward - limits.penalty);
        (score, q, s)
    }

    proptest! {
        #[test]
        fn without_a_limit_it_is_the_best_alignment(
            query in proptest::collection::vec(0..4_u8, 0..60),
            changes in proptest::collection::vec((0..60_usize, 0..5_u8, 0..3_u8), 0..12),
            reward in 1..4,
            penalty in -5..0,
            backward in proptest::bool::ANY,
        ) {
            let mut subject = query.clone();
            for (at, base, kind) in changes {
                let at = at.min(subject.len());
                let base = if base == 4 { NO_BASE } else { base };
                match kind {
                    0 => subject.insert(at, base),
                    1 => drop(subject.drain(at..(at + 2).min(subject.len()))),
                    _ => subject[at..].iter_mut().take(1).for_each(|code| *code = base),
                }
            }
            let limits = GreedyLimits { reward, penalty, x_drop: 1 << 20 };
            let turned = |codes: &[u8]| codes.iter().rev().copied().collect::<Vec<u8>>();
            let (of_query, of_subject) = (turned(&query), turned(&subject));
            let [q, s] = match backward {
                true => [Direction::Backward(&of_query), Direction::Backward(&of_subject)],
                false => [Direction::Forward(&query), Direction::Forward(&subject)],
            };
            let mut greedy = Greedy::default();
            let mut steps = Vec::new();
            let found = greedy.trace(limits, q, s, &mut steps);
            prop_assert_eq!(greedy.extend(limits, q, s), found);
            steps.reverse();
            let (score, in_query, in_subject) = score_of(limits, &steps, &query, &subject);
            prop_assert_eq!((in_query, in_subject), (found.ends.query, found.ends.subject));
            // Differences are no more than a half of the subject.
            let differences = found.ends.score as usize;
            let best = best_score(limits, &query, &subject);
            prop_assert!(score <= best);
            if differences < subject.len() / 2 && subject.len() > query.len() / 2 {
                prop_assert_eq!(score, best);
            }
            let (from, run) = (found.run, found.run_length);
            prop_assert_eq!(&query[from.0..from.0 + run], &subject[from.1..from.1 + run]);
        }
    }
}
