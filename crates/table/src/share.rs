//! What one of several processes writes of a database.

use std::fs::File;
use std::io;
use std::sync::Arc;

use gyrase_fabric::{FabricError, Place, SpillFolder};
use gyrase_files::{OwnSegments, Spill};

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

/// The folder for spills, where finished partitions wait.
#[derive(Debug)]
pub(crate) struct Folder(Arc<SpillFolder>);

/// The file in it.
const NAME: &str = "finished";

impl Spill for Folder {
    type Error = FabricError;

    fn file(&self) -> Result<File, FabricError> {
        let file = self.0.open(NAME)?;
        file.set_len(0).map_err(|source| self.0.error(source))?;
        Ok(file)
    }

    fn nameless(&self) -> Result<File, FabricError> {
        self.0.nameless()
    }

    fn allow(&self, bytes: u64) -> Result<(), FabricError> {
        self.0.allow(bytes)
    }

    fn error(&self, source: io::Error) -> FabricError {
        self.0.error(source)
    }
}

impl From<WriterShare> for OwnSegments<Folder> {
    fn from(share: WriterShare) -> OwnSegments<Folder> {
        OwnSegments {
            all: share.partitions.partitions,
            own: share.partitions.owned().collect(),
            memory: share.memory,
            spill: Folder(share.folder),
        }
    }
}
