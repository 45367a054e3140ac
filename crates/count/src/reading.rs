//! How the inputs are read, within the memory of the run.

use gyrase_fastx::{Inputs, Options};
use gyrase_tabulate::longest_record;

use crate::Config;

/// Bytes of text read at a time: small enough to leave the second-level cache to the ends of the
/// partitions.
pub(crate) const BATCH: usize = 256 << 10;

/// What the overhead of a thread has room for of a decompressor's window.
pub(crate) const WINDOW: u64 = 8 << 20;

/// Bytes that decompressors may keep beside what their inputs announce.
fn most_window(config: &Config) -> u64 {
    (config.memory / 8 / config.threads as u64).max(WINDOW)
}

/// Bytes that decompressors keep: each thread reads one input at a time, and it may be those that
/// keep most.
pub(crate) fn windows(inputs: &Inputs, threads: usize) -> u64 {
    let mut windows: Vec<u64> = inputs
        .inputs()
        .iter()
        .map(|input| input.window.saturating_sub(WINDOW))
        .collect();
    windows.sort_unstable_by(|a, b| b.cmp(a));
    windows
        .iter()
        .take(threads)
        .fold(0, |sum, &window| sum.saturating_add(window))
}

/// How the inputs are read, plain files from front to end where they are `serial`.
pub(crate) fn options(config: &Config, serial: bool) -> Options {
    let for_kmers = Options::for_kmers(config.shape.k());
    let Config {
        min_base_quality,
        paired,
        ..
    } = *config;
    Options {
        min_base_quality,
        paired,
        serial,
        batch_bytes: BATCH,
        longest_record: longest_record(config.memory),
        most_window: most_window(config),
        ..for_kmers
    }
}
