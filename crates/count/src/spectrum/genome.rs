//! The k-mers that a genome of one to four haplotypes makes.
//!
//! At a place of a genome each haplotype has a k-mer. How they agree is a **pattern**: `aab` where
//! two of three have the same. A place that there is twice has the k-mers of two patterns, and the
//! k-mers that most haplotypes have are the same in both; that is how GenomeScope 2 has it
//! (Ranallo-Benavidez et al. 2020, doi:10.1038/s41467-020-14998-3, supplement). Of four haplotypes
//! two `aabc` make as many k-mers of each number of copies as one `aabb` and one `abcd` do, so no
//! spectrum tells them apart: here an `aabc` is half of either.

/// Haplotypes at most.
pub const MOST_HAPLOTYPES: usize = 4;
/// Patterns of differing haplotypes, at most.
const MOST_PATTERNS: usize = 3;

/// For each number of haplotypes the patterns in which they differ: how many have each k-mer, the
/// most first. The first is that of one haplotype that differs from all others.
const PATTERNS: [&[&[usize]]; MOST_HAPLOTYPES] = [
    &[],
    &[&[1, 1]],
    &[&[2, 1], &[1, 1, 1]],
    &[&[3, 1], &[2, 2], &[1, 1, 1, 1]],
];

/// What the peaks are made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Genome {
    /// Haplotypes, 1 to [`MOST_HAPLOTYPES`].
    pub haplotypes: usize,
    /// Different places of a haplotype.
    pub places: f64,
    /// Share of them that there are twice, of those and what there is once.
    pub twice: f64,
    /// Of places that there are three times, so many for each that there is twice.
    pub thrice: f64,
    /// Share of the k-mers in each pattern in which the haplotypes differ.
    pub patterns: [f64; MOST_PATTERNS],
}

/// How many patterns there are in which so many haplotypes differ.
pub(super) fn patterns(haplotypes: usize) -> usize {
    PATTERNS[haplotypes - 1].len()
}

impl Genome {
    /// Patterns of haplotypes that are all the same.
    pub const SAME: [f64; MOST_PATTERNS] = [0.0; MOST_PATTERNS];

    /// Share of the k-mers that are not the same in all haplotypes.
    pub fn differing(&self) -> f64 {
        self.patterns.iter().sum()
    }

    /// Distinct k-mers by the copies that a cell has of them, from 0 on.
    pub fn kmers(&self) -> Vec<f64> {
        let mut kmers = vec![0.0; 3 * self.haplotypes + 1];
        let (once, twice) = (self.places * (1.0 - self.twice), self.places * self.twice);
        for (share, pattern) in self.shares() {
            pattern
                .iter()
                .for_each(|&copies| kmers[copies] += once * share);
            for (other_share, other) in self.shares() {
                let share = twice * share * other_share;
                kmers[pattern[0] + other[0]] += share;
                let apart = pattern[1..].iter().chain(&other[1..]);
                apart.for_each(|&copies| kmers[copies] += share);
            }
        }
        kmers[3 * self.haplotypes] += twice * self.thrice;
        kmers
    }

    /// All patterns, with the share of places that have them.
    fn shares(&self) -> impl Iterator<Item = (f64, &[usize])> {
        let same = 1.0 - self.differing();
        let differing = PATTERNS[self.haplotypes - 1].iter().copied();
        std::iter::once((same, std::slice::from_ref(&self.haplotypes)))
            .chain(self.patterns.into_iter().zip(differing))
    }

    /// Share of the bases in which one haplotype differs from all others, which agree: a k-mer of
    /// `k` bases where any but one certain haplotype agree has only such bases and equal ones.
    /// Where two haplotypes are nearer to each other, that is too much: no more than differ at all.
    pub fn one_differs(&self, k: usize) -> f64 {
        let (haplotypes, root) = (self.haplotypes as f64, 1.0 / k as f64);
        let same = (1.0 - self.differing()).max(0.0);
        let differ = 1.0 - same.powf(root);
        let one = (same + self.patterns[0] / haplotypes).powf(root) - same.powf(root);
        (haplotypes * one).min(differ)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn genome(haplotypes: usize, patterns: [f64; MOST_PATTERNS]) -> Genome {
        Genome {
            haplotypes,
            places: 1.0,
            twice: 0.25,
            thrice: 0.0,
            patterns,
        }
    }

    /// Haplotypes, shares of the patterns, distinct k-mers of 1, 2, ... copies.
    const GENOMESCOPE: [(usize, [f64; MOST_PATTERNS], [f64; 8]); MOST_HAPLOTYPES] = [
        (1, [0.0; 3], [0.75, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        (
            2,
            [0.3, 0.0, 0.0],
            [0.6, 0.5475, 0.105, 0.1225, 0.0, 0.0, 0.0, 0.0],
        ),
        (
            3,
            [0.3, 0.1, 0.0],
            [0.7, 0.2275, 0.465, 0.0525, 0.09, 0.09, 0.0, 0.0],
        ),
        (
            4,
            [0.3, 0.15, 0.05],
            [0.6, 0.300625, 0.22875, 0.388125, 0.035, 0.06, 0.075, 0.0625],
        ),
    ];

    /// What the formulas of GenomeScope 2 (`predict1_1`, `predict2_1`, `predict3_1`, `predict4_0`)
    /// give for these shares, computed with R.
    #[test]
    fn kmers_are_those_of_genomescope() {
        for (haplotypes, patterns, expected) in GENOMESCOPE {
            let kmers = genome(haplotypes, patterns).kmers();
            assert_eq!(kmers[0], 0.0);
            for (copies, expected) in (1..).zip(expected) {
                let found = kmers.get(copies).copied().unwrap_or(0.0);
                assert!(
                    (found - expected).abs() < 1e-12,
                    "{haplotypes}, {copies}: {found}"
                );
            }
        }
    }

    #[test]
    fn every_haplotype_has_a_kmer_at_every_place() {
        for haplotypes in 1..=MOST_HAPLOTYPES {
            let mut shares = [0.0; MOST_PATTERNS];
            shares[..patterns(haplotypes)].fill(0.2);
            let kmers = genome(haplotypes, shares).kmers();
            let copies: f64 = (0..)
                .zip(&kmers)
                .map(|(n, kmers)| f64::from(n) * kmers)
                .sum();
            assert!(
                (copies - 1.25 * haplotypes as f64).abs() < 1e-12,
                "{haplotypes}: {copies}"
            );
        }
    }

    #[test]
    fn two_pairs_and_four_kmers_are_two_times_three() {
        let copies = |pattern: &[usize]| {
            let mut kmers = [0; 3];
            pattern.iter().for_each(|&copies| kmers[copies] += 1);
            kmers
        };
        let sum: Vec<usize> = copies(&[2, 2])
            .iter()
            .zip(copies(&[1; 4]))
            .map(|(a, b)| a + b)
            .collect();
        assert_eq!(sum, copies(&[2, 1, 1]).map(|kmers| 2 * kmers));
    }
}
