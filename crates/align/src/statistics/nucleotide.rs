//! Statistics of alignments of DNA.
//!
//! With the parameters of gaps in a table the E-value is `K exp(-lambda S)` times the effective
//! [`SearchSpace`]; both strands of a query are one search. With gap costs beyond the table it is
//! that of alignments without gaps.

mod tables;

use super::ungapped::{NotLocal, ScoreFrequencies};
use super::{Costs, Karlin, SearchSpace, UnknownCosts};
use tables::{Row, TABLES, Table};

/// Statistics of a reward, a penalty and one cost of gaps.
///
/// ```
/// use gyrase_align::statistics::{Costs, SearchSpace, nucleotide::Nucleotide, text};
///
/// let statistics = Nucleotide::new(2, -3, Costs::new(5, 2))?;
/// assert_eq!(text::bits(statistics.bits(100.0)), "91.5");
/// let space = SearchSpace { query: 1000, letters: 5_000_000, sequences: 3 };
/// let effective = statistics.effective(&space);
/// assert_eq!(text::evalue(statistics.evalue(100.0, effective)), "1.44e-18");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nucleotide {
    gapped: Karlin,
    ungapped: Karlin,
    even: bool,
}

impl Nucleotide {
    /// For a reward above 0, a penalty below 0, and what gaps cost; costs of 0 and 0 are those of
    /// megablast, which follow from reward and penalty.
    ///
    /// # Errors
    /// [`UnknownCosts`] for scores or gap costs that have no statistics.
    pub fn new(reward: i32, penalty: i32, costs: Costs) -> Result<Nucleotide, UnknownCosts> {
        let factor = common_divisor(reward, penalty);
        let table = table_of(reward, penalty, factor);
        let unknown = || {
            let known = table.map_or_else(Vec::new, |table| known_of(table, factor));
            let most = table.map(|table| times(table.most, factor));
            UnknownCosts::new(format!("{reward}/{penalty}"), costs, known, most)
        };
        let table = table.ok_or_else(unknown)?;
        let ungapped = Nucleotide::ungapped_of(reward, penalty).map_err(|_| unknown())?;
        let gapped = match row_of(table, costs, factor) {
            Some(row) => karlin_of(row, factor),
            None if beyond(table, costs, factor) => ungapped,
            None => return Err(unknown()),
        };
        Ok(Nucleotide {
            gapped,
            ungapped,
            even: table.even,
        })
    }

    /// Without gaps, for any reward and penalty.
    ///
    /// # Errors
    /// [`NotLocal`] if the reward is 0 or less, or thrice the penalty or more.
    pub fn without_gaps(reward: i32, penalty: i32) -> Result<Nucleotide, NotLocal> {
        let ungapped = Nucleotide::ungapped_of(reward, penalty)?;
        Ok(Nucleotide {
            gapped: ungapped,
            ungapped,
            even: false,
        })
    }

    fn ungapped_of(reward: i32, penalty: i32) -> Result<Karlin, NotLocal> {
        let karlin = ScoreFrequencies::of_bases(reward, penalty)?.karlin();
        let beta = match (reward, penalty) {
            (1, -1) | (2, -3) => -2.0,
            _ => 0.0,
        };
        Ok(Karlin { beta, ..karlin })
    }

    /// Parameters of alignments with gaps.
    pub fn gapped(&self) -> &Karlin {
        &self.gapped
    }

    /// Parameters of alignments without gaps.
    pub fn ungapped(&self) -> &Karlin {
        &self.ungapped
    }

    /// The bit score of a score.
    pub fn bits(&self, score: f64) -> f64 {
        self.gapped.bits(score)
    }

    /// The effective search space, in pairs of positions: once for a query.
    pub fn effective(&self, space: &SearchSpace) -> f64 {
        space.effective(&self.gapped)
    }

    /// The E-value of a whole score in an effective search space; 0 below 1e-180.
    pub fn evalue(&self, score: f64, effective: f64) -> f64 {
        self.gapped.evalue(self.counted(score), effective)
    }

    /// The least whole score, 1 or more, whose E-value is at most `evalue`.
    pub fn cutoff(&self, evalue: f64, effective: f64) -> i32 {
        super::least_score(evalue, |score| self.evalue(f64::from(score), effective))
    }

    /// The part of a score that the E-value counts.
    fn counted(&self, score: f64) -> f64 {
        if self.even {
            (score * 0.5).floor() * 2.0
        } else {
            score
        }
    }
}

fn table_of(reward: i32, penalty: i32, factor: i32) -> Option<&'static Table> {
    let of = |table: &&Table| {
        table.reward.checked_mul(factor) == Some(reward)
            && table.penalty.checked_mul(factor) == Some(penalty)
    };
    TABLES.iter().find(of)
}

fn row_of(table: &Table, costs: Costs, factor: i32) -> Option<&Row> {
    if costs == Costs::new(0, 0) && table.linear.is_some() {
        return table.linear.as_ref();
    }
    let of = |row: &&Row| times((row.0, row.1), factor) == costs;
    table.rows.iter().find(of)
}

fn beyond(table: &Table, costs: Costs, factor: i32) -> bool {
    let most = times(table.most, factor);
    costs.open >= most.open && costs.extend >= most.extend
}

fn known_of(table: &Table, factor: i32) -> Vec<Costs> {
    let linear = table.linear.iter();
    let rows = linear.chain(table.rows);
    rows.map(|row| times((row.0, row.1), factor)).collect()
}

fn times(costs: (i32, i32), factor: i32) -> Costs {
    Costs::new(
        costs.0.saturating_mul(factor),
        costs.1.saturating_mul(factor),
    )
}

fn karlin_of(row: &Row, factor: i32) -> Karlin {
    Karlin {
        lambda: row.2 / f64::from(factor),
        k: row.3,
        h: row.4,
        alpha: row.5 / f64::from(factor),
        beta: row.6,
    }
}

fn common_divisor(a: i32, b: i32) -> i32 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i32::try_from(a.max(1)).unwrap_or(1)
}
