//! Statistics of alignments of proteins.
//!
//! BLAST+ counts, for each pair of proteins, the places in which an alignment may end: an alignment
//! of score y has a normally distributed length on each sequence, whose mean and variance grow with
//! y, and does not fit nearer to the ends. After Park, Sheetlin, Ma, Madden and Spouge, BMC Res.
//! Notes 5 (2012) 286. The E-value of the pair times all letters over those of the subject is that
//! of the search: the number of subjects does not matter.

mod tables;

use super::normal::Normal;
use super::{Costs, Karlin, UnknownCosts, least_score, told};
use crate::matrix::Matrix;
use tables::{Row, TABLES, Table};

/// Statistics of one matrix with one cost of gaps.
///
/// ```
/// use gyrase_align::matrix::Matrix;
/// use gyrase_align::statistics::{Costs, protein::Protein, text};
///
/// let matrix = Matrix::named("BLOSUM62").ok_or("no such matrix")?;
/// let statistics = Protein::new(matrix, Costs::new(11, 1))?;
/// assert_eq!(text::bits(statistics.bits(100.0)), "43.1");
/// let evalue = statistics.evalue(100.0, 300, 250, 1_000_000);
/// assert_eq!(text::evalue(evalue), "6.35e-06");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Protein {
    costs: Costs,
    ungapped: Karlin,
    gapped: Karlin,
    ends: Gumbel,
    ungapped_spread: f64,
}

impl Protein {
    /// For a matrix and what gaps cost.
    ///
    /// # Errors
    /// [`UnknownCosts`] for gap costs that have no statistics.
    pub fn new(matrix: &Matrix, costs: Costs) -> Result<Protein, UnknownCosts> {
        let table = table_of(matrix);
        let rows = table.map_or(&[][..], |table| table.gapped);
        let row = rows.iter().find(|row| costs_of(row) == costs);
        match (table, row) {
            (Some(table), Some(row)) => Ok(Protein::of(&table.ungapped, row)),
            _ => Err(UnknownCosts::new(
                matrix.name().to_owned(),
                costs,
                Protein::known(matrix),
                None,
            )),
        }
    }

    /// The costs that a matrix has statistics for.
    pub fn known(matrix: &Matrix) -> Vec<Costs> {
        let rows = table_of(matrix).map_or(&[][..], |table| table.gapped);
        rows.iter().map(costs_of).collect()
    }

    /// The costs that BLAST+ takes for a matrix where none are given.
    pub fn usual(matrix: &Matrix) -> Costs {
        let row = table_of(matrix).and_then(|table| table.gapped.get(table.usual));
        row.map_or(Costs::new(11, 1), costs_of)
    }

    fn of(ungapped: &Row, gapped: &Row) -> Protein {
        Protein {
            costs: costs_of(gapped),
            ungapped: karlin_of(ungapped),
            gapped: karlin_of(gapped),
            ends: Gumbel::of(ungapped, gapped),
            ungapped_spread: ungapped.7,
        }
    }

    /// What gaps cost.
    pub fn costs(&self) -> Costs {
        self.costs
    }

    /// Parameters of alignments with gaps.
    pub fn gapped(&self) -> &Karlin {
        &self.gapped
    }

    /// Parameters of alignments without gaps, for proteins of common composition.
    pub fn ungapped(&self) -> &Karlin {
        &self.ungapped
    }

    /// How fast the variance of an alignment's length grows with its score, without gaps and with
    /// them, and how fast the covariance of its lengths on both sequences: residues squared a unit
    /// of score. BLAST+ calls them alpha, alpha and sigma.
    pub fn spread(&self) -> [f64; 3] {
        let Gumbel {
            variance,
            covariance,
            ..
        } = self.ends;
        [self.ungapped_spread, variance.0, covariance.0]
    }

    /// The bit score of a score.
    pub fn bits(&self, score: f64) -> f64 {
        self.gapped.bits(score)
    }

    /// The E-value of a score, which need not be whole, between a query and a subject of such
    /// lengths in a search of `letters` in all; 0 below 1e-180, and 0 for an empty sequence.
    pub fn evalue(&self, score: f64, query: usize, subject: usize, letters: u64) -> f64 {
        if query == 0 || subject == 0 {
            return 0.0;
        }
        let pairs = self.ends.pairs(score, query as f64, subject as f64);
        let of_pair = pairs * self.gapped.k * (-self.gapped.lambda * score).exp();
        told(of_pair * (letters as f64 / subject as f64))
    }

    /// The E-value of a score in a search space that somebody gave, in pairs of positions: as
    /// BLAST+ does with `-searchsp`, whatever the lengths.
    pub fn evalue_in(&self, score: f64, pairs: f64) -> f64 {
        self.gapped.evalue(score, pairs)
    }

    /// The least whole score, 1 or more, whose E-value is at most `evalue`.
    pub fn cutoff(&self, evalue: f64, query: usize, subject: usize, letters: u64) -> i32 {
        least_score(evalue, |score| {
            self.evalue(f64::from(score), query, subject, letters)
        })
    }
}

fn table_of(matrix: &Matrix) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.matrix == matrix.name())
}

fn costs_of(row: &Row) -> Costs {
    Costs::new(row.0, row.1)
}

fn karlin_of(row: &Row) -> Karlin {
    Karlin {
        lambda: row.2,
        k: row.3,
        h: row.4,
        alpha: row.5,
        beta: row.6,
    }
}

/// How long an alignment is, by its score y, on each sequence.
///
/// The mean is `mean.0 y + mean.1` residues; variance and covariance likewise, but never below
/// their least.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gumbel {
    mean: (f64, f64),
    variance: (f64, f64),
    covariance: (f64, f64),
    least_variance: f64,
    least_covariance: f64,
}

/// What is left of a sequence: expected places for an end, and the probability of any.
struct Side {
    places: f64,
    some: f64,
}

impl Gumbel {
    fn of(ungapped: &Row, gapped: &Row) -> Gumbel {
        let gap = 2.0 * f64::from(gapped.0 + gapped.1);
        let lambda = gapped.2;
        let (mean, variance, covariance) = (gapped.5, gapped.7, gapped.8);
        Gumbel {
            mean: (mean, gap * (ungapped.5 - mean)),
            variance: (variance, gap * (ungapped.7 - variance)),
            covariance: (covariance, gap * (ungapped.7 - covariance)),
            least_variance: 2.0 * variance / lambda,
            least_covariance: 2.0 * covariance / lambda,
        }
    }

    /// Pairs of places in which an alignment of that score may end.
    fn pairs(&self, score: f64, query: f64, subject: f64) -> f64 {
        let on = |line: (f64, f64)| line.0 * score + line.1;
        let length = on(self.mean);
        let deviation = on(self.variance).max(self.least_variance).sqrt();
        let shared = on(self.covariance).max(self.least_covariance);
        let query = Side::of(query - length, deviation);
        let subject = Side::of(subject - length, deviation);
        query.places * subject.places + shared * query.some * subject.some
    }
}

impl Side {
    fn of(left: f64, deviation: f64) -> Side {
        let normal = Normal::at(left / deviation);
        Side {
            places: left * normal.below + deviation * normal.density,
            some: normal.below,
        }
    }
}
