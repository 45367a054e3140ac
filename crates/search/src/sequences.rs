//! Sequences in memory, as codes of residues.

use std::ops::Range;
use std::path::PathBuf;

use gyrase_align::arch::COLUMNS;
use gyrase_align::nucleotide;
use gyrase_align::residue::{BORDER, LETTERS, code, letter};
use gyrase_seqdb::{
    Entry, Molecule, SeqDbError, SequenceSource, TaxidFilter, open_all, shared_molecule,
};
use gyrase_work::Progress;

use crate::error::SearchError;
use crate::frames::Frames;
use crate::program::Program;

/// Residues that fit: positions are numbers of 32 bits.
const MOST_RESIDUES: usize = u32::MAX as usize - 2 * COLUMNS;

/// Residues of a database that are enough to tell proteins from nucleotides by chance alone.
const MANY: u64 = 100;

/// Bytes that a residue takes: itself, its class, and its place in an index.
pub(crate) const RESIDUE: u64 = 6;
/// Bytes that a nucleotide takes, which has no index.
const BASE: u64 = 1;
/// Bytes that a sequence takes beside its residues and its title: where both are, and a border.
pub(crate) const SEQUENCE: u64 = 2 * size_of::<usize>() as u64 + RESIDUE;
/// Bytes that a taxid takes.
const TAXID: u64 = size_of::<(u32, u32)>() as u64;

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
    /// Numbers of sequences and their taxids.
    taxids: Vec<(u32, u32)>,
    left_out: LeftOut,
    /// Nothing said what is below the taxids of the filter.
    are_literal: bool,
}

/// Sequences that a filter left out, which are of the database all the same.
#[derive(Clone, Copy, Default)]
struct LeftOut {
    sequences: u64,
    letters: u64,
}

impl LeftOut {
    fn count(&mut self, entry: &Entry) {
        self.sequences += 1;
        self.letters += residues_of(entry.letters).count() as u64;
    }
}

/// Bytes that a sequence will take at least.
fn bytes_of(entry: &Entry) -> u64 {
    let [title, letters, taxids] =
        [entry.title.len(), entry.letters.len(), entry.taxids.len()].map(|length| length as u64);
    SEQUENCE + title + BASE * letters + TAXID * taxids
}

/// Names of files, in a line.
pub(crate) fn names(paths: &[PathBuf]) -> String {
    let names = paths.iter().map(|path| path.display().to_string());
    names.collect::<Vec<_>>().join(", ")
}

/// Bytes that a letter takes.
fn letter_bytes(molecule: Molecule) -> u64 {
    match molecule {
        Molecule::Protein => RESIDUE,
        Molecule::Nucleotide => BASE,
    }
}

/// Letters without gaps.
fn residues_of(letters: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let is_residue = |letter: &u8| !matches!(letter, b'-' | b'.');
    letters.iter().copied().filter(is_residue)
}

impl Default for Sequences {
    fn default() -> Sequences {
        Sequences {
            molecule: Molecule::Protein,
            text: vec![BORDER; 2 * COLUMNS],
            starts: vec![COLUMNS],
            titles: Vec::new(),
            title_ends: Vec::new(),
            taxids: Vec::new(),
            left_out: LeftOut::default(),
            are_literal: false,
        }
    }
}

impl Sequences {
    /// Reads the sequences of files and databases, in their order, but those that a filter leaves
    /// out. Where they and an index of them need more than so many bytes there are none of them,
    /// and what they need.
    ///
    /// A database knows what its letters stand for; where there are files alone, the letters
    /// decide.
    ///
    /// # Errors
    /// A file cannot be read; there are proteins and nucleotides.
    pub fn read(
        paths: &[PathBuf],
        filter: &TaxidFilter,
        most: u64,
        progress: &Progress,
    ) -> Result<Result<Sequences, u64>, SearchError> {
        let sources = open_all(paths)?;
        let (known, kept) = (shared_molecule(&sources)?, filter.among(&sources)?);
        progress.start("read", sources.iter().map(SequenceSource::bytes).sum());
        let (mut sequences, mut bytes, mut letters) = (Sequences::default(), 0, 0);
        sequences.are_literal = !filter.is_empty() && kept.is_literal();
        for source in &sources {
            let before = sequences.text.len();
            source.each(|entry, read| {
                progress.go_on()?;
                progress.advance(read);
                if !kept.has(entry.taxids) {
                    sequences.left_out.count(entry);
                    return Ok(());
                }
                bytes += bytes_of(entry);
                letters += entry.letters.len() as u64;
                match bytes <= most {
                    true => sequences.add(entry),
                    false => Ok(()),
                }
            })?;
            sequences.check_kind(source, known, before)?;
        }
        let own = || Molecule::of_counts(&sequences.counts(0));
        let molecule = known.unwrap_or_else(own);
        bytes += (letter_bytes(molecule) - BASE) * letters;
        if bytes > most {
            return Ok(Err(bytes));
        }
        sequences.text.shrink_to_fit();
        sequences.titles.shrink_to_fit();
        if molecule == Molecule::Nucleotide {
            sequences.become_nucleotides();
        }
        Ok(Ok(sequences))
    }

    fn add(&mut self, entry: &Entry) -> Result<(), SearchError> {
        let number = self.len() as u32;
        self.push(entry.title, entry.letters)?;
        let taxids = entry.taxids.iter().map(|&taxid| (number, taxid));
        self.taxids.extend(taxids);
        Ok(())
    }

    /// Refuses a file whose letters, behind a place of the text, are clearly not what a database
    /// beside it has.
    fn check_kind(
        &self,
        source: &SequenceSource,
        known: Option<Molecule>,
        from: usize,
    ) -> Result<(), SearchError> {
        let (Some(known), None) = (known, source.molecule()) else {
            return Ok(());
        };
        let counts = self.counts(from);
        let found = Molecule::of_counts(&counts);
        if !Molecule::are_enough(&counts) || found == known {
            return Ok(());
        }
        Err(SearchError::Database(SeqDbError::Mixed {
            first: "the database".into(),
            of_first: known,
            second: source.name(),
            of_second: found,
        }))
    }

    /// How many there are of each letter behind a place of the text.
    fn counts(&self, from: usize) -> [u64; 256] {
        let mut counts = [0_u64; 256];
        let codes = self.text[from..].iter().filter(|&&code| code != BORDER);
        codes.for_each(|&code| counts[usize::from(letter(code))] += 1);
        counts
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
            (found, wanted) if found != wanted => Err(SearchError::Molecule {
                input: names(paths),
                found,
                program: program.name(),
                wanted,
            }),
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
        self.text.extend(residues_of(letters).map(code));
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

    /// Sequences of the whole database, with those that a filter left out.
    pub(crate) fn sequences_of_all(&self) -> u64 {
        self.len() as u64 + self.left_out.sequences
    }

    /// Residues of the whole database, with those of sequences that a filter left out.
    pub(crate) fn letters_of_all(&self) -> u64 {
        self.total() + self.left_out.letters
    }

    /// True where they were filtered by taxids that stood for themselves alone.
    pub(crate) fn are_literal(&self) -> bool {
        self.are_literal
    }

    /// Bytes that they take with an index of them.
    pub(crate) fn bytes(&self) -> u64 {
        let taxids = TAXID * self.taxids.len() as u64;
        let letters = letter_bytes(self.molecule) * self.total();
        self.titles.len() as u64 + SEQUENCE * self.len() as u64 + letters + taxids
    }

    /// The taxids of one; none where they are not known.
    pub fn taxids(&self, number: usize) -> impl Iterator<Item = u32> + '_ {
        let first = |number: u32| self.taxids.partition_point(|(own, _)| *own < number);
        let own = first(number as u32)..first(number as u32 + 1);
        self.taxids[own].iter().map(|(_, taxid)| *taxid)
    }

    /// What they are known by: how many there are, their residues, CRC-32 of all residues and of
    /// all titles with taxids.
    pub(crate) fn digest(&self) -> [u64; 4] {
        let mut titles = crc32fast::Hasher::new();
        titles.update(&self.titles);
        for end in &self.title_ends {
            titles.update(&end.to_le_bytes());
        }
        for (number, taxid) in &self.taxids {
            titles.update(&number.to_le_bytes());
            titles.update(&taxid.to_le_bytes());
        }
        let residues = crc32fast::hash(&self.text);
        let [residues, titles] = [residues, titles.finalize()].map(u64::from);
        [self.len() as u64, self.total(), residues, titles]
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

    #[test]
    fn taxids_stay_with_their_sequences_and_choose_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.faa");
        std::fs::write(&path, ">a OX=7\nMKV\n>b\nWW\n>c OX=8\x01d OX=7\nPP-P\n").unwrap();
        let read = |only: &[u32]| {
            let filter = TaxidFilter {
                only: only.to_vec(),
                ..TaxidFilter::default()
            };
            let progress = Progress::default();
            let read = Sequences::read(std::slice::from_ref(&path), &filter, u64::MAX, &progress);
            read.unwrap()
                .unwrap_or_else(|_| panic!("memory has no end"))
        };
        let taxids = |sequences: &Sequences| -> Vec<Vec<u32>> {
            let numbers = 0..sequences.len();
            numbers
                .map(|number| sequences.taxids(number).collect())
                .collect()
        };
        let all = read(&[]);
        assert_eq!(taxids(&all), [vec![7], vec![], vec![8, 7]]);
        assert!(!all.are_literal());
        let some = read(&[8]);
        assert_eq!(taxids(&some), [[8, 7]]);
        assert!(some.are_literal());
        assert_eq!((some.len(), some.sequences_of_all()), (1, 3));
        assert_eq!((some.total(), some.letters_of_all()), (3, 8));
    }
}
