//! Where results go: nowhere, standard output, or a file that appears whole or not at all.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gyrase_count::ops::OperationError;
use gyrase_fastx::{Complete, Format, Output, Writer};
use gyrase_files::OutputError;

use crate::failure::{Failure, Result};

/// An output under construction, if anybody wants it.
pub struct Sink(Option<Output>);

impl Sink {
    /// Takes what nobody wants.
    pub const NOWHERE: Sink = Sink(None);

    /// Opens `target`, as [`Output::open`] does; nothing is standard output.
    pub fn open(target: Option<&Path>) -> Result<Sink> {
        Ok(Sink(Some(Output::open(target.unwrap_or(Path::new("-")))?)))
    }

    /// The failure of an operation that wrote here: where it could not write, it does not know the
    /// name.
    pub fn failure(&self, error: OperationError) -> Failure {
        match error {
            OperationError::Sink(source) => self.error(source).into(),
            error => error.into(),
        }
    }

    /// Writes everything; a file has no name yet.
    pub fn complete(self) -> Result<Option<Complete>> {
        Ok(self.0.map(Output::complete).transpose()?)
    }

    /// Writes everything and publishes the file.
    pub fn finish(self) -> Result<()> {
        Ok(self.0.map_or(Ok(()), Output::finish)?)
    }

    /// Names the target in an error of the system.
    pub fn error(&self, source: io::Error) -> OutputError {
        match &self.0 {
            Some(output) => output.error(source),
            None => unreachable!("nowhere is always writable"),
        }
    }
}

/// Opens `path` for records, as [`Output::open`] does.
pub fn records(path: &Path) -> std::result::Result<Writer, OutputError> {
    Ok(Writer::new(Output::open(path)?, Format::Fastq))
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Some(output) => output.write(bytes),
            None => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Some(output) => output.flush(),
            None => Ok(()),
        }
    }
}

/// A folder for many files. Dropped before [`Folder::keep`] it is removed, if it was made for them
/// and none is in it.
pub struct Folder {
    path: PathBuf,
    made: bool,
}

impl Folder {
    /// Makes the folder, which may be there, but not those above it.
    pub fn open(path: &Path) -> Result<Folder> {
        let path = path.to_path_buf();
        match std::fs::create_dir(&path) {
            Err(_) if path.is_dir() => Ok(Folder { path, made: false }),
            Err(source) => Err(OutputError { path, source }.into()),
            Ok(()) => Ok(Folder { path, made: true }),
        }
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The run is done; the folder stays, even without a file.
    pub fn keep(mut self) {
        self.made = false;
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.made {
            // One that has a file stays.
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

/// Writes one whole text to `target`.
pub fn write_all(target: Option<&Path>, text: &[u8]) -> Result<()> {
    written(target, text)?.finish()
}

/// Writes one whole text that is yet to be published.
pub fn written(target: Option<&Path>, text: &[u8]) -> Result<Sink> {
    let mut sink = Sink::open(target)?;
    sink.write_all(text).map_err(|source| sink.error(source))?;
    Ok(sink)
}
