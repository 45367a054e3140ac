//! Gapped extension with affine gaps: dynamic programming that leaves out what falls too far below
//! the best (the *X-drop*; Altschul et al. 1997, "Gapped BLAST and PSI-BLAST", p. 3391).

use crate::residue::CODES;
use crate::statistics::Costs;

/// Scores by the codes of two residues, of any scale: a row for each residue of the query.
pub type Scores = [[i32; CODES]; CODES];

/// Far below any score, far above the lowest number.
const NEVER: i32 = i32::MIN / 2;

/// Steps of an alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A residue of both.
    Both,
    /// A residue of the query beside a gap.
    Query,
    /// A residue of the subject beside a gap.
    Subject,
}

/// The best alignment of a prefix of a query and a prefix of a subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefixes {
    /// Its score.
    pub score: i32,
    /// Residues of the query.
    pub query: usize,
    /// Residues of the subject.
    pub subject: usize,
}

/// What the best alignment of two prefixes scores, and the best that ends with a gap beside the
/// query's next residue.
#[derive(Clone, Copy, Debug)]
struct Cell {
    best: i32,
    gap: i32,
}

/// How a cell was reached, and whether gaps that leave it came through it.
const BY_QUERY: u8 = 1;
const BY_SUBJECT: u8 = 2;
const FROM: u8 = 3;
const QUERY_GOES_ON: u8 = 4;
const SUBJECT_GOES_ON: u8 = 8;

/// The memory of extensions, used again and again.
#[derive(Default)]
pub struct Extension {
    cells: Vec<Cell>,
    /// How the cells of all rows were reached.
    reached: Vec<u8>,
    /// Per row: its first cell, and where it is in `reached`.
    rows: Vec<(usize, usize)>,
}

impl Extension {
    /// The best alignment that begins with the first residues of both, or none of them.
    ///
    /// `query` and `subject` give the codes of residues by number, and how many there are.
    pub fn extend(
        &mut self,
        scores: &Scores,
        gaps: Costs,
        x_drop: i32,
        query: (usize, impl Fn(usize) -> u8),
        subject: (usize, impl Fn(usize) -> u8),
    ) -> Prefixes {
        self.run::<false>(scores, gaps, x_drop, query, subject)
    }

    /// The same with its steps, which are pushed to `steps` from the last to the first.
    pub fn trace(
        &mut self,
        scores: &Scores,
        gaps: Costs,
        x_drop: i32,
        query: (usize, impl Fn(usize) -> u8),
        subject: (usize, impl Fn(usize) -> u8),
        steps: &mut Vec<Step>,
    ) -> Prefixes {
        let best = self.run::<true>(scores, gaps, x_drop, query, subject);
        self.steps_back(best, steps);
        best
    }

    fn run<const TRACE: bool>(
        &mut self,
        scores: &Scores,
        gaps: Costs,
        x_drop: i32,
        (query_length, query): (usize, impl Fn(usize) -> u8),
        (subject_length, subject): (usize, impl Fn(usize) -> u8),
    ) -> Prefixes {
        let first_of_gap = gaps.open + gaps.extend;
        let (mut first, mut end) = (0, self.first_row::<TRACE>(gaps, x_drop, subject_length));
        let mut best = Prefixes::default();
        for row in 1..=query_length {
            let of_query = &scores[usize::from(query(row - 1))];
            let at = self.reached.len();
            if TRACE {
                self.rows.push((first, at));
            }
            let (mut diagonal, mut in_subject, mut last) = (NEVER, NEVER, first);
            let mut from = first;
            while from < end {
                let column = from;
                from += 1;
                let Cell { best: before, gap } = self.cells[column];
                let next = if column < subject_length {
                    before + of_query[usize::from(subject(column))]
                } else {
                    NEVER
                };
                let (mut score, mut reached) = (diagonal, 0);
                diagonal = next;
                if gap > score {
                    (score, reached) = (gap, BY_QUERY);
                }
                if in_subject > score {
                    (score, reached) = (in_subject, BY_SUBJECT);
                }
                if best.score - score > x_drop {
                    if column == first {
                        first += 1;
                    } else {
                        self.cells[column].best = NEVER;
                    }
                } else {
                    last = column;
                    if score > best.score {
                        best = Prefixes {
                            score,
                            query: row,
                            subject: column,
                        };
                    }
                    let opened = score - first_of_gap;
                    let longer = gap - gaps.extend;
                    if longer > opened {
                        reached |= QUERY_GOES_ON;
                    }
                    let longer_in_subject = in_subject - gaps.extend;
                    if longer_in_subject > opened {
                        reached |= SUBJECT_GOES_ON;
                    }
                    in_subject = longer_in_subject.max(opened);
                    self.cells[column] = Cell {
                        best: score,
                        gap: longer.max(opened),
                    };
                }
                if TRACE {
                    self.reached.push(reached);
                }
            }
            if first == end {
                break;
            }
            if last + 1 < end {
                end = last + 1;
            } else {
                while in_subject >= best.score - x_drop && end <= subject_length {
                    self.set(end, in_subject, in_subject - first_of_gap);
                    if TRACE {
                        self.reached.push(BY_SUBJECT | SUBJECT_GOES_ON);
                    }
                    in_subject -= gaps.extend;
                    end += 1;
                }
            }
            if end <= subject_length {
                self.set(end, NEVER, NEVER);
                end += 1;
            }
        }
        best
    }

    /// Gaps from the start on; how many cells there are.
    fn first_row<const TRACE: bool>(
        &mut self,
        gaps: Costs,
        x_drop: i32,
        subject_length: usize,
    ) -> usize {
        let first_of_gap = gaps.open + gaps.extend;
        self.cells.clear();
        self.reached.clear();
        self.rows.clear();
        self.set(0, 0, -first_of_gap);
        let (mut score, mut end) = (-first_of_gap, 1);
        while end <= subject_length && score >= -x_drop {
            self.set(end, score, score - first_of_gap);
            score -= gaps.extend;
            end += 1;
        }
        if TRACE {
            self.rows.push((0, 0));
            self.reached.push(0);
            self.reached.resize(end, BY_SUBJECT | SUBJECT_GOES_ON);
        }
        end
    }

    fn set(&mut self, column: usize, best: i32, gap: i32) {
        let cell = Cell { best, gap };
        match self.cells.get_mut(column) {
            Some(place) => *place = cell,
            None => self.cells.push(cell),
        }
    }

    fn steps_back(&self, end: Prefixes, steps: &mut Vec<Step>) {
        let (mut row, mut column) = (end.query, end.subject);
        let mut by = 0;
        while row > 0 || column > 0 {
            let (first, at) = self.rows[row];
            let reached = self.reached[at + column - first];
            by = match by {
                BY_QUERY if reached & QUERY_GOES_ON != 0 => BY_QUERY,
                BY_SUBJECT if reached & SUBJECT_GOES_ON != 0 => BY_SUBJECT,
                _ => reached & FROM,
            };
            steps.push(match by {
                BY_QUERY => Step::Query,
                BY_SUBJECT => Step::Subject,
                _ => Step::Both,
            });
            row -= usize::from(by != BY_SUBJECT);
            column -= usize::from(by != BY_QUERY);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GAPS: Costs = Costs { open: 5, extend: 2 };

    fn scores() -> Scores {
        std::array::from_fn(|q| std::array::from_fn(|s| if q == s { 4 } else { -3 }))
    }

    /// The score of steps, which begin at the start of both.
    fn score_of(query: &[u8], subject: &[u8], steps: &[Step]) -> (i32, usize, usize) {
        let (mut score, mut q, mut s, mut before) = (0, 0, 0, Step::Both);
        for &step in steps {
            match step {
                Step::Both => {
                    score += scores()[usize::from(query[q])][usize::from(subject[s])];
                }
                _ if step == before => score -= GAPS.extend,
                _ => score -= GAPS.open + GAPS.extend,
            }
            q += usize::from(step != Step::Subject);
            s += usize::from(step != Step::Query);
            before = step;
        }
        (score, q, s)
    }

    /// The best score of prefixes, by the textbook (Gotoh 1982).
    fn best_of_prefixes(query: &[u8], subject: &[u8]) -> i32 {
        let gap = |length: usize| -(GAPS.open + GAPS.extend * length as i32);
        let columns = subject.len() + 1;
        let mut best: Vec<i32> = (0..columns)
            .map(|n| if n == 0 { 0 } else { gap(n) })
            .collect();
        let mut in_query = vec![NEVER; columns];
        let mut highest = 0;
        for (row, &q) in query.iter().enumerate() {
            let mut diagonal = std::mem::replace(&mut best[0], gap(row + 1));
            let mut in_subject = NEVER;
            for column in 1..columns {
                in_query[column] = (in_query[column] - GAPS.extend).max(best[column] + gap(1));
                in_subject = (in_subject - GAPS.extend).max(best[column - 1] + gap(1));
                let both = diagonal + scores()[usize::from(q)][usize::from(subject[column - 1])];
                diagonal = best[column];
                best[column] = both.max(in_query[column]).max(in_subject);
                highest = highest.max(best[column]);
            }
        }
        highest
    }

    proptest! {
        #[test]
        fn without_a_limit_it_is_the_best_alignment(
            query in proptest::collection::vec(0..3_u8, 0..40),
            subject in proptest::collection::vec(0..3_u8, 0..40),
            x_drop in prop_oneof![Just(1_000_000), 0..30],
        ) {
            let (mut extension, mut steps) = (Extension::default(), Vec::new());
            let ends = (
                (query.len(), |at: usize| query[at]),
                (subject.len(), |at: usize| subject[at]),
            );
            let best = extension.trace(&scores(), GAPS, x_drop, ends.0, ends.1, &mut steps);
            prop_assert_eq!(best, extension.extend(&scores(), GAPS, x_drop, ends.0, ends.1));
            steps.reverse();
            let (score, q, s) = score_of(&query, &subject, &steps);
            prop_assert_eq!((score, q, s), (best.score, best.query, best.subject));
            let highest = best_of_prefixes(&query, &subject);
            prop_assert!(best.score <= highest);
            if x_drop == 1_000_000 {
                prop_assert_eq!(best.score, highest);
            }
        }
    }
}
