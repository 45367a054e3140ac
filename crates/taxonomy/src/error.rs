//! What can be wrong with a taxonomy, said so that it can be mended.

use std::io;
use std::path::{Path, PathBuf};

/// A taxonomy, or a map of sequences to taxids, that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TaxonomyError {
    /// No such file or folder.
    #[error("{}: there is no such file or folder; expected {expected}", path.display())]
    NotFound {
        /// The path as it was given.
        path: PathBuf,
        /// What may be there.
        expected: &'static str,
    },
    /// A dump lacks one of the files that it cannot be without.
    #[error(
        "{} has no {file}; a taxonomy needs nodes.dmp and names.dmp of one and the same dump: \
         unpack taxdump.tar.gz again, or name it instead of the folder", path.display()
    )]
    Missing {
        /// The folder or the archive.
        path: PathBuf,
        /// What is not in it.
        file: &'static str,
    },
    /// The system failed to open or to read a file.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A compressed file or an archive stops too early.
    #[error(
        "{}: the file is truncated: its compressed data or its archive end too early; copy or \
         download it again",
        path.display()
    )]
    Truncated {
        /// The file.
        path: PathBuf,
    },
    /// A compressed file or an archive is not what it was.
    #[error("{}: the file is damaged ({source}); copy or download it again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the decompressor said.
        source: io::Error,
    },
    /// A line that breaks the format, or contradicts other lines.
    #[error("{input}, line {line}: {problem}")]
    Malformed {
        /// Name of the file.
        input: String,
        /// Number of the line, from 1.
        line: u64,
        /// What was expected and what was found.
        problem: String,
    },
    /// A file that as a whole is not what it should be.
    #[error("{input}: {problem}")]
    Unfit {
        /// Name of the file.
        input: String,
        /// What was expected and what was found.
        problem: String,
    },
    /// Nodes that were given one by one are no tree.
    #[error(transparent)]
    Flaw(#[from] Flaw),
    /// Stored bytes of another version.
    #[error(
        "the taxonomy of the database is of version {found}, this program reads version {known}; \
         build the database again or use the program that made it"
    )]
    Version {
        /// Its version.
        found: u32,
        /// The version that this program reads.
        known: u32,
    },
    /// Stored bytes that contradict themselves.
    #[error("the taxonomy of the database is corrupt: {what}; copy or build the database again")]
    Corrupt {
        /// What was expected and what was found.
        what: String,
    },
}

impl TaxonomyError {
    /// True when the command line is at fault (no such file, no permission) and not the data.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            TaxonomyError::NotFound { .. } | TaxonomyError::Read { .. }
        )
    }

    /// True when a database is at fault and not a file of a taxonomy.
    pub fn is_database(&self) -> bool {
        matches!(
            self,
            TaxonomyError::Version { .. } | TaxonomyError::Corrupt { .. }
        )
    }

    /// What a failed reading means.
    pub(crate) fn reading(path: &Path, source: io::Error) -> TaxonomyError {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::UnexpectedEof => TaxonomyError::Truncated { path },
            _ if source.raw_os_error().is_some() => TaxonomyError::Read { path, source },
            _ => TaxonomyError::Damaged { path, source },
        }
    }
}

/// Why nodes are no tree. Places are those of the order in which the nodes came, from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// No node 1 that is its own parent.
    #[error("there is no root: expected a node with taxid 1 that is its own parent")]
    NoRoot,
    /// Two nodes have one taxid.
    #[error("taxid {taxid} is there twice")]
    Twice {
        /// The taxid.
        taxid: u32,
        /// Place of the first of them.
        first: usize,
        /// Place of the second.
        second: usize,
    },
    /// A node's parent does not exist.
    #[error("the parent of taxid {taxid} is {parent}, which does not exist")]
    NoParent {
        /// The taxid of the node.
        taxid: u32,
        /// The taxid of the parent.
        parent: u32,
        /// Place of the node.
        place: usize,
    },
    /// A node is above itself.
    #[error(
        "taxid {taxid} is above itself: its way upwards comes back to it instead of reaching the \
         root"
    )]
    Cycle {
        /// The smallest taxid of the circle.
        taxid: u32,
        /// Place of the node.
        place: usize,
    },
    /// A taxid that stands for "unclassified".
    #[error("taxid 0 means unclassified and cannot be a node")]
    Zero {
        /// Place of the node.
        place: usize,
    },
    /// More nodes than can be numbered.
    #[error("a taxonomy has at most 2147483647 nodes")]
    TooMany,
    /// More names of ranks than can be numbered.
    #[error("a taxonomy has at most 65536 different ranks")]
    TooManyRanks,
}
