//! What can go wrong when databases are combined, searched and listed.

use std::io;
use std::path::PathBuf;

use gyrase_files::OutputError;
use gyrase_table::gyk::GykError;
use gyrase_tabulate::TabulateError;

/// An operation on databases that did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum OperationError {
    /// A database cannot be read or written.
    #[error(transparent)]
    Database(#[from] GykError),
    /// Two databases do not count the same things.
    #[error(
        "{} holds {first_shape} and {} holds {second_shape}: only databases of one k and one \
         strandedness can be combined",
        first.display(), second.display()
    )]
    Mismatch {
        /// The first database.
        first: PathBuf,
        /// What it holds, in words.
        first_shape: String,
        /// The database that differs.
        second: PathBuf,
        /// What it holds, in words.
        second_shape: String,
    },
    /// There is nothing to work on.
    #[error(
        "too few databases: name at least one .gyk file, for intersect and subtract at least two"
    )]
    NoInput,
    /// Sequences cannot be read.
    #[error(transparent)]
    Reads(#[from] gyrase_fastx::Error),
    /// The k-mer to look up is none of this database.
    #[error(
        "\"{text}\" cannot be looked up in {}: it needs k-mers of {k} letters A, C, G, T",
        database.display()
    )]
    NotAKmer {
        /// The text.
        text: String,
        /// The database.
        database: PathBuf,
        /// The length of its k-mers.
        k: usize,
    },
    /// A packed k-mer has more bases than the database's.
    #[error(
        "number {number} of the packed k-mers (from 0) is none: it has bits above the {} of k = {k}; \
         pack k-mers of this k",
        2 * k
    )]
    NotPacked {
        /// Which one it is, from 0.
        number: usize,
        /// The length of the database's k-mers.
        k: usize,
    },
    /// The cut-offs exclude each other.
    #[error("the smallest count to keep ({min}) is above the largest ({max}): no k-mer could pass")]
    Cutoffs {
        /// Smallest count.
        min: u32,
        /// Largest count.
        max: u32,
    },
    /// The place where text was to go does not take it.
    #[error("cannot write the result: {0}")]
    Sink(#[source] io::Error),
    /// A file of results cannot be written.
    #[error(transparent)]
    Write(#[from] OutputError),
    /// Another thread failed first; its error is the one to report.
    #[error("stopped because another thread failed")]
    Stopped,
    /// Somebody asked the run to stop.
    #[error("stopped on request")]
    Cancelled,
}

impl From<TabulateError> for OperationError {
    fn from(error: TabulateError) -> OperationError {
        match error {
            TabulateError::Input(error) => OperationError::Reads(error),
            TabulateError::Cancelled => OperationError::Cancelled,
            error => OperationError::Sink(io::Error::other(error)),
        }
    }
}
