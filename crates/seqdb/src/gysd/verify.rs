//! Checks all of a database.

use gyrase_align::residue::{BORDER, LETTERS};
use gyrase_files::container::expect;

use super::database::{SeqDb, words};
use super::layout::{MARGIN, Part};
use super::masks::Mask;
use super::names::{names_of, word};
use super::packed::{Exception, code};
use super::section::Row;
use crate::{Molecule, SeqDbError};

impl SeqDb {
    /// Reads all of the database: every block fits its checksum, and every value the others.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify(&self) -> Result<(), SeqDbError> {
        self.verify_sections().map_err(|what| self.corrupt(what))?;
        self.verify_names()?;
        self.taxonomy().map(drop)
    }

    fn verify_sections(&self) -> Result<(), String> {
        let read = |part: Part| self.section(part).read_all(self.all());
        for part in Part::ALL.into_iter().filter(|part| *part != Part::Masks) {
            read(part)?;
        }
        let summary = self.summary();
        let longest = ascending(Part::Ends, read(Part::Ends)?, summary.letters)?;
        expect("letters of the longest sequence", longest, summary.longest)?;
        let titles = read(Part::Titles)?.len() as u64;
        ascending(Part::TitleEnds, read(Part::TitleEnds)?, titles)?;
        let taxids = read(Part::Taxids)?.len() as u64 / 4;
        ascending(Part::TaxidEnds, read(Part::TaxidEnds)?, taxids)?;
        if let Some(section) = self.masks() {
            verify_masks(section.read_all(self.all())?, summary.letters)?;
        }
        match summary.molecule {
            Molecule::Protein => self.verify_residues(read(Part::Letters)?),
            Molecule::Nucleotide => verify_exceptions(read(Part::Exceptions)?, summary.letters),
        }
    }

    fn verify_residues(&self, codes: &[u8]) -> Result<(), String> {
        let mut borders = codes
            .iter()
            .enumerate()
            .filter(|(_, code)| **code == BORDER);
        let ends = self.section(Part::Ends).read_all(self.all())?;
        let length = codes.len() as u64;
        let behind = words(ends).zip(MARGIN as u64..);
        let behind = behind.map(|(end, before)| end.saturating_add(before));
        let margin = length - MARGIN as u64..length;
        for expected in (0..MARGIN as u64).chain(behind).chain(margin) {
            let found = borders.next().map_or(length, |(at, _)| at as u64);
            expect("place of a border between sequences", found, expected)?;
        }
        let foreign = |code: &&u8| usize::from(**code) >= LETTERS.len() && **code != BORDER;
        match codes.iter().find(foreign) {
            Some(code) => Err(format!("{code} is the code of no residue")),
            None => expect("more borders", borders.count() as u64, 0),
        }
    }

    fn verify_names(&self) -> Result<(), SeqDbError> {
        let mut expected = Vec::new();
        for number in 0..self.len() {
            let names = names_of(self.title(number)?);
            expected.extend(names.map(|name| word(name, number as u32)));
        }
        expected.sort_unstable();
        let found = self.section(Part::Names).read_all(self.all());
        let found = found.map_err(|what| self.corrupt(what))?;
        match words(found).eq(expected) {
            true => Ok(()),
            false => {
                Err(self.corrupt("section names does not have the names of the titles".into()))
            }
        }
    }
}

/// Ends that never fall and come to `last`; the longest of what they end.
fn ascending(part: Part, ends: &[u8], last: u64) -> Result<u64, String> {
    let name = part.name();
    let (mut before, mut longest) = (0, 0);
    for end in words(ends) {
        let length = end.checked_sub(before);
        let length = length.ok_or_else(|| format!("section {name}: {end} follows {before}"))?;
        longest = longest.max(length);
        before = end;
    }
    expect(format_args!("last number of section {name}"), before, last)?;
    Ok(longest)
}

fn verify_masks(masks: &[u8], letters: u64) -> Result<(), String> {
    let mut before = 0;
    for mask in masks.chunks_exact(Mask::BYTES).map(Mask::decode) {
        let Mask { position, length } = mask;
        if position < before || length == 0 || mask.end() > letters {
            return Err(format!("{length} letters at {position} are no mask"));
        }
        before = mask.end();
    }
    Ok(())
}

fn verify_exceptions(exceptions: &[u8], letters: u64) -> Result<(), String> {
    let mut before = 0;
    for exception in exceptions.chunks_exact(Exception::BYTES) {
        let zeros = exception[13..].iter().all(|&byte| byte == 0);
        let exception = Exception::decode(exception);
        let Exception {
            position,
            length,
            letter,
        } = exception;
        let known = Molecule::Nucleotide.stored(letter) == Some(letter) && code(letter).is_none();
        let placed = position >= before && length > 0 && exception.end() <= letters;
        if !(zeros && known && placed) {
            return Err(format!(
                "{length} letters {:?} at {position} are no exception",
                char::from(letter)
            ));
        }
        before = exception.end();
    }
    Ok(())
}
