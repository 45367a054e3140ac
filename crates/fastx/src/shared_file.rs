//! A plain file of FASTQ that several processes read together, each its share.
//!
//! Where a share begins is guessed, as that of a [chunk](crate::chunks) is. Reading from a true
//! record start is exact: if all shares, each from its guess to the next one, are whole records and
//! nothing else, all guesses were right. So whoever reads one has to hear that none had an error.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::chunks::find_record;
use crate::error::Error;
use crate::inputs::plain_ranges;
use crate::list;
use crate::look::{is_pipe, look, look_at};
use crate::options::{Format, Options};
use crate::ranges::Ranges;
use crate::reader::Reader;
use crate::source;
use crate::stream::Reading;

/// A plain file of FASTQ of which shares can be read.
pub struct SharedFile {
    ranges: Ranges,
    file: File,
    reading: Reading,
    options: Options,
}

impl SharedFile {
    /// Opens a file, for whole records; nothing where it is none of plain FASTQ.
    ///
    /// # Errors
    /// As [`Inputs::open`](crate::Inputs::open).
    pub fn open(path: &Path, options: &Options) -> Result<Option<SharedFile>, Error> {
        if list::is_standard_input(path) || is_pipe(path) {
            return Ok(None);
        }
        let options = Options {
            whole_records: true,
            ..options.clone()
        };
        let looked = look(path, &options)?;
        let ranges = plain_ranges(0, &looked, options.serial, &options);
        let Some(ranges) = ranges.filter(|ranges| ranges.format == Format::Fastq) else {
            return Ok(None);
        };
        Ok(Some(SharedFile {
            ranges,
            file: source::open(path)?,
            reading: Reading::new(vec![looked.input], &options),
            options,
        }))
    }

    /// Its bytes from the first record on.
    pub fn bytes(&self) -> Range<u64> {
        self.ranges.bytes.clone()
    }

    /// Where the first record of one of so many shares of the bytes seems to begin; nothing where
    /// none does.
    ///
    /// # Errors
    /// The file cannot be read, or has too long a record.
    pub fn start(&self, number: usize, of: usize) -> Result<Option<u64>, Error> {
        let Range { start, end } = self.ranges.bytes;
        let length = u128::from(end - start);
        let border = |number| start + (length * number as u128 / of as u128) as u64;
        let own = border(number)..border(number + 1);
        if own.start == start {
            return Ok((number == 0).then_some(start));
        }
        let longest = self.reading.rules.longest_record as u64;
        let at = own.start;
        let found = find_record(&self.file, &self.ranges, own, longest, &mut Vec::new());
        found.map_err(|failed| self.ranges.error(failed, at, &self.reading))
    }

    /// Reads some of the bytes, which begin with a record and end behind one. Records are numbered
    /// from there on.
    ///
    /// # Errors
    /// The file cannot be read, or begins there with no record.
    pub fn reader(&self, bytes: Range<u64>) -> Result<Reader, Error> {
        let input = &self.reading.inputs[0];
        let (at, name) = (bytes.start, input.name.clone());
        let mut file = source::open(&input.path)?;
        file.seek(SeekFrom::Start(at))
            .map_err(|source| Error::Read {
                input: name.clone(),
                at,
                source,
            })?;
        let text = Box::new(file.take(bytes.end - at));
        // No more room than the text takes: shares may be many and short.
        let options = Options {
            batch_bytes: self.options.batch_bytes.min((bytes.end - at) as usize + 64),
            ..self.options.clone()
        };
        let looked = look_at(&input.path, name, None, text, &options)?;
        Ok(Reader::counting(looked, &options, &Arc::default()))
    }
}

impl std::fmt::Debug for SharedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("SharedFile")
            .field("input", &self.reading.inputs[0])
            .finish_non_exhaustive()
    }
}
