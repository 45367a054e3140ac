//! `.gydb` databases: where each feature of the references occurs, checksummed, used straight from
//! a memory map.
//!
//! A database answers one question: at which [`Location`]s (windows of the references) does a
//! *feature* (the hash of a k-mer that was chosen for a sketch) occur? Whatever else a classifier
//! needs to know of its references, such as names and taxonomy, travels in *sections*: bytes by
//! name, which this crate does not read.
//!
//! Features are chosen for being small, so they are far from uniform. Their [`place_of`] is: a
//! bijection gives every feature its place in 0..2^32, the upper 12 bits of the place name one of
//! [`PARTITIONS`] partitions, and a partition cuts its places into buckets of about fourteen
//! features. A bucket is a cache line that says where the locations of its features stand side by
//! side, so that a look-up waits for memory once when the feature is not there, and twice when it
//! is. [`Database::locations_of`] looks many features up at a time and lets these waits overlap.
//!
//! [`Writer`] builds a database, in a file or in memory, from partitions that many threads finish;
//! [`Database`] reads it. `docs/formats.md` describes the bytes.

mod bucket;
mod check;
mod database;
mod error;
mod layout;
mod partition;
mod piece;
mod pipeline;
mod shared;
mod size;
mod words;
mod writer;

pub use crate::location::Location;
pub use database::{Database, Features};
pub use error::GydbError;
pub use layout::{MAGIC, MAX_COUNT, PARTITIONS, Summary, feature_at, partition_of, place_of};
pub use size::bytes_for;
pub use words::{FeatureWords, PartitionWords};
pub use writer::Writer;
