//! What sketches, by the pointer that the library gives.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use gyrase_kmer::SketchShape;

use super::answers::slice;
use super::functions::Functions;
use super::raw::{RawShape, RawSketches, Sequence};
use crate::error::GpuError;

/// What sketches on a device, one batch at a time.
#[derive(Debug)]
pub(crate) struct OpenSketcher {
    functions: Arc<Functions>,
    sketcher: NonNull<c_void>,
    /// Of the last batch.
    sketches: RawSketches,
}

// SAFETY: it may be used by one thread after the other, and the pointers are into its own buffers.
unsafe impl Send for OpenSketcher {}

impl OpenSketcher {
    /// One that takes up to so many bytes of a device, and of the host.
    pub(crate) fn new(
        functions: &Arc<Functions>,
        number: usize,
        shape: SketchShape,
        (bytes, host): (u64, u64),
    ) -> Result<OpenSketcher, GpuError> {
        let shape = RawShape::from(shape);
        // SAFETY: the shape outlives the call, which copies it.
        let sketcher = unsafe { (functions.sketcher)(number as i32, &shape, bytes, host) };
        Ok(OpenSketcher {
            functions: Arc::clone(functions),
            sketcher: functions.given(sketcher)?,
            sketches: RawSketches::default(),
        })
    }

    /// Sketches the windows of sequences.
    pub(crate) fn sketch(&mut self, sequences: &[Sequence<'_>]) -> Result<(), GpuError> {
        self.sketches = RawSketches::default();
        let count = u32::try_from(sequences.len()).map_err(|_| GpuError::Declined)?;
        let (sketcher, from) = (self.sketcher.as_ptr(), sequences.as_ptr());
        // SAFETY: it is open and in this thread alone; the sequences outlive the call, which copies
        // them; the place is of the type that is written.
        let code = unsafe { (self.functions.sketch)(sketcher, from, count, &mut self.sketches) };
        self.functions.check(code)
    }

    /// The features of all windows, one behind the other.
    pub(crate) fn features(&self) -> &[u32] {
        // SAFETY: there are as many as is said, until the next batch.
        unsafe { slice(self.sketches.features, self.sketches.feature_count as usize) }
    }

    /// Where the features of each window begin, and where those of the last end.
    pub(crate) fn begins(&self) -> &[u32] {
        let some = !self.sketches.begins.is_null();
        let windows = self.sketches.window_count as usize;
        // SAFETY: as above; there is one more than windows.
        unsafe { slice(self.sketches.begins, windows + usize::from(some)) }
    }
}

impl Drop for OpenSketcher {
    fn drop(&mut self) {
        // SAFETY: it is open, and nobody has what it found.
        unsafe { (self.functions.sketcher_close)(self.sketcher.as_ptr()) }
    }
}
