//! How reads are answered.

use crate::decide::Rule;

/// Letters that a pair is taken to span on its target where nobody says more of it.
pub const INSERT: usize = 400;

/// How reads are answered, whatever is made of the answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnswerConfig {
    /// When a read is classified.
    pub rule: Rule,
    /// Letters that a pair spans on its target when that is more than its own.
    pub insert: usize,
    /// Threads, at least 1.
    pub threads: usize,
    /// What is wanted of the answers.
    pub wanted: Wanted,
}

/// What a run accumulates beside reads per taxon. What is not wanted costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// What speaks for each taxon.
    pub evidence: bool,
    /// Reads per window.
    pub depth: bool,
}

impl Wanted {
    /// True where the region that a read comes from is asked for.
    pub(super) fn regions(self) -> bool {
        self.evidence || self.depth
    }
}
