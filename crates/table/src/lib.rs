//! Key to value: in memory, and sorted on disk under a memory map.

mod bloom;
mod cardinality;
pub mod gydb;
pub mod gyk;
mod map;
mod memory;
mod write_back;

pub use bloom::Bloom;
pub use cardinality::Cardinality;
pub use memory::{CountTable, TableKey};
