//! Which of two adjustments a pair of sequences gets.

use super::counts::Composition;
use super::grid::Row;
use super::ln::ln;

/// Distance of query and subject above which their compositions are unlike.
const UNLIKE: f64 = 0.16;
/// How many times longer one sequence must be than the other.
const LENGTHS: f64 = 3.0;
/// The cosine of 70 degrees.
const COSINE: f64 = 0.342_020_143_325_668_7;
/// Two residues that make up more of a sequence than this bias it.
const BIASED: f64 = 0.4;
/// Residues of a sequence that is long enough to be called biased.
const LONG: usize = 50;

/// How the scores of a pair were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdjustmentRule {
    /// From target frequencies that fit both compositions.
    Optimised,
    /// From the standard matrix, by one factor.
    Scaled,
    /// They are those of the matrix.
    Unadjusted,
}

impl AdjustmentRule {
    /// BLAST's choice: scaling when the sequences differ much in composition and length, and their
    /// compositions depart from the matrix's `background` in directions more than 70 degrees apart.
    ///
    /// Altschul et al., FEBS Journal 272:5101 (2005), "Conditional score matrix adjustment".
    pub(super) fn choose(
        query: &Composition,
        subject: &Composition,
        background: &Row,
    ) -> AdjustmentRule {
        let (short, long) = (
            query.length.min(subject.length) as f64,
            query.length.max(subject.length) as f64,
        );
        if long / short <= LENGTHS || is_biased(query) || is_biased(subject) {
            return AdjustmentRule::Optimised;
        }
        let apart = divergence(&subject.frequencies, &query.frequencies);
        if apart.sqrt() <= UNLIKE {
            return AdjustmentRule::Optimised;
        }
        let of_query = divergence(&query.frequencies, background);
        let of_subject = divergence(&subject.frequencies, background);
        let cosine = (of_subject + of_query - apart) / 2.0 / (of_subject * of_query).sqrt();
        if (-1.0..COSINE).contains(&cosine) {
            AdjustmentRule::Scaled
        } else {
            AdjustmentRule::Optimised
        }
    }
}

/// True for a long sequence of which two kinds of residues make up much.
fn is_biased(one: &Composition) -> bool {
    let (mut first, mut second) = (0f64, 0f64);
    for &frequency in &one.frequencies {
        second = second.max(frequency.min(first));
        first = first.max(frequency);
    }
    one.length > LONG && first + second > BIASED
}

/// The Jensen-Shannon divergence of two compositions, in nats: a distance's square.
fn divergence(one: &Row, other: &Row) -> f64 {
    let mut total = 0.0;
    for (&a, &b) in one.iter().zip(other) {
        let mean = (a + b) / 2.0;
        total += half_term(a, mean) + half_term(b, mean);
    }
    total.max(0.0)
}

fn half_term(frequency: f64, mean: f64) -> f64 {
    if frequency > 0.0 {
        frequency * ln(frequency / mean) / 2.0
    } else {
        0.0
    }
}
