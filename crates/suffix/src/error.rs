//! What can go wrong.

use std::io;
use std::path::PathBuf;

use gyrase_fabric::FabricError;
use gyrase_files::OutputError;
use gyrase_files::container::ContainerError;
use gyrase_gpu::GpuError;
use gyrase_work::Cancelled;

/// Why something about suffixes could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Sequences cannot be read.
    #[error(transparent)]
    Input(#[from] gyrase_fastx::Error),
    /// A `.gysa` file cannot be read.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// A `.gysa` file does not hold what is asked for.
    #[error("{} holds no {what}; build it again {how}", path.display())]
    Lacking {
        /// The file.
        path: PathBuf,
        /// What it lacks.
        what: &'static str,
        /// What makes a file that has it.
        how: &'static str,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A stream cannot be written.
    #[error("cannot write: {0}")]
    Sink(#[from] io::Error),
    /// The memory that a run may take does not suffice.
    #[error("{what} takes {needed} bytes of memory, and {memory} are allowed")]
    Memory {
        /// What it is needed for.
        what: &'static str,
        /// Bytes that it takes.
        needed: u64,
        /// Bytes that are allowed.
        memory: u64,
    },
    /// The system has no memory to give.
    #[error("the system has not enough memory to sort the suffixes")]
    NoMemory,
    /// A GPU did not sort the suffixes; the processor can.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The library that sorts suffixes failed.
    #[error("sorting the suffixes failed: {0}")]
    Sorting(String),
    /// The other strand of what has none was asked for.
    #[error(
        "the sequences look like proteins, which have one strand; leave out --both-strands, or \
         say --letters bases"
    )]
    OneStrand,
    /// A text is too long for what is done with it.
    #[error("{what} takes at most {most} letters, and there are {found}")]
    TooLong {
        /// What it is too long for.
        what: &'static str,
        /// The most letters.
        most: u64,
        /// The letters there are.
        found: u64,
    },
    /// Processes of a job cannot go on together.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// Somebody cancelled the work ([`Progress::cancel`](gyrase_work::Progress::cancel)).
    #[error("the work was cancelled")]
    Cancelled,
}

impl From<Cancelled> for Error {
    fn from(_: Cancelled) -> Error {
        Error::Cancelled
    }
}

/// Refuses what takes more memory than is allowed.
pub(crate) fn admit(what: &'static str, needed: u64, memory: u64) -> Result<(), Error> {
    match needed <= memory {
        true => Ok(()),
        false => Err(Error::Memory {
            what,
            needed,
            memory,
        }),
    }
}

/// Bytes that a run takes beside what grows with its texts: the program, batches, buffers.
pub(crate) const BASE: u64 = 24 << 20;

/// The same of a process that is one of several, with what MPI takes.
pub(crate) const BASE_OF_RANK: u64 = 96 << 20;
