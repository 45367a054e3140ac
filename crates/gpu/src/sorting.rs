//! Words sorted on a GPU.

use crate::arch::OpenSorter;
use crate::error::GpuError;
use crate::library::GpuShare;

/// What sorts words on a GPU.
#[derive(Debug)]
pub struct GpuSorter {
    sorter: OpenSorter,
}

impl GpuShare<'_> {
    /// What sorts words with this share of a GPU, and up to `host` bytes of this machine's memory.
    ///
    /// # Errors
    /// See [`GpuError`].
    pub fn sorter(&self, host: u64) -> Result<GpuSorter, GpuError> {
        let (functions, number) = (&self.library.functions, self.gpu.number);
        let sorter = OpenSorter::new(functions, number, (self.memory, host));
        Ok(GpuSorter { sorter: sorter? })
    }
}

impl GpuSorter {
    /// Sorts words by so many of their lowest bits; equal ones stay in their order.
    ///
    /// # Errors
    /// [`GpuError::Declined`] where they are too many. See [`GpuError`] for others. The words are
    /// as they were then.
    ///
    /// # Panics
    /// When `bits` is not 1 to 64.
    pub fn sort(&mut self, words: &mut [u64], bits: u32) -> Result<(), GpuError> {
        self.sorter.sort(words, bits)
    }
}
