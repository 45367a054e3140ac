//! `.gysa` files: texts and their suffix array. `docs/formats.md` has every byte.

mod database;
mod layout;
mod spread;
mod writer;

pub use database::GysaFile;
pub use layout::{GysaFacts, MAGIC, VERSION};
pub(crate) use spread::write_in;
pub use writer::write;

#[cfg(test)]
mod tests;
