//! Reads looked up on a GPU: what a processor does with sketches, a database and hits, done by a
//! CUDA device with the same result, bit by bit.
//!
//! 1. [`GpuLibrary::find`] loads `libgyrase_gpu.so`. Nothing of CUDA is linked, so a machine
//!    without it runs the same program; where there is no library, no driver, or one too old, an
//!    error says so in one sentence, and whoever asked goes on with the processor.
//! 2. [`GpuIndex::open`] brings the unchanged words of a `.gydb` to the memory of a device.
//! 3. [`GpuIndex::ask`] takes a batch of reads: windows are sketched by a warp each, features are
//!    looked up by four lanes each, hits are sorted within each read, and of every target that was
//!    hit the best region comes back. Batches of several threads are on their way at once, each in
//!    a stream. [`GpuIndex::ask_hits`] gives all hits instead, of slices of one or several
//!    databases, for whoever merges them with others.
//!
//! [`GpuShare::suffixes`] sorts the suffixes of a set of texts, by prefix doubling, and
//! [`GpuShares::suffixes`] does so on several devices.
//! [`GpuShare::records`] sketches sequences for who makes a database of them, sorts their features,
//! and makes lists of them.
//! [`GpuShare::counter`] counts the k-mers of super-k-mers, of several bins at once.
//! [`GpuLibrary::group`] opens logical devices that exchange bytes, by streams and events.
//!
//! The C++ sources are in `device/`. A step is written once, over a `Warp` whose lanes are threads
//! on a device and elements of an array in the **host twin**, the same library made by a C++
//! compiler: so that everything but the device is tested wherever there is such a compiler. `cargo
//! xtask gpu` makes the library.
//!
//! There is no floating point in it: what reads are classified by is decided on the processor.

mod arch;
mod counts;
mod database;
mod error;
mod find;
mod group;
mod index;
mod library;
mod lists;
mod records;
mod routes;
mod suffixes;

pub use arch::GpuRegion;
pub use counts::{GpuCounter, GpuRows, GpuSuperKmers, MOST_BASES};
pub use database::{GpuDatabase, GpuSlice};
pub use error::GpuError;
pub use find::{FILE, VARIABLE};
pub use group::GpuGroup;
pub use index::{GpuAnswers, GpuHits, GpuIndex, GpuSequence};
pub use library::{Gpu, GpuLibrary, GpuShare};
pub use lists::{GpuLists, GpuTargets};
pub use records::{GpuLister, GpuRecords, GpuSketcher, GpuSorted};
pub use routes::{GpuHop, GpuRoutes, GpuTransfer};
pub use suffixes::{GpuShares, GpuSuffixes};
