//! k-mers as big integers.

use gyrase_seq::{decode, encode};

use crate::Shape;

/// A k-mer of up to `32 * W` bases: an integer of `2k` bits, right-aligned, word 0 most
/// significant; the first base is the most significant. The derived order is the order of the
/// letters (for one k).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kmer<const W: usize>(pub [u64; W]);

impl<const W: usize> Kmer<W> {
    /// The k-mer of no bases, all bits zero.
    pub const ZERO: Kmer<W> = Kmer([0; W]);

    /// The k-mer that spells `letters`, or `None` when one of them is no base or they are more than
    /// `32 * W`.
    pub fn from_letters(letters: &[u8]) -> Option<Kmer<W>> {
        if letters.len() > 32 * W {
            return None;
        }
        letters
            .iter()
            .try_fold(Kmer::ZERO, |kmer, &letter| Some(kmer.push(encode(letter)?)))
    }

    /// Shifts one base in at the end; bits beyond the width fall out at the front (see
    /// [`Kmer::masked`]).
    #[inline(always)]
    pub fn push(self, code: u8) -> Kmer<W> {
        let mut words = self.0;
        for i in 0..W - 1 {
            words[i] = words[i] << 2 | words[i + 1] >> 62;
        }
        words[W - 1] = words[W - 1] << 2 | u64::from(code & 3);
        Kmer(words)
    }

    /// Shifts the complement of `code` in at the front of a k-mer of `k` bases and drops its last
    /// base: the step of the reverse complement when the forward k-mer takes `code` at its end.
    #[inline(always)]
    pub fn push_complement(self, code: u8, k: usize) -> Kmer<W> {
        let mut words = self.0;
        for i in (1..W).rev() {
            words[i] = words[i] >> 2 | words[i - 1] << 62;
        }
        words[0] >>= 2;
        let bit = 2 * (k - 1);
        words[W - 1 - bit / 64] |= u64::from(3 - (code & 3)) << (bit % 64);
        Kmer(words)
    }

    /// The last `k` bases, the rest cleared.
    #[inline(always)]
    pub fn masked(self, k: usize) -> Kmer<W> {
        let mut words = self.0;
        for (i, word) in words.iter_mut().enumerate() {
            let bits = (2 * k).saturating_sub(64 * (W - 1 - i));
            *word &= match bits {
                0 => 0,
                1..=63 => u64::MAX >> (64 - bits),
                _ => u64::MAX,
            };
        }
        Kmer(words)
    }

    /// All bases but the last.
    #[inline(always)]
    pub fn without_last(self) -> Kmer<W> {
        self.shifted_right(2)
    }

    /// The reverse complement of a k-mer of `k` bases.
    #[inline]
    pub fn reverse_complement(self, k: usize) -> Kmer<W> {
        let mut words = self.0.map(|word| reverse_pairs(!word));
        words.reverse();
        Kmer(words).shifted_right(64 * W - 2 * k)
    }

    /// Drops `bits` bits at the end, fewer than there are.
    #[inline(always)]
    fn shifted_right(self, bits: usize) -> Kmer<W> {
        let (skip, bits) = (bits / 64, bits % 64);
        Kmer(std::array::from_fn(|i| {
            let word = |back: usize| i.checked_sub(back).map_or(0, |at| self.0[at]);
            word(skip) >> bits | (word(skip + 1) << 1) << (63 - bits)
        }))
    }

    /// The `bases` bases, at most 16, that end `i` places before the end.
    #[inline(always)]
    pub(crate) fn stretch(self, i: usize, bases: usize) -> u32 {
        let (skip, bits) = (i / 32, 2 * (i % 32));
        let word = |back: usize| (W - 1).checked_sub(back).map_or(0, |at| self.0[at]);
        let found = word(skip) >> bits | (word(skip + 1) << 1) << (63 - bits);
        found as u32 & (u32::MAX >> (32 - 2 * bases))
    }

    /// The smaller of the k-mer and its reverse complement.
    pub fn canonical(self, k: usize) -> Kmer<W> {
        self.min(self.reverse_complement(k))
    }

    /// The form that is counted: canonical, or the k-mer itself where `shape` is stranded.
    pub fn form(self, shape: Shape) -> Kmer<W> {
        if shape.stranded() {
            self
        } else {
            self.canonical(shape.k())
        }
    }

    /// The two-bit code of the base `i` places before the end.
    #[inline(always)]
    pub fn base(self, i: usize) -> u8 {
        (self.0[W - 1 - i / 32] >> (2 * (i % 32)) & 3) as u8
    }

    /// Writes the letters of a k-mer of `letters.len()` bases.
    pub fn write_letters(self, letters: &mut [u8]) {
        for (i, letter) in letters.iter_mut().rev().enumerate() {
            *letter = decode(self.base(i));
        }
    }

    /// The letters of a k-mer of `k` bases.
    pub fn letters(self, k: usize) -> Vec<u8> {
        let mut letters = vec![0; k];
        self.write_letters(&mut letters);
        letters
    }
}

/// Reverses the 32 groups of two bits: the bases of a word.
#[inline(always)]
pub const fn reverse_pairs(word: u64) -> u64 {
    const NIBBLES: u64 = u64::MAX / 0xff * 0x0f;
    const PAIRS: u64 = u64::MAX / 0xf * 0x3;
    let word = word.swap_bytes();
    let word = word >> 4 & NIBBLES | (word & NIBBLES) << 4;
    word >> 2 & PAIRS | (word & PAIRS) << 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use gyrase_seq::reverse_complement;

    fn letters(k: usize, seed: u64) -> Vec<u8> {
        let mut state = seed;
        (0..k)
            .map(|_| {
                state = crate::mix(state.wrapping_add(1));
                decode((state >> 60) as u8)
            })
            .collect()
    }

    fn check<const W: usize>(k: usize) {
        for seed in 0..20 {
            let text = letters(k, seed * 1000 + k as u64);
            let kmer = Kmer::<W>::from_letters(&text).unwrap();
            assert_eq!(kmer.letters(k), text);
            assert_eq!(kmer, kmer.masked(k));
            assert_eq!(kmer.without_last().letters(k - 1), text[..k - 1]);
            let reversed = Kmer::<W>::from_letters(&reverse_complement(&text)).unwrap();
            assert_eq!(kmer.reverse_complement(k), reversed);
            assert_eq!(kmer < reversed, text < reversed.letters(k));

            let next = letters(1, seed)[0];
            let mut rolled = text[1..].to_vec();
            rolled.push(next);
            let code = encode(next).unwrap();
            let rolled = Kmer::<W>::from_letters(&rolled).unwrap();
            assert_eq!(kmer.push(code).masked(k), rolled, "k={k}");
            assert_eq!(
                reversed.push_complement(code, k),
                rolled.reverse_complement(k),
                "k={k}"
            );
        }
    }

    #[test]
    fn agrees_with_the_letters_at_word_edges() {
        for k in [1, 2, 15, 16, 31, 32, 33, 63, 64, 65, 95, 96, 97, 126, 127] {
            crate::with_words!(Shape::new(k, false).unwrap(), W => check::<W>(k));
        }
    }
}
