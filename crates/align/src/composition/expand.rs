//! Scores of every letter from those of the standard residues.
//!
//! B, Z and J count as both residues that they may be. X scores the average over the other
//! sequence, but never above -1 at the scale of the scores. U scores as C, O as X; stops keep the
//! scores of the standard matrix.

use super::grid::{Row, dot, sum};
use super::ln::ln;
use super::optimise::{Optimum, Target};
use crate::gapped::Scores;
use crate::residue::{ANY, LETTERS, STANDARD, STOP, code};

/// The score of codes that no letter has, and of borders between sequences. Seven of them can be
/// added without overflow.
pub const FORBIDDEN: i32 = -(1 << 28);

/// Letters with real scores: every code to that of X.
pub(super) const SCORED: usize = ANY as usize + 1;

/// Scores before they are rounded: a row for each letter of the query.
pub(super) type Real = [[f64; SCORED]; SCORED];

/// The letters from `STANDARD` on that stand for two residues, with those.
const AMBIGUOUS: [[usize; 2]; 3] = [
    [code(b'D') as usize, code(b'N') as usize],
    [code(b'E') as usize, code(b'Q') as usize],
    [code(b'I') as usize, code(b'L') as usize],
];

/// The most that X scores against anything.
const BEST_OF_ANY: f64 = -1.0;

/// Scores of a stop, at scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stops {
    pub(super) with_stop: i32,
    pub(super) with_other: i32,
}

/// The scores of the target frequencies of `optimum` in units of 1/`lambda` nats; X is left out.
#[inline(always)]
pub(super) fn real_scores(optimum: &Optimum, target: &Target, lambda: f64) -> Real {
    let mut real = [[0.0; SCORED]; SCORED];
    let unit = 1.0 / lambda;
    let frequencies = &optimum.frequencies;
    let total = ln(sum(&frequencies.map(|row| sum(&row))));
    let rows = target.rows.map(|frequency| ln(frequency) + total);
    let columns = target.columns.map(ln);
    for i in 0..STANDARD {
        for j in 0..STANDARD {
            real[i][j] = (optimum.log_odds[i][j] - total) * unit;
        }
    }
    for (a, [first, second]) in AMBIGUOUS.into_iter().enumerate() {
        let row = ln(target.rows[first] + target.rows[second]) + total;
        let column = ln(target.columns[first] + target.columns[second]);
        for k in 0..STANDARD {
            let down = frequencies[first][k] + frequencies[second][k];
            real[STANDARD + a][k] = (ln(down) - row - columns[k]) * unit;
        }
        for k in 0..STANDARD {
            let across = frequencies[k][first] + frequencies[k][second];
            real[k][STANDARD + a] = (ln(across) - rows[k] - column) * unit;
        }
        for (b, [third, fourth]) in AMBIGUOUS.into_iter().enumerate() {
            let corner = frequencies[first][third]
                + frequencies[first][fourth]
                + (frequencies[second][third] + frequencies[second][fourth]);
            let column = ln(target.columns[third] + target.columns[fourth]);
            real[STANDARD + a][STANDARD + b] = (ln(corner) - row - column) * unit;
        }
    }
    real
}

/// Fills row and column of X, with the compositions of query and subject.
#[inline(always)]
pub(super) fn set_any(real: &mut Real, rows: &Row, columns: &Row) {
    const X: usize = ANY as usize;
    let (mut averages, mut below) = ([0.0; STANDARD], [0.0; SCORED]);
    for i in 0..X {
        let mut standard = [0.0; STANDARD];
        standard.copy_from_slice(&real[i][..STANDARD]);
        let average = dot(&standard, columns);
        real[i][X] = average.min(BEST_OF_ANY);
        if i < STANDARD {
            averages[i] = average;
            for j in 0..SCORED {
                below[j] += rows[i] * real[i][j];
            }
        }
    }
    below[X] = dot(&averages, rows);
    real[X] = below.map(|average| average.min(BEST_OF_ANY));
}

/// Rounds scores to integers, and adds the letters behind X.
#[inline(always)]
pub(super) fn round(real: &Real, stops: Stops, scores: &mut Scores) {
    const C: usize = code(b'C') as usize;
    const U: usize = code(b'U') as usize;
    const O: usize = code(b'O') as usize;
    for i in 0..SCORED {
        for j in 0..SCORED {
            scores[i][j] = nearest(real[i][j]);
        }
        scores[i][STOP as usize] = stops.with_other;
        scores[i][U] = scores[i][C];
        scores[i][O] = scores[i][ANY as usize];
        scores[i][LETTERS.len()..].fill(FORBIDDEN);
    }
    scores[U] = scores[C];
    scores[O] = scores[ANY as usize];
    scores[STOP as usize].fill(stops.with_other);
    scores[STOP as usize][STOP as usize] = stops.with_stop;
    scores[STOP as usize][LETTERS.len()..].fill(FORBIDDEN);
    for row in &mut scores[LETTERS.len()..] {
        row.fill(FORBIDDEN);
    }
}

/// The nearest integer; the one further from zero when there are two.
#[inline(always)]
pub(super) fn nearest(score: f64) -> i32 {
    (score + 0.5f64.copysign(score)) as i32
}
