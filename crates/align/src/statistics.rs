//! Statistics of alignments: how surprising a score is.
//!
//! An **E-value** is how many alignments of at least that score a search is expected to find by
//! chance. A **bit score** is a score without its units: `(lambda S - ln K) / ln 2`. Both need the
//! parameters of Karlin and Altschul, which follow from matrix and gap costs: from tables where
//! there are gaps, by calculation where there are none. All logarithms are natural, lambda is per
//! unit of score, H is in nats a pair of residues.

mod costs;
mod length;
mod normal;
pub mod nucleotide;
pub mod protein;
pub mod sum;
pub mod text;
pub mod ungapped;

pub use costs::{Costs, UnknownCosts};
pub use length::SearchSpace;

/// E-values below this are told as 0, and are equal to each other.
pub const LEAST_EVALUE: f64 = 1e-180;

/// The parameters of Karlin and Altschul for one way of scoring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Karlin {
    /// Nats a unit of score; positive.
    pub lambda: f64,
    /// The share of pairs of positions at which an alignment may begin; positive.
    pub k: f64,
    /// Relative entropy: nats a pair of residues; positive.
    pub h: f64,
    /// Residues that an alignment grows by a unit of score, on each sequence.
    pub alpha: f64,
    /// Residues at a score of 0 by the same line; not positive.
    pub beta: f64,
}

impl Karlin {
    /// The bit score of a score.
    pub fn bits(&self, score: f64) -> f64 {
        (score * self.lambda - self.k.ln()) / std::f64::consts::LN_2
    }

    /// The score of a bit score.
    pub fn score(&self, bits: f64) -> f64 {
        (bits * std::f64::consts::LN_2 + self.k.ln()) / self.lambda
    }

    /// The E-value of a score in a space of so many pairs of positions.
    pub fn evalue(&self, score: f64, pairs: f64) -> f64 {
        told(pairs * (self.k.ln() - self.lambda * score).exp())
    }

    /// The least whole score, 1 or more, whose E-value is at most `evalue`.
    pub fn cutoff(&self, evalue: f64, pairs: f64) -> i32 {
        least_score(evalue, |score| self.evalue(f64::from(score), pairs))
    }
}

/// An E-value as it is told.
pub fn told(evalue: f64) -> f64 {
    if evalue < LEAST_EVALUE { 0.0 } else { evalue }
}

/// The least score from 1 on of which `evalue_of`, which falls, is at most `evalue`.
fn least_score(evalue: f64, evalue_of: impl Fn(i32) -> f64) -> i32 {
    let (mut above, mut reaching) = (0, 1);
    while reaching < i32::MAX / 2 && evalue_of(reaching) > evalue {
        above = reaching;
        reaching *= 2;
    }
    while reaching - above > 1 {
        let middle = above + (reaching - above) / 2;
        if evalue_of(middle) > evalue {
            above = middle;
        } else {
            reaching = middle;
        }
    }
    reaching
}

#[cfg(test)]
mod tests;
