//! Reads and pairs of reads in the order of their files: what answers for every read is fed with
//! them.

use std::sync::Arc;

use gyrase_fastx::{Options, PairedReader, Reader};
use gyrase_seq::Batch;
use gyrase_work::{Checking, Feed, Fetching};

use crate::TabulateError;

/// Bytes of text of a record in a run of so much memory: on the way from the file to a batch a few
/// copies of it are there at once.
pub fn longest_record(memory: u64) -> usize {
    (memory / 32).clamp(16 << 20, 1 << 30) as usize
}

/// Reads or pairs of reads in the order of their files.
pub enum Source {
    /// Single reads.
    Single(Box<Reader>),
    /// Pairs.
    Paired(Box<PairedReader>),
}

impl Source {
    /// Reads are whole, so that what is known of a read is known at once.
    pub fn options() -> Options {
        Options {
            whole_records: true,
            ..Options::default()
        }
    }

    /// Bytes that were read so far, as they are stored.
    pub fn read_bytes(&self) -> u64 {
        match self {
            Source::Single(reader) => reader.read_bytes(),
            Source::Paired(reader) => reader.read_bytes(),
        }
    }
}

impl Feed for Source {
    /// Single reads and an empty batch, or first and second mates.
    type Task = [Batch; 2];
    type Error = TabulateError;

    fn next(&mut self, [first, second]: &mut [Batch; 2]) -> Result<bool, TabulateError> {
        Ok(match self {
            Source::Single(reader) => reader.next_batch(first),
            Source::Paired(reader) => reader.next_unchecked(first, second),
        }?)
    }

    fn fetching(&self) -> Option<Fetching> {
        Some(match self {
            Source::Single(reader) => Arc::new(reader.fetching()),
            Source::Paired(reader) => Arc::new(reader.fetching()),
        })
    }

    /// That the names of mates are equal.
    fn checking(&self) -> Option<Checking<[Batch; 2], TabulateError>> {
        let Source::Paired(reader) = self else {
            return None;
        };
        let names = reader.names();
        let check = move |[first, second]: &[Batch; 2]| Ok(names.check(first, second)?);
        Some(Arc::new(check))
    }
}
