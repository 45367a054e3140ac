//! An index and its pipelines, by the pointers that the library gives.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use super::functions::Functions;
use super::raw::{Batch, RawAnswers, RawDatabase, RawSlice};
use crate::database::GpuDatabase;
use crate::error::GpuError;

/// A database on a device. Its pipelines share it.
#[derive(Debug)]
pub(crate) struct OnDevice {
    functions: Arc<Functions>,
    index: NonNull<c_void>,
}

// SAFETY: the library's functions may be called with an index by any thread.
unsafe impl Send for OnDevice {}
// SAFETY: pipelines only read the index.
unsafe impl Sync for OnDevice {}

/// A pipeline: what one batch at a time goes through.
#[derive(Debug)]
pub(crate) struct Pipeline {
    index: Arc<OnDevice>,
    pipeline: NonNull<c_void>,
}

// SAFETY: a pipeline may be used by one thread after the other.
unsafe impl Send for Pipeline {}

impl OnDevice {
    /// Brings a database to a device.
    pub(crate) fn open(
        functions: &Arc<Functions>,
        number: usize,
        database: &GpuDatabase<'_>,
    ) -> Result<OnDevice, GpuError> {
        let slices: Vec<RawSlice> = database.slices.iter().map(RawSlice::from).collect();
        let raw = RawDatabase::new(database, &slices);
        // SAFETY: the pointers are of slices with as many elements as is said, and there is an
        // entry for every partition; the call copies them.
        let index = unsafe { (functions.open)(number as i32, &raw) };
        Ok(OnDevice {
            functions: Arc::clone(functions),
            index: functions.given(index)?,
        })
    }
}

impl Pipeline {
    /// A pipeline that takes up to so many bytes of the device, and of the host.
    pub(crate) fn new(
        index: &Arc<OnDevice>,
        (bytes, host): (u64, u64),
    ) -> Result<Pipeline, GpuError> {
        // SAFETY: the index is open.
        let pipeline = unsafe { (index.functions.pipeline)(index.index.as_ptr(), bytes, host) };
        Ok(Pipeline {
            index: Arc::clone(index),
            pipeline: index.functions.given(pipeline)?,
        })
    }

    /// Takes a batch through. What it comes to stays until the next.
    pub(super) fn ask(&self, batch: &Batch<'_>) -> Result<RawAnswers, GpuError> {
        let functions = &self.index.functions;
        // SAFETY: the pipeline is open and in this thread alone; the batch outlives the call, which
        // copies it.
        functions.check(unsafe { (functions.submit)(self.pipeline.as_ptr(), batch) })?;
        let mut answers = RawAnswers::default();
        // SAFETY: as above; the place is of the type that is written.
        functions.check(unsafe { (functions.collect)(self.pipeline.as_ptr(), &mut answers) })?;
        Ok(answers)
    }
}

impl Drop for OnDevice {
    fn drop(&mut self) {
        // SAFETY: it is open, and no pipeline has a share in it any more.
        unsafe { (self.functions.close)(self.index.as_ptr()) }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: it is open, and nobody has what it answered.
        unsafe { (self.index.functions.pipeline_close)(self.pipeline.as_ptr()) }
    }
}
