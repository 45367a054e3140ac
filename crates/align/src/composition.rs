//! Scores that fit the compositions of two sequences.
//!
//! A substitution matrix is made for sequences of an average composition. Where both sequences
//! are rich in the same residues, chance alignments score high, and unrelated sequences look
//! related. BLAST therefore makes a matrix for each pair of sequences (its mode 2, the default):
//!
//! 1. Count the standard residues of query and subject ([`Composition`]).
//! 2. Choose between two adjustments (the rule; [`AdjustmentRule`]).
//! 3. Optimised: mix 20 pseudocounts into each composition. Find the target frequencies that have
//!    these compositions and a relative entropy of 0.44 nats, and are nearest to those of the
//!    matrix. Their logarithms of odds are the scores.
//! 4. Scaled: multiply the scores of the matrix, so that their lambda in these compositions is
//!    the standard one; scores are never raised, and at most halved (BLAST's mode 1).
//! 5. Extend the scores to ambiguous letters, and round.
//!
//! Altschul, Wootton, Gertz, Agarwala, Morgulis, Schäffer and Yu, FEBS Journal 272:5101 (2005);
//! Yu, Wootton and Altschul, PNAS 100:15688 (2003); Yu and Altschul, Bioinformatics 21:902 (2005);
//! Schäffer et al., Nucleic Acids Research 29:2994 (2001) for the scaling.
//!
//! The numbers are BLAST's to the last integer. They depend on the pair alone: no sum, logarithm
//! or vector is another on another processor.

mod counts;
mod expand;
mod frequencies;
mod grid;
mod joint;
mod lambda;
mod ln;
mod newton;
mod optimise;
mod ratios;
mod rule;

pub use crate::gapped::Scores;
pub use counts::Composition;
pub use expand::FORBIDDEN;
pub use frequencies::MatrixFrequencies;
pub use rule::AdjustmentRule;

use crate::arch::Kernels;
use crate::residue::{CODES, STANDARD};
use expand::{Real, SCORED, Stops, nearest, real_scores, round, set_any};
use grid::{Row, sum, symmetric};
use lambda::Chances;
use ln::ln;
use optimise::{Optimum, Standard, Target};

/// Units of an adjusted score in one unit of the standard matrix. Gap costs are to be multiplied
/// by it, and sums of scores divided.
pub const SCALE: i32 = 32;

/// Relative entropy of the target frequencies, in nats a pair.
const ENTROPY: f64 = 0.44;
/// The least ratio of lambdas that a matrix is scaled by.
const LEAST_RATIO: f64 = 0.5;
/// The ratio of X against any letter in every matrix.
const ANY_RATIO: f64 = 0.75;

/// What was done to a pair's scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adjustment {
    /// How the scores were made.
    pub rule: AdjustmentRule,
    /// Lambda of the matrix in the pair's compositions, over its standard lambda: 0.5 to 1; 1 for
    /// other scores, which need no scaling.
    pub lambda_ratio: f64,
}

impl Adjustment {
    /// The scores of the matrix, at scale: BLAST's mode 0.
    pub const NONE: Adjustment = Adjustment {
        rule: AdjustmentRule::Unadjusted,
        lambda_ratio: 1.0,
    };
}

/// Makes scores for pairs of sequences. One serves any number of threads.
#[derive(Clone, Debug)]
pub struct Adjuster {
    standard: Standard,
    background: Row,
    /// Logarithms of the matrix's frequency ratios.
    ratios: Real,
    /// Scores of the matrix at scale, standard residues alone, with the lowest and the highest of
    /// all letters.
    start: [[i32; STANDARD]; STANDARD],
    low: i32,
    high: i32,
    stops: Stops,
    /// Lambda at scale.
    lambda: f64,
    kernels: Kernels,
}

impl Adjuster {
    /// An adjuster for a matrix of these frequencies, the ungapped lambda of which is `lambda`
    /// nats a unit of score in the standard composition: see [`ideal_lambda`].
    ///
    /// # Panics
    /// When `lambda` is not between 0.05 and 2.
    pub fn new(frequencies: MatrixFrequencies, lambda: f64) -> Adjuster {
        assert!((0.05..=2.0).contains(&lambda), "lambda is {lambda}");
        let lambda = lambda / f64::from(SCALE);
        let joint = symmetric(frequencies.joint);
        let ratios = log_ratios(frequencies.ratios);
        let score = |ratio: f64| nearest(ratio / lambda);
        let others = [ln(frequencies.stop), ln(ANY_RATIO)].map(score);
        let all = ratios.iter().flat_map(|row| &row[..STANDARD]);
        let all = all.map(|&ratio| score(ratio)).chain(others);
        let bounds = all.fold((0, 0), |(low, high), one| (one.min(low), one.max(high)));
        let mut start = [[0; STANDARD]; STANDARD];
        for i in 0..STANDARD {
            for j in 0..STANDARD {
                start[i][j] = score(ratios[i][j]);
            }
        }
        Adjuster {
            background: joint.map(|row| sum(&row)),
            standard: Standard {
                logarithms: joint.map(|row| row.map(ln)),
                frequencies: joint,
            },
            ratios,
            start,
            low: bounds.0,
            high: bounds.1,
            stops: Stops {
                with_stop: score(ln(ratios::STOP_STOP)),
                with_other: others[0],
            },
            lambda,
            kernels: Kernels::detect(),
        }
    }

    /// Fills `scores` for a pair as BLAST's mode 2 does. None when a sequence has no standard
    /// residue: then the scores are untouched, and BLAST reports no alignment.
    pub fn adjust(
        &self,
        query: &Composition,
        subject: &Composition,
        scores: &mut Scores,
    ) -> Option<Adjustment> {
        if query.standard == 0 || subject.standard == 0 {
            return None;
        }
        match AdjustmentRule::choose(query, subject, &self.background) {
            AdjustmentRule::Optimised => self.optimise(query, subject, scores),
            _ => self.scale(query, subject, scores),
        }
    }

    /// Fills `scores` for a pair as BLAST's mode 3 does: optimised whatever the compositions, if
    /// that can be. None as for [`adjust`](Adjuster::adjust).
    pub fn optimise(
        &self,
        query: &Composition,
        subject: &Composition,
        scores: &mut Scores,
    ) -> Option<Adjustment> {
        if query.standard == 0 || subject.standard == 0 {
            return None;
        }
        let work = Optimisation {
            adjuster: self,
            query,
            subject,
            scores,
        };
        if !self.kernels.run(
            #[inline(always)]
            || work.run(),
        ) {
            return self.scale(query, subject, scores);
        }
        Some(Adjustment {
            rule: AdjustmentRule::Optimised,
            lambda_ratio: 1.0,
        })
    }

    /// Fills `scores` for a pair as BLAST's mode 1 does, to which the others fall back. None as for
    /// [`adjust`](Adjuster::adjust).
    pub fn scale(
        &self,
        query: &Composition,
        subject: &Composition,
        scores: &mut Scores,
    ) -> Option<Adjustment> {
        if query.standard == 0 || subject.standard == 0 {
            return None;
        }
        let lambda = self.lambda_of(query, subject).unwrap_or(-1.0);
        let lambda_ratio = (lambda / self.lambda).clamp(LEAST_RATIO, 1.0);
        let scaled = self.lambda / lambda_ratio;
        let mut real = self.ratios.map(|row| row.map(|ratio| ratio / scaled));
        set_any(&mut real, &query.frequencies, &subject.frequencies);
        round(&real, self.stops, scores);
        Some(Adjustment {
            rule: AdjustmentRule::Scaled,
            lambda_ratio,
        })
    }

    /// Lambda at scale of the matrix in the compositions of a pair.
    fn lambda_of(&self, query: &Composition, subject: &Composition) -> Option<f64> {
        let mut chances = Chances::new(self.low, self.high);
        for (scores, row) in self.start.iter().zip(&query.frequencies) {
            for (&score, column) in scores.iter().zip(&subject.frequencies) {
                chances.add(score, row * column);
            }
        }
        chances.lambda(self.lambda)
    }
}

/// The work of making optimised scores.
struct Optimisation<'a> {
    adjuster: &'a Adjuster,
    query: &'a Composition,
    subject: &'a Composition,
    scores: &'a mut Scores,
}

impl Optimisation<'_> {
    /// Fills the scores from optimised target frequencies; false when there are none.
    #[inline(always)]
    fn run(self) -> bool {
        let adjuster = self.adjuster;
        let rows = self.query.with_pseudocounts(&adjuster.background);
        let columns = self.subject.with_pseudocounts(&adjuster.background);
        let target = Target {
            standard: &adjuster.standard,
            rows: &rows,
            columns: &columns,
            entropy: ENTROPY,
        };
        let mut optimum = Optimum::begin(&target);
        if !optimum.reach(&target) {
            return false;
        }
        let mut real = real_scores(&optimum, &target, adjuster.lambda);
        set_any(&mut real, &rows, &columns);
        round(&real, adjuster.stops, self.scores);
        true
    }
}

/// The logarithms of a triangle of ratios; X has zeros, to be set for each pair.
fn log_ratios(triangle: &[f64; ratios::PAIRS]) -> Real {
    let mut logarithms = [[0.0; SCORED]; SCORED];
    let mut next = triangle.iter();
    for i in 0..ratios::LETTERS {
        for j in i..ratios::LETTERS {
            let ratio = ln(*next.next().expect("a triangle has an entry a pair"));
            logarithms[i][j] = ratio;
            logarithms[j][i] = ratio;
        }
    }
    logarithms
}

/// Residues of a thousand in proteins, by code.
///
/// Robinson and Robinson, PNAS 88:8880 (1991).
const PROTEINS: [f64; STANDARD] = [
    78.05, 51.29, 44.87, 53.64, 19.25, 42.64, 62.95, 73.77, 21.99, 51.42, 90.19, 57.44, 22.43,
    38.56, 52.03, 71.20, 58.41, 13.30, 32.16, 64.41,
];

/// The ungapped lambda of a matrix, by code of a residue, between proteins of the standard
/// composition: nats a unit of score, with BLAST's digits. None when its scores have no lambda.
pub fn ideal_lambda(matrix: &[[i8; CODES]; CODES]) -> Option<f64> {
    let rows = &matrix[..STANDARD];
    let all = || {
        rows.iter()
            .flat_map(|row| &row[..STANDARD])
            .map(|&score| i32::from(score))
    };
    let low = all().min().unwrap_or(0).min(0);
    let high = all().max().unwrap_or(0).max(0);
    let mut chances = Chances::new(low, high);
    let total: f64 = PROTEINS.iter().sum();
    for (scores, row) in rows.iter().zip(PROTEINS) {
        for (&score, column) in scores.iter().zip(PROTEINS) {
            chances.add(i32::from(score), row / total * (column / total));
        }
    }
    chances.lambda(0.5)
}

#[cfg(test)]
mod tests;
