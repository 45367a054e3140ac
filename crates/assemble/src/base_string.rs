//! Sequences of bases, two bits each.

use std::ops::Range;

use gyrase_kmer::{Kmer, reverse_pairs};
use gyrase_seq::{decode, encode};

/// Bases of a word.
pub(crate) const PER_WORD: usize = 32;

/// Bases in words of 64 bits, the first of each word most significant, behind the last base zeros.
/// So words compare as letters do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaseString {
    words: Vec<u64>,
    len: usize,
}

impl BaseString {
    /// How many bases.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }

    /// Forgets the bases and keeps their memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.len = 0;
    }

    /// Makes room for so many more.
    pub fn reserve(&mut self, bases: usize) {
        let words = (self.len + bases).div_ceil(PER_WORD);
        self.words.reserve(words.saturating_sub(self.words.len()));
    }

    /// Appends a base by its code.
    #[inline]
    pub fn push(&mut self, code: u8) {
        let at = self.len % PER_WORD;
        if at == 0 {
            self.words.push(0);
        }
        let word = self.words.last_mut().expect("there is room for a base");
        *word |= u64::from(code & 3) << (62 - 2 * at);
        self.len += 1;
    }

    /// Appends the first `bases` bases of a word, at most 32; the others may be anything.
    #[inline]
    pub fn push_word(&mut self, word: u64, bases: usize) {
        debug_assert!(bases <= PER_WORD);
        if bases == 0 {
            return;
        }
        let word = word & (u64::MAX << (2 * (PER_WORD - bases)));
        let at = self.len % PER_WORD;
        self.len += bases;
        if at == 0 {
            self.words.push(word);
            return;
        }
        *self.words.last_mut().expect("it holds some bases") |= word >> (2 * at);
        if at + bases > PER_WORD {
            self.words.push(word << (2 * (PER_WORD - at)));
        }
    }

    /// Appends a k-mer of `k` bases.
    #[inline]
    pub fn push_kmer<const W: usize>(&mut self, kmer: Kmer<W>, k: usize) {
        // All but those of the first word are full.
        let first = k - PER_WORD * (W - 1);
        self.push_word(kmer.0[0] << (2 * (PER_WORD - first)), first);
        kmer.0[1..]
            .iter()
            .for_each(|&word| self.push_word(word, PER_WORD));
    }

    /// Appends bases by their codes.
    pub fn push_codes(&mut self, codes: &[u8]) {
        codes.iter().for_each(|&code| self.push(code));
    }

    /// Appends letters, all of which are bases.
    ///
    /// # Panics
    /// When one is not.
    pub fn push_letters(&mut self, letters: &[u8]) {
        letters
            .iter()
            .for_each(|&letter| self.push(encode(letter).expect("the letters are bases")));
    }

    /// Appends a stretch of another sequence.
    #[inline]
    pub fn append(&mut self, other: &BaseString, stretch: Range<usize>) {
        self.push_words(stretch.len(), |at, _| other.word(stretch.start + at));
    }

    /// Appends the reverse complement of a stretch of another sequence.
    #[inline]
    pub fn append_reverse_complement(&mut self, other: &BaseString, stretch: Range<usize>) {
        self.push_words(stretch.len(), |at, bases| {
            other.reverse_word(stretch.end - at, bases)
        });
    }

    /// Appends so many bases: `word` gives those from a number on, so many of a word.
    #[inline]
    fn push_words(&mut self, bases: usize, word: impl Fn(usize, usize) -> u64) {
        let room = self.len.next_multiple_of(PER_WORD) - self.len;
        let first = room.min(bases);
        if first > 0 {
            self.push_word(word(0, first), first);
        }
        // What fills words of its own is not shifted here.
        let whole = (bases - first) / PER_WORD;
        let starts = (0..whole).map(|number| first + PER_WORD * number);
        self.words.extend(starts.map(|at| word(at, PER_WORD)));
        self.len += PER_WORD * whole;
        let at = first + PER_WORD * whole;
        if at < bases {
            self.push_word(word(at, bases - at), bases - at);
        }
    }

    /// 32 bases from number `at` on, the first most significant; beyond the end zeros.
    ///
    /// # Panics
    /// When `at` is not below the number of bases.
    #[inline]
    pub fn word(&self, at: usize) -> u64 {
        let (word, bits) = (at / PER_WORD, 2 * (at % PER_WORD) as u32);
        let next = self.words.get(word + 1).copied().unwrap_or(0);
        self.words[word] << bits | (next >> 1) >> (63 - bits)
    }

    /// The reverse complement of the `bases` bases before number `end`, the first most significant,
    /// behind them zeros.
    #[inline]
    fn reverse_word(&self, end: usize, bases: usize) -> u64 {
        reverse_pairs(!self.word(end - bases)) << (2 * (PER_WORD - bases))
    }

    /// True where the letters of the reverse complement come first in the order of letters.
    pub fn reverse_is_lesser(&self) -> bool {
        let word = |at: usize| {
            let bases = PER_WORD.min(self.len - at);
            let forward = self.word(at) & (u64::MAX << (2 * (PER_WORD - bases)));
            (self.reverse_word(self.len - at, bases), forward)
        };
        let differ = (0..self.len).step_by(PER_WORD).map(word);
        let first = differ
            .into_iter()
            .find(|(reverse, forward)| reverse != forward);
        first.is_some_and(|(reverse, forward)| reverse < forward)
    }

    /// The code of a base.
    ///
    /// # Panics
    /// When `at` is not below the number of bases.
    #[inline]
    pub fn base(&self, at: usize) -> u8 {
        (self.words[at / PER_WORD] >> (62 - 2 * (at % PER_WORD)) & 3) as u8
    }

    /// The k-mer of the `k` bases from number `at` on.
    ///
    /// # Panics
    /// When some of them are not there, or more than `32 * W`.
    #[inline]
    pub fn kmer<const W: usize>(&self, at: usize, k: usize) -> Kmer<W> {
        assert!(at + k <= self.len, "the k-mer is within the bases");
        let mut words = [0; W];
        let mut end = at + k;
        for word in words.iter_mut().rev() {
            let bases = PER_WORD.min(end - at);
            if bases > 0 {
                *word = self.word(end - bases) >> (2 * (PER_WORD - bases));
            }
            end -= bases;
        }
        assert!(end == at, "W words hold k bases");
        Kmer(words)
    }

    /// Appends the letters of a stretch to `text`.
    pub fn write_letters(&self, stretch: Range<usize>, text: &mut Vec<u8>) {
        text.reserve(stretch.len());
        let mut at = stretch.start;
        while at < stretch.end {
            let bases = PER_WORD.min(stretch.end - at);
            let word = self.word(at);
            text.extend((0..bases).map(|base| decode((word >> (62 - 2 * base) & 3) as u8)));
            at += bases;
        }
    }
}

#[cfg(test)]
mod tests {
    use gyrase_kmer::Shape;
    use gyrase_seq::reverse_complement;
    use proptest::prelude::*;

    use super::*;

    fn packed(letters: &[u8]) -> BaseString {
        let mut packed = BaseString::default();
        packed.push_letters(letters);
        packed
    }

    fn letters(packed: &BaseString) -> Vec<u8> {
        let mut text = Vec::new();
        packed.write_letters(0..packed.len(), &mut text);
        text
    }

    proptest! {
        #[test]
        fn stretches_are_those_of_the_letters(
            text in proptest::collection::vec(proptest::sample::select(b"ACGT".to_vec()), 1..200),
            before in proptest::collection::vec(proptest::sample::select(b"ACGT".to_vec()), 0..70),
            from: prop::sample::Index, to: prop::sample::Index,
        ) {
            let (from, to) = (from.index(text.len() + 1), to.index(text.len() + 1));
            let stretch = from.min(to)..from.max(to);
            let all = packed(&text);
            prop_assert_eq!(letters(&all), text.clone());
            let mut forward = packed(&before);
            let mut reverse = forward.clone();
            forward.append(&all, stretch.clone());
            reverse.append_reverse_complement(&all, stretch.clone());
            let joined = |other: &[u8]| [&before[..], other].concat();
            prop_assert_eq!(letters(&forward), joined(&text[stretch.clone()]));
            prop_assert_eq!(letters(&reverse), joined(&reverse_complement(&text[stretch.clone()])));
            let other = reverse_complement(&text);
            prop_assert_eq!(all.reverse_is_lesser(), other < text);
            prop_assert_eq!(&forward, &packed(&joined(&text[stretch])), "zeros behind the last");
        }

        #[test]
        fn kmers_are_those_of_the_letters(
            text in proptest::collection::vec(proptest::sample::select(b"ACGT".to_vec()), 170..300),
            before in 0..40usize,
        ) {
            for k in [1, 2, 31, 32, 33, 63, 64, 65, 96, 97, 126, 127] {
                let shape = Shape::new(k, false).unwrap();
                gyrase_kmer::with_words!(shape, W => {
                    let kmer = Kmer::<W>::from_letters(&text[before..before + k]).unwrap();
                    prop_assert_eq!(packed(&text).kmer::<W>(before, k), kmer);
                    let mut other = packed(&text[..before]);
                    other.push_kmer(kmer, k);
                    prop_assert_eq!(letters(&other), text[..before + k].to_vec());
                });
            }
        }
    }
}
