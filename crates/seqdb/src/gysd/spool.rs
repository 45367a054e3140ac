//! Bytes of a section that wait for their place in the file, and their checksums.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use super::layout::BLOCK_BYTES;

/// Bytes that a spool holds in memory.
const BUFFER: usize = 1 << 18;

/// The checksums of the blocks of bytes that come one after the other.
#[derive(Default)]
pub(super) struct Checksums {
    block: crc32fast::Hasher,
    /// Bytes so far.
    bytes: u64,
    done: Vec<u8>,
}

impl Checksums {
    pub fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = BLOCK_BYTES - (self.bytes % BLOCK_BYTES as u64) as usize;
            let (now, rest) = bytes.split_at(bytes.len().min(room));
            self.block.update(now);
            self.bytes += now.len() as u64;
            if now.len() == room {
                self.end_block();
            }
            bytes = rest;
        }
    }

    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        self.done.extend(block.finalize().to_le_bytes());
    }

    /// How many bytes there were, and the list of checksums as the file has it.
    pub fn finish(mut self) -> (u64, Vec<u8>) {
        if !self.bytes.is_multiple_of(BLOCK_BYTES as u64) {
            self.end_block();
        }
        (self.bytes, self.done)
    }
}

/// Bytes in a file without a name.
pub(super) struct Spool(BufWriter<File>);

impl Spool {
    pub fn new(file: File) -> Spool {
        Spool(BufWriter::with_capacity(BUFFER, file))
    }

    pub fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// Hands all bytes to `each`, piece by piece.
    pub fn replay(&mut self, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.0.flush()?;
        let file = self.0.get_mut();
        file.seek(SeekFrom::Start(0))?;
        let mut reader = BufReader::with_capacity(BUFFER, file);
        let mut piece = vec![0; BUFFER];
        loop {
            let mut filled = 0;
            while filled < BUFFER {
                match reader.read(&mut piece[filled..])? {
                    0 => break,
                    some => filled += some,
                }
            }
            if filled == 0 {
                return Ok(());
            }
            each(&piece[..filled])?;
        }
    }
}
