//! Writing FASTA and FASTQ.

use std::io::{self, Write};
use std::path::Path;

use gyrase_files::OutputError;
use gyrase_seq::Batch;

use crate::options::{Compression, Format};
use crate::output::{Complete, Output};

/// Bytes that are collected before they are compressed.
const BUFFER: usize = 64 << 10;

/// Writes records to a file, which appears when [`Writer::finish`] is called and not before, or to
/// a stream.
pub struct Writer {
    output: Output,
    format: Format,
    width: usize,
    buffer: Vec<u8>,
}

impl Writer {
    /// Starts a file. Without a compression its name decides, as for [`Output::create`].
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(
        path: &Path,
        format: Format,
        compression: Option<Compression>,
    ) -> Result<Writer, OutputError> {
        Ok(Writer::new(Output::create(path, compression)?, format))
    }

    /// Writes records as text to an output.
    pub fn new(output: Output, format: Format) -> Writer {
        Writer {
            output,
            format,
            width: 0,
            buffer: Vec::new(),
        }
    }

    /// Breaks the sequences of FASTA after `width` letters; 0, as it is at first, for never.
    pub fn wrap(mut self, width: usize) -> Writer {
        self.width = width;
        self
    }

    /// Writes a record; `name` is the header without its `>` or `@`. FASTA leaves the qualities
    /// out.
    ///
    /// # Errors
    /// The file cannot be written; or FASTQ was asked for and there are not as many qualities as
    /// letters.
    pub fn write(
        &mut self,
        name: &[u8],
        letters: &[u8],
        qualities: &[u8],
    ) -> Result<(), OutputError> {
        match self.format {
            Format::Fasta => self.fasta(name, letters),
            Format::Fastq if qualities.len() == letters.len() => {
                for piece in [b"@", name, b"\n", letters, b"\n+\n", qualities, b"\n"] {
                    self.buffer.extend_from_slice(piece);
                }
            }
            Format::Fastq => {
                return Err(self.output.error(io::Error::other(
                    "a record without qualities cannot be written as FASTQ",
                )));
            }
        }
        if self.buffer.len() >= BUFFER {
            self.pass_on()
        } else {
            Ok(())
        }
    }

    fn fasta(&mut self, name: &[u8], letters: &[u8]) {
        self.buffer.push(b'>');
        self.buffer.extend_from_slice(name);
        self.buffer.push(b'\n');
        let width = if self.width == 0 {
            letters.len().max(1)
        } else {
            self.width
        };
        for line in letters.chunks(width) {
            self.buffer.extend_from_slice(line);
            self.buffer.push(b'\n');
        }
    }

    /// Writes a record of a batch as it is.
    ///
    /// # Errors
    /// As [`Writer::write`].
    ///
    /// # Panics
    /// When the batch has no such record.
    pub fn write_record(&mut self, batch: &Batch, index: usize) -> Result<(), OutputError> {
        let record = batch.records[index];
        self.write(
            batch.bytes(record.name),
            batch.bytes(record.letters),
            batch.bytes(record.qualities),
        )
    }

    fn pass_on(&mut self) -> Result<(), OutputError> {
        let written = self.output.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|source| self.output.error(source))
    }

    /// From the next record on, the format is another: that of reads may be known only when the
    /// first are there.
    pub fn set_format(&mut self, format: Format) {
        self.format = format;
    }

    /// Writes what is left, down to the disk; the file has no name yet. Who has several files
    /// completes all before the first appears.
    ///
    /// # Errors
    /// The file cannot be written; it does not appear then.
    pub fn complete(mut self) -> Result<Complete, OutputError> {
        self.pass_on()?;
        self.output.complete()?.sync()
    }

    /// Writes what is left and gives the file its name.
    ///
    /// # Errors
    /// The file cannot be written; it does not appear then.
    pub fn finish(self) -> Result<(), OutputError> {
        self.complete()?.publish()
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("output", &self.output)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}
