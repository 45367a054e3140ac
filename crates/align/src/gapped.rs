//! Gapped extension with affine gaps: dynamic programming that leaves out what falls too far below
//! the best (the *X-drop*; Altschul et al. 1997, "Gapped BLAST and PSI-BLAST", p. 3391).

use std::ops::Range;

use crate::residue::{BORDER, CODES};
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

/// What a row leaves.
struct RowEnd {
    /// Cells from its first on that are too low.
    low: usize,
    /// The last cell that is not, counted from its first.
    last: usize,
    /// The best that ends with a gap behind the last cell.
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
    /// The residues of the subject, and a border.
    subject: Vec<u8>,
    cells: Vec<Cell>,
    /// How the cells of all rows were reached.
    reached: Vec<u8>,
    /// Per row: its first cell, and where it is in `reached`.
    rows: Vec<(usize, usize)>,
}

/// What an extension costs and may lose.
#[derive(Clone, Copy, Debug)]
pub struct ExtensionLimits {
    /// Of gaps.
    pub costs: Costs,
    /// What the score may fall below the best.
    pub x_drop: i32,
}

impl Extension {
    /// The best alignment that begins with the first residues of both, or none of them. Both are
    /// given from there on: in reverse for an extension to the left.
    pub fn extend<'r>(
        &mut self,
        scores: &Scores,
        limits: ExtensionLimits,
        query: impl Iterator<Item = &'r u8>,
        subject: impl Iterator<Item = &'r u8>,
    ) -> Prefixes {
        self.run::<false>(scores, limits, query, subject)
    }

    /// The same with its steps, which are pushed to `steps` from the last to the first.
    pub fn trace<'r>(
        &mut self,
        scores: &Scores,
        limits: ExtensionLimits,
        query: impl Iterator<Item = &'r u8>,
        subject: impl Iterator<Item = &'r u8>,
        steps: &mut Vec<Step>,
    ) -> Prefixes {
        let best = self.run::<true>(scores, limits, query, subject);
        self.steps_back(best, steps);
        best
    }

    fn run<'r, const TRACE: bool>(
        &mut self,
        scores: &Scores,
        limits: ExtensionLimits,
        query: impl Iterator<Item = &'r u8>,
        subject: impl Iterator<Item = &'r u8>,
    ) -> Prefixes {
        self.subject.clear();
        self.subject.extend(subject);
        let length = self.subject.len();
        self.subject.push(BORDER);
        let mut cells = 0..self.first_row::<TRACE>(limits);
        let mut best = Prefixes::default();
        for (number, &residue) in query.enumerate() {
            if TRACE {
                self.rows.push((cells.start, self.reached.len()));
            }
            let row = &scores[usize::from(residue) % CODES];
            let done = self.row::<TRACE>(row, number + 1, limits, cells.clone(), &mut best);
            if cells.start + done.low == cells.end {
                break;
            }
            if cells.start + done.last + 1 < cells.end {
                cells.end = cells.start + done.last + 1;
            } else {
                let least = best.score - limits.x_drop;
                cells.end = self.go_on_in_subject::<TRACE>(limits, cells.end, done.gap, least);
            }
            if cells.end <= length {
                self.set(cells.end, NEVER, NEVER);
                cells.end += 1;
            }
            cells.start += done.low;
        }
        best
    }

    /// Computes the cells of a row, which is that of so many residues of the query.
    fn row<const TRACE: bool>(
        &mut self,
        scores: &[i32; CODES],
        number: usize,
        ExtensionLimits { costs, x_drop }: ExtensionLimits,
        range: Range<usize>,
        best: &mut Prefixes,
    ) -> RowEnd {
        let opens = costs.open + costs.extend;
        let mut least = best.score - x_drop;
        let (mut diagonal, mut in_subject) = (NEVER, NEVER);
        let (mut low, mut last) = (0, 0);
        let cells = self.cells[range.clone()].iter_mut();
        for (place, (cell, &residue)) in cells.zip(&self.subject[range.clone()]).enumerate() {
            let (mut score, mut reached) = (diagonal, 0);
            diagonal = cell.best + scores[usize::from(residue) % CODES];
            if cell.gap > score {
                (score, reached) = (cell.gap, BY_QUERY);
            }
            if in_subject > score {
                (score, reached) = (in_subject, BY_SUBJECT);
            }
            if score < least {
                cell.best = NEVER;
                low += usize::from(low == place);
            } else {
                last = place;
                if score > best.score {
                    *best = Prefixes {
                        score,
                        query: number,
                        subject: range.start + place,
                    };
                    least = score - x_drop;
                }
                let opened = score - opens;
                let [longer, longer_in_subject] =
                    [cell.gap, in_subject].map(|gap| gap - costs.extend);
                if TRACE && longer > opened {
                    reached |= QUERY_GOES_ON;
                }
                if TRACE && longer_in_subject > opened {
                    reached |= SUBJECT_GOES_ON;
                }
                in_subject = longer_in_subject.max(opened);
                *cell = Cell {
                    best: score,
                    gap: longer.max(opened),
                };
            }
            if TRACE {
                self.reached.push(reached);
            }
        }
        RowEnd {
            low,
            last,
            gap: in_subject,
        }
    }

    /// Makes cells of a gap beside the subject behind the last one, down to the least score; where
    /// they end.
    fn go_on_in_subject<const TRACE: bool>(
        &mut self,
        limits: ExtensionLimits,
        mut end: usize,
        mut gap: i32,
        least: i32,
    ) -> usize {
        let Costs { open, extend } = limits.costs;
        while gap >= least && end < self.subject.len() {
            self.set(end, gap, gap - open - extend);
            if TRACE {
                self.reached.push(BY_SUBJECT | SUBJECT_GOES_ON);
            }
            gap -= extend;
            end += 1;
        }
        end
    }

    /// Gaps from the start on; how many cells there are.
    fn first_row<const TRACE: bool>(&mut self, limits: ExtensionLimits) -> usize {
        let ExtensionLimits { costs, x_drop } = limits;
        let opens = costs.open + costs.extend;
        self.cells.clear();
        self.reached.clear();
        self.rows.clear();
        self.set(0, 0, -opens);
        let (mut score, mut end) = (-opens, 1);
        while end < self.subject.len() && score >= -x_drop {
            self.set(end, score, score - opens);
            score -= costs.extend;
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
            let limits = ExtensionLimits { costs: GAPS, x_drop };
            let best =
                extension.trace(&scores(), limits, query.iter(), subject.iter(), &mut steps);
            let untraced = extension.extend(&scores(), limits, query.iter(), subject.iter());
            prop_assert_eq!(best, untraced);
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
