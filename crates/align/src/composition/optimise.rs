//! Target frequencies that fit the compositions of two sequences.
//!
//! Of all frequencies with the given sums of rows and columns and the given relative entropy,
//! those are sought that differ least from the standard ones. At the optimum, the gradient of the
//! Lagrangian is zero; Newton's method finds it from the standard frequencies.
//!
//! Yu and Altschul, Bioinformatics 21:902 (2005); Altschul et al., FEBS Journal 272:5101 (2005).

use super::grid::{Grid, Row, sum};
use super::ln::ln;
use super::newton::{ENTROPY, Multipliers, System};
use crate::residue::STANDARD;

/// Norm of the residuals at which the search ends.
const TOLERANCE: f64 = 1e-8;
/// Steps after which it is given up.
const STEPS: usize = 2000;
/// The part of the way to a frequency of zero that a step may go.
const BORDER: f64 = 0.95;

/// The frequencies of a standard matrix and their logarithms.
#[derive(Clone, Debug)]
pub(super) struct Standard {
    pub(super) frequencies: Grid,
    pub(super) logarithms: Grid,
}

/// What the target frequencies must satisfy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    pub(super) standard: &'a Standard,
    /// Composition of the query: the sums of rows. All above zero.
    pub(super) rows: &'a Row,
    /// Composition of the subject: the sums of columns. All above zero.
    pub(super) columns: &'a Row,
    /// Relative entropy in nats a pair.
    pub(super) entropy: f64,
}

/// The target frequencies, and what a look at them says.
pub(super) struct Optimum {
    pub(super) frequencies: Grid,
    /// Logarithm of each frequency over the standard one.
    changes: Grid,
    /// Logarithm of each frequency over what chance would give.
    pub(super) log_odds: Grid,
    /// Derivative of the Lagrangian by each frequency, negative.
    residuals: Grid,
    /// Score of each pair in the standard frequencies, in the sequences' compositions; nats.
    scores: Grid,
    multipliers: Multipliers,
    /// The linear system of the last step.
    system: System,
    row_sums: Row,
    column_sums: Row,
    entropy: f64,
    /// Norm of all residuals.
    norm: f64,
}

impl Optimum {
    /// Goes to the optimum of the `target` that this began with; false when Newton's method does
    /// not get there.
    #[inline(always)]
    pub(super) fn reach(&mut self, target: &Target) -> bool {
        for step in 0..=STEPS {
            if step > 0 {
                self.take_logarithms(target);
            }
            self.look(target);
            if self.norm.is_nan() {
                return false;
            }
            if self.norm <= TOLERANCE {
                return self.multipliers.entropy < 1.0;
            }
            if !self.step(target) {
                return false;
            }
        }
        false
    }

    /// The standard frequencies.
    #[inline(always)]
    pub(super) fn begin(target: &Target) -> Optimum {
        let empty = [[0.0; STANDARD]; STANDARD];
        let columns = target.columns.map(ln);
        let mut scores = empty;
        for i in 0..STANDARD {
            let row = ln(target.rows[i]);
            for j in 0..STANDARD {
                scores[i][j] = target.standard.logarithms[i][j] - (row + columns[j]);
            }
        }
        Optimum {
            frequencies: target.standard.frequencies,
            changes: empty,
            log_odds: empty,
            residuals: empty,
            scores,
            multipliers: Multipliers::default(),
            system: System::default(),
            row_sums: [0.0; STANDARD],
            column_sums: [0.0; STANDARD],
            entropy: 0.0,
            norm: 0.0,
        }
    }

    #[inline(always)]
    fn take_logarithms(&mut self, target: &Target) {
        for i in 0..STANDARD {
            for j in 0..STANDARD {
                let logarithm = ln(self.frequencies[i][j]);
                self.changes[i][j] = logarithm - target.standard.logarithms[i][j];
            }
        }
    }

    /// Evaluates sums, entropy and residuals at these frequencies and multipliers.
    #[inline(always)]
    fn look(&mut self, target: &Target) {
        self.column_sums = [0.0; STANDARD];
        let (mut entropies, mut squares) = ([0.0; STANDARD], [0.0; STANDARD]);
        for i in 0..STANDARD {
            let of_row = self.multipliers.rows[i];
            for j in 0..STANDARD {
                let frequency = self.frequencies[i][j];
                let change = self.changes[i][j];
                let odds = change + self.scores[i][j];
                let residual = self.multipliers.entropy * (odds + 1.0) - (change + 1.0)
                    + self.multipliers.columns[j]
                    + of_row;
                self.log_odds[i][j] = odds;
                self.residuals[i][j] = residual;
                self.column_sums[j] += frequency;
                entropies[j] += frequency * odds;
                squares[j] += residual * residual;
            }
            self.row_sums[i] = sum(&self.frequencies[i]);
        }
        self.entropy = sum(&entropies);
        let off = target.entropy - self.entropy;
        self.norm = (sum(&squares) + off * off + self.constraints_off(target)).sqrt();
    }

    /// The sum of the squares by which sums of rows and columns are off; the first row's follows
    /// from the others.
    #[inline(always)]
    fn constraints_off(&self, target: &Target) -> f64 {
        let mut squares = [0.0; STANDARD];
        for j in 0..STANDARD {
            let (row, column) = (
                target.rows[j] - self.row_sums[j],
                target.columns[j] - self.column_sums[j],
            );
            squares[j] = column * column + if j == 0 { 0.0 } else { row * row };
        }
        sum(&squares)
    }

    /// A step of Newton's method, shortened where a frequency would not stay positive; false when
    /// there is none.
    #[inline(always)]
    fn step(&mut self, target: &Target) -> bool {
        let scale = 1.0 / (1.0 - self.multipliers.entropy);
        self.set_system(target, scale);
        let Some(steps) = self.system.solve() else {
            return false;
        };
        let mut least = [0.0f64; STANDARD];
        for i in 0..STANDARD {
            for j in 0..STANDARD {
                let along = (self.log_odds[i][j] + 1.0) * steps.entropy;
                let change = self.residuals[i][j] + along + (steps.columns[j] + steps.rows[i]);
                // In the place of the residual: the step relative to the frequency.
                self.residuals[i][j] = change * scale;
                least[j] = lesser(self.residuals[i][j], least[j]);
            }
        }
        let least = least.into_iter().fold(0.0, lesser);
        let length = if least < -BORDER {
            BORDER / -least
        } else {
            1.0
        };
        self.go(length, &steps);
        true
    }

    #[inline(always)]
    fn go(&mut self, length: f64, steps: &Multipliers) {
        for i in 0..STANDARD {
            for j in 0..STANDARD {
                let frequency = self.frequencies[i][j];
                self.frequencies[i][j] += length * (frequency * self.residuals[i][j]);
            }
            self.multipliers.rows[i] += length * steps.rows[i];
            self.multipliers.columns[i] += length * steps.columns[i];
        }
        self.multipliers.entropy += length * steps.entropy;
    }

    /// Sets the linear system of the step from here; `scale` makes frequencies weights.
    #[inline(always)]
    fn set_system(&mut self, target: &Target, scale: f64) {
        let empty = [0.0; STANDARD];
        let system = &mut self.system;
        let (mut gradients, mut residuals) = (empty, empty);
        let (mut squares, mut along) = (empty, empty);
        for i in 0..STANDARD {
            let (mut gradients_row, mut residuals_row) = (empty, empty);
            for j in 0..STANDARD {
                let weight = self.frequencies[i][j] * scale;
                let gradient = self.log_odds[i][j] + 1.0;
                let weighted = weight * gradient;
                let residual = weight * self.residuals[i][j];
                system.weights[i][j] = weight;
                gradients_row[j] = weighted;
                residuals_row[j] = residual;
                gradients[j] += weighted;
                residuals[j] += residual;
                squares[j] += weighted * gradient;
                along[j] += gradient * residual;
            }
            let off = target.rows[i] - self.row_sums[i];
            system.weights[i][ENTROPY] = sum(&gradients_row);
            system.weights[i][STANDARD] = off - sum(&residuals_row);
        }
        for j in 0..STANDARD {
            system.rows[j] = self.row_sums[j] * scale;
            system.columns[j] = self.column_sums[j] * scale;
            system.right[j] = target.columns[j] - self.column_sums[j] - residuals[j];
        }
        system.gradients = gradients;
        system.gradients[ENTROPY] = sum(&squares);
        system.right[ENTROPY] = target.entropy - self.entropy - sum(&along);
    }
}

/// The lesser of two numbers, as vectors compare them.
#[inline(always)]
fn lesser(one: f64, other: f64) -> f64 {
    if one < other { one } else { other }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::composition::MatrixFrequencies;
    use crate::composition::grid::symmetric;

    fn standard() -> Standard {
        let named = MatrixFrequencies::named("BLOSUM62").expect("it has frequencies");
        let frequencies = symmetric(named.joint);
        Standard {
            frequencies,
            logarithms: frequencies.map(|row| row.map(ln)),
        }
    }

    /// Parts of one from weights.
    fn parts(weights: &[u32]) -> Row {
        let total: u32 = weights.iter().sum();
        let mut parts = [0.0; STANDARD];
        for (part, &weight) in parts.iter_mut().zip(weights) {
            *part = f64::from(weight) / f64::from(total);
        }
        parts
    }

    #[test]
    fn stays_where_the_standard_is_wanted() {
        let standard = standard();
        let sums = standard.frequencies.map(|row| sum(&row));
        let mut target = Target {
            standard: &standard,
            rows: &sums,
            columns: &sums,
            entropy: 0.0,
        };
        let mut optimum = Optimum::begin(&target);
        optimum.look(&target);
        target.entropy = optimum.entropy;
        let mut optimum = Optimum::begin(&target);
        assert!(optimum.reach(&target));
        for (row, expected) in optimum.frequencies.iter().zip(&standard.frequencies) {
            for (frequency, expected) in row.iter().zip(expected) {
                assert!((frequency - expected).abs() < 1e-9);
            }
        }
    }

    proptest! {
        #[test]
        fn constraints_hold(
            rows in proptest::collection::vec(5u32..100, STANDARD),
            columns in proptest::collection::vec(5u32..100, STANDARD),
            entropy in 0.3f64..0.6,
        ) {
            let standard = standard();
            let (rows, columns) = (parts(&rows), parts(&columns));
            let target = Target { standard: &standard, rows: &rows, columns: &columns, entropy };
            let mut optimum = Optimum::begin(&target);
            prop_assert!(optimum.reach(&target));
            let (mut found, mut column_sums) = (0.0, [0.0; STANDARD]);
            for i in 0..STANDARD {
                prop_assert!((sum(&optimum.frequencies[i]) - rows[i]).abs() < 1e-8);
                for j in 0..STANDARD {
                    let frequency = optimum.frequencies[i][j];
                    prop_assert!(frequency > 0.0);
                    column_sums[j] += frequency;
                    found += frequency * (frequency / (rows[i] * columns[j])).ln();
                }
            }
            for j in 0..STANDARD {
                prop_assert!((column_sums[j] - columns[j]).abs() < 1e-8);
            }
            prop_assert!((found - entropy).abs() < 1e-8);
        }
    }
}
