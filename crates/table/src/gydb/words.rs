//! The words of a database, for whoever looks features up by other means than this crate.

use super::partition::Partition;

/// Features and their locations as they stand in the file.
#[derive(Clone, Debug)]
pub struct FeatureWords<'d> {
    /// The words of the file, up to where the partitions end.
    pub words: &'d [u32],
    /// Where each partition is.
    pub partitions: Vec<PartitionWords>,
}

/// Where a partition is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionWords {
    /// Its first word.
    pub start: u64,
    /// How many words of buckets and locations it has; none where it has no features.
    pub words: u32,
    /// How many buckets it has, as its number of features asks for.
    pub buckets: u32,
}

impl From<&Partition> for PartitionWords {
    fn from(partition: &Partition) -> PartitionWords {
        PartitionWords {
            start: partition.start as u64,
            words: partition.words,
            buckets: partition.buckets.len() as u32,
        }
    }
}
