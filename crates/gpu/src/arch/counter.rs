//! What counts k-mers, by the pointer that the library gives.

use std::ffi::c_void;
use std::ops::RangeInclusive;
use std::ptr::NonNull;
use std::sync::Arc;

use gyrase_kmer::Shape;

use super::functions::Functions;
use super::raw::{RawSuperKmers, Tasks};
use crate::error::GpuError;

/// What counts k-mers on a device, of one launch at a time.
#[derive(Debug)]
pub(crate) struct OpenCounter {
    functions: Arc<Functions>,
    counter: NonNull<c_void>,
}

// SAFETY: it may be used by one thread after the other.
unsafe impl Send for OpenCounter {}

impl OpenCounter {
    /// One that takes up to so many bytes of a device.
    pub(crate) fn new(
        functions: &Arc<Functions>,
        number: usize,
        bytes: u64,
    ) -> Result<OpenCounter, GpuError> {
        // SAFETY: it takes numbers, and gives what is used by its functions alone.
        let counter = unsafe { (functions.counter)(number as i32, bytes) };
        Ok(OpenCounter {
            functions: Arc::clone(functions),
            counter: functions.given(counter)?,
        })
    }

    /// Counts, and says where the rows of each part begin, and where those of the last end.
    pub(crate) fn count(
        &mut self,
        tasks: Tasks<'_>,
        shape: Shape,
        counted: &RangeInclusive<u32>,
    ) -> Result<Vec<u32>, GpuError> {
        let raw = RawSuperKmers::new(tasks, shape, counted).ok_or(GpuError::Declined)?;
        let mut begins = vec![0; tasks.parts.len() + 1];
        let counter = self.counter.as_ptr();
        // SAFETY: it is open and in this thread alone; the slices have as many elements as is said
        // and outlive the call, which copies them; there is a number for each part, and one more.
        let code = unsafe { (self.functions.count)(counter, &raw, begins.as_mut_ptr()) };
        self.functions.check(code).map(|()| begins)
    }

    /// As many rows from the first on as both slices have room for.
    pub(crate) fn rows(
        &mut self,
        first: usize,
        keys: &mut [u64],
        counts: &mut [u32],
    ) -> Result<(), GpuError> {
        assert_eq!(keys.len(), counts.len(), "a row has a key and a count");
        let (first, count) = (first as u64, keys.len() as u64);
        let (keys, counts) = (keys.as_mut_ptr(), counts.as_mut_ptr());
        let counter = self.counter.as_ptr();
        // SAFETY: it is open and in this thread alone; both slices have as many elements, and the
        // library refuses rows that are not there.
        let code = unsafe { (self.functions.rows)(counter, first, count, keys, counts) };
        self.functions.check(code)
    }
}

impl Drop for OpenCounter {
    fn drop(&mut self) {
        // SAFETY: it is open, and nobody uses it any more.
        unsafe { (self.functions.counter_close)(self.counter.as_ptr()) }
    }
}
