//! What a database says about itself.

use std::path::Path;

use gyrase_table::gyk::{Database, Header, Metadata};

use crate::ops::OperationError;

/// Parameters, totals and origin of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Parameters and totals.
    pub header: Header,
    /// What it was made of.
    pub metadata: Metadata,
    /// Bins that hold a k-mer.
    pub bins_used: usize,
    /// k-mers of the fullest bin.
    pub fullest_bin: usize,
    /// True when every bin was read and found whole; false when that was not asked for.
    pub verified: bool,
}

/// Reads what a database says about itself; with `verify`, reads and checks all of it.
pub fn run(path: &Path, verify: bool) -> Result<Info, OperationError> {
    let database = Database::open(path)?;
    if verify {
        database.verify()?;
    }
    let lengths = (0..gyrase_kmer::BINS).map(|bin| database.bin_len(bin));
    Ok(Info {
        header: *database.header(),
        metadata: database.metadata().clone(),
        bins_used: lengths.clone().filter(|&length| length > 0).count(),
        fullest_bin: lengths.max().unwrap_or(0),
        verified: verify,
    })
}
