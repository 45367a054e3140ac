//! Output files: sequences through `gyrase-fastx`, tables as plain text.

use std::io::{self, Write};
use std::path::Path;

use gyrase_fastx::{Compression, Format, Writer};
use gyrase_files::{OutputError, OutputFile};

use crate::SimulateError;
use crate::error::check;
use crate::sequence::Sequence;

const COLUMNS: usize = 80;
const FULL: usize = 1 << 20;

/// Starts a file of sequences or reads, compressed as its name says; `-` is standard output.
pub(crate) fn create(path: &Path, format: Format) -> Result<Writer, OutputError> {
    if path.as_os_str() == "-" {
        return Writer::to_stream(
            "standard output",
            Box::new(io::stdout()),
            format,
            Compression::Plain,
        );
    }
    Writer::create(path, format, None)
}

/// Starts a FASTA file with these sequences.
pub(crate) fn fasta<'a>(
    path: &Path,
    sequences: impl IntoIterator<Item = &'a Sequence>,
) -> Result<Writer, OutputError> {
    let mut writer = create(path, Format::Fasta)?.wrap(COLUMNS);
    for sequence in sequences {
        writer.write(sequence.name.as_bytes(), &sequence.letters, b"")?;
    }
    Ok(writer)
}

/// A table under construction.
pub(crate) struct Table {
    file: OutputFile,
    buffer: Vec<u8>,
}

impl Table {
    /// Starts a table at `path`, which `setting` names.
    pub(crate) fn create(path: &Path, setting: &'static str) -> Result<Table, SimulateError> {
        let plain = Compression::for_output(path) == Compression::Plain;
        check(
            plain,
            setting,
            path.display(),
            "a name without the ending of a compression: tables are plain text",
        )?;
        Ok(Table {
            file: OutputFile::create(path)?,
            buffer: Vec::new(),
        })
    }

    /// Adds whatever `fill` writes.
    pub(crate) fn put(
        &mut self,
        fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        fill(&mut self.buffer).map_err(|source| self.file.error(source))?;
        if self.buffer.len() < FULL {
            Ok(())
        } else {
            self.flush()
        }
    }

    fn flush(&mut self) -> Result<(), OutputError> {
        self.file
            .write_all(&self.buffer)
            .map_err(|source| self.file.error(source))?;
        self.buffer.clear();
        Ok(())
    }

    /// Publishes the table.
    pub(crate) fn commit(mut self) -> Result<(), OutputError> {
        self.flush()?;
        self.file.commit()
    }
}
