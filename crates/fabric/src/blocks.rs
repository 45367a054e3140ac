//! The blocks that a sender fills with records, a chain of them for each partition.

use gyrase_work::prefetch;
use memmap2::MmapMut;

use crate::SLACK;
use crate::contract::Each;
use crate::memory::{Pool, SLAB};

/// Bytes of a block: what a partition takes at a time from its sender's slabs.
pub(crate) const BLOCK: usize = 4096;
pub(crate) const BLOCKS_PER_SLAB: usize = SLAB / BLOCK;
/// The last block of a slab is left empty: it is the slack behind the one before.
pub(crate) const USED_PER_SLAB: usize = BLOCKS_PER_SLAB - 1;
const NO_BLOCK: u32 = u32::MAX;
/// The first two bytes of a block stay empty, so that no position in use is a multiple of `BLOCK`.
pub(crate) const FIRST: u64 = 2;
/// Bytes of records that a block takes: it is never full to its end, for the same reason.
pub(crate) const ROOM: usize = BLOCK - FIRST as usize - 1;

/// With the bytes used of a block: its last record goes on in the next block of the chain.
const GOES_ON: u16 = 1 << 15;
/// With the bytes used of a block: it begins within a record of the block before.
const CONTINUES: u16 = 1 << 14;

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;
/// Lines of a block that are fetched while the one before it is drained; the processor sees to
/// those behind them.
pub(crate) const FETCHED: usize = 4;

/// The blocks of one sender. Blocks of a partition are chained from the last to the first.
///
/// A record that is longer than a block takes is in a *run* of blocks: it begins a block of its
/// own, and records may follow it in its last one.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub slabs: Vec<MmapMut>,
    /// Slabs that are this sender's and not used yet.
    promised: usize,
    /// Bytes of records, with [`GOES_ON`] and [`CONTINUES`].
    used: Vec<u16>,
    before: Vec<u32>,
    pub free: Vec<u32>,
}

impl Blocks {
    /// Takes one more slab of the common memory, if there is one.
    pub(crate) fn grow(&mut self, pool: &Pool) -> bool {
        pool.take().map(|slab| self.add(slab)).is_some()
    }

    /// Has slabs for `least` blocks promised, or what is left of the memory.
    pub(crate) fn promise(&mut self, pool: &Pool, least: usize) {
        while self.promised * USED_PER_SLAB < least && pool.promise() {
            self.promised += 1;
        }
    }

    /// Takes a slab that was promised, if one is left and the system gives it.
    pub(crate) fn grow_as_promised(&mut self, pool: &Pool) -> bool {
        if self.promised == 0 {
            return false;
        }
        self.promised -= 1;
        pool.take_promised().map(|slab| self.add(slab)).is_some()
    }

    fn add(&mut self, slab: MmapMut) {
        let first = self.used.len();
        self.slabs.push(slab);
        self.used.resize(first + BLOCKS_PER_SLAB, 0);
        self.before.resize(first + BLOCKS_PER_SLAB, NO_BLOCK);
        self.free
            .extend((first as u32..(first + USED_PER_SLAB) as u32).rev());
    }

    /// How many blocks were filled, at any time.
    pub(crate) fn len(&self) -> usize {
        self.used.len()
    }

    pub(crate) fn in_use_at_most(&self) -> usize {
        self.slabs.len() * USED_PER_SLAB
    }

    /// Frees every block but those chained to one of `kept`.
    pub(crate) fn release_all_but(&mut self, kept: impl Iterator<Item = u32>) {
        let mut keep = vec![false; self.used.len()];
        for block in kept.flat_map(|last| self.chain(last)) {
            keep[block as usize] = true;
        }
        let blocks = (0..self.used.len() as u32).rev();
        let usable = |block: &u32| {
            *block as usize % BLOCKS_PER_SLAB != USED_PER_SLAB && !keep[*block as usize]
        };
        self.free = blocks.filter(usable).collect();
    }

    /// Makes `block`, fresh from the free ones, the one behind the block that ends at `end`; where
    /// its first record goes.
    pub(crate) fn begin(&mut self, block: u32, end: u64) -> u64 {
        self.before[block as usize] = self.close(end);
        self.used[block as usize] = 0;
        u64::from(block) * BLOCK as u64 + FIRST
    }

    /// Puts a record that is longer than [`ROOM`] behind the block that ends at `end`, in a run of
    /// free blocks; where the next record goes.
    pub(crate) fn put_long(&mut self, record: &[u8], mut end: u64) -> u64 {
        let parts = record.chunks(ROOM);
        let last = parts.len() - 1;
        for (number, part) in parts.enumerate() {
            let block = self.free.pop().expect("room was made");
            let start = self.begin(block, end);
            let flags = &mut self.used[block as usize];
            *flags |= if number < last { GOES_ON } else { 0 };
            *flags |= if number > 0 { CONTINUES } else { 0 };
            let slab = &mut self.slabs[start as usize / SLAB];
            slab[start as usize % SLAB..][..part.len()].copy_from_slice(part);
            end = start + part.len() as u64;
        }
        end
    }

    /// True when a block begins within a record of the block before.
    pub(crate) fn continues(&self, block: u32) -> bool {
        self.used[block as usize] & CONTINUES != 0
    }

    /// How many of the first blocks are one run: 1, or as many as a long record takes.
    pub(crate) fn run(&self, blocks: &[u32]) -> usize {
        let goes_on = |&&block: &&u32| self.used[block as usize] & GOES_ON != 0;
        let others = blocks.iter().take_while(goes_on).count();
        (others + 1).min(blocks.len())
    }

    /// How many of the first blocks are `least`, and as many more as end their last run.
    pub(crate) fn whole_runs(&self, blocks: &[u32], least: usize) -> usize {
        let least = least.clamp(1, blocks.len());
        least - 1 + self.run(&blocks[least - 1..])
    }

    /// Makes `block` the first of its chain.
    pub(crate) fn cut_before(&mut self, block: u32) {
        self.before[block as usize] = NO_BLOCK;
    }

    /// Bytes of records in a block that was closed.
    pub(crate) fn used(&self, block: u32) -> usize {
        usize::from(self.used[block as usize] & !(GOES_ON | CONTINUES))
    }

    /// Bytes of records in blocks that were closed.
    pub(crate) fn used_of(&self, blocks: &[u32]) -> usize {
        blocks.iter().map(|&block| self.used(block)).sum()
    }

    /// Notes how far the block that ends at `end` is used; the block, or none.
    pub(crate) fn close(&mut self, end: u64) -> u32 {
        if end.is_multiple_of(BLOCK as u64) {
            return NO_BLOCK;
        }
        let block = (end / BLOCK as u64) as usize;
        let flags = self.used[block] & (GOES_ON | CONTINUES);
        self.used[block] = flags | (end % BLOCK as u64 - FIRST) as u16;
        block as u32
    }

    /// Bytes of records in the blocks chained to `last`.
    pub(crate) fn bytes(&self, last: u32) -> u64 {
        self.chain(last)
            .into_iter()
            .map(|block| self.used(block) as u64)
            .sum()
    }

    /// The runs of blocks chained to `last`, first to last; each with what follows it, at least
    /// [`SLACK`] bytes.
    pub(crate) fn try_for_each<E>(&self, last: u32, each: &mut Each<E>) -> Result<(), E> {
        self.try_read(&self.chain(last), each)
    }

    /// The blocks chained to `last`, first to last.
    pub(crate) fn chain(&self, last: u32) -> Vec<u32> {
        let some = |block: u32| (block != NO_BLOCK).then_some(block);
        let mut chain: Vec<u32> =
            std::iter::successors(some(last), |&block| some(self.before[block as usize])).collect();
        chain.reverse();
        chain
    }

    /// Some runs of blocks, one after the other; each with what follows it, at least [`SLACK`]
    /// bytes.
    pub(crate) fn read(&self, blocks: &[u32], mut each: impl FnMut(&[u8], usize)) {
        let ok = self.try_read(blocks, &mut |bytes, used| {
            each(bytes, used);
            Ok::<(), std::convert::Infallible>(())
        });
        ok.unwrap_or_else(|never| match never {});
    }

    /// The bytes of some blocks, whether they cut a record in two or not.
    pub(crate) fn pieces<'a>(&'a self, blocks: &'a [u32]) -> impl Iterator<Item = &'a [u8]> {
        blocks
            .iter()
            .map(|&block| &self.from(block)[..self.used(block)])
    }

    fn try_read<E>(&self, blocks: &[u32], each: &mut Each<E>) -> Result<(), E> {
        let mut rest = blocks;
        while !rest.is_empty() {
            let (run, after) = rest.split_at(self.run(rest));
            if let Some(&next) = after.first() {
                (0..FETCHED).for_each(|line| prefetch(self.from(next), LINE * line));
            }
            match run {
                &[block] => each(&self.from(block)[..BLOCK + SLACK], self.used(block))?,
                _ => self.try_read_long(run, each)?,
            }
            rest = after;
        }
        Ok(())
    }

    #[cold]
    fn try_read_long<E>(&self, run: &[u32], each: &mut Each<E>) -> Result<(), E> {
        each(&whole(self.pieces(run)), self.used_of(run))
    }

    /// The records of a block and all behind them in its slab.
    fn from(&self, block: u32) -> &[u8] {
        let start = block as usize % BLOCKS_PER_SLAB * BLOCK + FIRST as usize;
        &self.slabs[block as usize / BLOCKS_PER_SLAB][start..]
    }
}

/// The parts of a record one behind the other, with [`SLACK`] bytes behind them.
pub(crate) fn whole<'a>(parts: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut whole = Vec::new();
    parts.for_each(|part| whole.extend_from_slice(part));
    whole.resize(whole.len() + SLACK, 0);
    whole
}
