//! Builds a database from bins that many threads finish in about the right order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use gyrase_fabric::{Place, SpillFolder};
use gyrase_files::OutputFile;
use gyrase_kmer::{BINS, Shape};
use tracing::info_span;

use super::destination::{Aside, Destination};
use super::error::GykError;
use super::layout::{BinEntry, Cutoffs, HEADER_BYTES, OVERFLOW};
use super::pieces::{Pieces, Scratch, read_through};

/// Bytes of finished bins that may wait for an earlier bin before their threads wait too.
const WAITING_BYTES: usize = 64 << 20;
/// Bytes written between two starts of write-back.
const SYNC_BYTES: u64 = 8 << 20;
/// Buffers kept for the next bins; together they are a quarter of what may wait.
const SPARE_BUFFERS: usize = 16;
/// Bins in scratch files that may wait: as many files stay open.
const WAITING_FILES: usize = 4;

/// Of the bins all, in one process.
const ALONE: Place = Place {
    partitions: BINS,
    rank: 0,
    ranks: 1,
};

/// A database under construction.
///
/// Threads hand over bins with [`Writer::write_bin`], or piece by piece ([`Writer::pieces`]). The
/// bytes are laid out in the order of the bins whatever the order of the calls; a bin that comes
/// early waits in memory (or in its file). When too much waits, the calling thread waits as well,
/// but never the one that brings the bin whose turn it is. So take bins in ascending order (from a
/// shared counter, say), write every one of them, and call [`Writer::abandon`] when a thread gives
/// up.
///
/// Several processes write one database, each its own bins: [`Writer::first`] says how.
#[derive(Debug)]
pub struct Writer {
    pub(super) to: Destination,
    pub(super) shape: Shape,
    pub(super) cutoffs: Cutoffs,
    /// Which bins this process writes.
    pub(super) bins: Place,
    /// Bytes of finished bins that may wait.
    may_wait: usize,
    pub(super) state: Mutex<State>,
    pub(super) turn: Condvar,
    spare: Mutex<Vec<Vec<u8>>>,
}

#[derive(Debug)]
pub(super) struct State {
    /// Entries of the bins that have a place, in order; the next bin is the first one behind them.
    pub(super) entries: Vec<BinEntry>,
    /// For every one of them whether its bytes are in the file.
    written: Vec<bool>,
    /// So many of them are in the file from the first on.
    pub(super) prefix: usize,
    /// Where the next bin goes.
    pub(super) offset: u64,
    waiting: BTreeMap<usize, Body>,
    waiting_bytes: usize,
    waiting_files: usize,
    synced: u64,
    pub(super) totals: Totals,
    pub(super) abandoned: bool,
}

/// What one of several processes writes, and where that waits until its place in the file is known.
#[derive(Debug)]
pub struct Share {
    /// Which bins: of the partitions, those of this process.
    pub bins: Place,
    /// Bytes of finished bins in memory.
    pub memory: usize,
    /// Where the others go: to the disk for spills, not beside the target, on the one that all
    /// processes share. They count against what spills may take.
    pub folder: Arc<SpillFolder>,
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
    /// Counted from the first bin of this process.
    number: usize,
    body: Body,
    offset: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) total: u64,
    pub(super) unique: u64,
    pub(super) largest: u32,
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

impl Body {
    pub(super) fn write_at(&self, file: &File, offset: u64) -> io::Result<()> {
        let _write = info_span!(target: "gyrase::trace", "write", bytes = self.length()).entered();
        match &self.scratch {
            None => file.write_all_at(&self.bytes, offset),
            Some(scratch) => scratch.copy_to(file, offset),
        }
    }

    /// Bytes that it takes in the file.
    pub(super) fn length(&self) -> u64 {
        self.scratch
            .as_ref()
            .map_or(self.bytes.len() as u64, Scratch::length)
    }
}

impl Writer {
    /// Starts the database that will appear at `target`, with k-mers of `shape` whose counts are
    /// within `cutoffs`.
    pub fn create(target: &Path, shape: Shape, cutoffs: Cutoffs) -> Result<Writer, GykError> {
        Ok(Writer::start(
            Destination::file(OutputFile::create(target)?)?,
            ALONE,
            shape,
            cutoffs,
        ))
    }

    /// Goes on with a database of which bins `0..finished.len()` were written, as
    /// [`Writer::finished`] told.
    ///
    /// The bins are checked against their checksums, since a machine that lost power may have
    /// logged more than its disk got; [`Writer::next_bin`] says where to go on.
    pub fn resume(
        target: &Path,
        shape: Shape,
        cutoffs: Cutoffs,
        finished: &[BinEntry],
    ) -> Result<Writer, GykError> {
        let end = finished
            .last()
            .and_then(|entry| entry.end(shape.words()))
            .unwrap_or(HEADER_BYTES as u64);
        let writer = Writer::start(
            Destination::file(OutputFile::resume(target, end)?)?,
            ALONE,
            shape,
            cutoffs,
        );
        writer.take_over(finished)?;
        Ok(writer)
    }

    /// Starts a database that several processes write. This one began the file `output`, and gives
    /// it its name at the end; the others [`Writer::join`] with the token that
    /// [`OutputFile::invite`] returned.
    ///
    /// While they hand over their bins, each has a thread in [`Writer::lay_out`]. Then each calls
    /// [`Writer::settle`], and with what that returned to all of them this process calls
    /// [`Writer::finish_all`].
    ///
    /// # Errors
    /// The system has no more file numbers.
    pub fn first(
        output: OutputFile,
        shape: Shape,
        cutoffs: Cutoffs,
        share: Share,
    ) -> Result<Writer, GykError> {
        let aside = Aside::of_first(output, share.folder, share.memory)?;
        Ok(Writer::start(
            Destination::Aside(aside),
            share.bins,
            shape,
            cutoffs,
        ))
    }

    /// Writes some bins of the database at `target`, which another process has begun
    /// ([`Writer::first`]). The file need not be there before [`Writer::open`] or
    /// [`Writer::lay_out`].
    pub fn join(target: &Path, token: u64, shape: Shape, cutoffs: Cutoffs, share: Share) -> Writer {
        let aside = Aside::of_other(target, token, share.folder, share.memory);
        Writer::start(Destination::Aside(aside), share.bins, shape, cutoffs)
    }

    /// Opens the file that another process has begun, where this one joined it, now and not when it
    /// is first written: so that nothing is done in vain where it cannot be opened here.
    ///
    /// # Errors
    /// It is not to be seen here, or cannot be written.
    pub fn open(&self) -> Result<(), GykError> {
        self.to.open()
    }

    fn start(to: Destination, bins: Place, shape: Shape, cutoffs: Cutoffs) -> Writer {
        let offset = to.start();
        let state = State {
            entries: Vec::with_capacity(bins.count()),
            written: Vec::with_capacity(bins.count()),
            prefix: 0,
            offset,
            waiting: BTreeMap::new(),
            waiting_bytes: 0,
            waiting_files: 0,
            synced: offset,
            totals: Totals::default(),
            abandoned: false,
        };
        Writer {
            to,
            shape,
            cutoffs,
            bins,
            may_wait: WAITING_BYTES,
            state: Mutex::new(state),
            turn: Condvar::new(),
            spare: Mutex::default(),
        }
    }

    /// Takes the first bins as an earlier run left them, as far as they are whole.
    fn take_over(&self, finished: &[BinEntry]) -> Result<(), GykError> {
        let Some(file) = self.to.earlier(finished)? else {
            return Ok(());
        };
        let mut state = self.lock();
        for entry in finished.iter().take(self.bins.count()) {
            let reread = self
                .reread(&file, entry, state.offset)
                .map_err(|source| self.to.error(source))?;
            let Some(totals) = reread else { break };
            state.totals.add(totals);
            state.offset = entry
                .end(self.shape.words())
                .expect("the bin was just read");
            state.entries.push(*entry);
            state.written.push(true);
        }
        state.prefix = state.entries.len();
        state.synced = state.offset;
        Ok(())
    }

    /// Lets no more than so many bytes of finished bins wait for an earlier one, instead of 64 MiB.
    pub fn waiting(self, bytes: usize) -> Writer {
        Writer {
            may_wait: bytes,
            ..self
        }
    }

    /// The totals of a bin that an earlier run wrote at `offset`, or `None` when it is not whole.
    fn reread(&self, file: &File, entry: &BinEntry, offset: u64) -> io::Result<Option<Totals>> {
        let length = file.metadata()?.len();
        let words = self.shape.words();
        if entry.offset != offset || entry.end(words).is_none_or(|end| end > length) {
            return Ok(None);
        }
        let counts = offset + 8 * words as u64 * entry.kmers;
        let overflow = counts + entry.kmers.next_multiple_of(8);
        let (mut crc, mut totals) = (crc32fast::Hasher::new(), Totals::default());
        let mut read = |range, counts_in: fn(&[u8]) -> Totals| {
            read_through(file, range, |bytes| {
                crc.update(bytes);
                totals.add(counts_in(bytes));
                Ok(())
            })
        };
        read(offset..counts, |_| Totals::default())?;
        read(counts..overflow, small_counts)?;
        read(overflow..overflow + 8 * entry.overflows, large_counts)?;
        Ok((crc.finalize() == entry.crc).then_some(totals))
    }

    /// Hands over a bin: its keys, row by row (as many words a row as the shape has), strictly
    /// ascending, and as many counts. Every bin must be written once, an empty one with empty
    /// slices.
    ///
    /// # Errors
    /// When the file cannot be written, or when another thread called [`Writer::abandon`].
    ///
    /// # Panics
    /// When keys and counts do not fit each other, or the bin was written before.
    pub fn write_bin(&self, bin: usize, keys: &[u64], counts: &[u32]) -> Result<(), GykError> {
        debug_assert!(
            keys.chunks(self.shape.words())
                .zip(keys.chunks(self.shape.words()).skip(1))
                .all(|(a, b)| a < b),
            "the keys of bin {bin} ascend"
        );
        self.hand_over(bin, self.encode(keys, counts))
    }

    /// Takes a bin piece by piece, in about `memory` bytes: what is more than that waits in a file
    /// without a name beside the target.
    pub fn pieces(&self, bin: usize, memory: usize) -> Pieces<'_> {
        Pieces::new(self, bin, memory)
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// Gives a finished bin its place and writes it there, or leaves it to the thread that brings
    /// the bin before.
    pub(super) fn hand_over(&self, bin: usize, body: Body) -> Result<(), GykError> {
        for placed in self.place(bin, body)? {
            let buffer = self.to.write(placed.body, placed.offset)?;
            self.mark_written(placed.number);
            self.recycle(buffer.unwrap_or_default());
        }
        Ok(())
    }

    /// Lays a bin out as it will stand in the file.
    fn encode(&self, keys: &[u64], counts: &[u32]) -> Body {
        assert_eq!(
            keys.len(),
            counts.len() * self.shape.words(),
            "every k-mer has a key and a count"
        );
        assert!(
            u32::try_from(counts.len()).is_ok(),
            "a bin holds fewer than 2^32 k-mers"
        );
        let mut bytes = self.spare_buffer();
        bytes.reserve(size_of_val(keys) + counts.len().next_multiple_of(8));
        bytes.extend_from_slice(bytemuck::cast_slice(keys));
        bytes.extend(
            counts
                .iter()
                .map(|&count| count.min(u32::from(OVERFLOW)) as u8),
        );
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
        Body {
            kmers: counts.len() as u64,
            overflows,
            crc: crc32fast::hash(&bytes),
            totals,
            bytes,
            scratch: None,
        }
    }

    pub(super) fn spare_buffer(&self) -> Vec<u8> {
        self.spare
            .lock()
            .expect("no thread panics while it holds the buffers")
            .pop()
            .unwrap_or_default()
    }

    /// Gives bins their places, from the next one on as far as they are there; returns those with
    /// their offsets.
    fn place(&self, bin: usize, body: Body) -> Result<Vec<Placed>, GykError> {
        let mut state = self.lock();
        assert!(
            self.bins.owns(bin) && bin >= self.next(&state),
            "bin {bin} is written once"
        );
        while !state.abandoned
            && bin != self.next(&state)
            && !state.has_room_for(&body, self.may_wait)
        {
            let _wait = info_span!(target: "gyrase::trace", "wait", at = "turn").entered();
            state = self
                .turn
                .wait(state)
                .expect("no thread panics while it holds the state");
        }
        if state.abandoned {
            return Err(GykError::Abandoned {
                path: self.to.target().to_path_buf(),
            });
        }
        state.waiting_bytes += body.bytes.capacity();
        state.waiting_files += usize::from(body.scratch.is_some());
        let number = self.bins.number(bin);
        assert!(
            state.waiting.insert(number, body).is_none(),
            "bin {bin} is written once"
        );
        let placed: Vec<Placed> =
            std::iter::from_fn(|| state.place_next(self.shape.words())).collect();
        if !placed.is_empty() {
            self.turn.notify_all();
        }
        Ok(placed)
    }

    fn mark_written(&self, number: usize) {
        let mut state = self.lock();
        state.written[number] = true;
        while state.written.get(state.prefix) == Some(&true) {
            state.prefix += 1;
        }
        match self.to {
            Destination::Aside(_) => self.turn.notify_all(),
            Destination::File { .. } if state.offset - state.synced >= SYNC_BYTES => {
                state.synced = state.offset;
                drop(state);
                self.to.write_back();
            }
            Destination::File { .. } => {}
        }
    }

    pub(super) fn recycle(&self, mut bytes: Vec<u8>) {
        bytes.clear();
        let mut spare = self
            .spare
            .lock()
            .expect("no thread panics while it holds the buffers");
        let kept: usize = spare.iter().map(Vec::capacity).sum();
        if spare.len() < SPARE_BUFFERS && kept + bytes.capacity() <= self.may_wait / 4 {
            spare.push(bytes);
        }
    }

    /// The bin to write next: the first of this process where nothing was taken over.
    pub fn next_bin(&self) -> usize {
        self.next(&self.lock())
    }

    fn next(&self, state: &State) -> usize {
        self.bins.partition(state.entries.len())
    }

    /// The entries of bins `from..` up to the first bin that is not yet in the file: log them, in
    /// order, for [`Writer::resume`]. None where several processes write.
    pub fn finished(&self, from: usize) -> Vec<BinEntry> {
        if let Destination::Aside(_) = self.to {
            return Vec::new();
        }
        let state = self.lock();
        state.entries[from.min(state.prefix)..state.prefix].to_vec()
    }

    /// From now on a drop without [`Writer::finish`] leaves the partial file for
    /// [`Writer::resume`].
    pub fn keep_partial(&mut self) {
        self.to.keep_partial();
    }

    /// Gives up: every thread that waits or comes later gets [`GykError::Abandoned`].
    pub fn abandon(&self) {
        self.lock().abandoned = true;
        self.turn.notify_all();
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("no thread panics while it holds the state")
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
        let number = self.entries.len();
        let body = self.waiting.remove(&number)?;
        let offset = self.offset;
        let entry = BinEntry {
            offset,
            kmers: body.kmers,
            overflows: body.overflows,
            crc: body.crc,
        };
        self.offset = entry.end(words).expect("a file is shorter than 2^64 bytes");
        self.entries.push(entry);
        self.written.push(false);
        self.waiting_bytes -= body.bytes.capacity();
        self.waiting_files -= usize::from(body.scratch.is_some());
        self.totals.add(body.totals);
        Some(Placed {
            number,
            body,
            offset,
        })
    }
}

/// What a part of the count bytes adds; the zeros at their end count nothing, the others of 255 are
/// in the overflow list.
fn small_counts(bytes: &[u8]) -> Totals {
    Totals::of(
        bytes
            .iter()
            .filter(|&&byte| byte != 0 && byte != OVERFLOW)
            .map(|&byte| u32::from(byte)),
    )
}

/// What a part of the overflow list adds.
fn large_counts(bytes: &[u8]) -> Totals {
    let (pairs, _) = bytes.as_chunks::<8>();
    Totals::of(
        pairs
            .iter()
            .map(|&[_, _, _, _, a, b, c, d]| u32::from_le_bytes([a, b, c, d])),
    )
}
