//! Sketches: the few k-mers that stand for a window of a sequence.
//!
//! A sequence is divided into **windows** of `window` letters that begin every `stride` letters; by
//! default neighbours overlap by k - 1, so that every k-mer is in exactly one. The **features** of
//! a window are hashes of its canonical k-mers, and its **sketch** is some of them, each once: a
//! look-up of few features finds the window that a read came from. There are two ways to choose:
//!
//! [`Choice::OneIn`], the default: one k-mer in so many ([`sampled_feature_of`]). Whether a k-mer
//! is chosen depends on it alone, so it is a feature of every sequence that has it, or of none.
//!
//! [`Choice::Smallest`]: the so many smallest hashes of the window ([`feature_of`]). Sketches have
//! one size, and similar windows share many of their smallest features; but the same k-mer is a
//! feature here and none there, as its neighbours have it (Broder 1997,
//! doi:10.1109/SEQUEN.1997.666900; Müller et al. 2017, doi:10.1093/bioinformatics/btx520).
//!
//! [`feature_of`]: crate::feature_of
//! [`sampled_feature_of`]: crate::sampled_feature_of

mod shape;

use std::ops::Range;

pub use shape::{Choice, SketchShape, SketchShapeError};

use crate::arch::{Kernels, MAX_LETTERS, Stretch};

/// Most letters of a window.
pub const MAX_WINDOW: usize = MAX_LETTERS;

/// Sketches sequences, window by window. Make one and use it for many.
#[derive(Debug)]
pub struct Sketcher {
    shape: SketchShape,
    kernels: Kernels,
    stretch: Stretch,
}

impl Sketcher {
    /// A sketcher on the fastest kernels that run here.
    pub fn new(shape: SketchShape) -> Sketcher {
        Sketcher::with_kernels(shape, Kernels::detect())
    }

    /// A sketcher on given kernels; the sketches are the same for all.
    pub fn with_kernels(shape: SketchShape, kernels: Kernels) -> Sketcher {
        Sketcher {
            shape,
            kernels,
            stretch: Stretch::default(),
        }
    }

    /// The shape that it was made for.
    pub fn shape(&self) -> SketchShape {
        self.shape
    }

    /// Calls `each` for every window of a sequence, in order, with its number from 0 and its
    /// features: ascending, distinct, as many as [`SketchShape::choice`] finds (none, where it
    /// finds none). k-mers over a letter that is no base are skipped.
    #[inline]
    pub fn sketch(&mut self, letters: &[u8], each: &mut impl FnMut(u32, &[u32])) {
        let (mut next, windows) = (0, self.shape.windows(letters.len()));
        while next < windows {
            let end = windows.min(next.saturating_add(self.shape.windows_of_stretch()));
            let stretch = self.shape.extent(next, letters.len()).start
                ..self.shape.extent(end - 1, letters.len()).end;
            self.sketch_stretch(&letters[stretch], next..end, each);
            next = end;
        }
    }

    #[inline]
    fn sketch_stretch(
        &mut self,
        letters: &[u8],
        windows: Range<u32>,
        each: &mut impl FnMut(u32, &[u32]),
    ) {
        if !self.kernels.pack(letters, &mut self.stretch) {
            return self.sketch_around_others(letters, windows, each);
        }
        self.hash(letters.len(), 0);
        let all = letters.len() + 1 - self.shape.k();
        let (mut before, mut chosen) = (0..0, 0..0);
        for (i, window) in windows.enumerate() {
            let start = i * self.shape.stride();
            let kmers = start..all.min(start + self.shape.kmers());
            if let Choice::OneIn(_) = self.shape.choice() {
                chosen.start += self.stretch.chosen_of(before.start..kmers.start);
                chosen.end += self.stretch.chosen_of(before.end..kmers.end);
                before = kmers;
            } else {
                chosen = kmers;
            }
            each(window, self.select(chosen.clone()));
        }
    }

    /// Makes hashes of the packed bases, from `at` on, to select from; returns how many.
    #[inline]
    fn hash(&mut self, bases: usize, at: usize) -> usize {
        match self.shape.choice() {
            Choice::Smallest(_) => {
                self.kernels
                    .features(bases, self.shape.k(), at, &mut self.stretch)
            }
            Choice::OneIn(one_in) => {
                self.kernels
                    .sampled(bases, self.shape.k(), one_in, at, &mut self.stretch)
            }
        }
    }

    /// The sketch of the k-mers of these hashes.
    #[inline]
    fn select(&mut self, hashes: Range<usize>) -> &[u32] {
        match self.shape.choice() {
            Choice::Smallest(features) => {
                self.kernels.smallest(hashes, features, &mut self.stretch)
            }
            Choice::OneIn(_) => self.kernels.distinct(hashes, &mut self.stretch),
        }
    }

    #[cold]
    fn sketch_around_others(
        &mut self,
        letters: &[u8],
        windows: Range<u32>,
        each: &mut impl FnMut(u32, &[u32]),
    ) {
        for (i, window) in windows.enumerate() {
            let mut hashes = 0;
            let extent = self.shape.extent(i as u32, letters.len());
            for bases in letters[extent].split(|&letter| gyrase_seq::encode(letter).is_none()) {
                if bases.len() >= self.shape.k() {
                    self.kernels.pack(bases, &mut self.stretch);
                    hashes += self.hash(bases.len(), hashes);
                }
            }
            each(window, self.select(0..hashes));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::feature::{FIRST, SALT, SECOND, feature_of, sampled_feature_of};
    use crate::{Kmer, mix};
    use proptest::prelude::*;

    /// The definition: windows one after the other while the one before ends early, k-mers one by
    /// one.
    fn naive(letters: &[u8], shape: SketchShape) -> Vec<Vec<u32>> {
        let mut sketches = Vec::new();
        let mut start = 0;
        while start + shape.k() <= letters.len() {
            let end = letters.len().min(start + shape.window());
            let kmers = letters[start..end]
                .windows(shape.k())
                .filter_map(Kmer::<1>::from_letters);
            let canonical = kmers.map(|kmer| kmer.canonical(shape.k()).0[0]);
            let (features, most): (BTreeSet<u32>, usize) = match shape.choice() {
                Choice::Smallest(most) => (
                    canonical.map(|word| feature_of(word as u32)).collect(),
                    most,
                ),
                Choice::OneIn(one_in) => (
                    canonical
                        .filter_map(|word| sampled_feature_of(word, shape.k(), one_in))
                        .collect(),
                    usize::MAX,
                ),
            };
            sketches.push(features.into_iter().take(most).collect());
            if end == letters.len() {
                break;
            }
            start += shape.stride();
        }
        sketches
    }

    fn sketches(letters: &[u8], shape: SketchShape, kernels: Kernels) -> Vec<Vec<u32>> {
        let mut sketches = Vec::new();
        Sketcher::with_kernels(shape, kernels).sketch(letters, &mut |window, features| {
            assert_eq!(window as usize, sketches.len());
            sketches.push(features.to_vec());
        });
        sketches
    }

    fn check(letters: &[u8], shape: SketchShape) {
        let expected = naive(letters, shape);
        assert_eq!(
            shape.windows(letters.len()) as usize,
            expected.len(),
            "{} letters, {shape:?}",
            letters.len()
        );
        for kernels in Kernels::available() {
            let found = sketches(letters, shape, kernels);
            assert_eq!(
                found,
                expected,
                "{kernels:?} {shape:?} {} letters",
                letters.len()
            );
        }
    }

    fn random(letters: usize, alphabet: &[u8], seed: u64) -> Vec<u8> {
        let letter = |i| alphabet[(mix(i ^ seed << 32) >> 32) as usize % alphabet.len()];
        (0..letters as u64).map(letter).collect()
    }

    fn shape(k: usize, window: usize, stride: usize, features: usize) -> SketchShape {
        SketchShape::new(k, window, stride, features).unwrap()
    }

    fn sampled(k: usize, window: usize, stride: usize, one_in: usize) -> SketchShape {
        SketchShape::sampled(k, window, stride, one_in).unwrap()
    }

    #[test]
    fn features_are_frozen() {
        let frozen = [
            (0, 0x8f9f_d54b),
            (1, 0x96c7_4c69),
            (2, 0x3126_2c8c),
            (0x1b, 0x4752_87f3),
            (0x00ff_ffff, 0x056a_9820),
            (0x1b1b_1b1b, 0x082d_4f24),
            (u32::MAX, 0x720f_2e20),
        ];
        for (canonical, feature) in frozen {
            assert_eq!(feature_of(canonical), feature, "{canonical:#x}");
        }
        let mut sketch = Vec::new();
        let letters = b"GATTACAGATTACCAGATTTACAGGATTACA";
        Sketcher::new(shape(16, 31, 16, 4)).sketch(letters, &mut |_, features| {
            sketch.extend_from_slice(features)
        });
        assert_eq!(sketch, [0x0803_9aed, 0x2f2c_0936, 0x44fd_bed9, 0x4ace_d956]);
    }

    #[test]
    fn sampled_features_are_frozen() {
        let frozen = [
            (1, 1, 1, Some(0xae45_efe1)),
            (8, 2, 0xdd70, Some(0x9425_660c)),
            (11, 1, 0x12_2349, Some(0x66dd_e9f6)),
            (12, 2, 0x92_2349, Some(0x71e6_210c)),
            (16, 3, 0xda4f_f288, Some(0x5357_b814)),
            (22, 5, 0, None),
            (22, 5, 0x04bd_da4f_f288, Some(0x9bd7_6f75)),
            (22, 7, 0x0b62_c775_d504, Some(0x6b18_5173)),
            (22, 20, 0x0b62_c775_d504, Some(0x6b18_5173)),
            (26, 6, 0x0009_e377_9b98_06dc, Some(0x075a_5d92)),
            (32, 5, 0x46f7_b6ba_f617_7720, Some(0x178c_18e4)),
            (32, 100, 0x02e9_cff4_768d_71a6, Some(0x14cd_79dc)),
        ];
        for (k, one_in, canonical, feature) in frozen {
            assert_eq!(
                sampled_feature_of(canonical, k, one_in),
                feature,
                "{canonical:#x}"
            );
        }
        let letters = b"GATTACAGATTACCAGATTTACAGGATTACACGTTAGC";
        let found = sketches(letters, sampled(22, 38, 8, 5), Kernels::Scalar);
        assert_eq!(found, [[0xa640_54e4, 0xbc42_237e, 0xd76b_7912]]);
    }

    #[test]
    fn features_give_their_kmers_back() {
        let inverse = |odd: u32| {
            (0..5).fold(odd, |x, _| {
                x.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(x)))
            })
        };
        for i in 0..100_000u32 {
            let canonical = i.wrapping_mul(0x9e37_79b1);
            let word = feature_of(canonical).wrapping_mul(inverse(SECOND));
            let word = (word ^ word >> 15 ^ word >> 30).wrapping_mul(inverse(FIRST));
            assert_eq!(word ^ SALT, canonical);
        }
    }

    /// The canonical k-mers that repeat a unit of so many bases.
    fn repeated(k: usize, period: u32) -> impl Iterator<Item = u64> {
        (0..4u8.pow(period)).map(move |unit| {
            let letters: Vec<u8> = (0..k)
                .map(|i| b"ACGT"[usize::from(unit >> (2 * (i % period as usize)) & 3)])
                .collect();
            Kmer::<1>::from_letters(&letters).unwrap().canonical(k).0[0]
        })
    }

    #[test]
    fn words_of_low_complexity_are_not_small() {
        for (k, period) in [(12, 2), (13, 2), (14, 2), (15, 2), (16, 2), (16, 3)] {
            let small = repeated(k, period).find(|&word| feature_of(word as u32) <= u32::MAX / 5);
            assert_eq!(small, None, "k={k}");
        }
    }

    #[test]
    fn words_that_repeat_a_short_unit_are_not_chosen() {
        for (k, one_in) in [
            (12, 2),
            (16, 3),
            (20, 4),
            (21, 5),
            (22, 5),
            (24, 5),
            (32, 8),
        ] {
            for period in 1..=2 {
                let chosen =
                    repeated(k, period).find(|&word| sampled_feature_of(word, k, one_in).is_some());
                assert_eq!(chosen, None, "k={k} one in {one_in} period {period}");
            }
        }
    }

    #[test]
    fn chosen_kmers_lie_evenly() {
        let letters = random(100_000, b"ACGT", 41);
        let chosen = |(at, kmer): (usize, &[u8])| {
            sampled_feature_of(Kmer::<1>::from_letters(kmer)?.canonical(22).0[0], 22, 5).map(|_| at)
        };
        let places: Vec<usize> = letters.windows(22).enumerate().filter_map(chosen).collect();
        let far = places
            .windows(2)
            .filter(|places| places[1] - places[0] > 10)
            .count();
        // Of k-mers that are chosen independently of each other, 0.8^10 would be as far from the
        // one before.
        assert!(far * 20 < places.len(), "{far} of {}", places.len());
    }

    #[test]
    fn windows_at_their_edges() {
        let default = shape(16, 127, 112, 16);
        let counts = [
            (0, 0),
            (15, 0),
            (16, 1),
            (127, 1),
            (128, 2),
            (150, 2),
            (239, 2),
            (240, 3),
            (351, 3),
            (352, 4),
        ];
        for (letters, windows) in counts {
            assert_eq!(default.windows(letters), windows, "{letters} letters");
        }
        assert_eq!(shape(1, 1, 1, 1).windows(u32::MAX as usize + 9), u32::MAX);
        assert_eq!(default.extent(1, 150), 112..150);
        for (k, window) in [
            (1, 1),
            (1, 2),
            (2, 2),
            (3, 7),
            (8, 8),
            (15, 16),
            (16, 16),
            (16, 17),
            (16, 40),
            (16, 127),
        ] {
            for stride in [1, 2, window / 2, window - k + 1, window - 1, window] {
                let (Ok(smallest), Ok(below)) = (
                    SketchShape::new(k, window, stride, 5),
                    SketchShape::sampled(k, window, stride, 2),
                ) else {
                    continue;
                };
                for n in 0..2 * window + 2 * stride + k + 3 {
                    check(&random(n, b"ACGT", n as u64), smallest);
                    check(&random(n, b"ACGT", n as u64), below);
                }
            }
        }
    }

    #[test]
    fn all_lengths_of_kmers_and_sizes_of_sketches() {
        let letters = random(700, b"ACGTacgtU", 1);
        for k in 1..=16 {
            for features in [1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64] {
                for window in [k, k + 1, 64, 127, 128, 143, 144, 300] {
                    check(&letters, shape(k, window, window - k + 1, features));
                }
            }
        }
    }

    #[test]
    fn all_lengths_of_kmers_and_shares() {
        let letters = random(700, b"ACGTacgtU", 1);
        for k in 1..=32 {
            for one_in in [1, 2, 5, 17, 1000] {
                for window in [k, k + 1, 64, 127, 128, 135, 144, 300] {
                    check(&letters, sampled(k, window, window - k + 1, one_in));
                    check(&letters, sampled(k, window, window.div_ceil(3), one_in));
                }
            }
        }
    }

    #[test]
    fn long_windows_and_sequences_of_many_stretches() {
        let letters = random(20_000, b"ACGT", 2);
        for window in [1000, 2048, 2049, 4000, 4080, 4095, 4096] {
            for (k, features) in [
                (1, 16),
                (4, 64),
                (9, 1),
                (13, 16),
                (14, 40),
                (16, 16),
                (16, 64),
            ] {
                check(&letters, shape(k, window, window - k + 1, features));
                check(&letters, shape(k, window, window, features));
                check(&letters[..6000], shape(k, window, 700, features));
            }
        }
        for (k, window, one_in) in [
            (24, 1000, 5),
            (31, 2049, 1),
            (32, 4096, 1),
            (32, 4096, 1000),
            (3, 4095, 2),
        ] {
            check(&letters, sampled(k, window, window - k + 1, one_in));
            check(&letters, sampled(k, window, window, one_in));
            check(&letters[..6000], sampled(k, window, 700, one_in));
        }
        check(&letters, SketchShape::default());
        check(&letters[..5000], shape(16, 127, 1, 16));
        check(&letters[..5000], sampled(24, 135, 1, 5));
    }

    #[test]
    fn repeats_and_letters_that_are_no_bases() {
        let mut holes = random(9000, b"ACGT", 3);
        holes[100..4500]
            .iter_mut()
            .step_by(61)
            .for_each(|letter| *letter = b'N');
        holes[4700..6000].fill(b'n');
        holes[6100..8000]
            .iter_mut()
            .step_by(15)
            .for_each(|letter| *letter = b'R');
        let repeats = [
            vec![b'A'; 9000],
            b"AC".repeat(4500),
            b"ACGTTGCA".repeat(1100),
            random(9000, b"AAAAAAAAAT", 4),
        ];
        for letters in repeats
            .iter()
            .chain([&holes, &vec![b'N'; 9000], &b"N".to_vec()])
        {
            for (k, window, features) in [
                (16, 127, 16),
                (16, 1000, 64),
                (3, 30, 4),
                (12, 4096, 32),
                (1, 1, 1),
            ] {
                check(letters, shape(k, window, window - k + 1, features));
            }
            for (k, window, one_in) in [
                (24, 135, 5),
                (32, 1000, 1),
                (3, 30, 4),
                (12, 4096, 32),
                (1, 1, 1),
            ] {
                check(letters, sampled(k, window, window - k + 1, one_in));
            }
        }
    }

    #[test]
    fn a_stretch_between_other_letters_is_sketched_as_by_itself() {
        let bases = random(60, b"ACGT", 5);
        let letters = [&b"NN"[..], &bases, b"-"].concat();
        let shape = SketchShape::default();
        assert_eq!(
            sketches(&letters, shape, Kernels::detect()),
            sketches(&bases, shape, Kernels::detect())
        );
    }

    #[test]
    fn both_strands_and_both_cases_have_the_same_sketch() {
        for k in 1..=32 {
            for (window, letters) in [
                (127, random(127, b"ACGT", 6)),
                (1500, random(1500, b"ACGTN", 7)),
            ] {
                let smallest = SketchShape::new(k, window, window, 16).ok();
                let shapes = smallest.into_iter().chain([sampled(k, window, window, 5)]);
                for (shape, kernels) in shapes.flat_map(|shape| {
                    Kernels::available()
                        .into_iter()
                        .map(move |one| (shape, one))
                }) {
                    let forward = sketches(&letters, shape, kernels);
                    assert_eq!(
                        forward,
                        sketches(&gyrase_seq::reverse_complement(&letters), shape, kernels),
                        "k={k}"
                    );
                    assert_eq!(
                        forward,
                        sketches(&letters.to_ascii_lowercase(), shape, kernels),
                        "k={k}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_kmer_is_chosen_whatever_is_around_it() {
        let inner = random(40, b"ACGT", 8);
        let chosen: BTreeSet<u32> = sketches(&inner, sampled(24, 40, 17, 3), Kernels::detect())
            .concat()
            .into_iter()
            .collect();
        assert!(chosen.len() > 1);
        for seed in 9..30 {
            let letters = [
                random(300, b"ACGT", seed),
                inner.clone(),
                random(200, b"ACGTN", seed + 50),
            ]
            .concat();
            let all = sketches(&letters, sampled(24, 135, 112, 3), Kernels::detect()).concat();
            assert!(chosen.iter().all(|feature| all.contains(feature)));
        }
    }

    #[test]
    fn so_many_are_chosen() {
        let letters = random(200_000, b"ACGT", 31);
        for one_in in [1, 2, 5, 50] {
            let chosen: usize =
                sketches(&letters, sampled(24, 135, 112, one_in), Kernels::detect())
                    .iter()
                    .map(Vec::len)
                    .sum();
            let expected = letters.len() / one_in;
            assert!(
                chosen.abs_diff(expected) < expected / 10,
                "{chosen} instead of {expected}"
            );
        }
    }

    proptest! {
        #[test]
        fn every_kernel_follows_the_definition(
            letters in prop_oneof![
                prop::collection::vec(prop::sample::select(b"ACGT".to_vec()), 0..900),
                prop::collection::vec(prop::sample::select(b"ACGTacgtuNNR-".to_vec()), 0..300),
                prop::collection::vec(prop::sample::select(b"AAAAAC".to_vec()), 0..900),
            ],
            k in 1..=16usize,
            longer in 0..400usize,
            stride in 1..400usize,
            features in 1..=64usize,
        ) {
            let window = k + longer;
            check(&letters, shape(k, window, stride.min(window), features));
            let window = 2 * k + longer;
            check(&letters, sampled(2 * k - features % 2, window, stride.min(window), features));
        }
    }
}
