//! Finds out whether the bytes of a database are what they should be: at once, block by block, or all of them.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::bucket::{Bucket, Buckets};
use super::database::Partition;
use super::layout::{
    BLOCK_WORDS, DIRECTORY_BYTES, ENTRY_BYTES, Entry, HEADER_BYTES, Header, PLACE_BITS, SECTION_BYTES, Section,
    checksum, expect,
};

/// For every block of every partition whether its bytes were found to fit their checksum.
#[derive(Debug)]
pub(super) struct Sound {
    /// A bit for each block.
    bits: Vec<AtomicU64>,
}

impl Sound {
    /// So many blocks of which nothing is known, or which are known to be sound.
    pub fn new(blocks: usize, trusted: bool) -> Sound {
        let word = if trusted { u64::MAX } else { 0 };
        Sound { bits: (0..blocks.div_ceil(64)).map(|_| AtomicU64::new(word)).collect() }
    }

    /// True when words of a partition, at least one, were found to be sound.
    #[inline(always)]
    pub fn has(&self, partition: &Partition, words: &Range<usize>) -> bool {
        let first = partition.first_block + words.start / BLOCK_WORDS;
        let last = partition.first_block + (words.end - 1) / BLOCK_WORDS;
        self.bit(first) && (first == last || (first + 1..=last).all(|block| self.bit(block)))
    }

    #[inline(always)]
    fn bit(&self, block: usize) -> bool {
        self.bits[block / 64].load(Relaxed) >> (block % 64) & 1 == 1
    }

    /// Checks the blocks of words of a partition. Threads that meet here check twice and find the same; the bytes are nobody's to publish.
    pub fn check(&self, all: &[u32], partition: &Partition, entry: &Entry, words: Range<usize>) -> Result<(), String> {
        let checksums = checksums(all, entry)?;
        let own = &all[partition.start..partition.start + partition.words as usize];
        for block in words.start / BLOCK_WORDS..words.end.div_ceil(BLOCK_WORDS) {
            let number = partition.first_block + block;
            if !self.bit(number) {
                check_block(own, checksums, block)?;
                self.bits[number / 64].fetch_or(1 << (number % 64), Relaxed);
            }
        }
        Ok(())
    }
}

fn check_block(partition: &[u32], checksums: &[u32], block: usize) -> Result<(), String> {
    let words = &partition[block * BLOCK_WORDS..partition.len().min((block + 1) * BLOCK_WORDS)];
    checksum(&format!("block {block}"), bytemuck::cast_slice(words), checksums[block])
}

/// The checksums of a partition's blocks, once it is sure that they are what was written.
fn checksums<'a>(all: &'a [u32], entry: &Entry) -> Result<&'a [u32], String> {
    let list = &all[(entry.checksums() / 4) as usize..(entry.end() / 4) as usize];
    checksum("list of checksums", bytemuck::cast_slice(list), entry.crc)?;
    let (checksums, zeros) = list.split_at(entry.blocks());
    expect("words behind the checksums that are not zero", zeros.iter().filter(|&&word| word != 0).count() as u64, 0)?;
    Ok(checksums)
}

/// The entries of the directory, once it is sure that they tile the file.
pub(super) fn directory(header: &Header, bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let section = part(bytes, header.directory, DIRECTORY_BYTES as u64, "directory")?;
    checksum("directory", section, header.directory_crc)?;
    let entries: Vec<Entry> = section.chunks_exact(ENTRY_BYTES).map(Entry::decode).collect();
    let (mut end, mut features, mut locations) = (HEADER_BYTES as u64, 0, 0);
    for (number, entry) in entries.iter().enumerate() {
        expect(&format!("offset of partition {number}"), entry.offset, end)?;
        if !is_possible(entry) || entry.end() > header.partitions_end {
            return Err(format!("partition {number} has an impossible size"));
        }
        end = entry.end();
        features += u64::from(entry.features);
        locations += u64::from(entry.locations);
    }
    expect("end of the partitions", end, header.partitions_end)?;
    expect("features in the directory", features, header.summary.features)?;
    expect("locations in the directory", locations, header.summary.locations)?;
    Ok(entries)
}

/// True when a partition can have so many features in so many bytes.
fn is_possible(entry: &Entry) -> bool {
    let features = entry.features as usize;
    if features == 0 {
        return entry.bytes == 0 && entry.locations == 0;
    }
    let starts = 4 * (Buckets::of_features(features.min(1 << PLACE_BITS)).len() as u64 + 1);
    features <= 1 << PLACE_BITS && entry.bytes.is_multiple_of(4) && u64::from(entry.bytes) > starts
}

/// One entry of the directory, which was found to be sound.
pub(super) fn entry(header: &Header, bytes: &[u8], number: usize) -> Entry {
    Entry::decode(&bytes[header.directory as usize + number * ENTRY_BYTES..][..ENTRY_BYTES])
}

/// The sections, once it is sure that they tile the rest of the file and that their names ascend.
pub(super) fn sections(header: &Header, bytes: &[u8]) -> Result<Vec<Section>, String> {
    let length = u64::from(header.sections) * SECTION_BYTES as u64;
    let table = part(bytes, header.section_table(), length, "table of sections")?;
    checksum("table of sections", table, header.sections_crc)?;
    expect("end of the table of sections", header.section_table().saturating_add(length), bytes.len() as u64)?;
    let sections: Option<Vec<Section>> = table.chunks_exact(SECTION_BYTES).map(Section::decode).collect();
    let sections = sections.ok_or("an entry of the table of sections is none")?;
    let mut end = header.partitions_end;
    for (at, section) in sections.iter().enumerate() {
        if at > 0 && sections[at - 1].name >= section.name {
            return Err(format!("section {:?} is out of order", section.name));
        }
        expect(&format!("offset of section {:?}", section.name), section.offset, end)?;
        end = section.end();
    }
    expect("end of the sections", end, header.directory)?;
    Ok(sections)
}

fn part<'a>(bytes: &'a [u8], offset: u64, length: u64, name: &str) -> Result<&'a [u8], String> {
    let start = usize::try_from(offset).ok();
    let end = offset.checked_add(length).and_then(|end| usize::try_from(end).ok());
    let part = start.zip(end).and_then(|(start, end)| bytes.get(start..end));
    part.ok_or_else(|| format!("the {name} lies outside the file"))
}

/// Checks a whole partition; returns one more than its largest location.
pub(super) fn partition(all: &[u32], partition: &Partition, entry: &Entry, cap: u8) -> Result<u64, String> {
    let checksums = checksums(all, entry)?;
    let words = &all[partition.start..partition.start + partition.words as usize];
    (0..entry.blocks()).try_for_each(|block| check_block(words, checksums, block))?;
    if words.is_empty() {
        return Ok(0);
    }
    let buckets = partition.buckets;
    let (mut sum, mut end) = (Sum::default(), buckets.len() + 1);
    for bucket in 0..buckets.len() {
        expect(&format!("start of bucket {bucket}"), u64::from(words[bucket]), end as u64)?;
        let limit = words[bucket + 1] as usize;
        let own = words.get(end..limit).ok_or_else(|| format!("bucket {bucket} lies outside the partition"))?;
        if !own.is_empty() {
            let read = buckets.read(own).ok_or("its features take more than its bytes".to_string());
            let checked = read.and_then(|read| check_bucket(buckets, read, cap, &mut sum));
            checked.map_err(|what| format!("bucket {bucket}: {what}"))?;
        }
        end = limit;
    }
    expect("end of the buckets", end as u64, words.len() as u64)?;
    expect("features", sum.features, u64::from(entry.features))?;
    expect("locations", sum.locations, u64::from(entry.locations))?;
    Ok(sum.windows)
}

#[derive(Default)]
struct Sum {
    features: u64,
    locations: u64,
    windows: u64,
}

/// Checks what a checksum does not: the order of features and locations, the counts, the zeros.
fn check_bucket(buckets: Buckets, bucket: Bucket, cap: u8, sum: &mut Sum) -> Result<(), String> {
    let (mut next, mut locations) = (0, bucket.locations);
    for (rest, count) in bucket.features() {
        if u32::from(rest) < next || u32::from(rest) >= buckets.rest_limit() {
            return Err(format!("the feature with rest {rest} is out of order"));
        }
        next = u32::from(rest) + 1;
        if count == 0 || count > cap {
            return Err(format!("a feature has {count} locations, the cap is {cap}"));
        }
        let own;
        (own, locations) = locations.split_at_checked(usize::from(count)).ok_or("it has too few locations")?;
        if !own.is_sorted_by(|a, b| a < b) {
            return Err(format!("the locations of the feature with rest {rest} do not ascend"));
        }
        sum.windows = sum.windows.max(own.last().map_or(0, |&last| u64::from(last) + 1));
        sum.features += 1;
        sum.locations += u64::from(count);
    }
    expect("features in a bucket that takes bytes", u64::from(bucket.counts.is_empty()), 0)?;
    expect("locations too many", locations.len() as u64, 0)?;
    expect("bytes that should be zero", bucket.zeros.iter().filter(|&&byte| byte != 0).count() as u64, 0)
}

/// Checks the totals that only a look at every location gives.
pub(super) fn windows(header: &Header, found: u64) -> Result<(), String> {
    expect("one more than the largest location", found, header.summary.windows)
}

/// Checks the bytes of every section and the zeros behind them.
pub(super) fn section_bytes(sections: &[Section], bytes: &[u8]) -> Result<(), String> {
    for section in sections {
        let end = (section.offset + section.bytes) as usize;
        checksum(&format!("section {:?}", section.name), &bytes[section.offset as usize..end], section.crc)?;
        let zeros = &bytes[end..section.end() as usize];
        let others = zeros.iter().filter(|&&byte| byte != 0).count();
        expect(&format!("bytes behind section {:?} that are not zero", section.name), others as u64, 0)?;
    }
    Ok(())
}
