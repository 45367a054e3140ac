//! What a translated search searches in, and how.

use super::scoring::TranslatedScoring;
use crate::Sequences;
use crate::frames::Frames;

/// What a translated search searches in, and how.
#[derive(Clone, Copy)]
pub(super) struct Searched<'s> {
    /// Of queries and subjects.
    pub frames: [Frames; 2],
    pub subjects: &'s Sequences,
    pub scoring: &'s TranslatedScoring,
}
