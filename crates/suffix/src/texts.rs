//! Sets of sequences as one text, with a sentinel behind each.

use std::path::{Path, PathBuf};

use gyrase_fastx::{Alphabet, Options, Reader};
use gyrase_seq::{Batch, complement, decode, encode};
use gyrase_seqdb::Molecule;
use gyrase_work::Progress;

use crate::error::{Error, admit};
use crate::sort::SENTINEL;

/// Which letters equal which; the numbers are those of `.gysa` files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letters {
    /// A, C, G and T, which is U too, in either case. Every other letter is unlike all.
    Bases = 0,
    /// Every letter equals itself, in either case.
    Any = 1,
}

impl Letters {
    /// The kind with a number.
    pub(crate) fn from_number(number: u32) -> Option<Letters> {
        [Letters::Bases, Letters::Any]
            .into_iter()
            .find(|&one| one as u32 == number)
    }

    /// What is stored for each byte of a file, where `unlike` is what equals nothing.
    pub(crate) fn stored(self, unlike: u8) -> [u8; 256] {
        let mut stored = [unlike; 256];
        for letter in 1..=255u8 {
            let upper = letter.to_ascii_uppercase();
            stored[usize::from(letter)] = match self {
                Letters::Any => upper,
                Letters::Bases => encode(letter).map_or(unlike, decode),
            };
        }
        stored
    }
}

/// A sequence of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The first word of the line that names it.
    pub name: Vec<u8>,
    /// The number of its file.
    pub file: u32,
    /// Its first letter in the text of the set.
    pub start: usize,
    /// Its sentinel in the text of the set.
    pub end: usize,
}

impl Text {
    /// How many letters it has.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// True when it has none.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

/// A set of sequences: one text, in which [`SENTINEL`] ends each.
///
/// ```
/// use gyrase_suffix::{Letters, Texts};
///
/// let mut texts = Texts::new(Letters::Bases);
/// texts.push(b"one", 0, b"acgNU");
/// texts.push(b"two", 0, b"AC");
/// assert_eq!(texts.letters, b"ACG\0T\0AC\0");
/// assert_eq!(texts.place(7), (1, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// The letters of all, with sentinels.
    pub letters: Vec<u8>,
    /// Where each is.
    pub texts: Vec<Text>,
    /// Which letters equal which.
    pub kind: Letters,
}

impl Texts {
    /// A set of none.
    pub fn new(kind: Letters) -> Texts {
        Texts {
            letters: Vec::new(),
            texts: Vec::new(),
            kind,
        }
    }

    /// Adds a sequence by its name, the number of its file and its letters.
    pub fn push(&mut self, name: &[u8], file: u32, letters: &[u8]) {
        let start = self.letters.len();
        let stored = self.kind.stored(SENTINEL);
        let letters = letters.iter().map(|&letter| stored[usize::from(letter)]);
        self.letters.extend(letters);
        self.close(name.to_vec(), file, start);
    }

    fn close(&mut self, name: Vec<u8>, file: u32, start: usize) {
        let end = self.letters.len();
        self.letters.push(SENTINEL);
        self.texts.push(Text {
            name,
            file,
            start,
            end,
        });
    }

    /// Reads the sequences of files, FASTA or FASTQ. Without `kind`, letters are bases where they
    /// look like nucleotides.
    ///
    /// # Errors
    /// A file cannot be read; the letters take more than `memory` bytes.
    pub fn read(
        paths: &[PathBuf],
        kind: Option<Letters>,
        memory: u64,
        progress: &Progress,
    ) -> Result<Texts, Error> {
        let mut texts = Texts::new(kind.unwrap_or(Letters::Any));
        for (file, path) in (0..).zip(paths) {
            texts.read_file(path, file, memory, progress)?;
        }
        if kind.is_none() && texts.molecule() == Molecule::Nucleotide {
            texts.kind = Letters::Bases;
            let stored = Letters::Bases.stored(SENTINEL);
            let letters = texts.letters.iter_mut();
            letters.for_each(|letter| *letter = stored[usize::from(*letter)]);
        }
        Ok(texts)
    }

    fn read_file(
        &mut self,
        path: &Path,
        file: u32,
        memory: u64,
        progress: &Progress,
    ) -> Result<(), Error> {
        let stored = self.kind.stored(SENTINEL);
        let mut start = self.letters.len();
        pieces(path, progress, |piece| {
            match piece {
                Piece::Letters(letters) => {
                    let letters = letters.iter();
                    self.letters
                        .extend(letters.map(|&letter| stored[usize::from(letter)]));
                }
                Piece::End(name) => {
                    self.close(name, file, start);
                    start = self.letters.len();
                }
            }
            admit("reading the sequences", self.letters.len() as u64, memory)
        })
    }

    /// What the letters stand for.
    pub fn molecule(&self) -> Molecule {
        Molecule::of_counts(&self.counts())
    }

    /// How often each letter occurs; sentinels do not count.
    pub(crate) fn counts(&self) -> [u64; 256] {
        let mut counts = [0; 256];
        let letters = self.letters.iter();
        letters.for_each(|&letter| counts[usize::from(letter)] += 1);
        counts[usize::from(SENTINEL)] = 0;
        counts
    }

    /// Refuses sequences that have no other strand.
    pub(crate) fn has_strands(&self) -> Result<(), Error> {
        let counts = self.counts();
        let proteins = Molecule::of_counts(&counts) == Molecule::Protein;
        let sure = Molecule::are_enough(&counts) && self.kind == Letters::Any;
        match proteins && sure {
            true => Err(Error::OneStrand),
            false => Ok(()),
        }
    }

    /// The number of the sequence that a position of the text belongs to, and the place in it.
    pub fn place(&self, position: usize) -> (usize, usize) {
        let number = self.texts.partition_point(|text| text.end < position);
        (number, position - self.texts[number].start)
    }

    /// Adds the reverse complement of each sequence behind all of them: that of number `i` of `n`
    /// is number `n + i`.
    pub(crate) fn add_reverse_complements(&mut self) {
        self.letters.reserve_exact(self.letters.len());
        for number in 0..self.texts.len() {
            let text = self.texts[number].clone();
            let start = self.letters.len();
            for position in (text.start..text.end).rev() {
                self.letters.push(complement(self.letters[position]));
            }
            self.close(text.name, text.file, start);
        }
    }
}

/// What comes of a file.
pub(crate) enum Piece<'a> {
    /// Letters of a sequence, as they are in the file.
    Letters(&'a [u8]),
    /// The end of the sequence with this name.
    End(Vec<u8>),
}

/// Reads a file, piece by piece.
pub(crate) fn pieces(
    path: &Path,
    progress: &Progress,
    mut take: impl FnMut(Piece) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut reader = Reader::open(path, &options())?;
    let (mut batch, mut name, mut shown) = (Batch::default(), None, 0);
    while reader.next_batch(&mut batch)? {
        progress.go_on()?;
        progress.advance(reader.read_bytes() - shown);
        shown = reader.read_bytes();
        for record in &batch.records {
            name.get_or_insert_with(|| first_word(batch.bytes(record.name)).to_vec());
            take(Piece::Letters(batch.bytes(record.letters)))?;
            if !record.continues {
                take(Piece::End(name.take().unwrap_or_default()))?;
            }
        }
    }
    Ok(())
}

/// How sequences are read.
pub(crate) fn options() -> Options {
    Options {
        alphabet: Alphabet::Any,
        ..Options::default()
    }
}

/// What names a sequence, of the line that does.
pub(crate) fn first_word(line: &[u8]) -> &[u8] {
    let mut words = line.split(|letter| letter.is_ascii_whitespace());
    words.next().unwrap_or_default()
}
