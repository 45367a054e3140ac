//! Files that appear whole or not at all.

use std::fs::{File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use tracing::info_span;

use crate::write_back::WriteBack;
use crate::{system, unfinished};

/// How often a partial file may vanish while it is opened.
const TRIES: usize = 16;

/// How many symbolic links are followed, as the system does.
const LINKS: usize = 40;

/// Bytes that are written one behind the other between two requests to bring them to the disk.
const STRETCH: u64 = if cfg!(test) { 4 } else { 64 << 20 };

/// A file that could not be written: which one, and what the system said.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", path.display())]
pub struct OutputError {
    /// The file that was to appear.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// A file under construction beside its target, at `<target>.partial`.
///
/// A symbolic link is written through: the file that it names is replaced, or made, and the link
/// stays.
///
/// [`OutputFile::commit`] syncs it and renames it onto the target (or
/// [`OutputFile::commit_unsynced`] only renames it); dropped before that it is removed and the
/// target stays as it was. The name is fixed, so that what a killed process left is overwritten by
/// the next run, and locked, so that two processes cannot build the same target at once.
#[derive(Debug)]
pub struct OutputFile {
    file: File,
    /// As it was named.
    target: PathBuf,
    /// Behind symbolic links.
    place: PathBuf,
    partial: PathBuf,
    keep: bool,
    /// Bytes that were written one behind the other.
    written: u64,
    /// Once these are many.
    write_back: Option<WriteBack>,
}

impl OutputFile {
    /// Starts an empty file that will become `target`.
    pub fn create(target: &Path) -> Result<OutputFile, OutputError> {
        let output = OutputFile::open(target)?;
        output
            .file
            .set_len(0)
            .map_err(|source| output.error(source))?;
        Ok(output)
    }

    /// Goes on with what an earlier process left of `target` (its first `length` bytes), or starts
    /// anew.
    pub fn resume(target: &Path, length: u64) -> Result<OutputFile, OutputError> {
        let mut output = OutputFile::open(target)?;
        let resumed = output
            .file
            .set_len(length)
            .and_then(|()| output.file.seek(SeekFrom::End(0)));
        resumed.map_err(|source| output.error(source))?;
        Ok(output)
    }

    fn open(target: &Path) -> Result<OutputFile, OutputError> {
        let place = behind_links(target).map_err(|source| OutputError {
            path: target.to_path_buf(),
            source,
        })?;
        let partial = partial_of(&place);
        let fail = |source| OutputError {
            path: target.to_path_buf(),
            source,
        };
        match target.metadata() {
            Ok(there) if there.is_dir() => return Err(fail(io::Error::other("it is a directory"))),
            // A rename would put a file in the place of a device or a pipe.
            Ok(there) if !there.is_file() => {
                return Err(fail(io::Error::other("it is no ordinary file")));
            }
            _ => {}
        }
        for _ in 0..TRIES {
            let open = || {
                let file = open_locked(&partial)?;
                Ok(is_named(&file, &partial).then_some(file))
            };
            if let Some(file) = unfinished::begin(&partial, open).map_err(fail)? {
                return Ok(OutputFile {
                    file,
                    target: target.to_path_buf(),
                    place,
                    partial,
                    keep: false,
                    written: 0,
                    write_back: None,
                });
            }
        }
        Err(fail(io::Error::other("other processes are writing it")))
    }

    /// The file under construction, for positioned writes.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Where a file is built that will be `target`; `None` where that is a symbolic link in a
    /// circle.
    pub fn partial(target: &Path) -> Option<PathBuf> {
        behind_links(target).ok().map(|place| partial_of(&place))
    }

    /// Begins the file with a token that no other begins with, by which processes know it that
    /// [`OutputFile::join`]. What belongs there is to be written once all of them have joined;
    /// anything else at any time.
    ///
    /// # Errors
    /// The disk is full.
    pub fn invite(&self) -> Result<u64, OutputError> {
        // Where nothing was written yet there are zeros.
        let token = RandomState::new().build_hasher().finish() | 1;
        let written = self.file.write_all_at(&token.to_le_bytes(), 0);
        // What is closed is sent to the server of a network file system, for whoever opens it
        // later. A sync would also wait for the disk.
        written
            .and_then(|()| self.file.try_clone())
            .map(drop)
            .map_err(|source| self.error(source))?;
        Ok(token)
    }

    /// Opens what another process builds of `target`, and only what begins with the token that
    /// [`OutputFile::invite`] returned there: on another machine there may be another file of that
    /// name, of an earlier run. The file is that process's; it locks and publishes or removes it.
    ///
    /// # Errors
    /// The file is not to be seen here, or cannot be written.
    pub fn join(target: &Path, token: u64) -> Result<File, OutputError> {
        let fail = |source| OutputError {
            path: target.to_path_buf(),
            source,
        };
        let elsewhere = || {
            fail(io::Error::other(
                "the file that rank 0 began is not there: the folder must be one that all machines of the job share",
            ))
        };
        let partial = behind_links(target)
            .map(|place| partial_of(&place))
            .map_err(fail)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(partial)
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => elsewhere(),
                _ => fail(error),
            })?;
        let mut found = [0; size_of::<u64>()];
        match file.read_exact_at(&mut found, 0) {
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(fail(error)),
            Ok(()) if u64::from_le_bytes(found) == token => Ok(file),
            _ => Err(elsewhere()),
        }
    }

    /// Opens what is built of `target` to read what its file system has of it, not what this
    /// machine keeps of it in memory. What this process wrote must be synced.
    ///
    /// # Errors
    /// The file is not there.
    pub fn reread(target: &Path) -> Result<File, OutputError> {
        let opened = behind_links(target).and_then(|place| File::open(partial_of(&place)));
        let file = opened.map_err(|source| OutputError {
            path: target.to_path_buf(),
            source,
        })?;
        // Whoever opens a file of a network file system is told whether it changed; what a machine
        // wrote itself it may take to be good.
        system::forget(&file);
        Ok(file)
    }

    /// A file without a name, on the disk of the target: it is gone when it is dropped, or with the
    /// process.
    pub fn scratch(&self) -> Result<File, OutputError> {
        tempfile::tempfile_in(folder_of(&self.place)).map_err(|source| self.error(source))
    }

    /// The name that the file will have.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// From now on a drop without [`OutputFile::commit`] leaves the partial file for
    /// [`OutputFile::resume`].
    pub fn keep_partial(&mut self) {
        self.keep = true;
        unfinished::ended(&self.partial);
    }

    /// Wraps an error of the system with the name of the target.
    pub fn error(&self, source: io::Error) -> OutputError {
        OutputError {
            path: self.target.clone(),
            source,
        }
    }

    /// Starts to bring to the disk what was written, so that [`OutputFile::commit`] finds little
    /// left to do.
    fn write_back(&mut self) -> io::Result<()> {
        let write_back = match &mut self.write_back {
            Some(write_back) => write_back,
            none => none.insert(WriteBack::start(self.file.try_clone()?)),
        };
        write_back.request();
        Ok(())
    }

    /// Gives the file its name and leaves it to the system when it is on the disk: one of many
    /// small files that are easily made again, each of which would wait for the disk. Only a crash
    /// of the machine can leave less than the whole.
    pub fn commit_unsynced(mut self) -> Result<(), OutputError> {
        std::fs::rename(&self.partial, &self.place).map_err(|source| self.error(source))?;
        self.keep = true;
        Ok(())
    }

    /// Syncs the file and gives it its name.
    pub fn commit(mut self) -> Result<(), OutputError> {
        let joined = self.write_back.as_mut().map_or(Ok(()), WriteBack::join);
        let sync = info_span!(target: "gyrase::trace", "sync").entered();
        let done = joined
            .and_then(|()| self.file.sync_all())
            .and_then(|()| std::fs::rename(&self.partial, &self.place));
        drop(sync);
        done.map_err(|source| self.error(source))?;
        self.keep = true;
        // The rename itself must survive a crash; folders that cannot be synced are no error.
        let _ = File::open(folder_of(&self.place)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

/// Where a file is built that will be at `place`.
fn partial_of(place: &Path) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

/// Follows symbolic links to a file, which need not be there.
fn behind_links(target: &Path) -> io::Result<PathBuf> {
    let mut place = target.to_path_buf();
    for _ in 0..LINKS {
        match std::fs::read_link(&place) {
            Ok(named) => place = place.parent().unwrap_or(Path::new("")).join(named),
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("it is a symbolic link in a circle"))
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Opens a partial file that no other process holds.
fn open_locked(partial: &Path) -> io::Result<File> {
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(partial);
    let file = opened.map_err(|error| without_folder(partial, error))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::Error::other("another process is writing it")),
        // A file system without locks is no reason not to write.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Names the folder where it is the folder that is missing.
pub(crate) fn without_folder(path: &Path, error: io::Error) -> io::Error {
    match missing_folder(path) {
        // Of what stands in its place the system tells more.
        Some(what) if error.kind() != io::ErrorKind::NotADirectory => {
            io::Error::new(error.kind(), what)
        }
        _ => error,
    }
}

/// Refuses a file in a folder that is missing, before there is anything to write.
///
/// # Errors
/// There is no such folder.
pub fn keep_in_folder(path: &Path) -> Result<(), OutputError> {
    match missing_folder(path) {
        None => Ok(()),
        Some(what) => Err(OutputError {
            path: path.to_path_buf(),
            source: io::Error::new(io::ErrorKind::NotFound, what),
        }),
    }
}

/// What is said of the folder of a file that is missing.
fn missing_folder(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let is_missing = !folder.as_os_str().is_empty() && !folder.is_dir();
    is_missing.then(|| format!("there is no folder {}; make it first", folder.display()))
}

/// False when another process published or removed the file between our opening and our locking it:
/// what we hold then is its finished output, or nothing.
fn is_named(file: &File, path: &Path) -> bool {
    let same = |(file, path): (std::fs::Metadata, std::fs::Metadata)| {
        (file.dev(), file.ino()) == (path.dev(), path.ino())
    };
    file.metadata()
        .ok()
        .zip(path.metadata().ok())
        .is_some_and(same)
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.file.write(bytes)?;
        let before = self.written / STRETCH;
        self.written += taken as u64;
        if self.written / STRETCH > before {
            self.write_back()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if !self.keep {
            let _ = std::fs::remove_file(&self.partial);
        }
        unfinished::ended(&self.partial);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("gyrase-output-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn appears_on_commit_and_not_before() {
        for commit in [OutputFile::commit, OutputFile::commit_unsynced] {
            let folder = folder("commit");
            let target = folder.join("x");
            let mut output = OutputFile::create(&target).unwrap();
            output.write_all(b"whole").unwrap();
            assert!(!target.exists());
            commit(output).unwrap();
            assert_eq!(std::fs::read(&target).unwrap(), b"whole");
            drop(OutputFile::create(&target).unwrap());
            assert_eq!(std::fs::read(&target).unwrap(), b"whole");
            assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
            std::fs::remove_dir_all(&folder).unwrap();
        }
    }

    #[test]
    fn links_are_written_through() {
        use std::os::unix::fs::symlink;
        let folder = folder("links");
        std::fs::create_dir_all(folder.join("far")).unwrap();
        let target = folder.join("x");
        symlink("far/y", &target).unwrap();
        symlink("z", folder.join("far/y")).unwrap();
        for content in ["once", "twice"] {
            let mut output = OutputFile::create(&target).unwrap();
            output.write_all(content.as_bytes()).unwrap();
            output.commit().unwrap();
            assert_eq!(
                std::fs::read_to_string(folder.join("far/z")).unwrap(),
                content
            );
        }
        assert!(target.is_symlink() && folder.join("far/y").is_symlink());
        assert_eq!(std::fs::read_dir(folder.join("far")).unwrap().count(), 2);
        symlink("circle", folder.join("circle")).unwrap();
        let error = OutputFile::create(&folder.join("circle"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("circle") && error.contains("link"),
            "{error}"
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_that_was_published_meanwhile_is_not_taken_for_the_partial_one() {
        let folder = folder("named");
        let (target, partial) = (folder.join("x"), folder.join("x.partial"));
        let file = open_locked(&partial).unwrap();
        assert!(is_named(&file, &partial));
        std::fs::rename(&partial, &target).unwrap();
        assert!(!is_named(&file, &partial));
        std::fs::write(&partial, b"").unwrap();
        assert!(!is_named(&file, &partial));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn others_join_the_file_that_was_begun_and_no_other() {
        let folder = folder("join");
        let (target, partial) = (folder.join("x"), folder.join("x.partial"));
        let refused = |token| {
            let error = OutputFile::join(&target, token).unwrap_err().to_string();
            assert!(error.contains("all machines of the job share"), "{error}");
        };
        refused(5);
        let output = OutputFile::create(&target).unwrap();
        let token = output.invite().unwrap();
        let early = OutputFile::join(&target, token).unwrap();
        early.write_all_at(b"far behind", 1 << 20).unwrap();
        // Whatever others have written meanwhile.
        let late = OutputFile::join(&target, token).unwrap();
        assert!(is_named(&early, &partial) && is_named(&late, &partial));
        refused(token ^ 2);
        drop(output);
        // What an earlier run left: nothing, less than a token, another one, none.
        let earlier = OutputFile::create(&folder.join("earlier")).unwrap();
        let another = earlier.invite().unwrap();
        assert_ne!(another, token);
        for left in [&b""[..], b"short", &another.to_le_bytes(), &[0; 100]] {
            std::fs::write(&partial, left).unwrap();
            refused(token);
        }
        drop(earlier);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn refuses_what_is_no_file() {
        for (target, why) in [
            ("/dev/null", "no ordinary file"),
            ("/dev", "directory"),
            ("/no/such/x", "no folder /no/such"),
        ] {
            let error = OutputFile::create(Path::new(target))
                .unwrap_err()
                .to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn resumes_what_was_kept_and_refuses_a_second_writer() {
        let folder = folder("resume");
        let target = folder.join("x");
        let mut output = OutputFile::create(&target).unwrap();
        output.write_all(b"abcdef").unwrap();
        let second = OutputFile::create(&target).unwrap_err();
        assert!(second.to_string().contains("another process"), "{second}");
        output.keep_partial();
        drop(output);
        let mut output = OutputFile::resume(&target, 3).unwrap();
        output.write_all(b"xyz").unwrap();
        output.commit().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"abcxyz");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
