//! What a format is given, and what it has to write.

use std::io::{self, Write};

pub use super::answer::{About, QueryHits};
use super::setting::Setting;

/// How one format is written. What fails is the output.
pub(super) trait Layout {
    /// What stands before the first query, if there is one.
    fn head(&self, out: &mut dyn Write, about: &About, first: Option<&QueryHits>)
    -> io::Result<()>;
    /// What a query has.
    fn query(&self, out: &mut dyn Write, about: &About, answer: &QueryHits) -> io::Result<()>;
    /// What stands behind the last query.
    fn tail(&self, out: &mut dyn Write, about: &About, end: &End) -> io::Result<()>;
}

/// What is known behind the last query.
pub(super) struct End {
    /// How many queries there were.
    pub queries: usize,
    /// How they were searched for, if there were any.
    pub setting: Option<Setting>,
}
