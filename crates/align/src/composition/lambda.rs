//! The scale of a matrix in a composition.
//!
//! Lambda is the positive root of `sum over s of p(s) exp(lambda s) = 1`, where p(s) is how often
//! two residues score s by chance. With x = exp(-lambda) it is the root in (0, 1) of a polynomial.
//! Steps and the place where they end are BLAST's, so that its roundings come out.
//!
//! Karlin and Altschul, PNAS 87:2264 (1990).

use super::ln::ln;

/// Scores from the lowest to the highest, of which there may be so many.
pub(super) const MOST: usize = 2048;

/// Relative error of lambda.
const TOLERANCE: f64 = 1e-5;
/// Steps of Newton's method before halving.
const NEWTON: usize = 20;
/// Steps of both.
const STEPS: usize = 37;

/// How often each score occurs.
pub(super) struct Chances {
    chances: [f64; MOST],
    low: i32,
    high: i32,
}

impl Chances {
    /// None yet, of scores `low` to `high`.
    ///
    /// # Panics
    /// When zero is not between them, or they are [`MOST`] or more apart.
    pub(super) fn new(low: i32, high: i32) -> Chances {
        assert!(low <= 0 && high >= 0 && high.abs_diff(low) < MOST as u32);
        Chances {
            chances: [0.0; MOST],
            low,
            high,
        }
    }

    /// Adds to how often `score` occurs.
    pub(super) fn add(&mut self, score: i32, chance: f64) {
        self.chances[(score - self.low) as usize] += chance;
    }

    fn of(&self) -> &[f64] {
        &self.chances[..=(self.high - self.low) as usize]
    }

    /// Lambda in nats a unit of score, sought from `guess`; none when no score is positive, or
    /// chance gains.
    pub(super) fn lambda(&self, guess: f64) -> Option<f64> {
        let scores = f64::from(self.low)..;
        let mean: f64 = (0..self.of().len())
            .map(|at| (scores.start + at as f64) * self.of()[at])
            .sum();
        if mean >= 0.0 || self.low == 0 || self.high == 0 {
            return None;
        }
        let step = self.divisor();
        Some(-ln(self.root(step, guess)) / step as f64)
    }

    /// The greatest common divisor of the scores that occur.
    fn divisor(&self) -> usize {
        let lowest = self.low.unsigned_abs() as usize;
        let occur = (1..self.of().len()).filter(|&at| self.of()[at] != 0.0);
        occur.fold(lowest, greatest_common_divisor)
    }

    /// The root of the polynomial in x to the power of `step`.
    fn root(&self, step: usize, guess: f64) -> f64 {
        let guess = exp(-guess);
        let mut x = if guess > 0.0 && guess < 1.0 {
            guess
        } else {
            0.5
        };
        let (mut left, mut right) = (0.0, 1.0);
        let (mut value, mut was_newton) = (4.0f64, false);
        for k in 0..STEPS {
            let before = value;
            let slope;
            (value, slope) = self.polynomial(step, x);
            if value > 0.0 {
                left = x;
            } else if value < 0.0 {
                right = x;
            } else {
                break;
            }
            if right - left < 2.0 * left * (1.0 - right) * TOLERANCE {
                return (left + right) / 2.0;
            }
            let stuck = was_newton && value.abs() > 0.9 * before.abs();
            let next = x - value / slope;
            was_newton = k < NEWTON && !stuck && slope < 0.0 && next > left && next < right;
            if !was_newton {
                x = (left + right) / 2.0;
                continue;
            }
            x = next;
            if (value / slope).abs() < TOLERANCE * x * (1.0 - x) {
                break;
            }
        }
        x
    }

    /// Value and slope at x of the sum of chance times `x^(high - score)`, less `x^high`.
    fn polynomial(&self, step: usize, x: f64) -> (f64, f64) {
        let zero = self.low.unsigned_abs() as usize;
        let (mut value, mut slope) = (self.of()[0], 0.0);
        for at in (step..self.of().len()).step_by(step) {
            slope = x * slope + value;
            value = value * x + self.of()[at] - if at == zero { 1.0 } else { 0.0 };
        }
        (value, slope)
    }
}

/// The exponential of a number near zero, to 12 digits, in plain arithmetic: the 1024th power of
/// a short series.
fn exp(x: f64) -> f64 {
    let small = x / 1024.0;
    let series = 1.0 + small * (1.0 + small / 2.0 * (1.0 + small / 3.0 * (1.0 + small / 4.0)));
    (0..10).fold(series, |power, _| power * power)
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_step_up_and_two_down() {
        // p e^(2λ) + (1-p) e^(-2λ) = 1 has the root ln((1-p)/p) / 2.
        let mut chances = Chances::new(-2, 2);
        chances.add(2, 0.2);
        chances.add(-2, 0.8);
        let lambda = chances.lambda(0.5).unwrap();
        assert!((lambda - 4f64.ln() / 2.0).abs() < 1e-5);
        assert_eq!(chances.divisor(), 2);
    }

    #[test]
    fn exponentials_are_those_of_the_library() {
        for x in [-2.0, -0.5, -0.01, 0.0, 1.0] {
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn is_none_where_chance_gains() {
        let mut chances = Chances::new(-1, 1);
        chances.add(1, 0.5);
        chances.add(-1, 0.5);
        assert!(chances.lambda(0.5).is_none());
    }
}
