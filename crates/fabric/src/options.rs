//! What a fabric may use.

use std::sync::Arc;

use crate::{Combiner, Owners, SpillFolder};

/// What makes a [`Combiner`] for each sender, and about how many bytes of records it is given at a
/// time ([`LocalFabric::combining`]).
pub struct Combining {
    /// Makes one.
    pub make: Box<dyn Fn() -> Box<dyn Combiner> + Sync>,
    /// Bytes of records.
    pub portion: u64,
}

/// What a fabric may use.
#[derive(Default)]
pub struct FabricOptions {
    /// Bytes of memory, at least [`LocalFabric::least_memory`] or what its like says.
    pub memory: u64,
    /// Where it spills when that is used up. Without a folder it refuses what does not fit
    /// ([`FabricError::NoSpill`]).
    pub spill: Option<Arc<SpillFolder>>,
    /// Whether its senders combine records.
    pub combining: Option<Combining>,
    /// Who owns the partitions.
    pub owners: Owners,
}

impl FabricOptions {
    /// A fabric that keeps all in so many bytes of memory.
    pub fn memory(memory: u64) -> FabricOptions {
        FabricOptions {
            memory,
            ..FabricOptions::default()
        }
    }
}
