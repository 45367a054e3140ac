//! Reports of what was classified, each a function from a [`Tally`](crate::tally::Tally) to a text.
//!
//! All write to a `&mut dyn Write`, list taxa in an order that depends on the counts and taxids
//! alone, and are valid, without `nan`, for samples without reads or without hits. Names keep their
//! letters; control characters in them, which would break lines and columns, become spaces.

mod bracken;
mod cami;
mod clades;
mod coverage;
mod evidence;
mod html;
mod json;
mod kreport;
pub(crate) mod lines;
mod matrix;
mod mpa;
mod taxpasta;

pub use bracken::bracken;
pub use cami::{CamiProfile, cami};
pub use clades::{Clade, Clades};
pub use coverage::{Covered, coverage};
pub use evidence::evidence;
pub use html::{Origin, PAGE as TAXA_PAGE, html};
pub use kreport::{Kreport, kreport};
pub use matrix::Matrix;
pub use mpa::mpa;
pub use taxpasta::taxpasta;

/// A sample with a name, as reports over many samples take it.
#[derive(Clone, Copy, Debug)]
pub struct NamedTally<'a> {
    /// What the sample is called; any text.
    pub name: &'a str,
    /// What its reads were assigned to.
    pub tally: &'a crate::tally::Tally,
}
