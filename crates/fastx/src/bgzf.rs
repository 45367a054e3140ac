//! BGZF: gzip in members ("blocks") of at most 64 KiB that say how long they are, so that they can
//! be found without decompressing, and decompressed in any order.

use std::io::{self, Read, Write};

use sirocco::Format;
use sirocco::deflate::Level;
use sirocco::inflate::Decoder;

use crate::gzip::explain;

/// Bytes of a block's header up to its extra fields.
const FIXED: usize = 12;

/// Whether a file that begins so is BGZF: the extra field `BC` in its first header.
pub(crate) fn is_bgzf(head: &[u8]) -> bool {
    head.len() >= FIXED && head.starts_with(&[0x1f, 0x8b, 8]) && head[3] & 4 != 0 && {
        let extra = usize::from(u16::from_le_bytes([head[10], head[11]]));
        head.get(FIXED..FIXED + extra)
            .and_then(block_length)
            .is_some()
    }
}

/// The length of a block, from the extra fields of its header.
fn block_length(mut extra: &[u8]) -> Option<usize> {
    while let [first, second, low, high, rest @ ..] = extra {
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        if (first, second, length) == (&b'B', &b'C', 2) {
            return Some(usize::from(u16::from_le_bytes([*rest.first()?, *rest.get(1)?])) + 1);
        }
        extra = rest.get(length..)?;
    }
    None
}

/// What comes after the blocks that were read.
#[derive(Debug)]
pub(crate) enum Fetched {
    /// More blocks, perhaps.
    More,
    /// Nothing.
    End,
    /// Something else than a block, which starts with these bytes: an ordinary gzip member, as
    /// `cat` leaves it.
    Foreign(Vec<u8>),
}

/// Some blocks as they are stored.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Bytes that they decompress to, as they say.
    pub length: usize,
    /// Bytes that the last one decompresses to.
    last: usize,
}

impl Blocks {
    /// Forgets the blocks and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.length = 0;
    }

    /// Whether the last block is empty, as the one is that ends a whole file; nothing without any
    /// block.
    pub(crate) fn end_with_marker(&self) -> Option<bool> {
        (!self.ends.is_empty()).then_some(self.last == 0)
    }

    /// Reads blocks of about `wanted` decompressed bytes, at least one.
    pub(crate) fn fetch(&mut self, input: &mut dyn Read, wanted: usize) -> io::Result<Fetched> {
        while self.length < wanted {
            let start = self.bytes.len();
            match self.fetch_one(input)? {
                Fetched::More => {}
                Fetched::End => return Ok(Fetched::End),
                Fetched::Foreign(_) => return Ok(Fetched::Foreign(self.bytes.split_off(start))),
            }
        }
        Ok(Fetched::More)
    }

    fn fetch_one(&mut self, input: &mut dyn Read) -> io::Result<Fetched> {
        let start = self.bytes.len();
        if self.read(input, FIXED)? == 0 {
            return Ok(Fetched::End);
        }
        let header = &self.bytes[start..];
        if header.len() < FIXED || !header.starts_with(&[0x1f, 0x8b, 8]) || header[3] & 4 == 0 {
            return Ok(Fetched::Foreign(Vec::new()));
        }
        let extra = usize::from(u16::from_le_bytes([header[10], header[11]]));
        self.read_all(input, extra)?;
        let Some(length) = block_length(&self.bytes[start + FIXED..]) else {
            return Ok(Fetched::Foreign(Vec::new()));
        };
        let rest = length.checked_sub(FIXED + extra).filter(|&rest| rest >= 8);
        self.read_all(
            input,
            rest.ok_or_else(|| invalid("a BGZF block is too short"))?,
        )?;
        let size = self
            .bytes
            .last_chunk::<4>()
            .expect("a block ends with its size");
        let size = u32::from_le_bytes(*size) as usize;
        if size > 1 << 16 {
            return Err(invalid("a BGZF block is too long"));
        }
        self.length += size;
        self.last = size;
        self.ends.push(self.bytes.len());
        Ok(Fetched::More)
    }

    fn read(&mut self, input: &mut dyn Read, length: usize) -> io::Result<usize> {
        input.take(length as u64).read_to_end(&mut self.bytes)
    }

    fn read_all(&mut self, input: &mut dyn Read, length: usize) -> io::Result<()> {
        if self.read(input, length)? < length {
            Err(truncated())
        } else {
            Ok(())
        }
    }

    /// Decompresses the blocks into `out`, which has their length.
    pub(crate) fn expand(&self, mut out: &mut [u8]) -> io::Result<()> {
        let mut decoder = Decoder::new(Format::Gzip);
        let mut start = 0;
        for &end in &self.ends {
            let size = self.bytes[..end]
                .last_chunk::<4>()
                .expect("a block ends with its size");
            let (block, rest) = out.split_at_mut(u32::from_le_bytes(*size) as usize);
            let length = block.len();
            let progress = decoder
                .decompress(&self.bytes[start..end], block, true)
                .map_err(explain)?;
            if !progress.done || progress.output.len() != length || progress.consumed != end - start
            {
                return Err(invalid("a BGZF block is not as long as it says"));
            }
            (out, start) = (rest, end);
        }
        Ok(())
    }
}

fn truncated() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "a BGZF block is cut off")
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Bytes of text per block that is written, as of `bgzip`: a block that cannot be compressed still
/// fits.
const BLOCK: usize = 0xff00;

/// The header of a block, but for the length of the block less one.
const HEADER: [u8; 16] = [
    0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, b'B', b'C', 2, 0,
];

/// Compresses what is written to it; [`Bgzf::finish`] ends the file with the empty block that tells
/// it is whole.
pub(crate) struct Bgzf<W> {
    output: W,
    text: Vec<u8>,
}

impl<W: Write> Bgzf<W> {
    pub(crate) fn new(output: W) -> Bgzf<W> {
        Bgzf {
            output,
            text: Vec::with_capacity(BLOCK),
        }
    }

    fn write_block(&mut self) -> io::Result<()> {
        let body = sirocco::compress(Format::Deflate, Level::DEFAULT, &self.text);
        let length = HEADER.len() + 2 + body.len() + 8;
        let length =
            u16::try_from(length - 1).map_err(|_| invalid("a BGZF block came out too long"))?;
        self.output.write_all(&HEADER)?;
        self.output.write_all(&length.to_le_bytes())?;
        self.output.write_all(&body)?;
        self.output
            .write_all(&crc32fast::hash(&self.text).to_le_bytes())?;
        self.output
            .write_all(&(self.text.len() as u32).to_le_bytes())?;
        self.text.clear();
        Ok(())
    }

    pub(crate) fn finish(mut self) -> io::Result<W> {
        if !self.text.is_empty() {
            self.write_block()?;
        }
        self.write_block()?;
        Ok(self.output)
    }
}

impl<W: Write> Write for Bgzf<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.text.len() == BLOCK {
            self.write_block()?;
        }
        let length = bytes.len().min(BLOCK - self.text.len());
        self.text.extend_from_slice(&bytes[..length]);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut writer = Bgzf::new(Vec::new());
        writer.write_all(text).unwrap();
        writer.finish().unwrap()
    }

    fn expand(file: &[u8], wanted: usize) -> io::Result<Vec<u8>> {
        let (mut file, mut out) = (file, Vec::new());
        loop {
            let mut blocks = Blocks::default();
            let fetched = blocks.fetch(&mut file, wanted)?;
            let mut text = vec![0; blocks.length];
            blocks.expand(&mut text)?;
            out.extend(text);
            match fetched {
                Fetched::More => {}
                Fetched::End => return Ok(out),
                Fetched::Foreign(_) => return Err(invalid("foreign")),
            }
        }
    }

    #[test]
    fn what_is_written_is_read_whatever_its_length() {
        for length in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 300_000] {
            let text: Vec<u8> = (0..length as u32)
                .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
                .collect();
            let file = compressed(&text);
            assert!(is_bgzf(&file));
            assert!(expand(&file, 1).unwrap() == text && expand(&file, 1 << 20).unwrap() == text);
        }
    }

    #[test]
    fn every_cut_and_every_flipped_size_is_found() {
        let file = compressed(b"ACGTACGTTTT");
        let whole = file.len() - compressed(b"").len();
        for length in 1..file.len() {
            let result = expand(&file[..length], 1 << 16);
            assert_eq!(result.is_ok(), length == whole, "{length}");
        }
        for place in whole - 8..whole {
            let mut file = file.clone();
            file[place] ^= 1;
            assert!(expand(&file, 1 << 16).is_err());
        }
    }

    #[test]
    fn the_last_block_is_the_one_that_samtools_looks_for() {
        let marker = [
            0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, 0x42, 0x43, 2, 0, 0x1b, 0, 3, 0, 0, 0, 0,
            0, 0, 0, 0, 0,
        ];
        assert_eq!(compressed(b""), marker);
    }
}
