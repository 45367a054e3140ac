//! The log of finished bins, for a run that may be cut short.

use std::fs::File;
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

    /// Begins a log after all was read, with the bins that are in the file already; it goes before the manifest of the
    /// spill files, which makes it count.
    pub(crate) fn start(&self, job: &str, read: Scattered, writer: &Writer) -> Result<(), Error> {
        let Scattered { reads, bases, kmers, super_kmers, bytes } = read;
        let head = format!("{job}\n{reads} {bases} {kmers} {super_kmers} {bytes}\n");
        let begun = File::create(self.path()).and_then(|mut file| file.write_all(head.as_bytes()).map(|()| file));
        let file = begun.map_err(|source| self.error(source))?;
        *self.open.lock().expect("no thread panics while it holds the log") = Some((file, 0));
        self.append(writer)
    }

    /// Logs the bins that are in the file since the last call.
    pub(crate) fn append(&self, writer: &Writer) -> Result<(), Error> {
        let mut open = self.open.lock().expect("no thread panics while it holds the log");
        let (file, logged) = open.as_mut().expect("a log is started before bins are counted");
        let bins = writer.finished(*logged);
        let lines: String = bins
            .iter()
            .map(|BinEntry { offset, kmers, overflows, crc }| format!("{offset} {kmers} {overflows} {crc}\n"))
            .collect();
        *logged += bins.len();
        file.write_all(lines.as_bytes()).map_err(|source| self.error(source))
    }

    /// The log of the same job; a last line that was cut short is left out.
    pub(crate) fn read(&self, job: &str) -> Option<Earlier> {
        let text = std::fs::read_to_string(self.path()).ok()?;
        let whole = &text[..text.rfind('\n')? + 1];
        let mut lines = whole.strip_prefix(job)?.strip_prefix('\n')?.lines();
        let &[reads, bases, kmers, super_kmers, bytes] = &numbers(lines.next()?)?[..] else { return None };
        let bins = lines.map_while(|line| {
            let &[offset, kmers, overflows, crc] = &numbers(line)?[..] else { return None };
            Some(BinEntry { offset, kmers, overflows, crc: crc as u32 })
        });
        Some(Earlier { read: Scattered { reads, bases, kmers, super_kmers, bytes }, bins: bins.collect() })
    }
}

fn numbers(line: &str) -> Option<Vec<u64>> {
    line.split(' ').map(|field| field.parse().ok()).collect()
}
