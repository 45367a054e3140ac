//! What can be wrong with a database.

use std::io;
use std::path::PathBuf;

use gyrase_files::OutputError;
use gyrase_files::container::ContainerError;
use gyrase_taxonomy::{Disunity, TaxonomyError};
use gyrase_work::Cancelled;

use crate::Molecule;

/// A database of sequences that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum SeqDbError {
    /// A file cannot be opened, is of another version, truncated or corrupt.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// There is no such file, and no such BLAST database.
    #[error(
        "{}: there is no such file, nor a BLAST database of that name ({name}.pin, {name}.pal, \
         {name}.nin or {name}.nal)",
        path.display(), name = path.file_name().unwrap_or_default().display()
    )]
    Missing {
        /// What was named.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} {found}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is and what helps, as a predicate.
        found: String,
    },
    /// A BLAST database needs something that is not read.
    #[error(
        "the BLAST database {} {what}; write its sequences with `blastdbcmd -db {} -entry all \
         -out refs.fa` and name refs.fa",
        path.display(),
        path.with_extension("").display()
    )]
    Unsupported {
        /// The file that says so.
        path: PathBuf,
        /// What it needs, as a predicate.
        what: String,
    },
    /// Sequences of both kinds were named.
    #[error("{first} has {of_first}, {second} has {of_second}: a database has one kind")]
    Mixed {
        /// Name of one.
        first: String,
        /// Its kind.
        of_first: Molecule,
        /// Name of another.
        second: String,
        /// Its kind.
        of_second: Molecule,
    },
    /// There are more sequences than a database has numbers for.
    #[error("there are more than {most} sequences: make several databases")]
    TooMany {
        /// Sequences that fit.
        most: u64,
    },
    /// The taxonomy does not have a taxid that was asked for.
    #[error("the taxonomy of the database does not have taxid {taxid}")]
    UnknownTaxid {
        /// The taxid.
        taxid: u32,
    },
    /// There is no sequence of that name.
    #[error("{} has no sequence {name}", path.display())]
    NoName {
        /// The database.
        path: PathBuf,
        /// The name that was asked for.
        name: String,
    },
    /// The sequence does not have the positions.
    #[error("{name} has {length} letters, not {from} to {to}")]
    NoRange {
        /// Its name.
        name: String,
        /// Its letters.
        length: u64,
        /// The first position that was asked for, from 1.
        from: u64,
        /// The last.
        to: u64,
    },
    /// An input cannot be read.
    #[error(transparent)]
    Input(#[from] gyrase_fastx::Error),
    /// A taxonomy cannot be read.
    #[error(transparent)]
    Taxonomy(#[from] TaxonomyError),
    /// The databases have taxonomies of different makers.
    #[error("the taxonomies of the databases do not fit each other: {0}")]
    Disunity(#[from] Disunity),
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] OutputError),
    /// Somebody called [`Progress::cancel`](gyrase_work::Progress::cancel).
    #[error("the work was cancelled")]
    Cancelled,
}

impl From<Cancelled> for SeqDbError {
    fn from(_: Cancelled) -> SeqDbError {
        SeqDbError::Cancelled
    }
}

impl SeqDbError {
    /// A file that cannot be opened.
    pub(crate) fn open(path: PathBuf, source: io::Error) -> SeqDbError {
        ContainerError::Open { path, source }.into()
    }

    /// A file of another program whose values contradict each other.
    pub(crate) fn corrupt(path: PathBuf, what: String) -> SeqDbError {
        let verb = "build";
        ContainerError::Corrupt { path, what, verb }.into()
    }
}
