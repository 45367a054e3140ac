//! Writing chosen reads, single ones or pairs, as they came.

use gyrase_files::OutputError;
use gyrase_seq::Batch;

use crate::options::Format;
use crate::output::Complete;
use crate::writer::Writer;

/// Where chosen reads go, in the format that they came in: FASTA stays FASTA, FASTQ stays FASTQ.
/// Without any reads the files are empty.
#[derive(Debug)]
pub struct PairWriter {
    first: Writer,
    second: Option<Writer>,
    /// True once the first record told the format.
    begun: bool,
}

impl PairWriter {
    /// `first` takes single reads or first mates, and second mates too when there is no `second`:
    /// each behind its first mate.
    pub fn new(first: Writer, second: Option<Writer>) -> PairWriter {
        PairWriter {
            first,
            second,
            begun: false,
        }
    }

    /// Writes a read of the first batch, and its mate of the second where that has any.
    ///
    /// # Errors
    /// A file cannot be written.
    ///
    /// # Panics
    /// When a batch has no such record.
    pub fn write(&mut self, [first, second]: &[Batch; 2], index: usize) -> Result<(), OutputError> {
        if !std::mem::replace(&mut self.begun, true) {
            let format = format_of(first);
            self.first.set_format(format);
            self.second
                .iter_mut()
                .for_each(|writer| writer.set_format(format));
        }
        self.first.write_record(first, index)?;
        if second.records.is_empty() {
            return Ok(());
        }
        self.second
            .as_mut()
            .unwrap_or(&mut self.first)
            .write_record(second, index)
    }

    /// Writes what is left, down to the disk; no file has its name yet.
    ///
    /// # Errors
    /// A file cannot be written; none appears then.
    pub fn complete(self) -> Result<PairsWritten, OutputError> {
        Ok(PairsWritten {
            first: self.first.complete()?,
            second: self.second.map(Writer::complete).transpose()?,
        })
    }
}

/// The files of a [`PairWriter`], all their bytes written and yet without names.
#[derive(Debug)]
#[must_use = "files that are not published are removed"]
pub struct PairsWritten {
    first: Complete,
    second: Option<Complete>,
}

impl PairsWritten {
    /// Gives the files their names.
    ///
    /// # Errors
    /// A file cannot be renamed.
    pub fn publish(self) -> Result<(), OutputError> {
        self.first.publish()?;
        self.second.map_or(Ok(()), Complete::publish)
    }
}

/// FASTA has no qualities; only FASTQ can have nothing but empty records and mean it.
fn format_of(batch: &Batch) -> Format {
    let bare = batch
        .records
        .iter()
        .any(|record| record.qualities.len() < record.letters.len());
    if bare { Format::Fasta } else { Format::Fastq }
}
