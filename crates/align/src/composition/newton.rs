//! The linear system of a Newton step.
//!
//! Its matrix is `J D⁻¹ Jᵀ`, where `D⁻¹` is a grid of weights and J says which target frequencies
//! a constraint sums: those of a row, those of a column, or all of them, by the gradient of the
//! relative entropy. The rows' block is diagonal, so it is eliminated by division; the sum of the
//! last column follows from the others', so that column has no equation. What is left has 19
//! columns and the entropy: 20 equations.

use super::grid::{Grid, LANES, Row, dot};
use crate::residue::STANDARD;

/// Where the equation of the relative entropy stands, in place of the last column's.
const ENTROPY: usize = STANDARD - 1;
/// Coefficients of an equation, its right side, and padding to whole vectors.
const WIDTH: usize = STANDARD + LANES;

/// An equation in chunks of a vector.
type Equation = [[f64; LANES]; WIDTH / LANES];

/// A system before elimination. The entries of `ENTROPY` in `columns` and `column_residuals` are
/// those of the relative entropy.
pub(super) struct System {
    /// For each row: weights of the columns, then the sum of weights times gradient.
    pub(super) weights: Grid,
    /// Sum of the weights of each row.
    pub(super) rows: Row,
    /// Sum of the weights of each column.
    pub(super) columns: Row,
    /// For each column, the sum of weights times gradient; then that of weights times its square.
    pub(super) gradients: Row,
    /// Right sides of the rows.
    pub(super) row_residuals: Row,
    /// Right sides of the columns, then of the relative entropy.
    pub(super) column_residuals: Row,
}

/// Steps of the multipliers; that of the last column is 0.
#[derive(Clone, Debug)]
pub(super) struct Multipliers {
    pub(super) rows: Row,
    pub(super) columns: Row,
    pub(super) entropy: f64,
}

impl System {
    /// The solution; none when the matrix is not positive definite.
    #[inline(always)]
    pub(super) fn solve(&self) -> Option<Multipliers> {
        let mut equations = self.without_rows();
        let mut steps = solve_symmetric(&mut equations)?;
        let mut rows = [0.0; STANDARD];
        for i in 0..STANDARD {
            rows[i] = (self.row_residuals[i] - dot(&self.weights[i], &steps)) / self.rows[i];
        }
        let entropy = steps[ENTROPY];
        steps[ENTROPY] = 0.0;
        Some(Multipliers {
            rows,
            columns: steps,
            entropy,
        })
    }

    /// The equations of the columns and the entropy after those of the rows are put into them.
    #[inline(always)]
    fn without_rows(&self) -> [Equation; STANDARD] {
        let mut equations = [[[0.0; LANES]; WIDTH / LANES]; STANDARD];
        for j in 0..STANDARD {
            set(&mut equations[j], STANDARD, self.column_residuals[j]);
            set(&mut equations[j], ENTROPY, self.gradients[j]);
            if j != ENTROPY {
                set(&mut equations[j], j, self.columns[j]);
            }
        }
        for i in 0..STANDARD {
            let known = augmented(&self.weights[i], self.row_residuals[i]);
            let inverse = 1.0 / self.rows[i];
            for j in 0..STANDARD {
                subtract(&mut equations[j], &known, self.weights[i][j] * inverse, j);
            }
        }
        equations
    }
}

/// A row of coefficients with its right side.
#[inline(always)]
fn augmented(coefficients: &Row, right: f64) -> Equation {
    let mut equation = [[0.0; LANES]; WIDTH / LANES];
    for j in 0..STANDARD {
        equation[j / LANES][j % LANES] = coefficients[j];
    }
    set(&mut equation, STANDARD, right);
    equation
}

#[inline(always)]
fn set(equation: &mut Equation, at: usize, value: f64) {
    equation[at / LANES][at % LANES] = value;
}

#[inline(always)]
fn get(equation: &Equation, at: usize) -> f64 {
    equation[at / LANES][at % LANES]
}

/// Takes `factor` times `other` from an equation, from the chunk of coefficient `from` onwards.
#[inline(always)]
fn subtract(equation: &mut Equation, other: &Equation, factor: f64, from: usize) {
    for chunk in from / LANES..WIDTH / LANES {
        for lane in 0..LANES {
            equation[chunk][lane] -= factor * other[chunk][lane];
        }
    }
}

/// Solves a symmetric, positive definite system of which the upper triangle is given, by
/// elimination without a choice of pivots; none when a pivot is not positive.
#[inline(always)]
fn solve_symmetric(equations: &mut [Equation; STANDARD]) -> Option<Row> {
    let mut inverses = [0.0; STANDARD];
    for k in 0..STANDARD {
        let pivot = equations[k];
        let head = get(&pivot, k);
        if head.is_nan() || head <= 0.0 {
            return None;
        }
        inverses[k] = 1.0 / head;
        for j in k + 1..STANDARD {
            let factor = get(&pivot, j) * inverses[k];
            subtract(&mut equations[j], &pivot, factor, j);
        }
    }
    Some(substitute_back(equations, &inverses))
}

#[inline(always)]
fn substitute_back(equations: &[Equation; STANDARD], inverses: &Row) -> Row {
    let mut right = [0.0; STANDARD];
    for k in 0..STANDARD {
        right[k] = get(&equations[k], STANDARD);
    }
    let mut solution = [0.0; STANDARD];
    for k in (0..STANDARD).rev() {
        solution[k] = right[k] * inverses[k];
        for above in 0..k {
            right[above] -= get(&equations[above], k) * solution[k];
        }
    }
    solution
}
