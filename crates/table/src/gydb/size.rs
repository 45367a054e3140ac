//! How large a database will be.

use gyrase_files::container::ALIGNMENT;

use super::bucket::{FULL, LEAST, LINE_WORDS};
use super::layout::{BLOCK_BYTES, DIRECTORY_BYTES, HEADER_BYTES, PARTITIONS};

const LINE_BYTES: f64 = 4.0 * LINE_WORDS as f64;
/// The part of the buckets that take another line.
const GOES_ON_PART: f64 = 0.05;

/// Bytes of a database of so many features and locations without its sections, about: features
/// are spread over partitions by chance.
pub fn bytes_for(features: u64, locations: u64) -> u64 {
    let partitions = PARTITIONS as f64;
    let mean = features as f64 / partitions;
    let begun = partitions * -(-mean).exp_m1();
    // Half a line, since buckets are whole. Those of few features hardly ever go on.
    let lines = (mean / FULL as f64 + 0.5).max(LEAST as f64);
    let full = (mean / (FULL * LEAST) as f64).min(1.0);
    let lines = lines * (1.0 + GOES_ON_PART * full.powi(4));
    let checksums = ALIGNMENT as f64 / 2.0 + 4.0 * lines * LINE_BYTES / BLOCK_BYTES as f64;
    let partitions = begun * (lines * LINE_BYTES + checksums);
    (HEADER_BYTES + DIRECTORY_BYTES) as u64 + partitions as u64 + 4 * locations
}
