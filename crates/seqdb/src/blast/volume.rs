//! A volume of a database: an index, headers and sequences.

use std::path::Path;

use gyrase_table::let_go;

use super::bases;
use super::deflines::Titles;
use super::files::{Mapped, big_endian};
use super::masks::Masks;
use crate::{Molecule, SeqDbError};

/// The letters of residues by code (NCBIstdaa).
const RESIDUES: &[u8; 28] = b"-ABCDEFGHIKLMNPQRSTVWXYZU*OJ";

/// Versions of the format that are read.
const VERSIONS: [u32; 2] = [4, 5];

/// An opened volume.
#[derive(Debug)]
pub(super) struct Volume {
    molecule: Molecule,
    index: Mapped,
    headers: Mapped,
    letters: Mapped,
    len: usize,
    /// Letters of all.
    total: u64,
    /// Letters of the longest.
    longest: u64,
    /// Where the lists of the index begin: of headers, of sequences, of ambiguities.
    lists: [usize; 3],
    masks: Option<Masks>,
}

impl Volume {
    pub fn open(prefix: &Path, molecule: Molecule, letter: char) -> Result<Volume, SeqDbError> {
        let open = |ending| Mapped::open(prefix, letter, ending);
        let (index, headers, letters) = (open("in")?, open("hr")?, open("sq")?);
        let mut fields = Fields {
            index: &index,
            at: 0,
        };
        let version = fields.number()?;
        if !VERSIONS.contains(&version) {
            let what = format!("it has version {version} of the format, 4 and 5 are read");
            return Err(index.corrupt(what));
        }
        let kind = fields.number()?;
        if kind != molecule as u32 {
            return Err(index.corrupt(format!("it says that its kind is {kind}")));
        }
        // Title and date; version 5 has the number of the volume and the name of a file besides.
        let texts = if version == 5 { 3 } else { 2 };
        fields.skip(if version == 5 { 4 } else { 0 })?;
        for _ in 0..texts {
            let length = fields.number()?;
            fields.skip(length as usize)?;
        }
        let len = fields.number()? as usize;
        // In the other order of bytes.
        let total = fields.bytes(8)?.try_into().expect("eight bytes");
        let total = u64::from_le_bytes(total);
        let longest = fields.number()?.into();
        let list = 4 * (len + 1);
        let first = fields.at;
        let lists = [first, first + list, first + 2 * list];
        let count = if molecule == Molecule::Protein { 2 } else { 3 };
        fields.skip(count * list)?;
        Ok(Volume {
            masks: Masks::open(prefix, letter, len)?,
            molecule,
            headers,
            letters,
            len,
            total,
            longest,
            lists,
            index,
        })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn bytes(&self) -> u64 {
        (self.headers.bytes.len() + self.letters.bytes.len()) as u64
    }

    /// Letters of all sequences.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Letters of the longest sequence.
    pub fn longest(&self) -> u64 {
        self.longest
    }

    /// Letters of a sequence, at most.
    pub fn letters_at_most(&self, number: usize) -> u64 {
        let start = self.offset(1, number);
        let (end, letters) = match self.molecule {
            Molecule::Protein => (self.offset(1, number + 1), 1),
            Molecule::Nucleotide => (self.offset(2, number), 4),
        };
        // A zero, or the count of the last letters.
        letters * (end.saturating_sub(start + 1) as u64) + letters - 1
    }

    /// Gives back the memory that what was read takes in this process.
    pub fn let_go(&self) {
        for file in [&self.index, &self.headers, &self.letters] {
            let_go(&file.bytes);
        }
        self.masks.iter().for_each(Masks::let_go);
    }

    /// Bytes of a sequence and its header.
    pub fn bytes_of(&self, number: usize) -> u64 {
        let length = |list| {
            let end = self.offset(list, number + 1);
            end.saturating_sub(self.offset(list, number)) as u64
        };
        length(0) + length(1)
    }

    /// Masks of all sequences, about; nothing where it was made without.
    pub fn masks(&self) -> Option<u64> {
        self.masks.as_ref().map(Masks::total)
    }

    /// How many masks a sequence has.
    pub fn masks_of(&self, number: usize) -> Result<u64, SeqDbError> {
        let mut count = 0;
        if let Some(masks) = &self.masks {
            masks.each(number, |_| {
                count += 1;
                true
            })?;
        }
        Ok(count)
    }

    /// Appends the letters of a sequence, in lower case where they are masked.
    pub fn letters(&self, number: usize, letters: &mut Vec<u8>) -> Result<(), SeqDbError> {
        let before = letters.len();
        self.upper_case(number, letters)?;
        let Some(masks) = &self.masks else {
            return Ok(());
        };
        masks.each(number, |range| {
            let masked = letters[before..].get_mut(range);
            masked.map(<[u8]>::make_ascii_lowercase).is_some()
        })
    }

    fn upper_case(&self, number: usize, letters: &mut Vec<u8>) -> Result<(), SeqDbError> {
        let (start, end) = (self.offset(1, number), self.offset(1, number + 1));
        match self.molecule {
            Molecule::Protein => {
                // A zero stands behind each.
                let codes = self.letters.get(start..end.saturating_sub(1))?;
                for &code in codes {
                    let letter = RESIDUES.get(usize::from(code));
                    let letter = letter.ok_or_else(|| self.unknown(number, code))?;
                    letters.push(*letter);
                }
                Ok(())
            }
            Molecule::Nucleotide => {
                let middle = self.offset(2, number);
                let packed = self.letters.get(start..middle)?;
                let list = self.letters.get(middle..end)?;
                let read = bases::read(packed, list, letters);
                read.map_err(|what| self.letters.corrupt(format!("sequence {number}: {what}")))
            }
        }
    }

    fn unknown(&self, number: usize, code: u8) -> SeqDbError {
        let what = format!("sequence {number} has {code}, the code of no residue");
        self.letters.corrupt(what)
    }

    /// Reads the titles of a sequence, which has the number `in_all` in the database.
    pub fn titles(
        &self,
        number: usize,
        in_all: usize,
        titles: &mut Titles,
    ) -> Result<(), SeqDbError> {
        let range = self.offset(0, number)..self.offset(0, number + 1);
        let read = titles.read(self.headers.get(range)?, in_all);
        read.map_err(|what| self.headers.corrupt(format!("sequence {number}: {what}")))
    }

    /// An offset of a list.
    fn offset(&self, list: usize, number: usize) -> usize {
        let at = self.lists[list] + 4 * number;
        big_endian(&self.index.bytes[at..at + 4]) as usize
    }
}

/// Reads the fields of an index.
struct Fields<'i> {
    index: &'i Mapped,
    at: usize,
}

impl Fields<'_> {
    fn number(&mut self) -> Result<u32, SeqDbError> {
        Ok(big_endian(self.bytes(4)?))
    }

    fn bytes(&mut self, count: usize) -> Result<&[u8], SeqDbError> {
        let bytes = self.index.get(self.at..self.at + count)?;
        self.at += count;
        Ok(bytes)
    }

    /// Passes over bytes that are there.
    fn skip(&mut self, bytes: usize) -> Result<(), SeqDbError> {
        self.bytes(bytes).map(drop)
    }
}
