//! Output files: sequences through `gyrase-fastx`, tables as plain text.

use std::io;
use std::path::Path;

use gyrase_fastx::{Format, Output, Writer};
use gyrase_files::OutputError;

use crate::sequence::Sequence;

const COLUMNS: usize = 80;

/// Starts a file of sequences or reads, as [`Output::open`] does.
pub(crate) fn create(path: &Path, format: Format) -> Result<Writer, OutputError> {
    Ok(Writer::new(Output::open(path)?, format))
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
pub(crate) struct Table(Output);

impl Table {
    /// Starts a table, as [`Output::open`] does.
    pub(crate) fn create(path: &Path) -> Result<Table, OutputError> {
        Ok(Table(Output::open(path)?))
    }

    /// Adds whatever `fill` writes.
    pub(crate) fn put(
        &mut self,
        fill: impl FnOnce(&mut Output) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        fill(&mut self.0).map_err(|source| self.0.error(source))
    }

    /// Publishes the table.
    pub(crate) fn commit(self) -> Result<(), OutputError> {
        self.0.finish()
    }
}
