//! Where the hits of sequences come from: databases, asked at once or slice by slice.

use gyrase_table::gydb::GydbError;

use crate::collection::Collection;
use crate::on_gpu::PartOnGpu;
use crate::slice::Slice;
use crate::stored::{Stored, StoredError};

/// Where the hits of sequences come from. All of a database that fits the memory is asked while
/// reads are answered; of a larger one, all but the last part was asked before, and the hits are
/// stored.
#[derive(Debug)]
pub struct Hits<'c> {
    pub(super) collection: &'c Collection,
    /// What is asked while reads are answered.
    pub(super) slices: Vec<Slice<'c>>,
    /// What the other slices gave, for all reads in order.
    pub(super) stored: Vec<Stored>,
}

impl<'c> Hits<'c> {
    /// Those of all databases at once.
    pub fn of(collection: &'c Collection) -> Hits<'c> {
        Hits {
            collection,
            slices: collection.whole(),
            stored: Vec::new(),
        }
    }

    /// What is asked while reads are answered, on a GPU where one was chosen.
    pub(super) fn on_gpu(&self) -> Result<Option<PartOnGpu<'_>>, GydbError> {
        let Hits {
            collection, slices, ..
        } = self;
        match collection.on_gpu() {
            Some(on_gpu) => on_gpu.part(slices, &collection.catalogue),
            None => Ok(None),
        }
    }

    /// True where they are all that one database has, so that its regions are those of the reads.
    pub(super) fn are_of_one_database(&self) -> bool {
        self.stored.is_empty() && self.slices.len() == 1 && self.slices[0].is_whole()
    }

    /// Finds out that the passes before had as many reads as the last.
    pub(super) fn had(&self, reads: u64) -> Result<(), StoredError> {
        match self.stored.iter().find(|stored| stored.rows() != reads) {
            Some(stored) => Err(StoredError::Changed {
                read: stored.rows().min(reads) + 1,
            }),
            None => Ok(()),
        }
    }

    /// Bytes of the hits that wait in scratch files.
    pub fn stored_bytes(&self) -> u64 {
        self.stored.iter().map(Stored::bytes).sum()
    }
}
