//! Keys: k-mers under a bijection that makes their first word uniform.

use crate::Kmer;

pub(crate) const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
pub(crate) const SECOND: u64 = 0xbf58_476d_1ce4_e5b9;

/// The inverse of an odd number modulo 2^64 (Newton's iteration).
const fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    let mut i = 0;
    while i < 6 {
        x = x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
        i += 1;
    }
    x
}

/// A bijection of 64-bit words whose high bits depend on every bit of `word`.
#[inline(always)]
pub const fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 32).wrapping_mul(FIRST);
    (word ^ word >> 29).wrapping_mul(SECOND)
}

/// The inverse of [`mix`].
#[inline(always)]
pub const fn unmix(word: u64) -> u64 {
    let word = word.wrapping_mul(const { inverse(SECOND) });
    let word = (word ^ word >> 29 ^ word >> 58).wrapping_mul(const { inverse(FIRST) });
    word ^ word >> 32
}

/// A scrambled k-mer. Word 0 is `mix(last ^ fold(rest))`, where `last` is the least significant
/// word of the k-mer and `fold` mixes the words before it one after the other, starting from 0;
/// words 1.. are those words, in order. Keys compare word by word; that is the order of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key<const W: usize>(pub [u64; W]);

#[inline(always)]
fn fold(words: &[u64]) -> u64 {
    words.iter().fold(0, |folded, &word| mix(folded ^ word))
}

impl<const W: usize> From<Kmer<W>> for Key<W> {
    #[inline(always)]
    fn from(kmer: Kmer<W>) -> Key<W> {
        let mut words = kmer.0;
        words.rotate_right(1);
        words[0] = mix(words[0] ^ fold(&words[1..]));
        Key(words)
    }
}

impl<const W: usize> From<Key<W>> for Kmer<W> {
    #[inline(always)]
    fn from(key: Key<W>) -> Kmer<W> {
        let mut words = key.0;
        words[0] = unmix(words[0]) ^ fold(&words[1..]);
        words.rotate_left(1);
        Kmer(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mix_is_a_bijection() {
        let mut word = 1;
        for _ in 0..1000 {
            assert_eq!(unmix(mix(word)), word);
            assert_eq!(mix(unmix(word)), word);
            word = mix(word);
        }
        assert_eq!(unmix(mix(0)), 0);
        assert_eq!(unmix(mix(u64::MAX)), u64::MAX);
    }

    #[test]
    fn keys_unscramble() {
        let words = [0x0123_4567_89ab_cdef, 7, u64::MAX, 0];
        assert_eq!(Kmer::from(Key::from(Kmer(words))), Kmer(words));
        assert_eq!(Kmer::from(Key::from(Kmer([5u64]))), Kmer([5]));
    }

    #[test]
    fn the_layout_of_keys_is_frozen() {
        let m64 = u128::from(u64::MAX);
        let by_hand = |word: u128| {
            let first = ((word ^ word >> 32) * 0x9e37_79b9_7f4a_7c15) & m64;
            (((first ^ first >> 29) * 0xbf58_476d_1ce4_e5b9) & m64) as u64
        };
        for word in [0, 1, 0xdead_beef, 1 << 63, u64::MAX] {
            assert_eq!(mix(word), by_hand(u128::from(word)));
        }
        assert_eq!(Key::from(Kmer([9u64, 3])).0, [mix(3 ^ mix(9)), 9]);
    }
}
