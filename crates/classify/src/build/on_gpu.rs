//! A GPU that sketches references and sorts their features: how much it may take, and what it did.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gyrase_fabric::{Drain, Each, FabricError, SLACK};
use gyrase_gpu::{
    Gpu, GpuError, GpuLister, GpuLists, GpuRecords, GpuShare, GpuSketcher, GpuSorted, GpuTargets,
};
use gyrase_kmer::SketchShape;

use crate::cap::Cap;
use crate::distinct::of_targets;
use crate::targets::Targets;

/// Bytes of this machine's memory that a thread takes for what goes to the GPU and comes back, at
/// most.
const HOST_BYTES: u64 = 16 << 20;

/// Bytes of the GPU that a thread sketches with, at most: those of a batch with the most windows.
/// Lists it makes with as many.
const SKETCHING: u64 = 96 << 20;

/// The part of a GPU's share that all threads sketch with, at most.
const SKETCHING_PART: u64 = 2;

/// Bytes of a record.
const RECORD: usize = size_of::<u64>();

// Who drains records may read so far behind them.
const _: () = assert!(GpuSorted::SLACK * RECORD >= SLACK);

/// A GPU that sketches the references of a build and sorts their features, and what it did.
#[derive(Debug)]
pub struct BuildOnGpu<'g> {
    /// For records, beside what threads sketch with.
    share: GpuShare<'g>,
    shape: SketchShape,
    /// Bytes that a thread sketches with.
    sketching: u64,
    sketched: AtomicU64,
    sorted: AtomicU64,
    passes: AtomicU64,
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
        let threads = threads as u64;
        let sketching = SKETCHING.min(share.memory / SKETCHING_PART / threads);
        Ok(BuildOnGpu {
            share: GpuShare {
                memory: share.memory - threads * sketching,
                ..share
            },
            shape,
            sketching,
            sketched: AtomicU64::new(0),
            sorted: AtomicU64::new(0),
            passes: AtomicU64::new(0),
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

    /// Windows that it has sketched, in all passes.
    pub fn windows(&self) -> u64 {
        self.sketched.load(Relaxed)
    }

    /// Locations that it has sorted.
    pub fn locations(&self) -> u64 {
        self.sorted.load(Relaxed)
    }

    /// How often it went over the references: once where its memory is enough for all locations.
    pub fn passes(&self) -> u64 {
        self.passes.load(Relaxed)
    }

    /// Why the processor has built instead, where it failed.
    pub fn failure(&self) -> Option<&GpuError> {
        self.failure.get()
    }

    /// It does no more. What comes of it is lost: the caller asks for the failure.
    fn fail(&self, error: GpuError) -> FabricError {
        // Another thread may have come first, with what is as good a reason.
        let _ = self.failure.set(error);
        FabricError::Elsewhere
    }

    /// Begins a pass over the references: for features of a partition on.
    pub(super) fn pass(&self, first_partition: usize) -> Result<GpuPass<'_>, FabricError> {
        self.passes.fetch_add(1, Relaxed);
        let records = self.share.records(self.shape, first_partition);
        Ok(GpuPass {
            of: self,
            records: records.map_err(|error| self.fail(error))?,
        })
    }
}

/// A pass over the references, in which a GPU keeps features of as many partitions as it has room
/// for.
pub(crate) struct GpuPass<'g> {
    of: &'g BuildOnGpu<'g>,
    records: GpuRecords,
}

impl<'g> GpuPass<'g> {
    /// What one thread sketches with.
    pub(crate) fn lane(&self) -> SketchLane<'_> {
        SketchLane {
            pass: self,
            sketcher: None,
        }
    }

    /// Sorts the features. Windows from the first of each pair on, as they came, are windows of the
    /// database from the second on.
    pub(super) fn sort(self, windows: Vec<(u32, u32)>) -> Result<OnDevice<'g>, FabricError> {
        let GpuPass { of, records } = self;
        let sorted = records.sort(windows, HOST_BYTES);
        let sorted = sorted.map_err(|error| of.fail(error))?;
        of.sorted.fetch_add(sorted.all(), Relaxed);
        Ok(OnDevice { of, sorted })
    }
}

/// What one thread lets a GPU sketch with.
pub(crate) struct SketchLane<'p> {
    pass: &'p GpuPass<'p>,
    sketcher: Option<GpuSketcher<'p>>,
}

impl SketchLane<'_> {
    /// Keeps the features of sequences with so many windows: the number of the first.
    pub(crate) fn sketch<'b>(
        &mut self,
        sequences: impl Iterator<Item = &'b [u8]>,
        windows: u32,
    ) -> Result<u32, FabricError> {
        let of = self.pass.of;
        let first = self.attempt(sequences).map_err(|error| of.fail(error))?;
        of.sketched.fetch_add(windows.into(), Relaxed);
        Ok(first)
    }

    fn attempt<'b>(&mut self, sequences: impl Iterator<Item = &'b [u8]>) -> Result<u32, GpuError> {
        let GpuPass { of, records } = self.pass;
        let sketcher = match &mut self.sketcher {
            Some(open) => open,
            none => none.insert(records.sketcher(of.sketching, HOST_BYTES)?),
        };
        sketcher.sketch(sequences)
    }
}

/// Sorted records of some partitions on a GPU.
pub(super) struct OnDevice<'g> {
    of: &'g BuildOnGpu<'g>,
    sorted: GpuSorted,
}

impl OnDevice<'_> {
    /// Brings what lists are made by: targets, of so many taxa, and the cap.
    pub(super) fn bring(
        &mut self,
        targets: &Targets,
        taxa: usize,
        cap: &Cap<'_>,
    ) -> Result<(), FabricError> {
        let numbers = of_targets(targets, taxa)
            .into_iter()
            .map(|(_, taxon)| taxon);
        let numbers: Vec<u32> = numbers.collect();
        let brought = self.sorted.bring_targets(&GpuTargets {
            first_windows: targets.first_windows(),
            names: cap.names(),
            taxa: &numbers,
            all_taxa: taxa,
            windows: targets.all_windows(),
        });
        brought.map_err(|error| self.of.fail(error))
    }

    /// What one thread lets the GPU make lists with, of up to so many locations.
    pub(super) fn lane(&self, most: u8) -> ListLane<'_> {
        ListLane {
            from: self,
            most,
            lister: None,
        }
    }

    /// The partition behind the last whose records are here.
    pub(super) fn end(&self) -> usize {
        self.sorted.partitions().end
    }
}

/// What one thread lets a GPU make lists with.
pub(super) struct ListLane<'d> {
    from: &'d OnDevice<'d>,
    most: u8,
    lister: Option<GpuLister<'d>>,
}

impl ListLane<'_> {
    /// The lists of a partition; nothing where it has too many records for the GPU.
    pub(super) fn lists(&mut self, partition: usize) -> Result<Option<GpuLists<'_>>, FabricError> {
        let OnDevice { of, sorted } = self.from;
        let lister = match &mut self.lister {
            Some(open) => open,
            none => {
                let opened = sorted.lister(self.most, of.sketching, HOST_BYTES);
                none.insert(opened.map_err(|error| of.fail(error))?)
            }
        };
        match lister.lists(partition) {
            Ok(lists) => Ok(Some(lists)),
            Err(GpuError::Declined) => Ok(None),
            Err(error) => Err(of.fail(error)),
        }
    }

    /// How many features of its lists each of so many taxa has.
    pub(super) fn distinct(&self, taxa: usize) -> Result<Vec<u64>, FabricError> {
        let Some(lister) = &self.lister else {
            return Ok(vec![0; taxa]);
        };
        let told = lister.distinct();
        let mut distinct = told.map_err(|error| self.from.of.fail(error))?;
        // The last are those of no taxon.
        distinct.truncate(taxa);
        Ok(distinct)
    }
}

impl Drain for OnDevice<'_> {
    fn owned(&self) -> Vec<usize> {
        self.sorted.partitions().collect()
    }

    fn bytes(&self, partition: usize) -> u64 {
        (self.sorted.count(partition) * RECORD) as u64
    }

    fn drain<E: From<FabricError>>(&self, partition: usize, each: &mut Each<E>) -> Result<(), E> {
        let mut stopped = None;
        let drained = self.sorted.each(partition, |records, count| {
            stopped = each(bytemuck::cast_slice(records), count * RECORD).err();
            match stopped {
                Some(_) => Err(GpuError::Declined),
                None => Ok(()),
            }
        });
        match (stopped, drained) {
            (Some(error), _) => Err(error),
            (None, drained) => Ok(drained.map_err(|error| self.of.fail(error))?),
        }
    }
}
