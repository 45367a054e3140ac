//! SEG against its definition, and proteins of odd lengths.
#![allow(
    clippy::single_range_in_vec_init,
    reason = "a mask of one range is meant"
)]

use proptest::prelude::*;

use super::*;
use crate::mask::covered;
use crate::residue::{ANY, BORDER};

const WINDOW: usize = 10;

fn counts(residues: &[u8]) -> Vec<usize> {
    let count = |kind| residues.iter().filter(|&&one| one == kind).count();
    let mut counts: Vec<usize> = (0..20).map(count).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

fn entropy(residues: &[u8]) -> Option<f64> {
    let counts = counts(residues);
    let total: usize = counts.iter().sum();
    let share = |count: &usize| *count as f64 / total as f64;
    let present = counts.iter().filter(|count| **count > 0);
    let bits: f64 = present
        .map(|count| -share(count) * share(count).log2())
        .sum();
    (residues.len() - total <= 2).then_some(bits)
}

/// The logarithm of the probability, added up as BLAST+ does.
fn probability(residues: &[u8]) -> f64 {
    let counts = counts(residues);
    let of_window: [u32; 20] = std::array::from_fn(|at| counts[at] as u32);
    if counts[0] == 0 {
        f64::INFINITY
    } else {
        last_bits(of_window, residues.len())
    }
}

fn trimmed(stretch: &[u8]) -> Range<usize> {
    let (mut best, mut part) = (1.0, 0..stretch.len());
    let shortest = stretch.len().saturating_sub(50).max(1);
    for length in (shortest + 1..=stretch.len()).rev() {
        for (at, window) in stretch.windows(length).enumerate() {
            let probability = probability(window);
            if probability < best {
                (best, part) = (probability, at..at + length);
            }
        }
    }
    part
}

/// Straight from the definition, with every window's entropy anew.
fn naive(residues: &[u8], offset: usize, found: &mut Vec<Range<usize>>) {
    let entropies: Vec<_> = residues.windows(WINDOW).map(entropy).collect();
    let grows = |at: usize| entropies[at].is_some_and(|bits| bits <= 2.1);
    let (mut at, mut limit) = (0, 0);
    while at < entropies.len() {
        if entropies[at].is_some_and(|bits| bits <= 1.8) {
            let (mut low, mut high) = (at, at);
            while low > limit && grows(low - 1) {
                low -= 1;
            }
            while high + 1 < entropies.len() && grows(high + 1) {
                high += 1;
            }
            let part = trimmed(&residues[low..high + WINDOW]);
            let (left, right) = (low + part.start, low + part.end);
            if at + WINDOW <= left {
                naive(&residues[low..left], offset + low, found);
            }
            found.push(offset + left..offset + right);
            at = high.min(right - 1);
            limit = at + 1;
        }
        at += 1;
    }
}

fn is_mask(mask: &[Range<usize>], length: usize) -> bool {
    let disjoint = mask.windows(2).all(|pair| pair[0].end <= pair[1].start);
    let filled = mask
        .iter()
        .all(|range| range.start < range.end && range.end <= length);
    disjoint && filled && covered(mask) <= length
}

#[test]
fn factorials_are_those_of_the_definition() {
    let mut sum = 0.0;
    for n in 1..3000usize {
        sum += (n as f64).ln();
        assert!((ln_factorial(n) as f64 / 1e6 - sum).abs() < 6e-7, "{n}");
    }
    assert_eq!(ln_factorial(0), 0);
    assert_eq!(ln_factorial(10_000), 82_108_927_837);
    assert_eq!(step(4095), exact_step(4095));
    assert_eq!(step(4096), exact_step(4096));
}

#[test]
fn odd_proteins_are_masked() {
    let mut seg = Seg::of_queries();
    for length in [0, 1, 2, 11] {
        assert_eq!(seg.mask(&vec![0; length]), []);
    }
    assert_eq!(seg.mask(&[0; 12]), [0..12]);
    assert_eq!(seg.mask(&[7; 10_000]), [0..10_000]);
    assert_eq!(seg.mask(&[ANY; 500]), []);
    assert_eq!(seg.mask(&[BORDER; 500]), []);
    assert_eq!(seg.mask(&[255; 500]), []);
    let varied: Vec<u8> = (0..10_000).map(|at| (at * 7 % 20) as u8).collect();
    assert_eq!(seg.mask(&varied), []);
}

#[test]
fn odd_parameters_do_no_harm() {
    let protein: Vec<u8> = (0..300).map(|at| (at / 40 + at % 3) as u8).collect();
    for (window, low, high) in [
        (0, 1.0, 2.0),
        (1, 0.0, 0.0),
        (300, 9.0, 9.0),
        (301, 2.0, 3.0),
        (usize::MAX, 2.0, 3.0),
        (12, 2.5, 2.2),
        (12, -1.0, f64::NAN),
        (12, f64::INFINITY, 0.0),
    ] {
        let mut seg = Seg::new(window, low, high);
        assert!(is_mask(seg.mask(&protein), protein.len()), "{window}");
    }
}

proptest! {
    #[test]
    fn masks_are_those_of_the_definition(
        runs in prop::collection::vec((0..22u8, 0..22u8, 0..22u8, 1..18usize), 0..8),
        noise in prop::collection::vec((any::<prop::sample::Index>(), 0..22u8), 0..12),
    ) {
        let mut protein: Vec<u8> = Vec::new();
        for (a, b, c, length) in runs {
            protein.extend([a, b, a, c, a].iter().cycle().take(length));
        }
        for (at, residue) in noise {
            let at = at.index(protein.len() + 1);
            if let Some(place) = protein.get_mut(at) {
                *place = residue;
            }
        }
        let mut expected = Vec::new();
        naive(&protein, 0, &mut expected);
        merge(&mut expected);
        let mut seg = Seg::of_subjects();
        prop_assert_eq!(seg.mask(&protein), expected);
    }

    #[test]
    fn a_mask_is_sorted_and_disjoint(protein in prop::collection::vec(0..6u8, 0..400)) {
        prop_assert!(is_mask(Seg::of_subjects().mask(&protein), protein.len()));
        prop_assert!(is_mask(Seg::of_queries().mask(&protein), protein.len()));
    }
}
