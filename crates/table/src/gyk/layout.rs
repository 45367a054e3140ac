//! The bytes of a database: header, directory, metadata, and the places of a bin's parts.

use gyrase_files::container::{Container, expect, reserved, u32_at, u64_at};
use gyrase_kmer::{BINS, Shape};
use serde::{Deserialize, Serialize};

/// What a database begins with.
pub const MAGIC: [u8; 8] = *b"GYRASEK\n";

pub(super) const FORMAT: Container = Container {
    magic: MAGIC,
    version: VERSION,
    header_bytes: HEADER_BYTES,
    ending: ".gyk",
    verb: "count",
    makers: "`gyrase count` makes databases, `gyrase kmers import` converts those of other programs",
};
pub(super) const VERSION: u32 = 1;
pub(super) const HEADER_BYTES: usize = 4096;
pub(super) const ENTRY_BYTES: usize = 32;
pub(super) const DIRECTORY_BYTES: usize = BINS * ENTRY_BYTES;
/// The count byte that sends the reader to the overflow list.
pub(super) const OVERFLOW: u8 = 255;

const FLAG_STRANDED: u32 = 1;
const FLAG_SATURATED: u32 = 2;
const CHECKSUM_AT: usize = HEADER_BYTES - 4;

/// Bytes of a database of so many k-mers, about, from above, of which none has a count of 255 or
/// more.
pub fn bytes_for(shape: Shape, kmers: u64) -> u64 {
    // What aligns the bins, and the metadata.
    let beside = HEADER_BYTES + DIRECTORY_BYTES + 8 * BINS + 4096;
    beside as u64 + kmers * (8 * shape.words() as u64 + 1)
}

/// The counts that a database keeps: from `min` to `max`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cutoffs {
    /// Smallest count kept, at least 1.
    pub min: u32,
    /// Largest count kept.
    pub max: u32,
}

impl Default for Cutoffs {
    fn default() -> Cutoffs {
        Cutoffs {
            min: 1,
            max: u32::MAX,
        }
    }
}

impl Cutoffs {
    /// True for a count that is kept.
    #[inline(always)]
    pub fn keep(self, count: u32) -> bool {
        (self.min..=self.max).contains(&count)
    }
}

/// Where a bin is and what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BinEntry {
    /// First byte of the bin in the file.
    pub offset: u64,
    /// k-mers of the bin.
    pub kmers: u64,
    /// How many of them have a count of 255 or more.
    pub overflows: u64,
    /// CRC-32 of the bin's bytes.
    pub crc: u32,
}

impl BinEntry {
    /// Bytes that the bin takes with keys of `words` words, or `None` beyond 2^64.
    pub(super) fn bytes(&self, words: usize) -> Option<u64> {
        let keys = self.kmers.checked_mul(8 * words as u64)?;
        let counts = self.kmers.checked_next_multiple_of(8)?;
        keys.checked_add(counts)?
            .checked_add(self.overflows.checked_mul(8)?)
    }

    /// The first byte after the bin, or `None` beyond 2^64.
    pub(super) fn end(&self, words: usize) -> Option<u64> {
        self.offset.checked_add(self.bytes(words)?)
    }

    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        for word in [self.offset, self.kmers, self.overflows, u64::from(self.crc)] {
            bytes.extend(word.to_le_bytes());
        }
    }

    /// Reads an entry of [`ENTRY_BYTES`] bytes; `None` when its reserved field is not zero.
    pub(super) fn decode(bytes: &[u8]) -> Option<BinEntry> {
        let crc = u32::try_from(u64_at(bytes, 24)).ok()?;
        Some(BinEntry {
            offset: u64_at(bytes, 0),
            kmers: u64_at(bytes, 8),
            overflows: u64_at(bytes, 16),
            crc,
        })
    }
}

/// What a finished database holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// k-mers, each once.
    pub distinct: u64,
    /// Sum of their counts.
    pub total: u64,
    /// How many of them have the count 1.
    pub unique: u64,
    /// The largest count; 0 in an empty database.
    pub largest: u32,
    /// True when a count stands for 2^32-1 *or more*.
    pub saturated: bool,
    /// Bytes of the file.
    pub file_bytes: u64,
}

gyrase_fabric::numbers!(Summary {
    distinct,
    total,
    unique,
    largest,
    saturated,
    file_bytes,
});

/// What a database was made of. Nothing here depends on time, paths, threads or the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// Base names of the inputs, sorted.
    pub inputs: Vec<String>,
    /// The verb that made the database: "count", "union", "import"...
    pub operation: String,
    /// Records read, where known.
    pub reads: u64,
    /// Letters read, where known.
    pub bases: u64,
}

/// The header: parameters, totals, and where the other sections are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Length and strandedness of the k-mers.
    pub shape: Shape,
    /// The cut-offs that were applied.
    pub cutoffs: Cutoffs,
    /// True when a count stands for 2^32-1 *or more*.
    pub saturated: bool,
    /// k-mers in the database, each once.
    pub distinct: u64,
    /// Sum of their counts.
    pub total: u64,
    /// How many of them have the count 1.
    pub unique: u64,
    /// The largest count; 0 in an empty database.
    pub largest: u32,
    pub(super) directory: u64,
    pub(super) metadata: u64,
    pub(super) metadata_bytes: u64,
    pub(super) file_bytes: u64,
    pub(super) directory_crc: u32,
    pub(super) metadata_crc: u32,
}

impl Header {
    /// The totals.
    pub fn summary(&self) -> Summary {
        let &Header {
            distinct,
            total,
            unique,
            largest,
            saturated,
            file_bytes,
            ..
        } = self;
        Summary {
            distinct,
            total,
            unique,
            largest,
            saturated,
            file_bytes,
        }
    }

    /// A checksum of all of the database, by those that the header has of the directory, which has
    /// those of the bins, and of the metadata; equal for equal databases.
    pub fn checksum(&self) -> u64 {
        u64::from(self.directory_crc) << 32 | u64::from(self.metadata_crc)
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let flags = if self.shape.stranded() {
            FLAG_STRANDED
        } else {
            0
        } | if self.saturated { FLAG_SATURATED } else { 0 };
        let mut bytes = FORMAT.begin();
        let (k, m, words) = (
            self.shape.k() as u32,
            self.shape.m() as u32,
            self.shape.words() as u32,
        );
        for word in [HEADER_BYTES as u32, k, m, words, flags] {
            bytes.extend(word.to_le_bytes());
        }
        let (min, max) = (u64::from(self.cutoffs.min), u64::from(self.cutoffs.max));
        let totals = [
            BINS as u64,
            self.distinct,
            self.total,
            self.unique,
            u64::from(self.largest),
            min,
            max,
        ];
        let places = [
            self.directory,
            self.metadata,
            self.metadata_bytes,
            self.file_bytes,
        ];
        for word in totals.into_iter().chain(places) {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(self.directory_crc.to_le_bytes());
        bytes.extend(self.metadata_crc.to_le_bytes());
        FORMAT.seal(bytes)
    }

    /// Reads a header that fits its checksum; the error says what contradicts what.
    pub(super) fn decode(bytes: &[u8]) -> Result<Header, String> {
        let flags = u32_at(bytes, 28);
        let k = u32_at(bytes, 16) as usize;
        let shape = Shape::new(k, flags & FLAG_STRANDED != 0).map_err(|error| error.to_string())?;
        expect(
            "header bytes",
            u64::from(u32_at(bytes, 12)),
            HEADER_BYTES as u64,
        )?;
        expect(
            "minimizer length",
            u64::from(u32_at(bytes, 20)),
            shape.m() as u64,
        )?;
        expect(
            "words of a key",
            u64::from(u32_at(bytes, 24)),
            shape.words() as u64,
        )?;
        expect(
            "unknown flags",
            u64::from(flags & !(FLAG_STRANDED | FLAG_SATURATED)),
            0,
        )?;
        expect("bins", u64_at(bytes, 32), BINS as u64)?;
        reserved(&bytes[128..CHECKSUM_AT])?;
        let count = |at| {
            u32::try_from(u64_at(bytes, at))
                .map_err(|_| format!("a count of {}", u64_at(bytes, at)))
        };
        Ok(Header {
            shape,
            cutoffs: Cutoffs {
                min: count(72)?,
                max: count(80)?,
            },
            saturated: flags & FLAG_SATURATED != 0,
            distinct: u64_at(bytes, 40),
            total: u64_at(bytes, 48),
            unique: u64_at(bytes, 56),
            largest: count(64)?,
            directory: u64_at(bytes, 88),
            metadata: u64_at(bytes, 96),
            metadata_bytes: u64_at(bytes, 104),
            file_bytes: u64_at(bytes, 112),
            directory_crc: u32_at(bytes, 120),
            metadata_crc: u32_at(bytes, 124),
        })
    }
}
