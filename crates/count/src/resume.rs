//! The log of finished bins, for a run that may be cut short.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use gyrase_fabric::FabricError;
use gyrase_table::gyk::{BinEntry, Writer};
use gyrase_tabulate::Scattered;

use crate::Error;

/// A text file in the spill folder: the job, what was read, then a line per finished bin.
pub(crate) struct Log {
    folder: PathBuf,
    open: Mutex<Option<(File, usize)>>,
}

/// What an earlier run left.
pub(crate) struct Earlier {
    pub(crate) read: Scattered,
    pub(crate) bins: Vec<BinEntry>,
}

impl Log {
    pub(crate) fn new(folder: PathBuf) -> Log {
        Log { folder, open: Mutex::new(None) }
    }

    fn path(&self) -> PathBuf {
        self.folder.join("bins")
    }

    fn error(&self, source: io::Error) -> Error {
        FabricError::Spill { path: self.path(), source }.into()
    }

    /// Begins a log after all was read; it goes before the manifest of the spill files, which makes it count.
    pub(crate) fn start(&self, job: &str, read: Scattered) -> Result<(), Error> {
        let Scattered { reads, bases, kmers, super_kmers } = read;
        let head = format!("{job}\n{reads} {bases} {kmers} {super_kmers}\n");
        std::fs::write(self.path(), head).map_err(|source| self.error(source))
    }

    /// Logs the bins that are in the file since the last call.
    pub(crate) fn append(&self, writer: &Writer) -> Result<(), Error> {
        let mut open = self.open.lock().expect("no thread panics while it holds the log");
        if open.is_none() {
            let file = OpenOptions::new().append(true).open(self.path()).map_err(|source| self.error(source))?;
            *open = Some((file, self.logged()));
        }
        let (file, logged) = open.as_mut().expect("just opened");
        let bins = writer.finished(*logged);
        let lines: String = bins
            .iter()
            .map(|BinEntry { offset, kmers, overflows, crc }| format!("{offset} {kmers} {overflows} {crc}\n"))
            .collect();
        *logged += bins.len();
        file.write_all(lines.as_bytes()).map_err(|source| self.error(source))
    }

    fn logged(&self) -> usize {
        std::fs::read_to_string(self.path()).map_or(0, |text| text.lines().count().saturating_sub(2))
    }

    /// Leaves the first `bins` in the log: those that proved whole.
    pub(crate) fn keep(&self, bins: usize) -> Result<(), Error> {
        let shorten = || {
            let text = std::fs::read_to_string(self.path())?;
            let kept: usize = text.split_inclusive('\n').take(2 + bins).map(str::len).sum();
            OpenOptions::new().write(true).open(self.path())?.set_len(kept as u64)
        };
        shorten().map_err(|source| self.error(source))
    }

    /// The log of the same job; a last line that was cut short is left out.
    pub(crate) fn read(&self, job: &str) -> Option<Earlier> {
        let text = std::fs::read_to_string(self.path()).ok()?;
        let whole = &text[..text.rfind('\n')? + 1];
        let mut lines = whole.strip_prefix(job)?.strip_prefix('\n')?.lines();
        let &[reads, bases, kmers, super_kmers] = &numbers(lines.next()?)?[..] else { return None };
        let bins = lines.map_while(|line| {
            let &[offset, kmers, overflows, crc] = &numbers(line)?[..] else { return None };
            Some(BinEntry { offset, kmers, overflows, crc: crc as u32 })
        });
        Some(Earlier { read: Scattered { reads, bases, kmers, super_kmers }, bins: bins.collect() })
    }
}

fn numbers(line: &str) -> Option<Vec<u64>> {
    line.split(' ').map(|field| field.parse().ok()).collect()
}
