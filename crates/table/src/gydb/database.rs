//! Reads a database.

use std::fs::Metadata;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use bytemuck::TransparentWrapper;
use gyrase_files::container::{Section, checksum};
use memmap2::Mmap;

use super::bucket::{Buckets, LINE_WORDS, Line};
use super::check::{self, Sound};
use super::error::GydbError;
use super::layout::{FORMAT, Header, PARTITIONS, PLACE_BITS, Summary, feature_at, place_of};
use super::partition::Partition;
use super::words::{FeatureWords, PartitionWords};
use crate::location::Location;
use crate::map::{anonymous, let_go_of, open};

/// An opened database, in a file or in memory. Threads share it.
///
/// Opening reads header, directory and the names of the sections, whatever the size of the
/// database. A section is checked against its checksum when it is first asked for, and the features
/// block by block: a look-up finds out whether the 4 KiB around what it reads fit their checksum,
/// once, and later that costs a bit of a bitmap. So a damaged database gives an error and no wrong
/// answer, and nobody waits for a check of all of it, which is what [`Database::verify`] is for.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    bytes: Mmap,
    /// Device and number of the file, when `bytes` are those of the file itself and no copy.
    file: Option<[u64; 2]>,
    header: Header,
    partitions: Vec<Partition>,
    sections: Vec<Section>,
    sound_sections: Vec<AtomicBool>,
    sound: Sound,
}

/// The name that messages give a database that has no file.
pub(super) fn in_memory_path() -> PathBuf {
    PathBuf::from("(in memory)")
}

impl Database {
    /// Opens a database and checks all of it but the bytes of sections and features: magic,
    /// version, lengths, header, directory.
    pub fn open(path: &Path) -> Result<Database, GydbError> {
        let (file, map) = open(path)?;
        Ok(Database {
            file: file.metadata().ok().as_ref().map(identity),
            ..Database::new(path.to_path_buf(), map, false)?
        })
    }

    /// Opens the bytes of a database that was just built.
    pub(super) fn in_memory(map: Mmap) -> Result<Database, GydbError> {
        Database::new(in_memory_path(), map, true)
    }

    /// Opens a copy of the bytes of a database as if they were those of the file `path`.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Database, GydbError> {
        header(path, bytes)?;
        let fail = |source| GydbError::Memory {
            path: path.to_path_buf(),
            bytes: bytes.len() as u64,
            source,
        };
        let mut map = anonymous(bytes.len()).map_err(fail)?;
        map.copy_from_slice(bytes);
        Database::new(
            path.to_path_buf(),
            map.make_read_only().map_err(fail)?,
            false,
        )
    }

    fn new(path: PathBuf, bytes: Mmap, trusted: bool) -> Result<Database, GydbError> {
        let all: &[u8] = &bytes;
        let header = header(&path, all)?;
        let corrupt = |what| FORMAT.corrupt(&path, what);
        let entries = check::directory(&header, all).map_err(corrupt)?;
        let sections = check::sections(&header, all).map_err(corrupt)?;
        let sound = Sound::new(&entries, trusted);
        let sound_sections = sections.iter().map(|_| AtomicBool::new(trusted)).collect();
        let partitions = entries.iter().map(Partition::from).collect();
        Ok(Database {
            path,
            bytes,
            file: None,
            header,
            partitions,
            sections,
            sound_sections,
            sound,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A checksum of all of the database, by those that its header has of features and sections;
    /// equal for equal databases.
    pub fn checksum(&self) -> u64 {
        u64::from(self.header.directory_crc) << 32 | u64::from(self.header.sections_crc)
    }

    /// True as long as the file was not replaced or removed since it was opened; what is only in
    /// memory stays current. Whoever writes a database in the place of this one asks once nobody
    /// else can, so that no change of others is lost.
    pub fn is_current(&self) -> bool {
        let there =
            |file| std::fs::metadata(&self.path).is_ok_and(|metadata| identity(&metadata) == file);
        self.file.is_none_or(there)
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
    /// [`GydbError::NoSection`] when there is none of this name, [`GydbError::Container`] when its
    /// bytes do not fit their checksum.
    pub fn section(&self, name: &str) -> Result<&[u8], GydbError> {
        let found = self
            .sections
            .binary_search_by(|section| section.name.as_str().cmp(name));
        let at = found.map_err(|_| self.no_section(name))?;
        let section = &self.sections[at];
        let bytes = &self.bytes[section.offset as usize..(section.offset + section.bytes) as usize];
        if !self.sound_sections[at].load(Relaxed) {
            let checked = checksum(format_args!("section {name:?}"), bytes, section.crc);
            checked.map_err(|what| self.corrupt(what))?;
            self.sound_sections[at].store(true, Relaxed);
        }
        Ok(bytes)
    }

    fn no_section(&self, name: &str) -> GydbError {
        let names: Vec<&str> = self.sections().collect();
        let there = if names.is_empty() {
            "none".to_string()
        } else {
            names.join(", ")
        };
        GydbError::NoSection {
            path: self.path.clone(),
            name: name.to_string(),
            there,
        }
    }

    /// The locations of a feature, ascending; none when the database has it not.
    ///
    /// For more than a few features [`Database::locations_of`] is several times as fast.
    ///
    /// # Errors
    /// [`GydbError::Container`] when what had to be read does not fit its checksum.
    pub fn locations(&self, feature: u32) -> Result<&[Location], GydbError> {
        let (words, place) = (self.words(), place_of(feature));
        let found = self.find(words, place)?;
        if found.is_empty() {
            Ok(&[])
        } else {
            self.read(words, place, found)
        }
    }

    /// The file as words.
    #[inline(always)]
    pub(super) fn words(&self) -> &[u32] {
        // A map begins at a page, and the length was found to be a multiple of 64.
        bytemuck::cast_slice(&self.bytes)
    }

    /// The first word of the bucket of a place, if its partition has any.
    #[inline(always)]
    pub(super) fn first_line(&self, place: u32) -> usize {
        let partition = &self.partitions[(place >> PLACE_BITS) as usize];
        partition.start + LINE_WORDS * partition.buckets.bucket(place)
    }

    /// The words of the locations of the feature at a place, counted from the start of its
    /// partition; none where it is not.
    #[inline(always)]
    pub(super) fn find(&self, words: &[u32], place: u32) -> Result<Range<usize>, GydbError> {
        let number = (place >> PLACE_BITS) as usize;
        let partition = &self.partitions[number];
        if partition.words == 0 {
            return Ok(0..0);
        }
        let mut at = LINE_WORDS * partition.buckets.bucket(place);
        loop {
            self.ensure(words, number, at..at + LINE_WORDS)?;
            let line = Line::at(words, partition.start + at).ok_or_else(|| self.no_line(number))?;
            let (before, count) = line.find(partition.buckets.rest(place));
            if count > 0 {
                let first = line.locations() + before;
                return if first + count <= partition.words as usize {
                    Ok(partition.start + first..partition.start + first + count)
                } else {
                    Err(self.no_line(number))
                };
            }
            let Some(next) = line.next() else {
                return Ok(0..0);
            };
            // Whatever the bytes, the search comes to an end and stays in the partition.
            if next <= at || next + LINE_WORDS > partition.words as usize {
                return Err(self.no_line(number));
            }
            at = next;
        }
    }

    /// The locations that [`Database::find`] found at a place, at least one.
    #[inline(always)]
    pub(super) fn read<'a>(
        &self,
        words: &'a [u32],
        place: u32,
        found: Range<usize>,
    ) -> Result<&'a [Location], GydbError> {
        let number = (place >> PLACE_BITS) as usize;
        let start = self.partitions[number].start;
        self.ensure(words, number, found.start - start..found.end - start)?;
        Ok(Location::wrap_slice(&words[found]))
    }

    /// Makes sure that words of a partition, at least one, fit their checksums.
    #[inline(always)]
    fn ensure(&self, words: &[u32], number: usize, range: Range<usize>) -> Result<(), GydbError> {
        if self.sound.has(number, &self.partitions[number], &range) {
            return Ok(());
        }
        self.check_blocks(words, number, range)
    }

    #[cold]
    fn check_blocks(
        &self,
        words: &[u32],
        number: usize,
        range: Range<usize>,
    ) -> Result<(), GydbError> {
        let entry = check::entry(&self.header, &self.bytes, number);
        let checked = self
            .sound
            .check(words, number, &self.partitions[number], &entry, range);
        checked.map_err(|what| self.corrupt(format!("partition {number}: {what}")))
    }

    #[cold]
    fn no_line(&self, number: usize) -> GydbError {
        self.corrupt(format!(
            "partition {number}: a bucket points outside the partition or has a feature without a place"
        ))
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
        assert!(
            partitions.end <= PARTITIONS,
            "partitions are numbered from 0 to {PARTITIONS}"
        );
        Features {
            database: self,
            partitions,
            now: None,
        }
    }

    /// Gives the memory back that reading some partitions took: they are read from the file again
    /// when they are next asked for. Whoever goes through a database larger than memory calls it
    /// behind itself. What is only in memory stays there.
    ///
    /// # Panics
    /// When a partition is not below [`PARTITIONS`].
    pub fn let_go(&self, partitions: Range<usize>) {
        assert!(
            partitions.end <= PARTITIONS,
            "partitions are numbered from 0 to {PARTITIONS}"
        );
        let [start, end] = [partitions.start, partitions.end].map(|number| self.start_of(number));
        if self.file.is_some() && start < end {
            let_go_of(&self.bytes, start.saturating_sub(BEHIND)..end);
        }
    }

    /// True when memory that reading took can be given back: when it is that of a file.
    pub fn is_mapped(&self) -> bool {
        self.file.is_some()
    }

    /// Bytes that some partitions take in the file.
    ///
    /// # Panics
    /// When a partition is not below [`PARTITIONS`].
    pub fn bytes_of(&self, partitions: Range<usize>) -> u64 {
        assert!(
            partitions.end <= PARTITIONS,
            "partitions are numbered from 0 to {PARTITIONS}"
        );
        let [start, end] = [partitions.start, partitions.end].map(|number| self.start_of(number));
        end.saturating_sub(start) as u64
    }

    /// Where a partition begins in the file; that behind the last one is where they end.
    fn start_of(&self, number: usize) -> usize {
        self.partitions
            .get(number)
            .map_or(self.header.partitions_end as usize, |partition| {
                4 * partition.start
            })
    }

    /// Checks every byte: checksums, the order of features and locations, the totals of the header,
    /// the zeros between the parts. Look-ups need no checks from then on.
    pub fn verify(&self) -> Result<(), GydbError> {
        let windows = self.verify_partitions(0..PARTITIONS)?;
        check::windows(&self.header, windows)
            .and_then(|()| check::section_bytes(&self.sections, &self.bytes))
            .map_err(|what| self.corrupt(what))?;
        self.sound.trust();
        Ok(())
    }

    /// Checks every byte of some partitions; one more than the largest location in them.
    ///
    /// # Errors
    /// [`GydbError::Container`] when they do not fit their checksums, or make no sense.
    ///
    /// # Panics
    /// When a partition is not below [`PARTITIONS`].
    pub fn verify_partitions(&self, partitions: Range<usize>) -> Result<u64, GydbError> {
        let (words, cap) = (self.words(), self.header.summary.cap);
        let mut windows = 0;
        for number in partitions {
            let entry = check::entry(&self.header, &self.bytes, number);
            let checked = check::partition(words, number, &self.partitions[number], &entry, cap);
            windows = windows
                .max(checked.map_err(|what| self.corrupt(format!("partition {number}: {what}")))?);
        }
        Ok(windows)
    }

    /// Some partitions as they stand in the file, for whoever looks features up by other means.
    /// Nothing of them is checked; see [`Database::verify_partitions`].
    ///
    /// # Panics
    /// When a partition is not below [`PARTITIONS`].
    pub fn feature_words(&self, partitions: Range<usize>) -> FeatureWords<'_> {
        let [start, end] = [partitions.start, partitions.end].map(|at| self.start_of(at) / 4);
        let mut all = vec![PartitionWords::default(); PARTITIONS];
        for (words, partition) in all[partitions.clone()]
            .iter_mut()
            .zip(&self.partitions[partitions])
        {
            *words = PartitionWords::new(partition, start);
        }
        FeatureWords {
            words: &self.words()[start..end],
            partitions: all,
        }
    }

    fn corrupt(&self, what: String) -> GydbError {
        FORMAT.corrupt(&self.path, what).into()
    }
}

/// Bytes before those that are let go which go with them. Where a page is read the system maps its
/// neighbours too, also those that were let go before, and several threads do so at places that far
/// apart.
const BEHIND: usize = 4 << 20;

/// What tells a file from all others as long as it is open or mapped.
fn identity(metadata: &Metadata) -> [u64; 2] {
    [metadata.dev(), metadata.ino()]
}

/// The header of a file that is a database of this version and has the length that it should have.
fn header(path: &Path, bytes: &[u8]) -> Result<Header, GydbError> {
    let header = FORMAT.header_of(path, bytes)?;
    let header = Header::decode(header).map_err(|what| FORMAT.corrupt(path, what))?;
    FORMAT.length(path, header.summary.bytes, bytes.len())?;
    Ok(header)
}

/// The features of a database in the order of their places; see [`Database::features`]. Ends after
/// an error.
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
    bucket: usize,
    /// The bucket's line that is being read, its first word, its next lane and where the locations
    /// of that lane begin.
    line: Line<'a>,
    at: usize,
    lane: usize,
    locations: usize,
}

impl<'a> Features<'a> {
    /// The next partition with features.
    fn enter(&mut self) -> Option<Result<Now<'a>, GydbError>> {
        let partitions = &self.database.partitions;
        let number = self
            .partitions
            .find(|&number| partitions[number].words > 0)?;
        let (partition, words) = (&partitions[number], self.database.words());
        let entered = self
            .database
            .ensure(words, number, 0..partition.words as usize);
        let own = partition.own(words);
        let now = |line: Line<'a>| {
            let (buckets, locations) = (partition.buckets, line.locations());
            Now {
                number,
                words: own,
                buckets,
                bucket: 0,
                line,
                at: 0,
                lane: 0,
                locations,
            }
        };
        Some(entered.and_then(|()| {
            Line::at(own, 0)
                .map(now)
                .ok_or_else(|| self.database.no_line(number))
        }))
    }
}

impl<'a> Now<'a> {
    /// The next feature and its locations; an error where the partition contradicts itself.
    fn next(&mut self) -> Option<Result<(u32, &'a [Location]), ()>> {
        loop {
            match self.line.counts().get(self.lane) {
                Some(&count) if count > 0 => {
                    return Some(self.feature(usize::from(count)).ok_or(()));
                }
                _ => {}
            }
            let next = self.line.next();
            if next.is_none() {
                self.bucket += 1;
            }
            if self.bucket == self.buckets.len() {
                return None;
            }
            let at = next.unwrap_or(LINE_WORDS * self.bucket);
            let line = Line::at(self.words, at).filter(|_| next.is_none_or(|next| next > self.at));
            let Some(line) = line else {
                return Some(Err(()));
            };
            (self.line, self.at, self.lane, self.locations) = (line, at, 0, line.locations());
        }
    }

    /// The feature of the lane, with so many locations.
    fn feature(&mut self, count: usize) -> Option<(u32, &'a [Location])> {
        let place = self
            .buckets
            .place(self.number, self.bucket, self.line.rest(self.lane))?;
        let locations = self.words.get(self.locations..self.locations + count)?;
        self.lane += 1;
        self.locations += count;
        Some((feature_at(place), Location::wrap_slice(locations)))
    }
}

impl<'a> Iterator for Features<'a> {
    type Item = Result<(u32, &'a [Location]), GydbError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let found = match self.now.as_mut().map(|now| (now.next(), now.number)) {
                Some((Some(Ok(feature)), _)) => return Some(Ok(feature)),
                Some((Some(Err(())), number)) => Err(self.database.no_line(number)),
                Some((None, _)) | None => self.enter()?,
            };
            match found {
                Ok(now) => self.now = Some(now),
                Err(error) => {
                    (self.now, self.partitions) = (None, 0..0);
                    return Some(Err(error));
                }
            }
        }
    }
}
