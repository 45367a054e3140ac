//! The file: segments handed over, put in order, and its end.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use super::check::check_own;
use super::destination::{Aside, Destination, Spill};
use super::error::OrderedError;
use super::segment::Segment;
use super::wave::{LaidOut, SENT};
use crate::ordered::Ordered;
use crate::{OutputError, OutputFile};

/// Bytes of finished segments that may wait for an earlier one before their threads wait too.
const WAITING_BYTES: usize = 64 << 20;
/// Bytes written between two starts of write-back.
const SYNC_BYTES: u64 = 8 << 20;
/// Buffers kept for the next segments; together they are a quarter of what may wait.
const SPARE_BUFFERS: usize = 16;

/// A file under construction: what stands before the segments, the segments in order, what stands
/// behind them. It appears whole or not at all.
///
/// Threads hand over segments with [`OrderedFile::put`], in about ascending order. A process alone
/// begins with [`OrderedFile::alone`] and ends with [`OrderedFile::finish`]. Of several processes
/// the first creates the file ([`OrderedFile::first`]) and the others [`OrderedFile::join`]; each
/// has a thread in [`OrderedFile::lay_out`] while it hands over its segments. Then all call
/// [`OrderedFile::settle`], wait for each other, and call [`OrderedFile::check`]; where all of them
/// found their part whole the first calls [`OrderedFile::finish`].
#[derive(Debug)]
pub struct OrderedFile<T, S> {
    pub(super) to: Destination<S>,
    /// Where the first segment begins.
    pub(super) start: u64,
    /// Segments of all processes.
    pub(super) all: usize,
    /// Those of this one, ascending.
    own: RwLock<Vec<usize>>,
    pub(super) order: Ordered<(Segment, T), Layout<T>>,
    pub(super) laid_out: Mutex<LaidOut>,
    spare: Mutex<Vec<Vec<u8>>>,
}

/// What one of several processes writes, and where that waits until it has its offset.
#[derive(Debug)]
pub struct OwnSegments<S> {
    /// How many segments there are, in all processes together.
    pub all: usize,
    /// Those of this process, ascending; or none, where it takes them as it goes
    /// ([`OrderedFile::take`]).
    pub own: Vec<usize>,
    /// Bytes of finished segments in memory.
    pub memory: usize,
    /// Where the others go: not beside the target, on the disk that all processes share.
    pub spill: S,
}

/// A segment that has its offset: in the file, or in what one of several processes keeps aside.
#[derive(Clone, Debug)]
pub struct Placed<T> {
    /// Of its first byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// CRC-32 of the bytes.
    pub crc: u32,
    /// What the caller keeps with it.
    pub note: T,
}

/// The segments of this process that have their offsets.
#[derive(Debug)]
pub(super) struct Layout<T> {
    pub(super) placed: Vec<Placed<T>>,
    /// For every one of them whether its bytes are there.
    written: Vec<bool>,
    /// So many of them are, from the first on.
    pub(super) prefix: usize,
    /// Where the next one goes.
    end: u64,
    synced: u64,
}

/// A segment that has its offset and is still to be written there.
struct Ready {
    /// Which of this process's.
    at: usize,
    segment: Segment,
    offset: u64,
}

impl<T, S: Spill> OrderedFile<T, S> {
    /// Begins a file of `all` segments, the first at `start`, that this process writes alone.
    ///
    /// # Errors
    /// The system has no more file numbers.
    pub fn alone(output: OutputFile, start: u64, all: usize) -> Result<Self, OutputError> {
        let to = Destination::file(output)?;
        Ok(OrderedFile::new(to, start, start, all, (0..all).collect()))
    }

    /// Begins a file that several processes write, in the one that created it.
    ///
    /// # Errors
    /// The system has no more file numbers.
    pub fn first(
        output: OutputFile,
        start: u64,
        share: OwnSegments<S>,
    ) -> Result<Self, OutputError> {
        let memory = share.memory.saturating_sub(SENT);
        let to = Destination::Aside(Aside::of_first(output, share.spill, memory)?);
        Ok(OrderedFile::new(to, start, 0, share.all, share.own))
    }

    /// The same in another process, with the token that [`OutputFile::invite`] returned to the
    /// first. The file need not be there before [`OrderedFile::open`] or [`OrderedFile::lay_out`].
    pub fn join(target: &Path, token: u64, start: u64, share: OwnSegments<S>) -> Self {
        let memory = share.memory.saturating_sub(SENT);
        let to = Destination::Aside(Aside::of_other(target, token, share.spill, memory));
        OrderedFile::new(to, start, 0, share.all, share.own)
    }

    /// `first` is where the first segment of this process goes.
    fn new(to: Destination<S>, start: u64, first: u64, all: usize, own: Vec<usize>) -> Self {
        let layout = Layout {
            placed: Vec::with_capacity(own.len()),
            written: Vec::with_capacity(own.len()),
            prefix: 0,
            end: first,
            synced: first,
        };
        OrderedFile {
            to,
            start,
            all,
            own: RwLock::new(own),
            order: Ordered::new(0, WAITING_BYTES, layout),
            laid_out: Mutex::new(LaidOut::from(start)),
            spare: Mutex::default(),
        }
    }

    /// Lets no more than so many bytes of finished segments wait for an earlier one, instead of
    /// 64 MiB.
    pub fn waiting(self, bytes: usize) -> Self {
        OrderedFile {
            order: self.order.with_room(bytes),
            ..self
        }
    }

    /// Opens the file that another process has begun, where this one joined it, now and not when it
    /// is first written: so that nothing is done in vain where it cannot be opened here.
    ///
    /// # Errors
    /// It is not to be seen here, or cannot be written.
    pub fn open(&self) -> Result<(), OrderedError<S::Error>> {
        self.to.open()
    }

    /// The file that is to appear.
    pub fn target(&self) -> &Path {
        self.to.target()
    }

    /// Takes the next segment as an earlier run left it in the file, where one process writes.
    pub fn take_over(&self, length: u64, crc: u32, note: T) -> Result<(), OrderedError<S::Error>> {
        for ready in self.place(self.order.next(), Segment::written(length, crc), note)? {
            self.mark_written(ready.at);
        }
        Ok(())
    }

    /// Hands over the segment `number`. Each of this process must be handed over once, an empty one
    /// too.
    ///
    /// # Errors
    /// When it cannot be written, or when another thread called [`OrderedFile::abandon`].
    ///
    /// # Panics
    /// When it is another process's, or was handed over before.
    pub fn put(
        &self,
        number: usize,
        segment: Segment,
        note: T,
    ) -> Result<(), OrderedError<S::Error>> {
        for ready in self.place(self.position(number), segment, note)? {
            let buffer = self.to.write(ready.segment, ready.offset)?;
            self.mark_written(ready.at);
            self.recycle(buffer.unwrap_or_default());
        }
        Ok(())
    }

    /// Makes a segment one of this process, behind those that are. Where processes take segments
    /// as they are free to finish one, each is taken by one of them, and all are before
    /// [`OrderedFile::lay_out`].
    ///
    /// # Panics
    /// When it is not behind the last of this process.
    pub fn take(&self, number: usize) {
        let mut own = self.own.write().unwrap_or_else(PoisonError::into_inner);
        let last = own.last().copied();
        assert!(last < Some(number), "segments are taken in ascending order");
        own.push(number);
    }

    /// The segments of this process, ascending.
    pub fn own(&self) -> RwLockReadGuard<'_, Vec<usize>> {
        self.own.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which of the segments of this process one is.
    pub(super) fn position(&self, number: usize) -> usize {
        self.own()
            .binary_search(&number)
            .expect("the segment is one of this process")
    }

    /// Gives segments their offsets, from the next one on as far as they are there.
    fn place(
        &self,
        at: usize,
        segment: Segment,
        note: T,
    ) -> Result<Vec<Ready>, OrderedError<S::Error>> {
        let cost = segment.cost(self.order.room());
        let mut ready = Vec::new();
        self.order
            .bring(at, (segment, note), cost, |layout, (segment, note)| {
                ready.push(layout.place(segment, note));
            })
            .map_err(|_| self.abandoned())?;
        Ok(ready)
    }

    fn mark_written(&self, at: usize) {
        let write_back = self.order.change(|layout| layout.mark_written(at));
        if write_back && matches!(self.to, Destination::File { .. }) {
            self.to.write_back();
        }
    }

    /// A buffer for the bytes of the next segment, as good as new.
    pub fn spare_buffer(&self) -> Vec<u8> {
        self.lock_spare().pop().unwrap_or_default()
    }

    pub(super) fn recycle(&self, mut bytes: Vec<u8>) {
        bytes.clear();
        let mut spare = self.lock_spare();
        let kept: usize = spare.iter().map(Vec::capacity).sum();
        if spare.len() < SPARE_BUFFERS && kept + bytes.capacity() <= self.order.room() / 4 {
            spare.push(bytes);
        }
    }

    fn lock_spare(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.spare
            .lock()
            .expect("no thread panics while it holds the buffers")
    }

    /// A file without a name for a segment that comes in parts ([`Segment::in_file`]).
    ///
    /// # Errors
    /// It cannot be made.
    pub fn nameless(&self) -> Result<File, OrderedError<S::Error>> {
        self.to.nameless()
    }

    /// The segment to hand over next: the first of this process that was not taken over. Behind the
    /// last one it is how many there are.
    pub fn next_segment(&self) -> usize {
        let at = self.order.next();
        self.own().get(at).copied().unwrap_or(self.all)
    }

    /// The segments from the one at `from` on up to the first that is not yet in the file. None
    /// where several processes write.
    pub fn finished(&self, from: usize) -> Vec<Placed<T>>
    where
        T: Clone,
    {
        match self.to {
            Destination::Aside(_) => Vec::new(),
            Destination::File { .. } => self
                .order
                .look(|layout| layout.placed[from.min(layout.prefix)..layout.prefix].to_vec()),
        }
    }

    /// From now on a drop without [`OrderedFile::finish`] leaves what is written for
    /// [`OutputFile::resume`], where one process writes.
    pub fn keep_partial(&mut self) {
        self.to.keep_partial();
    }

    /// Gives up: every thread that waits or comes later gets [`OrderedError::Abandoned`].
    pub fn abandon(&self) {
        self.order.stop();
    }

    pub(super) fn abandoned(&self) -> OrderedError<S::Error> {
        let path = self.to.target().to_path_buf();
        OrderedError::Abandoned { path }
    }

    pub(super) fn laid_out(&self) -> MutexGuard<'_, LaidOut> {
        self.laid_out
            .lock()
            .expect("no thread panics while it lays out")
    }

    /// Waits until the segments of this process are on the disk, where several write; these
    /// segments.
    ///
    /// # Errors
    /// When they cannot be written.
    ///
    /// # Panics
    /// When one was not handed over.
    pub fn settle(&self) -> Result<Vec<Placed<T>>, OrderedError<S::Error>>
    where
        T: Clone,
    {
        self.to.sync()?;
        self.order.look(|layout| {
            let all = self.own().len();
            assert_eq!(
                layout.prefix, all,
                "every segment is written before the end"
            );
            Ok(layout.placed.clone())
        })
    }

    /// Writes what stands behind the segments and then what stands at the beginning of the file,
    /// syncs, and gives the file its name.
    ///
    /// # Errors
    /// When it cannot be written; of several processes, also when the file system lost what was.
    ///
    /// # Panics
    /// When this process did not create the file.
    pub fn finish(self, head: &[u8], tail: &[u8]) -> Result<(), OrderedError<S::Error>> {
        let shared = matches!(self.to, Destination::Aside(_));
        let end = match shared {
            true => self.laid_out().end,
            false => self.order.look(|layout| layout.end),
        };
        let (output, mut write_back) = self.to.into_output();
        let file = output.file();
        let written = file
            .write_all_at(tail, end)
            // A short file would keep some of the token by which processes know it.
            .and_then(|()| file.set_len(end + tail.len() as u64))
            .and_then(|()| write_back.join())
            .and_then(|()| file.write_all_at(head, 0));
        written.map_err(|source| output.error(source))?;
        if shared {
            check_own(&output, &[(0, head), (end, tail)])?;
        }
        Ok(output.commit()?)
    }
}

impl<T> Layout<T> {
    /// Gives the next segment its offset.
    fn place(&mut self, segment: Segment, note: T) -> Ready {
        let (at, offset, length) = (self.placed.len(), self.end, segment.length());
        self.end += length;
        self.placed.push(Placed {
            offset,
            length,
            crc: segment.crc(),
            note,
        });
        self.written.push(false);
        Ready {
            at,
            segment,
            offset,
        }
    }

    /// Notes that a segment is written; true when it is time for write-back.
    fn mark_written(&mut self, at: usize) -> bool {
        self.written[at] = true;
        while self.written.get(self.prefix) == Some(&true) {
            self.prefix += 1;
        }
        let due = self.end - self.synced >= SYNC_BYTES;
        if due {
            self.synced = self.end;
        }
        due
    }
}
