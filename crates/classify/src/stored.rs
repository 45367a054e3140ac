//! Reads and their hits in files: what answers are made of, when they are not made at once.
//!
//! A file has rows, one for each read or pair in their order, packed into blocks that threads can
//! read apart. What a row tells depends on the [`Kind`] of the file: a database that is larger than
//! the memory is asked slice by slice, which gives a file of the reads, one of hits for every
//! slice, and answers once all are there; `--candidates` keeps both in one file, with what the
//! database says of its references. The number of a read is its place among the rows, so files that
//! were made apart fit together.

mod blocks;
mod file;
mod row;

pub(crate) use self::blocks::{Block, Encoder, FULL};
pub use self::file::StoredError;
pub(crate) use self::file::{Cursor, Store, Stored};
pub(crate) use self::row::{Kind, Row};
