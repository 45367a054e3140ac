//! Sketches: the few k-mers that stand for a window of a sequence.
//!
//! A sequence is divided into **windows** of `window` letters that begin every `stride` letters; by default neighbours overlap
//! by k - 1, so that every k-mer is in exactly one. The **features** of a window are the hashes ([`feature_of`]) of its canonical k-mers, and its
//! **sketch** is the smallest few of them, each once. Similar windows share many of their smallest features, whatever else they
//! hold: a look-up of few features finds the window that a read came from
//! (Broder 1997, doi:10.1109/SEQUEN.1997.666900; Müller et al. 2017, doi:10.1093/bioinformatics/btx520).

use std::ops::Range;

use crate::arch::{Kernels, MAX_LETTERS, Stretch};

/// The longest k of a feature: its k-mers fill 32 bits.
pub const MAX_FEATURE_K: usize = 16;

/// Most letters of a window.
pub const MAX_WINDOW: usize = MAX_LETTERS;

/// Most features of a sketch.
pub const MAX_FEATURES: usize = 64;

pub(crate) const SALT: u32 = 0x741b_8175;
pub(crate) const FIRST: u32 = 0x21f0_aaad;
pub(crate) const SECOND: u32 = 0x735a_2d97;

/// The feature of a k-mer, given as the two-bit value of its canonical form: a bijection of 32-bit words, so equal features of
/// one k are equal k-mers. Part of the file format.
///
/// Two rounds of multiplication make the order of features independent of the order of k-mers, and the salt keeps
/// the commonest low-complexity words from being the smallest, as which they would be in every sketch near them: for k from 12 to 16 words
/// of period 1 and 2, and for k = 16 those of period 3, have features in the upper four fifths; no sketch takes them while it has a choice.
#[inline(always)]
pub const fn feature_of(canonical: u32) -> u32 {
    let word = (canonical ^ SALT).wrapping_mul(FIRST);
    (word ^ word >> 15).wrapping_mul(SECOND)
}

/// How sequences are divided into windows and how windows are sketched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SketchShape {
    k: usize,
    window: usize,
    stride: usize,
    features: usize,
}

/// A shape of sketches that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SketchShapeError {
    /// The k-mers do not fit a feature, or are empty.
    #[error("the k of sketches must be from 1 to {MAX_FEATURE_K}, not {0}")]
    K(usize),
    /// A window holds no k-mer, or is too long.
    #[error("a window must have from {k} (the length of a k-mer) to {MAX_WINDOW} letters, not {window}")]
    Window {
        /// Letters of a k-mer.
        k: usize,
        /// Letters of the window that was asked for.
        window: usize,
    },
    /// Windows do not advance, or leave letters out.
    #[error("the stride must be from 1 to {window} (the letters of a window), not {stride}")]
    Stride {
        /// Letters of a window.
        window: usize,
        /// The stride that was asked for.
        stride: usize,
    },
    /// No features, or too many.
    #[error("a sketch must have from 1 to {MAX_FEATURES} features, not {0}")]
    Features(usize),
}

impl Default for SketchShape {
    /// k = 16 and 16 features of windows of 127 letters that begin every 112.
    fn default() -> SketchShape {
        SketchShape { k: 16, window: 127, stride: 112, features: 16 }
    }
}

impl SketchShape {
    /// k-mers of `k` bases (1 to [`MAX_FEATURE_K`]); windows of `window` letters (k to [`MAX_WINDOW`]) that begin every `stride` letters (1
    /// to `window`; above `window - k + 1` some k-mers are in no window); sketches of up to `features` (1 to [`MAX_FEATURES`]).
    pub fn new(k: usize, window: usize, stride: usize, features: usize) -> Result<SketchShape, SketchShapeError> {
        if !(1..=MAX_FEATURE_K).contains(&k) {
            return Err(SketchShapeError::K(k));
        }
        if !(k..=MAX_WINDOW).contains(&window) {
            return Err(SketchShapeError::Window { k, window });
        }
        if !(1..=window).contains(&stride) {
            return Err(SketchShapeError::Stride { window, stride });
        }
        if !(1..=MAX_FEATURES).contains(&features) {
            return Err(SketchShapeError::Features(features));
        }
        Ok(SketchShape { k, window, stride, features })
    }

    /// Bases of a k-mer, 1 to [`MAX_FEATURE_K`].
    pub fn k(self) -> usize {
        self.k
    }

    /// Letters of a window, k to [`MAX_WINDOW`].
    pub fn window(self) -> usize {
        self.window
    }

    /// Letters from the begin of one window to the begin of the next, 1 to [`SketchShape::window`].
    pub fn stride(self) -> usize {
        self.stride
    }

    /// Features of a sketch at most, 1 to [`MAX_FEATURES`].
    pub fn features(self) -> usize {
        self.features
    }

    /// How many windows a sequence of so many letters has: none when it is shorter than k, else the first and every other
    /// that has a k-mer and whose predecessor ends before the sequence does. At most `u32::MAX`: later ones are not sketched.
    pub fn windows(self, letters: usize) -> u32 {
        let Some(last_kmer) = letters.checked_sub(self.k) else { return 0 };
        let beyond_the_first = letters.saturating_sub(self.window).div_ceil(self.stride);
        u32::try_from(1 + beyond_the_first.min(last_kmer / self.stride)).unwrap_or(u32::MAX)
    }

    /// The letters that a window of a sequence of `letters` letters covers, from 0: [`SketchShape::window`] of them, fewer at the end.
    #[inline]
    pub fn extent(self, window: u32, letters: usize) -> Range<usize> {
        let start = window as usize * self.stride;
        start..letters.min(start + self.window)
    }

    /// k-mers of a whole window.
    fn kmers(self) -> usize {
        self.window - self.k + 1
    }

    /// How many windows fit the letters that are packed at a time.
    fn windows_of_stretch(self) -> u32 {
        ((MAX_LETTERS - self.window) / self.stride + 1) as u32
    }
}

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
        Sketcher { shape, kernels, stretch: Stretch::default() }
    }

    /// The shape that it was made for.
    pub fn shape(&self) -> SketchShape {
        self.shape
    }

    /// Calls `each` for every window of a sequence, in order, with its number from 0 and its features: ascending,
    /// distinct, at most [`SketchShape::features`], fewer (or none) where the window has no more. k-mers over a letter that is no base are skipped.
    #[inline]
    pub fn sketch(&mut self, letters: &[u8], each: &mut impl FnMut(u32, &[u32])) {
        let (mut next, windows) = (0, self.shape.windows(letters.len()));
        while next < windows {
            let end = windows.min(next.saturating_add(self.shape.windows_of_stretch()));
            let stretch = self.shape.extent(next, letters.len()).start..self.shape.extent(end - 1, letters.len()).end;
            self.sketch_stretch(&letters[stretch], next..end, each);
            next = end;
        }
    }

    #[inline]
    fn sketch_stretch(&mut self, letters: &[u8], windows: Range<u32>, each: &mut impl FnMut(u32, &[u32])) {
        if !self.kernels.pack(letters, &mut self.stretch) {
            return self.sketch_around_others(letters, windows, each);
        }
        let kmers = self.kernels.features(letters.len(), self.shape.k, 0, &mut self.stretch);
        for (i, window) in windows.enumerate() {
            let start = i * self.shape.stride;
            let kmers = start..kmers.min(start + self.shape.kmers());
            each(window, self.kernels.smallest(kmers, self.shape.features, &mut self.stretch));
        }
    }

    #[cold]
    fn sketch_around_others(&mut self, letters: &[u8], windows: Range<u32>, each: &mut impl FnMut(u32, &[u32])) {
        for (i, window) in windows.enumerate() {
            let mut kmers = 0;
            let extent = self.shape.extent(i as u32, letters.len());
            for bases in letters[extent].split(|&letter| gyrase_seq::encode(letter).is_none()) {
                if bases.len() >= self.shape.k {
                    self.kernels.pack(bases, &mut self.stretch);
                    kmers += self.kernels.features(bases.len(), self.shape.k, kmers, &mut self.stretch);
                }
            }
            each(window, self.kernels.smallest(0..kmers, self.shape.features, &mut self.stretch));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Kmer;
    use proptest::prelude::*;

    /// The definition: windows one after the other while the one before ends early, k-mers one by one.
    fn naive(letters: &[u8], shape: SketchShape) -> Vec<Vec<u32>> {
        let mut sketches = Vec::new();
        let mut start = 0;
        while start + shape.k() <= letters.len() {
            let end = letters.len().min(start + shape.window());
            let kmers = letters[start..end].windows(shape.k()).filter_map(Kmer::<1>::from_letters);
            let features: BTreeSet<u32> = kmers.map(|kmer| feature_of(kmer.canonical(shape.k()).0[0] as u32)).collect();
            sketches.push(features.into_iter().take(shape.features()).collect());
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
        assert_eq!(shape.windows(letters.len()) as usize, expected.len(), "{} letters, {shape:?}", letters.len());
        for kernels in Kernels::available() {
            let found = sketches(letters, shape, kernels);
            assert_eq!(found, expected, "{kernels:?} {shape:?} {} letters", letters.len());
        }
    }

    fn random(letters: usize, alphabet: &[u8], seed: u64) -> Vec<u8> {
        let letter = |i| alphabet[(crate::mix(i ^ seed << 32) >> 32) as usize % alphabet.len()];
        (0..letters as u64).map(letter).collect()
    }

    fn shape(k: usize, window: usize, stride: usize, features: usize) -> SketchShape {
        SketchShape::new(k, window, stride, features).unwrap()
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
        Sketcher::new(shape(16, 31, 16, 4)).sketch(letters, &mut |_, features| sketch.extend_from_slice(features));
        assert_eq!(sketch, [0x0803_9aed, 0x2f2c_0936, 0x44fd_bed9, 0x4ace_d956]);
    }

    #[test]
    fn features_give_their_kmers_back() {
        let inverse = |odd: u32| (0..5).fold(odd, |x, _| x.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(x))));
        for i in 0..100_000u32 {
            let canonical = i.wrapping_mul(0x9e37_79b1);
            let word = feature_of(canonical).wrapping_mul(inverse(SECOND));
            let word = (word ^ word >> 15 ^ word >> 30).wrapping_mul(inverse(FIRST));
            assert_eq!(word ^ SALT, canonical);
        }
    }

    #[test]
    fn words_of_low_complexity_are_not_small() {
        for (k, period) in [(12, 2), (13, 2), (14, 2), (15, 2), (16, 2), (16, 3)] {
            for unit in 0..4u8.pow(period) {
                let letters: Vec<u8> =
                    (0..k).map(|i| b"ACGT"[usize::from(unit >> (2 * (i % period as usize)) & 3)]).collect();
                let canonical = Kmer::<1>::from_letters(&letters).unwrap().canonical(k).0[0] as u32;
                assert!(feature_of(canonical) > u32::MAX / 5, "{}", String::from_utf8_lossy(&letters));
            }
        }
    }

    #[test]
    fn sizes_at_the_edges_are_accepted_and_others_refused() {
        assert_eq!(SketchShape::default(), shape(16, 127, 127 - 16 + 1, 16));
        for (k, window, stride, features) in [(1, 1, 1, 1), (16, 16, 16, 64), (16, 4096, 4096, 64), (1, 4096, 1, 1)] {
            let shape = shape(k, window, stride, features);
            assert_eq!((shape.k(), shape.window(), shape.stride(), shape.features()), (k, window, stride, features));
        }
        let refused =
            |k, window, stride, features| SketchShape::new(k, window, stride, features).unwrap_err().to_string();
        assert!(refused(0, 127, 112, 16).ends_with("from 1 to 16, not 0"));
        assert!(refused(17, 127, 112, 16).ends_with("from 1 to 16, not 17"));
        assert!(refused(16, 15, 1, 16).contains("from 16 (the length of a k-mer) to 4096 letters, not 15"));
        assert!(refused(16, 4097, 1, 16).contains("not 4097"));
        assert!(refused(16, 127, 0, 16).contains("from 1 to 127 (the letters of a window), not 0"));
        assert!(refused(16, 127, 128, 16).contains("not 128"));
        assert!(refused(16, 127, 112, 0).contains("from 1 to 64 features, not 0"));
        assert!(refused(16, 127, 112, 65).contains("not 65"));
    }

    #[test]
    fn windows_at_their_edges() {
        let default = SketchShape::default();
        let counts = [(0, 0), (15, 0), (16, 1), (127, 1), (128, 2), (150, 2), (239, 2), (240, 3), (351, 3), (352, 4)];
        for (letters, windows) in counts {
            assert_eq!(default.windows(letters), windows, "{letters} letters");
        }
        assert_eq!(shape(1, 1, 1, 1).windows(u32::MAX as usize + 9), u32::MAX);
        assert_eq!(default.extent(1, 150), 112..150);
        for (k, window) in [(1, 1), (1, 2), (2, 2), (3, 7), (8, 8), (15, 16), (16, 16), (16, 17), (16, 40), (16, 127)] {
            for stride in [1, 2, window / 2, window - k + 1, window - 1, window] {
                let Ok(shape) = SketchShape::new(k, window, stride, 5) else { continue };
                for n in 0..2 * window + 2 * stride + k + 3 {
                    check(&random(n, b"ACGT", n as u64), shape);
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
    fn long_windows_and_sequences_of_many_stretches() {
        let letters = random(20_000, b"ACGT", 2);
        for window in [1000, 2048, 2049, 4000, 4080, 4095, 4096] {
            for (k, features) in [(1, 16), (4, 64), (9, 1), (13, 16), (14, 40), (16, 16), (16, 64)] {
                check(&letters, shape(k, window, window - k + 1, features));
                check(&letters, shape(k, window, window, features));
                check(&letters[..6000], shape(k, window, 700, features));
            }
        }
        check(&letters, SketchShape::default());
        check(&letters[..5000], shape(16, 127, 1, 16));
    }

    #[test]
    fn repeats_and_letters_that_are_no_bases() {
        let mut holes = random(9000, b"ACGT", 3);
        holes[100..4500].iter_mut().step_by(61).for_each(|letter| *letter = b'N');
        holes[4700..6000].fill(b'n');
        holes[6100..8000].iter_mut().step_by(15).for_each(|letter| *letter = b'R');
        let repeats = [vec![b'A'; 9000], b"AC".repeat(4500), b"ACGTTGCA".repeat(1100), random(9000, b"AAAAAAAAAT", 4)];
        for letters in repeats.iter().chain([&holes, &vec![b'N'; 9000], &b"N".to_vec()]) {
            for (k, window, features) in [(16, 127, 16), (16, 1000, 64), (3, 30, 4), (12, 4096, 32), (1, 1, 1)] {
                check(letters, shape(k, window, window - k + 1, features));
            }
        }
    }

    #[test]
    fn a_stretch_between_other_letters_is_sketched_as_by_itself() {
        let bases = random(60, b"ACGT", 5);
        let letters = [&b"NN"[..], &bases, b"-"].concat();
        let shape = SketchShape::default();
        assert_eq!(sketches(&letters, shape, Kernels::detect()), sketches(&bases, shape, Kernels::detect()));
    }

    #[test]
    fn both_strands_and_both_cases_have_the_same_sketch() {
        for k in 1..=16 {
            for (window, letters) in [(127, random(127, b"ACGT", 6)), (1500, random(1500, b"ACGTN", 7))] {
                let shape = shape(k, window, window, 16);
                for kernels in Kernels::available() {
                    let forward = sketches(&letters, shape, kernels);
                    assert_eq!(forward, sketches(&gyrase_seq::reverse_complement(&letters), shape, kernels), "k={k}");
                    assert_eq!(forward, sketches(&letters.to_ascii_lowercase(), shape, kernels), "k={k}");
                }
            }
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
        }
    }
}
