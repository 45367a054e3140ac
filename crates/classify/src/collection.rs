//! Databases that reads are classified with at once.

use std::ops::Range;

use gyrase_table::gydb::{Database, PARTITIONS};

use crate::cap::Cap;
use crate::catalogue::Catalogue;
use crate::index::Index;
use crate::mismatch::Mismatch;

/// One or more databases as one: the answers are those of the database that all their references would make together, in the order of the databases.
#[derive(Debug)]
pub struct Collection {
    /// All their references.
    pub catalogue: Catalogue,
    databases: Vec<Member>,
}

/// A database and the number of its first window.
#[derive(Debug)]
struct Member {
    features: Database,
    first_window: u32,
}

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

impl Collection {
    /// All of `indexes`, in their order.
    ///
    /// # Errors
    /// When they do not fit together.
    ///
    /// # Panics
    /// Without any.
    pub fn new(mut indexes: Vec<Index>) -> Result<Collection, Mismatch> {
        if indexes.len() == 1 {
            return Ok(indexes.swap_remove(0).into());
        }
        let parts: Vec<_> = indexes.iter().map(|index| (index.features.path(), index.catalogue())).collect();
        let catalogue = Catalogue::unite(&parts)?;
        let mut next = 0;
        let member = |index: Index| {
            let first_window = next;
            next += index.targets.all_windows();
            Member { features: index.into_parts().0, first_window }
        };
        Ok(Collection { catalogue, databases: indexes.into_iter().map(member).collect() })
    }

    /// How many passes over the reads it takes to ask up to `most` bytes of the databases at a time.
    pub fn passes(&self, most: u64) -> usize {
        self.parts(most).len()
    }

    /// Bytes of the features of all databases.
    pub fn bytes(&self) -> u64 {
        self.databases.iter().map(|database| database.features.bytes_of(0..PARTITIONS)).sum()
    }

    /// All of it.
    pub(crate) fn whole(&self) -> Vec<Slice<'_>> {
        self.databases.iter().map(|database| database.slice(0..PARTITIONS)).collect()
    }

    /// All of it, in parts that take up to `most` bytes each or are one partition.
    pub(crate) fn parts(&self, most: u64) -> Vec<Vec<Slice<'_>>> {
        let mut parts = vec![Vec::new()];
        let mut room = most;
        for database in &self.databases {
            let mut start = 0;
            while start < PARTITIONS {
                let mut end = start;
                while end < PARTITIONS && database.features.bytes_of(end..end + 1) <= room {
                    room -= database.features.bytes_of(end..end + 1);
                    end += 1;
                }
                if end == start && room == most {
                    (end, room) = (end + 1, 0);
                }
                let part = parts.last_mut().expect("there is always a part");
                part.extend((start < end).then(|| database.slice(start..end)));
                if end < PARTITIONS {
                    parts.push(Vec::new());
                    room = most;
                }
                start = end;
            }
        }
        parts
    }

    /// The cap of locations over all databases; none is needed for one, whose features keep to it.
    pub(crate) fn cap(&self) -> Option<Cap<'_>> {
        let Catalogue { targets, parameters, .. } = &self.catalogue;
        (self.databases.len() > 1).then(|| Cap::new(targets, parameters.locations))
    }
}

impl From<Index> for Collection {
    fn from(index: Index) -> Collection {
        let (features, catalogue) = index.into_parts();
        Collection { catalogue, databases: vec![Member { features, first_window: 0 }] }
    }
}

impl Member {
    fn slice(&self, partitions: Range<usize>) -> Slice<'_> {
        Slice { features: &self.features, first_window: self.first_window, partitions }
    }
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
