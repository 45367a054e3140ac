//! A finished segment, on its way to the file.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use tracing::info_span;

/// Bytes read at a time.
const READ: usize = 1 << 20;

/// The part of the room for segments that wait that one in a file takes: as many files stay open.
const WAITING_FILES: usize = 4;

/// The bytes of a finished segment of an [`OrderedFile`](super::OrderedFile).
#[derive(Debug)]
pub struct Segment {
    bytes: Vec<u8>,
    /// Where the bytes are when they are not there.
    scratch: Option<Scratch>,
    length: u64,
    crc: u32,
}

/// Ranges of a file without a name, in the order in which they make a segment.
#[derive(Debug)]
struct Scratch {
    file: File,
    ranges: Vec<Range<u64>>,
}

impl Segment {
    /// A segment of these bytes.
    pub fn new(bytes: Vec<u8>) -> Segment {
        let crc = crc32fast::hash(&bytes);
        Segment::with_crc(bytes, crc)
    }

    /// The same where the CRC-32 of the bytes is known already.
    pub fn with_crc(bytes: Vec<u8>, crc: u32) -> Segment {
        Segment {
            length: bytes.len() as u64,
            bytes,
            scratch: None,
            crc,
        }
    }

    /// A segment that was too large for memory: ranges of a file, one behind the other, and the
    /// CRC-32 of their bytes.
    pub fn in_file(file: File, ranges: Vec<Range<u64>>, crc: u32) -> Segment {
        Segment {
            length: ranges.iter().map(|range| range.end - range.start).sum(),
            bytes: Vec::new(),
            scratch: Some(Scratch { file, ranges }),
            crc,
        }
    }

    /// One of which only is known that it is in its file.
    pub(super) fn written(length: u64, crc: u32) -> Segment {
        Segment {
            length,
            bytes: Vec::new(),
            scratch: None,
            crc,
        }
    }

    /// Bytes that it takes in the file.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn crc(&self) -> u32 {
        self.crc
    }

    /// Bytes of memory that it takes.
    pub(super) fn memory(&self) -> usize {
        self.bytes.capacity()
    }

    /// What it takes of the room for segments that wait.
    pub(super) fn cost(&self, room: usize) -> usize {
        match self.scratch {
            None => self.memory(),
            Some(_) => (room / WAITING_FILES).max(1),
        }
    }

    /// Its bytes, or itself where they are in a file.
    pub(super) fn into_memory(self) -> Result<Vec<u8>, Segment> {
        match self.scratch {
            None => Ok(self.bytes),
            Some(_) => Err(self),
        }
    }

    /// Writes it at `offset`; its buffer, which is free again.
    pub(super) fn write_at(self, target: &File, offset: u64) -> io::Result<Vec<u8>> {
        let _write = info_span!(target: "gyrase::trace", "write", bytes = self.length).entered();
        match &self.scratch {
            None => target.write_all_at(&self.bytes, offset)?,
            Some(scratch) => scratch.copy_to(target, offset)?,
        }
        Ok(self.bytes)
    }
}

impl Scratch {
    fn copy_to(&self, target: &File, offset: u64) -> io::Result<()> {
        let mut at = offset;
        self.ranges.iter().try_for_each(|range| {
            read_through(&self.file, range.clone(), |bytes| {
                target.write_all_at(bytes, at)?;
                at += bytes.len() as u64;
                Ok(())
            })
        })
    }
}

/// Reads a range of a file, a MiB at a time: each but the last part is as long.
///
/// # Errors
/// The file cannot be read, or ends before the range does, or the first error of `each`.
pub fn read_through(
    file: &File,
    range: Range<u64>,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = vec![0; READ.min((range.end - range.start) as usize)];
    let mut at = range.start;
    while at < range.end {
        let bytes = buffer.len().min((range.end - at) as usize);
        file.read_exact_at(&mut buffer[..bytes], at)?;
        each(&buffer[..bytes])?;
        at += bytes as u64;
    }
    Ok(())
}
