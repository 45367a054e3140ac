//! Memory that is reserved once and handed out in slabs.

use std::io;
use std::sync::Mutex;

use memmap2::{Advice, MmapMut, MmapOptions};

/// Bytes of a slab: one huge page.
pub(crate) const SLAB: usize = 2 << 20;

/// Address space for the buffers of a fabric. Pages that are never written cost nothing.
#[derive(Debug)]
pub struct Memory {
    map: MmapMut,
}

impl Memory {
    /// Reserves up to `bytes` (at least one slab), less when the system does not give as much address space.
    pub fn reserve(bytes: u64) -> io::Result<Memory> {
        let mut bytes = usize::try_from(bytes).unwrap_or(usize::MAX / 2).max(SLAB).next_multiple_of(SLAB);
        loop {
            match MmapOptions::new().len(bytes).no_reserve_swap().map_anon() {
                Ok(map) => {
                    // Without huge pages the scatter still works, with more misses of the address translation.
                    #[cfg(target_os = "linux")]
                    let _ = map.advise(Advice::HugePage);
                    return Ok(Memory { map });
                }
                Err(error) if bytes <= SLAB => return Err(error),
                Err(_) => bytes = (bytes / 2).next_multiple_of(SLAB),
            }
        }
    }

    /// Bytes reserved.
    pub fn bytes(&self) -> u64 {
        self.map.len() as u64
    }

    /// The slabs of this memory, as a pool that senders take from.
    pub(crate) fn slabs(&mut self) -> Pool<'_> {
        let mut free: Vec<_> = self.map.chunks_exact_mut(SLAB).collect();
        free.reverse();
        Pool { free: Mutex::new(free) }
    }
}

/// Slabs that no sender has yet, lowest address last.
#[derive(Debug)]
pub(crate) struct Pool<'m> {
    free: Mutex<Vec<&'m mut [u8]>>,
}

impl<'m> Pool<'m> {
    pub(crate) fn take(&self) -> Option<&'m mut [u8]> {
        self.free.lock().expect("no thread panics while it holds the pool").pop()
    }
}
