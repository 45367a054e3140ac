//! Parameters of alignments without gaps, from scores and how often they come.
//!
//! After Karlin and Altschul, Proc. Natl. Acad. Sci. USA 87 (1990) 2264: lambda is the solution of
//! `sum p(s) exp(lambda s) = 1`, and K follows from how sums of scores are distributed.

use std::fmt;

use super::Karlin;
use crate::matrix::Matrix;
use crate::residue::STANDARD;

/// Residues in a thousand, in the order of their codes: Robinson and Robinson, Proc. Natl. Acad.
/// Sci. USA 88 (1991) 8880. BLAST's background.
pub const BACKGROUND: [f64; STANDARD] = [
    78.05, 51.29, 44.87, 53.64, 19.25, 42.64, 62.95, 73.77, 21.99, 51.42, 90.19, 57.44, 22.43,
    38.56, 52.03, 71.20, 58.41, 13.30, 32.16, 64.41,
];

/// Sums of so many scores are looked at for K, as in BLAST+.
const SUMS: usize = 100;

/// The term of the series for K that is the last, as in BLAST+: E-values show the difference.
const SMALL: f64 = 1e-4;

/// Scores have no such parameters: none is positive, or their mean is not negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotLocal;

impl fmt::Display for NotLocal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("scores need a negative mean and a positive one among them")
    }
}

impl std::error::Error for NotLocal {}

/// How often each score comes in pairs of unrelated letters.
#[derive(Clone, Debug)]
pub struct ScoreFrequencies {
    least: i32,
    /// From the least to the greatest that occurs; the sum is 1.
    of: Vec<f64>,
}

impl ScoreFrequencies {
    /// From pairs of score and weight; weights need no unit. Scores are within 1,000 of 0.
    ///
    /// # Errors
    /// [`NotLocal`] if such scores have no statistics of local alignments.
    pub fn new(
        weighted: impl IntoIterator<Item = (i32, f64)>,
    ) -> Result<ScoreFrequencies, NotLocal> {
        let mut all = vec![0.0; 2001];
        for (score, weight) in weighted {
            let at = usize::try_from(score + 1000).map_err(|_| NotLocal)?;
            *all.get_mut(at).ok_or(NotLocal)? += weight;
        }
        let first = all
            .iter()
            .position(|&weight| weight > 0.0)
            .ok_or(NotLocal)?;
        let last = all
            .iter()
            .rposition(|&weight| weight > 0.0)
            .ok_or(NotLocal)?;
        let sum: f64 = all.iter().sum();
        let frequencies = ScoreFrequencies {
            least: first as i32 - 1000,
            of: all[first..=last]
                .iter()
                .map(|weight| weight / sum)
                .collect(),
        };
        let local = frequencies.mean() < 0.0 && frequencies.greatest() > 0;
        local.then_some(frequencies).ok_or(NotLocal)
    }

    /// Of a matrix between proteins of those compositions: weights by code, of the standard ones.
    ///
    /// # Errors
    /// [`NotLocal`] for compositions that score above 0 on the average, or are empty.
    pub fn of_proteins(
        matrix: &Matrix,
        query: &[f64; STANDARD],
        subject: &[f64; STANDARD],
    ) -> Result<ScoreFrequencies, NotLocal> {
        let pairs = (0..STANDARD).flat_map(|a| (0..STANDARD).map(move |b| (a, b)));
        ScoreFrequencies::new(pairs.map(|(a, b)| {
            let score = matrix.score(a as u8, b as u8);
            (i32::from(score), query[a] * subject[b])
        }))
    }

    /// Of a reward for equal bases and a penalty for others. The bases of subjects are equally
    /// frequent: then those of the query do not matter.
    ///
    /// # Errors
    /// [`NotLocal`] if the reward is 0 or less, or more than thrice the penalty.
    pub fn of_bases(reward: i32, penalty: i32) -> Result<ScoreFrequencies, NotLocal> {
        ScoreFrequencies::new([(reward, 1.0), (penalty, 3.0)])
    }

    /// The parameters. Lambda and H have 9 digits; K has those of BLAST+, about 3. Alpha is
    /// `lambda / h`, beta 0.
    pub fn karlin(&self) -> Karlin {
        let lambda = self.lambda();
        let h = self.entropy(lambda);
        Karlin {
            lambda,
            k: self.k(lambda, h),
            h,
            alpha: lambda / h,
            beta: 0.0,
        }
    }

    fn scored(&self) -> impl Iterator<Item = (f64, f64)> {
        let scores = (self.least..).map(f64::from);
        scores.zip(self.of.iter().copied())
    }

    fn mean(&self) -> f64 {
        self.scored().map(|(score, p)| score * p).sum()
    }

    fn greatest(&self) -> i32 {
        self.least + self.of.len() as i32 - 1
    }

    /// Halves an interval that holds lambda: the sum is below 1 between 0 and lambda only.
    fn lambda(&self) -> f64 {
        let above = |lambda: f64| {
            let sum: f64 = self.scored().map(|(s, p)| p * (lambda * s).exp()).sum();
            sum > 1.0
        };
        let (mut low, mut high) = (0.0, 0.5);
        while !above(high) && high < 1e6 {
            low = high;
            high *= 2.0;
        }
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if above(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }

    fn entropy(&self, lambda: f64) -> f64 {
        let mean: f64 = self.scored().map(|(s, p)| s * p * (lambda * s).exp()).sum();
        lambda * mean
    }

    /// What all scores that occur are multiples of.
    fn divisor(&self) -> usize {
        let offsets = self.of.iter().enumerate().filter(|(_, p)| **p > 0.0);
        let from = self.least.unsigned_abs() as usize;
        offsets.fold(from, |divisor, (at, _)| common_divisor(divisor, at))
    }

    fn k(&self, lambda: f64, h: f64) -> f64 {
        let divisor = self.divisor();
        let lattice: Vec<f64> = self.of.iter().step_by(divisor).copied().collect();
        let least = self.least / divisor as i32;
        let greatest = self.greatest() / divisor as i32;
        let lambda = lambda * divisor as f64;
        let mean = self.mean() / divisor as f64;
        let per_step = h / lambda;
        match (least, greatest) {
            (-1, 1) => (lattice[0] - lattice[2]).powi(2) / lattice[0],
            (_, 1) => per_step * -(-lambda).exp_m1(),
            (-1, _) => mean * mean / per_step * -(-lambda).exp_m1(),
            _ => {
                let sum = ladder(&lattice, least, lambda);
                (-2.0 * sum).exp() / (per_step * -(-lambda).exp_m1())
            }
        }
    }
}

/// The sum over n of `(P(S >= 0) + E[exp(lambda S); S < 0]) / n`, S being a sum of n scores.
fn ladder(lattice: &[f64], least: i32, lambda: f64) -> f64 {
    let (mut sums, mut total) = (vec![1.0], 0.0);
    for n in 1..=SUMS {
        sums = convolved(&sums, lattice);
        let scores = (i64::from(least) * n as i64..).map(|score| score as f64);
        let terms = scores.zip(&sums);
        let term: f64 = terms.map(|(s, p)| p * (lambda * s.min(0.0)).exp()).sum();
        total += term / n as f64;
        if term / n as f64 <= SMALL {
            break;
        }
    }
    total
}

fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; a.len() + b.len() - 1];
    for (at, x) in a.iter().enumerate() {
        for (place, y) in product[at..].iter_mut().zip(b) {
            *place += x * y;
        }
    }
    product
}

fn common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
