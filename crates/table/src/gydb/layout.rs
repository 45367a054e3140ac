//! The bytes of a database: header, directory of partitions, table of sections; and the place of a
//! feature.

use gyrase_files::container::{ALIGNMENT, Container, aligned, expect, reserved, u32_at, u64_at};

/// Classes of features by the upper bits of their place: the unit in which a database is written
/// and merged.
pub const PARTITIONS: usize = 1 << PARTITION_BITS;
/// The most locations of a feature that a database can hold.
pub const MAX_COUNT: u8 = 254;

const PARTITION_BITS: u32 = 12;
/// Bits of a place below those that name the partition.
pub(super) const PLACE_BITS: u32 = 32 - PARTITION_BITS;

/// What a database begins with.
pub const MAGIC: [u8; 8] = *b"GYRASED\n";

pub(super) const FORMAT: Container = Container {
    magic: MAGIC,
    version: VERSION,
    header_bytes: HEADER_BYTES,
    ending: ".gydb",
    verb: "build",
    makers: "`gyrase db build` makes databases of references",
};
pub(super) const VERSION: u32 = 1;
pub(super) const HEADER_BYTES: usize = 4096;
/// Bytes of a partition that share a checksum.
pub(super) const BLOCK_BYTES: usize = 4096;
/// The same in words of four bytes.
pub(super) const BLOCK_WORDS: usize = BLOCK_BYTES / 4;
pub(super) const ENTRY_BYTES: usize = 24;
pub(super) const DIRECTORY_BYTES: usize = PARTITIONS * ENTRY_BYTES;

const CHECKSUM_AT: usize = HEADER_BYTES - 4;
/// The first byte of the header that means nothing yet.
const RESERVED_AT: usize = 88;

/// The place of a feature in 0..2^32: a bijection that makes what was chosen for being small
/// uniform.
#[inline(always)]
pub fn place_of(feature: u32) -> u32 {
    let x = (feature ^ (feature >> 16)).wrapping_mul(0x7feb_352d);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// The feature at a place: the inverse of [`place_of`].
#[inline(always)]
pub fn feature_at(place: u32) -> u32 {
    let x = (place ^ (place >> 16)).wrapping_mul(0x4302_1123);
    let x = (x ^ (x >> 15) ^ (x >> 30)).wrapping_mul(0x1d69_e2a5);
    x ^ (x >> 16)
}

/// The partition of a feature, below [`PARTITIONS`]: the upper 12 bits of its place.
#[inline(always)]
pub fn partition_of(feature: u32) -> usize {
    (place_of(feature) >> PLACE_BITS) as usize
}

/// What a finished database holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Features, each once.
    pub features: u64,
    /// Locations of all features.
    pub locations: u64,
    /// One more than the largest location; 0 in a database without locations.
    pub windows: u64,
    /// The most locations that a feature may have, 1 to [`MAX_COUNT`]; what a feature had beyond
    /// was left out.
    pub cap: u8,
    /// Bytes of the database.
    pub bytes: u64,
}

/// The header: totals, and where the other parts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub summary: Summary,
    /// First byte behind the partitions.
    pub partitions_end: u64,
    /// First byte of the directory of partitions; the table of sections follows it.
    pub directory: u64,
    pub sections: u32,
    pub directory_crc: u32,
    pub sections_crc: u32,
}

impl Header {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = FORMAT.begin();
        for word in [
            HEADER_BYTES as u32,
            PARTITIONS as u32,
            u32::from(self.summary.cap),
        ] {
            bytes.extend(word.to_le_bytes());
        }
        let Summary {
            features,
            locations,
            windows,
            bytes: length,
            ..
        } = self.summary;
        for word in [
            features,
            locations,
            windows,
            self.partitions_end,
            self.directory,
            length,
        ] {
            bytes.extend(word.to_le_bytes());
        }
        for word in [self.sections, self.directory_crc, self.sections_crc, 0] {
            bytes.extend(word.to_le_bytes());
        }
        FORMAT.seal(bytes)
    }

    /// Reads a header that fits its checksum; the error says what contradicts what.
    pub fn decode(bytes: &[u8]) -> Result<Header, String> {
        expect(
            "header bytes",
            u64::from(u32_at(bytes, 12)),
            HEADER_BYTES as u64,
        )?;
        expect(
            "partitions",
            u64::from(u32_at(bytes, 16)),
            PARTITIONS as u64,
        )?;
        reserved(&bytes[RESERVED_AT - 4..CHECKSUM_AT])?;
        let cap = u8::try_from(u32_at(bytes, 20))
            .ok()
            .filter(|cap| (1..=MAX_COUNT).contains(cap));
        let cap =
            cap.ok_or_else(|| format!("a cap of {} locations a feature", u32_at(bytes, 20)))?;
        let [
            features,
            locations,
            windows,
            partitions_end,
            directory,
            length,
        ] = [24, 32, 40, 48, 56, 64].map(|at| u64_at(bytes, at));
        expect(
            "bytes beyond a multiple of 64",
            length % ALIGNMENT as u64,
            0,
        )?;
        let summary = Summary {
            features,
            locations,
            windows,
            cap,
            bytes: length,
        };
        let [sections, directory_crc, sections_crc] = [72, 76, 80].map(|at| u32_at(bytes, at));
        Ok(Header {
            summary,
            partitions_end,
            directory,
            sections,
            directory_crc,
            sections_crc,
        })
    }

    /// First byte of the table of sections.
    pub fn section_table(&self) -> u64 {
        self.directory.saturating_add(DIRECTORY_BYTES as u64)
    }
}

/// Where a partition is and what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// First byte of the partition in the file.
    pub offset: u64,
    /// Its bytes: buckets and locations, a multiple of 4. The checksums of its blocks follow.
    pub bytes: u32,
    pub features: u32,
    pub locations: u32,
    /// CRC-32 of the checksums and the zeros behind them.
    pub crc: u32,
}

impl Entry {
    /// Blocks of the partition, each with a checksum.
    pub fn blocks(&self) -> usize {
        (self.bytes as usize).div_ceil(BLOCK_BYTES)
    }

    /// First byte of the checksums.
    pub fn checksums(&self) -> u64 {
        self.offset.saturating_add(u64::from(self.bytes))
    }

    /// First byte behind the partition, its checksums and the zeros behind them.
    pub fn end(&self) -> u64 {
        aligned(self.checksums().saturating_add(4 * self.blocks() as u64))
    }

    pub fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.offset.to_le_bytes());
        for word in [self.bytes, self.features, self.locations, self.crc] {
            bytes.extend(word.to_le_bytes());
        }
    }

    /// Reads an entry of [`ENTRY_BYTES`] bytes.
    pub fn decode(bytes: &[u8]) -> Entry {
        let [length, features, locations, crc] = [8, 12, 16, 20].map(|at| u32_at(bytes, at));
        Entry {
            offset: u64_at(bytes, 0),
            bytes: length,
            features,
            locations,
            crc,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_gives_its_feature_back() {
        let edges = (0..1 << 12)
            .chain((0..32).map(|bit| 1 << bit))
            .chain((0..1 << 12).map(|i| u32::MAX - i));
        for x in edges.chain((0..100_000).map(|i: u32| i.wrapping_mul(0x9e37_79b9))) {
            assert_eq!(feature_at(place_of(x)), x);
            assert_eq!(place_of(feature_at(x)), x);
        }
    }

    /// Features are the small hashes; their places fall into the partitions as coins would.
    #[test]
    fn places_of_small_features_are_uniform() {
        let mut partitions = vec![0u32; PARTITIONS];
        let n = 100 * PARTITIONS as u32;
        (0..n).for_each(|feature| partitions[partition_of(feature)] += 1);
        let chi_square: f64 = partitions
            .iter()
            .map(|&found| (f64::from(found) - 100.0).powi(2) / 100.0)
            .sum();
        // Six standard deviations round the 4095 degrees of freedom.
        assert!((3550.0..4640.0).contains(&chi_square), "{chi_square}");
    }
}
