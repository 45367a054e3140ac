//! Byte batches to the owner of a partition; files that appear whole or not at all.

mod output;

pub use output::{OutputError, OutputFile};
