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
    bin_of_strands(kmer, kmer.reverse_complement(shape.k()), shape)
}

/// The bin of a k-mer whose reverse complement is at hand.
#[inline]
pub fn bin_of_strands<const W: usize>(kmer: Kmer<W>, reverse: Kmer<W>, shape: Shape) -> usize {
    let (m, last) = (shape.m(), shape.k() - shape.m());
    let hash = |i| minimizer_hash(kmer.stretch(i, m).min(reverse.stretch(last - i, m)));
    let smallest = (0..=last).map(hash).min();
    bin_of_hash(smallest.expect("a k-mer has an m-mer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition: the smallest hash of the canonical m-mers, letter by letter.
    fn naive_bin(letters: &[u8], shape: Shape) -> usize {
        let m = shape.m();
        let hash = |word: &[u8]| {
            let canonical = Kmer::<1>::from_letters(word).unwrap().canonical(m);
            minimizer_hash(canonical.0[0] as u32)
        };
        bin_of_hash(letters.windows(m).map(hash).min().unwrap())
    }

    fn agrees_with_the_definition<const W: usize>(shape: Shape) {
        for seed in 0..20 {
            let code = |i: u64| (crate::mix(i + 1000 * seed) >> 62) as u8;
            let letters: Vec<u8> = (1..=shape.k() as u64)
                .map(|i| gyrase_seq::decode(code(i)))
                .collect();
            let kmer = Kmer::<W>::from_letters(&letters).unwrap();
            assert_eq!(bin_of(kmer, shape), naive_bin(&letters, shape), "{shape:?}");
        }
    }

    #[test]
    fn the_bin_is_that_of_the_smallest_hash() {
        for k in 1..=crate::MAX_K {
            let shape = Shape::new(k, false).unwrap();
            crate::with_words!(shape, W => agrees_with_the_definition::<W>(shape));
        }
    }

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
