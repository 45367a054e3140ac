//! Partial files and folders of this process, which it removes if it has to end at once.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Notes what was begun.
pub(crate) fn begun(partial: &Path) {
    locked().push(partial.to_path_buf());
}

/// Forgets what has its name, was removed, or is to stay.
pub(crate) fn ended(partial: &Path) {
    let mut unfinished = locked();
    if let Some(at) = unfinished.iter().position(|begun| begun == partial) {
        unfinished.swap_remove(at);
    }
}

/// Removes what this process has begun and not finished, but for what is to be resumed: for the
/// moment before it exits without a drop of anything.
pub fn remove_unfinished() {
    for partial in locked().drain(..) {
        let _ = std::fs::remove_file(&partial).or_else(|_| std::fs::remove_dir_all(&partial));
    }
}

fn locked() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
