//! Curves fitted to counts by maximum likelihood.

/// Rounds at most; a fit needs ten or twenty.
const ROUNDS: usize = 60;
/// A fit that improves by less than this share of its deviance is done.
const ENOUGH: f64 = 1e-9;
/// Step of a numeric derivative, in the parameters' logarithms.
const STEP: f64 = 1e-5;
/// A damping beyond which no step helps.
const STIFF: f64 = 1e9;

/// A curve at its best.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// The parameters.
    pub at: Vec<f64>,
    /// Twice the logarithm of the likelihood that is lost against a curve through all counts.
    pub deviance: f64,
    /// Variance of the counts over that of independent ones, at least 1: what the curve does not
    /// explain makes its parameters less certain.
    pub spread: f64,
    /// Covariances of the parameters, row by row, but for the spread; nothing where the counts do
    /// not tell some from others.
    covariances: Option<Vec<f64>>,
}

impl Optimum {
    /// Standard error of what is computed of the parameters.
    pub fn error(&self, value: impl Fn(&[f64]) -> f64) -> Option<f64> {
        let slopes = slopes(&self.at, |at| vec![value(at)]);
        let slopes: Vec<f64> = slopes.iter().map(|slope| slope[0]).collect();
        let all = self.covariances.as_ref()?;
        let rows = all.chunks(slopes.len()).zip(&slopes);
        let variance: f64 = rows.map(|(row, slope)| slope * product(row, &slopes)).sum();
        Some((self.spread * variance).sqrt()).filter(|error| error.is_finite())
    }
}

/// Fits the parameters of `curve` to `counts`, by Fisher scoring that is damped as Levenberg's and
/// Marquardt's steps are. Parameters stay within their bounds.
pub fn maximise(
    curve: impl Fn(&[f64]) -> Vec<f64>,
    counts: &[f64],
    start: Vec<f64>,
    bounds: &[(f64, f64)],
) -> Optimum {
    let (mut at, mut damping) = (start, 1e-3);
    let mut lost = deviance(counts, &curve(&at));
    for _ in 0..ROUNDS {
        let (information, slope) = information(&curve, counts, &at);
        let before = lost;
        while damping < STIFF {
            let next = moved(&at, &information, &slope, damping, bounds);
            let then = next
                .as_ref()
                .map_or(f64::INFINITY, |next| deviance(counts, &curve(next)));
            if let (Some(next), true) = (next, then < lost) {
                (at, lost, damping) = (next, then, (damping / 10.0).max(1e-12));
                break;
            }
            damping *= 10.0;
        }
        if before - lost <= ENOUGH * before {
            break;
        }
    }
    Optimum {
        deviance: lost,
        spread: spread(counts, &curve(&at), at.len()),
        covariances: covariances(&curve, counts, &at, bounds),
        at,
    }
}

/// What is missed, squared, over what is expected: sums over all counts, so that the few that a
/// curve does not reach at all do not outweigh the others.
fn spread(counts: &[f64], expected: &[f64], parameters: usize) -> f64 {
    let square = |(count, expected): (&f64, &f64)| (count - expected).powi(2);
    let missed: f64 = counts.iter().zip(expected).map(square).sum();
    let all = counts.len() as f64;
    let freedom = counts.len().saturating_sub(parameters).max(1) as f64;
    let sum: f64 = expected.iter().sum();
    (missed / sum.max(1.0) * all / freedom).max(1.0)
}

/// The covariances of the parameters that lie within their bounds; those at a bound are taken as
/// known.
fn covariances(
    curve: &impl Fn(&[f64]) -> Vec<f64>,
    counts: &[f64],
    at: &[f64],
    bounds: &[(f64, f64)],
) -> Option<Vec<f64>> {
    let side = at.len();
    let mut information = information(curve, counts, at).0;
    let is_known = |place: usize| {
        let (at, (low, high)) = (at[place], bounds[place]);
        at - low < 1e-6 || high - at < 1e-6
    };
    for known in (0..side).filter(|&place| is_known(place)) {
        for other in 0..side {
            information[known * side + other] = 0.0;
            information[other * side + known] = 0.0;
        }
        information[known * side + known] = f64::MAX.sqrt();
    }
    inverse(&information, side)
}

fn deviance(counts: &[f64], expected: &[f64]) -> f64 {
    let part = |(&count, &expected): (&f64, &f64)| {
        let expected = expected.max(1e-9);
        let logarithm = if count > 0.0 {
            count * (count / expected).ln()
        } else {
            0.0
        };
        2.0 * (logarithm - count + expected)
    };
    counts.iter().zip(expected).map(part).sum()
}

/// The expected information of the counts about the parameters, row by row, and the slope of the
/// likelihood.
fn information(
    curve: &impl Fn(&[f64]) -> Vec<f64>,
    counts: &[f64],
    at: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let (expected, slopes) = (curve(at), slopes(at, curve));
    let weights: Vec<f64> = expected.iter().map(|mean| 1.0 / mean.max(1e-9)).collect();
    let missed: Vec<f64> = counts
        .iter()
        .zip(&expected)
        .map(|(count, mean)| count - mean)
        .collect();
    let weighed = |left: &[f64], right: &[f64]| -> f64 {
        let products = left.iter().zip(right).zip(&weights);
        products
            .map(|((left, right), weight)| left * right * weight)
            .sum()
    };
    let pairs = slopes
        .iter()
        .flat_map(|row| slopes.iter().map(move |column| (row, column)));
    (
        pairs.map(|(row, column)| weighed(row, column)).collect(),
        slopes.iter().map(|slope| weighed(slope, &missed)).collect(),
    )
}

/// How the values change with each parameter.
fn slopes(at: &[f64], values: impl Fn(&[f64]) -> Vec<f64>) -> Vec<Vec<f64>> {
    let shifted = |place: usize, by: f64| {
        let mut at = at.to_vec();
        at[place] += by;
        values(&at)
    };
    let slope = |place: usize| {
        let (above, below) = (shifted(place, STEP), shifted(place, -STEP));
        let rises = above.iter().zip(&below).map(|(above, below)| above - below);
        rises.map(|rise| rise / (2.0 * STEP)).collect()
    };
    (0..at.len()).map(slope).collect()
}

/// The parameters after a damped step.
fn moved(
    at: &[f64],
    information: &[f64],
    slope: &[f64],
    damping: f64,
    bounds: &[(f64, f64)],
) -> Option<Vec<f64>> {
    let mut damped = information.to_vec();
    for place in 0..at.len() {
        let entry = &mut damped[place * at.len() + place];
        *entry = *entry * (1.0 + damping) + 1e-9;
    }
    let inverse = inverse(&damped, at.len())?;
    let steps = inverse.chunks(at.len()).map(|row| product(row, slope));
    let next = at.iter().zip(steps).zip(bounds);
    Some(
        next.map(|((at, step), &(low, high))| (at + step).clamp(low, high))
            .collect(),
    )
}

fn product(left: &[f64], right: &[f64]) -> f64 {
    left.iter()
        .zip(right)
        .map(|(left, right)| left * right)
        .sum()
}

/// The inverse of a matrix of `side` rows, by elimination with the largest pivots.
fn inverse(matrix: &[f64], side: usize) -> Option<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = matrix.chunks(side).map(<[f64]>::to_vec).collect();
    for (place, row) in rows.iter_mut().enumerate() {
        row.extend((0..side).map(|column| f64::from(u8::from(column == place))));
    }
    for place in 0..side {
        let size = |row: &usize| rows[*row][place].abs();
        let pivot = (place..side).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        rows.swap(place, pivot);
        let by = rows[place][place];
        if !(by.abs() > 1e-12 && by.is_finite()) {
            return None;
        }
        rows[place].iter_mut().for_each(|value| *value /= by);
        let own = rows[place].clone();
        for (other, row) in rows.iter_mut().enumerate() {
            let times = row[place];
            if other != place {
                row.iter_mut()
                    .zip(&own)
                    .for_each(|(value, own)| *value -= times * own);
            }
        }
    }
    Some(
        rows.iter()
            .flat_map(|row| row[side..].iter().copied())
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_times_their_inverses_are_one() {
        let matrix = [0.0, 2.0, 1.0, 4.0, 1.0, -2.0, 1.0, 1.0, 9.0];
        let inverse = inverse(&matrix, 3).unwrap();
        for row in 0..3 {
            for column in 0..3 {
                let entry: f64 = (0..3)
                    .map(|i| matrix[3 * row + i] * inverse[3 * i + column])
                    .sum();
                assert!((entry - f64::from(u8::from(row == column))).abs() < 1e-12);
            }
        }
        assert_eq!(super::inverse(&[1.0, 2.0, 2.0, 4.0], 2), None);
    }

    #[test]
    fn a_falling_curve_is_found_and_its_error_is_that_of_counting() {
        let curve = |at: &[f64]| -> Vec<f64> {
            (0..40)
                .map(|x| at[0].exp() * (-at[1].exp() * f64::from(x)).exp())
                .collect()
        };
        let truth = [1e5f64.ln(), 0.1f64.ln()];
        let bounds = [(0.0, 30.0), (-10.0, 2.0)];
        let found = maximise(curve, &curve(&truth), vec![5.0, -1.0], &bounds);
        assert!(
            found
                .at
                .iter()
                .zip(truth)
                .all(|(at, truth)| (at - truth).abs() < 1e-5)
        );
        assert!(found.deviance < 1e-3 && found.spread == 1.0);
        // The sum of all counts is known as well as a count of so many is.
        let sum = |at: &[f64]| curve(at).iter().sum::<f64>();
        let error = found.error(sum).unwrap();
        assert!((error / sum(&truth).sqrt() - 1.0).abs() < 1e-3, "{error}");
        // A curve of too few parameters is less certain than counting makes it.
        let flat = |at: &[f64]| vec![at[0].exp(); 40];
        let worse = maximise(flat, &curve(&truth), vec![5.0], &bounds[..1]);
        assert!(worse.spread > 1000.0, "{worse:?}");
    }
}
