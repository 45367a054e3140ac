//! Where finished segments go: into the file, or aside until it is known how much of other
//! processes stands before them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock};

use tracing::info_span;

use super::blocks::{Ends, write_ends};
use super::error::OrderedError;
use super::segment::{Segment, read_through};
use crate::write_back::WriteBack;
use crate::{OutputError, OutputFile};

/// A place on a disk for segments that wait and do not fit in memory.
pub trait Spill: Debug + Send + Sync {
    /// Why it cannot be used.
    type Error;

    /// An empty file for the segments of one process, behind each other.
    ///
    /// # Errors
    /// It cannot be made.
    fn file(&self) -> Result<File, Self::Error>;

    /// A file without a name, for one segment.
    ///
    /// # Errors
    /// It cannot be made.
    fn nameless(&self) -> Result<File, Self::Error>;

    /// Counts bytes that are about to be written to [`Spill::file`].
    ///
    /// # Errors
    /// They are more than allowed.
    fn allow(&self, bytes: u64) -> Result<(), Self::Error>;

    /// Names the place in an error of the system.
    fn error(&self, source: io::Error) -> Self::Error;
}

#[derive(Debug)]
pub(super) enum Destination<S> {
    /// The file, each segment at its offset.
    File {
        /// Before the output: its thread must let go of the file before a dropped writer lets go of
        /// the lock.
        write_back: Mutex<WriteBack>,
        output: OutputFile,
    },
    /// Aside, until [`OrderedFile::lay_out`](super::OrderedFile::lay_out) tells their offsets.
    Aside(Aside<S>),
}

impl<S: Spill> Destination<S> {
    pub(super) fn file(output: OutputFile) -> Result<Destination<S>, OutputError> {
        let file = output
            .file()
            .try_clone()
            .map_err(|source| output.error(source))?;
        Ok(Destination::File {
            write_back: Mutex::new(WriteBack::start(file)),
            output,
        })
    }

    /// The file that is to appear.
    pub(super) fn target(&self) -> &Path {
        match self {
            Destination::File { output, .. } => output.target(),
            Destination::Aside(aside) => &aside.target,
        }
    }

    /// Wraps an error of the system with the name of the target.
    pub(super) fn error(&self, source: io::Error) -> OrderedError<S::Error> {
        OrderedError::Write(OutputError {
            path: self.target().to_path_buf(),
            source,
        })
    }

    /// A file without a name for a segment that comes in parts.
    pub(super) fn nameless(&self) -> Result<File, OrderedError<S::Error>> {
        match self {
            Destination::File { output, .. } => Ok(output.scratch()?),
            Destination::Aside(aside) => aside.spill.nameless().map_err(OrderedError::Spill),
        }
    }

    /// Writes a segment at its offset; its buffer, if it is free again.
    pub(super) fn write(
        &self,
        segment: Segment,
        offset: u64,
    ) -> Result<Option<Vec<u8>>, OrderedError<S::Error>> {
        match self {
            Destination::File { output, .. } => segment
                .write_at(output.file(), offset)
                .map(Some)
                .map_err(|source| self.error(source)),
            Destination::Aside(aside) => aside.write(segment, offset).map_err(OrderedError::Spill),
        }
    }

    /// Opens the file that the first process began, where this is another and has not done so.
    pub(super) fn open(&self) -> Result<(), OrderedError<S::Error>> {
        match self {
            Destination::File { .. } => Ok(()),
            Destination::Aside(aside) => Ok(aside.open()?),
        }
    }

    /// Starts to write back what is in the file.
    pub(super) fn write_back(&self) {
        let write_back = match self {
            Destination::File { write_back, .. } => write_back,
            Destination::Aside(aside) => &aside.shared().write_back,
        };
        write_back
            .lock()
            .expect("no thread panics while it holds the write-back")
            .request();
    }

    pub(super) fn keep_partial(&mut self) {
        if let Destination::File { output, .. } = self {
            output.keep_partial();
        }
    }

    /// Waits until all that was written is on the disk, where several processes write.
    pub(super) fn sync(&self) -> Result<(), OrderedError<S::Error>> {
        match self {
            Destination::File { .. } => Ok(()),
            Destination::Aside(aside) => aside.sync().map_err(|source| self.error(source)),
        }
    }

    /// The file that is to appear and what writes it back, in the process that created it.
    pub(super) fn into_output(self) -> (OutputFile, WriteBack) {
        let (output, write_back) = match self {
            Destination::File { output, write_back } => (Some(output), Some(write_back)),
            Destination::Aside(Aside { output, shared, .. }) => {
                (output, shared.into_inner().map(|it| it.write_back))
            }
        };
        let (output, write_back) = output
            .zip(write_back)
            .expect("the first process created the file and ends it");
        let write_back = write_back
            .into_inner()
            .expect("no thread panics while it holds the write-back");
        (output, write_back)
    }
}

/// Segments of one process among several, which does not know yet where they stand in the file.
/// They wait in memory, and in a file when that is full.
#[derive(Debug)]
pub(super) struct Aside<S> {
    /// Once it is open. Before the output, as in [`Destination::File`].
    shared: OnceLock<Shared>,
    /// In the first process, which builds the file.
    output: Option<OutputFile>,
    target: PathBuf,
    /// What the file is known by ([`OutputFile::invite`]).
    token: u64,
    spill: S,
    /// Bytes that may wait in memory.
    memory: usize,
    held: Mutex<Held>,
}

/// The file that the first process builds.
#[derive(Debug)]
struct Shared {
    write_back: Mutex<WriteBack>,
    file: File,
}

#[derive(Debug, Default)]
struct Held {
    /// Segments in memory, by offset.
    segments: BTreeMap<u64, Vec<u8>>,
    bytes: usize,
    /// Holds the others, each at its offset.
    file: Option<File>,
}

impl<S: Spill> Aside<S> {
    /// For the process that created the file.
    pub(super) fn of_first(
        output: OutputFile,
        spill: S,
        memory: usize,
    ) -> Result<Aside<S>, OutputError> {
        let shared = output
            .file()
            .try_clone()
            .and_then(Shared::of)
            .map_err(|source| output.error(source))?;
        let aside = Aside::of_other(output.target(), 0, spill, memory);
        Ok(Aside {
            shared: OnceLock::from(shared),
            output: Some(output),
            ..aside
        })
    }

    /// For another, which is to open it.
    pub(super) fn of_other(target: &Path, token: u64, spill: S, memory: usize) -> Aside<S> {
        Aside {
            shared: OnceLock::new(),
            output: None,
            target: target.to_path_buf(),
            token,
            spill,
            memory,
            held: Mutex::default(),
        }
    }

    fn open(&self) -> Result<(), OutputError> {
        if self.shared.get().is_none() {
            let fail = |source| OutputError {
                path: self.target.clone(),
                source,
            };
            let shared = Shared::of(OutputFile::join(&self.target, self.token)?).map_err(fail)?;
            self.shared.get_or_init(|| shared);
        }
        Ok(())
    }

    fn shared(&self) -> &Shared {
        self.shared
            .get()
            .expect("the file is open where segments have their offsets")
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held
            .lock()
            .expect("no thread panics while it holds the segments")
    }

    fn write(&self, segment: Segment, offset: u64) -> Result<Option<Vec<u8>>, S::Error> {
        // An empty segment is where the one behind it is.
        if segment.length() == 0 {
            return Ok(segment.into_memory().ok());
        }
        let Some(segment) = self.hold(segment, offset) else {
            return Ok(None);
        };
        let file = self.file()?;
        self.spill.allow(segment.length())?;
        segment
            .write_at(&file, offset)
            .map(Some)
            .map_err(|source| self.spill.error(source))
    }

    /// Keeps a segment in memory; gives it back when there is no room.
    fn hold(&self, segment: Segment, offset: u64) -> Option<Segment> {
        let mut held = self.lock();
        if held.bytes + segment.memory() > self.memory {
            return Some(segment);
        }
        match segment.into_memory() {
            Ok(bytes) => {
                held.bytes += bytes.capacity();
                held.segments.insert(offset, bytes);
                None
            }
            Err(segment) => Some(segment),
        }
    }

    fn file(&self) -> Result<File, S::Error> {
        let mut held = self.lock();
        let file = match &mut held.file {
            Some(file) => file,
            none => none.insert(self.spill.file()?),
        };
        file.try_clone().map_err(|source| self.spill.error(source))
    }

    /// Writes the blocks that are whole within a run of segments: of the one that is aside at
    /// `range` and stands at `offset`. What is not in these `blocks` is added to `ends`. Its
    /// buffer, if it had one.
    pub(super) fn write_blocks(
        &self,
        range: Range<u64>,
        offset: u64,
        blocks: &Range<u64>,
        ends: &mut Ends,
    ) -> io::Result<Option<Vec<u8>>> {
        if range.is_empty() {
            return Ok(None);
        }
        let _write =
            info_span!(target: "gyrase::trace", "write", bytes = range.end - range.start).entered();
        let to = &self.shared().file;
        let mut held = self.lock();
        if let Some(bytes) = held.segments.remove(&range.start) {
            held.bytes -= bytes.capacity();
            drop(held);
            ends.write_blocks(to, &bytes, offset, blocks)?;
            return Ok(Some(bytes));
        }
        let file = held.file.as_ref().map(File::try_clone);
        drop(held);
        let mut at = offset;
        read_through(
            &file.expect("a segment is in memory or in the file")?,
            range,
            |bytes| {
                ends.write_blocks(to, bytes, at, blocks)?;
                at += bytes.len() as u64;
                Ok(())
            },
        )?;
        Ok(None)
    }

    /// Writes what processes sent to this one.
    pub(super) fn write_ends(&self, sent: &[Vec<u8>]) -> io::Result<()> {
        write_ends(&self.shared().file, sent)
    }

    fn sync(&self) -> io::Result<()> {
        let Shared { write_back, file } = self.shared();
        write_back
            .lock()
            .expect("no thread panics while it holds the write-back")
            .join()?;
        let _sync = info_span!(target: "gyrase::trace", "sync").entered();
        file.sync_all()
    }
}

impl Shared {
    fn of(file: File) -> io::Result<Shared> {
        let write_back = Mutex::new(WriteBack::start(file.try_clone()?));
        Ok(Shared { write_back, file })
    }
}
