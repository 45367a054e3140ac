//! Where finished bins go: into the file, or aside until it is known how much stands before them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use gyrase_fabric::{OutputError, OutputFile, SpillFolder};
use tracing::info_span;

use super::error::GykError;
use super::layout::{BinEntry, HEADER_BYTES};
use super::pieces::read_through;
use super::writer::Body;
use crate::write_back::WriteBack;

/// The file in the folder of spills.
const NAME: &str = "finished";
/// Bytes that are written to the shared file at a time.
const WRITE: usize = 8 << 20;

#[derive(Debug)]
pub(super) enum Destination {
    /// The file, each bin at its place in it.
    File {
        /// Before the output: its thread must let go of the file before a dropped writer lets go of the lock.
        write_back: Mutex<WriteBack>,
        output: OutputFile,
    },
    /// Aside.
    Aside(Aside),
}

impl Destination {
    pub(super) fn file(output: OutputFile) -> Result<Destination, GykError> {
        let file = output.file().try_clone().map_err(|source| output.error(source))?;
        Ok(Destination::File { write_back: Mutex::new(WriteBack::start(file)), output })
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
        GykError::Write(OutputError { path: self.target().to_path_buf(), source })
    }

    /// What an earlier run finished of the bins, if it finished any.
    pub(super) fn earlier(&self, finished: &[BinEntry]) -> Result<Option<File>, GykError> {
        match self {
            _ if finished.is_empty() => Ok(None),
            Destination::File { output, .. } => {
                output.file().try_clone().map(Some).map_err(|source| self.error(source))
            }
            Destination::Aside(aside) => {
                let file = aside.folder.open(NAME)?;
                let kept = file.try_clone().map_err(|source| self.error(source))?;
                aside.lock().file = Some(Arc::new(kept));
                Ok(Some(file))
            }
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
                body.write_at(output.file(), offset).map_err(|source| self.error(source))?;
                Ok(Some(body.bytes))
            }
            Destination::Aside(aside) => aside.write(body, offset),
        }
    }

    /// Starts to write back what is in the file.
    pub(super) fn write_back(&self) {
        if let Destination::File { write_back, .. } = self {
            write_back.lock().expect("no thread panics while it holds the write-back").request();
        }
    }

    /// Lets other processes join, who know the file by the number that is returned; see [`OutputFile::invite`].
    pub(super) fn invite(&self, than: u64) -> Result<u64, GykError> {
        match self {
            Destination::File { output, .. } => Ok(output.invite(than)?),
            Destination::Aside(_) => panic!("who has joined invites nobody"),
        }
    }

    pub(super) fn keep_partial(&mut self) {
        if let Destination::File { output, .. } = self {
            output.keep_partial();
        }
    }

    /// Puts the bins that are aside where they belong, the first of them at `start`, and waits until they are on the disk.
    pub(super) fn settle(&self, entries: &[BinEntry], words: usize, start: u64) -> Result<(), GykError> {
        match self {
            Destination::File { .. } => Ok(()),
            Destination::Aside(aside) => aside.settle(entries, words, start).map_err(|source| self.error(source)),
        }
    }
}

/// Bins of a process that does not know yet where they begin in the file. They wait in memory, and in a file when that is full.
#[derive(Debug)]
pub(super) struct Aside {
    /// What rank 0 builds.
    shared: File,
    target: PathBuf,
    folder: Arc<SpillFolder>,
    /// Bytes that may wait in memory.
    memory: usize,
    held: Mutex<Held>,
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
    pub(super) fn new(target: &Path, shared: File, folder: Arc<SpillFolder>, memory: usize) -> Aside {
        Aside { shared, target: target.to_path_buf(), folder, memory, held: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().expect("no thread panics while it holds the bins")
    }

    fn write(&self, body: Body, offset: u64) -> Result<Option<Vec<u8>>, GykError> {
        // An empty bin is where the one behind it is.
        if body.length() == 0 {
            return Ok(Some(body.bytes));
        }
        let Some(body) = self.hold(body, offset) else { return Ok(None) };
        let file = self.spill_file()?;
        self.folder.allow(body.length())?;
        body.write_at(&file, offset).map_err(|source| self.folder.error(source))?;
        Ok(Some(body.bytes))
    }

    /// Keeps a bin in memory; gives it back when there is no room.
    fn hold(&self, mut body: Body, offset: u64) -> Option<Body> {
        let mut held = self.lock();
        if body.scratch.is_some() || held.bytes + body.bytes.len() > self.memory {
            return Some(body);
        }
        body.bytes.shrink_to_fit();
        held.bytes += body.bytes.len();
        held.bins.insert(offset, body.bytes);
        None
    }

    fn spill_file(&self) -> Result<Arc<File>, GykError> {
        let mut held = self.lock();
        if let Some(file) = &held.file {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(self.folder.open(NAME)?);
        file.set_len(0).map_err(|source| self.folder.error(source))?;
        Ok(Arc::clone(held.file.insert(file)))
    }

    fn settle(&self, entries: &[BinEntry], words: usize, start: u64) -> io::Result<()> {
        let held = self.lock();
        let mut row = Row { file: &self.shared, at: start, bytes: Vec::with_capacity(WRITE) };
        for entry in entries {
            let range = entry.offset..entry.end(words).expect("a file is shorter than 2^64 bytes");
            match (held.bins.get(&entry.offset), &held.file) {
                _ if range.is_empty() => {}
                (Some(bytes), _) => row.add(bytes)?,
                (None, file) => {
                    read_through(file.as_ref().expect("a bin is in memory or in the file"), range, |bytes| {
                        row.add(bytes)
                    })?;
                }
            }
        }
        row.write()?;
        let _sync = info_span!(target: "gyrase::trace", "sync").entered();
        self.shared.sync_all()
    }
}

/// Bytes that follow each other in a file, written many at a time.
struct Row<'f> {
    file: &'f File,
    at: u64,
    bytes: Vec<u8>,
}

impl Row<'_> {
    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.bytes.len() + bytes.len() > WRITE {
            self.write()?;
        }
        if bytes.len() < WRITE {
            self.bytes.extend_from_slice(bytes);
            return Ok(());
        }
        self.put(bytes)
    }

    fn write(&mut self) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.bytes);
        self.put(&bytes)?;
        bytes.clear();
        self.bytes = bytes;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let _write = info_span!(target: "gyrase::trace", "write", bytes = bytes.len()).entered();
        self.file.write_all_at(bytes, self.at)?;
        self.at += bytes.len() as u64;
        Ok(())
    }
}
