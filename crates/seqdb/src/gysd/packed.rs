//! Nucleotides in two bits each: the first in the upper bits of a byte, as BLAST has it. What is no
//! base is an A there, and an exception beside.

use std::ops::Range;

use super::section::Row;
use gyrase_files::container::{u32_at, u64_at};

/// The bases by code.
pub(crate) const BASES: [u8; 4] = *b"ACGT";

/// The letters of four bases, by their byte.
const LETTERS: [[u8; 4]; 256] = {
    let mut all = [[0; 4]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut at = 0;
        while at < 4 {
            all[byte][at] = BASES[byte >> (6 - 2 * at) & 3];
            at += 1;
        }
        byte += 1;
    }
    all
};

/// The code of a base; `None` for another letter.
pub(super) fn code(letter: u8) -> Option<u8> {
    match letter {
        b'A' => Some(0),
        b'C' => Some(1),
        b'G' => Some(2),
        b'T' => Some(3),
        _ => None,
    }
}

/// Appends the letters at some positions.
///
/// # Panics
/// When there are not so many.
pub(crate) fn unpack(packed: &[u8], positions: Range<usize>, letters: &mut Vec<u8>) {
    let skipped = positions.start % 4;
    let before = letters.len();
    letters.reserve(positions.len() + 8);
    let bytes = positions.start / 4..positions.end.div_ceil(4).max(positions.start / 4);
    let mut bytes = packed[bytes].iter();
    if let (true, Some(&first)) = (skipped > 0, bytes.as_slice().first()) {
        letters.extend(&LETTERS[usize::from(first)][skipped..]);
        bytes.next();
    }
    for &byte in bytes {
        letters.extend(LETTERS[usize::from(byte)]);
    }
    letters.truncate(before + positions.len());
}

/// Neighbouring positions with one letter that is no base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exception {
    /// The first, counted through all sequences.
    pub position: u64,
    /// How many.
    pub length: u32,
    pub letter: u8,
}

impl Exception {
    pub fn encode(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.position.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.length.to_le_bytes());
        bytes[12] = self.letter;
        bytes
    }
}

impl Row for Exception {
    const BYTES: usize = 16;

    fn decode(bytes: &[u8]) -> Exception {
        Exception {
            position: u64_at(bytes, 0),
            length: u32_at(bytes, 8),
            letter: bytes[12],
        }
    }

    fn place(&self) -> (u64, u64) {
        (self.position, self.length.into())
    }
}

/// Packs letters that come one after the other.
#[derive(Default)]
pub(super) struct Packer {
    /// Bytes that are full.
    pub full: Vec<u8>,
    /// The codes of the last, not full one, and how many.
    partial: u8,
    filled: u32,
    /// Letters so far.
    position: u64,
    /// Exceptions that are over, in bytes of the file.
    pub exceptions: Vec<u8>,
    open: Option<Exception>,
}

impl Packer {
    pub fn push(&mut self, letter: u8) {
        let code = code(letter);
        match &mut self.open {
            Some(open) if code.is_none() && open.letter == letter && open.length < u32::MAX => {
                open.length += 1;
            }
            _ => {
                self.close();
                self.open = code.is_none().then_some(Exception {
                    position: self.position,
                    length: 1,
                    letter,
                });
            }
        }
        self.partial = self.partial << 2 | code.unwrap_or_default();
        self.filled += 1;
        self.position += 1;
        if self.filled == 4 {
            self.full.push(self.partial);
            (self.partial, self.filled) = (0, 0);
        }
    }

    /// Ends an exception, as the end of a sequence does.
    pub fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.exceptions.extend(open.encode());
        }
    }

    /// Fills the last byte.
    pub fn finish(&mut self) {
        if self.filled > 0 {
            self.full.push(self.partial << (8 - 2 * self.filled));
            self.filled = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stretch_comes_back() {
        let letters: Vec<u8> = (0..41_usize).map(|at| BASES[at * at / 3 % 4]).collect();
        let mut packer = Packer::default();
        letters.iter().for_each(|&letter| packer.push(letter));
        packer.finish();
        assert_eq!(packer.full.len(), 11);
        for from in 0..letters.len() {
            for to in from..=letters.len() {
                let mut found = vec![b'>'];
                unpack(&packer.full, from..to, &mut found);
                assert_eq!(found[1..], letters[from..to], "{from}..{to}");
            }
        }
    }

    #[test]
    fn what_is_no_base_is_an_exception() {
        let mut packer = Packer::default();
        for sequence in [&b"ACNNNRG"[..], b"NN"] {
            sequence.iter().for_each(|&letter| packer.push(letter));
            packer.close();
        }
        let found: Vec<Exception> = packer
            .exceptions
            .chunks(Exception::BYTES)
            .map(Exception::decode)
            .collect();
        let exception = |position, length, letter| Exception {
            position,
            length,
            letter,
        };
        assert_eq!(
            found,
            [
                exception(2, 3, b'N'),
                exception(5, 1, b'R'),
                exception(7, 2, b'N')
            ]
        );
    }
}
