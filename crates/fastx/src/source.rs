//! Opening inputs and reading the text of each.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tracing::field::Empty;
use tracing::info_span;

use crate::bgzf::{Blocks, Fetched};
use crate::decoder::{ANY_WINDOW, BUFFER, Bytes, decompressed};
use crate::error::Error;
use crate::gzip::Gzip;
use crate::options::{Compression, Input};
use crate::sniff;

/// Bytes that tell a compression.
const HEAD: u64 = 64;

/// What zstd says of a frame whose window is above the limit.
const TOO_MUCH: &str = "too much memory";

/// The text behind any stream of bytes, compressed (which shows in its first bytes) or not: for
/// texts that hold no reads.
///
/// # Errors
/// The stream fails. Reading the text fails with [`io::ErrorKind::UnexpectedEof`] where compressed
/// data stop too early, and with an error that is not the system's where they are damaged.
pub fn decompress(mut bytes: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut head = Vec::new();
    bytes.by_ref().take(HEAD).read_to_end(&mut head)?;
    let compression = sniff::compression(&head);
    decompressed(
        Box::new(Cursor::new(head).chain(bytes)),
        compression,
        ANY_WINDOW,
    )
}

/// Opens a file and says which of the ways to fail it was.
pub(crate) fn open(path: &Path) -> Result<File, Error> {
    let _open = info_span!(target: "gyrase::trace", "open").entered();
    let file = File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::NotFound {
            path: path.to_path_buf(),
        },
        _ => Error::Open {
            path: path.to_path_buf(),
            source,
        },
    })?;
    let metadata = file.metadata().map_err(|source| Error::Open {
        path: path.to_path_buf(),
        source,
    })?;
    if metadata.is_dir() {
        return Err(Error::IsDirectory {
            path: path.to_path_buf(),
        });
    }
    Ok(file)
}

/// Counts the bytes that pass.
pub(crate) struct Counted {
    input: Bytes,
    /// Bytes of this input.
    count: Arc<AtomicU64>,
    /// Bytes of all inputs.
    total: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(out)?;
        self.count.fetch_add(length as u64, Relaxed);
        self.total.fetch_add(length as u64, Relaxed);
        Ok(length)
    }
}

/// A stream before it is read: a file that is opened when its turn comes (there may be more files
/// than a process may have open), a pipe that is open and whose first bytes were looked at, or one
/// that is left for whoever reads it.
pub(crate) enum Origin {
    File,
    Pipe { head: Vec<u8>, rest: Bytes },
    Unseen,
}

/// A stream while it is read.
pub(crate) struct Source {
    kind: Kind,
    name: String,
    /// The last BGZF block was the empty one that ends a whole file.
    marked: bool,
    count: Arc<AtomicU64>,
}

enum Kind {
    /// Chunks of a plain file, which many threads read at once; and where the next begins.
    Plain {
        file: Arc<File>,
        next: u64,
        total: Arc<AtomicU64>,
    },
    Text(Bytes),
    Blocks(Bytes),
    /// What was BGZF goes on as ordinary gzip; only while it changes is there nothing.
    Changing,
}

/// Bytes of a plain file that are still to be read.
pub(crate) struct Stretch {
    file: Arc<File>,
    at: u64,
}

impl Stretch {
    /// The next of a file, which ends where the file now does.
    fn next(file: &Arc<File>, next: &mut u64, most: usize) -> Filled {
        let at = *next;
        let size = match file.metadata() {
            Ok(metadata) => metadata.len(),
            Err(error) => return Filled::ended(0, Some(error)),
        };
        let Some(left) = size.checked_sub(at) else {
            let shorter = shrunk(io::ErrorKind::UnexpectedEof.into());
            return Filled::ended(0, Some(shorter));
        };
        let length = left.min(most as u64);
        *next += length;
        let file = Arc::clone(file);
        Filled {
            length: length as usize,
            stretch: Some(Stretch { file, at }),
            last: *next >= size,
            error: None,
        }
    }

    /// Reads as many bytes as there is room for.
    pub(crate) fn read(&self, out: &mut [u8]) -> io::Result<()> {
        let _read = info_span!(target: "gyrase::trace", "read", bytes = out.len()).entered();
        self.file.read_exact_at(out, self.at).map_err(shrunk)
    }
}

/// A file that is shorter than it was.
pub(crate) fn shrunk(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            io::Error::other("the file became shorter while it was read")
        }
        _ => error,
    }
}

/// What one reading brought.
pub(crate) struct Filled {
    /// Bytes of text that are there.
    pub length: usize,
    /// Where they are to be read, if they are not there yet.
    pub stretch: Option<Stretch>,
    /// Nothing comes after.
    pub last: bool,
    /// What stopped the reading after these bytes.
    pub error: Option<io::Error>,
}

impl Source {
    pub(crate) fn open(
        input: &Input,
        origin: Origin,
        most_window: u64,
        total: &Arc<AtomicU64>,
    ) -> Result<Source, Error> {
        let failed = |source| Error::Read {
            input: input.name.clone(),
            at: 0,
            source,
        };
        let mut compression = input.compression;
        let bytes: Bytes = match origin {
            Origin::File if input.is_plain_fastq() => {
                return Ok(Source::plain(input, open(&input.path)?, total));
            }
            Origin::File => Box::new(open(&input.path)?),
            Origin::Pipe { head, rest } => Box::new(Cursor::new(head).chain(rest)),
            Origin::Unseen => {
                let mut rest: Bytes = Box::new(open(&input.path)?);
                let head = sniff::head(&mut rest).map_err(failed)?;
                compression = sniff::compression(&head);
                Box::new(Cursor::new(head).chain(rest))
            }
        };
        let count = Arc::new(AtomicU64::new(0));
        let bytes = Box::new(Counted {
            input: bytes,
            count: count.clone(),
            total: total.clone(),
        });
        let kind = match compression {
            Compression::Bgzf => Kind::Blocks(Box::new(BufReader::with_capacity(BUFFER, bytes))),
            _ => Kind::Text(
                decompressed(bytes, compression, most_window.max(input.window)).map_err(failed)?,
            ),
        };
        Ok(Source {
            kind,
            name: input.name.clone(),
            marked: false,
            count,
        })
    }

    fn plain(input: &Input, file: File, total: &Arc<AtomicU64>) -> Source {
        let kind = Kind::Plain {
            file: Arc::new(file),
            next: 0,
            total: Arc::clone(total),
        };
        Source {
            kind,
            name: input.name.clone(),
            marked: false,
            count: Arc::default(),
        }
    }

    /// Fills `out` with text, or says where as many bytes of it are, or fills `blocks` with blocks
    /// of about as many.
    pub(crate) fn fill(&mut self, out: &mut [u8], blocks: &mut Blocks) -> Filled {
        blocks.clear();
        if let Kind::Plain { file, next, total } = &mut self.kind {
            let filled = Stretch::next(file, next, out.len());
            self.count.store(*next, Relaxed);
            total.fetch_add(filled.length as u64, Relaxed);
            return filled;
        }
        let (read, before) = (
            info_span!(target: "gyrase::trace", "read", bytes = Empty).entered(),
            self.count(),
        );
        let filled = match &mut self.kind {
            Kind::Text(bytes) => fill(bytes.as_mut(), out),
            Kind::Blocks(bytes) => {
                let fetched = blocks.fetch(bytes.as_mut(), out.len());
                self.marked = blocks.end_with_marker().unwrap_or(self.marked);
                self.fetched(fetched)
            }
            Kind::Plain { .. } => unreachable!("it was asked for its next stretch"),
            Kind::Changing => unreachable!("a change is made in one step"),
        };
        read.record("bytes", self.count() - before);
        filled
    }

    fn fetched(&mut self, fetched: io::Result<Fetched>) -> Filled {
        let (last, error) = match fetched {
            Ok(Fetched::More) => (false, None),
            Ok(Fetched::End) => {
                if !self.marked {
                    let name = &self.name;
                    tracing::warn!(
                        "{name} lacks the empty block that ends a BGZF file: it may be cut off; \
                         compare its size or its checksum with those of the original"
                    );
                }
                (true, None)
            }
            Ok(Fetched::Foreign(head)) if head[0] == 0 && !self.marked => {
                let what = "zeros stand where the next BGZF block should be";
                let error = io::Error::new(io::ErrorKind::InvalidData, what);
                (true, Some(error))
            }
            Ok(Fetched::Foreign(head)) => {
                if let Kind::Blocks(bytes) = std::mem::replace(&mut self.kind, Kind::Changing) {
                    let rest = BufReader::with_capacity(BUFFER, Cursor::new(head).chain(bytes));
                    self.kind = Kind::Text(Box::new(Gzip::after(1, rest)));
                }
                (false, None)
            }
            Err(error) => (true, Some(error)),
        };
        Filled {
            length: 0,
            stretch: None,
            last,
            error,
        }
    }

    /// Compressed bytes that were read.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }

    /// The error of a reading as one of the input.
    pub(crate) fn explain(
        compression: Compression,
        input: &str,
        at: u64,
        source: io::Error,
    ) -> Error {
        let input = input.to_owned();
        match source.kind() {
            _ if source.raw_os_error().is_some() => Error::Read { input, at, source },
            _ if source.to_string().contains(TOO_MUCH) => Error::Window { input, at },
            io::ErrorKind::UnexpectedEof if compression != Compression::Plain => Error::Truncated {
                input,
                compression,
                at,
            },
            _ if compression != Compression::Plain => Error::Damaged {
                input,
                compression,
                at,
                source,
            },
            _ => Error::Read { input, at, source },
        }
    }
}

impl Filled {
    /// The last that is brought.
    fn ended(length: usize, error: Option<io::Error>) -> Filled {
        Filled {
            length,
            stretch: None,
            last: true,
            error,
        }
    }
}

fn fill(input: &mut dyn Read, out: &mut [u8]) -> Filled {
    let mut length = 0;
    while length < out.len() {
        match input.read(&mut out[length..]) {
            Ok(0) => return Filled::ended(length, None),
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Filled::ended(length, Some(error)),
        }
    }
    Filled {
        length,
        stretch: None,
        last: false,
        error: None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_plain_file_that_becomes_shorter_is_an_error() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let (file, mut next) = (Arc::new(file), 0);
        let brings = |filled: &Filled, length| {
            let mut out = vec![0; filled.length];
            assert_eq!((filled.length, filled.error.is_none()), (length, true));
            let read = filled.stretch.as_ref().unwrap().read(&mut out);
            read.map(|()| out).map_err(|error| error.to_string())
        };
        let first = Stretch::next(&file, &mut next, 4);
        assert_eq!(
            (brings(&first, 4), first.last),
            (Ok(b"0123".to_vec()), false)
        );
        let second = Stretch::next(&file, &mut next, 9);
        assert_eq!(
            (brings(&second, 6), second.last),
            (Ok(b"456789".to_vec()), true)
        );
        file.set_len(5).unwrap();
        assert!(brings(&second, 6).unwrap_err().contains("became shorter"));
        let third = Stretch::next(&file, &mut next, 4);
        assert!(third.error.unwrap().to_string().contains("became shorter"));
        // One that grew goes on.
        file.set_len(12).unwrap();
        let last = Stretch::next(&file, &mut next, 4);
        assert_eq!((brings(&last, 2), last.last), (Ok(vec![0; 2]), true));
    }
}
