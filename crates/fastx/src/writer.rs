//! Writing FASTA and FASTQ, compressed or not.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use gyrase_files::{OutputError, OutputFile};
use gyrase_seq::Batch;

use crate::bgzf::Bgzf;
use crate::options::{Compression, Format};

/// Bytes that are collected before they are compressed or written.
const BUFFER: usize = 64 << 10;

/// Writes records to a file, which appears when [`Writer::finish`] is called and not before, or to
/// a stream.
pub struct Writer {
    encoder: Encoder,
    format: Format,
    width: usize,
    target: PathBuf,
    buffer: Vec<u8>,
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
            Compression::Xz => Encoder::Xz(liblzma::write::XzEncoder::new(target, 6)),
        })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Encoder::Plain(encoder) => encoder.write_all(bytes),
            Encoder::Bgzf(encoder) => encoder.write_all(bytes),
            Encoder::Zstd(encoder) => encoder.write_all(bytes),
            Encoder::Bzip2(encoder) => encoder.write_all(bytes),
            Encoder::Xz(encoder) => encoder.write_all(bytes),
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

impl Writer {
    /// Starts a file. Without a compression its name decides ([`Compression::for_output`]); gzip is
    /// written as BGZF.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(
        path: &Path,
        format: Format,
        compression: Option<Compression>,
    ) -> Result<Writer, OutputError> {
        let compression = compression.unwrap_or_else(|| Compression::for_output(path));
        Writer::new(
            path,
            Target::File(OutputFile::create(path)?),
            format,
            compression,
        )
    }

    /// Writes to a stream; `name` is what messages call it.
    ///
    /// # Errors
    /// The stream fails.
    pub fn to_stream(
        name: &str,
        stream: Box<dyn Write + Send>,
        format: Format,
        compression: Compression,
    ) -> Result<Writer, OutputError> {
        Writer::new(Path::new(name), Target::Stream(stream), format, compression)
    }

    fn new(
        path: &Path,
        target: Target,
        format: Format,
        compression: Compression,
    ) -> Result<Writer, OutputError> {
        let path = path.to_path_buf();
        match Encoder::new(target, compression) {
            Ok(encoder) => Ok(Writer {
                encoder,
                format,
                width: 0,
                target: path,
                buffer: Vec::new(),
            }),
            Err(source) => Err(OutputError { path, source }),
        }
    }

    /// Breaks the sequences of FASTA after `width` letters; 0, as it is at first, for never.
    pub fn wrap(mut self, width: usize) -> Writer {
        self.width = width;
        self
    }

    /// Writes a record; `name` is the header without its `>` or `@`. FASTA leaves the qualities
    /// out.
    ///
    /// # Errors
    /// The file cannot be written; or FASTQ was asked for and there are not as many qualities as
    /// letters.
    pub fn write(
        &mut self,
        name: &[u8],
        letters: &[u8],
        qualities: &[u8],
    ) -> Result<(), OutputError> {
        match self.format {
            Format::Fasta => self.fasta(name, letters),
            Format::Fastq if qualities.len() == letters.len() => {
                for piece in [b"@", name, b"\n", letters, b"\n+\n", qualities, b"\n"] {
                    self.buffer.extend_from_slice(piece);
                }
            }
            Format::Fastq => {
                return Err(self.error(io::Error::other(
                    "a record without qualities cannot be written as FASTQ",
                )));
            }
        }
        if self.buffer.len() >= BUFFER {
            self.pass_on()
        } else {
            Ok(())
        }
    }

    fn fasta(&mut self, name: &[u8], letters: &[u8]) {
        self.buffer.push(b'>');
        self.buffer.extend_from_slice(name);
        self.buffer.push(b'\n');
        let width = if self.width == 0 {
            letters.len().max(1)
        } else {
            self.width
        };
        for line in letters.chunks(width) {
            self.buffer.extend_from_slice(line);
            self.buffer.push(b'\n');
        }
    }

    /// Writes a record of a batch as it is.
    ///
    /// # Errors
    /// As [`Writer::write`].
    ///
    /// # Panics
    /// When the batch has no such record.
    pub fn write_record(&mut self, batch: &Batch, index: usize) -> Result<(), OutputError> {
        let record = batch.records[index];
        self.write(
            batch.bytes(record.name),
            batch.bytes(record.letters),
            batch.bytes(record.qualities),
        )
    }

    fn pass_on(&mut self) -> Result<(), OutputError> {
        let written = self.encoder.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> OutputError {
        OutputError {
            path: self.target.clone(),
            source,
        }
    }

    /// From the next record on, the format is another: that of reads may be known only when the
    /// first are there.
    pub fn set_format(&mut self, format: Format) {
        self.format = format;
    }

    /// Writes what is left, down to the disk; the file has no name yet. Who has several files
    /// completes all before the first appears.
    ///
    /// # Errors
    /// The file cannot be written; it does not appear then.
    pub fn complete(mut self) -> Result<Complete, OutputError> {
        self.pass_on()?;
        let path = self.target;
        let fail = |source| OutputError {
            path: path.clone(),
            source,
        };
        match self.encoder.finish().map_err(fail)? {
            Target::File(file) => {
                file.file().sync_all().map_err(fail)?;
                Ok(Complete(Some(file)))
            }
            Target::Stream(mut stream) => {
                stream.flush().map_err(fail)?;
                Ok(Complete(None))
            }
        }
    }

    /// Writes what is left and gives the file its name.
    ///
    /// # Errors
    /// The file cannot be written; it does not appear then.
    pub fn finish(self) -> Result<(), OutputError> {
        self.complete()?.publish()
    }
}

/// A file that has all its bytes and yet no name, or a stream that has been written.
#[derive(Debug)]
#[must_use = "a file that is not published is removed"]
pub struct Complete(Option<OutputFile>);

impl Complete {
    /// Gives the file its name.
    ///
    /// # Errors
    /// The file cannot be renamed.
    pub fn publish(self) -> Result<(), OutputError> {
        self.0.map_or(Ok(()), OutputFile::commit)
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("target", &self.target)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}
