//! A database as a device needs it.

use gyrase_kmer::SketchShape;
use gyrase_table::gydb::{FeatureWords, Location};

/// A database as a device needs it.
#[derive(Clone, Copy, Debug)]
pub struct GpuDatabase<'d> {
    /// How reads are sketched.
    pub shape: SketchShape,
    /// Features and their locations: words that were verified.
    pub words: &'d FeatureWords<'d>,
    /// The first window of each target, ascending; the first is 0.
    pub first_windows: &'d [Location],
    /// How many windows all targets have, more than any location.
    pub windows: u32,
}

/// Bytes of tables that a device has beside the database.
const TABLES: u64 = 1 << 20;

impl GpuDatabase<'_> {
    /// Bytes that it takes on a device.
    pub(crate) fn bytes(&self) -> u64 {
        let words = size_of_val(self.words.words) + size_of_val(self.first_windows);
        words as u64 + TABLES
    }
}
