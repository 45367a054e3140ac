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

/// The bins that own the first and the last k-1 bases of a k-mer of `bin`: named by the minimizers
/// of these, of as many bases as that of the k-mer. One of both is `bin` itself, mostly both.
///
/// # Panics
/// When a minimizer is as long as a k-mer: then k-1 bases have none.
#[inline]
pub fn bins_of_junctions<const W: usize>(
    kmer: Kmer<W>,
    reverse: Kmer<W>,
    bin: usize,
    shape: Shape,
) -> [usize; 2] {
    let (m, last) = (shape.m(), shape.k() - shape.m());
    assert!(last > 0, "k-1 bases hold a minimizer");
    // Of the m-mer that ends i places before the end: the first k-1 bases lack number 0, the last
    // k-1 bases the last.
    let hash = |i| minimizer_hash(kmer.stretch(i, m).min(reverse.stretch(last - i, m)));
    let without = |i: usize, others: std::ops::RangeInclusive<usize>| {
        // Where it names another bin, it is not the smallest, which the others have then.
        if bin_of_hash(hash(i)) != bin {
            return bin;
        }
        bin_of_hash(others.map(hash).min().expect("there is another m-mer"))
    };
    [without(0, 1..=last), without(last, 0..=last - 1)]
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

    fn junctions_agree_with_the_definition<const W: usize>(shape: Shape) {
        let (k, m) = (shape.k(), shape.m());
        let hash = |word: &[u8]| {
            let canonical = Kmer::<1>::from_letters(word).unwrap().canonical(m);
            minimizer_hash(canonical.0[0] as u32)
        };
        let naive = |letters: &[u8]| bin_of_hash(letters.windows(m).map(hash).min().unwrap());
        let mut elsewhere = 0;
        for seed in 0..400 {
            let code = |i: u64| (crate::mix(i + 1000 * seed) >> 62) as u8;
            let letters: Vec<u8> = (1..=k as u64)
                .map(|i| gyrase_seq::decode(code(i)))
                .collect();
            let kmer = Kmer::<W>::from_letters(&letters).unwrap();
            let (reverse, bin) = (kmer.reverse_complement(k), bin_of(kmer, shape));
            let found = bins_of_junctions(kmer, reverse, bin, shape);
            assert_eq!(found, [naive(&letters[..k - 1]), naive(&letters[1..])]);
            assert!(found.contains(&bin), "one junction holds the minimizer");
            elsewhere += usize::from(found != [bin; 2]);
        }
        assert!(elsewhere > 0, "{shape:?}");
    }

    #[test]
    fn a_junction_belongs_to_the_bin_of_its_own_minimizer() {
        for k in [9, 10, 15, 31, 32, 33, 63, 64, 65, 97, 127] {
            let shape = Shape::new(k, false).unwrap();
            crate::with_words!(shape, W => junctions_agree_with_the_definition::<W>(shape));
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
