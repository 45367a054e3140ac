//! What can go wrong between a foreign database and ours.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use gyrase_fabric::FabricError;
use gyrase_files::OutputError;
use gyrase_kmer::ShapeError;
use gyrase_tabulate::TabulateError;

use crate::ops::OperationError;

/// Where in a foreign file something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePosition {
    /// A line of a text, from 1.
    Line(u64),
    /// A record (one k-mer, or one block of them), from 1.
    Record(u64),
    /// A section of a KFF file, from 1.
    Section(u64),
    /// The first bytes of the file, or its fixed fields.
    Header,
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilePosition::Line(line) => write!(f, "line {line}"),
            FilePosition::Record(record) => write!(f, "record {record}"),
            FilePosition::Section(section) => write!(f, "section {section}"),
            FilePosition::Header => write!(f, "header"),
        }
    }
}

/// A foreign database that could not be read, or one that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The system could not read a file.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file ends before it should.
    #[error(
        "{} is truncated: {what} (was the copy or the program that wrote it interrupted?)",
        path.display()
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// What was expected and what was found.
        what: String,
    },
    /// The compressed data are not what they were.
    #[error(
        "{}: the compressed data are damaged ({source}); copy or make the file again",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the decompressor said.
        source: io::Error,
    },
    /// The file breaks the rules of its format.
    #[error("{}, {place}: {what}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where in it.
        place: FilePosition,
        /// What was expected and what was found.
        what: String,
    },
    /// The file keeps to its format, and asks for something that Gyrase does not do.
    #[error("{} cannot be read: {what}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it asks for.
        what: String,
    },
    /// A k that no table has.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// An output or a temporary file could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The `.gyk` file could not be read or written.
    #[error(transparent)]
    Table(#[from] gyrase_table::gyk::GykError),
    /// The fabric failed: a spill, its limit, or the reservation of memory.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// A text could not be listed.
    #[error(transparent)]
    Listing(OperationError),
    /// The memory that was granted is not enough to begin.
    #[error("at least {needed} bytes of memory are needed, {granted} were given")]
    Memory {
        /// Bytes that were granted.
        granted: u64,
        /// Bytes that are needed.
        needed: u64,
    },
    /// The run was asked to stop.
    #[error("stopped on request; nothing was written")]
    Cancelled,
}

impl ExchangeError {
    pub(crate) fn read(path: &Path, source: io::Error) -> ExchangeError {
        if source.kind() == io::ErrorKind::UnexpectedEof {
            return ExchangeError::truncated(path, source.to_string());
        }
        let path = path.to_path_buf();
        // What the system did not say the decompressor did.
        match source.raw_os_error() {
            Some(_) => ExchangeError::Read { path, source },
            None => ExchangeError::Damaged { path, source },
        }
    }

    pub(crate) fn truncated(path: &Path, what: impl Into<String>) -> ExchangeError {
        ExchangeError::Truncated {
            path: path.to_path_buf(),
            what: what.into(),
        }
    }

    pub(crate) fn malformed(
        path: &Path,
        place: FilePosition,
        what: impl Into<String>,
    ) -> ExchangeError {
        ExchangeError::Malformed {
            path: path.to_path_buf(),
            place,
            what: what.into(),
        }
    }

    pub(crate) fn unsupported(path: &Path, what: impl Into<String>) -> ExchangeError {
        ExchangeError::Unsupported {
            path: path.to_path_buf(),
            what: what.into(),
        }
    }
}

impl From<TabulateError> for ExchangeError {
    fn from(error: TabulateError) -> ExchangeError {
        match error {
            TabulateError::Input(error) => OperationError::Reads(error).into(),
            TabulateError::Fabric(error) => error.into(),
            TabulateError::Cancelled => ExchangeError::Cancelled,
            error => OperationError::from(error).into(),
        }
    }
}

impl From<OperationError> for ExchangeError {
    fn from(error: OperationError) -> ExchangeError {
        match error {
            OperationError::Database(error) => ExchangeError::Table(error),
            OperationError::Write(error) => ExchangeError::Output(error),
            OperationError::Cancelled => ExchangeError::Cancelled,
            error => ExchangeError::Listing(error),
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, ExchangeError>;
