//! `.gyk` databases: the counted k-mers of a run, sorted, checksummed, used straight from a memory
//! map.
//!
//! A database holds every counted k-mer once, in the order (bin, key): first the bin that its
//! minimizer names ([`gyrase_kmer::bin_of`]), then its [`gyrase_kmer::Key`], word by word. Keys are
//! uniform, so a look-up computes where in its bin a key must stand and finds it within a cache
//! line or two. Two databases of one shape are merged bin by bin, each bin independent of the
//! others.
//!
//! [`Writer`] builds one (with [`Pieces`] for a bin that is more than memory holds), [`Database`]
//! reads one. `docs/formats.md` describes the bytes.

mod bin;
mod database;
mod error;
mod finish;
mod layout;
mod pieces;
mod writer;

pub use bin::BinView;
pub use database::Database;
pub use error::GykError;
pub use finish::total_of;
pub use layout::{BinEntry, Cutoffs, Header, MAGIC, Metadata, Summary, bytes_for};
pub use pieces::Pieces;
pub use writer::Writer;
