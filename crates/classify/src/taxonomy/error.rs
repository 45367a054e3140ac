//! What can be wrong with a taxonomy, said so that it can be mended.

use super::bytes::VERSION;

/// A taxonomy that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TaxonomyError {
    /// Nodes that were given one by one are no tree.
    #[error(transparent)]
    Flaw(#[from] Flaw),
    /// Stored bytes of another version.
    #[error(
        "the taxonomy of the database is of version {found}, this program reads version {VERSION}; build the database again or use the program that made it"
    )]
    Version {
        /// Its version.
        found: u32,
    },
    /// Stored bytes that contradict themselves.
    #[error("the taxonomy of the database is corrupt: {what}; copy or build the database again")]
    Corrupt {
        /// What was expected and what was found.
        what: String,
    },
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
    #[error("taxid {taxid} is above itself: its way upwards comes back to it instead of reaching the root")]
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
