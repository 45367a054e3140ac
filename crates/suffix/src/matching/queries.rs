//! Queries on their way to those who match them: some records at a time, with both strands.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use gyrase_fastx::Reader;
use gyrase_seq::{Batch, complement};
use gyrase_work::{Feed, Progress};

use crate::error::{Error, admit};
use crate::texts::{Letters, first_word, options};

/// What ends a strand, and stands for what equals nothing in it.
pub(super) const UNLIKE: u8 = 1;
/// Letters of strands after which no more records are read at once.
const AT_ONCE: usize = 8 << 20;
/// Letters of a query that one thread takes at once.
const CHUNK: usize = 1 << 18;

/// A strand of a query.
#[derive(Clone, Debug)]
pub(super) struct Strand {
    /// Its letters among those of all.
    pub letters: Range<usize>,
    /// Where its name is among the names.
    pub name: Range<usize>,
    /// Whether it is the reverse complement.
    pub reverse: bool,
    /// Where the query begins, if all are put behind each other.
    pub start: u64,
}

/// Some queries.
#[derive(Debug, Default)]
pub(super) struct Queries {
    pub letters: Vec<u8>,
    pub strands: Vec<Strand>,
    names: Vec<u8>,
    /// Where the next query begins, if all are put behind each other.
    next_start: u64,
}

impl Queries {
    /// The name of a strand's query.
    pub fn name(&self, strand: &Strand) -> &[u8] {
        &self.names[strand.name.clone()]
    }

    /// Adds what there is of a record to the strand that is being read.
    fn extend(&mut self, letters: &[u8], stored: &[u8; 256]) {
        let letters = letters.iter().map(|&letter| stored[usize::from(letter)]);
        self.letters.extend(letters);
    }

    /// Ends the record that began at `start`.
    fn close(&mut self, start: usize, name: &[u8], both_strands: bool) {
        let own = start..self.letters.len();
        let name = self.names.len()..self.names.len() + self.names_of(name);
        let start_of_all = self.next_start;
        self.next_start += own.len() as u64;
        self.letters.push(UNLIKE);
        self.strands.push(Strand {
            letters: own.clone(),
            name: name.clone(),
            reverse: false,
            start: start_of_all,
        });
        if !both_strands {
            return;
        }
        let start = self.letters.len();
        self.letters.reserve(own.len() + 1);
        for position in own.rev() {
            self.letters.push(complement(self.letters[position]));
        }
        self.strands.push(Strand {
            letters: start..self.letters.len(),
            name,
            reverse: true,
            start: start_of_all,
        });
        self.letters.push(UNLIKE);
    }

    fn names_of(&mut self, name: &[u8]) -> usize {
        self.names.extend(name);
        name.len()
    }
}

/// Some letters of some queries: what one thread matches at once.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub queries: Arc<Queries>,
    /// Among the letters of all strands.
    pub letters: Range<usize>,
    /// The strands that begin or go on in it.
    pub strands: Range<usize>,
}

/// Which queries are read, and how they are cut.
pub(super) struct Wanted<'c> {
    pub paths: &'c [PathBuf],
    pub letters: Letters,
    pub both_strands: bool,
    /// Whether chunks end where strands do.
    pub whole_strands: bool,
    /// Bytes of memory that the run may take, and that it takes without queries.
    pub memory: u64,
    pub without: u64,
}

impl Wanted<'_> {
    /// Refuses a query that is too long; another one may still be worked on.
    fn admit(&self, letters: usize) -> Result<(), Error> {
        let needed = self.without + memory(letters as u64, self.both_strands);
        admit("a query of this length", needed, self.memory)
    }
}

/// Bytes of memory that queries take, the longest of so many letters: some are read while others
/// are matched.
pub(super) fn memory(longest: u64, both_strands: bool) -> u64 {
    let strands = 1 + u64::from(both_strands);
    2 * (AT_ONCE as u64).max(longest.saturating_mul(strands))
}

/// Gives the chunks of all queries, one after the other.
pub(super) struct Supply<'c> {
    wanted: Wanted<'c>,
    progress: &'c Progress,
    stored: [u8; 256],
    /// The next of the files.
    next: usize,
    reader: Option<Reader>,
    shown: u64,
    batch: Batch,
    /// The next record of the batch.
    record: usize,
    queries: Arc<Queries>,
    /// Where the next chunk of the queries begins, and its first strand.
    done: (usize, usize),
}

impl<'c> Supply<'c> {
    pub fn new(wanted: Wanted<'c>, progress: &'c Progress) -> Supply<'c> {
        Supply {
            stored: wanted.letters.stored(UNLIKE),
            wanted,
            progress,
            next: 0,
            reader: None,
            shown: 0,
            batch: Batch::default(),
            record: 0,
            queries: Arc::default(),
            done: (0, 0),
        }
    }

    /// Reads the next queries; false when there are none.
    fn read(&mut self) -> Result<bool, Error> {
        let mut queries = Queries {
            next_start: self.queries.next_start,
            ..Queries::default()
        };
        self.queries = Arc::default();
        self.done = (0, 0);
        let (mut start, mut name) = (0, None);
        while queries.letters.len() < AT_ONCE || name.is_some() {
            if self.record == self.batch.records.len() && !self.more()? {
                break;
            }
            let record = self.batch.records[self.record];
            self.record += 1;
            let own = first_word(self.batch.bytes(record.name));
            let name_of_all = name.get_or_insert_with(|| own.to_vec());
            queries.extend(self.batch.bytes(record.letters), &self.stored);
            self.wanted.admit(queries.letters.len() - start)?;
            if !record.continues {
                queries.close(start, name_of_all, self.wanted.both_strands);
                (start, name) = (queries.letters.len(), None);
            }
        }
        let found = !queries.strands.is_empty();
        self.queries = Arc::new(queries);
        Ok(found)
    }

    /// Reads the next batch, of the next file where one ends; false at the end of all.
    fn more(&mut self) -> Result<bool, Error> {
        self.record = 0;
        loop {
            if let Some(reader) = &mut self.reader {
                let more = reader.next_batch(&mut self.batch)?;
                self.progress.advance(reader.read_bytes() - self.shown);
                self.shown = reader.read_bytes();
                if more {
                    return Ok(true);
                }
                self.reader = None;
            }
            let Some(path) = self.wanted.paths.get(self.next) else {
                return Ok(false);
            };
            (self.next, self.shown) = (self.next + 1, 0);
            self.reader = Some(Reader::open(path, &options())?);
        }
    }

    /// Takes the next chunk of the queries that are read, if any is left.
    fn cut(&mut self, chunk: &mut Chunk) -> bool {
        let queries = &self.queries;
        let (start, first) = self.done;
        let mut end = queries.letters.len().min(start + CHUNK);
        let strands = &queries.strands[first..];
        // The strand of the last letter, or of the one before its end.
        let mut last = strands.partition_point(|strand| strand.letters.end < end);
        if self.wanted.whole_strands && last < strands.len() {
            end = strands[last].letters.end + 1;
            last += 1;
        }
        if start >= queries.letters.len() {
            return false;
        }
        let goes_on = strands
            .get(last)
            .is_some_and(|strand| strand.letters.start < end);
        *chunk = Chunk {
            queries: Arc::clone(queries),
            letters: start..end,
            strands: first..first + last + usize::from(goes_on),
        };
        self.done = (end, first + last);
        true
    }
}

impl Feed for Supply<'_> {
    type Task = Chunk;
    type Error = Error;

    fn next(&mut self, chunk: &mut Chunk) -> Result<bool, Error> {
        *chunk = Chunk::default();
        loop {
            if self.cut(chunk) {
                return Ok(true);
            }
            if !self.read()? {
                return Ok(false);
            }
        }
    }
}
