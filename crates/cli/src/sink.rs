//! Where results go: standard output, or a file that appears whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use gyrase_fabric::{OutputError, OutputFile};

use crate::failure::Result;

/// Standard output or a file under construction.
pub enum Sink {
    /// `-`.
    Stdout(BufWriter<io::StdoutLock<'static>>),
    /// A named file.
    File(BufWriter<OutputFile>),
}

impl Sink {
    /// Opens `target`; nothing or `-` is standard output.
    pub fn open(target: Option<&Path>) -> Result<Sink> {
        match target {
            Some(path) if path != Path::new("-") => Ok(Sink::File(BufWriter::new(OutputFile::create(path)?))),
            _ => Ok(Sink::Stdout(BufWriter::with_capacity(1 << 16, io::stdout().lock()))),
        }
    }

    /// Writes everything and publishes the file.
    pub fn finish(self) -> Result<()> {
        match self {
            Sink::Stdout(mut out) => Ok(out.flush().map_err(stdout_error)?),
            Sink::File(out) => {
                let target = out.get_ref().target().to_path_buf();
                let file =
                    out.into_inner().map_err(|error| OutputError { path: target, source: error.into_error() })?;
                Ok(file.commit()?)
            }
        }
    }

    /// Names the target in an error of the system.
    pub fn error(&self, source: io::Error) -> OutputError {
        match self {
            Sink::Stdout(_) => stdout_error(source),
            Sink::File(out) => out.get_ref().error(source),
        }
    }
}

fn stdout_error(source: io::Error) -> OutputError {
    OutputError { path: PathBuf::from("standard output"), source }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Stdout(out) => out.write(bytes),
            Sink::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Stdout(out) => out.flush(),
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
