//! Key to value: in memory, and sorted on disk under a memory map.

pub mod gyk;
mod map;
