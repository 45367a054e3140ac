//! What tests of the library share.

use std::path::Path;

use gyrase_gpu::{GpuLibrary, GpuShare};
use gyrase_kmer::mix;

use crate::twin;

pub const MEMORY: u64 = 1 << 30;
pub const HOST: u64 = 1 << 26;

pub fn with_share<T>(library: &GpuLibrary, memory: u64, make: impl FnOnce(GpuShare) -> T) -> T {
    let gpu = &library.gpu(None).unwrap();
    make(GpuShare {
        library,
        gpu,
        memory,
    })
}

pub fn made() -> Option<&'static Path> {
    twin::twin(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// Numbers by chance, the same in every run.
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 += 1;
        (mix(self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 32) as usize % end
    }

    pub fn letters(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| b"ACGT"[self.below(4)]).collect()
    }
}
