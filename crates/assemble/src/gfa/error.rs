//! What is wrong with a file of a graph.

use std::io;
use std::path::PathBuf;

/// Why a graph cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GfaError {
    /// The file cannot be opened.
    #[error("{}: cannot be opened: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file cannot be read to its end, or its compressed data are damaged.
    #[error("{}: reading failed: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system or the decompressor said.
        source: io::Error,
    },
    /// The file does not fit the memory.
    #[error(
        "{}: the graph has more than {} MiB of text, and takes twice that of memory",
        path.display(), most >> 20
    )]
    Memory {
        /// The file.
        path: PathBuf,
        /// Bytes of text that there is room for.
        most: u64,
    },
    /// A line breaks the format.
    #[error("{}, line {line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        problem: GfaProblem,
    },
    /// A record of unitigs is not as BCALM 2 writes it.
    #[error("{}, record {record}: {problem}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The record, from 1.
        record: u64,
        /// What is wrong.
        problem: GfaProblem,
    },
    /// The records of unitigs are no FASTA.
    #[error(transparent)]
    Fasta(#[from] gyrase_fastx::Error),
    /// The length of the k-mers does not follow from the unitigs.
    #[error("{}: {}", path.display(), told(found))]
    LengthOfKmers {
        /// The file.
        path: PathBuf,
        /// The lengths that fit all unitigs and links.
        found: Vec<usize>,
    },
    /// The output could not be written.
    #[error("cannot write the graph: {0}")]
    Sink(io::Error),
}

fn told(found: &[usize]) -> String {
    match found {
        [first, .., last] => format!("k may be {first}, {last} or between: few unitigs are linked"),
        _ => "no odd k up to 127 fits all lengths, counts and links".to_owned(),
    }
}

/// What is wrong with a line or a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GfaProblem {
    /// Fields are missing.
    #[error("{kind} has {expected}, separated by tabs; found {found} fields")]
    Fields {
        /// The kind of the line.
        kind: &'static str,
        /// Which fields it has.
        expected: &'static str,
        /// Fields behind the kind.
        found: usize,
    },
    /// A letter that begins no line of GFA.
    #[error("expected a line of GFA (S, L, P, H and a tab), found {found}")]
    Kind {
        /// How the line begins.
        found: String,
    },
    /// It is of GFA 2.
    #[error("this is GFA 2, and GFA 1 is read; assemblers and Bandage write GFA 1")]
    Version,
    /// The letters of a segment.
    #[error("the letters of {name} are no sequence; where they are left out stands *")]
    Letters {
        /// The segment.
        name: String,
    },
    /// A tag that says another length.
    #[error("{name} has {found} letters, and LN says {told}")]
    Length {
        /// The segment.
        name: String,
        /// Letters.
        found: u64,
        /// What the tag says.
        told: u64,
    },
    /// A tag that holds no number.
    #[error("the tag {tag} holds no number")]
    Tag {
        /// The whole tag.
        tag: String,
    },
    /// A name that was there before.
    #[error("{name} has been named in {of} {first} already")]
    Twice {
        /// The segment.
        name: String,
        /// What is counted: lines or records.
        of: &'static str,
        /// The line or the record that has it too.
        first: u64,
    },
    /// A link to nothing.
    #[error("the link names {name}, and the file has no segment of that name")]
    Missing {
        /// The name.
        name: String,
    },
    /// A direction.
    #[error("the direction is {found}; it is + or -")]
    Direction {
        /// What stands there.
        found: String,
    },
    /// An overlap.
    #[error("the overlap is {found}; it is * or as 30M")]
    Overlap {
        /// What stands there.
        found: String,
    },
    /// A link field of a unitig.
    #[error("{found} is no link; they are as L:+:17:-")]
    UnitigLink {
        /// The field.
        found: String,
    },
    /// Linked unitigs that do not overlap.
    #[error("{from} is linked to {to}, but does not overlap it by {overlap} bases")]
    Apart {
        /// A unitig.
        from: String,
        /// Another.
        to: String,
        /// k-1.
        overlap: usize,
    },
}
