//! Minimizers and the bins they name.

use crate::{Kmer, Shape};

/// Bins of every table: a k-mer belongs to bin `bin_of_hash(minimizer hash)`. Part of the file
/// format.
pub const BINS: usize = 4096;

pub(crate) const SALT: u32 = 0x5bd1_e995;
pub(crate) const MULTIPLIER: u32 = 0x9e37_79b1;

/// The hash of an m-mer that decides which is the minimizer: a bijection of the canonical m-mer's
/// two-bit value (so equal hashes are equal m-mers) that keeps low-complexity words from being the
/// smallest.
#[inline(always)]
pub const fn minimizer_hash(canonical: u32) -> u32 {
    (canonical ^ SALT).wrapping_mul(MULTIPLIER)
}

/// The bin that a minimizer names. Minimizers are small hashes, so their own high bits would not
/// spread.
#[inline(always)]
pub const fn bin_of_hash(hash: u32) -> usize {
    (hash.wrapping_mul(0x85eb_ca6b) >> 20) as usize
}

/// The bin of a k-mer: the same for both strands.
pub fn bin_of<const W: usize>(kmer: Kmer<W>, shape: Shape) -> usize {
    let m = shape.m();
    let mask = u32::MAX >> (32 - 2 * m);
    let (mut forward, mut reverse, mut smallest) = (0u32, 0u32, u32::MAX);
    for (i, place) in (0..shape.k()).rev().enumerate() {
        let code = u32::from(kmer.base(place));
        forward = (forward << 2 | code) & mask;
        reverse = reverse >> 2 | (3 - code) << (2 * (m - 1));
        if i + 1 >= m {
            smallest = smallest.min(minimizer_hash(forward.min(reverse)));
        }
    }
    bin_of_hash(smallest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_strands_share_a_bin() {
        let letters = b"ACGTTGCATTAGACCATGACCAGTAGGACTTACCA";
        for k in 1..=letters.len() {
            let shape = Shape::new(k, false).unwrap();
            for window in letters.windows(k) {
                let kmer = Kmer::<2>::from_letters(window).unwrap();
                assert_eq!(
                    bin_of(kmer, shape),
                    bin_of(kmer.reverse_complement(k), shape)
                );
            }
        }
    }
}
