//! Ways between two nodes.

use crate::graph::Way;

/// Ways from one node to another, of which one is kept; numbered among those of all processes.
pub struct Bubble {
    /// By which bubbles are in order.
    pub order: u64,
    /// The node before it, and the one behind.
    pub ends: [Way; 2],
    /// With their k-mers.
    pub kept: Vec<(Way, u64)>,
    /// With the sums of the counts of theirs.
    pub goes: Vec<(Way, u64)>,
}

impl Bubble {
    /// All nodes between both.
    pub fn sides(&self) -> impl Iterator<Item = Way> {
        self.kept.iter().chain(&self.goes).map(|side| side.0)
    }

    /// k-mers of the way that is kept.
    pub fn kmers(&self) -> u64 {
        self.kept.iter().map(|side| side.1).sum()
    }

    /// What each node that is kept gets of the counts of what goes.
    pub fn shares(&self) -> impl Iterator<Item = (Way, u64)> {
        let lost: u64 = self.goes.iter().map(|side| side.1).sum();
        let all = self.kmers();
        self.kept.iter().map(move |&(way, kmers)| {
            let share = u128::from(lost) * u128::from(kmers) / u128::from(all);
            (way, u64::try_from(share).unwrap_or(u64::MAX))
        })
    }
}
