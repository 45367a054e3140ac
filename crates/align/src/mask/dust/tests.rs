//! DUST against its definition, and sequences of odd lengths.
#![allow(
    clippy::single_range_in_vec_init,
    reason = "a mask of one range is meant"
)]

use proptest::prelude::*;

use super::*;
use crate::mask::covered;

/// Every stretch of up to 62 triplets that scores more than 2, and no less than any part of it.
fn naive(bases: &[u8]) -> Vec<Range<usize>> {
    let triplets: Vec<&[u8]> = bases.windows(3).collect();
    let mut masked = vec![false; bases.len()];
    for first in 0..triplets.len() {
        let mut parts = vec![0.0f64; triplets.len()];
        for last in first..triplets.len().min(first + 62) {
            parts[last] = best_part(&triplets[first..=last]);
            let score = score_of(&triplets[first..=last]);
            if score > 2.0 && score >= parts[last] {
                masked[first..last + 3].fill(true);
            }
        }
    }
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for at in (0..bases.len()).filter(|&at| masked[at]) {
        match ranges.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => ranges.push(at..at + 1),
        }
    }
    ranges
}

fn score_of(triplets: &[&[u8]]) -> f64 {
    let equal = |at: usize| {
        triplets[..at]
            .iter()
            .filter(|one| **one == triplets[at])
            .count()
    };
    let pairs: usize = (0..triplets.len()).map(equal).sum();
    if triplets.len() < 2 {
        0.0
    } else {
        pairs as f64 / (triplets.len() - 1) as f64
    }
}

fn best_part(triplets: &[&[u8]]) -> f64 {
    let mut best = 0.0f64;
    for first in 0..triplets.len() {
        let (mut counts, mut pairs) = ([0usize; 64], 0);
        for (at, triplet) in triplets[first..].iter().enumerate() {
            let kind = triplet
                .iter()
                .fold(0, |kind, &base| kind * 4 + base as usize);
            pairs += counts[kind];
            counts[kind] += 1;
            if at > 0 {
                best = best.max(pairs as f64 / at as f64);
            }
        }
    }
    best
}

#[test]
fn odd_sequences_are_masked() {
    let mut dust = Dust::default();
    for length in 0..7 {
        assert_eq!(dust.mask(&vec![0; length]), []);
    }
    assert_eq!(dust.mask(&[3; 8]), [0..8]);
    assert_eq!(dust.mask(&[1; 10_000]), [0..10_000]);
    assert_eq!(dust.mask(&[4; 100]), [0..100]);
    assert_eq!(dust.mask(&[255]), [0..1]);
}

#[test]
fn letters_that_are_no_bases_break_a_repeat() {
    let mut dust = Dust::default();
    let mut bases = vec![0; 14];
    assert_eq!(dust.mask(&bases), [0..14]);
    bases[7] = 4;
    bases[2] = 4;
    bases[12] = 4;
    assert_eq!(dust.mask(&bases), []);
}

#[test]
fn odd_parameters_are_the_usual_ones() {
    let bases: Vec<u8> = (0..500usize).map(|at| ((at * at / 7) % 4) as u8).collect();
    let usual = Dust::default().mask(&bases).to_vec();
    assert_eq!(Dust::new(0, 7, 0).mask(&bases), usual);
    assert_eq!(Dust::new(65, usize::MAX, 33).mask(&bases), usual);
}

proptest! {
    #[test]
    fn masks_are_those_of_the_definition(
        runs in prop::collection::vec((0..4u8, 0..4u8, 0..4u8, 1..25usize), 0..5),
        noise in prop::collection::vec((any::<prop::sample::Index>(), 0..4u8), 0..8),
    ) {
        let mut bases: Vec<u8> = Vec::new();
        for (a, b, c, length) in runs {
            bases.extend([a, b, c].iter().cycle().take(length));
        }
        for (at, base) in noise {
            let at = at.index(bases.len() + 1);
            if let Some(place) = bases.get_mut(at) {
                *place = base;
            }
        }
        let expected = naive(&bases);
        let mut dust = Dust::default();
        prop_assert_eq!(dust.mask(&bases), expected);
    }

    #[test]
    fn a_mask_is_sorted_and_disjoint(
        bases in prop::collection::vec(prop::sample::select(vec![0u8, 0, 0, 1, 2, 4]), 0..400),
        level in 2..65u32,
        window in 8..65usize,
        linker in 1..33usize,
    ) {
        let mut dust = Dust::new(level, window, linker);
        let mask = dust.mask(&bases);
        prop_assert!(mask.windows(2).all(|pair| pair[0].end + linker <= pair[1].start));
        prop_assert!(mask.iter().all(|range| range.start < range.end));
        prop_assert!(mask.last().is_none_or(|last| last.end <= bases.len()));
        prop_assert!(covered(mask) <= bases.len());
    }
}
