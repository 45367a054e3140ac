//! Where results go: standard output, or a file that appears whole or not at all.

use std::fs::File as Device;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use gyrase_fastx::{Compression, Format, Writer};
use gyrase_files::{OutputError, OutputFile};

use gyrase_count::ops::OperationError;

use crate::failure::{Failure, Result};

/// Standard output or a file under construction.
pub enum Sink {
    /// Nobody wants it.
    Nowhere,
    /// `-`.
    Stdout(BufWriter<io::StdoutLock<'static>>),
    /// A device or a pipe with a name, such as `/dev/stdout`: written as it is.
    Stream(BufWriter<Device>, PathBuf),
    /// A named file.
    File(BufWriter<OutputFile>),
}

impl Sink {
    /// Opens `target`; nothing or `-` is standard output.
    pub fn open(target: Option<&Path>) -> Result<Sink> {
        match target {
            Some(path) if path != Path::new("-") => Sink::named(path),
            _ => Ok(Sink::Stdout(BufWriter::with_capacity(
                1 << 16,
                io::stdout().lock(),
            ))),
        }
    }

    fn named(path: &Path) -> Result<Sink> {
        Ok(match stream(path)? {
            Some(stream) => Sink::Stream(BufWriter::new(stream), path.to_path_buf()),
            None => Sink::File(BufWriter::new(OutputFile::create(path)?)),
        })
    }

    /// The failure of an operation that wrote here: where it could not write, it does not know the
    /// name.
    pub fn failure(&self, error: OperationError) -> Failure {
        match error {
            OperationError::Sink(source) => self.error(source).into(),
            error => error.into(),
        }
    }

    /// Writes everything and publishes the file.
    pub fn finish(self) -> Result<()> {
        self.finish_by(OutputFile::commit)
    }

    /// The same for one of many small files: nobody waits for the disk to have it.
    pub fn finish_unsynced(self) -> Result<()> {
        self.finish_by(OutputFile::commit_unsynced)
    }

    fn finish_by(
        self,
        commit: fn(OutputFile) -> std::result::Result<(), OutputError>,
    ) -> Result<()> {
        match self {
            Sink::Nowhere => Ok(()),
            Sink::Stdout(mut out) => Ok(out.flush().map_err(stdout_error)?),
            Sink::Stream(mut out, path) => {
                Ok(out.flush().map_err(|source| OutputError { path, source })?)
            }
            Sink::File(out) => {
                let target = out.get_ref().target().to_path_buf();
                let file = out.into_inner().map_err(|error| OutputError {
                    path: target,
                    source: error.into_error(),
                })?;
                Ok(commit(file)?)
            }
        }
    }

    /// Names the target in an error of the system.
    pub fn error(&self, source: io::Error) -> OutputError {
        match self {
            Sink::Stdout(_) | Sink::Nowhere => stdout_error(source),
            Sink::Stream(_, path) => OutputError {
                path: path.clone(),
                source,
            },
            Sink::File(out) => out.get_ref().error(source),
        }
    }
}

/// Opens `path` for writing if it is a device or a pipe; a file of its own is not opened.
pub fn stream(path: &Path) -> std::result::Result<Option<Device>, OutputError> {
    match path.metadata() {
        Ok(there) if !there.is_file() && !there.is_dir() => {
            let opened = Device::options().write(true).open(path);
            Ok(Some(opened.map_err(|source| OutputError {
                path: path.to_path_buf(),
                source,
            })?))
        }
        _ => Ok(None),
    }
}

/// Opens `path` for records, compressed as its name says; `-` is standard output, which like
/// devices and pipes is never compressed.
pub fn records(path: &Path) -> std::result::Result<Writer, OutputError> {
    let as_it_is =
        |name: &str, stream| Writer::to_stream(name, stream, Format::Fastq, Compression::Plain);
    if path == Path::new("-") {
        return as_it_is("standard output", Box::new(io::stdout()));
    }
    match stream(path)? {
        Some(stream) => as_it_is(&path.display().to_string(), Box::new(stream)),
        None => Writer::create(path, Format::Fastq, None),
    }
}

fn stdout_error(source: io::Error) -> OutputError {
    OutputError {
        path: PathBuf::from("standard output"),
        source,
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Nowhere => Ok(bytes.len()),
            Sink::Stdout(out) => out.write(bytes),
            Sink::Stream(out, _) => out.write(bytes),
            Sink::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Nowhere => Ok(()),
            Sink::Stdout(out) => out.flush(),
            Sink::Stream(out, _) => out.flush(),
            Sink::File(out) => out.flush(),
        }
    }
}

/// Writes one whole text to `target`.
pub fn write_all(target: Option<&Path>, text: &[u8]) -> Result<()> {
    let mut sink = Sink::open(target)?;
    sink.write_all(text).map_err(|source| sink.error(source))?;
    sink.finish()
}
