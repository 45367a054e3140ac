//! A section of an opened database: bytes that are checked when they are first read. The list of
//! checksums of its blocks follows it.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gyrase_files::container::{self, checked_part, checksum, part, u32_at, u64_at};

use super::layout::{BLOCK_BYTES, blocks};

/// A row of a section that tells of neighbouring letters, by positions through all sequences.
pub(super) trait Row: Sized {
    const BYTES: usize;

    /// Reads a row of [`Row::BYTES`] bytes.
    fn decode(bytes: &[u8]) -> Self;

    /// The first letter, and how many.
    fn place(&self) -> (u64, u64);

    /// Where it ends; 2^64 - 1 for what no file has.
    fn end(&self) -> u64 {
        let (position, length) = self.place();
        position.saturating_add(length)
    }
}

/// Where a section is, and which of its blocks were found to fit their checksums.
#[derive(Debug)]
pub(super) struct Section {
    name: String,
    /// Its bytes in the file.
    own: Range<usize>,
    /// The list of checksums in the file.
    checksums: Range<usize>,
    /// A bit for each block.
    sound: Vec<AtomicU64>,
}

impl Section {
    /// A section that lies in the file, with a list of checksums that is what was written.
    pub fn new(all: &[u8], entry: container::Section) -> Result<Section, String> {
        let name = format_args!("section {}", entry.name);
        part(all, entry.offset, entry.bytes, name)?;
        let list = format_args!("checksums of section {}", entry.name);
        let length = 4 * blocks(&entry);
        checked_part(all, entry.end(), length, entry.crc, list)?;
        let [offset, bytes, checksums, length] =
            [entry.offset, entry.bytes, entry.end(), length].map(|number| number as usize);
        Ok(Section {
            sound: (0..blocks(&entry).div_ceil(64))
                .map(|_| AtomicU64::new(0))
                .collect(),
            name: entry.name,
            own: offset..offset + bytes,
            checksums: checksums..checksums + length,
        })
    }

    /// Its bytes.
    pub fn len(&self) -> usize {
        self.own.len()
    }

    /// Some of its bytes, once they fit their checksums.
    pub fn read<'a>(&self, all: &'a [u8], bytes: Range<u64>) -> Result<&'a [u8], String> {
        let outside = || {
            let (Range { start, end }, name) = (&bytes, &self.name);
            format!(
                "bytes {start} to {end} of section {name}, which has {}",
                self.len()
            )
        };
        let within = bytes.start <= bytes.end && bytes.end <= self.len() as u64;
        if !within {
            return Err(outside());
        }
        let range = bytes.start as usize..bytes.end as usize;
        for block in range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES) {
            self.check(all, block)?;
        }
        Ok(&all[self.own.start + range.start..self.own.start + range.end])
    }

    /// All of its bytes, once they fit their checksums.
    pub fn read_all<'a>(&self, all: &'a [u8]) -> Result<&'a [u8], String> {
        self.read(all, 0..self.len() as u64)
    }

    /// The number of eight bytes at a place of a list of such.
    pub fn word(&self, all: &[u8], place: u64) -> Result<u64, String> {
        let from = place.saturating_mul(8);
        Ok(u64_at(self.read(all, from..from.saturating_add(8))?, 0))
    }

    /// Threads that meet here check twice and find the same.
    fn check(&self, all: &[u8], block: usize) -> Result<(), String> {
        let (word, bit) = (&self.sound[block / 64], 1 << (block % 64));
        if word.load(Relaxed) & bit != 0 {
            return Ok(());
        }
        let own = &all[self.own.clone()];
        let bytes = &own[block * BLOCK_BYTES..own.len().min((block + 1) * BLOCK_BYTES)];
        let stored = u32_at(&all[self.checksums.clone()], 4 * block);
        let name = format_args!("block {block} of section {}", self.name);
        checksum(name, bytes, stored)?;
        word.fetch_or(bit, Relaxed);
        Ok(())
    }
}
