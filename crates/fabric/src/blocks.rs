//! The blocks that a sender fills with records, a chain of them for each partition.

use memmap2::MmapMut;

use crate::SLACK;
use crate::arch::prefetch;
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

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;
/// Lines of a block that are fetched while the one before it is drained; the processor sees to
/// those behind them.
pub(crate) const FETCHED: usize = 4;

/// The blocks of one sender. Blocks of a partition are chained from the last to the first.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub slabs: Vec<MmapMut>,
    used: Vec<u16>,
    before: Vec<u32>,
    pub free: Vec<u32>,
}

impl Blocks {
    /// Takes one more slab of the common memory, if there is one.
    pub(crate) fn grow(&mut self, pool: &Pool) -> bool {
        pool.take().map(|slab| self.add(slab)).is_some()
    }

    /// Takes slabs until there are `least` free blocks, or no more memory.
    pub(crate) fn grow_to(&mut self, pool: &Pool, least: usize) {
        while self.free.len() < least
            && let Some(slab) = pool.take_least()
        {
            self.add(slab);
        }
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
        u64::from(block) * BLOCK as u64 + FIRST
    }

    /// Makes `block` the first of its chain.
    pub(crate) fn cut_before(&mut self, block: u32) {
        self.before[block as usize] = NO_BLOCK;
    }

    /// Bytes of records in a block that was closed.
    pub(crate) fn used(&self, block: u32) -> usize {
        usize::from(self.used[block as usize])
    }

    /// Notes how far the block that ends at `end` is used; the block, or none.
    pub(crate) fn close(&mut self, end: u64) -> u32 {
        if end.is_multiple_of(BLOCK as u64) {
            return NO_BLOCK;
        }
        let block = (end / BLOCK as u64) as usize;
        self.used[block] = (end % BLOCK as u64 - FIRST) as u16;
        block as u32
    }

    /// Bytes of records in the blocks chained to `last`.
    pub(crate) fn bytes(&self, last: u32) -> u64 {
        self.chain(last)
            .into_iter()
            .map(|block| self.used(block) as u64)
            .sum()
    }

    /// The blocks chained to `last`, first to last; each with what follows it in the slab, at least
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

    /// Some blocks, one after the other; each with what follows it in the slab, at least [`SLACK`]
    /// bytes.
    pub(crate) fn read(&self, blocks: &[u32], mut each: impl FnMut(&[u8], usize)) {
        let ok = self.try_read(blocks, &mut |bytes, used| {
            each(bytes, used);
            Ok::<(), std::convert::Infallible>(())
        });
        ok.unwrap_or_else(|never| match never {});
    }

    fn try_read<E>(&self, blocks: &[u32], each: &mut Each<E>) -> Result<(), E> {
        let start_of = |block: u32| block as usize % BLOCKS_PER_SLAB * BLOCK + FIRST as usize;
        let slab_of = |block: u32| &self.slabs[block as usize / BLOCKS_PER_SLAB];
        for (i, &block) in blocks.iter().enumerate() {
            if let Some(&next) = blocks.get(i + 1) {
                (0..FETCHED)
                    .for_each(|line| prefetch(&slab_of(next)[start_of(next) + LINE * line]));
            }
            let from = &slab_of(block)[start_of(block)..];
            each(
                &from[..BLOCK + SLACK],
                usize::from(self.used[block as usize]),
            )?;
        }
        Ok(())
    }
}
