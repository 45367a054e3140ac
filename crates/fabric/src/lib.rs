//! Byte batches to the owner of a partition; files that appear whole or not at all.

mod output;
mod progress;

pub use output::{OutputError, OutputFile};
pub use progress::{Progress, Stage};
