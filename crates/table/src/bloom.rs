//! Seen before? A Bloom filter whose bits for one key lie in one word (Putze et al. 2007,
//! doi:10.1007/978-3-540-72845-0_9).

/// Bits a key: about 5 % false positives, where Abakus (section 5.1.3) found filter and table
/// smallest together.
const BITS_PER_KEY: usize = 8;

/// Answers "seen" for every key seen before and for a few per cent of the others.
#[derive(Debug, Default)]
pub struct Bloom {
    words: Vec<u64>,
}

impl Bloom {
    /// Bytes of a filter for `keys` keys.
    pub fn bytes_for(keys: usize) -> usize {
        8 * (keys * BITS_PER_KEY).div_ceil(64).max(1)
    }

    /// Forgets everything and makes room for `keys` keys.
    pub fn clear(&mut self, keys: usize) {
        self.words.clear();
        self.words.resize(Bloom::bytes_for(keys) / 8, 0);
    }

    /// Notes a key by its uniform `place`; true when it was (or seems to have been) noted before.
    #[inline(always)]
    pub fn note(&mut self, place: u64) -> bool {
        let (at, bits) = self.bits(place);
        let word = &mut self.words[at];
        let seen = *word & bits == bits;
        *word |= bits;
        seen
    }

    /// Whether a key of a place was noted before, or seems to have been.
    #[inline(always)]
    pub fn has(&self, place: u64) -> bool {
        let (at, bits) = self.bits(place);
        self.words[at] & bits == bits
    }

    /// The word of a key, and its bits there.
    #[inline(always)]
    fn bits(&self, place: u64) -> (usize, u64) {
        let at = ((u128::from(place) * self.words.len() as u128) >> 64) as usize;
        // The high bits chose the word; these are others.
        let bits = 1 << (place >> 18 & 63) | 1 << (place >> 12 & 63) | 1 << (place >> 6 & 63);
        (at, bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_forgets_and_rarely_errs() {
        let mut bloom = Bloom::default();
        bloom.clear(10_000);
        let new = (0..10_000)
            .filter(|&i| bloom.note(gyrase_kmer::mix(i)))
            .count();
        assert!(new < 500, "{new} false positives while filling");
        assert!((0..10_000).all(|i| bloom.has(gyrase_kmer::mix(i))));
        assert!((0..10_000).all(|i| bloom.note(gyrase_kmer::mix(i))));
    }
}
