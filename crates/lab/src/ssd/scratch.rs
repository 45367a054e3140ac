//! Folders for temporary files.

use std::path::Path;

use tempfile::TempDir;

use super::error::SsdError;

/// A folder in `tmp` that goes with the value.
pub(crate) fn scratch(tmp: &Path) -> Result<TempDir, SsdError> {
    let made = tempfile::Builder::new()
        .prefix("gyrase-lab-")
        .tempdir_in(tmp);
    made.map_err(|source| SsdError::Temporary {
        folder: tmp.into(),
        source,
    })
}
