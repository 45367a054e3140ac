//! What a program has of its own: how it finds matches and aligns them.

use std::ops::RangeInclusive;

use gyrase_work::Progress;

use crate::Sequences;
use crate::hits::{Hit, Match};

/// Letters of queries that are best searched together where proteins are searched in, at least and
/// at most.
pub(crate) const PROTEINS_AT_ONCE: RangeInclusive<u64> = 10_000..=500_000;

/// Finds matches for a program, and gives what aligns them.
pub(crate) trait Engine: Sync {
    /// All matches of frames of queries with frames of subjects, by query, subject and place, each
    /// once, if there are at most so many.
    fn matches(
        &self,
        queries: &Sequences,
        most: usize,
        progress: &Progress,
    ) -> Result<Vec<Match>, Ended>;

    /// Letters of queries that are best searched together, at least and at most: so many that what
    /// is done once for all of them costs little, so few that processes have enough to share.
    fn batch(&self) -> RangeInclusive<u64> {
        PROTEINS_AT_ONCE
    }

    /// Queries that are best aligned together, at most.
    fn aligned_together(&self) -> usize {
        1
    }

    /// What aligns queries; each thread has its own.
    fn aligner(&self) -> Box<dyn Align + Send + '_>;
}

/// Aligns queries.
pub(crate) trait Align {
    /// The best subjects of a query, by the matches of its frames.
    fn hits(&mut self, query: Query, matches: &[Match]) -> Vec<Hit>;

    /// The same of several queries.
    fn hits_of_all(&mut self, queries: &[(Query, &[Match])]) -> Vec<Vec<Hit>> {
        let hits = |&(query, matches): &_| self.hits(query, matches);
        queries.iter().map(hits).collect()
    }
}

/// A query, as its frames read it.
#[derive(Clone, Copy)]
pub(crate) struct Query<'q> {
    /// The frames of some queries.
    pub frames: &'q Sequences,
    /// The number of its first.
    pub first: usize,
}

impl<'q> Query<'q> {
    /// What its first frame reads.
    pub(crate) fn residues(self) -> &'q [u8] {
        self.frames.residues(self.first)
    }
}

/// Why there are no matches.
pub(crate) enum Ended {
    /// There are more than there may be.
    TooMany,
    Cancelled,
}
