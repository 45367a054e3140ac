//! Where the partitions of a database are.

use super::bucket::Buckets;
use super::layout::Entry;

/// Where a partition is, in words of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partition {
    pub start: usize,
    /// Without the checksums that follow; 0 in a partition without features.
    pub words: u32,
    pub buckets: Buckets,
}

impl Partition {
    /// The words of the partition.
    pub fn own(self, all: &[u32]) -> &[u32] {
        &all[self.start..self.start + self.words as usize]
    }
}

impl From<&Entry> for Partition {
    fn from(entry: &Entry) -> Partition {
        let buckets = Buckets::of_features(entry.features as usize);
        Partition {
            start: (entry.offset / 4) as usize,
            words: entry.bytes / 4,
            buckets,
        }
    }
}
