//! What can go wrong between a sender and a drain.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// A fabric that cannot go on.
#[derive(Clone, Debug, thiserror::Error)]
pub enum FabricError {
    /// A spill file could not be made, written or read.
    #[error("cannot spill to {}: {source}", path.display())]
    Spill {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// The spill files reached the limit that the user set.
    #[error("the temporary files would exceed the {limit} bytes that they may take")]
    TooMuchSpill {
        /// The limit in bytes.
        limit: u64,
    },
    /// Records outgrew the memory of a fabric that has no folder to spill to.
    #[error(
        "the records outgrow the memory that they were given, and may not be spilled to a disk"
    )]
    NoSpill,
    /// A spill file does not hold what was written to it.
    #[error(
        "the temporary file {} was damaged: the disk or the machine may be failing",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// The system gives less memory than one block for each partition takes.
    #[error("the system gives too little memory for the buffers of the partitions")]
    Memory,
    /// A record is longer than a fabric carries.
    #[error("a record of {bytes} bytes was to be sent, but the buffers hold {most} bytes of one")]
    TooLong {
        /// Bytes of the record.
        bytes: u64,
        /// Bytes of the longest record that would have been carried.
        most: u64,
    },
    /// Another process of the job failed; it says why.
    #[error("another process of the job failed; its message says why")]
    Elsewhere,
    /// The message library failed.
    #[error("MPI failed in {call}: {what}")]
    Mpi {
        /// What was called.
        call: &'static str,
        /// What the library said.
        what: String,
    },
}
