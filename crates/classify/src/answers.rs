//! What is written of answers: a line for each read, and reads by their taxon into files of their
//! own.

mod again;
mod columns;
mod extract;
mod outlets;

pub use self::again::{Again, AgainError};
pub use self::columns::{Columns, Lines};
pub use self::extract::{Extract, Which};
pub use self::outlets::Outlets;
