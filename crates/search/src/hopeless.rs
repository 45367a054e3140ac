//! Queries that can have no hits, and why.

use std::fmt;

/// A query that can have no hits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopelessQuery {
    /// Its name.
    pub name: String,
    /// Why.
    pub why: NoHope,
}

/// Why a query can have no hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoHope {
    /// It has no letters.
    Empty,
    /// No letter stands for one residue or one base.
    Unknown,
    /// So many bases in a row are a word, and it has none.
    Short(usize),
    /// What is left beside masks has none either.
    Masked,
}

impl fmt::Display for HopelessQuery {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "query {} can have no hits: ", self.name)?;
        match self.why {
            NoHope::Empty => write!(to, "it has no letters"),
            NoHope::Unknown => write!(to, "none of its letters stands for one residue or base"),
            NoHope::Short(word) => {
                write!(to, "it has no {word} bases in a row, which are a word; ")?;
                write!(to, "choose a smaller --word-size")
            }
            NoHope::Masked => {
                write!(to, "masks leave nothing of it to begin an alignment with; ")?;
                write!(
                    to,
                    "choose others with --seg, --dust or --lower-case-masking"
                )
            }
        }
    }
}
