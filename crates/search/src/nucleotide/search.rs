//! What is searched, and the stretch of it that is looked at.

use gyrase_align::packed::{Packed, WINDOW};

use super::scoring::NucleotideScoring;
use super::words::Words;
use crate::Sequences;

/// What is searched for matches, and how.
pub(super) struct Search<'s> {
    pub queries: &'s Sequences,
    pub subjects: &'s Sequences,
    pub scoring: &'s NucleotideScoring,
    pub words: &'s Words,
    /// What a segment of each frame scores at least.
    pub least: &'s [i32],
    /// What a segment of each frame scores at least with the bases around it.
    pub wanted: &'s [i32],
    /// Matches that there may be.
    pub most: usize,
    pub threads: usize,
}

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

    /// The window that begins with a base of the stretch.
    #[inline(always)]
    pub(super) fn window(&self, at: usize) -> u64 {
        self.packed.window(self.base + at)
    }
}
