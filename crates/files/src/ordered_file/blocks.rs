//! Who writes which blocks of a file that several processes write.
//!
//! A machine that mounts a network file system keeps pages of it and sends them back whole. Where
//! two machines write into one page, the one that sends last puts back what was there before the
//! other wrote, and nobody is told. Parallel file systems lock stripes instead, and two writers of
//! one stripe take turns. So a file is divided into blocks, and each is written by one process. The
//! one that has all bytes of a block writes it. The others are dealt by their numbers, a stripe at
//! a time, and who has bytes of one sends them to its process. A block that has bytes before or
//! behind those that are laid out now, as of the head and the tail, is the first process's. With
//! three processes and stripes of a block:
//!
//! ```text
//! block       |     0     |     1     |     2     |     3     |     4     |     5     |
//! segments    head|  0, of process 1      |1, of 2      | 2, of process 1     |3, of 2|tail
//! written by  | process 0 | process 1 | process 2 | process 0 | process 1 | process 0 |
//! ```

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Bytes of a block: a multiple of the pages of all machines, and the least stripe of Lustre.
pub(super) const BLOCK: u64 = 64 << 10;

/// Blocks of a stripe: a MiB, as Lustre has it where nobody says more.
const STRIPE: u64 = if cfg!(test) { 1 } else { 16 };

/// Bytes before those of an end: its offset and how many it has.
const HEAD: usize = 16;

/// The blocks that are whole within a range of the file; where there are none, an empty range at
/// the end.
pub(super) fn whole_blocks(range: &Range<u64>) -> Range<u64> {
    let (start, end) = (
        range.start.next_multiple_of(BLOCK),
        range.end / BLOCK * BLOCK,
    );
    if start < end {
        start..end
    } else {
        range.end..range.end
    }
}

/// Bytes of blocks that no process has all bytes of, each with its offset in the file.
#[derive(Debug)]
pub(super) struct Ends {
    /// What is laid out now.
    laid_out: Range<u64>,
    /// What each process is to write.
    encoded: Vec<Vec<u8>>,
}

impl Ends {
    /// Without any yet, of a part of the file that so many processes lay out.
    pub(super) fn of(laid_out: Range<u64>, ranks: usize) -> Ends {
        Ends {
            laid_out,
            encoded: vec![Vec::new(); ranks],
        }
    }

    fn add(&mut self, mut offset: u64, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let left = (BLOCK - offset % BLOCK) as usize;
            let (piece, rest) = bytes.split_at(left.min(bytes.len()));
            let rank = self.writer(offset / BLOCK);
            let encoded = &mut self.encoded[rank];
            encoded.extend(offset.to_le_bytes());
            encoded.extend((piece.len() as u64).to_le_bytes());
            encoded.extend(piece);
            offset += piece.len() as u64;
            bytes = rest;
        }
    }

    /// The process that writes a block.
    fn writer(&self, block: u64) -> usize {
        let (start, end) = (block * BLOCK, (block + 1) * BLOCK);
        match self.laid_out.start <= start && end <= self.laid_out.end {
            true => (block / STRIPE % self.encoded.len() as u64) as usize,
            false => 0,
        }
    }

    /// Writes those of `bytes`, which stand at `offset`, that are in `blocks`, and keeps the
    /// others.
    pub(super) fn write_blocks(
        &mut self,
        file: &File,
        bytes: &[u8],
        offset: u64,
        blocks: &Range<u64>,
    ) -> io::Result<()> {
        let within = |at: u64| bytes.len().min(at.saturating_sub(offset) as usize);
        let (start, end) = (within(blocks.start), within(blocks.end));
        self.add(offset, &bytes[..start]);
        self.add(offset + end as u64, &bytes[end..]);
        file.write_all_at(&bytes[start..end], offset + start as u64)
    }

    /// What is sent to each process.
    pub(super) fn into_messages(self) -> Vec<Vec<u8>> {
        self.encoded
    }
}

/// Writes what all processes sent to this one, in the order of the file.
pub(super) fn write_ends(file: &File, sent: &[Vec<u8>]) -> io::Result<()> {
    let mut ends: Vec<(u64, &[u8])> = sent.iter().flat_map(|sent| decoded(sent)).collect();
    ends.sort_unstable_by_key(|end| end.0);
    let (mut start, mut bytes) = (0, Vec::new());
    for (offset, end) in ends {
        if offset != start + bytes.len() as u64 {
            file.write_all_at(&bytes, start)?;
            bytes.clear();
            start = offset;
        }
        bytes.extend_from_slice(end);
    }
    file.write_all_at(&bytes, start)
}

/// What one process sent, piece by piece.
fn decoded(mut sent: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    std::iter::from_fn(move || {
        let (head, rest) = sent.split_at_checked(HEAD)?;
        let number =
            |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
        let (end, rest) = rest.split_at(number(8) as usize);
        sent = rest;
        Some((number(0), end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_blocks_are_within_the_range() {
        let b = BLOCK;
        for (range, expected) in [
            (0..0, 0..0),
            (0..b, 0..b),
            (1..b, b..b),
            (b - 1..b + 1, b + 1..b + 1),
            (b - 1..2 * b, b..2 * b),
            (b - 1..3 * b + 5, b..3 * b),
            (7..2 * b - 1, 2 * b - 1..2 * b - 1),
        ] {
            assert_eq!(whole_blocks(&range), expected, "{range:?}");
        }
    }

    #[test]
    fn blocks_and_ends_make_the_file() {
        let bytes: Vec<u8> = (0..9 * BLOCK).map(|at| ((at * at) >> 7) as u8).collect();
        let borders = [100, 5000, 70_000, 70_001, 70_001, 3 * BLOCK, 5 * BLOCK - 9];
        let end = 8 * BLOCK + 300;
        let waves = [&borders[..], &[5 * BLOCK - 9, 5 * BLOCK + 7, end]];
        for ranks in [1, 2, 3, 5] {
            // What each process wrote, as a file of its own.
            let file = || tempfile::tempfile().expect("there is room");
            let files: Vec<File> = (0..ranks).map(|_| file()).collect();
            for wave in waves {
                let mut messages = vec![Vec::new(); ranks];
                for (number, range) in wave.windows(2).map(|pair| pair[0]..pair[1]).enumerate() {
                    let mut ends = Ends::of(wave[0]..wave[wave.len() - 1], ranks);
                    let blocks = whole_blocks(&range);
                    // As it comes from a file: in parts.
                    for start in range.clone().step_by(40_000) {
                        let part = &bytes[start as usize..range.end.min(start + 40_000) as usize];
                        let own = &files[number % ranks];
                        let written = ends.write_blocks(own, part, start, &blocks);
                        written.expect("there is room");
                    }
                    for (sent, message) in ends.into_messages().into_iter().zip(&mut messages) {
                        message.insert(0, sent);
                    }
                }
                for (own, sent) in files.iter().zip(&messages) {
                    write_ends(own, sent).expect("there is room");
                }
            }
            let read = |file: &File| {
                let (mut read, length) =
                    (vec![0; end as usize], file.metadata().expect("it is open"));
                let own = &mut read[..length.len() as usize];
                file.read_exact_at(own, 0).expect("it is as long");
                read
            };
            let written: Vec<Vec<u8>> = files.iter().map(read).collect();
            for block in 0..=8 {
                let here = (block * BLOCK).max(100)..end.min((block + 1) * BLOCK);
                let here = here.start as usize..here.end as usize;
                let has_some = |one: &&Vec<u8>| one[here.clone()].iter().any(|&byte| byte != 0);
                let writers: Vec<&Vec<u8>> = written.iter().filter(has_some).collect();
                let [writer] = writers[..] else {
                    panic!("{} of {ranks} wrote to block {block}", writers.len());
                };
                assert!(writer[here.clone()] == bytes[here]);
            }
            // The first has what is before and behind all, and what two waves have.
            let writers = [0, 1, 4, 5, 0, 5, 1, 1, 0];
            for (block, writer) in writers.into_iter().enumerate() {
                let at = block * BLOCK as usize + 200;
                assert_eq!(written[writer % ranks][at], bytes[at], "block {block}");
            }
        }
    }
}
