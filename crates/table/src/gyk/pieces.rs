//! A bin that comes in pieces, since it is more than a thread may hold.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use crc32fast::Hasher;
use gyrase_files::{OutputError, Segment};
use tracing::info_span;

use super::error::GykError;
use super::layout::OVERFLOW;
use super::writer::{Bin, Totals, Writer};

/// k-mers taken at a time.
const ROWS: usize = 4096;

/// One bin under construction: [`Writer::pieces`] begins it, [`Pieces::finish`] hands it over.
///
/// The three parts of a bin grow side by side, and only the end tells where each begins in the
/// file. So they are gathered apart: in memory and, when that is too little, in a file without a
/// name beside the target, from where they are copied in order. A bin that fitted in memory goes
/// the way of one that came whole.
#[derive(Debug)]
pub struct Pieces<'w> {
    writer: &'w Writer,
    bin: usize,
    memory: usize,
    keys: Part,
    counts: Part,
    overflow: Part,
    scratch: Option<(File, u64)>,
    kmers: u64,
    overflows: u64,
    totals: Totals,
    /// The last key, to check the order.
    last: Vec<u64>,
}

/// A part of a bin, gathered.
#[derive(Debug, Default)]
struct Part {
    bytes: Vec<u8>,
    crc: Hasher,
    /// What was written to the scratch file already.
    written: Vec<Range<u64>>,
}

impl Part {
    fn extend(&mut self, bytes: &[u8]) {
        self.crc.update(bytes);
        self.bytes.extend_from_slice(bytes);
    }
}

impl Writer {
    /// Takes a bin piece by piece, in about `memory` bytes: what is more than that waits in a file
    /// without a name beside the target.
    pub fn pieces(&self, bin: usize, memory: usize) -> Pieces<'_> {
        Pieces {
            writer: self,
            bin,
            memory,
            keys: Part {
                bytes: self.file.spare_buffer(),
                ..Part::default()
            },
            counts: Part::default(),
            overflow: Part::default(),
            scratch: None,
            kmers: 0,
            overflows: 0,
            totals: Totals::default(),
            last: Vec::new(),
        }
    }
}

impl Pieces<'_> {
    /// Adds the next k-mers: keys, row by row, ascending and above those before them, and as many
    /// counts.
    ///
    /// # Errors
    /// When the scratch file cannot be written.
    ///
    /// # Panics
    /// When keys and counts do not fit each other, or with 2^32 k-mers in one bin.
    pub fn add(&mut self, keys: &[u64], counts: &[u32]) -> Result<(), GykError> {
        let words = self.writer.shape().words();
        assert_eq!(
            keys.len(),
            counts.len() * words,
            "every k-mer has a key and a count"
        );
        for (keys, counts) in keys.chunks(ROWS * words).zip(counts.chunks(ROWS)) {
            self.gather(keys, counts, words);
            // Half, since a growing buffer doubles.
            if self.gathered() > self.memory / 2 {
                self.spill()?;
            }
        }
        Ok(())
    }

    fn gather(&mut self, keys: &[u64], counts: &[u32], words: usize) {
        let rows = keys.chunks(words);
        debug_assert!(
            std::iter::once(&self.last[..])
                .chain(rows.clone())
                .zip(rows)
                .all(|(a, b)| a < b),
            "the keys of bin {} ascend",
            self.bin
        );
        self.last.clear();
        self.last.extend_from_slice(&keys[keys.len() - words..]);
        self.keys.extend(bytemuck::cast_slice(keys));
        let mut bytes = [0; ROWS];
        for (at, &count) in counts.iter().enumerate() {
            bytes[at] = count.min(u32::from(OVERFLOW)) as u8;
            if count >= u32::from(OVERFLOW) {
                let index = u32::try_from(self.kmers + at as u64)
                    .expect("a bin holds fewer than 2^32 k-mers");
                self.overflow.extend(&index.to_le_bytes());
                self.overflow.extend(&count.to_le_bytes());
                self.overflows += 1;
            }
        }
        self.counts.extend(&bytes[..counts.len()]);
        self.kmers += counts.len() as u64;
        self.totals.add(Totals::of(counts.iter().copied()));
    }

    fn gathered(&self) -> usize {
        self.keys.bytes.len() + self.counts.bytes.len() + self.overflow.bytes.len()
    }

    /// Appends what was gathered to the scratch file.
    fn spill(&mut self) -> Result<(), GykError> {
        let _spill =
            info_span!(target: "gyrase::trace", "spill", bytes = self.gathered()).entered();
        let to = &self.writer.file;
        let (file, end) = match &mut self.scratch {
            Some(scratch) => scratch,
            none => none.insert((to.nameless()?, 0)),
        };
        for part in [&mut self.keys, &mut self.counts, &mut self.overflow] {
            file.write_all_at(&part.bytes, *end)
                .map_err(|source| OutputError {
                    path: to.target().to_path_buf(),
                    source,
                })?;
            part.written.push(*end..*end + part.bytes.len() as u64);
            *end += part.bytes.len() as u64;
            part.bytes.clear();
        }
        Ok(())
    }

    /// Hands the bin over, as [`Writer::write_bin`] does.
    ///
    /// # Errors
    /// When a file cannot be written, or when another thread called [`Writer::abandon`].
    ///
    /// # Panics
    /// When the bin was written before, or holds 2^32 k-mers.
    pub fn finish(mut self) -> Result<(), GykError> {
        assert!(
            u32::try_from(self.kmers).is_ok(),
            "a bin holds fewer than 2^32 k-mers"
        );
        let padding = self.kmers.next_multiple_of(8) - self.kmers;
        self.counts.extend(&[0; 8][..padding as usize]);
        if self.scratch.is_some() {
            self.spill()?;
        }
        let Pieces {
            writer,
            bin,
            keys,
            counts,
            overflow,
            scratch,
            kmers,
            overflows,
            totals,
            ..
        } = self;
        let mut crc = keys.crc;
        crc.combine(&counts.crc);
        crc.combine(&overflow.crc);
        let crc = crc.finalize();
        let segment = match scratch {
            None => {
                let mut bytes = keys.bytes;
                bytes.extend(counts.bytes.into_iter().chain(overflow.bytes));
                Segment::with_crc(bytes, crc)
            }
            Some((file, _)) => {
                let ranges = [keys.written, counts.written, overflow.written].concat();
                Segment::in_file(file, ranges, crc)
            }
        };
        let note = Bin {
            kmers,
            overflows,
            totals,
        };
        Ok(writer.file.put(bin, segment, note)?)
    }
}
