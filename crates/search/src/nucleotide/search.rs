//! What is searched, and the stretch of it that is looked at.

use gyrase_align::packed::Packed;

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
    /// What an alignment of each frame scores at least.
    pub cutoffs: &'s [i32],
    /// Matches that there may be.
    pub most: usize,
    pub threads: usize,
}

/// A stretch of the database, and where it is in it.
pub(super) struct Stretch<'p> {
    pub packed: &'p Packed,
    pub base: usize,
}
