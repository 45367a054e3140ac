//! What a spectrum tells of genomes of three and four haplotypes, whose truth is known.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::collections::HashMap;

use gyrase_count::spectrum::Spectrum;
use gyrase_simulate::genome::{Blueprint, generate};

const K: usize = 21;
const BASES: u64 = 300_000;

/// Haplotypes of one contig without repeats: each has this share of substitutions of its own.
fn star(haplotypes: u32, heterozygosity: f64) -> Vec<Vec<u8>> {
    let blueprint = Blueprint {
        length: BASES,
        heterozygosity,
        ploidy: haplotypes + 1,
        ..Blueprint::default()
    };
    let sequences = generate(&blueprint).unwrap().sequences.into_iter();
    // The first is what they come from.
    sequences.skip(1).map(|sequence| sequence.letters).collect()
}

/// The same sequence with the base at every `step`th place another one.
fn with_variants(letters: &[u8], step: usize) -> Vec<u8> {
    let mut other = letters.to_vec();
    for letter in other.iter_mut().skip(step / 2).step_by(step) {
        *letter = match *letter {
            b'A' => b'C',
            b'C' => b'G',
            b'G' => b'T',
            _ => b'A',
        };
    }
    other
}

/// Shares of the bases: not the same in all haplotypes; of those, one against all others.
fn truth(haplotypes: &[Vec<u8>]) -> (f64, f64) {
    let (mut differ, mut one) = (0, 0);
    for place in 0..haplotypes[0].len() {
        let letters: Vec<u8> = haplotypes.iter().map(|letters| letters[place]).collect();
        let same = |letter: &u8| letters.iter().filter(|other| *other == letter).count();
        let most = letters.iter().map(same).max().unwrap();
        differ += u32::from(most < letters.len());
        one += u32::from(most + 1 == letters.len());
    }
    let share = |places: u32| f64::from(places) / haplotypes[0].len() as f64;
    (share(differ), share(one))
}

/// The histogram that is expected of reads as deep as `coverage` over all haplotypes together, with
/// some errors.
fn histogram(haplotypes: &[Vec<u8>], coverage: f64, dispersion: f64) -> Vec<(u64, u64)> {
    histogram_with(haplotypes, &[], coverage, dispersion)
}

/// The same where each haplotype also has so many places several times: times and places.
fn histogram_with(
    haplotypes: &[Vec<u8>],
    repeats: &[(usize, f64)],
    coverage: f64,
    dispersion: f64,
) -> Vec<(u64, u64)> {
    let mut copies: HashMap<&[u8], usize> = HashMap::new();
    for letters in haplotypes {
        letters
            .windows(K)
            .for_each(|kmer| *copies.entry(kmer).or_default() += 1);
    }
    let mut dense = vec![0.0; 8 * coverage as usize + 100];
    let mut kmers = vec![0.0; haplotypes.len() + 1];
    copies
        .into_values()
        .for_each(|copies| kmers[copies.min(haplotypes.len())] += 1.0);
    let repeated = repeats
        .iter()
        .map(|&(times, places)| (times * haplotypes.len(), places));
    for (copies, kmers) in kmers.into_iter().enumerate().skip(1).chain(repeated) {
        let mean = coverage * copies as f64 / haplotypes.len() as f64;
        let size = mean / dispersion;
        let mut logarithm = -size * dispersion.ln_1p();
        for (count, slot) in dense.iter_mut().enumerate() {
            *slot += kmers * logarithm.exp();
            let count = count as f64;
            let step = (count + size) / (count + 1.0) * dispersion / (1.0 + dispersion);
            logarithm += step.ln();
        }
    }
    for (slot, errors) in dense[1..].iter_mut().zip([3e6, 9e4, 1.2e4, 2e3, 3e2, 4e1]) {
        *slot += errors;
    }
    let rows = (0..).zip(dense).skip(1);
    let rounded = rows.map(|(count, kmers)| (count, kmers.round() as u64));
    rounded.filter(|&(_, kmers)| kmers > 0).collect()
}

fn near(found: Option<f64>, expected: f64, tolerance: f64, what: &str) {
    let found = found.unwrap();
    let off = (found / expected - 1.0).abs();
    assert!(
        off < tolerance,
        "{what}: found {found}, expected {expected}"
    );
}

/// Checks all estimates, within shares of them, against the truth of the haplotypes.
fn check(haplotypes: &[Vec<u8>], coverage: f64, tolerance: f64) -> Spectrum {
    let histogram = histogram(haplotypes, coverage, 0.3);
    let spectrum = Spectrum::estimate_with(&histogram, K, Some(haplotypes.len() as u32));
    let (differ, one) = truth(haplotypes);
    let what = format!("{} haplotypes, {differ:.4} differ", haplotypes.len());
    near(spectrum.hom_peak, coverage, 0.02, &what);
    near(
        spectrum.genome_size.map(|size| size as f64),
        BASES as f64,
        0.03,
        &what,
    );
    near(spectrum.heterozygosity, differ, tolerance, &what);
    near(spectrum.one_differs, one, tolerance, &what);
    spectrum
}

#[test]
fn three_haplotypes_have_their_size_and_differences() {
    for heterozygosity in [0.002, 0.01, 0.03] {
        check(&star(3, heterozygosity), 60.0, 0.05);
    }
}

#[test]
fn four_haplotypes_have_their_size_and_differences() {
    for heterozygosity in [0.003, 0.01, 0.02] {
        check(&star(4, heterozygosity), 80.0, 0.05);
    }
}

/// What a genome has four times and more often lies beyond the peaks that are fitted.
#[test]
fn repeats_do_not_hide_differences() {
    let haplotypes = star(4, 0.001);
    let repeats = [
        (2, 2000.0),
        (3, 1000.0),
        (4, 500.0),
        (5, 300.0),
        (6, 200.0),
        (7, 100.0),
    ];
    let histogram = histogram_with(&haplotypes, &repeats, 30.0, 0.02);
    let spectrum = Spectrum::estimate_with(&histogram, K, Some(4));
    let (differ, _) = truth(&haplotypes);
    near(
        spectrum.heterozygosity,
        differ,
        0.05,
        "at a coverage of 7.5 each",
    );
    near(spectrum.hom_peak, 30.0, 0.01, "at a coverage of 7.5 each");
}

#[test]
fn two_pairs_of_haplotypes_are_told_from_four() {
    let pairs = star(2, 0.03);
    let all: Vec<Vec<u8>> = pairs
        .iter()
        .zip([400, 370])
        .flat_map(|(one, step)| [one.clone(), with_variants(one, step)])
        .collect();
    check(&all, 80.0, 0.1);
}

#[test]
fn no_more_differ_from_all_others_than_differ() {
    let pair = star(2, 0.02);
    let all = [
        pair[0].clone(),
        with_variants(&pair[0], 1000),
        pair[1].clone(),
    ];
    let (differ, _) = truth(&all);
    let spectrum = Spectrum::estimate_with(&histogram(&all, 60.0, 0.3), K, Some(3));
    near(
        spectrum.heterozygosity,
        differ,
        0.05,
        "two of three are near each other",
    );
    assert!(
        spectrum.one_differs <= spectrum.heterozygosity,
        "{spectrum:?}"
    );
}
