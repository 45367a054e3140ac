//! Negative binomials under the peaks of a histogram, fitted by expectation maximisation.

use std::f64::consts::TAU;

/// More bins than this are joined, so that deep coverage costs no more time.
const BINS: usize = 1024;
const ROUNDS: usize = 80;
const STEPS: usize = 16;
/// Bounds of the overdispersion: variance / mean - 1.
const DISPERSIONS: (f64, f64) = (0.005, 20.0);
/// The coverage may leave the peak that was seen by this factor.
const DRIFT: f64 = 1.35;
/// A shoulder at half the coverage: least share of what lies there, and least height over the main
/// peak.
const SHOULDER_SHARE: f64 = 0.6;
const SHOULDER_HEIGHT: f64 = 0.03;

/// A fitted mixture: distinct k-mers expected at each multiplicity.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Mean multiplicity of homozygous k-mers that occur once in the genome.
    pub coverage: f64,
    /// Variance over mean, less 1, of every peak: 0 would be Poisson.
    pub dispersion: f64,
    peaks: Vec<Peak>,
    errors: Tail,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Peak {
    /// Its mean over the coverage.
    factor: f64,
    /// Distinct k-mers in it.
    kmers: f64,
}

/// What the error peak leaves beyond the valley: a geometric fall from `start` on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tail {
    start: f64,
    kmers: f64,
    ratio: f64,
}

/// The part of a histogram that is fitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window<'a> {
    /// Distinct k-mers by multiplicity, from 0.
    pub dense: &'a [f64],
    /// First and last multiplicity.
    pub first: usize,
    pub last: usize,
    /// True when k-mers with errors lie below the window.
    pub errors: bool,
}

#[derive(Clone, Copy)]
struct Bin {
    center: f64,
    width: f64,
    kmers: f64,
    /// Logarithm of the factorial of the centre.
    factorial: f64,
}

impl Fit {
    /// Fits peaks at the given multiples of the coverage, which is near `coverage`.
    pub(super) fn of(window: Window, coverage: f64, factors: &[f64]) -> Fit {
        let bins = bins(window);
        let start = Fit::start(window, &bins, coverage, factors);
        let at = |exponent: f64| start.clone().maximised(&bins, exponent.exp(), coverage);
        let (mut low, mut high) = (DISPERSIONS.0.ln(), DISPERSIONS.1.ln());
        // The likelihood has one maximum along the dispersion: golden sections close in on it.
        let golden = (5f64.sqrt() - 1.0) / 2.0;
        let (mut left, mut right) = (high - golden * (high - low), low + golden * (high - low));
        let (mut best_left, mut best_right) = (at(left), at(right));
        for _ in 0..STEPS {
            if best_left.1 > best_right.1 {
                (high, right, best_right) = (right, left, best_left);
                left = high - golden * (high - low);
                best_left = at(left);
            } else {
                (low, left, best_left) = (left, right, best_right);
                right = low + golden * (high - low);
                best_right = at(right);
            }
        }
        if best_left.1 > best_right.1 {
            best_left.0
        } else {
            best_right.0
        }
    }

    fn start(window: Window, bins: &[Bin], coverage: f64, factors: &[f64]) -> Fit {
        let kmers: f64 = bins.iter().map(|bin| bin.kmers).sum();
        let peaks = factors
            .iter()
            .map(|&factor| Peak {
                factor,
                kmers: kmers / factors.len() as f64,
            })
            .collect();
        let at_start = if window.errors {
            bins[0].kmers / bins[0].width
        } else {
            0.0
        };
        let errors = Tail {
            start: window.first as f64,
            kmers: at_start,
            ratio: 0.5,
        };
        Fit {
            coverage,
            dispersion: 1.0,
            peaks,
            errors,
        }
    }

    /// The best fit of a dispersion, and its log likelihood.
    fn maximised(mut self, bins: &[Bin], dispersion: f64, seen: f64) -> (Fit, f64) {
        self.dispersion = dispersion;
        let mut likelihood = f64::NEG_INFINITY;
        for _ in 0..ROUNDS {
            likelihood = self.improve(bins);
            self.coverage = self.coverage.clamp(seen / DRIFT, seen * DRIFT);
        }
        (self, likelihood)
    }

    /// One round: shares every bin among the peaks and takes their new sizes and their mean from
    /// the shares. What a peak has outside of the window is taken as the fit before has it. Gives
    /// the log likelihood before.
    fn improve(&mut self, bins: &[Bin]) -> f64 {
        let mut sums = vec![Sums::default(); self.peaks.len()];
        let (mut tail, mut likelihood) = (Sums::default(), 0.0);
        let mut parts = vec![0.0; self.peaks.len()];
        let binomials: Vec<Binomial> = self.peaks.iter().map(|peak| self.binomial(peak)).collect();
        for bin in bins {
            for (part, binomial) in parts.iter_mut().zip(&binomials) {
                *part = bin.width * binomial.at(bin.center, bin.factorial);
            }
            let error = bin.width * self.errors.at(bin.center);
            let weighed = parts
                .iter()
                .zip(&self.peaks)
                .map(|(part, peak)| part * peak.kmers);
            let expected = weighed.sum::<f64>() + error + f64::MIN_POSITIVE;
            likelihood += bin.kmers * expected.ln() - expected;
            for ((sum, part), peak) in sums.iter_mut().zip(&parts).zip(&self.peaks) {
                sum.add(bin, *part, bin.kmers * part * peak.kmers / expected);
            }
            tail.add(bin, 0.0, bin.kmers * error / expected);
        }
        self.take(&sums);
        self.errors.take(&tail);
        likelihood
    }

    fn take(&mut self, sums: &[Sums]) {
        let (mut occurrences, mut expected) = (0.0, 0.0);
        for (peak, sum) in self.peaks.iter_mut().zip(sums) {
            let mean = peak.factor * self.coverage;
            occurrences += sum.occurrences + peak.kmers * (mean - sum.mean_inside).max(0.0);
            peak.kmers = sum.kmers + peak.kmers * (1.0 - sum.inside).max(0.0);
            expected += peak.kmers * peak.factor;
        }
        if expected > 0.0 {
            self.coverage = occurrences / expected;
        }
    }

    fn binomial(&self, peak: &Peak) -> Binomial {
        Binomial::new(peak.factor * self.coverage, self.dispersion)
    }

    /// Distinct k-mers in the peak at `factor` times the coverage.
    pub(super) fn kmers(&self, factor: f64) -> f64 {
        self.peaks
            .iter()
            .filter(|peak| peak.factor == factor)
            .map(|peak| peak.kmers)
            .sum()
    }

    /// True when the k-mers at half the coverage are mostly those of a peak there, and no trifle.
    pub(super) fn has_shoulder(&self) -> bool {
        let half = self.coverage / 2.0;
        let own: f64 = self
            .peaks
            .iter()
            .filter(|peak| peak.factor == 0.5)
            .map(|peak| self.part(peak, half))
            .sum();
        let here = self.at(half) + self.errors.at(half);
        own > SHOULDER_SHARE * here && own > SHOULDER_HEIGHT * self.at(self.coverage)
    }

    fn part(&self, peak: &Peak, multiplicity: f64) -> f64 {
        peak.kmers
            * self
                .binomial(peak)
                .at(multiplicity, ln_gamma(multiplicity + 1.0))
    }

    /// Distinct k-mers of the genome expected at a multiplicity (0 or more; between whole numbers
    /// the curve goes on).
    pub fn at(&self, multiplicity: f64) -> f64 {
        self.peaks
            .iter()
            .map(|peak| self.part(peak, multiplicity))
            .sum()
    }

    /// Distinct k-mers with errors expected at a multiplicity beyond the valley.
    pub(super) fn errors_at(&self, multiplicity: u64) -> f64 {
        self.errors.at(multiplicity as f64)
    }
}

impl Tail {
    fn at(&self, x: f64) -> f64 {
        self.kmers * (1.0 - self.ratio) * self.ratio.powf(x - self.start)
    }

    fn take(&mut self, sum: &Sums) {
        self.kmers = sum.kmers;
        if sum.kmers > 0.0 {
            let mean = sum.occurrences / sum.kmers - self.start;
            self.ratio = (mean / (1.0 + mean)).clamp(0.05, 0.8);
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Sums {
    kmers: f64,
    occurrences: f64,
    /// Share of the peak, and its part of the mean, that lie inside of the window.
    inside: f64,
    mean_inside: f64,
}

impl Sums {
    fn add(&mut self, bin: &Bin, part: f64, kmers: f64) {
        self.kmers += kmers;
        self.occurrences += kmers * bin.center;
        self.inside += part;
        self.mean_inside += part * bin.center;
    }
}

/// A negative binomial of variance `mean * (1 + dispersion)`.
struct Binomial {
    size: f64,
    constant: f64,
    slope: f64,
}

impl Binomial {
    fn new(mean: f64, dispersion: f64) -> Binomial {
        let size = mean / dispersion;
        let constant = -ln_gamma(size) - size * dispersion.ln_1p();
        Binomial {
            size,
            constant,
            slope: (dispersion / (1.0 + dispersion)).ln(),
        }
    }

    /// Probability of `x`, whose factorial has the logarithm `factorial`.
    fn at(&self, x: f64, factorial: f64) -> f64 {
        (ln_gamma(x + self.size) - factorial + self.constant + x * self.slope).exp()
    }
}

fn bins(window: Window) -> Vec<Bin> {
    let kmers = &window.dense[window.first..=window.last];
    let width = kmers.len().div_ceil(BINS);
    let bin = |(i, part): (usize, &[f64])| {
        let center = (window.first + i * width) as f64 + (part.len() - 1) as f64 / 2.0;
        Bin {
            center,
            width: part.len() as f64,
            kmers: part.iter().sum(),
            factorial: ln_gamma(center + 1.0),
        }
    };
    kmers.chunks(width).enumerate().map(bin).collect()
}

/// Logarithm of the gamma function of a positive number: Stirling's series, from 8 on.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 8.0 {
        product *= x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series =
        (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + TAU.ln() / 2.0 + series - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_is_the_factorial() {
        let mut factorial = 0.0;
        for n in 1..60 {
            assert!((ln_gamma(f64::from(n)) - factorial).abs() < 1e-9, "{n}");
            factorial += f64::from(n).ln();
        }
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-9);
    }

    #[test]
    fn a_binomial_has_its_moments() {
        for (mean, dispersion) in [(3.0, 0.01), (40.0, 0.5), (200.0, 4.0)] {
            let binomial = Binomial::new(mean, dispersion);
            let at = |n: u32| binomial.at(f64::from(n), ln_gamma(f64::from(n) + 1.0));
            let sum =
                |f: &dyn Fn(f64) -> f64| (0..2000).map(|n| at(n) * f(f64::from(n))).sum::<f64>();
            assert!((sum(&|_| 1.0) - 1.0).abs() < 1e-6);
            assert!((sum(&|x| x) / mean - 1.0).abs() < 1e-6);
            let variance = sum(&|x| (x - mean) * (x - mean));
            assert!((variance / (mean * (1.0 + dispersion)) - 1.0).abs() < 1e-5);
        }
    }
}
