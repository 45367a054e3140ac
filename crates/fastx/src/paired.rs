//! Pairs of reads: two files in step, or one file in which mates follow each other.

use std::path::Path;

use gyrase_seq::{Batch, Record, Span};

use crate::error::{Error, first_word};
use crate::options::Options;
use crate::reader::Reader;

/// Reads mates together: two batches of as many records, in which records of the same index are
/// mates.
#[derive(Debug)]
pub struct PairedReader {
    first: Side,
    /// None when the mates are interleaved in one file.
    second: Option<Side>,
    pairs: u64,
    /// Pairs after which nothing is read.
    most: u64,
}

/// A reader and the records that still wait for their mates.
#[derive(Debug)]
struct Side {
    reader: Reader,
    batch: Batch,
    taken: usize,
    /// Records that come before the first one that is wanted.
    left_out: u64,
    /// Records that the last reading brought.
    brought: usize,
    /// Nothing more is to be read.
    done: bool,
    /// What stopped the reading: those who wait come first.
    error: Option<Error>,
    spare: Batch,
}

/// Opens a file for whole records.
fn whole(path: &Path, options: &Options) -> Result<Reader, Error> {
    let options = Options {
        whole_records: true,
        ..options.clone()
    };
    Reader::open(path, &options)
}

impl Side {
    fn of(reader: Reader) -> Side {
        Side {
            reader,
            batch: Batch::default(),
            taken: 0,
            left_out: 0,
            brought: 0,
            done: false,
            error: None,
            spare: Batch::default(),
        }
    }

    /// How many records wait, after reading more if they were few: a handful would be a task of its
    /// own, and who works on it would wait for those who work on others.
    fn waiting(&mut self) -> Result<usize, Error> {
        if !self.done && 2 * self.left() <= self.brought {
            self.read();
            // All of it may be left out.
            while !self.done && self.left() == 0 && self.brought > 0 {
                self.read();
            }
        }
        match self
            .error
            .take_if(|_| self.batch.records.len() == self.taken)
        {
            Some(error) => Err(error),
            None => Ok(self.left()),
        }
    }

    fn left(&self) -> usize {
        self.batch.records.len() - self.taken
    }

    /// Reads records behind those that wait.
    fn read(&mut self) {
        let mut brought = std::mem::take(&mut self.spare);
        let read = self.reader.next_batch(&mut brought);
        self.done = !matches!(read, Ok(true));
        if let Err(error) = read {
            brought.clear();
            self.error = Some(error);
        }
        self.brought = brought.records.len();
        let left = self.left();
        for record in &self.batch.records[self.taken..] {
            append(&mut brought, &self.batch, record);
        }
        brought.records.rotate_right(left);
        self.spare = std::mem::replace(&mut self.batch, brought);
        self.taken = self.left_out.min(self.batch.records.len() as u64) as usize;
        self.left_out -= self.taken as u64;
    }

    /// Moves `count` waiting records to a batch without records. The fewer are copied: those that
    /// go, or those that stay.
    fn give(&mut self, count: usize, to: &mut Batch) {
        let end = self.taken + count;
        if self.taken == 0 && 2 * count >= self.batch.records.len() {
            std::mem::swap(to, &mut self.batch);
            if end < to.records.len() {
                self.batch.text.clear();
            }
            for record in &to.records[end..] {
                append(&mut self.batch, to, record);
            }
            to.records.truncate(end);
            return;
        }
        to.text.clear();
        for record in &self.batch.records[self.taken..end] {
            append(to, &self.batch, record);
        }
        self.taken = end;
    }

    fn name(&self) -> String {
        self.reader.input().name.clone()
    }
}

impl PairedReader {
    /// Opens the files of the first and of the second mates.
    ///
    /// # Errors
    /// As [`Inputs::open`](crate::Inputs::open).
    pub fn open(first: &Path, second: &Path, options: &Options) -> Result<PairedReader, Error> {
        let (first, second) = (whole(first, options)?, whole(second, options)?);
        Ok(PairedReader::of(first, second))
    }

    /// Reads the mates of two readers of whole records.
    pub(crate) fn of(first: Reader, second: Reader) -> PairedReader {
        PairedReader::of_share(first, second, 0, u64::MAX)
    }

    /// Reads so many pairs of two readers of whole records, of which the second brings some records
    /// first that are left out.
    pub fn of_share(first: Reader, second: Reader, left_out: u64, pairs: u64) -> PairedReader {
        let second = Side {
            left_out,
            ..Side::of(second)
        };
        PairedReader {
            first: Side::of(first),
            second: Some(second),
            pairs: 0,
            most: pairs,
        }
    }

    /// Opens a file in which every record is followed by its mate.
    ///
    /// # Errors
    /// As [`Inputs::open`](crate::Inputs::open).
    pub fn open_interleaved(path: &Path, options: &Options) -> Result<PairedReader, Error> {
        Ok(PairedReader {
            first: Side::of(whole(path, options)?),
            second: None,
            pairs: 0,
            most: u64::MAX,
        })
    }

    /// Bytes of both files that were read so far, as they are stored.
    pub fn read_bytes(&self) -> u64 {
        let sides = [&self.first].into_iter().chain(&self.second);
        sides.map(|side| side.reader.read_bytes()).sum()
    }

    /// As [`Reader::fetching`], of both files.
    pub fn fetching(&self) -> impl Fn() + Send + Sync + use<> {
        let first = self.first.reader.fetching();
        let second = self.second.as_ref().map(|side| side.reader.fetching());
        move || {
            first();
            second.iter().for_each(|fetch| fetch());
        }
    }

    /// Fills two batches with mates; false when there are no more. [`Batch::first_record`] is the
    /// number of the first pair (from 0) in both.
    ///
    /// # Errors
    /// An input is malformed; mates have different names (before the first space, a final `/1` or
    /// `/2` aside); a record has no mate.
    pub fn next_batches(&mut self, first: &mut Batch, second: &mut Batch) -> Result<bool, Error> {
        let more = self.next_unchecked(first, second)?;
        self.names().check(first, second)?;
        Ok(more)
    }

    /// As [`PairedReader::next_batches`]; the names are left to [`MateNames::check`].
    ///
    /// # Errors
    /// As there.
    pub fn next_unchecked(&mut self, first: &mut Batch, second: &mut Batch) -> Result<bool, Error> {
        let read = match self.second {
            Some(_) => self.two_files(first, second),
            None => self.one_file(first, second),
        };
        let number = (!matches!(read, Ok(false))).then_some(self.pairs);
        for batch in [&mut *first, &mut *second] {
            batch.first_record = number;
        }
        self.pairs += first.records.len().min(second.records.len()) as u64;
        if read.is_err() {
            // What is wrong with names comes before what stopped the reading.
            self.names().check(first, second)?;
        }
        read
    }

    /// What checks the names of mates, on any thread.
    pub fn names(&self) -> MateNames {
        MateNames {
            input: self.first.name(),
            mates: self.second.as_ref().map(Side::name),
        }
    }

    fn two_files(&mut self, first: &mut Batch, second: &mut Batch) -> Result<bool, Error> {
        // What is swapped for batches that wait keeps its text, which is written over.
        first.records.clear();
        second.records.clear();
        let left = self.most - self.pairs;
        let Some(mates) = self.second.as_mut().filter(|_| left > 0) else {
            return Ok(false);
        };
        let waiting = (self.first.waiting()?, mates.waiting()?);
        let count = waiting
            .0
            .min(waiting.1)
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        if count == 0 && waiting != (0, 0) {
            let (longer, shorter) = if waiting.0 > 0 {
                (&self.first, &*mates)
            } else {
                (&*mates, &self.first)
            };
            let name = name_of(&longer.batch, &longer.batch.records[longer.taken]);
            return Err(missing(longer, Some(shorter), self.pairs + 1, name));
        }
        self.first.give(count, first);
        mates.give(count, second);
        second.input = 1;
        Ok(count > 0)
    }

    fn one_file(&mut self, first: &mut Batch, second: &mut Batch) -> Result<bool, Error> {
        first.clear();
        second.clear();
        let side = &mut self.first;
        // A batch of an odd number of records ends between two mates: the next is needed too.
        while side.waiting()? > 0 {
            for record in &side.batch.records {
                let to = if first.records.len() == second.records.len() {
                    &mut *first
                } else {
                    &mut *second
                };
                append(to, &side.batch, record);
            }
            side.taken = side.batch.records.len();
            if first.records.len() == second.records.len() {
                return Ok(true);
            }
        }
        match first.records.last() {
            Some(last) if first.records.len() > second.records.len() => {
                let record = 2 * (self.pairs + second.records.len() as u64) + 1;
                Err(missing(side, None, record, name_of(first, last)))
            }
            _ => Ok(false),
        }
    }
}

/// The inputs of mates, which are to have the same names. Those of a batch may be read from the
/// memory of another core, which takes longer than to compare them: so any thread may do it.
#[derive(Clone, Debug)]
pub struct MateNames {
    input: String,
    mates: Option<String>,
}

impl MateNames {
    /// Checks batches of first and second mates.
    ///
    /// # Errors
    /// Mates have different names (before the first space, a final `/1` or `/2` aside).
    pub fn check(&self, first: &Batch, second: &Batch) -> Result<(), Error> {
        let number = first.first_record.unwrap_or(0) + 1;
        for (pair, (one, two)) in (number..).zip(first.records.iter().zip(&second.records)) {
            if mate_name(first.bytes(one.name)) != mate_name(second.bytes(two.name)) {
                return Err(Error::MatesDiffer {
                    input: self.input.clone(),
                    mates: self.mates.clone(),
                    pair,
                    first: name_of(first, one),
                    second: name_of(second, two),
                });
            }
        }
        Ok(())
    }
}

/// What the names of mates have in common: the first word without `/1` or `/2`.
fn mate_name(header: &[u8]) -> &[u8] {
    let name = first_word(header);
    name.strip_suffix(b"/1")
        .or_else(|| name.strip_suffix(b"/2"))
        .unwrap_or(name)
}

fn name_of(batch: &Batch, record: &Record) -> String {
    String::from_utf8_lossy(first_word(batch.bytes(record.name))).into_owned()
}

fn missing(longer: &Side, shorter: Option<&Side>, record: u64, name: String) -> Error {
    Error::MateMissing {
        longer: longer.name(),
        shorter: shorter.map(Side::name),
        record,
        name,
    }
}

/// Copies a record of one batch to the end of another.
fn append(to: &mut Batch, from: &Batch, record: &Record) {
    let mut copy = |span: Span| {
        let start = to.text.len();
        to.text.extend_from_slice(from.bytes(span));
        Span::from(start..to.text.len())
    };
    let (name, letters, qualities) = (
        copy(record.name),
        copy(record.letters),
        copy(record.qualities),
    );
    to.records.push(Record {
        name,
        letters,
        qualities,
        ..*record
    });
}
