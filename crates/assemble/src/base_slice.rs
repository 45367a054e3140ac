//! Stretches of sequences of bases.

use std::cmp::Ordering;
use std::ops::Range;

use gyrase_kmer::Kmer;

use crate::BaseString;
use crate::base_string::PER_WORD;

/// Bases that are expanded to codes at a time.
const AT_ONCE: usize = 8;

/// A stretch of a sequence of bases: it compares as its letters do.
#[derive(Clone, Copy, Debug)]
pub struct BaseSlice<'b> {
    bases: &'b BaseString,
    start: usize,
    end: usize,
}

impl<'b> BaseSlice<'b> {
    /// A stretch of a sequence.
    ///
    /// # Panics
    /// When some of it is not there.
    #[inline]
    pub fn of(bases: &'b BaseString, stretch: Range<usize>) -> BaseSlice<'b> {
        let Range { start, end } = stretch;
        assert!(start <= end && end <= bases.len(), "the stretch is there");
        BaseSlice { bases, start, end }
    }

    /// All of a sequence.
    pub fn whole(bases: &'b BaseString) -> BaseSlice<'b> {
        BaseSlice::of(bases, 0..bases.len())
    }

    /// How many bases.
    #[inline]
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// True when there is none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// A stretch of this one.
    ///
    /// # Panics
    /// When some of it is not there.
    #[inline]
    pub fn slice(self, stretch: Range<usize>) -> BaseSlice<'b> {
        assert!(stretch.end <= self.len(), "the stretch is there");
        BaseSlice::of(
            self.bases,
            self.start + stretch.start..self.start + stretch.end,
        )
    }

    /// What is behind the first so many.
    ///
    /// # Panics
    /// When there are not as many.
    #[inline]
    pub fn behind(self, bases: usize) -> BaseSlice<'b> {
        self.slice(bases..self.len())
    }

    /// The code of a base.
    ///
    /// # Panics
    /// When it is not there.
    #[inline]
    pub fn base(self, at: usize) -> u8 {
        assert!(at < self.len(), "the base is there");
        self.bases.base(self.start + at)
    }

    /// The k-mer of the `k` bases from number `at` on.
    ///
    /// # Panics
    /// When some of them are not there, or more than `32 * W`.
    #[inline]
    pub fn kmer<const W: usize>(self, at: usize, k: usize) -> Kmer<W> {
        assert!(at + k <= self.len(), "the k-mer is within the bases");
        self.bases.kmer(self.start + at, k)
    }

    /// The bases in words of 32, the first most significant, behind the last base zeros.
    pub fn words(self) -> impl Iterator<Item = u64> {
        (self.start..self.end).step_by(PER_WORD).map(move |at| {
            let behind = PER_WORD - PER_WORD.min(self.end - at);
            self.bases.word(at) & (u64::MAX << (2 * behind))
        })
    }

    /// Appends the bases to a sequence.
    pub fn append_to(self, other: &mut BaseString) {
        other.append(self.bases, self.start..self.end);
    }

    /// Appends their reverse complement to a sequence.
    pub fn append_reverse_complement_to(self, other: &mut BaseString) {
        other.append_reverse_complement(self.bases, self.start..self.end);
    }

    /// Appends the codes of the bases, one a byte.
    pub fn append_codes(self, codes: &mut Vec<u8>) {
        let end = codes.len() + self.len();
        codes.reserve(self.len() + PER_WORD);
        for at in (self.start..self.end).step_by(PER_WORD) {
            let word = self.bases.word(at);
            for eight in 0..PER_WORD / AT_ONCE {
                codes.extend(expanded(word, eight).to_le_bytes());
            }
        }
        codes.truncate(end);
    }

    /// The codes of the bases, one a byte.
    pub fn codes(self) -> Vec<u8> {
        let mut codes = Vec::new();
        self.append_codes(&mut codes);
        codes
    }

    /// How many bases at the beginning are those of some codes; what is no base is equal to none.
    #[inline]
    pub fn equal(self, codes: &[u8]) -> usize {
        let most = self.len().min(codes.len());
        let (eights, rest) = codes[..most].as_chunks::<AT_ONCE>();
        for (words, some) in eights.chunks(PER_WORD / AT_ONCE).enumerate() {
            let word = self.bases.word(self.start + PER_WORD * words);
            for (number, eight) in some.iter().enumerate() {
                let differ = expanded(word, number) ^ u64::from_le_bytes(*eight);
                if differ != 0 {
                    let equal = (differ.trailing_zeros() / u8::BITS) as usize;
                    return PER_WORD * words + AT_ONCE * number + equal;
                }
            }
        }
        let from = most - rest.len();
        let mut pairs = (from..most).zip(rest);
        let differ = pairs.find(|&(at, &code)| self.bases.base(self.start + at) != code);
        differ.map_or(most, |(at, _)| at)
    }
}

/// The codes of eight bases of a word, in as many bytes: of the first eight, or those behind.
#[inline(always)]
fn expanded(word: u64, eight: usize) -> u64 {
    let pairs = word >> (48 - 16 * eight) & 0xffff;
    let pairs = (pairs | pairs << 24) & 0x0000_00ff_0000_00ff;
    let pairs = (pairs | pairs << 12) & 0x000f_000f_000f_000f;
    let pairs = (pairs | pairs << 6) & 0x0303_0303_0303_0303;
    pairs.swap_bytes()
}

impl Ord for BaseSlice<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let most = self.len().min(other.len());
        for at in (0..most).step_by(PER_WORD) {
            let unused = 2 * (PER_WORD - PER_WORD.min(most - at)) as u32;
            let [one, two] = [self, other].map(|own| own.bases.word(own.start + at) >> unused);
            if one != two {
                return one.cmp(&two);
            }
        }
        self.len().cmp(&other.len())
    }
}

impl PartialOrd for BaseSlice<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for BaseSlice<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.cmp(other) == Ordering::Equal
    }
}

impl Eq for BaseSlice<'_> {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packed(codes: &[u8]) -> BaseString {
        let mut packed = BaseString::default();
        packed.push_codes(codes);
        packed
    }

    proptest! {
        #[test]
        fn a_slice_is_what_its_codes_are(
            codes in proptest::collection::vec(0..4_u8, 1..200),
            other in proptest::collection::vec(0..5_u8, 0..150),
            shared in 0..150_usize,
            from: prop::sample::Index, to: prop::sample::Index,
        ) {
            let (from, to) = (from.index(codes.len() + 1), to.index(codes.len() + 1));
            let stretch = from.min(to)..from.max(to);
            let all = packed(&codes);
            let (slice, own) = (BaseSlice::of(&all, stretch.clone()), &codes[stretch]);
            prop_assert_eq!(slice.codes(), own);
            prop_assert!(slice.words().eq(BaseSlice::whole(&packed(own)).words()));
            let mut reads = own[..shared.min(own.len())].to_vec();
            reads.extend(&other);
            let equal = own.iter().zip(&reads).take_while(|(one, other)| one == other).count();
            prop_assert_eq!(slice.equal(&reads), equal);
            let bases: Vec<u8> = reads.iter().map(|code| code % 4).collect();
            let others = packed(&bases);
            let others = BaseSlice::of(&others, 0..bases.len());
            prop_assert_eq!(slice.cmp(&others), own.cmp(&bases));
            prop_assert_eq!(slice == others, own == bases);
        }
    }
}
