//! The linear system of a Newton step.
//!
//! Its matrix is `J D⁻¹ Jᵀ`, where `D⁻¹` is a grid of weights and J says which target frequencies
//! a constraint sums: those of a row, those of a column, or all of them, by the gradient of the
//! relative entropy. The rows' block is diagonal, so it is eliminated by division; the sum of the
//! last column follows from the others', so that column has no equation. What is left has 19
//! columns and the entropy: 20 equations.

use super::grid::{LANES, Row, dot};
use crate::residue::STANDARD;

/// Where the equation of the relative entropy stands, in place of the last column's.
pub(super) const ENTROPY: usize = STANDARD - 1;
/// Coefficients of an equation, its right side, and padding to whole vectors.
const WIDTH: usize = STANDARD + LANES;

/// An equation: coefficients, the right side, and zeros.
pub(super) type Equation = [f64; WIDTH];

/// A system and its elimination.
#[derive(Default)]
pub(super) struct System {
    /// For each row, the weights of the columns, then the sum of weights times gradient in the
    /// place of the last column; the right side.
    pub(super) weights: [Equation; STANDARD],
    /// Sum of the weights of each row.
    pub(super) rows: Row,
    /// Sum of the weights of each column.
    pub(super) columns: Row,
    /// For each column, the sum of weights times gradient; at `ENTROPY`, that of weights times its
    /// square.
    pub(super) gradients: Row,
    /// Right sides of the columns' equations; at `ENTROPY`, of the relative entropy's.
    pub(super) right: Row,
    /// The equations of columns and entropy after elimination: what is right of the diagonal.
    equations: [Equation; STANDARD],
}

/// Steps of the multipliers; that of the last column is 0.
#[derive(Default)]
pub(super) struct Multipliers {
    pub(super) rows: Row,
    pub(super) columns: Row,
    pub(super) entropy: f64,
}

impl System {
    /// The solution; none when the matrix is not positive definite.
    #[inline(always)]
    pub(super) fn solve(&mut self) -> Option<Multipliers> {
        let inverses = self.rows.map(|sum| 1.0 / sum);
        let mut pivots = [0.0; STANDARD];
        self.eliminate::<0>(&inverses, &mut pivots);
        self.eliminate::<1>(&inverses, &mut pivots);
        self.eliminate::<2>(&inverses, &mut pivots);
        self.eliminate::<3>(&inverses, &mut pivots);
        self.eliminate::<4>(&inverses, &mut pivots);
        // What is not positive is infinite or no number, too.
        if !pivots.iter().all(|&pivot| pivot > 0.0) {
            return None;
        }
        let mut columns = self.substitute_back(&pivots);
        let mut rows = [0.0; STANDARD];
        for i in 0..STANDARD {
            let equation = &self.weights[i];
            let coefficients = equation.first_chunk().expect("an equation has them all");
            rows[i] = (equation[STANDARD] - dot(coefficients, &columns)) * inverses[i];
        }
        let entropy = columns[ENTROPY];
        columns[ENTROPY] = 0.0;
        Some(Multipliers {
            rows,
            columns,
            entropy,
        })
    }

    /// Takes the rows' equations and those of columns before them from the equations whose
    /// diagonal is in `CHUNK`. Leaves the inverse of each pivot.
    #[inline(always)]
    fn eliminate<const CHUNK: usize>(&mut self, inverses: &Row, pivots: &mut Row) {
        for j in CHUNK * LANES..(CHUNK + 1) * LANES {
            let mut equation = [0.0; WIDTH];
            equation[j] = self.columns[j];
            equation[ENTROPY] = self.gradients[j];
            equation[STANDARD] = self.right[j];
            for (known, inverse) in self.weights.iter().zip(inverses) {
                let factor = known[j] * inverse;
                subtract::<CHUNK>(&mut equation, known, factor);
            }
            for k in 0..j {
                let known = &self.equations[k];
                let factor = known[j] * pivots[k];
                subtract::<CHUNK>(&mut equation, known, factor);
            }
            pivots[j] = 1.0 / equation[j];
            self.equations[j] = equation;
        }
    }

    #[inline(always)]
    fn substitute_back(&self, pivots: &Row) -> Row {
        let mut right = [0.0; STANDARD];
        for k in 0..STANDARD {
            right[k] = self.equations[k][STANDARD];
        }
        let mut solution = [0.0; STANDARD];
        for k in (0..STANDARD).rev() {
            solution[k] = right[k] * pivots[k];
            for above in 0..k {
                right[above] -= self.equations[above][k] * solution[k];
            }
        }
        solution
    }
}

/// Takes `factor` times `other` from an equation, from a chunk onwards.
#[inline(always)]
fn subtract<const CHUNK: usize>(equation: &mut Equation, other: &Equation, factor: f64) {
    for at in CHUNK * LANES..WIDTH {
        equation[at] -= factor * other[at];
    }
}
