//! A share of packed codes, which a thread writes by itself.

use std::ops::Range;

use super::{HALF, WINDOW, WORDS, joined};
use crate::arch::Kernels;

/// Some of the windows of packed codes.
pub struct PackedShare<'p> {
    words: &'p mut [u64],
    /// The number of its first window.
    first: usize,
}

impl<'p> PackedShare<'p> {
    /// Windows from one of a number on.
    pub(super) fn new(words: &'p mut [u64], first: usize) -> PackedShare<'p> {
        PackedShare { words, first }
    }

    /// Where its codes are among all.
    pub fn range(&self) -> Range<usize> {
        let first = self.first * WINDOW;
        first..first + self.words.len() * WINDOW
    }

    /// Writes bases of two bits that are 0 so far, the first in the upper bits of a byte: so many
    /// from one of the first four on, to a place among all.
    ///
    /// # Panics
    /// When there are not so many, or the share has no such place.
    pub fn write(&mut self, place: usize, bytes: &[u8], first: usize, count: usize) {
        let bytes = &bytes[..(first + count).div_ceil(4)];
        let start = place - self.first * WINDOW;
        let (mut at, end) = (start, start + count);
        while at < end {
            let source = first + at - start;
            let (number, by) = (at / WINDOW, at % WINDOW);
            let whole = (end - at) / WINDOW;
            if by == 0 && whole > 0 {
                let words = &mut self.words[number..number + whole.min(WORDS)];
                write_words(words, &bytes[source / 4..], source % 4);
                at += words.len() * WINDOW;
                continue;
            }
            let own = (end - at).min(WINDOW - by);
            let mut word = [0];
            write_words(&mut word, &bytes[source / 4..], source % 4);
            let [low, high] =
                [word[0], word[0] >> WINDOW].map(|bits| bits & HALF >> (WINDOW - own));
            self.words[number] |= low << by | high << by << WINDOW;
            at += own;
        }
    }
}

/// Sets words, [`WORDS`] at most, from the bases of bytes, as far as there are any: from one of the
/// first four on.
fn write_words(words: &mut [u64], bytes: &[u8], first: usize) {
    let (whole, rest) = bytes.as_chunks::<8>();
    let whole = &whole[..whole.len().min(words.len() + 1)];
    let mut last = [0; 8];
    if whole.len() <= words.len() {
        last[..rest.len()].copy_from_slice(rest);
    }
    let kernels = Kernels::detect();
    let mut aligned = [0; WORDS + 2];
    kernels.planes(whole, &mut aligned);
    kernels.planes(&[last], &mut aligned[whole.len()..]);
    kernels.run(
        #[inline(always)]
        || {
            for (word, two) in words.iter_mut().zip(aligned.windows(2)) {
                let [low, high] = joined(two).map(|bits| bits >> first & HALF);
                *word = low | high << WINDOW;
            }
        },
    );
}
