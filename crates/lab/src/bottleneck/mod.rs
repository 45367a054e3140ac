//! Where the time of counting k-mers would go on another machine.
//!
//! [`measure`] times this machine: how fast it reads these files and writes temporary ones, and
//! how long `gyrase_count` takes for a sample of the reads. [`predict`] plays the whole run with
//! these constants, in the engine of [`crate::ssd`]: batches pass storage, decompression, the
//! threads and storage again, then bins do. So any constant can be another, and
//! [`alternatives`] are those that people ask for: faster storage, more memory, more processors.

mod alternatives;
mod measure;
mod model;
mod page;

pub use alternatives::{Alternative, alternatives};
pub use measure::{BottleneckConfig, CountedData, MeasuredMachine, measure};
pub use model::{PredictedCount, Stages, predict};
pub use page::{bottleneck_json, bottleneck_page, bottleneck_text};
