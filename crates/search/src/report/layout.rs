//! What a format is given, and what it has to write.

use std::io::{self, Write};

use crate::{Hit, Program, Scoring, Sequences};

/// What a search found for one query.
pub struct QueryHits<'a> {
    /// What is compared with what.
    pub program: Program,
    /// All queries.
    pub queries: &'a Sequences,
    /// The number of this one among them.
    pub query: usize,
    /// The database.
    pub subjects: &'a Sequences,
    /// How alignments were scored.
    pub scoring: &'a Scoring,
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

/// How one format is written. What fails is the output.
pub(super) trait Layout {
    /// What stands before the first query, if there is one.
    fn head(&self, out: &mut dyn Write, about: &About, first: Option<&QueryHits>)
    -> io::Result<()>;
    /// What a query has.
    fn query(&self, out: &mut dyn Write, about: &About, answer: &QueryHits) -> io::Result<()>;
    /// What stands behind so many queries.
    fn tail(&self, out: &mut dyn Write, queries: usize) -> io::Result<()>;
}
