//! What can be wrong with a file that many write.

use std::ops::Range;
use std::path::PathBuf;

use crate::OutputError;

/// A file of segments that cannot be written. `E` is what goes wrong where segments wait.
#[derive(Debug, thiserror::Error)]
pub enum OrderedError<E> {
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] OutputError),
    /// Finished segments cannot wait where there is room for them.
    #[error(transparent)]
    Spill(E),
    /// Another thread of the same run failed and gave up.
    #[error("{} was abandoned because another thread failed", path.display())]
    Abandoned {
        /// The file that was to appear.
        path: PathBuf,
    },
    /// What was read back is not what processes had written.
    #[error(transparent)]
    Garbled(#[from] Garbled),
}

/// A file does not hold what several processes wrote to it: its file system does not keep apart
/// what comes from several machines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the file system garbled {}: bytes {} to {} are not those that the processes of the job wrote; \
     it does not keep apart what several machines write to one file. Write to another file system, \
     such as one made for clusters, or use one machine",
    path.display(), range.start, range.end
)]
pub struct Garbled {
    /// The file that was to appear.
    pub path: PathBuf,
    /// Where the first difference is, from its first byte to behind its last one.
    pub range: Range<u64>,
}
