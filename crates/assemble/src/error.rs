//! What goes wrong in an assembly.

use std::io;
use std::path::PathBuf;

use gyrase_fabric::FabricError;
use gyrase_files::{Garbled, OrderedError, OutputError};
use gyrase_table::gyk::GykError;
use gyrase_tabulate::TabulateError;
use gyrase_work::Cancelled;

/// Why nothing was assembled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The k-mers could not be counted.
    #[error(transparent)]
    Count(#[from] gyrase_count::Error),
    /// A database could not be read.
    #[error(transparent)]
    Database(#[from] GykError),
    /// What travels between bins could not be kept.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// k is even, or too small.
    #[error(
        "k is {k}, but it must be odd, from 3 to 127: a k-mer of an even number of bases can be its own reverse complement"
    )]
    Even {
        /// The length asked for.
        k: usize,
    },
    /// k-mers were counted with strands apart.
    #[error("the k-mers were counted with strands apart; those of unitigs stand for both strands")]
    Stranded,
    /// Databases are of different k-mers.
    #[error("{} is of {k}-mers, and {} of {other}-mers", path.display(), first.display())]
    Unlike {
        /// A database.
        path: PathBuf,
        /// Length of its k-mers.
        k: usize,
        /// The first database.
        first: PathBuf,
        /// Length of its k-mers.
        other: usize,
    },
    /// The graph outgrows the memory.
    #[error(
        "the graph of these k-mers needs {} MiB of memory, {} MiB were given",
        needed.div_ceil(1 << 20), given >> 20
    )]
    Memory {
        /// Bytes needed.
        needed: u64,
        /// Bytes given.
        given: u64,
    },
    /// More pieces than numbers of 30 bits can tell apart, or more bases than those of 31.
    #[error("the graph has more than a thousand million pieces, or two thousand million bases")]
    TooLarge,
    /// The processes of a job see different files, or were asked for different graphs.
    #[error(transparent)]
    Tabulate(#[from] TabulateError),
    /// The file could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The file system lost what several processes wrote.
    #[error(transparent)]
    Garbled(#[from] Garbled),
    /// The output could not be written.
    #[error("cannot write the unitigs: {0}")]
    Sink(io::Error),
    /// Somebody cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl From<Cancelled> for Error {
    fn from(_: Cancelled) -> Error {
        Error::Cancelled
    }
}

impl From<OrderedError<FabricError>> for Error {
    fn from(error: OrderedError<FabricError>) -> Error {
        match error {
            OrderedError::Write(error) => error.into(),
            OrderedError::Spill(error) => error.into(),
            OrderedError::Abandoned { .. } => FabricError::Elsewhere.into(),
            OrderedError::Garbled(error) => error.into(),
        }
    }
}
