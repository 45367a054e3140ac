//! Gapped extension with affine gaps: dynamic programming that leaves out what falls too far below
//! the best (the *X-drop*; Altschul et al. 1997, "Gapped BLAST and PSI-BLAST", p. 3391).

use std::ops::Range;

use crate::arch::Kernels;
use crate::arch::cells::{
    BY_QUERY, BY_SUBJECT, CELLS, Cells, ExtensionRow, FROM, QUERY_GOES_ON, SUBJECT_GOES_ON,
};
use crate::residue::{BORDER, CODES};
use crate::statistics::Costs;

/// Scores by the codes of two residues, of any scale: a row for each residue of the query.
pub type Scores = [[i32; CODES]; CODES];

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

/// Steps that are compared at once.
const AT_ONCE: usize = 16;

/// The kinds of steps that stand behind each other, and how many of each.
pub fn runs(steps: &[Step]) -> impl Iterator<Item = (Step, usize)> {
    let mut rest = steps;
    std::iter::from_fn(move || {
        let step = *rest.first()?;
        let same = |other: &Step| *other == step;
        let (blocks, _) = rest.as_chunks::<AT_ONCE>();
        // A whole block at once, without a branch for each step.
        let whole = |block: &&[Step; AT_ONCE]| block.iter().fold(true, |all, one| all & same(one));
        let before = AT_ONCE * blocks.iter().take_while(whole).count();
        let length = before + rest[before..].iter().take_while(|one| same(one)).count();
        rest = &rest[length..];
        Some((step, length))
    })
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

/// Extends alignments; the memory of one is used again for the next.
pub struct Extension {
    kernels: Kernels,
    /// The residue of the subject before each cell, in whole blocks, as far as they were needed.
    subject: Vec<u8>,
    /// Columns of these that there are.
    columns: usize,
    /// The subject has no more.
    whole: bool,
    cells: Vec<Cells>,
    /// How the cells of all rows were reached.
    reached: Vec<[u8; CELLS]>,
    /// Per row: its first block of cells, and where it is in `reached`.
    rows: Vec<(usize, usize)>,
}

/// What an extension costs and may lose.
#[derive(Clone, Copy, Debug)]
pub struct ExtensionLimits {
    /// Of gaps.
    pub costs: Costs,
    /// What the score may fall below the best: at most [`MOST_DROP`], which more counts as.
    pub x_drop: i32,
}

/// The largest X-drop: about 100 bits of a matrix that is scaled by 32.
pub const MOST_DROP: i32 = 8192;

/// The largest cost of a gap's opening and of each of its residues, which more counts as. Scores of
/// pairs are not above it.
const MOST_COST: i32 = 1000;

/// What the best score may be above the base of cells: what a gap of 32 residues costs is added to
/// it.
fn room_above(costs: Costs) -> i32 {
    let fits = MOST_DROP / CELLS as i32;
    if costs.extend > fits { 0 } else { MOST_DROP }
}

impl Extension {
    /// An extension by these kernels.
    pub fn new(kernels: Kernels) -> Extension {
        Extension {
            kernels,
            subject: Vec::new(),
            columns: 0,
            whole: false,
            cells: Vec::new(),
            reached: Vec::new(),
            rows: Vec::new(),
        }
    }

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
        mut limits: ExtensionLimits,
        query: impl Iterator<Item = &'r u8>,
        subject: impl Iterator<Item = &'r u8>,
    ) -> Prefixes {
        limits.x_drop = limits.x_drop.min(MOST_DROP);
        limits.costs.open = limits.costs.open.min(MOST_COST);
        limits.costs.extend = limits.costs.extend.min(MOST_COST);
        let mut base = 0;
        let mut rest = std::iter::once(&BORDER).chain(subject);
        let mut kept = self.first_row::<TRACE>(limits, &mut rest);
        let mut best = Prefixes::default();
        for (number, &residue) in query.enumerate() {
            if best.score - base > room_above(limits.costs) {
                let by = (best.score - base) as i16;
                self.cells.iter_mut().for_each(|cells| cells.lower(by));
                base = best.score;
            }
            self.make_room(kept.end, limits, &mut rest);
            if TRACE {
                self.rows.push((kept.start / CELLS, self.reached.len()));
            }
            let row = ExtensionRow {
                scores: &scores[usize::from(residue) % CODES],
                subject: &self.subject,
                columns: self.columns,
                costs: limits.costs,
                x_drop: limits.x_drop,
                kept,
                best: best.score - base,
            };
            let (cells, reached) = (&mut self.cells, &mut self.reached);
            let end = self.kernels.extension_row::<TRACE>(&row, cells, reached);
            if let Some(column) = end.at {
                best = Prefixes {
                    score: base + end.best,
                    query: number + 1,
                    subject: column,
                };
            }
            if end.kept.is_empty() {
                break;
            }
            kept = end.kept;
        }
        best
    }

    /// Makes cells as far as gaps of the next row may reach, where a row ends at `end`, and reads
    /// the subject so far: it may be a thousand times as long as the query.
    fn make_room<'r>(
        &mut self,
        end: usize,
        ExtensionLimits { costs, x_drop }: ExtensionLimits,
        rest: &mut impl Iterator<Item = &'r u8>,
    ) {
        let longest = x_drop.max(0).checked_div(costs.extend);
        let last = longest.map_or(usize::MAX, |longest| (end + longest as usize) / CELLS);
        let blocks = last.saturating_add(1);
        let more = blocks
            .saturating_mul(CELLS)
            .saturating_sub(self.subject.len());
        if more > 0 && !self.whole {
            let before = self.subject.len();
            self.subject.extend(rest.take(more));
            self.whole = self.subject.len() - before < more;
            self.columns = self.subject.len();
            let padded = self.columns.next_multiple_of(CELLS);
            self.subject.resize(padded, BORDER);
        }
        let blocks = blocks.min(self.subject.len() / CELLS);
        if self.cells.len() < blocks {
            self.cells.resize(blocks, Cells::DROPPED);
        }
    }

    /// Gaps from the start on; which cells are kept.
    fn first_row<'r, const TRACE: bool>(
        &mut self,
        limits: ExtensionLimits,
        rest: &mut impl Iterator<Item = &'r u8>,
    ) -> Range<usize> {
        let ExtensionLimits { costs, x_drop } = limits;
        let opens = costs.open + costs.extend;
        self.cells.clear();
        self.reached.clear();
        self.rows.clear();
        self.subject.clear();
        (self.columns, self.whole) = (0, false);
        self.make_room(0, limits, rest);
        let (mut score, mut end) = (0, 0);
        while end < self.columns && (end == 0 || score >= -x_drop) {
            let block = &mut self.cells[end / CELLS];
            block.best[end % CELLS] = score as i16;
            block.gap[end % CELLS] = (score - opens) as i16;
            score -= if end == 0 { opens } else { costs.extend };
            end += 1;
        }
        if TRACE {
            self.rows.push((0, 0));
            let gaps = [BY_SUBJECT | SUBJECT_GOES_ON; CELLS];
            self.reached.resize(end.div_ceil(CELLS), gaps);
            self.reached[0][0] = 0;
        }
        0..end
    }

    fn steps_back(&self, end: Prefixes, steps: &mut Vec<Step>) {
        let mut walk = Walk::from(end);
        while walk.row > 0 || walk.column > 0 {
            let (first, at) = self.rows[walk.row];
            let column = walk.column;
            steps.push(walk.back(self.reached[at + column / CELLS - first][column % CELLS]));
        }
    }
}

/// The way back through the cells of an extension.
pub(crate) struct Walk {
    pub row: usize,
    pub column: usize,
    by: u8,
}

impl Walk {
    /// From the last cell on.
    pub(crate) fn from(end: Prefixes) -> Walk {
        Walk {
            row: end.query,
            column: end.subject,
            by: 0,
        }
    }

    /// Goes to the cell before, from one that was reached like this.
    #[inline(always)]
    pub(crate) fn back(&mut self, reached: u8) -> Step {
        self.by = match self.by {
            BY_QUERY if reached & QUERY_GOES_ON != 0 => BY_QUERY,
            BY_SUBJECT if reached & SUBJECT_GOES_ON != 0 => BY_SUBJECT,
            _ => reached & FROM,
        };
        self.row -= usize::from(self.by != BY_SUBJECT);
        self.column -= usize::from(self.by != BY_QUERY);
        match self.by {
            BY_QUERY => Step::Query,
            BY_SUBJECT => Step::Subject,
            _ => Step::Both,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GAPS: Costs = Costs { open: 5, extend: 2 };
    const NEVER: i32 = i32::MIN / 2;

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

    /// The best of prefixes where all cells are dropped that fall below the best of those before,
    /// row by row; gaps through a dropped cell end there.
    fn best_with_drops(
        scores: &Scores,
        limits: ExtensionLimits,
        query: &[u8],
        subject: &[u8],
    ) -> Prefixes {
        let ExtensionLimits { costs, x_drop } = limits;
        let opens = costs.open + costs.extend;
        let longer = |gap: Option<i32>| gap.map(|gap| gap - costs.extend);
        let columns = subject.len() + 1;
        let mut best = Prefixes::default();
        let (mut before, mut in_query) = (vec![None; columns], vec![None; columns]);
        for row in 0..=query.len() {
            let (mut now, mut in_subject) = (vec![None; columns], None);
            for column in 0..columns {
                let both = row
                    .checked_sub(1)
                    .zip(column.checked_sub(1))
                    .and_then(|(q, s)| {
                        let pair = scores[usize::from(query[q])][usize::from(subject[s])];
                        before[s].map(|score: i32| score + pair)
                    });
                let start = (row + column == 0).then_some(0);
                let score = [both, in_query[column], in_subject, start]
                    .into_iter()
                    .flatten()
                    .max();
                let kept = score.filter(|&score| score >= best.score - x_drop);
                now[column] = kept;
                let opened = kept.map(|score| score - opens);
                in_query[column] = opened.max(longer(in_query[column].filter(|_| kept.is_some())));
                in_subject = opened.max(longer(in_subject.filter(|_| kept.is_some())));
                if let Some(score) = kept.filter(|&score| score > best.score) {
                    best = Prefixes {
                        score,
                        query: row,
                        subject: column,
                    };
                }
            }
            before = now;
        }
        best
    }

    /// Sequences that have much in common.
    fn related() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
        let query = proptest::collection::vec(0..6_u8, 0..150);
        let changes =
            proptest::collection::vec((0..150_usize, 0..6_u8, 0..3_u8, 1..20_usize), 0..12);
        (query, changes).prop_map(|(query, changes)| {
            let mut subject = query.clone();
            for (at, residue, kind, length) in changes {
                let at = at.min(subject.len());
                let end = (at + length).min(subject.len());
                match kind {
                    0 => drop(subject.drain(at..end)),
                    1 => drop(subject.splice(at..at, vec![residue; length])),
                    _ => subject[at..end].fill(residue),
                }
            }
            (query, subject)
        })
    }

    #[test]
    fn large_scores_and_costs_fit() {
        let query: Vec<u8> = (0..80_usize).map(|at| (at * at / 7 % 5) as u8).collect();
        let mut scores = scores().map(|row| row.map(|score| score * MOST_COST / 4));
        scores[5] = [i32::MIN / 4; CODES];
        for (at, inserted, extend) in (20..70)
            .flat_map(|at| (1..4).map(move |inserted| (at, inserted)))
            .flat_map(|(at, inserted)| [100, 257, MOST_COST].map(|cost| (at, inserted, cost)))
        {
            let mut subject = query.clone();
            subject.splice(at..at, vec![5; inserted]);
            let costs = Costs {
                open: MOST_COST,
                extend,
            };
            let limits = ExtensionLimits {
                costs,
                x_drop: MOST_DROP,
            };
            let expected = best_with_drops(&scores, limits, &query, &subject);
            for kernels in Kernels::available() {
                let mut extension = Extension::new(kernels);
                let best = extension.extend(&scores, limits, query.iter(), subject.iter());
                assert_eq!(best, expected, "{kernels:?}: {inserted} at {at}, {extend}");
            }
        }
    }

    #[test]
    fn scores_of_long_alignments_fit() {
        let query: Vec<u8> = (0..6000_usize).map(|at| (at * at / 7 % 5) as u8).collect();
        let mut subject = query.clone();
        subject.drain(2500..2503);
        subject.splice(4000..4000, [1; 4]);
        let limits = ExtensionLimits {
            costs: GAPS,
            x_drop: 60,
        };
        let expected = best_with_drops(&scores(), limits, &query, &subject);
        assert!(expected.score > 2 * MOST_DROP);
        for kernels in Kernels::available() {
            let (mut extension, mut steps) = (Extension::new(kernels), Vec::new());
            let (scores, q, s) = (scores(), query.iter(), subject.iter());
            let best = extension.trace(&scores, limits, q, s, &mut steps);
            steps.reverse();
            let (score, q, s) = score_of(&query, &subject, &steps);
            assert_eq!((best, score), (expected, expected.score), "{kernels:?}");
            assert_eq!((q, s), (best.query, best.subject), "{kernels:?}");
        }
    }

    #[test]
    fn runs_are_those_of_neighbours() {
        let kinds = [Step::Both, Step::Query, Step::Subject];
        let mut state = 1_u64;
        for _ in 0..100 {
            let mut steps = Vec::new();
            for _ in 0..5 {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                let step = kinds[(state >> 40) as usize % 3];
                steps.extend(std::iter::repeat_n(step, (state >> 50) as usize % 50));
            }
            let expected = steps.chunk_by(|one, next| one == next);
            let expected: Vec<(Step, usize)> = expected.map(|run| (run[0], run.len())).collect();
            assert_eq!(runs(&steps).collect::<Vec<_>>(), expected);
        }
    }

    proptest! {
        #[test]
        fn without_a_limit_it_is_the_best_alignment(
            query in proptest::collection::vec(0..3_u8, 0..40),
            subject in proptest::collection::vec(0..3_u8, 0..40),
            x_drop in prop_oneof![Just(1_000_000), 0..30],
        ) {
            let (mut extension, mut steps) = (Extension::new(Kernels::detect()), Vec::new());
            let limits = ExtensionLimits { costs: GAPS, x_drop };
            let best =
                extension.trace(&scores(), limits, query.iter(), subject.iter(), &mut steps);
            steps.reverse();
            let (score, q, s) = score_of(&query, &subject, &steps);
            prop_assert_eq!((score, q, s), (best.score, best.query, best.subject));
            let highest = best_of_prefixes(&query, &subject);
            prop_assert!(best.score <= highest);
            if x_drop == 1_000_000 {
                prop_assert_eq!(best.score, highest);
            }
        }

        #[test]
        fn all_kernels_drop_the_same((query, subject) in related(), x_drop in 0..60) {
            let limits = ExtensionLimits { costs: GAPS, x_drop };
            let expected = best_with_drops(&scores(), limits, &query, &subject);
            for kernels in Kernels::available() {
                let (mut extension, mut steps) = (Extension::new(kernels), Vec::new());
                let (scores, q, s) = (scores(), query.iter(), subject.iter());
                let best = extension.extend(&scores, limits, q.clone(), s.clone());
                prop_assert_eq!(best, expected, "{:?}", kernels);
                prop_assert_eq!(extension.trace(&scores, limits, q, s, &mut steps), expected);
                steps.reverse();
                let (score, q, s) = score_of(&query, &subject, &steps);
                prop_assert_eq!((score, q, s), (best.score, best.query, best.subject));
            }
        }

        #[test]
        fn all_kernels_take_the_same_steps((query, subject) in related(), x_drop in 0..60) {
            let limits = ExtensionLimits { costs: GAPS, x_drop };
            let steps_of = |kernels| {
                let mut steps = Vec::new();
                let (q, s) = (query.iter(), subject.iter());
                Extension::new(kernels).trace(&scores(), limits, q, s, &mut steps);
                steps
            };
            let expected = steps_of(Kernels::Scalar);
            for kernels in Kernels::available() {
                prop_assert_eq!(steps_of(kernels), &expected[..], "{:?}", kernels);
            }
        }
    }
}
