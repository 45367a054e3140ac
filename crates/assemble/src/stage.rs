//! What was done for one k.

use crate::clean::Cleaned;

/// What was done for one k.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphStage {
    /// Bases of the k-mers.
    pub k: usize,
    /// Nodes of the graph as it was made.
    pub nodes: usize,
    /// What was taken out.
    pub cleaned: Cleaned,
    /// Nodes of the graph then.
    pub left: usize,
}
