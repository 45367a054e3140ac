//! Databases as a device needs them.

use gyrase_kmer::SketchShape;
use gyrase_table::gydb::{FeatureWords, Location};

/// What a device looks up: all of a database, or slices of several that are used as one.
#[derive(Clone, Copy, Debug)]
pub struct GpuDatabase<'d> {
    /// How reads are sketched.
    pub shape: SketchShape,
    /// Where features are looked up. No window is in two of them.
    pub slices: &'d [GpuSlice<'d>],
    /// The first window of each target, ascending; the first is 0.
    pub first_windows: &'d [Location],
    /// How many windows all targets have, more than any location.
    pub windows: u32,
}

/// Some partitions of a database.
#[derive(Clone, Debug)]
pub struct GpuSlice<'d> {
    /// Features and their locations: words that were verified.
    pub words: FeatureWords<'d>,
    /// What its windows are counted from.
    pub first_window: Location,
}

/// Bytes of tables that a device has beside slices, and for each of them.
const TABLES: u64 = 1 << 20;
const TABLES_OF_SLICE: u64 = 1 << 17;

/// Bytes of a device that so many slices take beside their words, where there are so many targets.
pub(crate) fn bytes_beside(slices: usize, targets: usize) -> u64 {
    TABLES + slices as u64 * TABLES_OF_SLICE + (targets * size_of::<Location>()) as u64
}

impl GpuDatabase<'_> {
    /// Bytes that it takes on a device.
    pub(crate) fn bytes(&self) -> u64 {
        let words = self
            .slices
            .iter()
            .map(|slice| size_of_val(slice.words.words) as u64);
        words.sum::<u64>() + bytes_beside(self.slices.len(), self.first_windows.len())
    }
}
