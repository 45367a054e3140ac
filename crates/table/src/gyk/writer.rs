//! Builds a database from bins that many threads finish in about the right order.

use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard};

use gyrase_fabric::OutputFile;
use gyrase_kmer::{BINS, Shape};
use tracing::info_span;

use super::error::GykError;
use super::layout::{BinEntry, Cutoffs, DIRECTORY_BYTES, HEADER_BYTES, Header, Metadata, OVERFLOW, Summary};
use super::pieces::{Pieces, Scratch, read_through};
use crate::write_back::WriteBack;

/// Bytes of finished bins that may wait for an earlier bin before their threads wait too.
const WAITING_BYTES: usize = 64 << 20;
/// Bytes written between two starts of write-back.
const SYNC_BYTES: u64 = 8 << 20;
/// Buffers kept for the next bins; together they are a quarter of what may wait.
const SPARE_BUFFERS: usize = 16;
/// Bins in scratch files that may wait: as many files stay open.
const WAITING_FILES: usize = 4;

/// A database under construction.
///
/// Threads hand over bins with [`Writer::write_bin`], or piece by piece ([`Writer::pieces`]). The bytes are laid out in the order of the bins whatever
/// the order of the calls; a bin that comes early waits in memory (or in its file). When too much waits, the calling thread
/// waits as well, but never the one that brings the bin whose turn it is. So take bins in ascending order (from a
/// shared counter, say), write every one of them, and call [`Writer::abandon`] when a thread gives up.
#[derive(Debug)]
pub struct Writer {
    /// Before the output: its thread must let go of the file before a dropped writer lets go of the lock.
    write_back: Mutex<WriteBack>,
    output: OutputFile,
    shape: Shape,
    cutoffs: Cutoffs,
    /// Bytes of finished bins that may wait.
    may_wait: usize,
    state: Mutex<State>,
    turn: Condvar,
    spare: Mutex<Vec<Vec<u8>>>,
}

#[derive(Debug)]
struct State {
    /// Entries of the bins that have a place, in order; the next bin is `entries.len()`.
    entries: Vec<BinEntry>,
    /// For every one of them whether its bytes are in the file.
    written: Vec<bool>,
    /// All bins before this one are in the file.
    prefix: usize,
    offset: u64,
    waiting: BTreeMap<usize, Body>,
    waiting_bytes: usize,
    waiting_files: usize,
    synced: u64,
    totals: Totals,
    abandoned: bool,
}

/// A bin as it will stand in the file.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    /// Where the bytes are when it is not there.
    pub(super) scratch: Option<Scratch>,
    pub(super) kmers: u64,
    pub(super) overflows: u64,
    pub(super) crc: u32,
    pub(super) totals: Totals,
}

/// A bin that has its place and is still to be written there.
struct Placed {
    bin: usize,
    body: Body,
    offset: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    total: u64,
    unique: u64,
    largest: u32,
}

impl Totals {
    pub(super) fn of(counts: impl Iterator<Item = u32>) -> Totals {
        counts.fold(Totals::default(), |sum, count| Totals {
            total: sum.total + u64::from(count),
            unique: sum.unique + u64::from(count == 1),
            largest: sum.largest.max(count),
        })
    }

    pub(super) fn add(&mut self, other: Totals) {
        self.total += other.total;
        self.unique += other.unique;
        self.largest = self.largest.max(other.largest);
    }
}

impl Writer {
    /// Starts the database that will appear at `target`, with k-mers of `shape` whose counts are within `cutoffs`.
    pub fn create(target: &Path, shape: Shape, cutoffs: Cutoffs) -> Result<Writer, GykError> {
        Writer::start(OutputFile::create(target)?, shape, cutoffs)
    }

    /// Goes on with a database of which bins `0..finished.len()` were written, as [`Writer::finished`] told.
    ///
    /// The bins are checked against their checksums, since a machine that lost power may have logged more than
    /// its disk got; [`Writer::next_bin`] says where to go on.
    pub fn resume(target: &Path, shape: Shape, cutoffs: Cutoffs, finished: &[BinEntry]) -> Result<Writer, GykError> {
        let words = shape.words();
        let end = finished.last().and_then(|entry| entry.end(words)).unwrap_or(HEADER_BYTES as u64);
        let writer = Writer::start(OutputFile::resume(target, end)?, shape, cutoffs)?;
        {
            let mut state = writer.lock();
            for entry in finished.iter().take(BINS) {
                let Some(totals) = writer.reread(entry, state.offset)? else { break };
                state.totals.add(totals);
                state.offset = entry.end(words).expect("the bin was just read");
                state.entries.push(*entry);
                state.written.push(true);
            }
            state.prefix = state.entries.len();
            state.synced = state.offset;
        }
        Ok(writer)
    }

    fn start(output: OutputFile, shape: Shape, cutoffs: Cutoffs) -> Result<Writer, GykError> {
        let file = output.file().try_clone().map_err(|source| output.error(source))?;
        let state = State {
            entries: Vec::with_capacity(BINS),
            written: Vec::with_capacity(BINS),
            prefix: 0,
            offset: HEADER_BYTES as u64,
            waiting: BTreeMap::new(),
            waiting_bytes: 0,
            waiting_files: 0,
            synced: HEADER_BYTES as u64,
            totals: Totals::default(),
            abandoned: false,
        };
        Ok(Writer {
            output,
            shape,
            cutoffs,
            may_wait: WAITING_BYTES,
            state: Mutex::new(state),
            turn: Condvar::new(),
            spare: Mutex::default(),
            write_back: Mutex::new(WriteBack::start(file)),
        })
    }

    /// Lets no more than so many bytes of finished bins wait for an earlier one, instead of 64 MiB.
    pub fn waiting(self, bytes: usize) -> Writer {
        Writer { may_wait: bytes, ..self }
    }

    /// The totals of a bin that an earlier run wrote at `offset`, or `None` when it is not whole.
    fn reread(&self, entry: &BinEntry, offset: u64) -> Result<Option<Totals>, GykError> {
        let length = self.output.file().metadata().map_err(|source| self.output.error(source))?.len();
        let words = self.shape.words();
        if entry.offset != offset || entry.end(words).is_none_or(|end| end > length) {
            return Ok(None);
        }
        let counts = offset + 8 * words as u64 * entry.kmers;
        let overflow = counts + entry.kmers.next_multiple_of(8);
        let (mut crc, mut totals) = (crc32fast::Hasher::new(), Totals::default());
        let mut read = |range, counts_in: fn(&[u8]) -> Totals| {
            read_through(self.output.file(), range, |bytes| {
                crc.update(bytes);
                totals.add(counts_in(bytes));
                Ok(())
            })
        };
        let read = read(offset..counts, |_| Totals::default())
            .and_then(|()| read(counts..overflow, small_counts))
            .and_then(|()| read(overflow..overflow + 8 * entry.overflows, large_counts));
        read.map_err(|source| self.output.error(source))?;
        Ok((crc.finalize() == entry.crc).then_some(totals))
    }

    /// Hands over a bin: its keys, row by row (as many words a row as the shape has), strictly ascending, and as many
    /// counts. Every bin must be written once, an empty one with empty slices.
    ///
    /// # Errors
    /// When the file cannot be written, or when another thread called [`Writer::abandon`].
    ///
    /// # Panics
    /// When keys and counts do not fit each other, or the bin was written before.
    pub fn write_bin(&self, bin: usize, keys: &[u64], counts: &[u32]) -> Result<(), GykError> {
        debug_assert!(
            keys.chunks(self.shape.words()).zip(keys.chunks(self.shape.words()).skip(1)).all(|(a, b)| a < b),
            "the keys of bin {bin} ascend"
        );
        self.hand_over(bin, self.encode(keys, counts))
    }

    /// Takes a bin piece by piece, in about `memory` bytes: what is more than that waits in a file without a name beside the
    /// target.
    pub fn pieces(&self, bin: usize, memory: usize) -> Pieces<'_> {
        Pieces::new(self, bin, memory)
    }

    pub(super) fn output(&self) -> &OutputFile {
        &self.output
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// Gives a finished bin its place and writes it there, or leaves it to the thread that brings the bin before.
    pub(super) fn hand_over(&self, bin: usize, body: Body) -> Result<(), GykError> {
        for placed in self.place(bin, body)? {
            self.write_at(&placed.body, placed.offset)?;
            self.mark_written(placed.bin);
            self.recycle(placed.body.bytes);
        }
        Ok(())
    }

    /// Lays a bin out as it will stand in the file.
    fn encode(&self, keys: &[u64], counts: &[u32]) -> Body {
        assert_eq!(keys.len(), counts.len() * self.shape.words(), "every k-mer has a key and a count");
        assert!(u32::try_from(counts.len()).is_ok(), "a bin holds fewer than 2^32 k-mers");
        let mut bytes = self.spare_buffer();
        bytes.reserve(size_of_val(keys) + counts.len().next_multiple_of(8));
        bytes.extend_from_slice(bytemuck::cast_slice(keys));
        bytes.extend(counts.iter().map(|&count| count.min(u32::from(OVERFLOW)) as u8));
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let body = bytes.len();
        for (index, &count) in counts.iter().enumerate() {
            if count >= u32::from(OVERFLOW) {
                bytes.extend((index as u32).to_le_bytes());
                bytes.extend(count.to_le_bytes());
            }
        }
        let totals = Totals::of(counts.iter().copied());
        let overflows = (bytes.len() - body) as u64 / 8;
        Body { kmers: counts.len() as u64, overflows, crc: crc32fast::hash(&bytes), totals, bytes, scratch: None }
    }

    pub(super) fn spare_buffer(&self) -> Vec<u8> {
        self.spare.lock().expect("no thread panics while it holds the buffers").pop().unwrap_or_default()
    }

    /// Gives bins their places, from the next one on as far as they are there; returns those with their offsets.
    fn place(&self, bin: usize, body: Body) -> Result<Vec<Placed>, GykError> {
        let mut state = self.lock();
        assert!(bin < BINS && bin >= state.entries.len(), "bin {bin} is written once");
        while !state.abandoned && bin != state.entries.len() && !state.has_room_for(&body, self.may_wait) {
            let _wait = info_span!(target: "gyrase::trace", "wait", at = "turn").entered();
            state = self.turn.wait(state).expect("no thread panics while it holds the state");
        }
        if state.abandoned {
            return Err(GykError::Abandoned { path: self.output.target().to_path_buf() });
        }
        state.waiting_bytes += body.bytes.capacity();
        state.waiting_files += usize::from(body.scratch.is_some());
        assert!(state.waiting.insert(bin, body).is_none(), "bin {bin} is written once");
        let placed: Vec<Placed> = std::iter::from_fn(|| state.place_next(self.shape.words())).collect();
        if !placed.is_empty() {
            self.turn.notify_all();
        }
        Ok(placed)
    }

    fn write_at(&self, body: &Body, offset: u64) -> Result<(), GykError> {
        let _write = info_span!(target: "gyrase::trace", "write", bytes = body.bytes.len()).entered();
        let written = match &body.scratch {
            None => self.output.file().write_all_at(&body.bytes, offset),
            Some(scratch) => scratch.copy_to(self.output.file(), offset),
        };
        written.map_err(|source| GykError::Write(self.output.error(source)))
    }

    fn mark_written(&self, bin: usize) {
        let mut state = self.lock();
        state.written[bin] = true;
        while state.written.get(state.prefix) == Some(&true) {
            state.prefix += 1;
        }
        if state.offset - state.synced >= SYNC_BYTES {
            state.synced = state.offset;
            drop(state);
            self.write_back.lock().expect("no thread panics while it holds the write-back").request();
        }
    }

    fn recycle(&self, mut bytes: Vec<u8>) {
        bytes.clear();
        let mut spare = self.spare.lock().expect("no thread panics while it holds the buffers");
        let kept: usize = spare.iter().map(Vec::capacity).sum();
        if spare.len() < SPARE_BUFFERS && kept + bytes.capacity() <= self.may_wait / 4 {
            spare.push(bytes);
        }
    }

    /// The bin to write next: 0 for a new database.
    pub fn next_bin(&self) -> usize {
        self.lock().entries.len()
    }

    /// The entries of bins `from..` up to the first bin that is not yet in the file: log them, in order, for
    /// [`Writer::resume`].
    pub fn finished(&self, from: usize) -> Vec<BinEntry> {
        let state = self.lock();
        state.entries[from.min(state.prefix)..state.prefix].to_vec()
    }

    /// From now on a drop without [`Writer::finish`] leaves the partial file for [`Writer::resume`].
    pub fn keep_partial(&mut self) {
        self.output.keep_partial();
    }

    /// Gives up: every thread that waits or comes later gets [`GykError::Abandoned`].
    pub fn abandon(&self) {
        self.lock().abandoned = true;
        self.turn.notify_all();
    }

    /// Writes directory, metadata and header, syncs, and gives the file its name.
    ///
    /// # Panics
    /// When a bin was not written.
    pub fn finish(self, metadata: &Metadata) -> Result<Summary, GykError> {
        let state = self.state.into_inner().expect("no thread panics while it holds the state");
        assert_eq!(state.prefix, BINS, "every bin is written before the end");
        let mut directory = Vec::with_capacity(DIRECTORY_BYTES);
        state.entries.iter().for_each(|entry| entry.encode(&mut directory));
        let metadata = serde_json::to_vec(metadata).expect("strings and numbers are valid JSON");
        let place = state.offset + directory.len() as u64;
        let mut header = Header {
            shape: self.shape,
            cutoffs: self.cutoffs,
            saturated: state.totals.largest == u32::MAX,
            distinct: state.entries.iter().map(|entry| entry.kmers).sum(),
            total: state.totals.total,
            unique: state.totals.unique,
            largest: state.totals.largest,
            directory: state.offset,
            metadata: place,
            metadata_bytes: metadata.len() as u64,
            file_bytes: 0,
            directory_crc: crc32fast::hash(&directory),
            metadata_crc: crc32fast::hash(&metadata),
        };
        directory.extend(metadata);
        directory.resize(directory.len().next_multiple_of(8), 0);
        header.file_bytes = state.offset + directory.len() as u64;
        let mut write_back = self.write_back.into_inner().expect("no thread panics while it holds the write-back");
        let file = self.output.file();
        let written = file
            .write_all_at(&directory, state.offset)
            .and_then(|()| write_back.join())
            .and_then(|()| file.write_all_at(&header.encode(), 0));
        written.map_err(|source| self.output.error(source))?;
        self.output.commit()?;
        Ok(header.summary())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics while it holds the state")
    }
}

impl State {
    /// True when a bin may wait beside those that wait already.
    fn has_room_for(&self, body: &Body, may_wait: usize) -> bool {
        match body.scratch {
            None => self.waiting_bytes + body.bytes.capacity() <= may_wait,
            Some(_) => self.waiting_files < WAITING_FILES,
        }
    }

    /// Gives the next bin its place, if it is there.
    fn place_next(&mut self, words: usize) -> Option<Placed> {
        let bin = self.entries.len();
        let body = self.waiting.remove(&bin)?;
        let offset = self.offset;
        let entry = BinEntry { offset, kmers: body.kmers, overflows: body.overflows, crc: body.crc };
        self.offset = entry.end(words).expect("a file is shorter than 2^64 bytes");
        self.entries.push(entry);
        self.written.push(false);
        self.waiting_bytes -= body.bytes.capacity();
        self.waiting_files -= usize::from(body.scratch.is_some());
        self.totals.add(body.totals);
        Some(Placed { bin, body, offset })
    }
}

/// What a part of the count bytes adds; the zeros at their end count nothing, the others of 255 are in the overflow list.
fn small_counts(bytes: &[u8]) -> Totals {
    Totals::of(bytes.iter().filter(|&&byte| byte != 0 && byte != OVERFLOW).map(|&byte| u32::from(byte)))
}

/// What a part of the overflow list adds.
fn large_counts(bytes: &[u8]) -> Totals {
    let (pairs, _) = bytes.as_chunks::<8>();
    Totals::of(pairs.iter().map(|&[_, _, _, _, a, b, c, d]| u32::from_le_bytes([a, b, c, d])))
}
