//! KMC's databases: `NAME.kmc_pre`, which counts k-mers per prefix, beside `NAME.kmc_suf`, which
//! holds the rest of each k-mer.
//!
//! A record of `.kmc_suf` is the last `k - p` bases of a k-mer (a multiple of four, two bits a
//! base, first base most significant) and its count in `c` bytes, least significant first; it lies
//! between two markers `KMCS`. A table of `4^p` numbers of 64 bits in `.kmc_pre` says at which
//! record each prefix of `p` bases begins. A pair of version 0 (KMC 1, and
//! `kmc_tools transform sort`) has one such table and is in the order of the letters. Version 0x200
//! (KMC 2 and 3) has one table per bin, one after the other, a closing number, and a map from
//! signatures to bins. `.kmc_pre` ends with fixed fields, their length, and the marker `KMCP` with
//! which it also begins.

mod read;
mod write;

pub use read::Reader;
pub use write::Writer;
pub(crate) use write::sizes;

use std::path::{Path, PathBuf};

const PREFIX_MARKER: &[u8; 4] = b"KMCP";
const SUFFIX_MARKER: &[u8; 4] = b"KMCS";
const PREFIX_ENDING: &str = ".kmc_pre";
const SUFFIX_ENDING: &str = ".kmc_suf";

/// The two files of the database that `path` names: with either ending, or with none as KMC's own
/// programs want it.
pub fn pair(path: &Path) -> (PathBuf, PathBuf) {
    let text = path.as_os_str().as_encoded_bytes();
    let stem = match text
        .strip_suffix(PREFIX_ENDING.as_bytes())
        .or(text.strip_suffix(SUFFIX_ENDING.as_bytes()))
    {
        Some(_) => path.with_extension(""),
        None => path.to_path_buf(),
    };
    let ended = |ending| {
        let mut name = stem.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    (ended(PREFIX_ENDING), ended(SUFFIX_ENDING))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_file_and_the_bare_name_stand_for_the_pair() {
        for name in ["a/x.1", "a/x.1.kmc_pre", "a/x.1.kmc_suf"] {
            let (prefixes, suffixes) = pair(Path::new(name));
            assert_eq!(
                (prefixes.to_str(), suffixes.to_str()),
                (Some("a/x.1.kmc_pre"), Some("a/x.1.kmc_suf"))
            );
        }
    }
}
