//! A GPU that sketches references and sorts their features: how much it may take, and what it did.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gyrase_gpu::{Gpu, GpuError, GpuShare, GpuSketcher, GpuSorter};
use gyrase_kmer::SketchShape;

/// Bytes of this machine's memory that a thread takes for what goes to the GPU and comes back, at
/// most.
const HOST_BYTES: u64 = 8 << 20;

/// A GPU that sketches the references of a build and sorts their features, and what it did.
#[derive(Debug)]
pub struct BuildOnGpu<'g> {
    /// Of each thread.
    share: GpuShare<'g>,
    sketched: AtomicU64,
    left: AtomicU64,
    sorted: AtomicU64,
    failure: OnceLock<GpuError>,
}

impl<'g> BuildOnGpu<'g> {
    /// One for so many threads, with a share of a GPU.
    ///
    /// # Errors
    /// Windows of `shape` are too long.
    pub(super) fn new(
        share: GpuShare<'g>,
        shape: SketchShape,
        threads: usize,
    ) -> Result<BuildOnGpu<'g>, GpuError> {
        share.sketches(shape)?;
        Ok(BuildOnGpu {
            share: GpuShare {
                memory: share.memory / threads as u64,
                ..share
            },
            sketched: AtomicU64::new(0),
            left: AtomicU64::new(0),
            sorted: AtomicU64::new(0),
            failure: OnceLock::new(),
        })
    }

    /// Bytes of this machine's memory that it takes with so many threads.
    pub fn host_memory(threads: usize) -> u64 {
        threads as u64 * HOST_BYTES
    }

    /// The GPU.
    pub fn gpu(&self) -> &Gpu {
        self.share.gpu
    }

    /// Windows that it has sketched, and those that it has left to the processor.
    pub fn windows(&self) -> (u64, u64) {
        (self.sketched.load(Relaxed), self.left.load(Relaxed))
    }

    /// Locations that it has sorted; the processor has sorted the others.
    pub fn sorted(&self) -> u64 {
        self.sorted.load(Relaxed)
    }

    /// Why it did no more, where it failed.
    pub fn failure(&self) -> Option<&GpuError> {
        self.failure.get()
    }

    /// It does no more.
    fn fail(&self, error: GpuError) {
        // Another thread may have come first, with what is as good a reason.
        let _ = self.failure.set(error);
    }

    /// What one thread sorts with.
    pub(super) fn sort_lane(&self) -> SortLane<'_> {
        SortLane {
            of: self,
            sorter: None,
        }
    }

    /// What one thread sketches with.
    pub(crate) fn lane(&self, shape: SketchShape) -> SketchLane<'_> {
        SketchLane {
            of: self,
            shape,
            sketcher: None,
        }
    }
}

/// What one thread lets a GPU sketch with.
pub(crate) struct SketchLane<'g> {
    of: &'g BuildOnGpu<'g>,
    shape: SketchShape,
    sketcher: Option<GpuSketcher>,
}

impl SketchLane<'_> {
    /// The features of all windows of sequences, one after the other; nothing where the processor
    /// is to sketch them.
    pub(crate) fn sketch<'b>(
        &mut self,
        sequences: impl Iterator<Item = &'b [u8]> + Clone,
    ) -> Option<impl Iterator<Item = &[u32]>> {
        let windows = sequences.clone();
        let windows = windows.map(|letters| u64::from(self.shape.windows(letters.len())));
        let windows: u64 = windows.sum();
        match self.attempt(sequences) {
            Ok(true) => {
                self.of.sketched.fetch_add(windows, Relaxed);
                self.sketcher.as_ref().map(GpuSketcher::windows)
            }
            other => {
                self.of.left.fetch_add(windows, Relaxed);
                if let Err(error) = other {
                    self.of.fail(error);
                }
                None
            }
        }
    }

    fn attempt<'b>(&mut self, sequences: impl Iterator<Item = &'b [u8]>) -> Result<bool, GpuError> {
        if self.of.failure.get().is_some() {
            return Ok(false);
        }
        let sketcher = match &mut self.sketcher {
            Some(open) => open,
            none => none.insert(self.of.share.sketcher(self.shape, HOST_BYTES)?),
        };
        match sketcher.sketch(sequences) {
            Ok(()) => Ok(true),
            Err(GpuError::Declined) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Fewer rows than this the processor sorts sooner than they go to a GPU and back.
const LEAST_SORTED: usize = 1 << 13;

/// What one thread lets a GPU sort with.
pub(super) struct SortLane<'g> {
    of: &'g BuildOnGpu<'g>,
    sorter: Option<GpuSorter>,
}

impl SortLane<'_> {
    /// Sorts rows by so many of their lowest bits; false where the processor is to sort them.
    pub(super) fn sort(&mut self, rows: &mut [u64], bits: u32) -> bool {
        if rows.len() < LEAST_SORTED || self.of.failure.get().is_some() {
            return false;
        }
        match self.attempt(rows, bits) {
            Ok(()) => {
                self.of.sorted.fetch_add(rows.len() as u64, Relaxed);
                true
            }
            Err(GpuError::Declined) => false,
            Err(error) => {
                self.of.fail(error);
                false
            }
        }
    }

    fn attempt(&mut self, rows: &mut [u64], bits: u32) -> Result<(), GpuError> {
        let sorter = match &mut self.sorter {
            Some(open) => open,
            none => none.insert(self.of.share.sorter(HOST_BYTES)?),
        };
        sorter.sort(rows, bits)
    }
}
