//! Looking backwards in a FASTA file: what a range continues.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use memchr::memrchr;

use crate::letters::is_space;

/// Bytes that are read backwards at first, and at most.
const BLOCKS: [u64; 2] = [4 << 10, 256 << 10];

/// Reads a file backwards, down to its first record.
pub(crate) struct Back<'a> {
    file: &'a File,
    first: u64,
    block: Vec<u8>,
    at: u64,
}

impl<'a> Back<'a> {
    pub(crate) fn new(file: &'a File, first: u64) -> Back<'a> {
        Back {
            file,
            first,
            block: Vec::new(),
            at: 0,
        }
    }

    fn load(&mut self, from: u64, to: u64) -> io::Result<()> {
        self.block.resize((to - from) as usize, 0);
        self.at = from;
        self.file.read_exact_at(&mut self.block, from)
    }

    /// The byte at a place.
    pub(crate) fn byte(&mut self, place: u64) -> io::Result<u8> {
        if place < self.at || place - self.at >= self.block.len() as u64 {
            self.load(
                self.first.max((place + 1).saturating_sub(BLOCKS[0])),
                place + 1,
            )?;
        }
        Ok(self.block[(place - self.at) as usize])
    }

    /// The place after the last line end in `from..to`.
    pub(crate) fn after_line_end(&mut self, from: u64, to: u64) -> io::Result<Option<u64>> {
        let (mut end, mut length) = (to, BLOCKS[0]);
        while end > from {
            let start = from.max(end.saturating_sub(length));
            self.load(start, end)?;
            if let Some(place) = memrchr(b'\n', &self.block) {
                return Ok(Some(start + place as u64 + 1));
            }
            (end, length) = (start, BLOCKS[1].min(4 * length));
        }
        Ok(None)
    }

    /// The last `wanted` letters of the record before `end`, or as many as there are. `line` is the
    /// start of the sequence line that holds them; none when `end` itself starts a line.
    pub(crate) fn letters(
        &mut self,
        mut end: u64,
        mut line: Option<u64>,
        wanted: usize,
    ) -> io::Result<Vec<u8>> {
        let mut letters = Vec::with_capacity(wanted);
        while letters.len() < wanted {
            match line {
                Some(start) if end > start => {
                    end -= 1;
                    let byte = self.byte(end)?;
                    if !is_space(byte) {
                        letters.push(byte);
                    }
                }
                Some(_) => line = None,
                None if end <= self.first => break,
                None => {
                    let start = self
                        .after_line_end(self.first, end - 1)?
                        .unwrap_or(self.first);
                    match self.byte(start)? {
                        b'>' => break,
                        b';' => end = start,
                        _ => (line, end) = (Some(start), end - 1),
                    }
                }
            }
        }
        letters.reverse();
        Ok(letters)
    }
}
