//! Reads the sequences of a source, one after the other.

use std::io::Cursor;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use gyrase_fastx::{Alphabet, Inputs, Options, Reader};
use gyrase_seq::Batch;

use crate::blast::{BlastDatabase, Titles};
use crate::entry::{Entry, PackedBases};
use crate::gysd::{SeqDb, Strand};
use crate::source::{SequenceSource, header_taxids};
use crate::{EntrySize, Molecule, SeqDbError};

/// Bytes of a mapped file after which the memory that they take is given back.
const LET_GO: u64 = 2 << 20;
/// Bytes of a database that a sequence takes beside its letters and its title, about.
const PLACES: u64 = 64;

/// Reads the sequences of a source in their order, or from one of them on.
///
/// It takes memory for one sequence, and for a batch of a FASTA file, whatever the source holds.
pub struct SequenceReader<'s> {
    reading: Reading<'s>,
    /// The number of the next.
    number: u64,
    /// Databases that pack nucleotides give them as they are.
    packed: bool,
    letters: Vec<u8>,
    exceptions: Vec<(Range<usize>, u8)>,
    masks: Vec<Range<usize>>,
    taxids: Vec<u32>,
    titles: Titles,
    /// Bytes that were read since memory was given back.
    held: u64,
}

enum Reading<'s> {
    Fasta(Box<Records>),
    Gysd(&'s SeqDb),
    Blast(&'s BlastDatabase),
}

/// What FASTA is read from.
enum Batches {
    File(Inputs),
    Text(Reader),
}

impl Batches {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, gyrase_fastx::Error> {
        match self {
            Batches::File(inputs) => inputs.next_batch(batch),
            Batches::Text(reader) => reader.next_batch(batch),
        }
    }

    fn read_bytes(&self) -> u64 {
        match self {
            Batches::File(inputs) => inputs.read_bytes(),
            Batches::Text(reader) => reader.read_bytes(),
        }
    }
}

/// The records of FASTA.
struct Records {
    batches: Batches,
    batch: Batch,
    /// The next of the batch.
    next: usize,
    /// Bytes of the file that were told.
    shown: u64,
}

fn options() -> Options {
    Options {
        alphabet: Alphabet::Any,
        whole_records: true,
        serial: true,
        ..Options::default()
    }
}

/// A record of FASTA.
struct Record<'r> {
    title: &'r [u8],
    letters: &'r [u8],
    /// Bytes that were read since the one before.
    since: u64,
}

impl Records {
    fn open(path: &Path) -> Result<Records, SeqDbError> {
        let inputs = Inputs::open(&[path.to_path_buf()], options())?;
        Ok(Records::of(Batches::File(inputs)))
    }

    fn of_text(name: &str, text: &Arc<[u8]>) -> Result<Records, SeqDbError> {
        // No more room than the text takes: somebody may read many short ones.
        let options = Options {
            batch_bytes: options().batch_bytes.min(text.len() + 64),
            ..options()
        };
        let reader = Reader::from_read(name, Cursor::new(Arc::clone(text)), &options)?;
        Ok(Records::of(Batches::Text(reader)))
    }

    fn of(batches: Batches) -> Records {
        Records {
            batches,
            batch: Batch::default(),
            next: 0,
            shown: 0,
        }
    }

    /// The next one.
    fn next(&mut self) -> Result<Option<Record<'_>>, SeqDbError> {
        while self.next == self.batch.records.len() {
            self.next = 0;
            if !self.batches.next(&mut self.batch)? {
                self.batch.records.clear();
                return Ok(None);
            }
        }
        let record = &self.batch.records[self.next];
        self.next += 1;
        let read = self.batches.read_bytes();
        let since = read - std::mem::replace(&mut self.shown, read);
        let [title, letters] =
            [record.name, record.letters].map(|span| &self.batch.text[span.range()]);
        Ok(Some(Record {
            title,
            letters,
            since,
        }))
    }
}

impl SequenceSource {
    /// What reads its sequences, from the first on.
    ///
    /// # Errors
    /// A FASTA file cannot be opened.
    pub fn reader(&self) -> Result<SequenceReader<'_>, SeqDbError> {
        SequenceReader::new(self)
    }

    /// Hands the sequences to `each`, in their order, with how many bytes were read since the last.
    ///
    /// # Errors
    /// The source cannot be read or is damaged; the first error of `each`.
    pub fn each<E: From<SeqDbError>>(
        &self,
        mut each: impl FnMut(&Entry, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut reader = self.reader()?;
        while let Some((entry, read)) = reader.next()? {
            each(&entry, read)?;
        }
        Ok(())
    }
}

impl<'s> SequenceReader<'s> {
    fn new(source: &'s SequenceSource) -> Result<SequenceReader<'s>, SeqDbError> {
        let reading = match source {
            SequenceSource::Fasta(path) => Reading::Fasta(Box::new(Records::open(path)?)),
            SequenceSource::Text(name, text) => {
                Reading::Fasta(Box::new(Records::of_text(name, text)?))
            }
            SequenceSource::Gysd(database) => Reading::Gysd(database),
            SequenceSource::Blast(database) => Reading::Blast(database),
        };
        Ok(SequenceReader {
            reading,
            number: 0,
            packed: false,
            letters: Vec::new(),
            exceptions: Vec::new(),
            masks: Vec::new(),
            taxids: Vec::new(),
            titles: Titles::default(),
            held: 0,
        })
    }

    /// The same that tells where nucleotides of a `.gysd` file are ([`PackedBases`]) and does not
    /// read them.
    #[must_use]
    pub fn packed(mut self) -> SequenceReader<'s> {
        self.packed = true;
        self
    }

    /// Passes over all before the one of a number, which is none of those that were read: a FASTA
    /// file is read up to there, a database goes on there.
    ///
    /// # Errors
    /// A FASTA file cannot be read.
    pub fn skip_to(&mut self, number: u64) -> Result<(), SeqDbError> {
        if let Reading::Fasta(records) = &mut self.reading {
            while self.number < number && records.next()?.is_some() {
                self.number += 1;
            }
        }
        self.number = self.number.max(number);
        Ok(())
    }

    /// The next, and how many bytes were read since the last.
    ///
    /// # Errors
    /// The source cannot be read or is damaged.
    #[allow(
        clippy::should_implement_trait,
        reason = "an entry is lent until the next one is read"
    )]
    pub fn next(&mut self) -> Result<Option<(Entry<'_>, u64)>, SeqDbError> {
        let (number, there) = (self.number, self.is_there());
        self.give_back();
        match &mut self.reading {
            Reading::Fasta(records) => {
                let Some(record) = records.next()? else {
                    return Ok(None);
                };
                self.number += 1;
                self.taxids = header_taxids(record.title);
                let entry = entry(record.title, record.letters, &self.taxids);
                Ok(Some((entry, record.since)))
            }
            _ if !there => Ok(None),
            Reading::Gysd(database) => {
                let own = number as usize;
                let length = database.letters(own)?;
                self.letters.clear();
                let packed =
                    match self.packed && database.summary().molecule == Molecule::Nucleotide {
                        true => Some(database.packed(own, &mut self.exceptions)?),
                        false => None,
                    };
                self.masks.clear();
                if packed.is_some() {
                    database.each_mask(own, |mask| self.masks.push(mask))?;
                } else {
                    database.read(own, 0..length, Strand::Plus, &mut self.letters)?;
                }
                self.number += 1;
                self.taxids = database.taxids(own)?;
                let bytes = database.summary().bytes / database.len() as u64;
                let title = database.title(own)?;
                self.held += PLACES + title.len() as u64 + packed.map_or(length, |_| 0);
                let packed = packed.map(|first| PackedBases {
                    first,
                    count: length as usize,
                    exceptions: &self.exceptions,
                    masks: &self.masks,
                });
                let entry = entry(title, &self.letters, &self.taxids);
                Ok(Some((Entry { packed, ..entry }, bytes)))
            }
            Reading::Blast(database) => {
                self.letters.clear();
                let (letters, titles) = (&mut self.letters, &mut self.titles);
                let bytes = database.read(number as usize, letters, titles)?;
                self.number += 1;
                self.held += PLACES + bytes;
                Ok(Some((
                    entry(&self.titles.text, &self.letters, &self.titles.taxids),
                    bytes,
                )))
            }
        }
    }

    /// How large the next is, without its letters where the source is a database.
    ///
    /// # Errors
    /// The source cannot be read or is damaged.
    pub fn next_size(&mut self) -> Result<Option<EntrySize<'_>>, SeqDbError> {
        let number = self.number as usize;
        let there = self.is_there();
        self.give_back();
        match &mut self.reading {
            Reading::Fasta(_) => {
                let next = self.next()?;
                Ok(next.map(|(entry, _)| EntrySize::of(&entry)))
            }
            _ if !there => Ok(None),
            Reading::Gysd(database) => {
                self.taxids = database.taxids(number)?;
                self.number += 1;
                self.held += PLACES;
                let size = EntrySize {
                    title: database.title(number)?.len() as u64,
                    letters: database.letters(number)?,
                    taxids: &self.taxids,
                    masks: database.count_masks(number)?,
                };
                Ok(Some(size))
            }
            Reading::Blast(database) => {
                let letters = database.read_titles(number, &mut self.titles)?;
                let masks = database.masks_of(number)?;
                self.number += 1;
                self.held += PLACES + 2 * self.titles.text.len() as u64;
                let size = EntrySize {
                    title: self.titles.text.len() as u64,
                    letters,
                    taxids: &self.titles.taxids,
                    masks,
                };
                Ok(Some(size))
            }
        }
    }

    /// Gives back the memory of what was read, once that is much.
    fn give_back(&mut self) {
        if self.held > LET_GO {
            self.held = 0;
            self.let_go();
        }
    }

    fn let_go(&self) {
        match &self.reading {
            Reading::Fasta(_) => {}
            Reading::Gysd(database) => database.let_go(),
            Reading::Blast(database) => database.let_go(),
        }
    }

    /// Whether a database has a next one.
    fn is_there(&self) -> bool {
        match &self.reading {
            Reading::Fasta(_) => true,
            Reading::Gysd(database) => self.number < database.len() as u64,
            Reading::Blast(database) => self.number < database.len() as u64,
        }
    }
}

impl Drop for SequenceReader<'_> {
    fn drop(&mut self) {
        self.let_go();
    }
}

fn entry<'e>(title: &'e [u8], letters: &'e [u8], taxids: &'e [u32]) -> Entry<'e> {
    Entry {
        title,
        letters,
        packed: None,
        taxids,
    }
}
