//! Folders that appear whole or not at all.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::output::{OutputError, without_folder};
use crate::unfinished;

/// A folder under construction beside its target, at `<target>.partial`.
///
/// [`OutputFolder::commit`] gives it the name of the target; dropped before that it is removed and
/// the target stays as it was. What a killed process left is replaced by the next run.
#[derive(Debug)]
pub struct OutputFolder {
    target: PathBuf,
    partial: PathBuf,
    done: bool,
}

impl OutputFolder {
    /// Starts an empty folder that will become `target`, which is not there, or is a folder with
    /// nothing in it but some of `files`: what an earlier run made.
    ///
    /// # Errors
    /// The target is something else, or the folder cannot be made.
    pub fn create(target: &Path, files: &[&str]) -> Result<OutputFolder, OutputError> {
        let fail = |source| OutputError {
            path: target.to_path_buf(),
            source,
        };
        let Some(partial) = OutputFolder::partial(target) else {
            return Err(fail(io::Error::other(
                "it has no name; name a folder to make",
            )));
        };
        keep_others(target, files).map_err(fail)?;
        // Without a slash at the end.
        let target: PathBuf = target.components().collect();
        remove(&partial).map_err(fail)?;
        let create = || fs::create_dir(&partial).map(Some);
        unfinished::begin(&partial, create)
            .map_err(|error| fail(without_folder(&partial, error)))?;
        Ok(OutputFolder {
            target,
            partial,
            done: false,
        })
    }

    /// Where the folder is until it has its name; nothing where the target has none.
    pub fn partial(target: &Path) -> Option<PathBuf> {
        let mut name = target.file_name()?.to_owned();
        name.push(".partial");
        Some(target.with_file_name(name))
    }

    /// Where a file of the folder is to be written.
    pub fn file(&self, name: &str) -> PathBuf {
        self.partial.join(name)
    }

    /// Gives the folder its name. Its files must be on the disk.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn commit(mut self) -> Result<(), OutputError> {
        let sync = |folder: &Path| {
            // Folders that cannot be synced are no error.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        };
        sync(&self.partial);
        remove(&self.target)
            .and_then(|()| fs::rename(&self.partial, &self.target))
            .map_err(|source| OutputError {
                path: self.target.clone(),
                source,
            })?;
        self.done = true;
        match self.target.parent() {
            Some(above) if !above.as_os_str().is_empty() => sync(above),
            _ => sync(Path::new(".")),
        }
        Ok(())
    }
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        if !self.done {
            let _ = remove(&self.partial);
        }
        unfinished::ended(&self.partial);
    }
}

/// Refuses a target that holds what no run made.
fn keep_others(target: &Path, files: &[&str]) -> io::Result<()> {
    let entries = match fs::read_dir(target) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let name = entry?.file_name();
        if !files.iter().any(|file| name == *file) {
            let name = name.to_string_lossy();
            return Err(io::Error::other(format!(
                "the folder holds {name}, which would be lost; name another folder"
            )));
        }
    }
    Ok(())
}

/// Removes a folder and what is in it, if it is there.
fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_appears_when_it_is_whole() {
        let above = tempfile::tempdir().unwrap();
        let target = above.path().join("asm");
        // As a shell completes it.
        let slashed = above.path().join("asm/");
        let make = |text: &str| {
            let folder = OutputFolder::create(&slashed, &["a.fa"]).unwrap();
            fs::write(folder.file("a.fa"), text).unwrap();
            folder
        };
        drop(make("never"));
        assert_eq!(fs::read_dir(above.path()).unwrap().count(), 0);
        make("one").commit().unwrap();
        std::mem::forget(make("killed"));
        assert_eq!(fs::read(target.join("a.fa")).unwrap(), b"one");
        make("two").commit().unwrap();
        assert_eq!(fs::read(target.join("a.fa")).unwrap(), b"two");
        assert_eq!(fs::read_dir(above.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_no_run_made_is_kept() {
        let above = tempfile::tempdir().unwrap();
        fs::write(above.path().join("thesis.tex"), "x").unwrap();
        let error = OutputFolder::create(above.path(), &["a.fa"]).unwrap_err();
        assert!(error.to_string().contains("thesis.tex"), "{error}");
        assert!(OutputFolder::create(Path::new(".."), &["a.fa"]).is_err());
        let file = above.path().join("thesis.tex");
        assert!(OutputFolder::create(&file, &["a.fa"]).is_err());
    }
}
