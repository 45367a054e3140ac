//! Greedy gapped extension of nucleotides with a cost for each gap and none for opening it, as
//! megablast makes it: by the number of differences, along diagonals (Zhang and others, J. Comput.
//! Biol. 7 (2000) 203, section 3; NCBI's `greedy_align.c`: `BLAST_GreedyAlign`).

use crate::arch::Kernels;
use crate::arch::reach::{
    BEHIND, CELLS, Diagonals, END_OF_QUERY, END_OF_SUBJECT, NOWHERE, Pair, Reached,
};
use crate::gapped::{Prefixes, Step};
use crate::nucleotide::BASES;

/// Differences of one extension at most (NCBI's `GREEDY_MAX_COST`).
const MOST_DIFFERENCES: usize = 1000;
/// Vectors of diagonals between rows on which nothing is reached. The next row begins and ends one
/// further, looks at one beside each of its own, and has whole vectors.
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

impl GreedyLimits {
    /// Bases by which the subject may be ahead of a query of so many: each costs a gap, and no
    /// more is lost than matches have brought and the X-drop allows.
    fn ahead(self, query: usize) -> usize {
        let gain = 2 * (query as i64 * i64::from(self.reward) + i64::from(self.x_drop));
        let most = gain / i64::from(self.reward - 2 * self.penalty) + 1;
        MOST_DIFFERENCES.min(most as usize)
    }
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

/// What makes codes of a query match nothing.
const NO_MATCH: u8 = 128;

/// The memory of extensions, used again and again.
#[derive(Default)]
pub struct Greedy {
    /// Codes in the order in which they are read, as far as an extension may reach; then ends.
    query: Vec<u8>,
    subject: Vec<u8>,
    /// How many there are, also of what is out of reach.
    lengths: [usize; 2],
    rows: Vec<Row>,
    furthest: Vec<[i32; CELLS]>,
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
    run_length: u32,
}

impl Front {
    /// No run is longer than one that nobody asks for.
    fn new(run_length: u32, best_only: bool) -> Front {
        Front {
            lower: -1,
            upper: 1,
            query_ended: false,
            subject_ended: false,
            run: (0, 0),
            run_length: if best_only { u32::MAX } else { run_length },
        }
    }

    /// Leaves the diagonals of a row beside those that are followed; where one has ended, by the
    /// lengths of both.
    #[inline(always)]
    fn follow(&mut self, reached: &Reached, row: &[i32], lengths: [i32; 2]) {
        let first = self.lower;
        if reached.ended {
            return self.follow_ended(first, row, lengths);
        }
        match reached.followed {
            (0, 0) => self.lower = self.upper + 1,
            (start, end) => {
                self.lower = first + start as i32;
                self.upper = first + end as i32 - 1;
            }
        }
    }

    /// Leaves the diagonals on which no sum of both positions is above one, not even at the ends of
    /// both. With each difference more the sum that is needed grows by more than one, and so no
    /// diagonal that is followed later gets anything from those.
    #[inline(always)]
    fn leave_hopeless(&mut self, sum: i32, [of_query, of_subject]: [usize; 2]) {
        self.lower = self.lower.max(sum + 1 - 2 * of_subject as i32);
        self.upper = self.upper.min(2 * of_query as i32 - 1 - sum);
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
    fn prefixes(&self) -> Prefixes {
        Prefixes {
            score: self.differences as i32,
            query: self.ends.0 as usize,
            subject: self.ends.1 as usize,
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
        let (best, front) = self.run(limits, query, subject, false);
        GreedyExtension {
            ends: best.prefixes(),
            run: front.run,
            run_length: front.run_length as usize,
        }
    }

    /// The same without the longest run, and with its steps, which are pushed to `steps` from the
    /// last to the first.
    pub fn trace(
        &mut self,
        limits: GreedyLimits,
        query: Direction,
        subject: Direction,
        steps: &mut Vec<Step>,
    ) -> Prefixes {
        let (best, _) = self.run(limits, query, subject, true);
        self.steps_back(best, steps);
        best.prefixes()
    }

    /// Extends; diagonals that cannot have the best alignment any more may be left out.
    fn run(
        &mut self,
        limits: GreedyLimits,
        query: Direction,
        subject: Direction,
        best_only: bool,
    ) -> (Best, Front) {
        let reach = query.length() + limits.ahead(query.length());
        self.lengths = [query.length(), subject.length()];
        let kernels = Kernels::detect();
        kernels.run(
            #[inline(always)]
            || {
                let is_base = |code: u8| usize::from(code) < BASES;
                let mark = |code: u8| if is_base(code) { code } else { code | NO_MATCH };
                query.read(reach, END_OF_QUERY, mark, &mut self.query);
                subject.read(reach, END_OF_SUBJECT, |code| code, &mut self.subject);
                self.extend_rows(kernels, limits, best_only)
            },
        )
    }

    #[inline(always)]
    fn extend_rows(
        &mut self,
        kernels: Kernels,
        limits: GreedyLimits,
        best_only: bool,
    ) -> (Best, Front) {
        // Doubled where a half of the reward is needed.
        let factor = 1 + limits.reward % 2;
        let half = limits.reward * factor / 2;
        let difference = (limits.reward - limits.penalty) * factor;
        let x_drop = limits.x_drop * factor;
        let back = ((x_drop + half) / difference + 1) as usize;
        let [of_query, of_subject] = self.lengths;
        let most = MOST_DIFFERENCES.min(of_subject / 2 + 1);
        let run_length = self.pair().matching(0, 0);
        let (matches, start) = (run_length as usize, run_length as i32);
        let mut best = Best {
            differences: 0,
            diagonal: 0,
            ends: (start, start),
        };
        let mut front = Front::new(run_length, best_only);
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
            let highest = self.best_scores[differences - 1];
            if best_only {
                let sum = (highest + difference * differences as i32).div_euclid(half);
                front.leave_hopeless(sum, self.lengths);
                if front.lower > front.upper {
                    break;
                }
            }
            let extent;
            (front, extent) = self.advance(kernels, front, differences, least);
            let score = extent * half - differences as i32 * difference;
            self.best_scores.push(score.max(highest));
            if score > highest {
                let (at, diagonal) = self.first_with(extent);
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

    /// Makes the row of so many differences; the furthest sum of both positions.
    #[inline(always)]
    fn advance(
        &mut self,
        kernels: Kernels,
        mut front: Front,
        differences: usize,
        least: i32,
    ) -> (Front, i32) {
        let Row { first, at } = self.rows[differences - 1];
        let start = self.furthest.len();
        let count = (front.upper - front.lower + 1) as usize;
        let blocks = count.div_ceil(CELLS);
        self.furthest
            .resize(start + blocks + BESIDE, [NOWHERE; CELLS]);
        self.rows.push(Row {
            first: front.lower,
            at: start * CELLS,
        });
        let (rows, row) = self.furthest.split_at_mut(start);
        let diagonals = Diagonals {
            before: &rows.as_flattened()[place(at, first, front.lower - 1)..],
            first: front.lower,
            count,
            least,
            longest: front.run_length,
        };
        let ends = self.lengths.map(|length| length as i32);
        let pair = Pair {
            query: &self.query,
            subject: &self.subject,
            ends,
        };
        let reached = kernels.reach(&pair, diagonals, &mut row[..blocks]);
        let row = &row.as_flattened()[..count];
        let (run_length, number) = reached.longest;
        if run_length > front.run_length {
            let length = run_length as usize;
            let end = row[number];
            let in_query = end + front.lower + number as i32;
            front.run = (in_query as usize - length, end as usize - length);
            front.run_length = run_length;
        }
        front.follow(&reached, row, ends);
        (front, reached.sum)
    }

    /// Where the first diagonal of the last row is, of those with a sum of both positions.
    fn first_with(&self, sum: i32) -> (i32, i32) {
        let Row { first, at } = self.rows[self.rows.len() - 1];
        let mut places = (first..).zip(&self.furthest.as_flattened()[at..]);
        let found = places.find(|(diagonal, at)| **at != NOWHERE && 2 * **at + diagonal == sum);
        let (diagonal, &at) = found.expect("a diagonal of the row has reached the sum");
        (at, diagonal)
    }

    fn pair(&self) -> Pair<'_> {
        Pair {
            query: &self.query,
            subject: &self.subject,
            ends: self.lengths.map(|length| length as i32),
        }
    }

    fn begin(&mut self, furthest: i32, score: i32) {
        self.rows.clear();
        self.furthest.clear();
        self.best_scores.clear();
        let at = CELLS * BESIDE;
        self.rows.push(Row { first: 0, at });
        self.furthest.resize(2 * BESIDE + 1, [NOWHERE; CELLS]);
        self.furthest.as_flattened_mut()[at] = furthest;
        self.best_scores.push(score);
    }

    fn steps_back(&self, best: Best, steps: &mut Vec<Step>) {
        let Best {
            mut diagonal,
            ends: (_, mut at),
            ..
        } = best;
        let furthest = self.furthest.as_flattened();
        for row in (0..best.differences).rev() {
            let Row { first, at: start } = self.rows[row];
            let before = &furthest[place(start, first, diagonal - 1)..];
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

impl<'b> Direction<'b> {
    fn length(&self) -> usize {
        self.codes().len()
    }

    fn codes(&self) -> &'b [u8] {
        let (Direction::Forward(codes) | Direction::Backward(codes)) = self;
        codes
    }

    /// Some codes from number `at` on, with ends behind them.
    #[inline]
    pub(crate) fn some<const N: usize>(self, at: usize, end: u8) -> [u8; N] {
        let codes = self.codes();
        let from = at.min(codes.len());
        let to = (at + N).min(codes.len());
        let codes = match self {
            Direction::Forward(_) => &codes[from..to],
            Direction::Backward(_) => &codes[codes.len() - to..codes.len() - from],
        };
        let mut some = codes.try_into().unwrap_or_else(|_| {
            let mut some = [end; N];
            some[..codes.len()].copy_from_slice(codes);
            some
        });
        if let Direction::Backward(_) = self {
            some[..codes.len()].reverse();
        }
        some
    }

    /// Reads so many at most, as something else each, and puts an end behind them.
    #[inline(always)]
    fn read(self, most: usize, end: u8, each: impl Fn(u8) -> u8, read: &mut Vec<u8>) {
        let length = most.min(self.length());
        read.clear();
        read.resize(length + BEHIND, end);
        let read = &mut read[..length];
        // A closure of `for_each` would be compiled without the vectors of `Kernels::run`.
        match self {
            Direction::Forward(codes) => {
                for (to, &code) in read.iter_mut().zip(&codes[..length]) {
                    *to = each(code);
                }
            }
            Direction::Backward(codes) => {
                let codes = codes[codes.len() - length..].iter().rev();
                for (to, &code) in read.iter_mut().zip(codes) {
                    *to = each(code);
                }
            }
        }
    }
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
            let extension = greedy.extend(limits, q, s);
            prop_assert_eq!(extension.ends, found);
            steps.reverse();
            let (score, in_query, in_subject) = score_of(limits, &steps, &query, &subject);
            prop_assert_eq!((in_query, in_subject), (found.query, found.subject));
            // Differences are no more than a half of the subject.
            let differences = found.score as usize;
            let best = best_score(limits, &query, &subject);
            prop_assert!(score <= best);
            if differences < subject.len() / 2 && subject.len() > query.len() / 2 {
                prop_assert_eq!(score, best);
            }
            let (from, run) = (extension.run, extension.run_length);
            prop_assert_eq!(&query[from.0..from.0 + run], &subject[from.1..from.1 + run]);
        }
    }
}
