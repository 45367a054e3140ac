//! Reads a database.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use memmap2::Mmap;

use super::bucket::{Bucket, Buckets};
use super::check::{self, Sound};
use super::error::{GydbError, what_it_is};
use super::layout::{
    Entry, HEADER_BYTES, Header, MAGIC, PARTITIONS, PLACE_BITS, Section, Summary, VERSION, checksum, feature_at,
    place_of, version,
};
use crate::map::map;

/// An opened database, in a file or in memory. Threads share it.
///
/// Opening reads header, directory and the names of the sections, whatever the size of the database. A section is checked against its
/// checksum when it is first asked for, and the features block by block: a look-up finds out whether the 4 KiB around what
/// it reads fit their checksum, once, and later that costs a bit of a bitmap. So a damaged database gives an
/// error and no wrong answer, and nobody waits for a check of all of it, which is what [`Database::verify`] is for.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    bytes: Bytes,
    header: Header,
    partitions: Vec<Partition>,
    sections: Vec<Section>,
    sound_sections: Vec<AtomicBool>,
    sound: Sound,
}

#[derive(Debug)]
enum Bytes {
    Map(Mmap),
    Memory(Vec<u32>),
}

/// Where a partition is, in words of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partition {
    pub start: usize,
    /// Without the checksums that follow; 0 in a partition without features.
    pub words: u32,
    pub buckets: Buckets,
    /// Blocks of all partitions before.
    pub first_block: usize,
}

/// The name that messages give a database that has no file.
pub(super) fn in_memory_path() -> PathBuf {
    PathBuf::from("(in memory)")
}

impl Database {
    /// Opens a database and checks all of it but the bytes of sections and features: magic, version, lengths, header, directory.
    pub fn open(path: &Path) -> Result<Database, GydbError> {
        let fail = |source| GydbError::Open { path: path.to_path_buf(), source };
        let file = File::open(path).map_err(fail)?;
        if file.metadata().map_err(fail)?.is_dir() {
            return Err(fail(std::io::Error::other("it is a directory")));
        }
        let map = map(&file).map_err(fail)?;
        Database::new(path.to_path_buf(), Bytes::Map(map), false)
    }

    /// Opens the bytes of a database that was just built.
    pub(super) fn in_memory(words: Vec<u32>) -> Result<Database, GydbError> {
        Database::new(in_memory_path(), Bytes::Memory(words), true)
    }

    /// Opens the bytes of a database as if they were those of the file `path`.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Database, GydbError> {
        header(path, bytes)?;
        let mut words = vec![0; bytes.len() / 4];
        bytemuck::cast_slice_mut(&mut words).copy_from_slice(bytes);
        Database::new(path.to_path_buf(), Bytes::Memory(words), false)
    }

    fn new(path: PathBuf, bytes: Bytes, trusted: bool) -> Result<Database, GydbError> {
        let all = bytes.all();
        let header = header(&path, all)?;
        let corrupt = |what| GydbError::Corrupt { path: path.clone(), what };
        let entries = check::directory(&header, all).map_err(corrupt)?;
        let sections = check::sections(&header, all).map_err(corrupt)?;
        let sound = Sound::new(entries.iter().map(|entry| entry.blocks()).sum(), trusted);
        let sound_sections = sections.iter().map(|_| AtomicBool::new(trusted)).collect();
        let partitions = partitions(&entries);
        Ok(Database { path, bytes, header, partitions, sections, sound_sections, sound })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the database holds.
    pub fn summary(&self) -> Summary {
        self.header.summary
    }

    /// The names of the sections, ascending.
    pub fn sections(&self) -> impl ExactSizeIterator<Item = &str> {
        self.sections.iter().map(|section| section.name.as_str())
    }

    /// The bytes of a section.
    ///
    /// # Errors
    /// [`GydbError::NoSection`] when there is none of this name, [`GydbError::Corrupt`] when its bytes do not fit their checksum.
    pub fn section(&self, name: &str) -> Result<&[u8], GydbError> {
        let found = self.sections.binary_search_by(|section| section.name.as_str().cmp(name));
        let at = found.map_err(|_| self.no_section(name))?;
        let section = &self.sections[at];
        let bytes = &self.bytes.all()[section.offset as usize..(section.offset + section.bytes) as usize];
        if !self.sound_sections[at].load(Relaxed) {
            let checked = checksum(&format!("section {name:?}"), bytes, section.crc);
            checked.map_err(|what| self.corrupt(what))?;
            self.sound_sections[at].store(true, Relaxed);
        }
        Ok(bytes)
    }

    fn no_section(&self, name: &str) -> GydbError {
        let names: Vec<&str> = self.sections().collect();
        let there = if names.is_empty() { "none".to_string() } else { names.join(", ") };
        GydbError::NoSection { path: self.path.clone(), name: name.to_string(), there }
    }

    /// The locations of a feature, ascending; none when the database has it not.
    ///
    /// For more than a few features [`Database::locations_of`] is several times as fast.
    ///
    /// # Errors
    /// [`GydbError::Corrupt`] when what had to be read does not fit its checksum.
    pub fn locations(&self, feature: u32) -> Result<&[u32], GydbError> {
        let (words, place) = (self.words(), place_of(feature));
        let bucket = self.bucket(words, place)?;
        self.find(words, place, bucket)
    }

    /// The file as words.
    #[inline(always)]
    pub(super) fn words(&self) -> &[u32] {
        match &self.bytes {
            // A map begins at a page, and the file's length was found to be a multiple of 64.
            Bytes::Map(map) => bytemuck::cast_slice(map),
            Bytes::Memory(words) => words,
        }
    }

    /// The word that says where the bucket of a place begins, if its partition has any.
    #[inline(always)]
    pub(super) fn start_word(&self, place: u32) -> usize {
        let partition = &self.partitions[(place >> PLACE_BITS) as usize];
        partition.start + partition.buckets.bucket(place)
    }

    /// The words of the bucket of a place.
    #[inline(always)]
    pub(super) fn bucket(&self, words: &[u32], place: u32) -> Result<Range<usize>, GydbError> {
        let number = (place >> PLACE_BITS) as usize;
        let partition = &self.partitions[number];
        if partition.words == 0 {
            return Ok(0..0);
        }
        let bucket = partition.buckets.bucket(place);
        self.ensure(words, number, bucket..bucket + 2)?;
        let at = partition.start + bucket;
        let (begin, end) = (words[at], words[at + 1]);
        if begin > end || end > partition.words {
            return Err(self.no_bucket(number, bucket));
        }
        Ok(partition.start + begin as usize..partition.start + end as usize)
    }

    /// The locations of the feature at a place, in the bucket of the place.
    #[inline(always)]
    pub(super) fn find<'a>(
        &'a self,
        words: &'a [u32],
        place: u32,
        bucket: Range<usize>,
    ) -> Result<&'a [u32], GydbError> {
        if bucket.is_empty() {
            return Ok(&[]);
        }
        let number = (place >> PLACE_BITS) as usize;
        let partition = &self.partitions[number];
        self.ensure(words, number, bucket.start - partition.start..bucket.end - partition.start)?;
        let found = partition.buckets.find(&words[bucket.start..], partition.buckets.rest(place));
        let locations = words[bucket].get(found.at..found.at + found.count);
        // A forged bucket may promise more than it holds; `verify` tells.
        Ok(locations.unwrap_or_default())
    }

    /// Makes sure that words of a partition, at least one, fit their checksums.
    #[inline(always)]
    fn ensure(&self, words: &[u32], number: usize, range: Range<usize>) -> Result<(), GydbError> {
        let partition = &self.partitions[number];
        if self.sound.has(partition, &range) {
            return Ok(());
        }
        self.check_blocks(words, number, range)
    }

    #[cold]
    fn check_blocks(&self, words: &[u32], number: usize, range: Range<usize>) -> Result<(), GydbError> {
        let entry = check::entry(&self.header, self.bytes.all(), number);
        let checked = self.sound.check(words, &self.partitions[number], &entry, range);
        checked.map_err(|what| self.corrupt(format!("partition {number}: {what}")))
    }

    #[cold]
    fn no_bucket(&self, number: usize, bucket: usize) -> GydbError {
        self.corrupt(format!("partition {number}: bucket {bucket} ends before it begins or beyond the partition"))
    }

    /// Every feature with its locations, in the order of their places.
    pub fn features(&self) -> Features<'_> {
        self.features_of(0..PARTITIONS)
    }

    /// Every feature of some partitions with its locations, in the order of their places.
    ///
    /// # Panics
    /// When a partition is not below [`PARTITIONS`].
    pub fn features_of(&self, partitions: Range<usize>) -> Features<'_> {
        assert!(partitions.end <= PARTITIONS, "partitions are numbered from 0 to {PARTITIONS}");
        Features { database: self, partitions, now: None }
    }

    /// Checks every byte: checksums, the order of features and locations, the totals of the header, the zeros between the
    /// parts.
    pub fn verify(&self) -> Result<(), GydbError> {
        let (words, bytes) = (self.words(), self.bytes.all());
        let mut windows = 0;
        for (number, partition) in self.partitions.iter().enumerate() {
            let entry = check::entry(&self.header, bytes, number);
            let checked = check::partition(words, partition, &entry, self.header.summary.cap);
            windows = windows.max(checked.map_err(|what| self.corrupt(format!("partition {number}: {what}")))?);
        }
        check::windows(&self.header, windows)
            .and_then(|()| check::section_bytes(&self.sections, bytes))
            .map_err(|what| self.corrupt(what))
    }

    fn corrupt(&self, what: String) -> GydbError {
        GydbError::Corrupt { path: self.path.clone(), what }
    }
}

impl Bytes {
    fn all(&self) -> &[u8] {
        match self {
            Bytes::Map(map) => map,
            Bytes::Memory(words) => bytemuck::cast_slice(words),
        }
    }
}

/// The header of a file that is a database of this version and has the length that it should have.
fn header(path: &Path, bytes: &[u8]) -> Result<Header, GydbError> {
    let path = || path.to_path_buf();
    let found = bytes.len() as u64;
    if !bytes.starts_with(&MAGIC) {
        return Err(GydbError::NotGydb { path: path(), found: what_it_is(bytes) });
    }
    if bytes.len() < HEADER_BYTES {
        return Err(GydbError::Length { path: path(), expected: HEADER_BYTES as u64, found });
    }
    match version(bytes) {
        VERSION => {}
        found => return Err(GydbError::Version { path: path(), found }),
    }
    let header = Header::decode(&bytes[..HEADER_BYTES]).map_err(|what| GydbError::Corrupt { path: path(), what })?;
    if header.summary.bytes != found {
        return Err(GydbError::Length { path: path(), expected: header.summary.bytes, found });
    }
    Ok(header)
}

fn partitions(entries: &[Entry]) -> Vec<Partition> {
    let mut first_block = 0;
    let partition = |entry: &Entry| {
        let partition = Partition {
            start: (entry.offset / 4) as usize,
            words: entry.bytes / 4,
            buckets: Buckets::of_features(entry.features as usize),
            first_block,
        };
        first_block += entry.blocks();
        partition
    };
    entries.iter().map(partition).collect()
}

/// The features of a database in the order of their places; see [`Database::features`]. Ends after an error.
#[derive(Debug)]
pub struct Features<'a> {
    database: &'a Database,
    /// Those still to come.
    partitions: Range<usize>,
    now: Option<Now<'a>>,
}

/// Where the features of a partition have come to.
#[derive(Debug)]
struct Now<'a> {
    number: usize,
    words: &'a [u32],
    buckets: Buckets,
    /// The bucket that is next.
    next: usize,
    /// The bucket that is being read, and its next feature.
    bucket: Option<(Bucket<'a>, usize)>,
}

impl<'a> Features<'a> {
    /// The next partition with features.
    fn enter(&mut self) -> Option<Result<Now<'a>, GydbError>> {
        let partitions = &self.database.partitions;
        let number = self.partitions.find(|&number| partitions[number].words > 0)?;
        let (partition, words) = (&partitions[number], self.database.words());
        let range = 0..partition.words as usize;
        let entered = self.database.ensure(words, number, range).map(|()| Now {
            number,
            words: &words[partition.start..partition.start + partition.words as usize],
            buckets: partition.buckets,
            next: 0,
            bucket: None,
        });
        Some(entered)
    }
}

impl<'a> Now<'a> {
    /// The next feature and its locations; `None` at the end of the partition, an error where it contradicts itself.
    fn next(&mut self) -> Option<Result<(u32, &'a [u32]), ()>> {
        loop {
            if let Some((bucket, at)) = &mut self.bucket
                && let Some(&count) = bucket.counts.get(*at)
            {
                let place = self.buckets.place(self.number, self.next - 1, bucket.rest(*at));
                let Some((locations, others)) = bucket.locations.split_at_checked(usize::from(count)) else {
                    return Some(Err(()));
                };
                (bucket.locations, *at) = (others, *at + 1);
                return Some(Ok((feature_at(place), locations)));
            }
            if self.next == self.buckets.len() {
                return None;
            }
            let range = self.words[self.next] as usize..self.words[self.next + 1] as usize;
            self.next += 1;
            self.bucket = None;
            if !range.is_empty() {
                let Some(bucket) = self.words.get(range).and_then(|words| self.buckets.read(words)) else {
                    return Some(Err(()));
                };
                self.bucket = Some((bucket, 0));
            }
        }
    }
}

impl<'a> Iterator for Features<'a> {
    type Item = Result<(u32, &'a [u32]), GydbError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(now) = &mut self.now {
                match now.next() {
                    Some(Ok(feature)) => return Some(Ok(feature)),
                    Some(Err(())) => {
                        let error = self.database.no_bucket(now.number, now.next - 1);
                        (self.now, self.partitions) = (None, 0..0);
                        return Some(Err(error));
                    }
                    None => self.now = None,
                }
            }
            match self.enter()? {
                Ok(now) => self.now = Some(now),
                Err(error) => {
                    self.partitions = 0..0;
                    return Some(Err(error));
                }
            }
        }
    }
}
