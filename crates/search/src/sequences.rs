//! Sequences in memory, as codes of residues.

mod slices;

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;

use gyrase_align::arch::COLUMNS;
use gyrase_align::nucleotide::{self, is_gap};
use gyrase_align::packed::Packed;
use gyrase_align::residue::{self, BORDER, LETTERS, code};
use gyrase_seqdb::{Entry, Molecule, SequenceSource};
use gyrase_work::{Progress, in_threads, prefer_large_pages};

use crate::error::SearchError;
use crate::frames::Frames;
use crate::lower_case::LowerCase;
use crate::program::Program;
use crate::unread::{Unread, read_bases};

/// Residues that fit: positions are numbers of 32 bits.
pub(crate) const MOST_RESIDUES: usize = u32::MAX as usize - 2 * COLUMNS;

/// Residues of a database that are enough to tell proteins from nucleotides by chance alone.
const MANY: u64 = 100;

/// Letters that stand for bases, one or several, and for residues.
const BASE_LETTERS: &[u8] = b"ACGTUNRYSWKMBDHV";

/// What hidden bases are. BLAST+ 2.12 scores them as C, G or T and not as N, by all that it
/// reports; scores here are its scores.
const HIDDEN_BASE: u8 = nucleotide::code(b'B');
const HIDDEN: [u8; 1 << 12] = [HIDDEN_BASE; 1 << 12];

/// Bytes that a residue takes: itself, its class, and its place in an index.
pub(crate) const RESIDUE: u64 = 6;
/// Bytes that a nucleotide takes, which has no index.
pub(crate) const BASE: u64 = 1;
/// Bytes that eight packed nucleotides take.
const PACKED: u64 = 3;
/// Bytes that a sequence takes beside its residues and its title: where both are, and a border.
pub(crate) const SEQUENCE: u64 = 2 * size_of::<usize>() as u64 + RESIDUE;
/// Bytes that a taxid takes.
pub(crate) const TAXID: u64 = size_of::<(u32, u32)>() as u64;

/// Sequences of one kind of molecule, one behind the other, with a border between any two. Before
/// the first and behind the last is a whole window of borders.
///
/// Subjects that are compared as nucleotides are packed. All others are codes of a byte each.
pub struct Sequences {
    molecule: Molecule,
    /// Empty where they are packed.
    text: Vec<u8>,
    packed: Option<Packed>,
    /// Where each begins in the text, and where one more would.
    starts: Vec<usize>,
    titles: Vec<u8>,
    /// Where each title ends.
    title_ends: Vec<usize>,
    /// Numbers of sequences and their taxids.
    taxids: Vec<(u32, u32)>,
    /// The number of the first in the database.
    first: usize,
    /// Where they are in lower case, if that is noted.
    lower_case: Option<LowerCase>,
    /// The text in which seeds are looked for, where it differs: what is masked begins nothing.
    seed_text: Option<Vec<u8>>,
    /// What reports show where letters are hidden.
    shown_text: Option<Vec<u8>>,
    shown_packed: Option<Packed>,
    /// Bases of a database that were not read yet.
    unread: Vec<Unread>,
}

/// How sequences are kept in memory.
#[derive(Clone, Copy)]
pub(crate) enum Form<'p> {
    /// As codes of a byte each.
    Codes(LetterCase),
    /// Packed, if that is said of their molecule.
    PackedIf(&'p dyn Fn(Molecule) -> bool, LetterCase),
}

/// What letters in lower case are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LetterCase {
    /// What others are.
    #[default]
    Ignored,
    /// The same, but it is noted where they are.
    Noted,
    /// Letters that match none, though reports show what they are.
    Hidden,
}

impl Form<'_> {
    /// Whether sequences of a molecule are packed.
    pub(crate) fn packs(self, molecule: Molecule) -> bool {
        // What looks like a protein may become nucleotides, which are packed then.
        let of_bases = molecule == Molecule::Nucleotide;
        matches!(self, Form::PackedIf(is_packed, _) if of_bases && is_packed(molecule))
    }

    /// What letters in lower case are.
    pub(crate) fn case(self) -> LetterCase {
        match self {
            Form::Codes(case) | Form::PackedIf(_, case) => case,
        }
    }

    /// No sequences yet.
    pub(crate) fn none_yet(self) -> Sequences {
        Sequences::default().taking(self.case())
    }
}

/// Bytes that eight letters of sequences take. What a pipe holds is packed once all is read. Seeds
/// of proteins are looked for in a copy where some of them are masked; reports show one of all
/// where some are hidden.
pub(crate) fn bytes_of_eight(
    molecule: Molecule,
    is_packed: bool,
    at_once: bool,
    case: LetterCase,
) -> u64 {
    let copies = if case == LetterCase::Hidden { 2 } else { 1 };
    match (molecule, is_packed) {
        (Molecule::Protein, _) if case == LetterCase::Ignored => 8 * RESIDUE,
        (Molecule::Protein, _) => 8 * (RESIDUE + 1),
        (Molecule::Nucleotide, false) => 8 * BASE * copies,
        (Molecule::Nucleotide, true) if at_once => PACKED * copies,
        (Molecule::Nucleotide, true) => PACKED * copies + 8 * BASE,
    }
}

/// Letters that are looked at at a time.
const LETTERS_AT_ONCE: usize = 1 << 12;

/// Names of files, in a line.
pub(crate) fn names(paths: &[PathBuf]) -> String {
    let names = paths.iter().map(|path| path.display().to_string());
    names.collect::<Vec<_>>().join(", ")
}

/// Letters without gaps.
pub(crate) fn residues_of(letters: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let is_residue = |letter: &u8| !is_gap(*letter);
    letters.iter().copied().filter(is_residue)
}

/// Whether there are gaps among letters.
fn have_gaps(letters: &[u8]) -> bool {
    let have = |part: &[u8]| part.iter().fold(false, |any, &letter| any | is_gap(letter));
    letters.chunks(LETTERS_AT_ONCE).any(have)
}

impl Default for Sequences {
    fn default() -> Sequences {
        Sequences {
            molecule: Molecule::Protein,
            text: vec![BORDER; 2 * COLUMNS],
            packed: None,
            starts: vec![COLUMNS],
            titles: Vec::new(),
            title_ends: Vec::new(),
            taxids: Vec::new(),
            first: 0,
            lower_case: None,
            seed_text: None,
            shown_text: None,
            shown_packed: None,
            unread: Vec::new(),
        }
    }
}

impl Sequences {
    /// None yet of a part of a database whose first has a number, which will have so many letters
    /// with borders.
    pub(crate) fn part(first: usize, letters: u64) -> Sequences {
        let mut part = Sequences {
            first,
            ..Sequences::default()
        };
        part.text.reserve_exact(letters as usize + COLUMNS);
        prefer_large_pages(part.text.spare_capacity_mut());
        part
    }

    /// The same of nucleotides, which are packed.
    pub(crate) fn packed_part(first: usize, letters: u64) -> Sequences {
        let mut packed = Packed::with_room(letters as usize + 2 * COLUMNS);
        packed.push(&[BORDER; COLUMNS]);
        Sequences {
            molecule: Molecule::Nucleotide,
            text: Vec::new(),
            packed: Some(packed),
            first,
            ..Sequences::default()
        }
    }

    /// The same, which take lower case so.
    pub(crate) fn taking(self, case: LetterCase) -> Sequences {
        Sequences {
            lower_case: (case != LetterCase::Ignored).then(LowerCase::default),
            ..self
        }
    }

    /// Takes letters in lower case for what they are, once it is known what letters stand for and
    /// whether they are packed.
    pub(crate) fn mask(&mut self, case: LetterCase) {
        match case {
            LetterCase::Ignored => {}
            LetterCase::Noted => self.mask_seeds(),
            LetterCase::Hidden => self.hide(),
        }
    }

    /// Makes letters in lower case stand for others, so that they match nothing.
    fn hide(&mut self) {
        let noted = self.lower_case.take().unwrap_or_default();
        if let Some(packed) = &mut self.packed {
            let (mut hidden, mut at) = (Packed::with_room(packed.len()), 0);
            for range in noted.ranges() {
                hidden.push_part_of(packed, at..range.start);
                for from in range.clone().step_by(HIDDEN.len()) {
                    hidden.push(&HIDDEN[..HIDDEN.len().min(range.end - from)]);
                }
                at = range.end;
            }
            hidden.push_part_of(packed, at..packed.len());
            self.shown_packed = Some(std::mem::replace(packed, hidden));
            return;
        }
        let any = match self.molecule {
            Molecule::Protein => residue::ANY,
            Molecule::Nucleotide => HIDDEN_BASE,
        };
        self.shown_text = Some(self.text.clone());
        noted.ranges().for_each(|range| self.text[range].fill(any));
    }

    /// Looks for seeds of proteins only where they are not in lower case.
    fn mask_seeds(&mut self) {
        let ranges = self.lower_case.iter().flat_map(LowerCase::ranges);
        if self.molecule == Molecule::Protein && ranges.clone().next().is_some() {
            let mut text = self.text.clone();
            ranges.for_each(|range| text[range].fill(residue::ANY));
            self.seed_text = Some(text);
        }
    }

    /// They, as what their letters stand for.
    pub(crate) fn of(mut self, molecule: Molecule) -> Sequences {
        self.titles.shrink_to_fit();
        match &mut self.packed {
            Some(packed) => packed.push(&[BORDER; COLUMNS]),
            None if molecule == Molecule::Nucleotide => self.become_nucleotides(),
            None => {}
        }
        self.text.shrink_to_fit();
        self
    }

    /// Packs nucleotides.
    pub(crate) fn pack(&mut self) {
        if self.packed.is_none() {
            self.packed = Some(Packed::of(&self.text));
            self.text = Vec::new();
        }
    }

    /// Whether they are packed.
    pub(crate) fn are_packed(&self) -> bool {
        self.packed.is_some()
    }

    /// Takes those so far for nucleotides, and packs them and all that are added.
    pub(crate) fn pack_from_now_on(&mut self) {
        self.become_nucleotides();
        self.text.truncate(self.text.len() - COLUMNS);
        self.pack();
    }

    /// Adds a sequence with its title and its taxids. Bases that a database has packed are left to
    /// [`Sequences::read_bases`].
    pub(crate) fn add(&mut self, entry: &Entry) -> Result<(), SearchError> {
        let number = self.len() as u32;
        let start = self.starts[self.len()];
        match (&mut self.packed, &entry.packed) {
            (Some(packed), Some(bases)) => {
                self.unread.push(Unread::leave(packed, bases));
                let masks = bases.masks.iter();
                if let Some(noted) = &mut self.lower_case {
                    masks.for_each(|mask| noted.add(start + mask.start..start + mask.end));
                }
                self.end_packed(entry.title)?;
            }
            (Some(packed), None) => {
                packed.push_letters(entry.letters);
                if let Some(noted) = &mut self.lower_case {
                    noted.note(start, residues_of(entry.letters));
                }
                self.end_packed(entry.title)?;
            }
            (None, _) => self.push(entry.title, entry.letters)?,
        }
        let taxids = entry.taxids.iter().map(|&taxid| (number, taxid));
        self.taxids.extend(taxids);
        Ok(())
    }

    /// Reads the bases of sequences that were added from a source, with threads.
    pub(crate) fn read_bases(
        &mut self,
        source: &SequenceSource,
        threads: usize,
        progress: &Progress,
    ) -> Result<(), SearchError> {
        let unread = std::mem::take(&mut self.unread);
        match &mut self.packed {
            Some(packed) => read_bases((packed, &unread), source, threads, progress),
            None => Ok(()),
        }
    }

    /// Ends a packed sequence.
    fn end_packed(&mut self, title: &[u8]) -> Result<(), SearchError> {
        let packed = self.packed.as_mut().expect("they are packed");
        packed.push(&[BORDER]);
        let end = packed.len();
        self.end(title, end)
    }

    /// Ends a sequence behind which the text goes on.
    fn end(&mut self, title: &[u8], next: usize) -> Result<(), SearchError> {
        if next > MOST_RESIDUES {
            return Err(SearchError::TooLong {
                most: MOST_RESIDUES,
            });
        }
        self.starts.push(next);
        self.titles.extend_from_slice(title);
        self.title_ends.push(self.titles.len());
        Ok(())
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
            (Molecule::Protein, Molecule::Nucleotide)
                if self.total() < MANY || self.may_be_nucleotides() =>
            {
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

    /// Whether nearly all letters stand for bases, as in a repeat of A and T, which is none by
    /// itself.
    fn may_be_nucleotides(&self) -> bool {
        let stands_for_bases = |&&code: &&u8| {
            let letter = LETTERS.get(usize::from(code));
            letter.is_some_and(|letter| BASE_LETTERS.contains(letter))
        };
        let bases = self.text.iter().filter(stands_for_bases).count() as u64;
        20 * bases >= 19 * self.total()
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
        match have_gaps(letters) {
            true => self.text.extend(residues_of(letters).map(code)),
            false => self.text.extend(letters.iter().map(|&letter| code(letter))),
        }
        if let Some(lower_case) = &mut self.lower_case {
            lower_case.note(start, residues_of(letters));
        }
        self.text.resize(self.text.len() + 1 + COLUMNS, BORDER);
        let next = self.text.len() - COLUMNS;
        self.end(title, next)
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
        (self.starts[self.len()] - COLUMNS - self.len()) as u64
    }

    /// The codes of one that is not packed.
    pub fn residues(&self, number: usize) -> &[u8] {
        &self.text[self.range(number)]
    }

    /// The codes of one at some of its positions.
    pub fn codes(&self, number: usize, range: Range<usize>) -> Cow<'_, [u8]> {
        self.codes_in(&self.text, self.packed.as_ref(), number, range)
    }

    /// The same as reports show it: what is hidden too.
    pub(crate) fn shown_codes(&self, number: usize, range: Range<usize>) -> Cow<'_, [u8]> {
        let text = self.shown_text.as_ref().unwrap_or(&self.text);
        let packed = self.shown_packed.as_ref().or(self.packed.as_ref());
        self.codes_in(text, packed, number, range)
    }

    fn codes_in<'t>(
        &self,
        text: &'t [u8],
        packed: Option<&Packed>,
        number: usize,
        range: Range<usize>,
    ) -> Cow<'t, [u8]> {
        let start = self.starts[number];
        match packed {
            None => text[start + range.start..start + range.end].into(),
            Some(packed) => {
                let mut codes = vec![0; range.len()];
                packed.unpack(start + range.start, &mut codes);
                codes.into()
            }
        }
    }

    /// All codes and borders of what is packed.
    pub(crate) fn packed(&self) -> &Packed {
        self.packed
            .as_ref()
            .expect("subjects of nucleotides are packed")
    }

    /// Stretches of bases of what is packed that have something of a range and in which seeds are
    /// looked for, in their order, each as long as it can be.
    pub(crate) fn seed_stretches(
        &self,
        range: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + '_ {
        let stretches = self.packed().stretches(range.clone());
        stretches.flat_map(move |stretch| {
            let noted = self.lower_case.as_ref();
            let pieces = noted.map(|noted| noted.outside(stretch.clone(), range.clone()));
            let whole = noted.is_none().then_some(stretch);
            pieces.into_iter().flatten().chain(whole)
        })
    }

    /// The number of the first in the database.
    pub(crate) fn first(&self) -> usize {
        self.first
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
        for range in self.lower_case.iter().flat_map(LowerCase::ranges) {
            titles.update(&range.start.to_le_bytes());
            titles.update(&range.end.to_le_bytes());
        }
        let mut residues = crc32fast::Hasher::new();
        let texts = [Some(&self.text), self.shown_text.as_ref()];
        texts
            .into_iter()
            .flatten()
            .for_each(|text| residues.update(text));
        let packed = [self.packed.as_ref(), self.shown_packed.as_ref()];
        for packed in packed.into_iter().flatten() {
            packed
                .bits_of_all()
                .for_each(|bits| residues.update(&bits.to_le_bytes()));
        }
        let [residues, titles] = [residues, titles].map(|sum| sum.finalize().into());
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
        first_word(self.title(number))
    }

    /// The frames of those of a range of numbers, one behind the other, without titles.
    pub(crate) fn frames(&self, range: Range<usize>, frames: Frames, threads: usize) -> Sequences {
        self.frames_by(range, frames, threads, |number| {
            self.codes(number, 0..self.range(number).len())
        })
    }

    /// The same as reports show it.
    pub(crate) fn shown_frames(&self, range: Range<usize>, frames: Frames) -> Sequences {
        self.frames_by(range, frames, 1, |number| {
            self.shown_codes(number, 0..self.range(number).len())
        })
    }

    fn frames_by<'s>(
        &'s self,
        range: Range<usize>,
        frames: Frames,
        threads: usize,
        codes: impl Fn(usize) -> Cow<'s, [u8]> + Sync,
    ) -> Sequences {
        let mut part = Sequences {
            molecule: frames.molecule(),
            ..Sequences::default()
        };
        let numbers = frames.numbers();
        let of = |place: usize| {
            (
                range.start + place / numbers.len(),
                numbers[place % numbers.len()],
            )
        };
        let count = range.len() * numbers.len();
        let mut next = COLUMNS;
        for (number, frame) in (0..count).map(of) {
            next += frames.length(self.range(number).len(), frame) + 1;
            part.starts.push(next);
        }
        part.text.reserve_exact(next + COLUMNS - part.text.len());
        prefer_large_pages(part.text.spare_capacity_mut());
        part.text.resize(next + COLUMNS, BORDER);
        let (starts, mut rest) = (&part.starts, &mut part.text[COLUMNS..]);
        let each = count.div_ceil(threads).max(1);
        let mut shares = Vec::new();
        for from in (0..count).step_by(each) {
            let places = from..count.min(from + each);
            let own;
            (own, rest) = rest.split_at_mut(starts[places.end] - starts[from]);
            shares.push((places, own));
        }
        let read = |(places, mut rest): (Range<usize>, &mut [u8])| {
            for place in places {
                let own;
                (own, rest) = rest.split_at_mut(starts[place + 1] - starts[place]);
                let (number, frame) = of(place);
                let (codes, whole) = (codes(number), 0..own.len() - 1);
                let part = &codes[frames.place(&whole, frame, codes.len())];
                frames.write(part, frame, &mut own[whole]);
            }
        };
        in_threads(shares, read);
        part
    }

    /// The codes of one, to be changed.
    pub(crate) fn residues_mut(&mut self, number: usize) -> &mut [u8] {
        let range = self.range(number);
        &mut self.text[range]
    }

    /// Where one is in lower case, if that was noted.
    pub(crate) fn lower_case(&self, number: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let noted = self.lower_case.iter();
        let own = self.range(number);
        noted.flat_map(move |noted| noted.of(own.clone()))
    }

    /// Where the text is in lower case, if that was noted.
    pub(crate) fn noted_case(&self) -> Option<&LowerCase> {
        self.lower_case.as_ref()
    }

    /// The text in which seeds are looked for: in masks there are none.
    pub(crate) fn seed_text(&self) -> &[u8] {
        self.seed_text.as_ref().unwrap_or(&self.text)
    }

    /// What seeds of one are looked for in.
    pub(crate) fn seed_residues(&self, number: usize) -> &[u8] {
        &self.seed_text()[self.range(number)]
    }

    /// What seeds are looked for in one, to be changed.
    pub(crate) fn seed_residues_mut(&mut self, number: usize) -> &mut [u8] {
        let range = self.range(number);
        let text = self.seed_text.get_or_insert_with(|| self.text.clone());
        &mut text[range]
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

/// A title up to its first space.
pub(crate) fn first_word(title: &[u8]) -> &[u8] {
    let mut words = title.split(u8::is_ascii_whitespace);
    words.next().unwrap_or_default()
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
