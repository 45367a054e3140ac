//! The words of a database, for whoever looks features up by other means than this crate.

use super::partition::Partition;

/// The features of some partitions and their locations, as they stand in the file.
#[derive(Clone, Debug)]
pub struct FeatureWords<'d> {
    /// The words of these partitions, a multiple of 16.
    pub words: &'d [u32],
    /// Where each partition is among them; all others have no words.
    pub partitions: Vec<PartitionWords>,
}

/// Where a partition is.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionWords {
    /// Its first word.
    pub start: u64,
    /// How many words of buckets and locations it has; none where it has no features.
    pub words: u32,
    /// How many buckets it has, as its number of features asks for.
    pub buckets: u32,
}

impl PartitionWords {
    /// A partition among words of the file from `first` on.
    pub(super) fn new(partition: &Partition, first: usize) -> PartitionWords {
        PartitionWords {
            start: (partition.start - first) as u64,
            words: partition.words,
            buckets: partition.buckets.len() as u32,
        }
    }
}
