//! How sequences are divided into windows, and which k-mers of a window are chosen.

use std::ops::Range;

use super::MAX_WINDOW;
use crate::arch::MAX_LETTERS;
use crate::feature::{MAX_FEATURE_K, MAX_FEATURES, MAX_ONE_IN, MAX_SAMPLED_K, Sampling};

/// Which k-mers of a window become its features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Those of so many smallest hashes, 1 to [`MAX_FEATURES`]; k is 1 to [`MAX_FEATURE_K`].
    Smallest(usize),
    /// One k-mer in so many, 1 to [`MAX_ONE_IN`]; k is 1 to [`MAX_SAMPLED_K`].
    OneIn(usize),
}

/// How sequences are divided into windows and how windows are sketched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SketchShape {
    k: usize,
    window: usize,
    stride: usize,
    choice: Choice,
}

/// A shape of sketches that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SketchShapeError {
    /// The k-mers are too long for the choice, or empty.
    #[error("the k of sketches must be from 1 to {most}, not {k}")]
    K {
        /// Letters of a k-mer that were asked for.
        k: usize,
        /// The most that the choice takes.
        most: usize,
    },
    /// A window holds no k-mer, or is too long.
    #[error(
        "a window must have from {k} (the length of a k-mer) to {MAX_WINDOW} letters, not {window}"
    )]
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
    /// All k-mers are too few, or hardly any are chosen.
    #[error("one k-mer in 1 to {MAX_ONE_IN} must be chosen, not one in {0}")]
    OneIn(usize),
}

impl Default for SketchShape {
    /// k = 22 and one in five k-mers of windows of 133 letters that begin every 112: as measured,
    /// see `docs/performance.md`.
    fn default() -> SketchShape {
        SketchShape {
            k: 22,
            window: 133,
            stride: 112,
            choice: Choice::OneIn(5),
        }
    }
}

impl SketchShape {
    /// k-mers of `k` bases (1 to [`MAX_FEATURE_K`]); windows of `window` letters (k to
    /// [`MAX_WINDOW`]) that begin every `stride` letters (1 to `window`; above `window - k + 1`
    /// some k-mers are in no window); sketches of the up to `features` (1 to [`MAX_FEATURES`])
    /// smallest.
    ///
    /// # Errors
    /// When a number is outside its range.
    pub fn new(
        k: usize,
        window: usize,
        stride: usize,
        features: usize,
    ) -> Result<SketchShape, SketchShapeError> {
        if !(1..=MAX_FEATURES).contains(&features) {
            return Err(SketchShapeError::Features(features));
        }
        SketchShape::checked(k, window, stride, Choice::Smallest(features), MAX_FEATURE_K)
    }

    /// As [`SketchShape::new`], with k-mers of 1 to [`MAX_SAMPLED_K`] bases of which one in
    /// `one_in` (1 to [`MAX_ONE_IN`]) is chosen.
    ///
    /// # Errors
    /// When a number is outside its range.
    pub fn sampled(
        k: usize,
        window: usize,
        stride: usize,
        one_in: usize,
    ) -> Result<SketchShape, SketchShapeError> {
        if !(1..=MAX_ONE_IN).contains(&one_in) {
            return Err(SketchShapeError::OneIn(one_in));
        }
        SketchShape::checked(k, window, stride, Choice::OneIn(one_in), MAX_SAMPLED_K)
    }

    fn checked(
        k: usize,
        window: usize,
        stride: usize,
        choice: Choice,
        most: usize,
    ) -> Result<SketchShape, SketchShapeError> {
        if !(1..=most).contains(&k) {
            return Err(SketchShapeError::K { k, most });
        }
        if !(k..=MAX_WINDOW).contains(&window) {
            return Err(SketchShapeError::Window { k, window });
        }
        if !(1..=window).contains(&stride) {
            return Err(SketchShapeError::Stride { window, stride });
        }
        Ok(SketchShape {
            k,
            window,
            stride,
            choice,
        })
    }

    /// Bases of a k-mer, 1 to [`MAX_SAMPLED_K`].
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

    /// Which k-mers of a window become its features.
    pub fn choice(self) -> Choice {
        self.choice
    }

    /// How the one k-mer in so many is chosen, where one is ([`Choice::OneIn`]).
    pub fn sampling(self) -> Option<Sampling> {
        match self.choice {
            Choice::Smallest(_) => None,
            Choice::OneIn(one_in) => Some(Sampling::new(self.k, one_in)),
        }
    }

    /// How many windows a sequence of so many letters has: none when it is shorter than k, else the
    /// first and every other that has a k-mer and whose predecessor ends before the sequence does.
    /// At most `u32::MAX`: later ones are not sketched.
    pub fn windows(self, letters: usize) -> u32 {
        let Some(last_kmer) = letters.checked_sub(self.k) else {
            return 0;
        };
        let beyond_the_first = letters.saturating_sub(self.window).div_ceil(self.stride);
        u32::try_from(1 + beyond_the_first.min(last_kmer / self.stride)).unwrap_or(u32::MAX)
    }

    /// The letters that a window of a sequence of `letters` letters covers, from 0:
    /// [`SketchShape::window`] of them, fewer at the end.
    #[inline]
    pub fn extent(self, window: u32, letters: usize) -> Range<usize> {
        let start = window as usize * self.stride;
        start..letters.min(start + self.window)
    }

    /// k-mers of a whole window.
    pub(super) fn kmers(self) -> usize {
        self.window - self.k + 1
    }

    /// How many windows fit the letters that are packed at a time.
    pub(super) fn windows_of_stretch(self) -> u32 {
        ((MAX_LETTERS - self.window) / self.stride + 1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_at_the_edges_are_accepted_and_others_refused() {
        assert_eq!(
            Ok(SketchShape::default()),
            SketchShape::sampled(22, 133, 133 - 22 + 1, 5)
        );
        for (k, window, stride, one_in) in [(1, 1, 1, 1), (32, 32, 32, 1000), (32, 4096, 4096, 5)] {
            let shape = SketchShape::sampled(k, window, stride, one_in).unwrap();
            assert_eq!(
                (shape.k(), shape.window(), shape.stride()),
                (k, window, stride)
            );
            assert_eq!(shape.choice(), Choice::OneIn(one_in));
        }
        for (k, window, stride, features) in [
            (1, 1, 1, 1),
            (16, 16, 16, 64),
            (16, 4096, 4096, 64),
            (1, 4096, 1, 1),
        ] {
            let shape = SketchShape::new(k, window, stride, features).unwrap();
            assert_eq!(
                (shape.k(), shape.window(), shape.stride()),
                (k, window, stride)
            );
            assert_eq!(shape.choice(), Choice::Smallest(features));
        }
        let refused = |k, window, stride, features| {
            SketchShape::new(k, window, stride, features)
                .unwrap_err()
                .to_string()
        };
        assert!(refused(0, 127, 112, 16).ends_with("from 1 to 16, not 0"));
        assert!(refused(17, 127, 112, 16).ends_with("from 1 to 16, not 17"));
        assert!(
            refused(16, 15, 1, 16)
                .contains("from 16 (the length of a k-mer) to 4096 letters, not 15")
        );
        assert!(refused(16, 4097, 1, 16).contains("not 4097"));
        assert!(refused(16, 127, 0, 16).contains("from 1 to 127 (the letters of a window), not 0"));
        assert!(refused(16, 127, 128, 16).contains("not 128"));
        assert!(refused(16, 127, 112, 0).contains("from 1 to 64 features, not 0"));
        assert!(refused(16, 127, 112, 65).contains("not 65"));
        let refused = |k, window, stride, one_in| {
            SketchShape::sampled(k, window, stride, one_in)
                .unwrap_err()
                .to_string()
        };
        assert!(refused(0, 135, 112, 5).ends_with("from 1 to 32, not 0"));
        assert!(refused(33, 135, 112, 5).ends_with("from 1 to 32, not 33"));
        assert!(
            refused(24, 23, 1, 5)
                .contains("from 24 (the length of a k-mer) to 4096 letters, not 23")
        );
        assert!(
            refused(24, 135, 136, 5).contains("from 1 to 135 (the letters of a window), not 136")
        );
        assert!(refused(24, 135, 112, 0).contains("in 1 to 1000 must be chosen, not one in 0"));
        assert!(refused(24, 135, 112, 1001).contains("not one in 1001"));
    }
}
