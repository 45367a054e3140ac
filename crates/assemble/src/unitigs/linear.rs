//! The unitigs of a bin that have ends.

use super::Unitigs;

/// Unitigs with ends, of a bin.
pub(crate) struct Linear {
    /// The numbers, in the bin, of the k-mers that they are ordered by.
    pub(super) kmers: Vec<u32>,
    pub(crate) unitigs: Unitigs,
}

impl Linear {
    pub(super) fn new(k: usize) -> Linear {
        Linear {
            kmers: Vec::new(),
            unitigs: Unitigs::new(k),
        }
    }

    /// Both, in their order.
    pub(super) fn merged(self, other: Linear) -> Linear {
        if other.kmers.is_empty() {
            return self;
        }
        let mut merged = Linear::new(self.unitigs.k());
        let mut at = [0; 2];
        let both = [&self, &other];
        while let Some(next) = (0..2)
            .filter(|&one| at[one] < both[one].kmers.len())
            .min_by_key(|&one| both[one].kmers[at[one]])
        {
            merged.kmers.push(both[next].kmers[at[next]]);
            merged.unitigs.push_of(&both[next].unitigs, at[next]);
            at[next] += 1;
        }
        merged
    }
}
