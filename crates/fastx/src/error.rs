//! What can be wrong with an input, said so that it can be mended.

use std::io;
use std::path::PathBuf;

use crate::{Compression, Format};

/// Why an input could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such file.
    #[error("{}: there is no such file", path.display())]
    NotFound {
        /// The path as it was given.
        path: PathBuf,
    },
    /// A directory where a file is expected.
    #[error("{}: this is a directory; name the files in it", path.display())]
    IsDirectory {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The system does not let us open the file.
    #[error("{}: cannot be opened: {source}", path.display())]
    Open {
        /// The path as it was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An `@list` that names itself, or standard input given twice, or no input at all.
    #[error("{0}")]
    Arguments(String),
    /// The system failed while the input was read.
    #[error("{input}: reading failed after {at} bytes: {source}")]
    Read {
        /// Name of the input.
        input: String,
        /// Bytes read before.
        at: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The compressed data stop too early.
    #[error(
        "{input}: the file ends inside {compression} data after {at} bytes; it is truncated: copy \
         or download it again"
    )]
    Truncated {
        /// Name of the input.
        input: String,
        /// Its compression.
        compression: Compression,
        /// Compressed bytes that are there.
        at: u64,
    },
    /// The compressed data are not what they were.
    #[error(
        "{input}: the {compression} data are damaged before byte {at} ({source}); copy or download \
         the file again"
    )]
    Damaged {
        /// Name of the input.
        input: String,
        /// Its compression.
        compression: Compression,
        /// Compressed bytes read when the damage showed.
        at: u64,
        /// What the decompressor said.
        source: io::Error,
    },
    /// Decompressing would take more memory than it may.
    #[error(
        "{input}: what follows byte {at} cannot be decompressed within the memory that is given"
    )]
    Window {
        /// Name of the input.
        input: String,
        /// Compressed bytes read before.
        at: u64,
    },
    /// Neither FASTA nor FASTQ.
    #[error("{input}: expected FASTA (a line that starts with '>') or FASTQ ('@'), found {found}")]
    UnknownFormat {
        /// Name of the input.
        input: String,
        /// What its start looks like.
        found: String,
    },
    /// A record that breaks the format.
    #[error("{input}: record {record}{}, line {line}: {problem}", quoted(name))]
    Malformed {
        /// Name of the input.
        input: String,
        /// Number of the record, from 1.
        record: u64,
        /// Its name, up to the first space; empty when it has none.
        name: String,
        /// Number of the line in the decompressed text, from 1.
        line: u64,
        /// What is wrong.
        problem: Problem,
    },
    /// Two mates whose names differ.
    #[error("{}", differing(input, mates.as_deref(), *pair, first, second))]
    MatesDiffer {
        /// Name of the input with the first mate.
        input: String,
        /// Name of the input with the second mate; none when mates follow each other in one input.
        mates: Option<String>,
        /// Number of the pair, from 1.
        pair: u64,
        /// Name of the first mate.
        first: String,
        /// Name of the second mate.
        second: String,
    },
    /// A record whose mate is missing.
    #[error(
        "{longer}: record {record} ({name:?}) has no mate: {} ends before it",
        shorter.as_deref().unwrap_or("the file")
    )]
    MateMissing {
        /// The input with the record.
        longer: String,
        /// The input without; none when mates follow each other in one input.
        shorter: Option<String>,
        /// Number of the record in its input, from 1.
        record: u64,
        /// Its name.
        name: String,
    },
    /// Not an error of the data: this plain file cannot be read by byte ranges (its FASTQ records
    /// are wrapped over several lines in a way that hides where they start). What was read of all
    /// inputs is void: forget it and start again with [`Options::serial`](crate::Options::serial).
    #[error("{input}: the file cannot be read in parts; read it serially")]
    NeedsSerial {
        /// Name of the input.
        input: String,
    },
}

impl Error {
    /// True when the command line is at fault (no such file, a directory, no permission) and not
    /// the data.
    pub fn is_usage(&self) -> bool {
        use Error::{Arguments, IsDirectory, NotFound, Open};
        matches!(
            self,
            NotFound { .. } | IsDirectory { .. } | Open { .. } | Arguments(_)
        )
    }

    /// True when the input is well and needs more memory than the [`Options`](crate::Options)
    /// allow.
    pub fn is_memory(&self) -> bool {
        matches!(
            self,
            Error::Window { .. }
                | Error::Malformed {
                    problem: Problem::NoRoom { .. },
                    ..
                }
        )
    }

    /// True for [`Error::NeedsSerial`].
    pub fn needs_serial(&self) -> bool {
        matches!(self, Error::NeedsSerial { .. })
    }
}

fn differing(input: &str, mates: Option<&str>, pair: u64, first: &str, second: &str) -> String {
    match mates {
        Some(mates) => format!(
            "{input}: record {pair} is {first:?} in {input} but {second:?} in {mates}; mates must \
             come in the same order in both files"
        ),
        None => format!(
            "{input}: record {} is {first:?} but record {}, where its mate should be, is \
             {second:?}; mates must follow each other",
            2 * pair - 1,
            2 * pair
        ),
    }
}

fn quoted(name: &str) -> String {
    if name.is_empty() {
        String::new()
    } else {
        format!(" ({name:?})")
    }
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A line where a header should be.
    #[error(
        "expected a {format} header, a line that starts with '{}', found {}",
        mark(*format), shown(*found)
    )]
    NoHeader {
        /// Format of the input.
        format: Format,
        /// First byte of the line.
        found: u8,
    },
    /// A header where the `+` line should be.
    #[error("expected more sequence or the '+' line, found a line that starts with '@'")]
    NoPlus,
    /// Sequence and quality do not fit together.
    #[error(
        "the quality has {qualities} letters where the sequence has {letters}; the file may be \
         truncated or damaged"
    )]
    Lengths {
        /// Letters of the sequence.
        letters: usize,
        /// Letters of the quality.
        qualities: usize,
    },
    /// The text stops inside a record.
    #[error("the file ends here, before {missing}; it may be truncated")]
    Ends {
        /// What should have followed.
        missing: &'static str,
    },
    /// A byte that no sequence has.
    #[error("expected letters, found {} in the sequence; the file may be damaged", shown(*found))]
    Letter {
        /// The byte.
        found: u8,
    },
    /// A byte that no quality has.
    #[error(
        "expected a quality letter ('!' to '~'), found {}; the file may be damaged",
        shown(*found)
    )]
    Quality {
        /// The byte.
        found: u8,
    },
    /// Amino acids where bases are expected.
    #[error(
        "expected DNA, found {protein} of {letters} letters that only proteins have (E F I J L O P \
         Q Z); is this a protein file?"
    )]
    Protein {
        /// Letters that only proteins have.
        protein: usize,
        /// All letters.
        letters: usize,
    },
    /// A record that is longer than the memory allows.
    #[error("the record has more than {limit} bytes, all that there is room for")]
    NoRoom {
        /// The most that is read.
        limit: usize,
    },
    /// A record that no memory should be asked for.
    #[error("the record has more than {limit} bytes; is this a {format} file?")]
    TooLong {
        /// Format of the input.
        format: Format,
        /// The most that is read.
        limit: usize,
    },
}

fn mark(format: Format) -> char {
    match format {
        Format::Fasta => '>',
        Format::Fastq => '@',
    }
}

/// A byte as a person would name it.
pub(crate) fn shown(byte: u8) -> String {
    match byte {
        b'\n' | b'\r' => "the end of the line".to_owned(),
        b' ' => "a space".to_owned(),
        b'\t' => "a tab".to_owned(),
        0x21..=0x7e => format!("'{}'", byte as char),
        _ => format!("the byte 0x{byte:02x} (binary data?)"),
    }
}

/// A problem and its place, before the name of the input is known.
#[derive(Debug)]
pub(crate) struct Fault {
    pub record: u64,
    pub line: u64,
    pub name: Vec<u8>,
    pub problem: Problem,
}

impl Fault {
    pub(crate) fn of(self, input: &str) -> Error {
        let (input, name) = (
            input.to_owned(),
            String::from_utf8_lossy(first_word(&self.name)).into_owned(),
        );
        Error::Malformed {
            input,
            record: self.record,
            name,
            line: self.line,
            problem: self.problem,
        }
    }
}

/// A header up to its first space or tab.
pub(crate) fn first_word(header: &[u8]) -> &[u8] {
    let end = header
        .iter()
        .position(|&byte| byte == b' ' || byte == b'\t');
    &header[..end.unwrap_or(header.len())]
}
