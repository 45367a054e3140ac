//! Output files, filled through one buffer each.

use std::io::{self, Write};
use std::path::Path;

use gyrase_fabric::{OutputError, OutputFile};

const FULL: usize = 1 << 20;

/// A file under construction.
pub(crate) struct Sink {
    file: OutputFile,
    buffer: Vec<u8>,
}

impl Sink {
    pub(crate) fn create(path: &Path) -> Result<Sink, OutputError> {
        Ok(Sink { file: OutputFile::create(path)?, buffer: Vec::with_capacity(FULL + FULL / 4) })
    }

    /// Where the next record is written; call [`Sink::flush_if_full`] after it.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Hands the buffer on once it is full.
    #[inline]
    pub(crate) fn flush_if_full(&mut self) -> Result<(), OutputError> {
        if self.buffer.len() < FULL { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), OutputError> {
        self.file.write_all(&self.buffer).map_err(|source| self.file.error(source))?;
        self.buffer.clear();
        Ok(())
    }

    /// Writes whatever `fill` writes.
    pub(crate) fn put(&mut self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), OutputError> {
        fill(self).map_err(|source| self.file.error(source))
    }

    /// Publishes the file.
    pub(crate) fn commit(mut self) -> Result<(), OutputError> {
        self.flush()?;
        self.file.commit()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        self.flush_if_full().map_err(|error| error.source)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
