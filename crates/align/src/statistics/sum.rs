//! Statistics of several alignments of two sequences together: sums of their scores.
//!
//! Scores are *normalised*: `lambda S - ln K`, in nats. The chance of the sum of the r best is that
//! of Karlin and Altschul, Proc. Natl. Acad. Sci. USA 90 (1993) 5873, equation 4; what a choice of
//! gaps between the alignments costs follows BLAST+ (`blast_stat.c`), with its tables and its
//! digits, about three.

/// More than any E-value that is told.
pub const MOST: f64 = i32::MAX as f64;

/// The share of the chances that is left for one alignment more, where alignments have gaps.
pub const DECAY_GAPPED: f64 = 0.1;
/// The same where they have none.
pub const DECAY_UNGAPPED: f64 = 0.5;

/// What two sequences offer, without their ends, and all subjects together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairSpace {
    /// Residues of the query, 1 at least.
    pub query: f64,
    /// Residues of the subject, 1 at least.
    pub subject: f64,
    /// Pairs of positions of the whole search.
    pub search: f64,
    /// The share that is left for one alignment more.
    pub decay: f64,
}

impl PairSpace {
    /// What an E-value of so many alignments is divided by: all numbers of alignments are tried.
    pub fn divisor(&self, number: usize) -> f64 {
        (1.0 - self.decay) * self.decay.powi(number as i32 - 1)
    }

    /// The E-value of alignments whose scores sum up to `sum`: each begins at one of `starts.0`
    /// positions of the query and `starts.1` of the subject around the end of the one before.
    ///
    /// ```
    /// use gyrase_align::statistics::sum::{DECAY_GAPPED, PairSpace};
    ///
    /// let space = PairSpace { query: 300.0, subject: 400.0, search: 3e9, decay: DECAY_GAPPED };
    /// let (one, two) = (space.near(1, 22.0, (50.0, 50.0)), space.near(2, 44.0, (50.0, 50.0)));
    /// assert!(0.9 < one && one < 1.0);
    /// assert!(two < 1e-3);
    /// ```
    pub fn near(&self, number: usize, sum: f64, starts: (f64, f64)) -> f64 {
        let more = number.saturating_sub(1) as f64;
        let choices = more * (starts.0.ln() + starts.1.ln());
        let gapped = sum - self.pairs().ln() - choices - ln_factorial(number);
        self.evalue(number, sum, gapped)
    }

    /// The same where gaps between alignments may have any length.
    pub fn anywhere(&self, number: usize, sum: f64) -> f64 {
        let apart = sum - number as f64 * self.pairs().ln() + ln_factorial(number);
        self.evalue(number, sum, apart)
    }

    fn pairs(&self) -> f64 {
        self.query * self.subject
    }

    /// From the sum of scores for one alignment, and less what a place of each costs for several.
    fn evalue(&self, number: usize, sum: f64, placed: f64) -> f64 {
        let evalue = match number {
            0 | 1 => self.search * (-sum).exp(),
            _ => -(-p_value(number, placed)).ln_1p() * (self.search / self.pairs()),
        };
        (evalue / self.divisor(number)).min(MOST)
    }
}

/// The chance that the `number` best scores of chance alignments sum up to `sum`, in nats, less
/// the logarithm of the pairs of positions for each: two to three digits, as BLAST+ has them.
pub fn p_value(number: usize, sum: f64) -> f64 {
    let r = number as f64;
    match number {
        0 => 0.0,
        1 => -(-(-sum).exp()).exp_m1(),
        2..=4 if sum >= r * r + r - 1.0 => {
            r * ((r - 1.0) * sum.ln() - sum - 2.0 * ln_factorial(number)).exp()
        }
        2..=4 if sum > -2.0 * r => interpolated(TABLES[number - 2], 2.0 * sum + 4.0 * r),
        2..=4 => 1.0,
        _ => integrated(number, sum),
    }
}

/// Chances for two, three and four alignments, for sums from -2 each on in steps of a half, in
/// descending order of sums.
const TABLES: [&[f64]; 3] = [
    &[
        0.01669, 0.0249, 0.03683, 0.05390, 0.07794, 0.1111, 0.1559, 0.2146, 0.2890, 0.3794, 0.4836,
        0.5965, 0.7092, 0.8114, 0.8931, 0.9490, 0.9806, 0.9944, 0.9989,
    ],
    &[
        0.0001682, 0.0002542, 0.0003829, 0.0005745, 0.0008587, 0.001278, 0.001893, 0.002789,
        0.004088, 0.005958, 0.008627, 0.01240, 0.01770, 0.02505, 0.03514, 0.04880, 0.06704,
        0.09103, 0.1220, 0.1612, 0.2097, 0.2682, 0.3368, 0.4145, 0.4994, 0.5881, 0.6765, 0.7596,
        0.8326, 0.8922, 0.9367, 0.9667, 0.9846, 0.9939, 0.9980,
    ],
    &[
        2.658e-07, 4.064e-07, 6.203e-07, 9.450e-07, 1.437e-06, 2.181e-06, 3.302e-06, 4.990e-06,
        7.524e-06, 1.132e-05, 1.698e-05, 2.541e-05, 3.791e-05, 5.641e-05, 8.368e-05, 0.0001237,
        0.0001823, 0.0002677, 0.0003915, 0.0005704, 0.0008275, 0.001195, 0.001718, 0.002457,
        0.003494, 0.004942, 0.006948, 0.009702, 0.01346, 0.01853, 0.02532, 0.03431, 0.04607,
        0.06128, 0.08068, 0.1051, 0.1352, 0.1719, 0.2157, 0.2669, 0.3254, 0.3906, 0.4612, 0.5355,
        0.6110, 0.6849, 0.7544, 0.8168, 0.8699, 0.9127, 0.9451, 0.9679, 0.9827, 0.9915, 0.9963,
    ],
];

/// What a table has at a place counted from its end.
fn interpolated(table: &[f64], place: f64) -> f64 {
    let last = table.len() - 1;
    let (whole, part) = (place as usize, place.fract());
    let at = last - whole.min(last - 1);
    part * table[at - 1] + (1.0 - part) * table[at]
}

/// Relative error of integrals, as BLAST+ has it.
const ERROR: f64 = 0.002;

/// Below such sums, for each alignment, the chance is 1: for numbers of alignments below a limit.
const CERTAIN: [(usize, f64); 5] = [(8, -2.3), (15, -2.5), (27, -3.0), (51, -3.4), (101, -4.0)];

/// `r^(r-2) / ((r-1)! (r-2)!)` times the integral of `exp(-y)` times that of
/// `x^(r-2) exp(-exp(x - y / r))`: x from 0, y from the sum on.
fn integrated(number: usize, sum: f64) -> f64 {
    let r = number as f64;
    let certain = CERTAIN.iter().find(|(below, _)| number < *below);
    if certain.is_some_and(|(_, each)| sum <= each * r) {
        return 1.0;
    }
    let deviation = r.sqrt();
    let mean = r * (1.0 - r.ln()) - 0.5;
    if sum <= mean - 4.0 * deviation {
        return 1.0;
    }
    let factor = (r - 2.0) * r.ln() - ln_factorial(number - 2) - ln_factorial(number - 1);
    let end = sum.max(mean) + 6.0 * deviation;
    let outer = |y: f64| {
        let inner = |x: f64| {
            let below = (x - y / r).exp();
            match x > 0.0 {
                true => ((r - 2.0) * x.ln() + factor - y - below).exp(),
                false => 0.0,
            }
        };
        romberg(inner, 0.0, (y / r).max(0.0) + 3.0, 1)
    };
    let mut chance = 1.0;
    for least in if sum >= mean { 1..=1 } else { 2..=4 } {
        chance = romberg(outer, sum, end, least);
        if chance >= 0.4 {
            break;
        }
    }
    chance.min(1.0)
}

/// Most halvings of steps.
const HALVINGS: usize = 19;

/// An integral by the rule of Romberg (1955), with steps halved `least` times at least.
fn romberg(of: impl Fn(f64) -> f64, from: f64, to: f64, least: usize) -> f64 {
    let mut step = to - from;
    let mut row = vec![0.5 * step * (of(from) + of(to))];
    for halvings in 1..=HALVINGS {
        let points = 1_usize << (halvings - 1);
        let sum: f64 = (0..points)
            .map(|point| of(from + (point as f64 + 0.5) * step))
            .sum();
        let mut next = 0.5 * (row[0] + step * sum);
        let mut factor = 4.0;
        let mut before = next;
        for old in &mut row {
            next = (factor * before - *old) / (factor - 1.0);
            *old = std::mem::replace(&mut before, next);
            factor *= 4.0;
        }
        row.push(before);
        step *= 0.5;
        let [.., last_but_one, last] = row[..] else {
            continue;
        };
        if halvings >= least && (last_but_one - last).abs() <= ERROR * last.abs() {
            return last;
        }
    }
    row[row.len() - 1]
}

fn ln_factorial(number: usize) -> f64 {
    (2..=number).map(|factor| (factor as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chance by the midpoint rule in small steps, without a rule of Romberg.
    fn by_midpoints(number: usize, sum: f64) -> f64 {
        const STEP: f64 = 0.02;
        let r = number as f64;
        let factor = (r - 2.0) * r.ln() - ln_factorial(number - 2) - ln_factorial(number - 1);
        let steps = |from: f64, to: f64| {
            let number = ((to - from) / STEP) as usize;
            (0..number).map(move |step| from + (step as f64 + 0.5) * STEP)
        };
        let end = sum.max(-r * r) + 60.0;
        let outer = steps(sum, end).map(|y| {
            let inner = steps(0.0, (y / r).max(0.0) + 8.0);
            let inner = inner.map(|x| ((r - 2.0) * x.ln() + factor - y - (x - y / r).exp()).exp());
            inner.sum::<f64>() * STEP
        });
        outer.sum::<f64>() * STEP
    }

    #[test]
    fn chances_are_those_of_the_integral() {
        for (number, sums) in [
            (2, [-2.0, 0.0, 3.0]),
            (3, [-3.0, 1.0, 7.0]),
            (4, [-4.0, 2.0, 12.0]),
            (5, [-6.0, 0.0, 20.0]),
            (7, [-9.0, -2.0, 25.0]),
            (12, [-20.0, -10.0, 15.0]),
        ] {
            for sum in sums {
                let (found, expected) = (p_value(number, sum), by_midpoints(number, sum));
                let error = (found / expected - 1.0).abs();
                assert!(error < 0.008, "{number} {sum}: {found} {expected}");
            }
        }
    }

    #[test]
    fn chances_fall_with_the_sum_and_end_at_one() {
        for number in 1..16 {
            let mut before = 1.0;
            for half in -400..200 {
                let chance = p_value(number, f64::from(half) / 2.0);
                assert!((0.0..=1.0).contains(&chance), "{number} {half}: {chance}");
                // Where chance does it anyway BLAST's integral is rough.
                let falls = chance <= before * 1.02 || before > 0.3;
                assert!(falls, "{number} {half}: {chance} {before}");
                before = chance;
            }
            assert_eq!(p_value(number, -1e4), 1.0);
        }
    }

    #[test]
    fn one_alignment_has_its_own_evalue_and_more_choices_cost() {
        let space = PairSpace {
            query: 250.0,
            subject: 350.0,
            search: 1e9,
            decay: DECAY_UNGAPPED,
        };
        assert_eq!(space.near(1, 20.0, (50.0, 50.0)), 2e9 * (-20_f64).exp());
        assert_eq!(space.near(1, 20.0, (50.0, 50.0)), space.anywhere(1, 20.0));
        for number in 2..8 {
            let sum = 15.0 * number as f64;
            let (near, far) = (
                space.near(number, sum, (50.0, 50.0)),
                space.near(number, sum, (50.0, 500.0)),
            );
            assert!(near < far, "{number}: {near} {far}");
        }
        assert_eq!(space.near(2, 1.0, (50.0, 50.0)), MOST);
    }
}
