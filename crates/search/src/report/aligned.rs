//! An alignment, column by column.

use gyrase_align::gapped::Step;
use gyrase_align::residue::letter;

use super::layout::QueryHits;
use crate::alignments::{Pair, pairs};
use crate::{Hit, Hsp};

/// An alignment with what its columns have.
pub(super) struct Aligned<'a> {
    pub answer: &'a QueryHits<'a>,
    pub hit: &'a Hit,
    pub hsp: &'a Hsp,
    /// Columns.
    pub length: usize,
    /// Columns with the same residue twice.
    pub identical: usize,
    /// Columns with the same residue twice, or a score above 0.
    pub positive: usize,
    /// Columns with a gap.
    pub gaps: usize,
    /// Gaps of any length.
    pub gap_openings: usize,
}

impl<'a> Aligned<'a> {
    pub(super) fn new(answer: &'a QueryHits<'a>, hit: &'a Hit, hsp: &'a Hsp) -> Aligned<'a> {
        let mut aligned = Aligned {
            answer,
            hit,
            hsp,
            length: hsp.steps.len(),
            identical: 0,
            positive: 0,
            gaps: 0,
            gap_openings: 0,
        };
        let mut before = Step::Both;
        for &step in &hsp.steps {
            aligned.gaps += usize::from(step != Step::Both);
            aligned.gap_openings += usize::from(step != Step::Both && step != before);
            before = step;
        }
        for pair in answer.pairs(hit, hsp) {
            aligned.identical += usize::from(pair.0 == pair.1);
            aligned.positive += usize::from(answer.is_positive(pair));
        }
        aligned
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.answer.pairs(self.hit, self.hsp)
    }

    /// Length of the query.
    pub(super) fn query_length(&self) -> usize {
        self.answer.queries.residues(self.answer.query).len()
    }

    /// Length of the subject.
    pub(super) fn subject_length(&self) -> usize {
        self.answer.subjects.residues(self.hit.subject).len()
    }

    /// The columns of the query.
    pub(super) fn query_letters(&self) -> impl Iterator<Item = u8> {
        self.pairs().map(|(code, _)| code.map_or(b'-', letter))
    }

    /// The columns of the subject.
    pub(super) fn subject_letters(&self) -> impl Iterator<Item = u8> {
        self.pairs().map(|(_, code)| code.map_or(b'-', letter))
    }

    /// What stands between both: the residue where they are the same, `+` where their score is
    /// above 0.
    pub(super) fn middle(&self) -> impl Iterator<Item = u8> {
        self.pairs().map(|pair| match pair {
            (Some(one), Some(other)) if one == other => letter(one),
            _ if self.answer.is_positive(pair) => b'+',
            _ => b' ',
        })
    }
}

impl QueryHits<'_> {
    fn pairs<'a>(&'a self, hit: &Hit, hsp: &'a Hsp) -> impl Iterator<Item = Pair> + 'a {
        let query = &self.queries.residues(self.query)[hsp.query.clone()];
        let subject = &self.subjects.residues(hit.subject)[hsp.subject.clone()];
        pairs(query, subject, &hsp.steps)
    }

    fn is_positive(&self, pair: Pair) -> bool {
        let score = |(query, subject): (u8, u8)| {
            self.scoring.rows()[usize::from(query)][usize::from(subject)]
        };
        pair.0 == pair.1 || pair.0.zip(pair.1).is_some_and(|pair| score(pair) > 0)
    }
}
