//! The normal distribution: its density, and what lies below a value.

use std::sync::LazyLock;

/// Above this all is below; below minus this a fraction converges at once.
const FAR: f64 = 9.0;

/// Values between which the distribution is known: one in so many a unit.
const GRAIN: f64 = 16.0;

/// Terms of the series between them: the next is below 1e-17.
const TERMS: usize = 10;

/// Density and probability of a value that one is never above.
#[derive(Clone, Copy, Debug)]
pub(super) struct Normal {
    /// The density at the value.
    pub density: f64,
    /// The probability of being below the value.
    pub below: f64,
}

impl Normal {
    /// At a value, in standard deviations: to 12 digits, far below the mean too.
    pub fn at(value: f64) -> Normal {
        if value > FAR {
            return Normal {
                density: 0.0,
                below: 1.0,
            };
        }
        if value < -FAR {
            return grid_point(value);
        }
        let near = (value * GRAIN).round();
        let from = GRID.get((near + FAR * GRAIN) as usize).copied();
        let Normal { density, below } = from.unwrap_or(Normal {
            density: 0.0,
            below: 1.0,
        });
        let (middle, by) = (near / GRAIN, value - near / GRAIN);
        Normal {
            density: density * (-by * (middle + 0.5 * by)).exp(),
            below: below + density * integral(middle, by),
        }
    }
}

static GRID: LazyLock<Vec<Normal>> = LazyLock::new(|| {
    let most = (FAR * GRAIN) as i32;
    (-most..=most)
        .map(|at| grid_point(f64::from(at) / GRAIN))
        .collect()
});

fn density(value: f64) -> f64 {
    (-0.5 * value * value).exp() / std::f64::consts::TAU.sqrt()
}

/// By the series of x (1 + x^2/3 + x^4/15 + ...) near 0, by the continued fraction far from it.
fn grid_point(value: f64) -> Normal {
    let (x, density) = (value.abs(), density(value));
    let above = if x < 3.0 {
        let (mut term, mut sum, mut odd) = (x, x, 1.0);
        while term > 1e-20 {
            odd += 2.0;
            term *= x * x / odd;
            sum += term;
        }
        0.5 - density * sum
    } else {
        let terms = if x < FAR { 200 } else { 10 };
        let fraction = (1..terms)
            .rev()
            .fold(x, |below, n| x + f64::from(n) / below);
        density / fraction
    };
    Normal {
        density,
        below: if value < 0.0 { above } else { 1.0 - above },
    }
}

/// The integral of the density from `middle` to `middle + by`, over the density at `middle`.
///
/// The n-th derivative of the density is (-1)^n He_n times it, He the polynomials of Hermite.
fn integral(middle: f64, by: f64) -> f64 {
    let (mut before, mut now) = (0.0, 1.0);
    let (mut power, mut sum) = (by, by);
    for n in 1..TERMS {
        let n_before = (n - 1) as f64;
        (before, now) = (now, -(middle * now + n_before * before));
        power *= by / (n + 1) as f64;
        sum += now * power;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_is_that_of_the_tables() {
        for (value, below) in [
            (0.0, 0.5),
            (0.031, 0.512_365_227_886_327_7),
            (1.0, 0.841_344_746_068_542_9),
            (1.959_963_984_540_054, 0.975),
            (3.0, 0.998_650_101_968_369_9),
            (-3.09, 1.000_782_476_614_011e-3),
            (-6.0, 9.865_876_450_376_98e-10),
            (-10.0, 7.619_853_024_160_527e-24),
            (-20.0, 2.753_624_118_606_234e-89),
        ] {
            let normal = Normal::at(value);
            let error = (normal.below / below - 1.0).abs();
            assert!(error < 1e-8, "{value}: {} {below}", normal.below);
            assert!((normal.density - density(value)).abs() < 1e-15);
        }
    }

    #[test]
    fn both_sides_sum_to_one_and_grow() {
        let mut last = 0.0;
        for at in -10_000..=10_000 {
            let value = f64::from(at) / 1000.0;
            let (left, right) = (Normal::at(value), Normal::at(-value));
            assert!((left.below + right.below - 1.0).abs() < 1e-14, "{value}");
            assert!(left.below >= last - 1e-15 && left.below <= 1.0, "{value}");
            last = left.below;
        }
    }
}
