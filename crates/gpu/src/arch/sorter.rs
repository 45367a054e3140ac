//! What sorts words, by the pointer that the library gives.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use super::functions::Functions;
use crate::error::GpuError;

/// What sorts words on a device, some at a time.
#[derive(Debug)]
pub(crate) struct OpenSorter {
    functions: Arc<Functions>,
    sorter: NonNull<c_void>,
}

// SAFETY: it may be used by one thread after the other.
unsafe impl Send for OpenSorter {}

impl OpenSorter {
    /// One that takes up to so many bytes of a device, and of the host.
    pub(crate) fn new(
        functions: &Arc<Functions>,
        number: usize,
        (bytes, host): (u64, u64),
    ) -> Result<OpenSorter, GpuError> {
        // SAFETY: it takes numbers, and gives what is used by its functions alone.
        let sorter = unsafe { (functions.sorter)(number as i32, bytes, host) };
        Ok(OpenSorter {
            functions: Arc::clone(functions),
            sorter: functions.given(sorter)?,
        })
    }

    /// Sorts by so many of the lowest bits.
    pub(crate) fn sort(&mut self, words: &mut [u64], bits: u32) -> Result<(), GpuError> {
        assert!((1..=64).contains(&bits), "a word has so many bits");
        let (sorter, count) = (self.sorter.as_ptr(), words.len() as u64);
        // SAFETY: it is open and in this thread alone; there are as many words as is said, and they
        // outlive the call.
        let code = unsafe { (self.functions.sort)(sorter, words.as_mut_ptr(), count, bits) };
        self.functions.check(code)
    }
}

impl Drop for OpenSorter {
    fn drop(&mut self) {
        // SAFETY: it is open, and nobody uses it any more.
        unsafe { (self.functions.sorter_close)(self.sorter.as_ptr()) }
    }
}
