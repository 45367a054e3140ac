//! The calls of the library: all the crate's unsafe code.
//!
//! Soundness rests on this. The library's functions have the types that `device/abi.h` gives them:
//! its version is checked before any other is called. An index is freed after its pipelines, of
//! which each has a share in it. A pipeline is in one thread at a time, by value. What a batch
//! points to outlives the call, which copies it; what comes back stays until the pipeline's next
//! batch, and [`Answers`] has the pipeline meanwhile. Records are freed after what sketches for
//! them and what reads them. What sketches, reads, counts or moves bytes between devices is in one
//! thread at a time too.
#![allow(
    unsafe_code,
    reason = "a library that is loaded at run time is called by pointers"
)]

mod answers;
mod counter;
mod functions;
mod group;
mod on_device;
mod raw;
mod records;

pub(crate) use answers::Answers;
pub(crate) use counter::OpenCounter;
pub(crate) use functions::Functions;
pub(crate) use group::OpenGroup;
pub(crate) use on_device::{OnDevice, Pipeline};
pub use raw::GpuRegion;
pub(crate) use raw::{Batch, LANES, RawPart, RawSuperKmer, Sequence, Tasks, Wanted};
pub(crate) use records::{OpenLister, OpenReader, OpenRecords, OpenSketcher};
