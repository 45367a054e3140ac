//! Builds a database from partitions that many threads finish in about the right order.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use gyrase_fabric::Finished;
use gyrase_files::container::{Section, aligned, is_section_name};
use gyrase_files::{Ordered, OrderedFile, OutputFile, Segment, WriteBack};
use gyrase_work::in_threads;
use memmap2::Mmap;

use super::database::{Database, in_memory_path};
use super::error::GydbError;
use super::layout::{DIRECTORY_BYTES, Entry, HEADER_BYTES, Header, MAX_COUNT, PARTITIONS, Summary};
use super::piece::Piece;
use crate::location::Location;
use crate::map::anonymous;

/// Bytes of finished partitions that may wait for an earlier one before their threads wait too, if
/// nothing else is asked for.
const WAITING_BYTES: usize = 64 << 20;
/// Bytes written between two starts of write-back.
const SYNC_BYTES: u64 = 8 << 20;
/// The file is written in pieces that end where a large page of memory ends: then the system can
/// keep it in such pages, and look-ups in a map of it have few addresses to translate.
const LARGE_PAGE: u64 = 2 << 20;
/// Buffers kept for the next partitions; together they are a quarter of what may wait.
const SPARE_BUFFERS: usize = 16;

/// A database under construction.
///
/// Threads hand over partitions with [`Writer::piece`]. The bytes are laid out in the order of the
/// partitions whatever the order of the calls; a partition that comes early waits in memory, as
/// [`Ordered`] says. So take partitions in ascending order (from a shared counter, say), write
/// every one of them, and call [`Writer::abandon`] when a thread gives up.
#[derive(Debug)]
pub struct Writer {
    pub(super) target: Target,
    cap: u8,
    /// Bytes of finished partitions that may wait.
    most_waiting: usize,
    order: Ordered<Piece, State>,
    sections: Mutex<BTreeMap<String, Vec<u8>>>,
    spare: Mutex<Vec<Vec<u32>>>,
}

/// Where the bytes go.
#[derive(Debug)]
pub(super) enum Target {
    /// The thread stands before the file: it must let go of it before a dropped writer lets go of
    /// the lock.
    File(Mutex<WriteBack>, OutputFile),
    /// Parts of what would be the file by their offset.
    Memory(Mutex<BTreeMap<u64, Vec<u32>>>),
    /// A file that several processes write; what is kept with a partition is its entry, and one
    /// more than its largest location.
    Shared(Box<OrderedFile<(Entry, u64), Finished>>),
}

#[derive(Debug)]
struct State {
    /// Entries of the partitions that have a place, in order; the next partition is
    /// `entries.len()`.
    entries: Vec<Entry>,
    /// Where the next partition begins.
    offset: u64,
    /// The words before it that are not yet written, up to a large page of them.
    tail: Vec<u32>,
    /// How many threads write words that were taken from the tail.
    writing: usize,
    synced: u64,
    windows: u64,
}

impl Writer {
    /// Starts the database that will appear at `target`, of features with at most `cap` locations
    /// each.
    ///
    /// # Panics
    /// When `cap` is not 1 to [`MAX_COUNT`].
    pub fn create(target: &Path, cap: u8) -> Result<Writer, GydbError> {
        let output = OutputFile::create(target)?;
        let file = output
            .file()
            .try_clone()
            .map_err(|source| output.error(source))?;
        Ok(Writer::start(
            Target::File(Mutex::new(WriteBack::start(file)), output),
            cap,
        ))
    }

    /// Starts a database that stays in memory, for [`Writer::into_database`].
    ///
    /// # Panics
    /// When `cap` is not 1 to [`MAX_COUNT`].
    pub fn in_memory(cap: u8) -> Writer {
        Writer::start(Target::Memory(Mutex::default()), cap)
    }

    pub(super) fn start(target: Target, cap: u8) -> Writer {
        assert!(
            (1..=MAX_COUNT).contains(&cap),
            "a feature has 1 to {MAX_COUNT} locations"
        );
        let state = State {
            entries: Vec::with_capacity(PARTITIONS),
            offset: HEADER_BYTES as u64,
            tail: Vec::new(),
            writing: 0,
            synced: HEADER_BYTES as u64,
            windows: 0,
        };
        let writer = Writer {
            target,
            cap,
            most_waiting: 0,
            order: Ordered::new(0, 0, state),
            sections: Mutex::default(),
            spare: Mutex::default(),
        };
        writer.waiting_within(WAITING_BYTES)
    }

    /// Lets partitions that come early take about so many bytes; a quarter of it is kept for the
    /// buffers of the next besides.
    pub fn waiting_within(self, bytes: usize) -> Writer {
        let room = bytes.saturating_sub(LARGE_PAGE as usize);
        Writer {
            most_waiting: bytes,
            order: self.order.with_room(room),
            ..self
        }
    }

    /// Hands over a whole partition: the places of its features ([`super::place_of`]), strictly
    /// ascending; how many locations each has, 1 to the cap; and the locations of the first
    /// feature, of the second and so on, strictly ascending within a feature. Every partition must
    /// be written once, an empty one with empty slices.
    ///
    /// # Errors
    /// When the file cannot be written, or when another thread called [`Writer::abandon`].
    ///
    /// # Panics
    /// When the parts do not fit each other, or the partition was written before.
    pub fn piece(
        &self,
        partition: usize,
        places: &[u32],
        counts: &[u8],
        locations: &[Location],
    ) -> Result<(), GydbError> {
        let mut piece = Piece::new(
            self.spare_buffer(),
            partition,
            places,
            counts,
            locations,
            self.cap,
        );
        if let Target::Shared(file) = &self.target {
            let bytes = bytemuck::cast_slice(&piece.words).to_vec();
            file.put(partition, Segment::new(bytes), (piece.entry, piece.windows))?;
            self.recycle(piece.words);
            return Ok(());
        }
        if let Target::Memory(parts) = &self.target {
            piece.words.shrink_to_fit();
            return self.bring(partition, piece, |state, piece| {
                insert(parts, state.enter(&piece), piece.words);
            });
        }
        if let Some((words, offset)) = self.place(partition, piece)? {
            self.write_at(&words, offset)?;
            self.order.change(|state| state.writing -= 1);
            self.recycle(words);
        }
        self.write_back();
        Ok(())
    }

    /// Adds a section: bytes that readers find by name. The order of calls changes nothing.
    ///
    /// # Panics
    /// When the name is not 1 to 40 of `a-z`, `0-9`, `.`, `-` and `_`, or is taken.
    pub fn section(&self, name: &str, bytes: &[u8]) {
        assert!(is_section_name(name), "{name:?} can name a section");
        let mut sections = self
            .sections
            .lock()
            .expect("no thread panics while it holds the sections");
        assert!(
            sections.insert(name.to_string(), bytes.to_vec()).is_none(),
            "section {name:?} is added once"
        );
    }

    /// Gives up: every thread that waits or comes later gets [`GydbError::Abandoned`].
    pub fn abandon(&self) {
        match &self.target {
            Target::Shared(file) => file.abandon(),
            _ => self.order.stop(),
        }
    }

    /// Writes sections, directory and header; a file is synced and gets its name.
    ///
    /// # Panics
    /// When a partition was not written.
    pub fn finish(self) -> Result<Summary, GydbError> {
        let header = self.complete()?;
        if let Target::File(_, output) = self.target {
            output.commit()?;
        }
        Ok(header.summary)
    }

    /// Finishes the database and opens it: from the file, or in the memory where it was built, in
    /// which `threads` threads bring it together.
    ///
    /// # Panics
    /// When a partition was not written.
    pub fn into_database(self, threads: usize) -> Result<Database, GydbError> {
        let header = self.complete()?;
        match self.target {
            Target::Shared(_) => unreachable!("several processes write files"),
            Target::File(_, output) => {
                let path = output.target().to_path_buf();
                output.commit()?;
                Database::open(&path)
            }
            Target::Memory(parts) => {
                let parts = parts
                    .into_inner()
                    .expect("no thread panics while it holds the memory");
                let bytes = header.summary.bytes;
                let map = joined(parts, bytes, threads);
                Database::in_memory(map.map_err(|source| GydbError::Memory {
                    path: in_memory_path(),
                    bytes,
                    source,
                })?)
            }
        }
    }

    fn spare_buffer(&self) -> Vec<u32> {
        self.spare
            .lock()
            .expect("no thread panics while it holds the buffers")
            .pop()
            .unwrap_or_default()
    }

    fn recycle(&self, words: Vec<u32>) {
        let mut spare = self
            .spare
            .lock()
            .expect("no thread panics while it holds the buffers");
        let kept: usize = spare.iter().map(|words| 4 * words.capacity()).sum();
        if spare.len() < SPARE_BUFFERS && kept + 4 * words.capacity() <= self.most_waiting / 4 {
            spare.push(words);
        }
    }

    /// Gives partitions their places, from the next one on as far as they are there.
    fn bring(
        &self,
        partition: usize,
        piece: Piece,
        place: impl FnMut(&mut State, Piece),
    ) -> Result<(), GydbError> {
        assert!(
            (self.order.next()..PARTITIONS).contains(&partition),
            "partition {partition} is written once"
        );
        let bytes = 4 * piece.words.capacity();
        let placed = self.order.bring(partition, piece, bytes, place);
        placed.map_err(|_| GydbError::Abandoned { path: self.path() })
    }

    /// As [`Writer::bring`], for a file; returns words to write, and their offset.
    fn place(&self, partition: usize, piece: Piece) -> Result<Option<(Vec<u32>, u64)>, GydbError> {
        self.bring(partition, piece, |state, piece| {
            state.enter(&piece);
            state.tail.extend_from_slice(&piece.words);
            self.recycle(piece.words);
        })?;
        Ok(self
            .order
            .change(|state| state.take_large_pages(|| self.spare_buffer())))
    }

    fn write_at(&self, words: &[u32], offset: u64) -> Result<(), GydbError> {
        // What is empty shares its offset with what follows.
        if words.is_empty() {
            return Ok(());
        }
        match &self.target {
            Target::File(_, output) => {
                let written = output
                    .file()
                    .write_all_at(bytemuck::cast_slice(words), offset);
                written.map_err(|source| GydbError::Write(output.error(source)))
            }
            Target::Memory(parts) => {
                insert(parts, offset, words.to_vec());
                Ok(())
            }
            Target::Shared(_) => unreachable!("the file has its own offsets"),
        }
    }

    /// Starts write-back when enough has been written since the last time.
    fn write_back(&self) {
        let Target::File(write_back, _) = &self.target else {
            return;
        };
        if self.order.change(State::is_due) {
            write_back
                .lock()
                .expect("no thread panics while it holds the write-back")
                .request();
        }
    }

    /// Writes what follows the partitions, and the header.
    fn complete(&self) -> Result<Header, GydbError> {
        self.order.look(|state| self.complete_from(state))
    }

    fn complete_from(&self, state: &State) -> Result<Header, GydbError> {
        let written = state.entries.len() == PARTITIONS && state.writing == 0;
        assert!(written, "every partition is written before the end");
        self.write_at(&state.tail, state.tail_offset())?;
        let (header, tail) = self.ending(&state.entries, state.windows, state.offset);
        self.write_bytes(&tail, state.offset)?;
        if let Target::File(write_back, output) = &self.target {
            let joined = write_back
                .lock()
                .expect("no thread panics while it holds the write-back")
                .join();
            joined.map_err(|source| output.error(source))?;
        }
        self.write_bytes(&header.encode(), 0)?;
        Ok(header)
    }

    /// The header, and what stands behind partitions that end at `end`: sections and directory.
    pub(super) fn ending(&self, entries: &[Entry], windows: u64, end: u64) -> (Header, Vec<u8>) {
        let sections = self
            .sections
            .lock()
            .expect("no thread panics while it holds the sections");
        let (mut tail, mut table) = (Vec::new(), Vec::new());
        for (name, bytes) in sections.iter() {
            let section = Section {
                name: name.clone(),
                offset: end + tail.len() as u64,
                bytes: bytes.len() as u64,
                crc: crc32fast::hash(bytes),
            };
            tail.extend_from_slice(bytes);
            tail.resize((section.end() - end) as usize, 0);
            section.encode(&mut table);
        }
        let offset = end + tail.len() as u64;
        let mut directory = Vec::with_capacity(DIRECTORY_BYTES + table.len());
        entries
            .iter()
            .for_each(|entry| entry.encode(&mut directory));
        let sum = |of: fn(&Entry) -> u32| entries.iter().map(|entry| u64::from(of(entry))).sum();
        let header = Header {
            summary: Summary {
                features: sum(|entry| entry.features),
                locations: sum(|entry| entry.locations),
                windows,
                cap: self.cap,
                bytes: offset + (directory.len() + table.len()) as u64,
            },
            partitions_end: end,
            directory: offset,
            sections: sections.len() as u32,
            directory_crc: crc32fast::hash(&directory),
            sections_crc: crc32fast::hash(&table),
        };
        tail.extend(directory);
        tail.extend(table);
        (header, tail)
    }

    /// Writes bytes at an aligned offset, with zeros behind them up to the next.
    fn write_bytes(&self, bytes: &[u8], offset: u64) -> Result<(), GydbError> {
        let mut words = vec![0u32; (aligned(bytes.len() as u64) / 4) as usize];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        self.write_at(&words, offset)
    }

    fn path(&self) -> PathBuf {
        match &self.target {
            Target::File(_, output) => output.target().to_path_buf(),
            Target::Memory(_) => in_memory_path(),
            Target::Shared(file) => file.target().to_path_buf(),
        }
    }
}

fn insert(parts: &Mutex<BTreeMap<u64, Vec<u32>>>, offset: u64, words: Vec<u32>) {
    let mut parts = parts
        .lock()
        .expect("no thread panics while it holds the memory");
    // What is empty shares its offset with what follows.
    if !words.is_empty() {
        parts.insert(offset, words);
    }
}

/// The parts of a database side by side, copied by so many threads. Each is freed as soon as it is
/// copied.
fn joined(parts: BTreeMap<u64, Vec<u32>>, bytes: u64, threads: usize) -> io::Result<Mmap> {
    let mut map = anonymous(bytes as usize)?;
    let (mut rest, mut end) = (&mut map[..], 0);
    let mut copies = Vec::with_capacity(parts.len());
    for (offset, words) in parts {
        let (_, from_here) = rest.split_at_mut(offset as usize - end);
        let (place, behind) = from_here.split_at_mut(size_of_val(&words[..]));
        end = offset as usize + place.len();
        rest = behind;
        copies.push((place, words));
    }
    let copies = Mutex::new(copies.into_iter());
    let next = || {
        copies
            .lock()
            .expect("no thread panics while it takes a part")
            .next()
    };
    in_threads(vec![(); threads], |()| {
        while let Some((place, words)) = next() {
            place.copy_from_slice(bytemuck::cast_slice(&words));
        }
    });
    drop(copies);
    map.make_read_only()
}

impl State {
    /// Gives the next partition its place; where that is.
    fn enter(&mut self, piece: &Piece) -> u64 {
        let entry = Entry {
            offset: self.offset,
            ..piece.entry
        };
        self.offset = entry.end();
        self.entries.push(entry);
        self.windows = self.windows.max(piece.windows);
        entry.offset
    }

    /// True when enough has been placed since the last time for another write-back.
    fn is_due(&mut self) -> bool {
        let due = self.offset - self.synced >= SYNC_BYTES;
        if due {
            self.synced = self.offset;
        }
        due
    }

    fn tail_offset(&self) -> u64 {
        self.offset - size_of_val(&self.tail[..]) as u64
    }

    /// Takes the words up to where the last large page begins, and their offset; the tail goes on
    /// in a buffer from `spare`.
    fn take_large_pages(&mut self, spare: impl FnOnce() -> Vec<u32>) -> Option<(Vec<u32>, u64)> {
        let start = self.tail_offset();
        let end = self.offset - self.offset % LARGE_PAGE;
        if end <= start {
            return None;
        }
        let words = (end - start) as usize / 4;
        let mut next = spare();
        next.clear();
        next.extend_from_slice(&self.tail[words..]);
        let mut taken = std::mem::replace(&mut self.tail, next);
        taken.truncate(words);
        self.writing += 1;
        Some((taken, start))
    }
}
