//! What is searched.

use super::scoring::NucleotideScoring;
pub(super) use super::stretch::Stretch;
use super::word_index::WordIndex;
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
    /// Where the subjects have words of such a seed, if that is known.
    pub index: Option<&'s WordIndex>,
}
