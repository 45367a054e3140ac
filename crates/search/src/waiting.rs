//! Where text waits that is not in the report yet.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gyrase_fabric::SpillFolder;
use gyrase_files::OutputFile;

/// Where text waits that is not in the report yet.
#[derive(Clone, Debug)]
pub struct WaitingText {
    /// A folder of this search alone.
    pub folder: PathBuf,
    /// Bytes that this process may lay aside there.
    pub limit: Option<u64>,
    /// What is finished stays there until the report is whole, and what an earlier run of the same
    /// search left is taken.
    pub resume: bool,
}

impl WaitingText {
    /// Text that waits in a folder, which may take any number of bytes, and is not kept.
    pub fn new(folder: PathBuf) -> WaitingText {
        WaitingText {
            folder,
            limit: None,
            resume: false,
        }
    }

    pub(crate) fn spill_folder(&self, rank: usize) -> Arc<SpillFolder> {
        let folder = SpillFolder::new(self.of_rank(rank), self.limit, false);
        Arc::new(folder.within(&self.folder))
    }

    fn of_rank(&self, rank: usize) -> PathBuf {
        self.folder.join(format!("rank-{rank}"))
    }

    /// What this process leaves when it ends without an end, but for what is to be resumed.
    pub fn leftovers(&self, rank: usize, target: Option<&Path>) -> Vec<PathBuf> {
        let partial = target.and_then(OutputFile::partial);
        let partial = partial.filter(|_| rank == 0);
        [self.of_rank(rank)].into_iter().chain(partial).collect()
    }
}
