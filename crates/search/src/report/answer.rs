//! What a report is made of.

use crate::scoring::ScoringSystem;
use crate::{Hit, Program, Sequences, Subjects};

/// What a search found for one query.
pub struct QueryHits<'a> {
    /// What is compared with what.
    pub program: Program,
    /// All queries.
    pub queries: &'a Sequences,
    /// The number of this one among them.
    pub query: usize,
    /// The subjects of the hits, at least.
    pub subjects: &'a dyn Subjects,
    /// How alignments were scored.
    pub scoring: &'a dyn ScoringSystem,
    /// The subjects, the best first.
    pub hits: &'a [Hit],
}

/// What a report says of the search as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// Name and version of the program.
    pub program: String,
    /// Names of the files of the database.
    pub database: String,
    /// The largest E-value that was asked for.
    pub evalue: f64,
}
