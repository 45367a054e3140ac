//! One input, read by one thread.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gyrase_seq::Batch;

use crate::error::Error;
use crate::fetched::Fetched;
use crate::look::{Looked, look, look_at};
use crate::options::{Input, Options};
use crate::stream::{Asked, Reading};

/// One input, read from front to end: batches come in its order and know the number of their first
/// record.
pub struct Reader {
    fetched: Arc<Fetched>,
    ended: bool,
}

impl Reader {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// As [`Inputs::open`](crate::Inputs::open).
    pub fn open(path: &Path, options: &Options) -> Result<Reader, Error> {
        Ok(Reader::counting(
            look(path, options)?,
            options,
            &Arc::default(),
        ))
    }

    /// Reads any stream of bytes, compressed or not; `name` is what messages call it.
    ///
    /// # Errors
    /// The stream fails, or starts neither as FASTA nor as FASTQ.
    pub fn from_read(
        name: &str,
        bytes: impl Read + Send + 'static,
        options: &Options,
    ) -> Result<Reader, Error> {
        let path = Path::new(name);
        let looked = look_at(path, name.to_owned(), None, Box::new(bytes), options)?;
        Ok(Reader::counting(looked, options, &Arc::default()))
    }

    /// Reads what was looked at, and counts the stored bytes that it reads in `read`.
    pub(crate) fn counting(looked: Looked, options: &Options, read: &Arc<AtomicU64>) -> Reader {
        let reading = Reading {
            read: Arc::clone(read),
            ..Reading::new(vec![looked.input.clone()], options)
        };
        Reader {
            fetched: Arc::new(Fetched::new(looked, reading)),
            ended: false,
        }
    }

    /// What other threads may call while one reads: it reads and decompresses text for it as long
    /// as that is to be done.
    pub fn fetching(&self) -> impl Fn() + Send + Sync + use<> {
        let fetched = Arc::clone(&self.fetched);
        move || fetched.fetch()
    }

    /// Fills the batch with the next records; false when there are no more.
    ///
    /// # Errors
    /// The input is malformed, truncated or unreadable.
    pub fn next_batch(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        batch.records.clear();
        while !self.ended {
            match self.fetched.ask(batch)? {
                Asked::Batch => return Ok(true),
                Asked::Again | Asked::Busy => {}
                Asked::Ended => self.ended = true,
            }
        }
        batch.clear();
        Ok(false)
    }

    /// Bytes that were read so far, as they are stored.
    pub fn read_bytes(&self) -> u64 {
        self.fetched.reading.read.load(Relaxed)
    }

    /// What the input is.
    pub fn input(&self) -> &Input {
        &self.fetched.reading.inputs[0]
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("input", self.input())
            .finish_non_exhaustive()
    }
}
