//! What becomes of one subject, step by step.

use std::ops::Range;

use gyrase_align::composition::{Adjustment, Composition};

use super::{Aligner, Extended, Manner, Pass, View, best_first};
use crate::hits::Match;

/// A gapped alignment of a pair, by the scores of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct PairAlignment {
    /// Its score, in units of the matrix.
    pub score: f64,
    /// Its E-value.
    pub evalue: f64,
    /// Its residues of the query.
    pub query: Range<usize>,
    /// Its residues of the subject.
    pub subject: Range<usize>,
}

impl PairAlignment {
    fn of(one: &Extended, pass: Pass) -> PairAlignment {
        PairAlignment {
            score: f64::from(one.score) / f64::from(pass.scale()),
            evalue: one.evalue,
            query: one.query(),
            subject: one.subject(),
        }
    }
}

/// How the alignments of a pair come out.
#[derive(Clone, Debug, PartialEq)]
pub struct PairSteps {
    /// A band around a segment scores enough to go on.
    pub passes_band: bool,
    /// The best alignment by the scores of the matrix.
    pub by_matrix: PairAlignment,
    /// The largest E-value of such an alignment that is looked at again; infinite in a fast search,
    /// which makes none.
    pub promising: f64,
    /// Both sequences are taken for the same, so that nothing is masked.
    pub same: bool,
    /// Residues of the subject that are of low complexity.
    pub low_complexity: Vec<Range<usize>>,
    /// How scores were fitted to the composition of both; none where one has no residue that
    /// counts.
    pub adjustment: Option<Adjustment>,
    /// The best alignment by the fitted scores.
    pub by_fitted: Option<PairAlignment>,
    /// It is reported, but for subjects that are better.
    pub is_good: bool,
    /// It scores more than a fast search expects by its bands, and is left out.
    pub exceeds_bands: bool,
}

impl Aligner<'_> {
    /// Goes the way of a pair to its end, also where it is given up before; by its segments, one
    /// at least.
    pub(crate) fn steps_of_pair(
        &mut self,
        query: &[u8],
        number: usize,
        matches: &[Match],
    ) -> PairSteps {
        let composition = Composition::of(query);
        let subject = self.subjects.residues(number);
        let candidate = self.promising(query, vec![matches]).pop();
        let view = View::whole(query, subject);
        let mut extended: Vec<Extended> = (best_first(matches).iter())
            .map(|segment| self.extend(Pass::Matrix, &view, self.start(&view, segment)))
            .collect();
        extended.sort_by(Extended::order);
        let best = extended[0];
        let same = self.are_the_same(&view, &best);
        let low_complexity = self.seg.mask(subject).to_vec();
        self.hide_simple(subject, same);
        let adjustment = self.adjust(&composition, &self.composition_of_subject());
        let by_fitted = adjustment.map(|_| {
            let again = extended.iter();
            let again = again.map(|one| self.extend(Pass::Adjusted, &view, one.start));
            again
                .min_by(Extended::order)
                .expect("there is one at least")
        });
        let least = candidate
            .as_ref()
            .map_or(0.0, |own| self.least_evalue(query, own));
        let found = candidate
            .as_ref()
            .and_then(|own| self.align(query, &composition, own));
        let reached = found.map(|found| found.extended[0].evalue);
        PairSteps {
            passes_band: candidate.is_some(),
            by_matrix: PairAlignment::of(&best, Pass::Matrix),
            promising: match self.manner {
                Manner::Fast => f64::INFINITY,
                _ => self.scoring.promising(),
            },
            same,
            low_complexity,
            adjustment,
            by_fitted: by_fitted.map(|one| PairAlignment::of(&one, Pass::Adjusted)),
            is_good: reached.is_some_and(|evalue| evalue >= least),
            exceeds_bands: reached.is_some_and(|evalue| evalue < least),
        }
    }
}
