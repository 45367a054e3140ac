//! Negative binomials under the peaks of a histogram: those of a genome with its repeats and the
//! places that differ between its haplotypes.

use std::f64::consts::TAU;

use super::genome::{self, Genome};
use super::newton::{self, Optimum};

/// More bins than this are joined, so that deep coverage costs no more time.
const BINS: usize = 1024;
/// Bounds of the overdispersion: variance / mean - 1.
const DISPERSIONS: (f64, f64) = (0.002, 20.0);
/// The coverage may leave the peak that was seen by this factor.
const DRIFT: f64 = 1.35;
/// Bounds of the logits of shares.
const SHARES: (f64, f64) = (-12.0, 3.0);
/// The most of the places that a fit may take for repeats, as a logit.
const REPEATED: f64 = 1.0;
/// Where the parameters of a fit begin to have the shares of patterns of differing haplotypes: as
/// logarithms, over the share of those that are the same.
const PATTERNS: usize = 5;
/// Bounds of how fast errors become rare from one multiplicity to the next.
const FALLS: (f64, f64) = (0.005, 0.8);

/// A fitted mixture: distinct k-mers expected at each multiplicity.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Mean multiplicity of homozygous k-mers that occur once in the genome.
    pub coverage: f64,
    /// Variance over mean, less 1, of every peak: 0 would be Poisson.
    pub dispersion: f64,
    /// Share of the k-mers in the fitted stretch that lie where the curve has them, 0 to 1.
    pub explained: f64,
    genome: Genome,
    errors: Tail,
    optimum: Optimum,
}

/// What the error peak leaves beyond the valley: a geometric fall from `start` on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tail {
    start: f64,
    /// Distinct k-mers at the start.
    kmers: f64,
    /// Those of a multiplicity over those of the one before.
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

impl Bin {
    /// Distinct k-mers that are expected in it.
    fn expected(&self, peaks: &[(f64, Binomial)], errors: &Tail) -> f64 {
        self.width * (sum(peaks, self.center, self.factorial) + errors.at(self.center))
    }
}

impl Fit {
    /// Fits the peaks of a genome of so many haplotypes whose coverage is near `coverage`, with
    /// these shares of differing k-mers to begin with, one for each pattern.
    pub(super) fn of(window: Window, coverage: f64, haplotypes: usize, differing: &[f64]) -> Fit {
        let bins = bins(window);
        let counts: Vec<f64> = bins.iter().map(|bin| bin.kmers).collect();
        let tail = Tail::of(window);
        let kmers: f64 = counts.iter().sum();
        let mut start = vec![coverage.ln(), 0.1f64.ln(), kmers.max(1.0).ln(), -3.0, -1.0];
        let near = (coverage / DRIFT).ln()..(coverage * DRIFT).ln();
        let mut bounds = vec![
            (near.start, near.end),
            (DISPERSIONS.0.ln(), DISPERSIONS.1.ln()),
            (0.0, 50.0),
            (SHARES.0, REPEATED),
            (SHARES.0, REPEATED),
        ];
        let same = 1.0 - differing.iter().sum::<f64>();
        start.extend(differing.iter().map(|share| (share / same).ln()));
        bounds.extend(differing.iter().map(|_| SHARES));
        if tail.kmers > 0.0 {
            start.push((tail.kmers / 2.0).ln());
            bounds.push((-10.0, tail.kmers.ln()));
        }
        let read = |at: &[f64]| parameters(at, haplotypes, tail);
        let curve = |at: &[f64]| {
            let (coverage, dispersion, genome, errors) = read(at);
            let peaks = peaks(coverage, dispersion, &genome);
            let expected = |bin: &Bin| bin.expected(&peaks, &errors);
            bins.iter().map(expected).collect::<Vec<f64>>()
        };
        let optimum = newton::maximise(curve, &counts, start, &bounds);
        let (coverage, dispersion, genome, errors) = read(&optimum.at);
        let mut fit = Fit {
            coverage,
            dispersion,
            explained: 0.0,
            genome,
            errors,
            optimum,
        };
        fit.explained = (1.0 - fit.missed(window)).max(0.0);
        fit
    }

    /// How many k-mers of a window lie where the curve has none, or are not where it has some, over
    /// all that lie there.
    pub(super) fn missed(&self, window: Window) -> f64 {
        let peaks = peaks(self.coverage, self.dispersion, &self.genome);
        let bins = bins(window);
        let kmers: f64 = bins.iter().map(|bin| bin.kmers).sum();
        let missed = bins
            .iter()
            .map(|bin| (bin.kmers - bin.expected(&peaks, &self.errors)).abs());
        missed.sum::<f64>() / kmers.max(1.0)
    }

    /// Haplotypes of the genome that the curves are of.
    pub fn haplotypes(&self) -> usize {
        self.genome.haplotypes
    }

    /// Share of the k-mers that are not the same in all haplotypes, 0 where there is but one.
    pub(super) fn differing(&self) -> f64 {
        self.genome.differing()
    }

    /// The range that the share of differing k-mers is in, of two standard errors to either side.
    pub(super) fn differing_range(&self) -> Option<(f64, f64)> {
        let patterns = PATTERNS..PATTERNS + genome::patterns(self.genome.haplotypes);
        if patterns.is_empty() {
            return None;
        }
        // Over those that are the same, as a logarithm.
        let odds = |at: &[f64]| {
            at[patterns.clone()]
                .iter()
                .map(|at| at.exp())
                .sum::<f64>()
                .ln()
        };
        let (at, error) = (odds(&self.optimum.at), 2.0 * self.optimum.error(odds)?);
        Some((logistic(at - error), logistic(at + error)))
    }

    /// Share of the bases in which one of three or more haplotypes differs from all others, of
    /// k-mers of `k` bases; and two standard errors of that.
    pub(super) fn one_differs(&self, k: usize) -> Option<(f64, Option<f64>)> {
        let haplotypes = self.genome.haplotypes;
        let share = |at: &[f64]| parameters(at, haplotypes, self.errors).2.one_differs(k);
        (haplotypes > 2).then(|| {
            let error = self.optimum.error(share);
            (share(&self.optimum.at), error.map(|error| 2.0 * error))
        })
    }

    /// Two standard errors of the coverage, over it.
    pub(super) fn doubt(&self) -> Option<f64> {
        Some(2.0 * self.optimum.error(|at| at[0])?)
    }

    /// Occurrences, over the coverage, of k-mers that there are once in a haplotype; and two
    /// standard errors of that.
    pub(super) fn unique(&self) -> (f64, Option<f64>) {
        let unique = |at: &[f64]| at[2].exp() * (1.0 - logistic(at[3]));
        let error = self.optimum.error(unique);
        (unique(&self.optimum.at), error.map(|error| 2.0 * error))
    }

    /// Share of the k-mers that are there twice or more often, of those in the main peaks.
    pub(super) fn repeated(&self) -> f64 {
        self.genome.twice
    }

    /// How much less likely the fit is than one through all counts.
    pub(super) fn misfit(&self) -> f64 {
        self.optimum.deviance
    }

    /// Distinct k-mers of the genome expected at a multiplicity (0 or more; between whole numbers
    /// the curve goes on).
    pub fn at(&self, multiplicity: f64) -> f64 {
        let peaks = peaks(self.coverage, self.dispersion, &self.genome);
        sum(&peaks, multiplicity, ln_gamma(multiplicity + 1.0))
    }

    /// Distinct k-mers with errors expected at a multiplicity beyond the valley.
    pub fn errors_at(&self, multiplicity: f64) -> f64 {
        self.errors.at(multiplicity)
    }
}

/// Coverage, dispersion, genome and errors of the parameters of a fit.
fn parameters(at: &[f64], haplotypes: usize, tail: Tail) -> (f64, f64, Genome, Tail) {
    let (known, errors) = at[PATTERNS..].split_at(genome::patterns(haplotypes));
    let all = 1.0 + known.iter().map(|at| at.exp()).sum::<f64>();
    let mut patterns = Genome::SAME;
    let shares = patterns.iter_mut().zip(known);
    shares.for_each(|(share, at)| *share = at.exp() / all);
    let genome = Genome {
        haplotypes,
        places: at[2].exp(),
        twice: logistic(at[3]),
        thrice: logistic(at[4]),
        patterns,
    };
    let errors = Tail {
        kmers: errors.first().map_or(0.0, |kmers| kmers.exp()),
        ..tail
    };
    (at[0].exp(), at[1].exp(), genome, errors)
}

/// The peaks and the distinct k-mers of each: of what a cell has once, twice, and so on.
fn peaks(coverage: f64, dispersion: f64, genome: &Genome) -> Vec<(f64, Binomial)> {
    let each = coverage / genome.haplotypes as f64;
    let kmers = genome.kmers().into_iter().enumerate();
    let some = kmers.filter(|&(_, kmers)| kmers > 0.0);
    let peak = |(copies, kmers)| (kmers, Binomial::new(copies as f64 * each, dispersion));
    some.map(peak).collect()
}

/// Distinct k-mers of all peaks at `x`, whose factorial has the logarithm `factorial`.
fn sum(peaks: &[(f64, Binomial)], x: f64, factorial: f64) -> f64 {
    peaks
        .iter()
        .map(|(kmers, binomial)| kmers * binomial.at(x, factorial))
        .sum()
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Tail {
    /// The errors at the start of the window as those below it fall: all k-mers there at most.
    fn of(window: Window) -> Tail {
        let Window { dense, first, .. } = window;
        let below = if first >= 3 { first - 1 } else { first };
        let ratio = match below.checked_sub(1).map(|before| dense[before]) {
            Some(before) if before > 0.0 => dense[below] / before,
            _ => 0.0,
        };
        Tail {
            start: first as f64,
            kmers: if window.errors { dense[first] } else { 0.0 },
            ratio: ratio.clamp(FALLS.0, FALLS.1),
        }
    }

    fn at(&self, x: f64) -> f64 {
        self.kmers * self.ratio.powf(x - self.start)
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
