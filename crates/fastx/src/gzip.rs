//! gzip files of any number of members, decompressed as one stream.

use std::io::{self, BufRead, Read};
use std::ops::Range;

use sirocco::Format;
use sirocco::inflate::{Decoder, Error};

/// The decompressor is fastest with this much room for its output.
const ROOM: usize = 256 << 10;

/// Reads the members of a gzip file one after the other. Zeros after the last member (padding of
/// tapes and blocks) are skipped; anything else there is an error.
pub(crate) struct Gzip<R> {
    input: R,
    decoder: Box<Decoder>,
    room: Vec<u8>,
    /// Bytes of the room that hold the member's last output.
    filled: usize,
    pending: Range<usize>,
    full: bool,
    in_member: bool,
    members: u64,
}

impl<R: BufRead> Gzip<R> {
    pub(crate) fn new(input: R) -> Gzip<R> {
        Gzip::after(0, input)
    }

    /// Goes on behind members that were read otherwise.
    pub(crate) fn after(members: u64, input: R) -> Gzip<R> {
        let decoder = Box::new(Decoder::new(Format::Gzip));
        let room = vec![0; ROOM];
        Gzip {
            input,
            decoder,
            room,
            filled: 0,
            pending: 0..0,
            full: false,
            in_member: false,
            members,
        }
    }

    /// Decompresses until there is output; false at the end of the file.
    fn fill(&mut self) -> io::Result<bool> {
        while self.pending.is_empty() {
            if !self.in_member && !self.begin_member()? {
                return Ok(false);
            }
            self.step()?;
        }
        Ok(true)
    }

    /// Looks for a further member.
    fn begin_member(&mut self) -> io::Result<bool> {
        loop {
            let bytes = self.input.fill_buf()?;
            let zeros = if self.members == 0 {
                0
            } else {
                bytes.iter().take_while(|&&byte| byte == 0).count()
            };
            match bytes.get(zeros) {
                Some(0x1f) => {
                    self.input.consume(zeros);
                    (self.in_member, self.full, self.filled) = (true, false, 0);
                    self.members += 1;
                    return Ok(true);
                }
                Some(_) => {
                    return Err(invalid(
                        "what follows the last gzip member is no gzip member",
                    ));
                }
                None if zeros == 0 => return Ok(false),
                None => self.input.consume(zeros),
            }
        }
    }

    fn step(&mut self) -> io::Result<()> {
        if self.full {
            self.filled -= self.decoder.make_room(&mut self.room);
        }
        let input = self.input.fill_buf()?;
        let last = input.is_empty();
        let progress = self
            .decoder
            .decompress(input, &mut self.room, last)
            .map_err(explain)?;
        self.pending = self.filled..self.filled + progress.output.len();
        (self.full, self.in_member) = (progress.full, !progress.done);
        let consumed = progress.consumed;
        self.input.consume(consumed);
        self.filled = self.pending.end;
        Ok(())
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() || !self.fill()? {
            return Ok(0);
        }
        let length = out.len().min(self.pending.len());
        let next = self.pending.start + length;
        out[..length].copy_from_slice(&self.room[self.pending.start..next]);
        self.pending.start = next;
        Ok(length)
    }
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// The decompressor's errors as the system's kinds: `UnexpectedEof` is truncation.
pub(crate) fn explain(error: Error) -> io::Error {
    match error {
        Error::Truncated => io::Error::new(io::ErrorKind::UnexpectedEof, error),
        Error::ChecksumMismatch => invalid("a gzip member's checksum does not fit"),
        _ => io::Error::new(io::ErrorKind::InvalidData, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sirocco::deflate::Level;

    fn member(text: &[u8]) -> Vec<u8> {
        sirocco::compress(Format::Gzip, Level::DEFAULT, text)
    }

    fn read(bytes: &[u8], capacity: usize) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        Gzip::new(io::BufReader::with_capacity(capacity, bytes)).read_to_end(&mut out)?;
        Ok(out)
    }

    fn long() -> Vec<u8> {
        let mut state = 1u64;
        let next = |_| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            b"ACGT"[(state >> 62) as usize]
        };
        (0..1_000_000).map(next).collect()
    }

    #[test]
    fn members_follow_each_other_and_padding_is_skipped() {
        let long = long();
        let mut file = [member(b"one"), member(b""), member(&long), member(b"last")].concat();
        let want = [b"one", &long[..], b"last"].concat();
        for capacity in [1, 7, 1 << 16] {
            assert!(read(&file, capacity).unwrap() == want);
        }
        file.extend([0; 700]);
        assert!(read(&file, 512).unwrap() == want);
        file.push(b'x');
        assert_eq!(
            read(&file, 512).unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
    }

    #[test]
    fn truncation_and_damage_are_told_apart() {
        let mut file = [member(b"one"), member(&long()[..500])].concat();
        let whole = member(b"one").len();
        for length in 1..file.len() {
            let result = read(&file[..length], 64);
            if length == whole {
                assert_eq!(result.unwrap(), b"one");
            } else {
                assert_eq!(
                    result.unwrap_err().kind(),
                    io::ErrorKind::UnexpectedEof,
                    "{length}"
                );
            }
        }
        let crc = file.len() - 6;
        file[crc] ^= 1;
        assert_eq!(
            read(&file, 64).unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
    }
}
