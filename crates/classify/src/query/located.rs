//! What is found of a read before it is answered.

use crate::candidates::{Candidate, Hit};

/// What is found of a read.
#[derive(Debug)]
pub(super) struct Located<'h> {
    /// Its hits, in any order.
    pub hits: &'h mut [Hit],
    /// The best region of every target hit, where they are found already: then `hits` are those of
    /// these regions.
    pub found: Option<&'h [Candidate]>,
}

impl<'h> Located<'h> {
    /// Hits whose regions are still to be found.
    pub(super) fn hits(hits: &'h mut [Hit]) -> Located<'h> {
        Located { hits, found: None }
    }
}
