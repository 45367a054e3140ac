//! Databases on a GPU: all of them at once, or one part after the other.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gyrase_gpu::{
    Gpu, GpuAnswers, GpuDatabase, GpuError, GpuHits, GpuIndex, GpuLibrary, GpuSequence, GpuShare,
    GpuSlice,
};
use gyrase_table::gydb::{GydbError, Location};
use gyrase_work::in_parallel;

use crate::catalogue::Catalogue;
use crate::slice::Slice;

/// Why databases are not brought to a GPU.
#[derive(Debug, thiserror::Error)]
pub enum GpuRefusal {
    /// With the GPU the reads are read more often.
    #[error("the reads would be read {passes} times, and without a GPU less often")]
    Passes {
        /// How often with the GPU.
        passes: usize,
    },
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

/// The share of a GPU's memory for databases that is left to look-ups, where the databases do not
/// fit it at once: they then go through more pipelines side by side.
const FOR_PIPELINES: u64 = 8;

/// A GPU that looks reads up in databases, and what became of the reads that it was asked for.
#[derive(Debug)]
pub struct OnGpu {
    library: GpuLibrary,
    gpu: Gpu,
    memory: u64,
    threads: usize,
    most: u64,
    there: Mutex<There>,
    answered: AtomicU64,
    declined: AtomicU64,
    failure: OnceLock<GpuError>,
}

/// What a slice of a database is known by: the checksum of the database, what its windows are
/// counted from, the partitions.
type Name = (u64, u32, Range<usize>);

/// What a GPU has, and what it may be given.
#[derive(Debug, Default)]
struct There {
    part: Option<(Vec<Name>, Arc<GpuIndex>)>,
    /// Slices that were verified, now or before.
    sound: HashSet<Name>,
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

/// Databases as a GPU is to hold them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// How many there are.
    pub databases: usize,
    /// Bytes of the features of all of them.
    pub bytes: u64,
    /// Bytes of the largest partition.
    pub largest: u64,
}

impl OnGpu {
    /// Finds out how much of databases a GPU takes at a time for `threads` threads; nothing is
    /// brought yet.
    pub(crate) fn new(
        share: &GpuShare<'_>,
        needs: Needs,
        catalogue: &Catalogue,
        threads: usize,
    ) -> Result<OnGpu, GpuError> {
        share.sketches(catalogue.parameters.sketch)?;
        let beside = GpuIndex::bytes_beside(needs.databases, catalogue.targets.len());
        let room = share.memory.saturating_sub(beside);
        let most = match needs.bytes <= room {
            true => needs.bytes,
            false => room - room / FOR_PIPELINES,
        };
        if most < needs.largest {
            let least = beside + needs.largest + needs.largest / (FOR_PIPELINES - 1) + 1;
            let room = share.memory;
            return Err(GpuError::Memory { least, room });
        }
        Ok(OnGpu {
            library: share.library.clone(),
            gpu: share.gpu.clone(),
            memory: share.memory,
            threads,
            most,
            there: Mutex::default(),
            answered: AtomicU64::new(0),
            declined: AtomicU64::new(0),
            failure: OnceLock::new(),
        })
    }

    /// Brings a part of the databases to the GPU, in the place of another, unless it is there.
    /// What was never there before is verified. The outer error is the database's, the inner one
    /// that of the GPU.
    pub(crate) fn bring(
        &self,
        slices: &[Slice<'_>],
        catalogue: &Catalogue,
    ) -> Result<Result<PartOnGpu<'_>, GpuError>, GydbError> {
        let names: Vec<Name> = slices.iter().map(name_of).collect();
        let mut there = self.there.lock().unwrap_or_else(PoisonError::into_inner);
        let part = |index| PartOnGpu {
            on_gpu: self,
            index,
        };
        if let Some((_, index)) = there.part.as_ref().filter(|(of, _)| *of == names) {
            return Ok(Ok(part(Arc::clone(index))));
        }
        // There is room for one of them.
        there.part = None;
        for (slice, name) in slices.iter().zip(&names) {
            if !there.sound.contains(name) {
                if !self.verify(slice, catalogue)? {
                    return Ok(Err(GpuError::Damaged));
                }
                there.sound.insert(name.clone());
            }
        }
        Ok(self.open(slices, catalogue).map(|index| {
            let index = Arc::new(index);
            there.part = Some((names, Arc::clone(&index)));
            part(index)
        }))
    }

    /// As [`OnGpu::bring`]; nothing where the GPU failed, now or before.
    pub(crate) fn part(
        &self,
        slices: &[Slice<'_>],
        catalogue: &Catalogue,
    ) -> Result<Option<PartOnGpu<'_>>, GydbError> {
        if self.failure.get().is_some() {
            return Ok(None);
        }
        let brought = self.bring(slices, catalogue)?;
        Ok(brought.map_err(|error| self.fail(error)).ok())
    }

    /// Verifies a slice, since a look-up on a GPU does not check what it reads; false where one of
    /// its locations is in no target.
    fn verify(&self, slice: &Slice<'_>, catalogue: &Catalogue) -> Result<bool, GydbError> {
        let Range { start, end } = slice.partitions;
        let each = (end - start).div_ceil(self.threads).max(1);
        let ranges = (start..end).step_by(each);
        let ranges = ranges.map(|start| start..end.min(start + each)).collect();
        let ends = in_parallel(ranges, |range| slice.features.verify_partitions(range))?;
        let windows = catalogue.targets.all_windows() - slice.first_window;
        Ok(ends.iter().all(|&end| end <= u64::from(windows)))
    }

    fn open(&self, slices: &[Slice<'_>], catalogue: &Catalogue) -> Result<GpuIndex, GpuError> {
        let slices: Vec<GpuSlice<'_>> = slices
            .iter()
            .map(|slice| GpuSlice {
                words: slice.features.feature_words(slice.partitions.clone()),
                first_window: Location(slice.first_window),
            })
            .collect();
        let database = GpuDatabase {
            shape: catalogue.parameters.sketch,
            slices: &slices,
            first_windows: catalogue.targets.first_windows(),
            windows: catalogue.targets.all_windows(),
        };
        let share = GpuShare {
            library: &self.library,
            gpu: &self.gpu,
            memory: self.memory,
        };
        GpuIndex::open(&share, &database, self.threads, HOST_BYTES)
    }

    /// Asks the GPU no more.
    fn fail(&self, error: GpuError) {
        // Another thread may have come first, with what is as good a reason.
        let _ = self.failure.set(error);
    }

    /// Leaves so many reads to the processor.
    pub(crate) fn leave(&self, reads: usize) {
        self.declined.fetch_add(reads as u64, Relaxed);
    }

    /// Bytes of the databases that the GPU takes at a time.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// The GPU.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Reads that the GPU has looked up, and those that it has left to the processor, counted in
    /// each pass over the reads.
    pub fn reads(&self) -> (u64, u64) {
        (self.answered.load(Relaxed), self.declined.load(Relaxed))
    }

    /// Why the GPU was asked no more, where it failed.
    pub fn failure(&self) -> Option<&GpuError> {
        self.failure.get()
    }
}

fn name_of(slice: &Slice<'_>) -> Name {
    let partitions = slice.partitions.clone();
    (slice.features.checksum(), slice.first_window, partitions)
}

/// A part of databases on a GPU.
#[derive(Clone, Debug)]
pub(crate) struct PartOnGpu<'c> {
    on_gpu: &'c OnGpu,
    index: Arc<GpuIndex>,
}

impl PartOnGpu<'_> {
    /// The best regions of reads, or why the GPU does not find them.
    pub(crate) fn regions(
        &self,
        sequences: &[GpuSequence<'_>],
        spans: &[u32],
    ) -> Result<GpuAnswers<'_>, Looked> {
        self.ask(spans.len(), || self.index.ask(sequences, spans))
    }

    /// All hits of so many reads, or why the GPU does not find them.
    pub(crate) fn hits(
        &self,
        sequences: &[GpuSequence<'_>],
        reads: usize,
    ) -> Result<GpuHits<'_>, Looked> {
        self.ask(reads, || self.index.ask_hits(sequences, reads))
    }

    fn ask<T>(&self, reads: usize, ask: impl FnOnce() -> Result<T, GpuError>) -> Result<T, Looked> {
        let on_gpu = self.on_gpu;
        if on_gpu.failure.get().is_some() {
            return Err(Looked::AtNone);
        }
        match ask() {
            Ok(found) => {
                on_gpu.answered.fetch_add(reads as u64, Relaxed);
                Ok(found)
            }
            Err(GpuError::Declined) => Err(Looked::AtTooMany),
            Err(error) => {
                on_gpu.fail(error);
                Err(Looked::AtNone)
            }
        }
    }

    /// Leaves so many reads to the processor.
    pub(crate) fn leave(&self, reads: usize) {
        self.on_gpu.leave(reads);
    }
}
