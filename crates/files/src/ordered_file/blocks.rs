//! Who writes which blocks of a file that several processes write.
//!
//! A machine that mounts a network file system keeps pages of it and sends them back whole. Where
//! two machines write into one page, the one that sends last puts back what was there before the
//! other wrote, and nobody is told. Parallel file systems lock stripes instead, and two writers of
//! one stripe take turns. So a file is divided into blocks, and each is written by one process: by
//! the one that has all its bytes, or else by the first process, to which the others send theirs.
//!
//! ```text
//! block       |     0     |     1     |     2     |     3     |     4     |
//! segments    head|  0, of process 1      |1, of 2      | 2, of process 1 |
//! written by  | process 0 | process 1 | process 0 | process 0 | process 1 |
//! ```

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Bytes of a block: a multiple of the pages of all machines, and the least stripe of Lustre.
pub(super) const BLOCK: u64 = 64 << 10;

/// Bytes written at a time of what others sent.
const WRITE: usize = 1 << 20;

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

/// Bytes that the first process is to write, each with its offset in the file.
#[derive(Debug, Default)]
pub(super) struct Ends {
    encoded: Vec<u8>,
}

impl Ends {
    fn add(&mut self, offset: u64, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.encoded.extend(offset.to_le_bytes());
            self.encoded.extend((bytes.len() as u64).to_le_bytes());
            self.encoded.extend(bytes);
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

    /// What is sent to the first process.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.encoded
    }
}

/// Writes what all processes sent, in the order of the file.
pub(super) fn write_ends(file: &File, sent: &[Vec<u8>]) -> io::Result<()> {
    let mut ends: Vec<(u64, &[u8])> = sent.iter().flat_map(|sent| decoded(sent)).collect();
    ends.sort_unstable_by_key(|end| end.0);
    let (mut start, mut bytes) = (0, Vec::new());
    for (offset, end) in ends {
        if offset != start + bytes.len() as u64 || bytes.len() >= WRITE {
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
        let bytes: Vec<u8> = (0..5 * BLOCK).map(|at| ((at * at) >> 7) as u8).collect();
        let borders = [100, 5000, 70_000, 70_001, 70_001, 3 * BLOCK, 5 * BLOCK - 9];
        let (own, file) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let mut sent = Vec::new();
        for range in borders.windows(2).map(|pair| pair[0]..pair[1]) {
            let mut ends = Ends::default();
            let blocks = whole_blocks(&range);
            // As it comes from a file: in parts.
            for start in range.clone().step_by(40_000) {
                let part = &bytes[start as usize..range.end.min(start + 40_000) as usize];
                ends.write_blocks(&own, part, start, &blocks).unwrap();
                ends.write_blocks(&file, part, start, &blocks).unwrap();
            }
            sent.push(ends.into_bytes());
        }
        sent.reverse();
        write_ends(&file, &sent).unwrap();
        let read = |file: &File| {
            let mut read = vec![0; file.metadata().unwrap().len() as usize];
            file.read_exact_at(&mut read, 0).unwrap();
            read
        };
        let last = borders[borders.len() - 1] as usize;
        assert!(read(&file)[100..] == bytes[100..last]);
        let own = read(&own);
        assert_eq!(own.len() as u64, 4 * BLOCK, "nobody writes a block in part");
        assert!(own[..2 * BLOCK as usize].iter().all(|&byte| byte == 0));
        // The sums of both copies were sent.
        assert!(own[2 * BLOCK as usize..] == bytes[2 * BLOCK as usize..4 * BLOCK as usize]);
    }
}
