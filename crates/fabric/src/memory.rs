//! Memory that is handed out in slabs, up to a limit.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memmap2::{MmapMut, MmapOptions};

use crate::FabricError;

/// Bytes of a slab.
pub(crate) const SLAB: usize = 2 << 20;

/// Bytes that come at once and are kept: 0 at first, in pages of their own.
#[derive(Debug)]
pub struct Pages(Option<MmapMut>);

impl Pages {
    /// Pages for so many bytes.
    ///
    /// # Errors
    /// [`FabricError::Memory`] where the system gives no more.
    pub fn new(bytes: usize) -> Result<Pages, FabricError> {
        if bytes == 0 {
            Ok(Pages(None))
        } else {
            map(bytes).map(Some).map(Pages).ok_or(FabricError::Memory)
        }
    }
}

impl Deref for Pages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.0.as_deref_mut().unwrap_or_default()
    }
}

fn map(bytes: usize) -> Option<MmapMut> {
    // All of it will be written: its pages come cheaper together than one fault at a time. They are
    // small ones, of which a system has some at hand; huge ones, had from a hypervisor, cost more
    // than they save.
    MmapOptions::new().len(bytes).populate().map_anon().ok()
}

/// The memory that the buffers of a fabric share.
#[derive(Debug)]
pub(crate) struct Pool {
    limit: u64,
    /// Of `limit`, for slabs beyond the least shares.
    for_slabs: u64,
    taken: AtomicU64,
    most: AtomicU64,
    slabs: AtomicU64,
    /// Of `taken`, what was promised and nobody uses yet.
    promised: AtomicU64,
}

impl Pool {
    /// A pool of up to `limit` bytes, fewer where the system gives no such address space, and of
    /// one slab at least.
    pub(crate) fn new(limit: u64) -> Pool {
        let limit = addressable(limit).max(SLAB as u64);
        Pool {
            limit,
            for_slabs: limit,
            taken: AtomicU64::new(0),
            most: AtomicU64::new(0),
            slabs: AtomicU64::new(0),
            promised: AtomicU64::new(0),
        }
    }

    /// Keeps half of the memory for what is [reserved](Pool::reserve).
    pub(crate) fn halved(self) -> Pool {
        Pool {
            for_slabs: self.limit / 2,
            ..self
        }
    }

    /// Bytes handed out or promised.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Relaxed)
    }

    /// The most bytes that were handed out at a time.
    pub(crate) fn most(&self) -> u64 {
        self.most.load(Relaxed)
    }

    fn note_most(&self) {
        let used = self.taken().saturating_sub(self.promised.load(Relaxed));
        self.most.fetch_max(used, Relaxed);
    }

    /// One more slab; `None` when the limit is reached or the system gives no more.
    pub(crate) fn take(&self) -> Option<MmapMut> {
        let slab = SLAB as u64;
        let another = self.slabs.load(Relaxed) + slab <= self.for_slabs;
        if !another || !self.reserve(slab) {
            return None;
        }
        self.slabs.fetch_add(slab, Relaxed);
        self.map()
    }

    /// Promises one more slab, of a sender's least share, unless the limit is reached: what else
    /// came into the memory before gives way, the next time that it grows.
    pub(crate) fn promise(&self) -> bool {
        let slab = SLAB as u64;
        let more = |slabs: u64| Some(slabs + slab).filter(|&slabs| slabs <= self.limit);
        if self.slabs.fetch_update(Relaxed, Relaxed, more).is_err() {
            return false;
        }
        self.promised.fetch_add(slab, Relaxed);
        self.taken.fetch_add(slab, Relaxed);
        true
    }

    /// A slab that was promised; `None` when the system does not give it.
    pub(crate) fn take_promised(&self) -> Option<MmapMut> {
        self.promised.fetch_sub(SLAB as u64, Relaxed);
        self.note_most();
        self.map()
    }

    fn map(&self) -> Option<MmapMut> {
        let mapped = map(SLAB);
        if mapped.is_none() {
            self.slabs.fetch_sub(SLAB as u64, Relaxed);
            self.give_back(SLAB as u64);
        }
        mapped
    }

    /// Counts `bytes` that are there in any case: what else came into the memory before gives way,
    /// the next time that it grows.
    pub(crate) fn note(&self, bytes: u64) {
        self.taken.fetch_add(bytes, Relaxed);
        self.note_most();
    }

    /// Counts `bytes` of another kind of buffer, unless the limit is reached.
    pub(crate) fn reserve(&self, bytes: u64) -> bool {
        let more = |taken: u64| {
            taken
                .checked_add(bytes)
                .filter(|&taken| taken <= self.limit)
        };
        let fits = self.taken.fetch_update(Relaxed, Relaxed, more).is_ok();
        self.note_most();
        fits
    }

    /// Gives back what was reserved.
    pub(crate) fn give_back(&self, bytes: u64) {
        self.taken.fetch_sub(bytes, Relaxed);
    }
}

/// `bytes`, halved until so much address space can be had. Under a limit (`ulimit -v`) slabs up to
/// the last one would leave nothing to spill with, or to count in.
fn addressable(bytes: u64) -> u64 {
    let mut bytes = bytes;
    while bytes > SLAB as u64 && !can_map(bytes) {
        bytes /= 2;
    }
    bytes
}

fn can_map(bytes: u64) -> bool {
    usize::try_from(bytes).is_ok_and(|bytes| {
        MmapOptions::new()
            .len(bytes)
            .no_reserve_swap()
            .map_anon()
            .is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_promises_no_more_than_can_be_addressed() {
        assert_eq!(Pool::new(64 << 20).limit, 64 << 20);
        assert_eq!(Pool::new(0).limit, SLAB as u64);
        for limit in [1 << 60, u64::MAX] {
            let pool = Pool::new(limit);
            assert!(
                pool.limit < 1 << 57 && pool.limit > SLAB as u64,
                "{}",
                pool.limit
            );
            assert!(pool.take().is_some());
        }
    }

    #[test]
    fn least_shares_of_senders_come_before_what_else_is_kept() {
        let (slab, pool) = (SLAB as u64, Pool::new(4 * SLAB as u64).halved());
        assert!(pool.reserve(3 * slab + 1) && !pool.reserve(slab));
        assert!(pool.take().is_none());
        assert!((0..4).all(|_| pool.promise()) && !pool.promise());
        assert_eq!(pool.most(), 3 * slab + 1, "what is promised takes nothing");
        assert!((0..4).all(|_| pool.take_promised().is_some()));
        pool.give_back(3 * slab + 1);
        assert_eq!((pool.taken(), pool.reserve(1)), (4 * slab, false));
    }

    #[test]
    fn half_is_kept_for_what_comes() {
        let (slab, pool) = (SLAB as u64, Pool::new(4 * SLAB as u64).halved());
        assert!((0..2).all(|_| pool.take().is_some()) && pool.take().is_none());
        assert!(pool.reserve(2 * slab) && !pool.reserve(1));
    }
}
