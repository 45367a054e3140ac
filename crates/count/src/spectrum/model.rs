//! From a histogram to peaks and estimates.

use super::fit::{Fit, Window};
use super::genome::{self, MOST_HAPLOTYPES};

/// Multiplicities beyond this are no coverage of a genome.
const DEEPEST: u64 = 1 << 20;
/// A peak stands out of its valleys by this share of its height, and by so many standard
/// deviations.
const RELIEF: f64 = 0.02;
const DEVIATIONS: f64 = 5.0;
/// Least share of the k-mer occurrences that lie beyond the valley of a genome's histogram.
const GENOMIC: f64 = 0.2;
/// A second peak at twice the tallest is homozygous from this share of its height on, and repeats
/// below.
const HOMOZYGOUS: f64 = 0.12;
/// A larger share than this of the places is not there twice, but homozygous: the peak that was
/// seen is that of the others.
const REPEATED: f64 = 0.23;
/// The same of a polyploid genome, by the number of k-mers and not by the height of their peak.
const DUPLICATED: f64 = 0.14;
/// A fit with two haplotypes is believed where one without leaves so many times as many k-mers
/// unexplained.
const BETTER: f64 = 3.0;
/// Shares of differing k-mers from which a fit begins.
const DIFFERING: [f64; 2] = [0.03, 0.4];
/// The part of them in the pattern that a fit of a polyploid genome begins with.
const MAIN: f64 = 0.7;
/// A fit is as good as another that leaves so many times fewer k-mers unexplained, or less than so
/// large a share more.
const ALIKE: (f64, f64) = (1.25, 0.005);
/// What the coverage may be over the peak that was seen, where it is two peaks that look like one.
const MERGED: [f64; 2] = [1.0, 1.22];

/// What a histogram of k-mers says. Estimates that it does not carry are `None`, never NaN.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// Bases of a k-mer.
    pub k: usize,
    /// Distinct k-mers.
    pub distinct: u64,
    /// Occurrences of k-mers.
    pub total: u64,
    /// Multiplicity at which k-mers with errors and k-mers of the genome are equally rare.
    pub valley: Option<u64>,
    /// Mean multiplicity of k-mers that one of several haplotypes has, where they are visible.
    pub het_peak: Option<f64>,
    /// Mean multiplicity of homozygous k-mers: the k-mer coverage.
    pub hom_peak: Option<f64>,
    /// Bases of one haplotype.
    pub genome_size: Option<u64>,
    /// Share of the bases that are not the same in all haplotypes, where their peaks are visible.
    pub heterozygosity: Option<f64>,
    /// Share of the bases in which one of three or more haplotypes differs from all others, which
    /// agree.
    pub one_differs: Option<f64>,
    /// Substitutions per base read, where the valley is visible and no low multiplicity was
    /// filtered out.
    pub error_rate: Option<f64>,
    /// Haplotypes: as many as were said, or 1 or 2 by what the k-mers tell.
    pub ploidy: Option<u32>,
    /// Bases of one haplotype whose k-mers it has once.
    pub unique_size: Option<u64>,
    /// Two standard errors to either side of the estimates.
    pub ranges: Ranges,
    /// The curves under the peaks.
    pub fit: Option<Fit>,
}

/// The ranges that estimates are in, as far as the counts and the misfit of the curves tell: two
/// standard errors to either side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ranges {
    /// Of the k-mer coverage.
    pub coverage: Option<(f64, f64)>,
    /// Of the bases of one haplotype.
    pub genome_size: Option<(f64, f64)>,
    /// Of those whose k-mers it has once.
    pub unique_size: Option<(f64, f64)>,
    /// Of the share of the bases that are not the same in all haplotypes.
    pub heterozygosity: Option<(f64, f64)>,
    /// Of the share of those in which one of three or more differs from all others.
    pub one_differs: Option<(f64, f64)>,
}

impl Spectrum {
    /// Estimates from pairs (multiplicity, distinct k-mers), in any order and with or without
    /// zeros.
    pub fn estimate(histogram: &[(u64, u64)], k: usize) -> Spectrum {
        Spectrum::estimate_with(histogram, k, None)
    }

    /// The same of a genome of so many haplotypes, 1 to [`MOST_HAPLOTYPES`], where it is known.
    ///
    /// # Panics
    /// Where it is said to have none, or more.
    pub fn estimate_with(histogram: &[(u64, u64)], k: usize, ploidy: Option<u32>) -> Spectrum {
        let distinct = histogram
            .iter()
            .fold(0, |sum: u64, &(_, kmers)| sum.saturating_add(kmers));
        let total = histogram.iter().fold(0, |sum: u64, &(count, kmers)| {
            sum.saturating_add(count.saturating_mul(kmers))
        });
        let mut spectrum = Spectrum {
            k,
            distinct,
            total,
            valley: None,
            het_peak: None,
            hom_peak: None,
            genome_size: None,
            heterozygosity: None,
            one_differs: None,
            error_rate: None,
            ploidy: None,
            unique_size: None,
            ranges: Ranges::default(),
            fit: None,
        };
        assert!(ploidy.is_none_or(|ploidy| (1..=MOST_HAPLOTYPES).contains(&(ploidy as usize))));
        let dense = dense(histogram);
        if let Some(landmarks) = Landmarks::find(&dense, total) {
            spectrum.fill(histogram, &dense, &landmarks, ploidy);
        }
        spectrum
    }

    /// Share of a haplotype in k-mers that it has more than once.
    pub fn repeats(&self) -> Option<f64> {
        let (all, unique) = (self.genome_size?, self.unique_size?);
        (all > 0).then(|| 1.0 - unique as f64 / all as f64)
    }

    fn fill(
        &mut self,
        histogram: &[(u64, u64)],
        dense: &[f64],
        landmarks: &Landmarks,
        ploidy: Option<u32>,
    ) {
        let (start, has_errors) = (landmarks.start, landmarks.has_errors);
        let fit = Stretch { dense, landmarks }.fit(ploidy);
        let genomic = genomic(histogram, start as u64, &fit);
        let size = genomic / fit.coverage;
        let unfiltered = dense.get(1).is_some_and(|&kmers| kmers > 0.0);
        let errors = (1.0 - genomic / self.total as f64).clamp(0.0, 1.0);
        self.valley = has_errors.then_some(start as u64);
        self.hom_peak = Some(fit.coverage);
        self.genome_size = Some(size.round() as u64);
        self.error_rate = (has_errors && unfiltered).then(|| per_base(errors, self.k));
        let unique = fit.unique();
        self.unique_size = Some(unique.0.min(size).round() as u64);
        let around = |value: f64, doubt: f64| (value - doubt, value + doubt);
        let (doubt, one_differs) = (fit.doubt(), fit.one_differs(self.k));
        self.ranges = Ranges {
            coverage: doubt.map(|doubt| around(fit.coverage, fit.coverage * doubt)),
            genome_size: doubt.map(|doubt| around(size, size * doubt)),
            unique_size: unique.1.map(|doubt| around(unique.0, doubt)),
            heterozygosity: fit
                .differing_range()
                .map(|(low, high)| (per_base(low, self.k), per_base(high, self.k))),
            one_differs: one_differs
                .and_then(|(share, doubt)| doubt.map(|doubt| around(share, doubt))),
        };
        let haplotypes = fit.haplotypes();
        self.ploidy = Some(haplotypes as u32);
        self.het_peak = (haplotypes > 1).then_some(fit.coverage / haplotypes as f64);
        self.heterozygosity = (haplotypes > 1).then(|| per_base(fit.differing(), self.k));
        self.one_differs = one_differs.map(|(share, _)| share);
        self.fit = Some(fit);
    }
}

/// What is fitted.
struct Stretch<'a> {
    dense: &'a [f64],
    landmarks: &'a Landmarks,
}

impl Stretch<'_> {
    /// The curves of a genome of this ploidy; where that is not known, of a diploid one if they fit
    /// far better.
    fn fit(&self, ploidy: Option<u32>) -> Fit {
        let (het, hom) = (self.landmarks.het, self.landmarks.hom as f64);
        match ploidy {
            Some(1) => return self.haploid(het.map_or(hom, |het| het as f64)),
            Some(haplotypes @ 3..) => return self.polyploid(haplotypes as usize),
            _ => {}
        }
        if het.is_some() {
            return self.diploid(&[hom]);
        }
        let haploid = self.haploid(hom);
        if haploid.repeated() >= REPEATED {
            return self.diploid(&[2.0 * hom]);
        }
        let diploid = self.diploid(&MERGED.map(|times| times * hom));
        if ploidy == Some(2) || is_far_better(&diploid, &haploid) {
            diploid
        } else {
            haploid
        }
    }

    fn haploid(&self, coverage: f64) -> Fit {
        Fit::of(self.window(coverage), coverage, 1, &[])
    }

    /// The best of the fits that begin with these coverages.
    fn diploid(&self, coverages: &[f64]) -> Fit {
        let most = coverages.iter().fold(0.0, |most: f64, &one| most.max(one));
        let window = self.window(most);
        let starts = coverages
            .iter()
            .flat_map(|&one| DIFFERING.map(|share| (one, share)));
        let fits = starts.map(|(one, share)| Fit::of(window, one, 2, &[share]));
        best(fits).expect("there is a coverage to begin with")
    }

    /// The fit of so many haplotypes, three or more: the tallest peak may be of k-mers of any
    /// number of them. Of fits that are about as good, it is that whose haplotypes differ least.
    ///
    /// Each is fitted up to its own repeats: those of more copies would bend its peaks. They are
    /// compared by the k-mers of all that any of them was fitted to.
    fn polyploid(&self, haplotypes: usize) -> Fit {
        let tallest = self.landmarks.tallest as f64 * haplotypes as f64;
        let starts = || {
            DIFFERING
                .iter()
                .flat_map(|&all| shared_out(all, haplotypes))
        };
        let of = |copies: usize| {
            let coverage = tallest / copies as f64;
            let window = self.window(coverage);
            best(starts().map(|shares| Fit::of(window, coverage, haplotypes, &shares)))
        };
        let mut fits: Vec<Fit> = (1..=haplotypes).filter_map(of).collect();
        let is_likely = |fit: &Fit| fit.repeated() < DUPLICATED;
        if fits.iter().any(is_likely) {
            fits.retain(is_likely);
        }
        let whole = self.window(tallest);
        let missed = |fit: &Fit| fit.missed(whole);
        let least = fits.iter().map(missed).fold(1.0, f64::min);
        let enough = (least * ALIKE.0).max(least + ALIKE.1);
        let good = fits.into_iter().filter(|fit| missed(fit) <= enough);
        good.min_by(|a, b| a.differing().total_cmp(&b.differing()))
            .expect("one of them is the best")
    }

    /// From the valley to beyond the repeats of two copies.
    fn window(&self, coverage: f64) -> Window<'_> {
        let (first, end) = (self.landmarks.start, self.dense.len() - 1);
        Window {
            dense: self.dense,
            first,
            last: ((2.5 * coverage) as usize).clamp(first, end),
            errors: self.landmarks.has_errors,
        }
    }
}

/// The fit that is the most likely.
fn best(fits: impl Iterator<Item = Fit>) -> Option<Fit> {
    fits.min_by(|a, b| a.misfit().total_cmp(&b.misfit()))
}

/// Shares of the patterns of so many haplotypes, where one of two alleles prevails in turn.
fn shared_out(all: f64, haplotypes: usize) -> Vec<Vec<f64>> {
    let patterns = genome::patterns(haplotypes);
    let shares = |main: usize| {
        let rest = all * (1.0 - MAIN) / (patterns - 1) as f64;
        let share = |at| if at == main { all * MAIN } else { rest };
        (0..patterns).map(share).collect()
    };
    (0..haplotypes / 2).map(shares).collect()
}

/// True where two haplotypes explain most of what one leaves unexplained, and the share of k-mers
/// in which they differ is surely above nothing.
fn is_far_better(diploid: &Fit, haploid: &Fit) -> bool {
    let missed = |fit: &Fit| 1.0 - fit.explained;
    let surely = diploid
        .differing_range()
        .is_some_and(|(low, _)| low > 0.5 * diploid.differing());
    missed(haploid) >= BETTER * missed(diploid) && surely
}

/// Occurrences of k-mers of the genome: beyond the valley those seen less the errors that reach
/// there, below it what the fit has there.
fn genomic(histogram: &[(u64, u64)], start: u64, fit: &Fit) -> f64 {
    let seen = |&(count, kmers): &(u64, u64)| {
        count as f64 * (kmers as f64 - fit.errors_at(count as f64)).max(0.0)
    };
    let beyond: f64 = histogram
        .iter()
        .filter(|&&(count, _)| count >= start)
        .map(seen)
        .sum();
    let below: f64 = (1..start)
        .map(|count| count as f64 * fit.at(count as f64))
        .sum();
    beyond + below
}

/// The chance per base of what hits this share of the words of `k` bases.
fn per_base(share: f64, k: usize) -> f64 {
    1.0 - (1.0 - share).powf(1.0 / k as f64)
}

fn dense(histogram: &[(u64, u64)]) -> Vec<f64> {
    let within = || {
        histogram
            .iter()
            .filter(|&&(count, kmers)| count <= DEEPEST && kmers > 0)
    };
    let last = within().map(|&(count, _)| count).max().unwrap_or(0) as usize;
    // The peaks that are fitted beyond the last k-mer must find that nothing is there.
    let mut dense = vec![0.0; 3 * last + 1];
    within().for_each(|&(count, kmers)| dense[count as usize] += kmers as f64);
    dense[0] = 0.0;
    dense
}

/// Where things are, to whole multiplicities.
struct Landmarks {
    /// The valley, or the first multiplicity.
    start: usize,
    /// True when an error peak lies before `start`.
    has_errors: bool,
    het: Option<usize>,
    hom: usize,
    tallest: usize,
}

impl Landmarks {
    fn find(dense: &[f64], total: u64) -> Option<Landmarks> {
        let first = dense.iter().position(|&kmers| kmers > 0.0)?;
        let smooth = Smooth::new(dense);
        let valley = smooth.valley(first)?;
        let below: f64 = (first..valley)
            .map(|count| count as f64 * dense[count])
            .sum();
        let has_errors = valley > first;
        if below > (1.0 - GENOMIC) * total as f64 {
            return None;
        }
        let peaks = smooth.peaks(valley);
        let tallest = *peaks.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let (het, hom) = choose(&peaks, tallest);
        Some(Landmarks {
            start: valley,
            has_errors,
            het,
            hom,
            tallest: tallest.0,
        })
    }
}

/// The heterozygous and the homozygous of some peaks.
fn choose(peaks: &[(usize, f64)], tallest: (usize, f64)) -> (Option<usize>, usize) {
    let near = |low: f64, high: f64| {
        let range = low * tallest.0 as f64..high * tallest.0 as f64;
        let inside = peaks
            .iter()
            .filter(move |peak| range.contains(&(peak.0 as f64)));
        inside.copied().max_by(|a, b| a.1.total_cmp(&b.1))
    };
    if let Some(half) = near(0.38, 0.62) {
        return (Some(half.0), tallest.0);
    }
    match near(1.65, 2.5) {
        Some(twice) if twice.1 >= HOMOZYGOUS * tallest.1 => (Some(tallest.0), twice.0),
        _ => (None, tallest.0),
    }
}

/// A histogram averaged over a sixteenth of the multiplicity to either side.
struct Smooth {
    kmers: Vec<f64>,
    /// Standard deviation of each value, if k-mers were independent.
    deviations: Vec<f64>,
}

impl Smooth {
    fn new(dense: &[f64]) -> Smooth {
        let mut sums = vec![0.0];
        sums.extend(dense.iter().scan(0.0, |sum, kmers| {
            *sum += kmers;
            Some(*sum)
        }));
        let mean = |count: usize| {
            let (low, high) = (
                count - count / 16,
                (count + count / 16).min(dense.len() - 1),
            );
            let width = (high - low + 1) as f64;
            let mean = (sums[high + 1] - sums[low]) / width;
            (mean, (mean.max(1.0) / width).sqrt())
        };
        let (kmers, deviations) = (0..dense.len()).map(mean).unzip();
        Smooth { kmers, deviations }
    }

    /// How much a value must differ from the extreme value at `count` to be more than noise.
    fn relief(&self, count: usize) -> f64 {
        RELIEF * self.kmers[count] + DEVIATIONS * self.deviations[count]
    }

    /// The lowest place before the first rise.
    fn valley(&self, first: usize) -> Option<usize> {
        let mut lowest = first;
        for count in first..self.kmers.len() {
            if self.kmers[count] < self.kmers[lowest] {
                lowest = count;
            } else if self.kmers[count] > self.kmers[lowest] + 2.0 * self.relief(lowest) {
                return Some(lowest);
            }
        }
        None
    }

    /// Places and heights of the peaks from a valley on.
    fn peaks(&self, valley: usize) -> Vec<(usize, f64)> {
        let (mut peaks, mut highest, mut lowest, mut climbing) = (Vec::new(), valley, valley, true);
        for count in valley..self.kmers.len() {
            let kmers = self.kmers[count];
            if climbing && kmers > self.kmers[highest] {
                highest = count;
            } else if climbing && kmers < self.kmers[highest] - self.relief(highest) {
                peaks.push((highest, self.kmers[highest]));
                (climbing, lowest) = (false, count);
            } else if !climbing && kmers < self.kmers[lowest] {
                lowest = count;
            } else if !climbing && kmers > self.kmers[lowest] + self.relief(lowest) {
                (climbing, highest) = (true, count);
            }
        }
        peaks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds `kmers` distinct k-mers of a negative binomial (Poisson for `dispersion` 0) to a
    /// histogram, by recursion.
    fn add(histogram: &mut [f64], kmers: f64, mean: f64, dispersion: f64) {
        let dispersion = dispersion.max(1e-6);
        let size = mean / dispersion;
        let mut logarithm = -size * dispersion.ln_1p();
        for (count, slot) in histogram.iter_mut().enumerate() {
            *slot += kmers * logarithm.exp();
            let step =
                (count as f64 + size) / (count as f64 + 1.0) * dispersion / (1.0 + dispersion);
            logarithm += step.ln();
        }
    }

    struct Sample {
        size: f64,
        coverage: f64,
        dispersion: f64,
        heterozygosity: f64,
        repeats: f64,
        error_rate: f64,
    }

    const K: usize = 21;

    /// The expected histogram of a genome, with two haplotypes where it is heterozygous.
    fn histogram(sample: &Sample) -> Vec<(u64, u64)> {
        let Sample {
            size,
            coverage,
            dispersion,
            heterozygosity,
            repeats,
            error_rate,
        } = *sample;
        let mut dense = vec![0.0; 20_000.min(60 * coverage as usize + 100)];
        let het = 1.0 - (1.0 - heterozygosity).powi(K as i32);
        let single = size * (1.0 - repeats);
        add(&mut dense, 2.0 * single * het, coverage / 2.0, dispersion);
        add(&mut dense, single * (1.0 - het), coverage, dispersion);
        add(
            &mut dense,
            size * repeats * 0.5 / 2.0,
            2.0 * coverage,
            dispersion,
        );
        add(
            &mut dense,
            size * repeats * 0.3 / 3.0,
            3.0 * coverage,
            dispersion,
        );
        add(
            &mut dense,
            size * repeats * 0.2 / 10.0,
            10.0 * coverage,
            dispersion,
        );
        let wrong = 1.0 - (1.0 - error_rate).powi(K as i32);
        // Every place has 3 K wrong k-mers; errors fall on them like rain, each place at its own
        // rate.
        let occurrences = size * coverage * wrong / (1.0 - wrong);
        let (rate, places) = (0.2, occurrences / 0.2);
        add(&mut dense, places, rate, 0.15);
        dense[0] = 0.0;
        let rounded = (0u64..)
            .zip(dense)
            .map(|(count, kmers)| (count, kmers.round() as u64));
        rounded.filter(|&(_, kmers)| kmers > 0).collect()
    }

    fn near(found: Option<f64>, expected: f64, tolerance: f64) {
        let found = found.expect("there is an estimate");
        assert!(
            (found / expected - 1.0).abs() < tolerance,
            "found {found}, expected {expected}"
        );
    }

    const BACTERIUM: Sample = Sample {
        size: 4.6e6,
        coverage: 80.0,
        dispersion: 0.3,
        heterozygosity: 0.0,
        repeats: 0.03,
        error_rate: 0.003,
    };

    #[test]
    fn haploid_genomes_have_their_size() {
        for coverage in [8.0, 12.0, 20.0, 35.0, 80.0, 400.0, 3000.0] {
            for dispersion in [0.0, 0.3, 2.0] {
                // The peak must stand clear of the errors.
                if coverage < 20.0 && dispersion > 1.0 {
                    continue;
                }
                let sample = Sample {
                    coverage,
                    dispersion,
                    ..BACTERIUM
                };
                let spectrum = Spectrum::estimate(&histogram(&sample), K);
                near(
                    spectrum.genome_size.map(|size| size as f64),
                    sample.size,
                    0.03,
                );
                near(spectrum.hom_peak, coverage, 0.02);
                near(spectrum.error_rate, sample.error_rate, 0.12);
                assert_eq!((spectrum.heterozygosity, spectrum.het_peak), (None, None));
                let valley = spectrum.valley.expect("there is a valley") as f64;
                assert!(valley > 1.0 && valley < coverage, "{valley}");
            }
        }
    }

    #[test]
    fn diploid_genomes_have_their_size_and_heterozygosity() {
        // Fewer heterozygous k-mers than these make no peak of their own.
        for (coverage, least) in [(30.0, 0.004), (40.0, 0.002), (60.0, 0.001), (150.0, 0.0005)] {
            for heterozygosity in [least, 0.01, 0.02, 0.03] {
                let sample = Sample {
                    size: 3e7,
                    coverage,
                    heterozygosity,
                    repeats: 0.1,
                    ..BACTERIUM
                };
                let spectrum = Spectrum::estimate(&histogram(&sample), K);
                near(
                    spectrum.genome_size.map(|size| size as f64),
                    sample.size,
                    0.03,
                );
                near(spectrum.heterozygosity, heterozygosity, 0.15);
                near(spectrum.het_peak, coverage / 2.0, 0.02);
                near(spectrum.error_rate, sample.error_rate, 0.1);
            }
        }
    }

    #[test]
    fn two_haplotypes_are_told_where_their_peaks_are_one() {
        for heterozygosity in [0.001, 0.002, 0.005, 0.01] {
            let sample = Sample {
                size: 3e7,
                coverage: 11.0,
                dispersion: 0.1,
                heterozygosity,
                repeats: 0.1,
                ..BACTERIUM
            };
            let histogram = histogram(&sample);
            for ploidy in [None, Some(2)] {
                let spectrum = Spectrum::estimate_with(&histogram, K, ploidy);
                assert_eq!(spectrum.ploidy, Some(2), "{heterozygosity}");
                near(spectrum.heterozygosity, heterozygosity, 0.1);
                near(spectrum.hom_peak, 11.0, 0.01);
                near(spectrum.genome_size.map(|size| size as f64), 3e7, 0.01);
                near(spectrum.repeats(), 0.1, 0.2);
                let (low, high) = spectrum.ranges.heterozygosity.expect("they differ");
                let estimate = spectrum.heterozygosity.expect("they differ");
                assert!(low < estimate && estimate < high && high < 1.5 * low);
            }
            let one = Spectrum::estimate_with(&histogram, K, Some(1));
            assert_eq!((one.ploidy, one.heterozygosity), (Some(1), None));
            let explained = |spectrum: &Spectrum| spectrum.fit.as_ref().unwrap().explained;
            assert!(explained(&one) < explained(&Spectrum::estimate(&histogram, K)));
        }
        let one = Spectrum::estimate_with(&histogram(&BACTERIUM), K, Some(2));
        assert!(one.heterozygosity.expect("it was asked for") < 1e-4);
    }

    #[test]
    fn a_growing_bacterium_has_one_haplotype() {
        // Of cells that divide there is more of what is copied first than of what is copied last.
        for (coverage, ratio) in [(13.0, 1.3f64), (13.0, 2.0), (30.0, 2.0), (60.0, 1.5)] {
            let mut dense = vec![0.0; 400];
            for part in 0..50 {
                let here = coverage * ratio.powf(0.5 - f64::from(part) / 50.0);
                add(&mut dense, 4.5e6 / 50.0, here, 0.2);
            }
            for (slot, errors) in dense[1..].iter_mut().zip([3e6, 9e4, 1.2e4, 4e3, 1e3, 4e2]) {
                *slot += errors;
            }
            let rounded = (0u64..).zip(&dense).skip(1);
            let histogram: Vec<_> = rounded
                .map(|(count, kmers)| (count, kmers.round() as u64))
                .collect();
            let spectrum = Spectrum::estimate(&histogram, K);
            assert_eq!(spectrum.ploidy, Some(1), "{coverage}, {ratio}");
            near(spectrum.genome_size.map(|size| size as f64), 4.5e6, 0.02);
        }
    }

    #[test]
    fn without_errors_there_is_no_valley_and_still_a_size() {
        let sample = Sample {
            error_rate: 0.0,
            coverage: 30.0,
            ..BACTERIUM
        };
        let spectrum = Spectrum::estimate(&histogram(&sample), K);
        near(
            spectrum.genome_size.map(|size| size as f64),
            sample.size,
            0.03,
        );
        assert_eq!((spectrum.valley, spectrum.error_rate), (None, None));
    }

    #[test]
    fn a_filtered_histogram_has_a_size_and_no_error_rate() {
        let filtered: Vec<_> = histogram(&BACTERIUM)
            .into_iter()
            .filter(|&(count, _)| count >= 2)
            .collect();
        let spectrum = Spectrum::estimate(&filtered, K);
        near(
            spectrum.genome_size.map(|size| size as f64),
            BACTERIUM.size,
            0.03,
        );
        assert_eq!(spectrum.error_rate, None);
    }

    fn knows_nothing(histogram: &[(u64, u64)]) {
        let spectrum = Spectrum::estimate(histogram, K);
        let estimates = (
            spectrum.hom_peak,
            spectrum.het_peak,
            spectrum.heterozygosity,
            spectrum.error_rate,
        );
        assert_eq!(estimates, (None, None, None, None), "{histogram:?}");
        assert_eq!(
            (spectrum.valley, spectrum.genome_size, spectrum.fit),
            (None, None, None)
        );
    }

    #[test]
    fn degenerate_histograms_say_nothing() {
        knows_nothing(&[]);
        knows_nothing(&[(1, 0), (2, 0)]);
        knows_nothing(&[(1, 1)]);
        knows_nothing(&[(1, 1_000_000)]);
        knows_nothing(&[(1, 100), (2, 50), (3, 25), (10, 3), (4_294_967_295, 7)]);
        knows_nothing(&(1..1000).map(|count| (count, 500)).collect::<Vec<_>>());
        knows_nothing(&[(u64::MAX, u64::MAX), (0, 5)]);
        let sparse = Sample {
            coverage: 2.4,
            ..BACTERIUM
        };
        knows_nothing(&histogram(&sparse));
        // A plasmid of 500 copies is no genome, while that one is not covered.
        let mut plasmid: Vec<(u64, u64)> =
            (1..20).map(|count| (count, 100_000_000 >> count)).collect();
        plasmid.extend((450u64..550).map(|count| (count, 50 - 50u64.min(count.abs_diff(500)))));
        knows_nothing(&plasmid);
    }

    #[test]
    fn order_and_zeros_do_not_matter() {
        let sorted = histogram(&BACTERIUM);
        let mut other: Vec<_> = sorted.iter().rev().copied().chain([(123_456, 0)]).collect();
        other.swap(0, 5);
        let (mut left, mut right) = (
            Spectrum::estimate(&sorted, K),
            Spectrum::estimate(&other, K),
        );
        (left.genome_size, right.genome_size) = (
            left.genome_size.map(|n| n / 10),
            right.genome_size.map(|n| n / 10),
        );
        assert_eq!(
            (left.hom_peak, left.valley, left.genome_size),
            (right.hom_peak, right.valley, right.genome_size)
        );
    }
}
