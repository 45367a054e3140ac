//! Targets with an invariant each. A target takes any bytes and panics when its invariant does not
//! hold.
//!
//! `cargo fuzz run --features libfuzzer fastx` searches with libFuzzer (nightly); the
//! tests mutate the same seeds on a stable toolchain, and are what `cargo xtask test` runs.

mod candidates;
mod databases;
mod features;
mod records;
mod seals;
mod suffixes;
mod taxonomies;

use std::path::{Path, PathBuf};

pub use candidates::candidates;
pub use databases::{gyk, kmc};
pub use features::gydb;
pub use records::{fastx, ranges};
pub use suffixes::{exact_matches, gysa};
pub use taxonomies::taxonomy;

/// A function that checks one input.
pub type Target = fn(&[u8]);

/// Every target by name.
pub const TARGETS: [(&str, Target); 9] = [
    ("fastx", fastx),
    ("ranges", ranges),
    ("gyk", gyk),
    ("kmc", kmc),
    ("gydb", gydb),
    ("candidates", candidates),
    ("gysa", gysa),
    ("exact_matches", exact_matches),
    ("taxonomy", taxonomy),
];

/// Inputs to begin with: for the readers of records their test corpus, for those of databases a few
/// edits.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    if ["gyk", "kmc", "gydb", "candidates", "gysa"].contains(&target) {
        return vec![
            vec![0],
            vec![0, 9, 0, 0, 0, 1],
            vec![2, 4, 16, 0, 0, 255],
            vec![1, 71, 89, 82, 65, 83, 69, 75, 10, 1],
            vec![2, 200, 0, 0, 0, 255],
        ];
    }
    if target == "taxonomy" {
        return taxonomies::seeds();
    }
    let files = std::fs::read_dir(repository().join("crates/fastx/tests/corpus"))
        .into_iter()
        .flatten();
    let texts = files.filter_map(|entry| std::fs::read(entry.ok()?.path()).ok());
    // Large files make slow steps; the first byte chooses the options.
    texts
        .filter(|text| text.len() < 1 << 14)
        .map(|text| [vec![7], text].concat())
        .collect()
}

fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
