//! Partitions of one database of a collection.

use std::ops::Range;

use gyrase_table::gydb::{Database, PARTITIONS};

/// Partitions of one database: what is looked up at a time.
#[derive(Clone, Debug)]
pub(crate) struct Slice<'c> {
    /// The database.
    pub features: &'c Database,
    /// What its windows are counted from.
    pub first_window: u32,
    /// The partitions.
    pub partitions: Range<usize>,
}

impl Slice<'_> {
    /// Gives back the memory that reading took.
    pub(crate) fn let_go(&self) {
        self.features.let_go(self.partitions.clone());
    }

    /// True when it is all of its database.
    pub(crate) fn is_whole(&self) -> bool {
        self.partitions == (0..PARTITIONS)
    }
}
