//! Reads a database.

use std::ops::Range;
use std::path::{Path, PathBuf};

use gyrase_align::{nucleotide, residue};
use gyrase_files::container::{self, expect, u32_at, u64_at};
use gyrase_table::{let_go, open};
use gyrase_taxonomy::Taxonomy;
use memmap2::Mmap;

use super::layout::{FORMAT, Header, MARGIN, Part, Summary};
use super::masks::Mask;
use super::names::{self, names_of};
use super::packed::{Exception, unpack};
use super::section::{Row, Section};
use crate::{Molecule, SeqDbError};

/// What makes a letter one of lower case.
const LOWER: u8 = 32;

/// Which strand of nucleotides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strand {
    /// The one that is stored.
    #[default]
    Plus,
    /// The complement, backwards.
    Minus,
}

/// An opened database. Threads share it.
///
/// Opening reads the header, the table of sections and the lists of checksums: nothing that grows
/// as the letters do but four bytes in 65,536. A block of 64 KiB is checked against its checksum
/// when something of it is first read; [`SeqDb::verify`] checks all.
#[derive(Debug)]
pub struct SeqDb {
    path: PathBuf,
    bytes: Mmap,
    header: Header,
    /// By [`Part`]; that of masks may be missing.
    sections: Vec<Section>,
}

impl SeqDb {
    /// Opens a database.
    ///
    /// # Errors
    /// The file cannot be opened; it is no database, of another version, truncated or damaged.
    pub fn open(path: &Path) -> Result<SeqDb, SeqDbError> {
        let (_, bytes) = open(path)?;
        let header = header(path, &bytes)?;
        let sections = sections(&header, &bytes).map_err(|what| FORMAT.corrupt(path, what))?;
        Ok(SeqDb {
            path: path.to_path_buf(),
            bytes,
            header,
            sections,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the database holds.
    pub fn summary(&self) -> Summary {
        self.header.summary
    }

    /// A checksum of all that it has.
    pub fn checksum(&self) -> u32 {
        self.header.table_crc
    }

    /// How many sequences there are.
    pub fn len(&self) -> usize {
        self.header.summary.sequences as usize
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Taxids of all sequences together.
    pub fn taxids_of_all(&self) -> u64 {
        self.section(Part::Taxids).len() as u64 / 4
    }

    /// The line that names a sequence.
    ///
    /// # Errors
    /// Here and below, bytes that do not fit their checksums, or contradict others; and there is
    /// no such sequence.
    pub fn title(&self, number: usize) -> Result<&[u8], SeqDbError> {
        let title = || {
            let range = self.range(Part::TitleEnds, number)?;
            self.section(Part::Titles).read(&self.bytes, range)
        };
        title().map_err(|what| self.corrupt(what))
    }

    /// Its taxids; none where they are not known.
    pub fn taxids(&self, number: usize) -> Result<Vec<u32>, SeqDbError> {
        let taxids = || {
            let Range { start, end } = self.range(Part::TaxidEnds, number)?;
            let bytes = start.saturating_mul(4)..end.saturating_mul(4);
            let bytes = self.section(Part::Taxids).read(&self.bytes, bytes)?;
            Ok(bytes.chunks_exact(4).map(|one| u32_at(one, 0)).collect())
        };
        taxids().map_err(|what| self.corrupt(what))
    }

    /// How many letters it has.
    pub fn letters(&self, number: usize) -> Result<u64, SeqDbError> {
        let range = self.range(Part::Ends, number);
        range
            .map(|range| range.end - range.start)
            .map_err(|what| self.corrupt(what))
    }

    /// Appends letters at some of its positions, from 0; in lower case where they are masked.
    pub fn read(
        &self,
        number: usize,
        positions: Range<u64>,
        strand: Strand,
        letters: &mut Vec<u8>,
    ) -> Result<(), SeqDbError> {
        let before = letters.len();
        let read = self.range(Part::Ends, number).and_then(|own| {
            let from = own.start.saturating_add(positions.start);
            let to = own.start.saturating_add(positions.end);
            if from > to || to > own.end {
                return Err(format!("positions {positions:?} of sequence {number}"));
            }
            match self.header.summary.molecule {
                Molecule::Protein => self.read_residues(number, from..to, letters),
                Molecule::Nucleotide => self.read_bases(from..to, letters),
            }?;
            self.each_mask_in(from..to, |range| {
                letters[before..][range].make_ascii_lowercase()
            })
        });
        read.map_err(|what| self.corrupt(what))?;
        if strand == Strand::Minus {
            letters[before..].reverse();
            letters[before..]
                .iter_mut()
                .for_each(|letter| *letter = complement(*letter));
        }
        Ok(())
    }

    /// `positions` are counted through all sequences; there is a border behind each.
    fn read_residues(
        &self,
        number: usize,
        positions: Range<u64>,
        letters: &mut Vec<u8>,
    ) -> Result<(), String> {
        let before = (MARGIN + number) as u64;
        let place = |position: u64| position.saturating_add(before);
        let bytes = place(positions.start)..place(positions.end);
        let codes = self.section(Part::Letters).read(&self.bytes, bytes)?;
        letters.extend(codes.iter().map(|&code| residue::letter(code)));
        Ok(())
    }

    /// Nucleotides of some positions, counted through all sequences: the bytes in which they are,
    /// two bits each, the first in the upper bits of a byte, and which of the first four begins
    /// them. What is no base is an A there.
    pub fn bases(&self, positions: Range<u64>) -> Result<(&[u8], usize), SeqDbError> {
        let first = (positions.start % 4) as usize;
        let bytes = self.packed_bytes(&positions);
        Ok((bytes.map_err(|what| self.corrupt(what))?, first))
    }

    /// The number of the first letter of a sequence among those of all; what of the sequence is no
    /// base comes to `exceptions`, by its places.
    pub(crate) fn packed(
        &self,
        number: usize,
        exceptions: &mut Vec<(Range<usize>, u8)>,
    ) -> Result<u64, SeqDbError> {
        exceptions.clear();
        let first = self.range(Part::Ends, number).and_then(|own| {
            let start = own.start;
            self.each_exception(own, |range, letter| exceptions.push((range, letter)))?;
            Ok(start)
        });
        first.map_err(|what| self.corrupt(what))
    }

    fn packed_bytes(&self, positions: &Range<u64>) -> Result<&[u8], String> {
        let first = positions.start / 4;
        let bytes = first..positions.end.div_ceil(4).max(first);
        self.section(Part::Letters).read(&self.bytes, bytes)
    }

    fn read_bases(&self, positions: Range<u64>, letters: &mut Vec<u8>) -> Result<(), String> {
        let before = letters.len();
        let packed = self.packed_bytes(&positions)?;
        let own = |position: u64| (position - positions.start / 4 * 4) as usize;
        unpack(packed, own(positions.start)..own(positions.end), letters);
        self.each_exception(positions, |range, letter| {
            letters[before..][range].fill(letter)
        })
    }

    /// Gives what is no base at some positions to `each`: its places from the first on, and its
    /// letter.
    fn each_exception(
        &self,
        positions: Range<u64>,
        mut each: impl FnMut(Range<usize>, u8),
    ) -> Result<(), String> {
        let exceptions = self.section(Part::Exceptions);
        self.each_row_in(exceptions, positions, |places, exception: Exception| {
            each(places, exception.letter);
            Ok(())
        })
    }

    /// Gives the rows of a section that have some of some positions to `each`, with the places that
    /// they have among these.
    fn each_row_in<R: Row>(
        &self,
        section: &Section,
        positions: Range<u64>,
        mut each: impl FnMut(Range<usize>, R) -> Result<(), String>,
    ) -> Result<(), String> {
        let bytes = R::BYTES as u64;
        let row = |place| {
            let own = section.read(&self.bytes, place * bytes..(place + 1) * bytes)?;
            Ok::<_, String>(R::decode(own))
        };
        let clip = |position: u64| {
            (position.clamp(positions.start, positions.end) - positions.start) as usize
        };
        let count = section.len() as u64 / bytes;
        let first = partition_point(count, |place| Ok(row(place)?.end() <= positions.start))?;
        for place in first..count {
            let row = row(place)?;
            let (position, end) = (row.place().0, row.end());
            if position >= positions.end {
                break;
            }
            each(clip(position)..clip(end), row)?;
        }
        Ok(())
    }

    /// Whether the database was made with the masks of its sequences.
    pub fn has_masks(&self) -> bool {
        self.masks().is_some()
    }

    /// Stretches of letters that are masked.
    pub fn masks_of_all(&self) -> u64 {
        let rows = self.masks().map_or(0, Section::len);
        (rows / Mask::BYTES) as u64
    }

    /// Letters of all sequences that are masked.
    ///
    /// # Errors
    /// Here and below, bytes that do not fit their checksums, or contradict others.
    pub fn masked_letters(&self) -> Result<u64, SeqDbError> {
        let Some(section) = self.masks() else {
            return Ok(0);
        };
        let rows = section.read_all(&self.bytes);
        let rows = rows.map_err(|what| self.corrupt(what))?;
        let masks = rows.chunks_exact(Mask::BYTES).map(Mask::decode);
        Ok(masks.fold(0, |sum, mask| sum.saturating_add(mask.length)))
    }

    /// How many masks a sequence has.
    pub(crate) fn count_masks(&self, number: usize) -> Result<u64, SeqDbError> {
        let mut count = 0;
        self.each_mask(number, |_| count += 1)?;
        Ok(count)
    }

    /// Gives the masks of a sequence, by its letters, to `each`.
    pub(crate) fn each_mask(
        &self,
        number: usize,
        each: impl FnMut(Range<usize>),
    ) -> Result<(), SeqDbError> {
        let own = self.range(Part::Ends, number);
        let given = own.and_then(|own| self.each_mask_in(own, each));
        given.map_err(|what| self.corrupt(what))
    }

    /// Gives what is masked at some positions, counted through all sequences, to `each`: its places
    /// from the first on.
    fn each_mask_in(
        &self,
        positions: Range<u64>,
        mut each: impl FnMut(Range<usize>),
    ) -> Result<(), String> {
        let Some(section) = self.masks() else {
            return Ok(());
        };
        let mut before = 0;
        self.each_row_in(section, positions, |places, mask: Mask| {
            let Mask { position, length } = mask;
            if position < before || length == 0 {
                return Err(format!("{length} letters at {position} are no mask"));
            }
            before = mask.end();
            each(places);
            Ok(())
        })
    }

    /// The sequences of a name: the first word of a title, or of what follows a byte 1 in it.
    pub fn find(&self, name: &[u8]) -> Result<Vec<usize>, SeqDbError> {
        let section = self.section(Part::Names);
        let candidates = || {
            let least = names::word(name, 0);
            let count = section.len() as u64 / 8;
            let word = |place| section.word(&self.bytes, place);
            let first = partition_point(count, |place| Ok(word(place)? < least))?;
            let mut found = Vec::new();
            for place in first..count {
                let word = word(place)?;
                if word >> 32 != least >> 32 {
                    break;
                }
                found.push((word & u64::from(u32::MAX)) as usize);
            }
            found.dedup();
            Ok(found)
        };
        let mut found = candidates().map_err(|what| self.corrupt(what))?;
        let mut failed = None;
        found.retain(|&number| match self.title(number) {
            Ok(title) => names_of(title).any(|one| one == name),
            Err(error) => {
                failed.get_or_insert(error);
                false
            }
        });
        failed.map_or(Ok(found), Err)
    }

    /// The taxa that lead to its taxids, where it was built with a taxonomy.
    pub fn taxonomy(&self) -> Result<Option<Taxonomy>, SeqDbError> {
        let section = self.section(Part::Taxonomy);
        let bytes = section
            .read_all(&self.bytes)
            .map_err(|what| self.corrupt(what))?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let taxonomy = Taxonomy::from_bytes(bytes);
        taxonomy
            .map(Some)
            .map_err(|error| self.corrupt(error.to_string()))
    }

    /// Gives back the memory that what was read takes in this process.
    pub fn let_go(&self) {
        let_go(&self.bytes);
    }

    pub(super) fn section(&self, part: Part) -> &Section {
        &self.sections[part as usize]
    }

    /// The section of masks, if there is one.
    pub(super) fn masks(&self) -> Option<&Section> {
        self.sections.get(Part::Masks as usize)
    }

    pub(super) fn all(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn corrupt(&self, what: String) -> SeqDbError {
        FORMAT.corrupt(&self.path, what).into()
    }

    /// What lies between the end of the sequence before and its own, in a list of ends.
    fn range(&self, part: Part, number: usize) -> Result<Range<u64>, String> {
        if number >= self.len() {
            return Err(format!("there is no sequence of number {number}"));
        }
        let end = |place: u64| self.section(part).word(&self.bytes, place);
        let place = number as u64;
        let start = match place.checked_sub(1) {
            Some(before) => end(before)?,
            None => 0,
        };
        let end = end(place)?;
        if start > end {
            let name = part.name();
            return Err(format!("section {name}: {end} follows {start}"));
        }
        Ok(start..end)
    }
}

/// The first place below `count` of which something is not true, where it is true of all before.
fn partition_point(
    count: u64,
    mut is_before: impl FnMut(u64) -> Result<bool, String>,
) -> Result<u64, String> {
    let (mut from, mut to) = (0, count);
    while from < to {
        let middle = from + (to - from) / 2;
        if is_before(middle)? {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    Ok(from)
}

fn header(path: &Path, bytes: &[u8]) -> Result<Header, SeqDbError> {
    let header = FORMAT.header_of(path, bytes)?;
    let header = Header::decode(header).map_err(|what| FORMAT.corrupt(path, what))?;
    FORMAT.length(path, header.summary.bytes, bytes.len())?;
    Ok(header)
}

/// The sections that this program knows; others are passed over.
fn sections(header: &Header, all: &[u8]) -> Result<Vec<Section>, String> {
    let entries = container::Section::table(all, header.table, header.sections, header.table_crc)?;
    let own = |part: Part| {
        let mut named = entries.iter().filter(|entry| entry.name == part.name());
        let entry = match (named.next(), part) {
            (Some(entry), _) => entry,
            (None, Part::Masks) => return Ok(None),
            (None, _) => return Err(format!("there is no section {}", part.name())),
        };
        expect_once(part, named.next().is_none())?;
        expect_length(part, entry.bytes, &header.summary)?;
        Section::new(all, entry.clone()).map(Some)
    };
    let own = Part::ALL.into_iter().map(own);
    own.filter_map(Result::transpose).collect()
}

fn expect_once(part: Part, once: bool) -> Result<(), String> {
    match once {
        true => Ok(()),
        false => Err(format!("there are two sections {}", part.name())),
    }
}

/// A section has as many bytes as its sequences ask for, or a multiple of what its rows have.
fn expect_length(part: Part, bytes: u64, summary: &Summary) -> Result<(), String> {
    let (sequences, letters) = (summary.sequences, summary.letters);
    let expected = match (part, summary.molecule) {
        (Part::Letters, Molecule::Protein) => letters.saturating_add(sequences + 2 * MARGIN as u64),
        (Part::Letters, Molecule::Nucleotide) => letters.div_ceil(4),
        (Part::Ends | Part::TitleEnds | Part::TaxidEnds, _) => 8 * sequences,
        (Part::Exceptions, _) => bytes - bytes % Exception::BYTES as u64,
        (Part::Names, _) => bytes - bytes % 8,
        (Part::Masks, _) => bytes - bytes % Mask::BYTES as u64,
        (Part::Taxids, _) => bytes - bytes % 4,
        (Part::Titles | Part::Taxonomy, _) => bytes,
    };
    let name = part.name();
    expect(format_args!("bytes of section {name}"), bytes, expected)
}

/// A number of eight bytes in a list of such.
pub(super) fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks_exact(8).map(|word| u64_at(word, 0))
}

/// The letter of the other strand, of the same case.
fn complement(letter: u8) -> u8 {
    let other = nucleotide::letter(nucleotide::complement(nucleotide::code(letter)));
    other | letter & LOWER
}
