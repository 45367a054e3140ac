//! One input, read by one thread.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gyrase_seq::Batch;

use crate::error::Error;
use crate::look::{Looked, look, look_at};
use crate::options::{Input, Options};
use crate::stream::{Asked, Reading, Stream};

/// One input, read from front to end: batches come in its order and know the number of their first
/// record.
pub struct Reader {
    reading: Reading,
    stream: Option<Stream>,
}

impl Reader {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// As [`Inputs::open`](crate::Inputs::open).
    pub fn open(path: &Path, options: &Options) -> Result<Reader, Error> {
        Ok(Reader::new(look(path, options)?, options))
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
        Ok(Reader::new(
            look_at(
                Path::new(name),
                name.to_owned(),
                None,
                Box::new(bytes),
                options,
            )?,
            options,
        ))
    }

    /// Reads what was looked at, and counts the stored bytes that it reads in `read`.
    pub(crate) fn counting(looked: Looked, options: &Options, read: &Arc<AtomicU64>) -> Reader {
        let mut reader = Reader::new(looked, options);
        reader.reading.read = Arc::clone(read);
        reader
    }

    fn new(looked: Looked, options: &Options) -> Reader {
        let stream = (!looked.empty).then(|| Stream::new(0, looked.origin));
        Reader {
            reading: Reading::new(vec![looked.input], options),
            stream,
        }
    }

    /// Fills the batch with the next records; false when there are no more.
    ///
    /// # Errors
    /// The input is malformed, truncated or unreadable.
    pub fn next_batch(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        batch.records.clear();
        while let Some(stream) = &self.stream {
            match stream.ask(&self.reading, batch, true)? {
                Asked::Batch => return Ok(true),
                Asked::Again | Asked::Busy => {}
                Asked::Ended => self.stream = None,
            }
        }
        batch.clear();
        Ok(false)
    }

    /// Bytes that were read so far, as they are stored.
    pub fn read_bytes(&self) -> u64 {
        self.reading.read.load(Relaxed)
    }

    /// What the input is.
    pub fn input(&self) -> &Input {
        &self.reading.inputs[0]
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("input", self.input())
            .finish_non_exhaustive()
    }
}
