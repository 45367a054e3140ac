//! What a caller can choose, and what an input turns out to be.

use std::fmt;
use std::path::PathBuf;

/// No record may be longer: a batch is below 4 GiB, and a file that asks for so much is no FASTQ
/// file.
pub(crate) const LONGEST: usize = 1 << 30;

/// How inputs are read.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many letters a continued part repeats from the part before: k - 1 for k-mers.
    pub overlap: usize,
    /// Bases with a lower quality (Phred, 0 to 93, written as letters from `!`) become `N`.
    pub min_base_quality: Option<u8>,
    /// Bytes of text per batch, and the length of a byte range of a plain file. At least 64 are
    /// taken. A FASTQ record longer than this makes its batch longer.
    pub batch_bytes: usize,
    /// Which letters a sequence may have.
    pub alphabet: Alphabet,
    /// Bytes of text of the longest record that is read as a whole, up to 1 GiB.
    pub longest_record: usize,
    /// Bytes of text that the decompressor of a zstd input may keep, if its first bytes ask for no
    /// more.
    pub most_window: u64,
    /// Every record is whole in one batch, however long it is.
    pub whole_records: bool,
    /// Inputs are files of first and second mates in turn, an even number of them:
    /// [`Inputs`](crate::Inputs) reads each two in step and checks the names of the mates. Records
    /// are whole then.
    pub paired: bool,
    /// Other processes open the same inputs. Only one of them can read a pipe, so none looks at it
    /// before it reads it as a chunk ([`Inputs::chunks`](crate::Inputs::chunks)); standard input,
    /// which not every process has, is refused.
    pub shared: bool,
    /// Plain files too are read from front to end: the answer to
    /// [`Error::NeedsSerial`](crate::Error::NeedsSerial).
    pub serial: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            overlap: 0,
            min_base_quality: None,
            batch_bytes: 1 << 20,
            alphabet: Alphabet::Dna,
            longest_record: LONGEST,
            most_window: 1 << 31,
            whole_records: false,
            paired: false,
            shared: false,
            serial: false,
        }
    }
}

impl Options {
    /// The options of a k-mer counter: everything by default but an overlap of `k - 1`.
    pub fn for_kmers(k: usize) -> Options {
        Options {
            overlap: k.saturating_sub(1),
            ..Options::default()
        }
    }

    pub(crate) fn batch(&self) -> usize {
        self.batch_bytes.max(64)
    }
}

/// Which letters a sequence may have, besides the gaps `-`, `.` and `*`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alphabet {
    /// Nucleotides. Every letter is let through (one that is no base breaks the k-mers over it),
    /// but a record of which more than a tenth are letters that only proteins have (E F I J L O P Q
    /// Z) is refused.
    #[default]
    Dna,
    /// Any letters.
    Any,
}

/// What the records of an input look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `>name` lines and sequence lines.
    Fasta,
    /// `@name`, sequence, `+` and quality lines.
    Fastq,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Format::Fasta => "FASTA",
            Format::Fastq => "FASTQ",
        })
    }
}

/// How an input is, or an output shall be, compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    #[default]
    Plain,
    /// gzip, one or many members.
    Gzip,
    /// gzip in blocks of 64 KiB that can be decompressed side by side.
    Bgzf,
    /// Zstandard.
    Zstd,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
}

impl Compression {
    /// Every way of compression.
    pub const ALL: [Compression; 6] = [
        Compression::Plain,
        Compression::Gzip,
        Compression::Bgzf,
        Compression::Zstd,
        Compression::Bzip2,
        Compression::Xz,
    ];

    /// What the name of an output asks for, in letters of either case: `.gz` and `.bgz` BGZF (which
    /// is gzip too), `.zst`, `.bz2`, `.xz`, anything else plain.
    pub fn for_output(path: &std::path::Path) -> Compression {
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        match ending.to_str() {
            Some("gz" | "bgz") => Compression::Bgzf,
            Some("zst") => Compression::Zstd,
            Some("bz2") => Compression::Bzip2,
            Some("xz") => Compression::Xz,
            _ => Compression::Plain,
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Compression::Plain => "plain",
            Compression::Gzip => "gzip",
            Compression::Bgzf => "BGZF",
            Compression::Zstd => "zstd",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
        })
    }
}

/// One input and what a look at its first bytes tells.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its path; `-` for standard input.
    pub path: PathBuf,
    /// How messages call it: the path, or `standard input`.
    pub name: String,
    /// Its format; `None` when it is empty, its start cannot be decompressed, or it is a pipe that
    /// nobody has looked at.
    pub format: Option<Format>,
    /// Its compression.
    pub compression: Compression,
    /// Bytes of text that its decompressor keeps, as its first bytes say; 0 where it is little.
    pub window: u64,
    /// Its size in bytes as it is stored; `None` for a pipe.
    pub size: Option<u64>,
}

impl Input {
    /// True where chunks of it can be read before those before them are parsed. Some files that the
    /// system makes as they are read have no size.
    pub(crate) fn is_plain_fastq(&self) -> bool {
        let is_plain = self.compression == Compression::Plain && self.size > Some(0);
        is_plain && self.format == Some(Format::Fastq)
    }
}
