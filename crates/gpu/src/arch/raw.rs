//! What the functions of the library take and give: `device/abi.h`.

use std::ffi::c_char;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::ptr;

use gyrase_kmer::{Choice, Shape, SketchShape};
use gyrase_table::gydb::{FeatureWords, Location, PARTITIONS, PartitionWords};

use crate::database::{GpuDatabase, GpuSlice};
use crate::lists::GpuTargets;
use crate::routes::{GpuHop, GpuTransfer};

/// A device as the library describes it.
#[repr(C)]
pub(crate) struct RawDevice {
    pub(super) name: [c_char; 128],
    pub(crate) memory: u64,
    pub(crate) free: u64,
    pub(crate) major: i32,
    pub(crate) minor: i32,
}

/// `gyrase_gpu_shape`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawShape {
    k: u32,
    window: u32,
    stride: u32,
    smallest: u32,
    smers: u32,
    s: u32,
    margin: u32,
    limit: u32,
}

impl From<SketchShape> for RawShape {
    fn from(shape: SketchShape) -> RawShape {
        let [k, window, stride] = [shape.k(), shape.window(), shape.stride()].map(|n| n as u32);
        let sampling = shape.sampling();
        RawShape {
            k,
            window,
            stride,
            smallest: match shape.choice() {
                Choice::Smallest(most) => most as u32,
                Choice::OneIn(_) => 0,
            },
            smers: sampling.map_or(0, |sampling| sampling.smers as u32),
            s: sampling.map_or(0, |sampling| sampling.s as u32),
            margin: sampling.map_or(0, |sampling| sampling.margin as u32),
            limit: sampling.map_or(u32::MAX, |sampling| sampling.limit),
        }
    }
}

/// `gyrase_gpu_slice`.
#[repr(C)]
pub(crate) struct RawSlice {
    words: *const u32,
    word_count: u64,
    partitions: *const PartitionWords,
    first_window: u32,
    unused: u32,
}

impl From<&GpuSlice<'_>> for RawSlice {
    fn from(slice: &GpuSlice<'_>) -> RawSlice {
        let FeatureWords { words, partitions } = &slice.words;
        assert!(words.len().is_multiple_of(16) && partitions.len() == PARTITIONS);
        RawSlice {
            words: words.as_ptr(),
            word_count: words.len() as u64,
            partitions: partitions.as_ptr(),
            first_window: slice.first_window.0,
            unused: 0,
        }
    }
}

/// `gyrase_gpu_database`.
#[repr(C)]
pub(crate) struct RawDatabase<'s> {
    shape: RawShape,
    slices: *const RawSlice,
    slice_count: u64,
    first_windows: *const Location,
    targets: u32,
    all_windows: u32,
    of: PhantomData<&'s [RawSlice]>,
}

impl<'s> RawDatabase<'s> {
    /// A database of these slices.
    pub(super) fn new(database: &GpuDatabase<'_>, slices: &'s [RawSlice]) -> RawDatabase<'s> {
        RawDatabase {
            shape: database.shape.into(),
            slices: slices.as_ptr(),
            slice_count: slices.len() as u64,
            first_windows: database.first_windows.as_ptr(),
            targets: database.first_windows.len() as u32,
            all_windows: database.windows,
            of: PhantomData,
        }
    }
}

/// `gyrase_gpu_sequence`.
#[repr(C)]
pub(crate) struct Sequence<'b> {
    letters: *const u8,
    length: u32,
    windows: u32,
    read: u32,
    unused: u32,
    of: PhantomData<&'b [u8]>,
}

impl<'b> Sequence<'b> {
    /// A sequence of that read, with so many windows; `None` where it is too long to be counted.
    pub(crate) fn new(letters: &'b [u8], windows: u32, read: u32) -> Option<Sequence<'b>> {
        Some(Sequence {
            letters: letters.as_ptr(),
            length: u32::try_from(letters.len()).ok()?,
            windows,
            read,
            unused: 0,
            of: PhantomData,
        })
    }
}

/// What is wanted of the reads of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted<'b> {
    /// The best regions, of up to so many windows for each read.
    Regions { spans: &'b [u32] },
    /// All hits of so many reads.
    Hits { reads: usize },
}

impl Wanted<'_> {
    /// How many reads there are.
    pub(crate) fn reads(&self) -> usize {
        match *self {
            Wanted::Regions { spans } => spans.len(),
            Wanted::Hits { reads } => reads,
        }
    }
}

/// `gyrase_gpu_batch`.
#[repr(C)]
pub(crate) struct Batch<'b> {
    sequences: *const Sequence<'b>,
    sequence_count: u32,
    reads: u32,
    spans: *const u32,
    of: PhantomData<&'b [Sequence<'b>]>,
}

impl<'b> Batch<'b> {
    /// Sequences, in the order of their reads, and what is wanted of these; `None` where they are
    /// too many to be counted.
    pub(crate) fn new(sequences: &'b [Sequence<'b>], wanted: Wanted<'b>) -> Option<Batch<'b>> {
        let spans = match wanted {
            Wanted::Regions { spans } => spans.as_ptr(),
            Wanted::Hits { .. } => ptr::null(),
        };
        Some(Batch {
            sequences: sequences.as_ptr(),
            sequence_count: u32::try_from(sequences.len()).ok()?,
            reads: u32::try_from(wanted.reads()).ok()?,
            spans,
            of: PhantomData,
        })
    }

    /// How many reads there are.
    pub(super) fn reads(&self) -> usize {
        self.reads as usize
    }
}

/// The best region of a target for a read.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuRegion {
    /// The number of the target.
    pub target: u32,
    /// The first window of the region with a hit.
    pub first: u32,
    /// The last.
    pub last: u32,
    /// How many hits it has.
    pub hits: u32,
}

/// `gyrase_gpu_answers`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct RawAnswers {
    pub(super) features: *const u32,
    pub(super) regions: *const GpuRegion,
    pub(super) hits: *const u32,
    pub(super) all_hits: *const u64,
    pub(super) feature_begins: *const u32,
    pub(super) region_begins: *const u32,
    pub(super) hit_begins: *const u32,
    pub(super) feature_count: u64,
    pub(super) region_count: u64,
    pub(super) hit_count: u64,
    pub(super) all_hit_count: u64,
}

impl Default for RawAnswers {
    fn default() -> RawAnswers {
        RawAnswers {
            features: ptr::null(),
            regions: ptr::null(),
            hits: ptr::null(),
            all_hits: ptr::null(),
            feature_begins: ptr::null(),
            region_begins: ptr::null(),
            hit_begins: ptr::null(),
            feature_count: 0,
            region_count: 0,
            hit_count: 0,
            all_hit_count: 0,
        }
    }
}

/// `gyrase_gpu_targets`.
#[repr(C)]
pub(crate) struct RawTargets<'t> {
    first_windows: *const Location,
    names: *const u64,
    taxa: *const u32,
    count: u32,
    all_windows: u32,
    of: PhantomData<&'t [u64]>,
}

impl<'t> RawTargets<'t> {
    /// Targets as a device lists features by; `None` where they are too many to be counted.
    pub(super) fn new(targets: &GpuTargets<'t>) -> Option<RawTargets<'t>> {
        let GpuTargets {
            first_windows,
            names,
            taxa,
            windows,
            ..
        } = *targets;
        let count = first_windows.len();
        assert!(names.len() == count && taxa.len() == count, "each has all");
        Some(RawTargets {
            first_windows: first_windows.as_ptr(),
            names: names.as_ptr(),
            taxa: taxa.as_ptr(),
            count: u32::try_from(count).ok()?,
            all_windows: windows,
            of: PhantomData,
        })
    }
}

/// `gyrase_gpu_lists`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct RawLists {
    pub(super) places: *const u32,
    pub(super) counts: *const u8,
    pub(super) windows: *const Location,
    pub(super) list_count: u32,
    pub(super) window_count: u32,
    pub(super) full: u32,
}

impl Default for RawLists {
    fn default() -> RawLists {
        RawLists {
            places: ptr::null(),
            counts: ptr::null(),
            windows: ptr::null(),
            list_count: 0,
            window_count: 0,
            full: 0,
        }
    }
}

/// `gyrase_gpu_text`.
#[repr(C)]
pub(crate) struct RawText<'t> {
    letters: *const u8,
    length: u64,
    codes: u32,
    unused: u32,
    of: PhantomData<&'t [u8]>,
}

impl<'t> RawText<'t> {
    /// Letters as codes, of which there are so many.
    pub(super) fn new(letters: &'t [u8], codes: u32) -> RawText<'t> {
        RawText {
            letters: letters.as_ptr(),
            length: letters.len() as u64,
            codes,
            unused: 0,
            of: PhantomData,
        }
    }
}

/// `gyrase_gpu_hop`.
#[repr(C)]
pub(super) struct RawHop {
    from: u32,
    to: u32,
    source: u32,
    target: u32,
    first_chunk: u32,
    end_chunk: u32,
    after: u32,
    unused: u32,
}

impl From<&GpuHop> for RawHop {
    fn from(hop: &GpuHop) -> RawHop {
        RawHop {
            from: hop.from as u32,
            to: hop.to as u32,
            source: hop.source as u32,
            target: hop.target as u32,
            first_chunk: hop.chunks.start as u32,
            end_chunk: hop.chunks.end as u32,
            after: hop.after.map_or(NONE, |before| before as u32),
            unused: 0,
        }
    }
}

/// `gyrase_gpu_routes`.
#[repr(C)]
pub(crate) struct RawRoutes<'r> {
    hops: *const RawHop,
    hop_count: u32,
    chunks: u32,
    of: PhantomData<&'r [RawHop]>,
}

impl<'r> RawRoutes<'r> {
    /// Transfers of messages in so many chunks.
    pub(super) fn new(hops: &'r [RawHop], chunks: usize) -> RawRoutes<'r> {
        RawRoutes {
            hops: hops.as_ptr(),
            hop_count: hops.len() as u32,
            chunks: chunks as u32,
            of: PhantomData,
        }
    }
}

/// Lanes of a warp: super-k-mers of a task.
pub(crate) const LANES: usize = 32;

/// `gyrase_gpu_super_kmer`: the words of a super-k-mer, the lower first. None where all is zero.
pub(crate) type RawSuperKmer = [u64; 2];

/// `gyrase_gpu_part`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawPart {
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) first_task: u32,
    pub(crate) unused: u32,
}

/// What [`RawSuperKmers`] points to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tasks<'t> {
    /// A full task after the other.
    pub(crate) super_kmers: &'t [RawSuperKmer],
    /// Of each.
    pub(crate) weights: &'t [u32],
    /// Of each task, ascending.
    pub(crate) parts_of_tasks: &'t [u32],
    /// Each begins with the task that it names, or another does.
    pub(crate) parts: &'t [RawPart],
}

/// `gyrase_gpu_super_kmers`.
#[repr(C)]
pub(crate) struct RawSuperKmers<'t> {
    super_kmers: *const RawSuperKmer,
    weights: *const u32,
    parts_of_tasks: *const u32,
    parts: *const RawPart,
    tasks: u32,
    part_count: u32,
    k: u32,
    stranded: u32,
    least_count: u32,
    most_count: u32,
    of: PhantomData<Tasks<'t>>,
}

impl<'t> RawSuperKmers<'t> {
    /// Tasks of k-mers of a shape, and which counts are wanted; `None` where they are too many to
    /// be counted.
    pub(super) fn new(
        tasks: Tasks<'t>,
        shape: Shape,
        counted: &RangeInclusive<u32>,
    ) -> Option<RawSuperKmers<'t>> {
        let Tasks {
            super_kmers,
            weights,
            parts_of_tasks,
            parts,
        } = tasks;
        let count = parts_of_tasks.len();
        assert!(super_kmers.len() == count * LANES && weights.len() == count * LANES);
        Some(RawSuperKmers {
            super_kmers: super_kmers.as_ptr(),
            weights: weights.as_ptr(),
            parts_of_tasks: parts_of_tasks.as_ptr(),
            parts: parts.as_ptr(),
            tasks: u32::try_from(count).ok()?,
            part_count: u32::try_from(parts.len()).ok()?,
            k: shape.k() as u32,
            stranded: u32::from(shape.stranded()),
            least_count: *counted.start(),
            most_count: *counted.end(),
            of: PhantomData,
        })
    }
}

/// `gyrase_gpu_transfer`.
#[repr(C)]
pub(crate) struct RawTransfer {
    from: u32,
    to: u32,
    from_byte: u64,
    to_byte: u64,
    bytes: u64,
    after: u32,
    unused: u32,
}

/// The number of no transfer.
const NONE: u32 = u32::MAX;

impl From<&GpuTransfer> for RawTransfer {
    fn from(transfer: &GpuTransfer) -> RawTransfer {
        RawTransfer {
            from: transfer.from as u32,
            to: transfer.to as u32,
            from_byte: transfer.from_byte,
            to_byte: transfer.to_byte,
            bytes: transfer.bytes,
            after: transfer.after.map_or(NONE, |before| before as u32),
            unused: 0,
        }
    }
}
