//! Kernels that are chosen at run time: packing letters, finding the minimizer of every k-mer,
//! hashing k-mers to features, selecting the smallest, and choosing k-mers by their hashes.
//!
//! Each operation has the same name and shape in every file of this folder; [`scalar`] is the
//! definition that the others are tested against. [`Kernels::detect`] chooses once; the choice
//! never changes a result.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;
mod stretch;

use std::ops::Range;

use gyrase_work::Vectors;

pub(crate) use scalar::minimizers_by_letters;
pub use stretch::{MAX_LETTERS, MinimizerScheme, Stretch};

use crate::Shape;
use crate::feature::{MAX_FEATURE_K, MAX_FEATURES, MAX_ONE_IN, MAX_SAMPLED_K, Sampling};

/// A bound that `most` of so many hashes likely keep, and not many more: half as many more at
/// `most` = 16. None for so few that sorting all costs no more.
#[inline]
fn likely_limit(hashes: usize, most: usize) -> u32 {
    let expected = most + 2 * most.isqrt();
    if hashes <= expected.max(32) {
        u32::MAX
    } else {
        (((expected as u64) << 32) / hashes as u64) as u32
    }
}

/// A set of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// Portable code.
    Scalar,
    /// 256-bit x86 vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512-bit x86 vectors.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// All sets, slowest first, and what each needs.
const SETS: &[(Vectors, Kernels)] = &[
    (Vectors::Portable, Kernels::Scalar),
    #[cfg(target_arch = "x86_64")]
    (Vectors::Avx2, Kernels::Avx2),
    #[cfg(target_arch = "x86_64")]
    (Vectors::Avx512, Kernels::Avx512),
];

impl Kernels {
    /// The fastest set that this processor runs.
    pub fn detect() -> Kernels {
        let mut sets = Vectors::running(SETS);
        sets.next_back().expect("portable code is always there")
    }

    /// Every set that this processor runs, slowest first.
    pub fn available() -> Vec<Kernels> {
        Vectors::running(SETS).collect()
    }

    /// Packs letters; false when one of them is no base (the packed bases are of no use then).
    ///
    /// # Panics
    /// When there are more than [`MAX_LETTERS`].
    #[allow(unsafe_code)]
    pub fn pack(self, letters: &[u8], stretch: &mut Stretch) -> bool {
        assert!(letters.len() <= MAX_LETTERS);
        match self {
            Kernels::Scalar => scalar::pack(letters, &mut stretch.packed),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` saw the feature; `packed` has SLACK bytes beyond MAX_LETTERS / 4.
            Kernels::Avx2 => unsafe { avx2::pack(letters, &mut stretch.packed) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Kernels::Avx512 => unsafe { avx512::pack(letters, &mut stretch.packed) },
        }
    }

    /// Fills `hashes` and `changes` for the k-mers of `letters` packed bases; returns how many
    /// k-mers there are.
    ///
    /// # Panics
    /// When `letters` exceeds [`MAX_LETTERS`] or `window.m` is not 1 to 13.
    #[allow(unsafe_code)]
    pub fn minimizers(
        self,
        letters: usize,
        window: MinimizerScheme,
        stretch: &mut Stretch,
    ) -> usize {
        assert!(letters <= MAX_LETTERS && (1..=13).contains(&window.m) && window.w >= 1);
        let Some(kmers) = (letters + 2)
            .checked_sub(window.m + window.w)
            .filter(|&kmers| kmers > 0)
        else {
            return 0;
        };
        let mmers = kmers + window.w - 1;
        match self {
            Kernels::Scalar => scalar::minimizers(mmers, kmers, window, stretch),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` saw the feature; every buffer of a stretch has SLACK elements
            // beyond MAX_LETTERS.
            Kernels::Avx2 => unsafe { avx2::minimizers(mmers, kmers, window, stretch) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Kernels::Avx512 => unsafe { avx512::minimizers(mmers, kmers, window, stretch) },
        }
        kmers
    }

    /// Writes to `hashes`, from `at` on, the feature of every k-mer of `letters` packed bases
    /// ([`crate::feature_of`]); returns how many k-mers there are.
    ///
    /// # Panics
    /// When `k` is not 1 to 16 or `at` and `letters` together exceed [`MAX_LETTERS`].
    #[allow(unsafe_code)]
    pub fn features(self, letters: usize, k: usize, at: usize, stretch: &mut Stretch) -> usize {
        assert!(
            (1..=MAX_FEATURE_K).contains(&k)
                && letters <= MAX_LETTERS
                && at <= MAX_LETTERS - letters
        );
        let kmers = (letters + 1).saturating_sub(k);
        match self {
            Kernels::Scalar => scalar::features(kmers, k, at, stretch),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` saw the feature; every buffer of a stretch has SLACK elements
            // beyond MAX_LETTERS.
            Kernels::Avx2 => unsafe { avx2::features(kmers, k, at, stretch) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Kernels::Avx512 => unsafe { avx512::features(kmers, k, at, stretch) },
        }
        kmers
    }

    /// The `most` smallest distinct of `hashes[range]`, ascending; all distinct ones when there are
    /// no more.
    ///
    /// # Panics
    /// When `most` is not 1 to 64 or `range` exceeds [`MAX_LETTERS`].
    #[inline]
    pub fn smallest(self, range: Range<usize>, most: usize, stretch: &mut Stretch) -> &[u32] {
        assert!(
            (1..=MAX_FEATURES).contains(&most)
                && range.start <= range.end
                && range.end <= MAX_LETTERS
        );
        let mut limit = likely_limit(range.len(), most);
        loop {
            let found = self.smallest_within(limit, range.clone(), most, stretch);
            if found == most || limit == u32::MAX {
                return &stretch.chosen[..found];
            }
            limit = limit.saturating_mul(4);
        }
    }

    /// Writes to `hashes`, from `at` on and in order, the features of those of the k-mers of
    /// `letters` packed bases that are chosen when one in `one_in` is
    /// ([`crate::sampled_feature_of`]), and marks them in `changes`; returns how many they are.
    ///
    /// # Panics
    /// When `k` is not 1 to 32, `one_in` is not 1 to 1000, or `at` and `letters` together exceed
    /// [`MAX_LETTERS`].
    #[inline]
    #[allow(unsafe_code)]
    pub fn sampled(
        self,
        letters: usize,
        k: usize,
        one_in: usize,
        at: usize,
        stretch: &mut Stretch,
    ) -> usize {
        assert!((1..=MAX_SAMPLED_K).contains(&k) && (1..=MAX_ONE_IN).contains(&one_in));
        assert!(letters <= MAX_LETTERS && at <= MAX_LETTERS - letters);
        let kmers = (letters + 1).saturating_sub(k);
        let sampling = Sampling::new(k, one_in);
        self.mark(letters, kmers, sampling, at, stretch);
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` saw the features; every buffer of a stretch has SLACK elements
            // beyond MAX_LETTERS.
            Kernels::Avx512 => unsafe { avx512::sampled(kmers, k, sampling.limit, at, stretch) },
            _ => scalar::sampled(kmers, k, sampling.limit, at, stretch),
        }
    }

    /// Marks in `changes` the k-mers that their s-mers allow to be chosen.
    #[inline]
    #[allow(unsafe_code)]
    fn mark(
        self,
        letters: usize,
        kmers: usize,
        sampling: Sampling,
        at: usize,
        stretch: &mut Stretch,
    ) {
        if sampling.smers == 0 {
            return stretch.changes[..kmers.div_ceil(64)].fill(u64::MAX);
        }
        self.features(letters, sampling.s, at, stretch);
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` saw the feature; every buffer of a stretch has SLACK elements
            // beyond MAX_LETTERS, and a k-mer has fewer s-mers than bases.
            Kernels::Avx512 => unsafe { avx512::mark(kmers, sampling, at, stretch) },
            _ => scalar::mark(kmers, sampling, at, stretch),
        }
    }

    /// The distinct of `hashes[range]`, ascending.
    ///
    /// # Panics
    /// When `range` exceeds [`MAX_LETTERS`].
    #[inline]
    pub fn distinct(self, range: Range<usize>, stretch: &mut Stretch) -> &[u32] {
        assert!(range.start <= range.end && range.end <= MAX_LETTERS);
        let found = self.smallest_within(u32::MAX, range.clone(), range.len(), stretch);
        &stretch.chosen[..found]
    }

    /// Moves the `most` smallest distinct of those of `hashes[range]` that are at most `limit` to
    /// the front of `chosen`.
    #[inline]
    #[allow(unsafe_code)]
    fn smallest_within(
        self,
        limit: u32,
        range: Range<usize>,
        most: usize,
        stretch: &mut Stretch,
    ) -> usize {
        match self {
            Kernels::Scalar => scalar::smallest(limit, range, most, stretch),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` saw the features; the callers checked the range, behind which
            // there are SLACK elements, as in `chosen`.
            Kernels::Avx2 => unsafe { avx2::smallest(limit, range, most, stretch) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Kernels::Avx512 => unsafe { avx512::smallest(limit, range, most, stretch) },
        }
    }

    /// Writes to `keys[..kmers]` the keys of the k-mers of `shape` (of k up to 32) in `packed`
    /// bases: two bits each, the first lowest, zero beyond the last.
    ///
    /// # Panics
    /// When `keys` has no room for `kmers` and 7 more, or 64 bases do not hold that many k-mers.
    #[inline]
    #[allow(unsafe_code)]
    pub fn keys(self, packed: u128, kmers: usize, shape: Shape, keys: &mut [u64]) {
        assert!(
            shape.words() == 1 && (1..=65 - shape.k()).contains(&kmers) && kmers + 7 <= keys.len()
        );
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` saw the feature; `keys` has room for a whole vector at the end.
            Kernels::Avx512 => unsafe { avx512::keys(packed, kmers, shape, keys) },
            _ => scalar::keys(packed, kmers, shape, keys),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kmer, minimizer_hash};

    fn letters(n: usize, seed: u64) -> Vec<u8> {
        (0..n as u64)
            .map(|i| b"ACGTacgtU"[(crate::mix(seed ^ i.wrapping_mul(77)) >> 32) as usize % 9])
            .collect()
    }

    fn naive(letters: &[u8], window: MinimizerScheme) -> Vec<u32> {
        let hash = |mmer: &[u8]| {
            let kmer = Kmer::<1>::from_letters(mmer).unwrap();
            minimizer_hash(kmer.canonical(window.m).0[0] as u32)
        };
        let kmers = letters.windows(window.m + window.w - 1);
        kmers
            .map(|kmer| kmer.windows(window.m).map(hash).min().unwrap())
            .collect()
    }

    #[test]
    fn all_kernels_follow_the_definition() {
        for kernels in Kernels::available() {
            let mut stretch = Stretch::default();
            for k in [
                1, 2, 3, 7, 8, 9, 12, 17, 21, 31, 32, 33, 55, 63, 64, 65, 96, 127,
            ] {
                let shape = Shape::new(k, false).unwrap();
                let window = MinimizerScheme {
                    m: shape.m(),
                    w: shape.window(),
                };
                for n in (0..140).chain([150, 151, 250, 1000, MAX_LETTERS - 1, MAX_LETTERS]) {
                    let letters = letters(n, (k * 5000 + n) as u64);
                    assert!(kernels.pack(&letters, &mut stretch));
                    let kmers = kernels.minimizers(n, window, &mut stretch);
                    let expected = naive(&letters, window);
                    assert_eq!(
                        &stretch.hashes[..kmers],
                        expected,
                        "{kernels:?} k={k} n={n}"
                    );
                    for i in 0..kmers {
                        let changed = i == 0 || expected[i] != expected[i - 1];
                        assert_eq!(
                            stretch.changes[i / 64] >> (i % 64) & 1 == 1,
                            changed,
                            "{kernels:?} k={k} n={n} i={i}"
                        );
                    }
                    if !kmers.is_multiple_of(64) {
                        assert_eq!(
                            stretch.changes[kmers / 64] >> (kmers % 64),
                            0,
                            "{kernels:?} k={k} n={n}: no bit beyond the end"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn all_kernels_hash_kmers_to_features() {
        for kernels in Kernels::available() {
            let mut stretch = Stretch::default();
            for k in 1..=16 {
                for n in (0..140).chain([150, 1000, MAX_LETTERS - 1, MAX_LETTERS]) {
                    let letters = letters(n, (k * 5000 + n) as u64);
                    assert!(kernels.pack(&letters, &mut stretch));
                    let at = (MAX_LETTERS - n).min(n % 7);
                    stretch.hashes[..at].fill(9);
                    let kmers = kernels.features(n, k, at, &mut stretch);
                    let canonical =
                        |kmer| Kmer::<1>::from_letters(kmer).unwrap().canonical(k).0[0] as u32;
                    let expected: Vec<u32> = letters
                        .windows(k)
                        .map(|kmer| crate::feature_of(canonical(kmer)))
                        .collect();
                    assert_eq!(
                        &stretch.hashes[at..at + kmers],
                        expected,
                        "{kernels:?} k={k} n={n}"
                    );
                    assert!(
                        stretch.hashes[..at].iter().all(|&hash| hash == 9),
                        "nothing before is touched"
                    );
                }
            }
        }
    }

    #[test]
    fn all_kernels_choose_kmers_by_their_hash() {
        for kernels in Kernels::available() {
            let mut stretch = Stretch::default();
            for (k, one_in) in (1..=32).flat_map(|k| [(k, 1), (k, 5), (k, 1000)]) {
                for n in (0..140).chain([1000, MAX_LETTERS - 1, MAX_LETTERS]) {
                    let letters = letters(n, (k * 5000 + n) as u64);
                    assert!(kernels.pack(&letters, &mut stretch));
                    let at = (MAX_LETTERS - n).min(n % 7);
                    stretch.hashes[..at].fill(9);
                    let found = kernels.sampled(n, k, one_in, at, &mut stretch);
                    let feature = |kmer| {
                        crate::sampled_feature_of(
                            Kmer::<1>::from_letters(kmer)?.canonical(k).0[0],
                            k,
                            one_in,
                        )
                    };
                    let features: Vec<Option<u32>> = letters.windows(k).map(feature).collect();
                    let expected: Vec<u32> = features.iter().copied().flatten().collect();
                    assert_eq!(
                        &stretch.hashes[at..at + found],
                        expected,
                        "{kernels:?} k={k} n={n} one in {one_in}"
                    );
                    assert!(
                        stretch.hashes[..at].iter().all(|&hash| hash == 9),
                        "nothing before is touched"
                    );
                    for (start, end) in [
                        (0, features.len()),
                        (n / 3, n / 2),
                        (n / 5, n / 5),
                        (0, n / 64 * 64),
                    ] {
                        let range = start.min(features.len())..end.min(features.len());
                        let chosen = features[range.clone()].iter().flatten().count();
                        assert_eq!(
                            stretch.chosen_of(range),
                            chosen,
                            "{kernels:?} k={k} {start} to {end} of {n}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn all_kernels_sort_and_keep_the_distinct() {
        for kernels in Kernels::available() {
            let mut stretch = Stretch::default();
            for (start, n) in
                (0..200)
                    .map(|n| (n % 19, n))
                    .chain([(0, MAX_LETTERS), (4090, 6), (9, 500)])
            {
                for different in [u64::MAX, 40, 2, 1] {
                    for (i, hash) in stretch.hashes.iter_mut().enumerate() {
                        *hash = ((crate::mix((i + n) as u64) >> 3) % different) as u32;
                        *hash = hash.wrapping_sub(1);
                    }
                    let mut expected = stretch.hashes[start..start + n].to_vec();
                    expected.sort_unstable();
                    expected.dedup();
                    let found = kernels.distinct(start..start + n, &mut stretch);
                    assert_eq!(found, expected, "{kernels:?} {different} n={n}");
                }
            }
        }
    }

    #[test]
    fn all_kernels_select_the_smallest() {
        let mut stretch = Stretch::default();
        for (kind, different) in [u64::MAX, 1000, 50, 3, 1].into_iter().enumerate() {
            for (start, n) in (0..200).map(|n| (n % 19, n)).chain([
                (0, MAX_LETTERS),
                (5, 4000),
                (4090, 6),
                (9, 500),
            ]) {
                for (i, hash) in stretch.hashes.iter_mut().enumerate() {
                    let draw = crate::mix((i + n) as u64) >> 3;
                    // The largest and the smallest number are among the few different ones.
                    *hash = if kind == 0 {
                        draw as u32
                    } else {
                        ((draw % different) as u32).wrapping_sub(1)
                    };
                }
                let mut expected = stretch.hashes[start..start + n].to_vec();
                expected.sort_unstable();
                expected.dedup();
                for most in [1, 2, 15, 16, 17, 31, 32, 33, 63, 64] {
                    for kernels in Kernels::available() {
                        let found = kernels.smallest(start..start + n, most, &mut stretch);
                        assert_eq!(
                            found,
                            &expected[..most.min(expected.len())],
                            "{kernels:?} {different} n={n} {most}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn all_kernels_refuse_every_other_letter() {
        for kernels in Kernels::available() {
            let mut stretch = Stretch::default();
            for letter in 0..=255u8 {
                for (n, at) in [(1, 0), (31, 30), (32, 31), (64, 40), (70, 69), (150, 64)] {
                    let mut letters = letters(n, 3);
                    letters[at] = letter;
                    let valid = gyrase_seq::encode(letter).is_some();
                    assert_eq!(
                        kernels.pack(&letters, &mut stretch),
                        valid,
                        "{kernels:?} {letter} at {at} of {n}"
                    );
                }
            }
        }
    }
}
