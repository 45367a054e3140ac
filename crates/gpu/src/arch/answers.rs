//! What a batch comes back as.

use super::on_device::Pipeline;
use super::raw::{Batch, GpuRegion, RawAnswers};
use crate::error::GpuError;

/// A pipeline with what the batch in it came to.
#[derive(Debug)]
pub(crate) struct Answers {
    pipeline: Pipeline,
    raw: RawAnswers,
    reads: usize,
}

// SAFETY: the pointers are into buffers of the pipeline, which goes along.
unsafe impl Send for Answers {}

impl Answers {
    /// Takes a batch through a pipeline, which comes back where that fails.
    pub(crate) fn of(
        pipeline: Pipeline,
        batch: &Batch<'_>,
    ) -> Result<Answers, (Pipeline, GpuError)> {
        match pipeline.ask(batch) {
            Ok(raw) => Ok(Answers {
                pipeline,
                raw,
                reads: batch.reads(),
            }),
            Err(error) => Err((pipeline, error)),
        }
    }

    /// The pipeline, for another batch.
    pub(crate) fn into_pipeline(self) -> Pipeline {
        self.pipeline
    }

    /// The features of all reads, one behind the other.
    pub(crate) fn features(&self) -> &[u32] {
        // SAFETY: there are as many as is said, until the pipeline has another batch.
        unsafe { slice(self.raw.features, self.raw.feature_count as usize) }
    }

    /// The regions of all reads.
    pub(crate) fn regions(&self) -> &[GpuRegion] {
        // SAFETY: as above.
        unsafe { slice(self.raw.regions, self.raw.region_count as usize) }
    }

    /// The hits of all regions.
    pub(crate) fn hits(&self) -> &[u32] {
        // SAFETY: as above.
        unsafe { slice(self.raw.hits, self.raw.hit_count as usize) }
    }

    /// Where the features of each read begin; at last where those of all end.
    pub(crate) fn feature_begins(&self) -> &[u32] {
        // SAFETY: as above; there is one more than reads.
        unsafe { slice(self.raw.feature_begins, self.reads + 1) }
    }

    /// The same of regions, where they were asked for.
    pub(crate) fn region_begins(&self) -> &[u32] {
        // SAFETY: as above.
        unsafe { begins(self.raw.region_begins, self.reads) }
    }

    /// All hits of all reads, where they were asked for.
    pub(crate) fn all_hits(&self) -> &[u64] {
        // SAFETY: there are as many as is said, until the pipeline has another batch.
        unsafe { slice(self.raw.all_hits, self.raw.all_hit_count as usize) }
    }

    /// Where these begin, of each read.
    pub(crate) fn hit_begins(&self) -> &[u32] {
        // SAFETY: as above; there is one more than reads.
        unsafe { begins(self.raw.hit_begins, self.reads) }
    }
}

/// Where something of each of so many reads begins, and where that of the last ends; nothing where
/// it was not asked for.
///
/// # Safety
/// See [`slice`].
unsafe fn begins<'a>(start: *const u32, reads: usize) -> &'a [u32] {
    match start.is_null() {
        true => &[],
        // SAFETY: it is what the caller owes.
        false => unsafe { slice(start, reads + 1) },
    }
}

/// So many elements; of none the pointer does not matter.
///
/// # Safety
/// There are as many, and nobody writes to them for `'a`.
pub(super) unsafe fn slice<'a, T>(start: *const T, count: usize) -> &'a [T] {
    match count {
        0 => &[],
        // SAFETY: it is what the caller owes.
        _ => unsafe { std::slice::from_raw_parts(start, count) },
    }
}
