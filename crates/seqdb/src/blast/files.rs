//! Names of files.

use std::path::{Path, PathBuf};

/// The name of a file of a database. A name may have dots, so none of it is replaced.
pub(super) fn with_ending(prefix: &Path, letter: char, ending: &str) -> PathBuf {
    let mut name = prefix.as_os_str().to_owned();
    name.push(format!(".{letter}{ending}"));
    PathBuf::from(name)
}
