//! Batches of blocks of reads that are asked about at a time.

use crate::reads::ReadBlocks;

/// Reads that a thread asks about at a time, about.
pub const READS: usize = 1 << 14;

/// Blocks of this process, some at a time: as many as make about so many reads open.
pub struct Batches {
    blocks: Vec<usize>,
    next: usize,
    /// Reads of the blocks before the next.
    reads: usize,
    most: usize,
}

impl Batches {
    /// Of all blocks, for so many threads.
    pub fn of(sequences: &dyn ReadBlocks, threads: usize) -> Batches {
        Batches {
            blocks: (0..sequences.count()).collect(),
            next: 0,
            reads: 0,
            most: READS * threads,
        }
    }

    /// The next blocks, where so many reads are open.
    pub fn take(&mut self, open: usize) -> &[usize] {
        // The first one may have as many as are wanted.
        let of_block = self.reads.checked_div(self.next).unwrap_or(self.most);
        let count = self.most.saturating_sub(open).div_ceil(of_block.max(1));
        let from = self.next;
        self.next = self.blocks.len().min(from + count);
        &self.blocks[from..self.next]
    }

    /// Notes how many reads were in the blocks that were taken last.
    pub fn note(&mut self, reads: usize) {
        self.reads += reads;
    }

    /// How many blocks are left.
    pub fn left(&self) -> usize {
        self.blocks.len() - self.next
    }
}
