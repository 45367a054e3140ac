//! A database on a GPU.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gyrase_gpu::{Gpu, GpuAnswers, GpuDatabase, GpuError, GpuIndex, GpuSequence, GpuShare};
use gyrase_table::gydb::{Database, GydbError, PARTITIONS};
use gyrase_work::in_parallel;

use crate::catalogue::Catalogue;

/// Why a database is not brought to a GPU.
#[derive(Debug, thiserror::Error)]
pub enum GpuRefusal {
    /// There is more than one.
    #[error("several databases at once are asked by the processor")]
    Several,
    /// The memory of the host is too little for what goes to the GPU and comes back.
    #[error("with a GPU it takes {least} bytes of memory, and --memory is {memory}")]
    HostMemory {
        /// Bytes that are enough.
        least: u64,
        /// Bytes that the run may take.
        memory: u64,
    },
    /// The GPU does not take it.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The database is damaged.
    #[error(transparent)]
    Database(#[from] GydbError),
}

/// Bytes of this machine's memory that a thread takes for what goes to a GPU and comes back, at
/// most.
pub(crate) const HOST_BYTES: u64 = 48 << 20;

/// A database on a GPU, and what became of the reads that it was asked for.
#[derive(Debug)]
pub struct OnGpu {
    gpu: Gpu,
    index: GpuIndex,
    answered: AtomicU64,
    declined: AtomicU64,
    failure: OnceLock<GpuError>,
}

/// What became of reads that a GPU was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    /// They were looked up.
    Up,
    /// They were too many at once, or one of them is too long.
    AtTooMany,
    /// The GPU looks nothing up any more.
    AtNone,
}

impl OnGpu {
    /// Verifies a database and brings it to a GPU, for `threads` threads.
    pub(crate) fn new(
        features: &Database,
        catalogue: &Catalogue,
        share: &GpuShare<'_>,
        threads: usize,
    ) -> Result<OnGpu, GpuRefusal> {
        // A look-up on the processor checks what it reads; one on a GPU does not.
        let each = PARTITIONS.div_ceil(threads);
        let ranges = (0..PARTITIONS).step_by(each);
        let ranges = ranges
            .map(|start| start..PARTITIONS.min(start + each))
            .collect();
        let ends = in_parallel(ranges, |range| features.verify_partitions(range))?;
        let windows = catalogue.targets.all_windows();
        if ends.iter().any(|&end| end > u64::from(windows)) {
            return Err(GpuError::Damaged.into());
        }
        let words = features.feature_words();
        let database = GpuDatabase {
            shape: catalogue.parameters.sketch,
            words: &words,
            first_windows: catalogue.targets.first_windows(),
            windows,
        };
        let index = GpuIndex::open(share, &database, threads, HOST_BYTES)?;
        Ok(OnGpu {
            gpu: share.gpu.clone(),
            index,
            answered: AtomicU64::new(0),
            declined: AtomicU64::new(0),
            failure: OnceLock::new(),
        })
    }

    /// What the GPU finds of reads, or why it does not.
    pub(crate) fn ask(
        &self,
        sequences: &[GpuSequence<'_>],
        spans: &[u32],
    ) -> Result<GpuAnswers<'_>, Looked> {
        if self.failure.get().is_some() {
            return Err(Looked::AtNone);
        }
        match self.index.ask(sequences, spans) {
            Ok(answers) => {
                self.answered.fetch_add(spans.len() as u64, Relaxed);
                Ok(answers)
            }
            Err(GpuError::Declined) => Err(Looked::AtTooMany),
            Err(error) => {
                // Another thread may have come first, with what is as good a reason.
                let _ = self.failure.set(error);
                Err(Looked::AtNone)
            }
        }
    }

    /// Leaves so many reads to the processor.
    pub(crate) fn leave(&self, reads: usize) {
        self.declined.fetch_add(reads as u64, Relaxed);
    }

    /// The GPU.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Reads that the GPU has looked up, and those that it has left to the processor.
    pub fn reads(&self) -> (u64, u64) {
        (self.answered.load(Relaxed), self.declined.load(Relaxed))
    }

    /// Why the GPU was asked no more, where it failed.
    pub fn failure(&self) -> Option<&GpuError> {
        self.failure.get()
    }
}
