//! What one of several processes writes of a database.

use std::sync::Arc;

use gyrase_fabric::{Finished, Place, SpillFolder};
use gyrase_files::OwnSegments;

/// What one of several processes writes, and where that waits until its place in the file is known.
#[derive(Debug)]
pub struct WriterShare {
    /// Which partitions: those of this process.
    pub partitions: Place,
    /// Bytes of finished partitions in memory.
    pub memory: usize,
    /// Where the others go: to the disk for spills, not beside the target, on the one that all
    /// processes share. They count against what spills may take.
    pub folder: Arc<SpillFolder>,
}

impl From<WriterShare> for OwnSegments<Finished> {
    fn from(share: WriterShare) -> OwnSegments<Finished> {
        OwnSegments {
            all: share.partitions.partitions,
            own: share.partitions.owned().collect(),
            memory: share.memory,
            spill: Finished(share.folder),
        }
    }
}
