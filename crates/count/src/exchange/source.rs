//! What every reader of a foreign database offers.

use gyrase_kmer::Kmer;
use gyrase_table::gyk::Cutoffs;

use super::error::Result;

/// Room for every k: a k-mer as readers hand it on, before k has chosen the words of the table.
pub type WideKmer = Kmer<4>;

/// A stream of k-mers with counts, in any order and with any repeats.
pub trait KmerSource: Send {
    /// Bases of every k-mer, or `None` where the file holds no k-mer to tell it.
    fn k(&self) -> Option<usize>;

    /// True when the file says that its two strands are counted apart.
    fn stranded(&self) -> bool;

    /// The smallest and the largest count that the file says were kept.
    fn limits(&self) -> Cutoffs {
        Cutoffs::default()
    }

    /// K-mers to come, where that is known; otherwise 0.
    fn kmers(&self) -> u64 {
        0
    }

    /// The next k-mer and its count (0 is possible).
    fn next(&mut self) -> Result<Option<(WideKmer, u64)>>;
}

/// The first or the last words of a k-mer, whichever the number of words asks for: widening fills
/// with zeros.
pub(crate) fn resize<const FROM: usize, const TO: usize>(kmer: Kmer<FROM>) -> Kmer<TO> {
    let mut words = [0; TO];
    let shared = FROM.min(TO);
    words[TO - shared..].copy_from_slice(&kmer.0[FROM - shared..]);
    Kmer(words)
}

/// The k-mer that the low `2k` bits of big-endian bytes spell.
pub(crate) fn from_big_endian(bytes: &[u8], k: usize) -> WideKmer {
    let mut padded = [0; 32];
    let used = bytes.len().min(32);
    padded[32 - used..].copy_from_slice(&bytes[bytes.len() - used..]);
    let word =
        |i: usize| u64::from_be_bytes(padded[8 * i..8 * i + 8].try_into().expect("eight bytes"));
    Kmer([word(0), word(1), word(2), word(3)]).masked(k)
}

/// The k-mer as 32 big-endian bytes, right-aligned.
pub(crate) fn to_big_endian<const W: usize>(kmer: Kmer<W>) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (chunk, word) in bytes.rchunks_mut(8).zip(kmer.0.iter().rev()) {
        chunk.copy_from_slice(&word.to_be_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_words_hold_the_same_letters() {
        for k in [1, 4, 31, 32, 33, 64, 65, 96, 97, 127] {
            let letters: Vec<u8> = (0..k)
                .map(|i| b"ACGT"[(i * i + 3 * i + k) % 7 % 4])
                .collect();
            let kmer = WideKmer::from_letters(&letters).unwrap();
            let bytes = to_big_endian(kmer);
            assert_eq!(from_big_endian(&bytes[32 - k.div_ceil(4)..], k), kmer);
            assert_eq!(from_big_endian(&bytes, k).letters(k), letters);
        }
        assert_eq!(resize::<4, 1>(Kmer([0, 0, 0, 7])), Kmer([7]));
        assert_eq!(resize::<2, 4>(Kmer([5, 7])), Kmer([0, 0, 5, 7]));
    }
}
