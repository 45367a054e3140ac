//! Finds out whether the bytes of a database are what they should be: at once, block by block, or
//! all of them.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use gyrase_files::container::{SECTION_BYTES, Section, checked_part, checksum, expect};

use super::bucket::{Buckets, LANES, LINE_WORDS, Line};
use super::layout::{
    BLOCK_WORDS, DIRECTORY_BYTES, ENTRY_BYTES, Entry, HEADER_BYTES, Header, PLACE_BITS,
};
use super::partition::Partition;

/// Partitions of at most so many blocks are checked as a whole when they are first read.
const FEW: usize = 16;

/// For every block of every partition whether its bytes were found to fit their checksum.
#[derive(Debug)]
pub(super) struct Sound {
    /// For every partition the blocks of which that is not known.
    left: Vec<AtomicU32>,
    /// A bit for each block.
    bits: Vec<AtomicU64>,
}

impl Sound {
    /// Nothing is known of these partitions, or they are trusted.
    pub fn new(entries: &[Entry], trusted: bool) -> Sound {
        let left = |entry: &Entry| AtomicU32::new(if trusted { 0 } else { entry.blocks() as u32 });
        let last = entries.last().map_or(0, |entry| (entry.end() / 4) as usize);
        let bits = if trusted {
            0
        } else {
            first_block(last, entries.len()).div_ceil(64)
        };
        Sound {
            left: entries.iter().map(left).collect(),
            bits: (0..bits).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// From now on every block is known to be sound.
    pub fn trust(&self) {
        self.left.iter().for_each(|left| left.store(0, Relaxed));
    }

    /// True when words of a partition, counted from its start and at least one, were found to be
    /// sound.
    #[inline(always)]
    pub fn has(&self, number: usize, partition: &Partition, words: &Range<usize>) -> bool {
        self.left[number].load(Relaxed) == 0 || self.has_blocks(number, partition, words)
    }

    #[inline]
    fn has_blocks(&self, number: usize, partition: &Partition, words: &Range<usize>) -> bool {
        let first = first_block(partition.start, number);
        (first + words.start / BLOCK_WORDS..=first + (words.end - 1) / BLOCK_WORDS)
            .all(|block| self.bit(block))
    }

    #[inline(always)]
    fn bit(&self, block: usize) -> bool {
        self.bits[block / 64].load(Relaxed) >> (block % 64) & 1 == 1
    }

    /// Checks the blocks of words of a partition. Threads that meet here check twice and find the
    /// same; the bytes are nobody's to publish.
    pub fn check(
        &self,
        all: &[u32],
        number: usize,
        partition: &Partition,
        entry: &Entry,
        words: Range<usize>,
    ) -> Result<(), String> {
        let checksums = checksums(all, entry)?;
        let own = partition.own(all);
        let few = checksums.len() <= FEW;
        let blocks = if few {
            0..checksums.len()
        } else {
            words.start / BLOCK_WORDS..words.end.div_ceil(BLOCK_WORDS)
        };
        for block in blocks {
            let bit = first_block(partition.start, number) + block;
            if !self.bit(bit) {
                check_block(own, checksums, block)?;
                let before = self.bits[bit / 64].fetch_or(1 << (bit % 64), Relaxed);
                if before >> (bit % 64) & 1 == 0 {
                    let _ = self.left[number]
                        .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
                }
            }
        }
        Ok(())
    }
}

/// The bit of a partition's first block. With one for each partition before, that which two
/// partitions share is counted for both.
#[inline(always)]
fn first_block(start: usize, number: usize) -> usize {
    start / BLOCK_WORDS + number
}

fn check_block(partition: &[u32], checksums: &[u32], block: usize) -> Result<(), String> {
    let words = &partition[block * BLOCK_WORDS..partition.len().min((block + 1) * BLOCK_WORDS)];
    checksum(
        format_args!("block {block}"),
        bytemuck::cast_slice(words),
        checksums[block],
    )
}

/// The checksums of a partition's blocks, once it is sure that they are what was written.
fn checksums<'a>(all: &'a [u32], entry: &Entry) -> Result<&'a [u32], String> {
    let list = &all[(entry.checksums() / 4) as usize..(entry.end() / 4) as usize];
    checksum("list of checksums", bytemuck::cast_slice(list), entry.crc)?;
    let (checksums, zeros) = list.split_at(entry.blocks());
    expect(
        "words behind the checksums that are not zero",
        zeros.iter().filter(|&&word| word != 0).count() as u64,
        0,
    )?;
    Ok(checksums)
}

/// The entries of the directory, once it is sure that they tile the file.
pub(super) fn directory(header: &Header, bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let section = checked_part(
        bytes,
        header.directory,
        DIRECTORY_BYTES as u64,
        header.directory_crc,
        "directory",
    )?;
    let entries: Vec<Entry> = section
        .chunks_exact(ENTRY_BYTES)
        .map(Entry::decode)
        .collect();
    let (mut end, mut features, mut locations) = (HEADER_BYTES as u64, 0, 0);
    for (number, entry) in entries.iter().enumerate() {
        expect(
            format_args!("offset of partition {number}"),
            entry.offset,
            end,
        )?;
        if !is_possible(entry) || entry.end() > header.partitions_end {
            return Err(format!("partition {number} has an impossible size"));
        }
        end = entry.end();
        features += u64::from(entry.features);
        locations += u64::from(entry.locations);
    }
    expect("end of the partitions", end, header.partitions_end)?;
    expect(
        "features in the directory",
        features,
        header.summary.features,
    )?;
    expect(
        "locations in the directory",
        locations,
        header.summary.locations,
    )?;
    Ok(entries)
}

/// True when a partition can have so many features in so many bytes.
fn is_possible(entry: &Entry) -> bool {
    let features = entry.features as usize;
    if features == 0 {
        return entry.bytes == 0 && entry.locations == 0;
    }
    let lines = Buckets::of_features(features.min(1 << PLACE_BITS)).len() * LINE_WORDS;
    features <= 1 << PLACE_BITS && entry.bytes.is_multiple_of(4) && entry.bytes as usize / 4 > lines
}

/// One entry of the directory, which was found to be sound.
pub(super) fn entry(header: &Header, bytes: &[u8], number: usize) -> Entry {
    Entry::decode(&bytes[header.directory as usize + number * ENTRY_BYTES..][..ENTRY_BYTES])
}

/// The sections, once it is sure that they tile the rest of the file and that their names ascend.
pub(super) fn sections(header: &Header, bytes: &[u8]) -> Result<Vec<Section>, String> {
    let (table, count) = (header.section_table(), header.sections);
    let sections = Section::table(bytes, table, count, header.sections_crc)?;
    let length = u64::from(count) * SECTION_BYTES as u64;
    expect(
        "end of the table of sections",
        table.saturating_add(length),
        bytes.len() as u64,
    )?;
    let mut end = header.partitions_end;
    for (at, section) in sections.iter().enumerate() {
        if at > 0 && sections[at - 1].name >= section.name {
            return Err(format!("section {:?} is out of order", section.name));
        }
        expect(
            format_args!("offset of section {:?}", section.name),
            section.offset,
            end,
        )?;
        end = section.end();
    }
    expect("end of the sections", end, header.directory)?;
    Ok(sections)
}

/// Checks a whole partition; returns one more than its largest location.
pub(super) fn partition(
    all: &[u32],
    number: usize,
    partition: &Partition,
    entry: &Entry,
    cap: u8,
) -> Result<u64, String> {
    let checksums = checksums(all, entry)?;
    let words = partition.own(all);
    (0..entry.blocks()).try_for_each(|block| check_block(words, checksums, block))?;
    if words.is_empty() {
        return Ok(0);
    }
    let buckets = partition.buckets;
    let mut walk = Walk {
        words,
        at: LINE_WORDS * buckets.len(),
        features: 0,
        locations: 0,
        windows: 0,
    };
    for bucket in 0..buckets.len() {
        let place = |rest| buckets.place(number, bucket, rest);
        walk.bucket(bucket, place, cap)
            .map_err(|what| format!("bucket {bucket}: {what}"))?;
    }
    expect("end of the partition", walk.at as u64, words.len() as u64)?;
    expect("features", walk.features, u64::from(entry.features))?;
    expect("locations", walk.locations, u64::from(entry.locations))?;
    Ok(walk.windows)
}

/// How far a partition was found to be what it should be.
struct Walk<'a> {
    words: &'a [u32],
    /// Where the next locations or the next line of a bucket should be.
    at: usize,
    features: u64,
    locations: u64,
    windows: u64,
}

impl Walk<'_> {
    /// Checks what a checksum does not of one bucket: the order of features and locations, the
    /// counts, the zeros.
    fn bucket(
        &mut self,
        bucket: usize,
        place: impl Fn(u16) -> Option<u32>,
        cap: u8,
    ) -> Result<(), String> {
        let (mut line, mut after) = (LINE_WORDS * bucket, None);
        loop {
            let here = Line::at(self.words, line).ok_or("a line lies outside the partition")?;
            let features = here.counts().iter().take_while(|&&count| count > 0).count();
            let unused =
                (features..LANES).any(|lane| here.counts()[lane] > 0 || here.rest(lane) > 0);
            expect(
                "lanes behind the features that are not zero",
                u64::from(unused),
                0,
            )?;
            expect(
                "a line without features that another line leads to",
                u64::from(after.is_some() && features == 0),
                0,
            )?;
            let next = here.next();
            if next.is_some() {
                expect(
                    "features of a line before another",
                    features as u64,
                    LANES as u64,
                )?;
                self.at += LINE_WORDS;
            }
            expect(
                "offset of the locations",
                here.locations() as u64,
                self.at as u64,
            )?;
            for lane in 0..features {
                let rest = here.rest(lane);
                if place(rest).is_none() || after >= Some(rest) {
                    return Err(format!("the feature with rest {rest} is out of order"));
                }
                after = Some(rest);
                self.feature(here.counts()[lane], cap)?;
            }
            let Some(next) = next else { return Ok(()) };
            line = next;
        }
    }

    /// Checks the locations of one feature.
    fn feature(&mut self, count: u8, cap: u8) -> Result<(), String> {
        if count > cap {
            return Err(format!("a feature has {count} locations, the cap is {cap}"));
        }
        let end = self.at + usize::from(count);
        let own = self
            .words
            .get(self.at..end)
            .ok_or("locations lie outside the partition")?;
        if !own.is_sorted_by(|a, b| a < b) {
            return Err("the locations of a feature do not ascend".to_string());
        }
        self.windows = self
            .windows
            .max(own.last().map_or(0, |&last| u64::from(last) + 1));
        self.features += 1;
        self.locations += u64::from(count);
        self.at = end;
        Ok(())
    }
}

/// Checks the totals that only a look at every location gives.
pub(super) fn windows(header: &Header, found: u64) -> Result<(), String> {
    expect(
        "one more than the largest location",
        found,
        header.summary.windows,
    )
}

/// Checks the bytes of every section and the zeros behind them.
pub(super) fn section_bytes(sections: &[Section], bytes: &[u8]) -> Result<(), String> {
    for section in sections {
        let end = (section.offset + section.bytes) as usize;
        checksum(
            format_args!("section {:?}", section.name),
            &bytes[section.offset as usize..end],
            section.crc,
        )?;
        let zeros = &bytes[end..section.end() as usize];
        let others = zeros.iter().filter(|&&byte| byte != 0).count();
        expect(
            format_args!("bytes behind section {:?} that are not zero", section.name),
            others as u64,
            0,
        )?;
    }
    Ok(())
}
