//! Lists of features as a GPU makes them of sorted records.

use gyrase_table::gydb::Location;

/// What lists are made by.
#[derive(Clone, Copy, Debug)]
pub struct GpuTargets<'t> {
    /// The first window of each target, ascending; the first is 0.
    pub first_windows: &'t [Location],
    /// A checksum of the name of each: of a list that is too long, what is kept depends on it.
    pub names: &'t [u64],
    /// The number of the taxon of each; that behind all taxa where it has none.
    pub taxa: &'t [u32],
    /// How many taxa there are.
    pub all_taxa: usize,
    /// How many windows all targets have, more than any location.
    pub windows: u32,
}

/// The lists of a partition, as [`gyrase_table::gydb::Writer::piece`] takes them.
#[derive(Clone, Copy, Debug)]
pub struct GpuLists<'l> {
    /// The places of features, ascending.
    pub places: &'l [u32],
    /// How many locations each has.
    pub counts: &'l [u8],
    /// All locations, one list behind the other.
    pub locations: &'l [Location],
    /// How many features have as many as they may.
    pub full: u32,
}
