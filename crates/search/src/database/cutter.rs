//! Divides a database into parts.

use std::ops::Range;

use gyrase_align::arch::COLUMNS;
use gyrase_seqdb::EntrySize;

use crate::lower_case::LowerCase;
use crate::sequences::{LetterCase, MOST_RESIDUES, SEQUENCE, TAXID};

/// Residues of a part that fit, with their borders.
const MOST_LETTERS: u64 = (MOST_RESIDUES - COLUMNS) as u64;

/// Sequences that follow each other and are searched together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Their numbers among all entries of all sources.
    pub entries: Range<u64>,
    /// The number of the first among those that the filter keeps.
    pub first: usize,
    /// Bytes that they take with an index of them.
    pub bytes: u64,
    pub letters: u64,
}

impl Part {
    /// Takes what is behind it too, if both together take so many bytes at most.
    fn take(&mut self, [bytes, letters]: [u64; 2], most: u64) -> bool {
        let fits = self.bytes + bytes <= most && self.letters + letters <= MOST_LETTERS;
        let takes = fits || self.bytes == 0;
        if takes {
            self.bytes += bytes;
            self.letters += letters;
        }
        takes
    }

    /// Larger parts of small ones, as if sequences had been divided so from the start.
    pub fn join(parts: Vec<Part>, most: u64) -> Vec<Part> {
        let mut joined: Vec<Part> = Vec::new();
        for part in parts {
            if let Some(last) = joined.last_mut()
                && last.take([part.bytes, part.letters], most)
            {
                last.entries.end = part.entries.end;
                continue;
            }
            joined.push(part);
        }
        joined
    }
}

/// Divides sequences that come one after the other into parts that take so many bytes at most, but
/// for single sequences that take more.
pub struct Cutter {
    most: u64,
    /// Bytes that eight letters take.
    pub eight: u64,
    /// Bytes that a stretch of lower case takes.
    mask: u64,
    parts: Vec<Part>,
}

impl Cutter {
    pub fn new(most: u64, eight: u64, case: LetterCase) -> Cutter {
        Cutter {
            most,
            eight,
            mask: match case {
                LetterCase::Noted | LetterCase::Hidden => LowerCase::BYTES,
                LetterCase::Ignored => 0,
            },
            parts: vec![Part {
                entries: 0..0,
                first: 0,
                bytes: 0,
                letters: 0,
            }],
        }
    }

    /// Adds a sequence, the entry of a number, behind `kept` ones.
    pub fn add(&mut self, entry: u64, kept: u64, size: &EntrySize) {
        let taxids = TAXID * size.taxids.len() as u64;
        let beside = taxids + self.mask * size.masks;
        let bytes = SEQUENCE + size.title + self.eight * size.letters / 8 + beside;
        let last = self.parts.last_mut().expect("there is a part");
        let letters = size.letters + 1;
        if last.take([bytes, letters], self.most) {
            return;
        }
        last.entries.end = entry;
        self.parts.push(Part {
            entries: entry..entry,
            first: kept as usize,
            bytes,
            letters,
        });
    }

    /// Whether all of them are one part that takes no more than it may.
    pub fn fits(&self) -> bool {
        matches!(&self.parts[..], [one] if one.bytes <= self.most)
    }

    /// The parts of so many entries.
    pub fn finish(mut self, entries: u64) -> Vec<Part> {
        if let Some(last) = self.parts.last_mut() {
            last.entries.end = entries;
        }
        self.parts
    }
}
