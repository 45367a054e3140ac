//! The stretch of a database that is looked at.

use std::ops::Range;

use gyrase_align::packed::{Packed, WINDOW};

/// A stretch of the database, and where it is in it: at the first base of a window.
#[derive(Clone, Copy)]
pub(super) struct Stretch<'p> {
    pub packed: &'p Packed,
    pub base: usize,
}

impl Stretch<'_> {
    /// The lower and the upper bits of 64 bases from the first of a window of the stretch on.
    #[inline(always)]
    pub(super) fn bits(&self, number: usize) -> [u64; 2] {
        self.packed.bits(self.base / WINDOW + number)
    }

    /// The same of several windows.
    #[inline(always)]
    pub(super) fn bits_of(&self, numbers: Range<usize>) -> impl Iterator<Item = [u64; 2]> + '_ {
        let first = self.base / WINDOW;
        self.packed
            .bits_of(first + numbers.start..first + numbers.end)
    }

    /// The window that begins with a base of the stretch.
    #[inline(always)]
    pub(super) fn window(&self, at: usize) -> u64 {
        self.packed.window(self.base + at)
    }
}
