//! Sequences in memory, as codes of residues.

use std::ops::Range;
use std::path::PathBuf;

use gyrase_align::arch::COLUMNS;
use gyrase_align::nucleotide;
use gyrase_align::residue::{BORDER, LETTERS, code};
use gyrase_align::statistics::UnknownCosts;
use gyrase_fastx::{Alphabet, Inputs, Options};
use gyrase_seq::Batch;
use gyrase_work::{Cancelled, Progress};

use crate::frames::Frames;
use crate::program::{Molecule, Program};

/// Residues that fit: positions are numbers of 32 bits.
const MOST_RESIDUES: usize = u32::MAX as usize - 2 * COLUMNS;

/// Residues of a database that are enough to tell proteins from nucleotides by chance alone.
const MANY: u64 = 100;
/// Residues that are too few to tell.
const FEW: u64 = 12;

/// Bytes that a residue takes: itself, its class, and its place in an index.
const RESIDUE: u64 = 6;
/// Bytes that a sequence takes beside its residues and its title: where both are, and a border.
const SEQUENCE: u64 = 2 * size_of::<usize>() as u64 + RESIDUE;

/// What ends a search.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// An input cannot be read.
    #[error(transparent)]
    Input(#[from] gyrase_fastx::Error),
    /// There are more residues than can be told apart.
    #[error("there are more than {most} residues: divide the database")]
    TooLong {
        /// Residues that fit.
        most: usize,
    },
    /// The memory does not take the sequences.
    #[error("the database and the queries need at least {least} bytes of memory")]
    Memory {
        /// Bytes that they need.
        least: u64,
    },
    /// A program compares other molecules.
    #[error("{input}: these are {found}, {program} wants {wanted}")]
    Molecule {
        /// Names of the inputs.
        input: String,
        /// What they hold.
        found: Molecule,
        /// The program.
        program: &'static str,
        /// What it compares.
        wanted: Molecule,
    },
    /// No program compares such molecules.
    #[error("no program searches {subjects} with {queries}")]
    NoProgram {
        /// What queries are.
        queries: Molecule,
        /// What subjects are.
        subjects: Molecule,
    },
    /// One query has more matches than the memory takes.
    #[error("{query}: the memory does not take the matches of this query")]
    Matches {
        /// The name of the query.
        query: String,
    },
    /// There are no statistics for these scores.
    #[error(transparent)]
    Costs(#[from] UnknownCosts),
    /// Somebody called [`Progress::cancel`](gyrase_work::Progress::cancel).
    #[error("the search was cancelled")]
    Cancelled,
}

impl From<Cancelled> for SearchError {
    fn from(_: Cancelled) -> SearchError {
        SearchError::Cancelled
    }
}

/// Sequences of one kind of molecule, one behind the other, with a border between any two. Before
/// the first and behind the last is a whole window of borders.
pub struct Sequences {
    molecule: Molecule,
    text: Vec<u8>,
    /// Where each begins in the text, and where one more would.
    starts: Vec<usize>,
    titles: Vec<u8>,
    /// Where each title ends.
    title_ends: Vec<usize>,
}

impl Default for Sequences {
    fn default() -> Sequences {
        Sequences {
            molecule: Molecule::Protein,
            text: vec![BORDER; 2 * COLUMNS],
            starts: vec![COLUMNS],
            titles: Vec::new(),
            title_ends: Vec::new(),
        }
    }
}

impl Sequences {
    /// Reads the sequences of files, in their order. Where they and an index of them need more
    /// than so many bytes there are none of them, and what they need.
    ///
    /// Their letters decide whether they are proteins or nucleotides.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read(
        paths: &[PathBuf],
        most: u64,
        progress: &Progress,
    ) -> Result<Result<Sequences, u64>, SearchError> {
        let options = Options {
            alphabet: Alphabet::Any,
            whole_records: true,
            serial: true,
            ..Options::default()
        };
        let inputs = Inputs::open(paths, options)?;
        progress.start("read", inputs.total_bytes().unwrap_or_default());
        let (mut sequences, mut batch) = (Sequences::default(), Batch::default());
        let (mut bytes, mut shown) = (0, 0);
        while inputs.next_batch(&mut batch)? {
            progress.go_on()?;
            for record in &batch.records {
                let [name, letters] =
                    [record.name, record.letters].map(|span| &batch.text[span.range()]);
                bytes += SEQUENCE + name.len() as u64 + RESIDUE * letters.len() as u64;
                if bytes <= most {
                    sequences.push(name, letters)?;
                }
            }
            let read = inputs.read_bytes();
            progress.advance(read - shown);
            shown = read;
        }
        if bytes > most {
            return Ok(Err(bytes));
        }
        sequences.text.shrink_to_fit();
        sequences.titles.shrink_to_fit();
        if sequences.are_nucleotides() {
            sequences.become_nucleotides();
        }
        Ok(Ok(sequences))
    }

    /// True where nearly all residues are bases or N, each base is one of twenty at least, and
    /// chance cannot have it. Few residues have to be bases altogether.
    fn are_nucleotides(&self) -> bool {
        let mut counts = [0_u64; 256];
        self.text
            .iter()
            .for_each(|&code| counts[usize::from(code)] += 1);
        let count = |base: u8| counts[usize::from(code(base))];
        let total = self.total();
        let bases: u64 = b"ACGTUN".iter().map(|&base| count(base)).sum();
        let [t, u] = [b'T', b'U'].map(count);
        let all = b"ACG".iter().map(|&base| count(base)).chain([t + u]);
        match total {
            ..FEW => false,
            FEW..MANY => bases == total,
            _ => bases * 20 >= total * 19 && all.into_iter().all(|base| base * 20 >= total),
        }
    }

    /// Takes the letters for those of nucleotides.
    fn become_nucleotides(&mut self) {
        let letters = LETTERS.map(nucleotide::code);
        for code in &mut self.text {
            *code = letters.get(usize::from(*code)).copied().unwrap_or(*code);
        }
        self.molecule = Molecule::Nucleotide;
    }

    /// What they are.
    pub fn molecule(&self) -> Molecule {
        self.molecule
    }

    /// Takes them for what a program compares.
    ///
    /// # Errors
    /// They are clearly something else.
    pub(crate) fn become_those_of(
        &mut self,
        program: Program,
        wanted: Molecule,
        paths: &[PathBuf],
    ) -> Result<(), SearchError> {
        match (self.molecule, wanted) {
            (Molecule::Protein, Molecule::Nucleotide) if self.total() < MANY => {
                self.become_nucleotides();
                Ok(())
            }
            (found, wanted) if found != wanted => {
                let names = paths.iter().map(|path| path.display().to_string());
                Err(SearchError::Molecule {
                    input: names.collect::<Vec<_>>().join(", "),
                    found,
                    program: program.name(),
                    wanted,
                })
            }
            _ => Ok(()),
        }
    }

    /// Residues of the longest.
    pub(crate) fn longest(&self) -> u64 {
        let lengths = self.starts.windows(2).map(|both| both[1] - both[0] - 1);
        lengths.max().unwrap_or_default() as u64
    }

    /// Adds a sequence by its letters.
    ///
    /// # Errors
    /// There are too many residues.
    pub fn push(&mut self, title: &[u8], letters: &[u8]) -> Result<(), SearchError> {
        let start = self.text.len() - COLUMNS;
        self.text.truncate(start);
        let is_residue = |letter: &&u8| !matches!(letter, b'-' | b'.');
        self.text.extend(
            letters
                .iter()
                .filter(is_residue)
                .map(|&letter| code(letter)),
        );
        if self.text.len() > MOST_RESIDUES {
            return Err(SearchError::TooLong {
                most: MOST_RESIDUES,
            });
        }
        self.text.resize(self.text.len() + 1 + COLUMNS, BORDER);
        self.starts.push(self.text.len() - COLUMNS);
        self.titles.extend_from_slice(title);
        self.title_ends.push(self.titles.len());
        Ok(())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Residues of all.
    pub fn total(&self) -> u64 {
        (self.text.len() - 2 * COLUMNS - self.len()) as u64
    }

    /// The codes of one.
    pub fn residues(&self, number: usize) -> &[u8] {
        &self.text[self.range(number)]
    }

    /// Bytes that they take with an index of them.
    pub(crate) fn bytes(&self) -> u64 {
        self.titles.len() as u64 + SEQUENCE * self.len() as u64 + RESIDUE * self.total()
    }

    /// The whole line that names it.
    pub fn title(&self, number: usize) -> &[u8] {
        let from = number
            .checked_sub(1)
            .map_or(0, |before| self.title_ends[before]);
        &self.titles[from..self.title_ends[number]]
    }

    /// Its name: its title up to the first space.
    pub fn name(&self, number: usize) -> &[u8] {
        let mut words = self.title(number).split(u8::is_ascii_whitespace);
        words.next().unwrap_or_default()
    }

    /// The frames of those of a range of numbers, one behind the other, without titles.
    pub(crate) fn frames(&self, range: Range<usize>, frames: Frames) -> Sequences {
        let mut part = Sequences {
            molecule: self.molecule,
            ..Sequences::default()
        };
        part.text.truncate(COLUMNS);
        for number in range {
            for &frame in frames.numbers() {
                let read = frames.read(self.residues(number), frame);
                part.text.extend_from_slice(&read);
                part.text.push(BORDER);
                part.starts.push(part.text.len());
            }
        }
        part.text.resize(part.text.len() + COLUMNS, BORDER);
        part
    }

    /// All codes and borders.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Where one is in the text.
    pub(crate) fn range(&self, number: usize) -> Range<usize> {
        self.starts[number]..self.starts[number + 1] - 1
    }

    /// Which one has that position of the text.
    pub(crate) fn at(&self, position: usize) -> usize {
        self.starts.partition_point(|&start| start <= position) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gyrase_align::residue::letter;

    #[test]
    fn sequences_come_back() {
        let mut sequences = Sequences::default();
        let all: [(&[u8], &[u8]); 4] = [
            (b"a x", b"MKV"),
            (b"b", b""),
            (b"", b"W-*."),
            (b"d\te", b"xyz"),
        ];
        for (name, letters) in all {
            sequences.push(name, letters).unwrap();
        }
        let letters = |number| {
            sequences
                .residues(number)
                .iter()
                .map(|&code| letter(code) as char)
                .collect::<String>()
        };
        let found: Vec<String> = (0..sequences.len()).map(letters).collect();
        assert_eq!(found, ["MKV", "", "W*", "XYZ"]);
        assert_eq!(
            (0..4)
                .map(|number| sequences.name(number))
                .collect::<Vec<_>>(),
            [&b"a"[..], b"b", b"", b"d"]
        );
        assert_eq!(sequences.title(3), b"d\te");
        assert_eq!((sequences.len(), sequences.total()), (4, 8));
        for number in [0, 2, 3] {
            assert!(
                sequences
                    .range(number)
                    .all(|position| sequences.at(position) == number)
            );
        }
    }
}
