//! Writing text to a file or a stream, compressed or not.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use gyrase_files::{OutputError, OutputFile};

use crate::bgzf::Bgzf;
use crate::options::Compression;

/// Bytes that are collected before they are written as they are.
const BUFFER: usize = 64 << 10;

/// Text on its way to a stream, or to a file, which appears when [`Output::finish`] is called and
/// not before.
pub struct Output {
    encoder: Encoder,
    name: PathBuf,
}

/// Where the bytes go.
enum Target {
    File(OutputFile),
    Stream(Box<dyn Write + Send>),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::File(file) => file.write(bytes),
            Target::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::File(file) => file.flush(),
            Target::Stream(stream) => stream.flush(),
        }
    }
}

enum Encoder {
    Plain(BufWriter<Target>),
    Bgzf(Bgzf<Target>),
    Zstd(zstd::stream::write::Encoder<'static, Target>),
    Bzip2(bzip2::write::BzEncoder<Target>),
    Xz(liblzma::write::XzEncoder<Target>),
}

impl Encoder {
    fn new(target: Target, compression: Compression) -> io::Result<Encoder> {
        Ok(match compression {
            Compression::Plain => Encoder::Plain(BufWriter::with_capacity(BUFFER, target)),
            Compression::Gzip | Compression::Bgzf => Encoder::Bgzf(Bgzf::new(target)),
            Compression::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(target, 3)?;
                encoder.include_checksum(true)?;
                Encoder::Zstd(encoder)
            }
            Compression::Bzip2 => Encoder::Bzip2(bzip2::write::BzEncoder::new(
                target,
                bzip2::Compression::new(9),
            )),
            // Takes 17 MB; the usual 6 takes 94.
            Compression::Xz => Encoder::Xz(liblzma::write::XzEncoder::new(target, 2)),
        })
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Encoder::Plain(encoder) => encoder,
            Encoder::Bgzf(encoder) => encoder,
            Encoder::Zstd(encoder) => encoder,
            Encoder::Bzip2(encoder) => encoder,
            Encoder::Xz(encoder) => encoder,
        }
    }

    fn finish(self) -> io::Result<Target> {
        match self {
            Encoder::Plain(encoder) => encoder.into_inner().map_err(io::IntoInnerError::into_error),
            Encoder::Bgzf(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
            Encoder::Bzip2(encoder) => encoder.finish(),
            Encoder::Xz(encoder) => encoder.finish(),
        }
    }
}

impl Output {
    /// Starts a file, compressed as its name says ([`Compression::for_output`]) where nothing else
    /// is asked for; gzip is written as BGZF.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path, compression: Option<Compression>) -> Result<Output, OutputError> {
        let compression = compression.unwrap_or_else(|| Compression::for_output(path));
        let file = OutputFile::create(path)?;
        Output::new(path, Target::File(file), compression)
    }

    /// Opens what a person named: `-` is standard output. It, and a device or a pipe with a name,
    /// take the text as it is; anything else is a file, compressed as its name says.
    ///
    /// # Errors
    /// What is there cannot be written, or the file cannot be created.
    pub fn open(path: &Path) -> Result<Output, OutputError> {
        if path.as_os_str() == "-" {
            return Output::to_stream("standard output", Box::new(io::stdout()));
        }
        match path.metadata() {
            Ok(there) if !there.is_file() && !there.is_dir() => {
                let opened = File::options().write(true).open(path);
                let device = opened.map_err(|source| OutputError {
                    path: path.to_path_buf(),
                    source,
                })?;
                Output::to_stream(&path.display().to_string(), Box::new(device))
            }
            _ => Output::create(path, None),
        }
    }

    /// Writes to a stream, as it is; `name` is what messages call it.
    ///
    /// # Errors
    /// The stream fails.
    pub fn to_stream(name: &str, stream: Box<dyn Write + Send>) -> Result<Output, OutputError> {
        Output::new(Path::new(name), Target::Stream(stream), Compression::Plain)
    }

    fn new(name: &Path, target: Target, compression: Compression) -> Result<Output, OutputError> {
        let name = name.to_path_buf();
        match Encoder::new(target, compression) {
            Ok(encoder) => Ok(Output { encoder, name }),
            Err(source) => Err(OutputError { path: name, source }),
        }
    }

    /// An error of the system that names the output.
    pub fn error(&self, source: io::Error) -> OutputError {
        let path = self.name.clone();
        OutputError { path, source }
    }

    /// Writes what is left; the file has no name yet.
    ///
    /// # Errors
    /// The file cannot be written; it does not appear then.
    pub fn complete(self) -> Result<Complete, OutputError> {
        let path = self.name;
        let completed = self.encoder.finish().and_then(|target| match target {
            Target::File(file) => Ok(Complete(Some(file))),
            Target::Stream(mut stream) => stream.flush().map(|()| Complete(None)),
        });
        completed.map_err(|source| OutputError { path, source })
    }

    /// Writes what is left, and gives the file its name once the disk has it.
    ///
    /// # Errors
    /// The file cannot be written; it does not appear then.
    pub fn finish(self) -> Result<(), OutputError> {
        self.complete()?.publish()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.writer().flush()
    }
}

/// A file that has all its bytes and yet no name, or a stream that has been written.
#[derive(Debug)]
#[must_use = "a file that is not published is removed"]
pub struct Complete(Option<OutputFile>);

impl Complete {
    /// Waits until the disk has the file: who has several syncs all before the first appears.
    ///
    /// # Errors
    /// The disk cannot have it.
    pub fn sync(self) -> Result<Complete, OutputError> {
        if let Some(file) = &self.0 {
            file.file()
                .sync_all()
                .map_err(|source| file.error(source))?;
        }
        Ok(self)
    }

    /// Gives the file its name once the disk has it.
    ///
    /// # Errors
    /// The file cannot be synced or renamed.
    pub fn publish(self) -> Result<(), OutputError> {
        self.0.map_or(Ok(()), OutputFile::commit)
    }

    /// The same for one of many small files: nobody waits for the disk to have it.
    ///
    /// # Errors
    /// The file cannot be renamed.
    pub fn publish_unsynced(self) -> Result<(), OutputError> {
        self.0.map_or(Ok(()), OutputFile::commit_unsynced)
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_tuple("Output").field(&self.name).finish()
    }
}
