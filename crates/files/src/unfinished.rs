//! Partial files and folders of this process, which it removes if it has to end at once.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Begins a partial file or folder and notes it, before a process that has to end at once removes
/// what is noted.
pub(crate) fn begin<T>(
    partial: &Path,
    make: impl FnOnce() -> io::Result<Option<T>>,
) -> io::Result<Option<T>> {
    let mut unfinished = locked();
    let made = make()?;
    unfinished.extend(made.as_ref().map(|_| partial.to_path_buf()));
    Ok(made)
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
