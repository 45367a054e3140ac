//! Where finished bins go: into the file, or aside until it is known how much of other processes
//! stands before them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use gyrase_fabric::SpillFolder;
use gyrase_files::{OutputError, OutputFile};
use tracing::info_span;

use super::error::GykError;
use super::layout::{BinEntry, HEADER_BYTES};
use super::pieces::read_through;
use super::writer::Body;
use crate::write_back::WriteBack;

/// The file in the folder of spills.
const NAME: &str = "finished";

#[derive(Debug)]
pub(super) enum Destination {
    /// The file, each bin at its place in it.
    File {
        /// Before the output: its thread must let go of the file before a dropped writer lets go of
        /// the lock.
        write_back: Mutex<WriteBack>,
        output: OutputFile,
    },
    /// Aside, until [`Writer::lay_out`](super::Writer::lay_out) gives them their places.
    Aside(Aside),
}

impl Destination {
    pub(super) fn file(output: OutputFile) -> Result<Destination, GykError> {
        let file = output
            .file()
            .try_clone()
            .map_err(|source| output.error(source))?;
        Ok(Destination::File {
            write_back: Mutex::new(WriteBack::start(file)),
            output,
        })
    }

    /// The offset of the first bin.
    pub(super) fn start(&self) -> u64 {
        match self {
            Destination::File { .. } => HEADER_BYTES as u64,
            Destination::Aside(_) => 0,
        }
    }

    /// The file that is to appear.
    pub(super) fn target(&self) -> &Path {
        match self {
            Destination::File { output, .. } => output.target(),
            Destination::Aside(aside) => &aside.target,
        }
    }

    /// Wraps an error of the system with the name of the target.
    pub(super) fn error(&self, source: io::Error) -> GykError {
        GykError::Write(OutputError {
            path: self.target().to_path_buf(),
            source,
        })
    }

    /// What an earlier run finished of the bins, if it finished any.
    pub(super) fn earlier(&self, finished: &[BinEntry]) -> Result<Option<File>, GykError> {
        match self {
            _ if finished.is_empty() => Ok(None),
            Destination::File { output, .. } => output
                .file()
                .try_clone()
                .map(Some)
                .map_err(|source| self.error(source)),
            Destination::Aside(_) => Ok(None),
        }
    }

    /// A file without a name for a bin that comes in pieces.
    pub(super) fn scratch(&self) -> Result<File, GykError> {
        match self {
            Destination::File { output, .. } => Ok(output.scratch()?),
            Destination::Aside(aside) => Ok(aside.folder.nameless()?),
        }
    }

    /// Writes a bin at its offset; its buffer, if it is free again.
    pub(super) fn write(&self, body: Body, offset: u64) -> Result<Option<Vec<u8>>, GykError> {
        match self {
            Destination::File { output, .. } => {
                body.write_at(output.file(), offset)
                    .map_err(|source| self.error(source))?;
                Ok(Some(body.bytes))
            }
            Destination::Aside(aside) => aside.write(body, offset),
        }
    }

    /// Opens the file that rank 0 began, where this is another process and has not done so.
    pub(super) fn open(&self) -> Result<(), GykError> {
        match self {
            Destination::File { .. } => Ok(()),
            Destination::Aside(aside) => aside.open(),
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

    /// Waits until all that was written is on the disk, where the file is another process's.
    pub(super) fn sync(&self) -> Result<(), GykError> {
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
            .expect("rank 0 created the file and ends it");
        (
            output,
            write_back
                .into_inner()
                .expect("no thread panics while it holds the write-back"),
        )
    }
}

/// Bins of one process among several, which does not know yet where they stand in the file. They
/// wait in memory, and in a file when that is full.
#[derive(Debug)]
pub(super) struct Aside {
    /// Once it is open. Before the output, as in [`Destination::File`].
    shared: OnceLock<Shared>,
    /// In rank 0, which builds the file.
    output: Option<OutputFile>,
    target: PathBuf,
    /// What the file is known by ([`OutputFile::invite`]).
    token: u64,
    folder: Arc<SpillFolder>,
    /// Bytes that may wait in memory.
    memory: usize,
    held: Mutex<Held>,
}

/// The file that rank 0 builds.
#[derive(Debug)]
struct Shared {
    write_back: Mutex<WriteBack>,
    file: File,
}

#[derive(Debug, Default)]
struct Held {
    /// Bins in memory, by offset.
    bins: BTreeMap<u64, Vec<u8>>,
    bytes: usize,
    /// Holds the others, each at its offset.
    file: Option<Arc<File>>,
}

impl Aside {
    /// For the process that created the file.
    pub(super) fn of_first(
        output: OutputFile,
        folder: Arc<SpillFolder>,
        memory: usize,
    ) -> Result<Aside, GykError> {
        let shared = output
            .file()
            .try_clone()
            .and_then(Shared::of)
            .map_err(|source| output.error(source))?;
        let aside = Aside::of_other(output.target(), 0, folder, memory);
        Ok(Aside {
            shared: OnceLock::from(shared),
            output: Some(output),
            ..aside
        })
    }

    /// For another, which is to open it.
    pub(super) fn of_other(
        target: &Path,
        token: u64,
        folder: Arc<SpillFolder>,
        memory: usize,
    ) -> Aside {
        let target = target.to_path_buf();
        Aside {
            shared: OnceLock::new(),
            output: None,
            target,
            token,
            folder,
            memory,
            held: Mutex::default(),
        }
    }

    fn open(&self) -> Result<(), GykError> {
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
            .expect("the file is open where bins have their places")
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held
            .lock()
            .expect("no thread panics while it holds the bins")
    }

    fn write(&self, body: Body, offset: u64) -> Result<Option<Vec<u8>>, GykError> {
        // An empty bin is where the one behind it is.
        if body.length() == 0 {
            return Ok(Some(body.bytes));
        }
        let Some(body) = self.hold(body, offset) else {
            return Ok(None);
        };
        let file = self.spill_file()?;
        self.folder.allow(body.length())?;
        body.write_at(&file, offset)
            .map_err(|source| self.folder.error(source))?;
        Ok(Some(body.bytes))
    }

    /// Keeps a bin in memory; gives it back when there is no room.
    fn hold(&self, body: Body, offset: u64) -> Option<Body> {
        let mut held = self.lock();
        if body.scratch.is_some() || held.bytes + body.bytes.capacity() > self.memory {
            return Some(body);
        }
        held.bytes += body.bytes.capacity();
        held.bins.insert(offset, body.bytes);
        None
    }

    fn spill_file(&self) -> Result<Arc<File>, GykError> {
        let mut held = self.lock();
        if let Some(file) = &held.file {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(self.folder.open(NAME)?);
        file.set_len(0)
            .map_err(|source| self.folder.error(source))?;
        Ok(Arc::clone(held.file.insert(file)))
    }

    /// Moves the bin that is aside at `range` to its place in the file; its buffer, if it had one.
    pub(super) fn put(&self, range: Range<u64>, place: u64) -> io::Result<Option<Vec<u8>>> {
        if range.is_empty() {
            return Ok(None);
        }
        let _write =
            info_span!(target: "gyrase::trace", "write", bytes = range.end - range.start).entered();
        let mut held = self.lock();
        if let Some(bytes) = held.bins.remove(&range.start) {
            held.bytes -= bytes.capacity();
            drop(held);
            self.shared().file.write_all_at(&bytes, place)?;
            return Ok(Some(bytes));
        }
        let file = held
            .file
            .clone()
            .expect("a bin is in memory or in the file");
        drop(held);
        let mut at = place;
        read_through(&file, range, |bytes| {
            self.shared().file.write_all_at(bytes, at)?;
            at += bytes.len() as u64;
            Ok(())
        })?;
        Ok(None)
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
