//! Rows and grids over the standard residues, in shapes that the compiler makes vectors of.

use crate::residue::STANDARD;

/// A number for each standard residue.
pub(super) type Row = [f64; STANDARD];

/// A number for each pair: a row for each residue of the query, a column for each of the subject.
pub(super) type Grid = [Row; STANDARD];

/// Doubles of the widest vector that sums are ordered for.
pub(super) const LANES: usize = 4;

/// The sum of a row, in an order that vectors keep.
#[inline(always)]
pub(super) fn sum(row: &Row) -> f64 {
    let mut lanes = [0.0; LANES];
    for four in row.chunks_exact(LANES) {
        for lane in 0..LANES {
            lanes[lane] += four[lane];
        }
    }
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
}

/// The sum of the products of two rows.
#[inline(always)]
pub(super) fn dot(one: &Row, other: &Row) -> f64 {
    let mut products = [0.0; STANDARD];
    for j in 0..STANDARD {
        products[j] = one[j] * other[j];
    }
    sum(&products)
}

/// The grid of an upper triangle that is stored row by row.
pub(super) fn symmetric(triangle: &[f64; STANDARD * (STANDARD + 1) / 2]) -> Grid {
    let mut grid = [[0.0; STANDARD]; STANDARD];
    let mut next = triangle.iter();
    for i in 0..STANDARD {
        for j in i..STANDARD {
            let entry = *next.next().expect("a triangle has an entry a pair");
            grid[i][j] = entry;
            grid[j][i] = entry;
        }
    }
    grid
}
