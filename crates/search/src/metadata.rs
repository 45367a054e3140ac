//! Metadata of a search: which subjects each query has, and nothing of what a report says of them.
//! Who has a replica of the database makes any report of it (`regenerate`), the same byte for byte.
//! This is the idea of ParaMEDIC (Balaji, Feng, Archuleta, Lin: "ParaMEDIC: Parallel Metadata
//! Environment for Distributed I/O and Computing", SC 2007).
//!
//! ```text
//!  header   magic, version, length and CRC-32 of what was asked for
//!  asked    JSON: version, names of the database, sizes and checksums, parameters
//!  records  of a query each: its length; subjects by number, each from the one before; alignments,
//!           where they are kept; CRC-32 of the answer, all that a report can tell; CRC-32 of the
//!           record
//!  end      a record of no length, how many queries there are, CRC-32 of that
//! ```

use std::path::{Path, PathBuf};

use gyrase_files::container::{Container, Unfit, checked_part, part, u32_at, u64_at};
use serde::{Deserialize, Serialize};

use crate::Hit;
use crate::error::MetadataError;
use crate::program::Program;
use crate::record::{append_alignments, next_number, number, read_alignments};

const FORMAT: Container = Container {
    magic: *b"GYRGYM\r\n",
    version: 1,
    header_bytes: 64,
    ending: ".gym",
    verb: "search --metadata",
    makers: "`gyrase search --metadata` writes one",
};
/// Bytes of the two checksums of a record, of the answer and of the record itself.
const CHECKSUMS: usize = 8;

/// What was asked of a search, of what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// The version that searched.
    pub gyrase: String,
    /// Names of the files of the database, as reports tell them.
    pub database: String,
    /// Letters and sequences of the database that E-values are of.
    pub letters: u64,
    pub sequences: u64,
    /// The program that compared; none where there were no queries.
    pub program: Option<String>,
    pub queries: u64,
    /// What the queries are known by.
    pub queries_checksum: [u64; 4],
    pub parameters: Vec<String>,
    /// Whether records have alignments too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alignments: bool,
}

/// What stands before the first record.
pub(crate) fn head(asked: &Asked) -> Vec<u8> {
    let text = serde_json::to_vec(asked).expect("text and numbers are JSON");
    let mut header = FORMAT.begin();
    header.extend((text.len() as u64).to_le_bytes());
    header.extend(crc32fast::hash(&text).to_le_bytes());
    [FORMAT.seal(header), text].concat()
}

/// The record of a query.
pub(crate) fn record(answer: &Answer) -> Vec<u8> {
    let (mut body, mut before) = (Vec::new(), 0);
    number(&mut body, answer.subjects.len() as u64);
    for &subject in &answer.subjects {
        number(&mut body, (subject - before) as u64);
        before = subject;
    }
    if let Some(hits) = &answer.alignments {
        append_alignments(&mut body, hits);
    }
    body.extend(answer.digest.to_le_bytes());
    body.extend(crc32fast::hash(&body).to_le_bytes());
    let mut record = Vec::new();
    number(&mut record, body.len() as u64);
    record.append(&mut body);
    record
}

/// What stands behind the records of so many queries.
pub(crate) fn end(queries: usize) -> Vec<u8> {
    let mut end = vec![0];
    end.extend((queries as u64).to_le_bytes());
    end.extend(crc32fast::hash(&end).to_le_bytes());
    end
}

/// What a search found, without what a report says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchMetadata {
    pub(crate) path: PathBuf,
    pub(crate) asked: Asked,
    answers: Vec<Answer>,
}

/// What a query has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// The subjects that its answer needs, by their numbers.
    pub subjects: Vec<usize>,
    /// Its hits, where they are kept.
    pub alignments: Option<Vec<Hit>>,
    /// CRC-32 of the answer.
    pub digest: u32,
}

impl SearchMetadata {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, is something else, of another version, or damaged.
    pub fn read(path: &Path) -> Result<SearchMetadata, MetadataError> {
        match std::fs::read(path) {
            Ok(bytes) => SearchMetadata::of_bytes(path, &bytes),
            Err(source) => Err(MetadataError::Read {
                path: path.to_path_buf(),
                source,
            }),
        }
    }

    /// Reads what a file of a name would have.
    ///
    /// # Errors
    /// It is something else, of another version, or damaged.
    pub fn of_bytes(path: &Path, bytes: &[u8]) -> Result<SearchMetadata, MetadataError> {
        let path = path.to_path_buf();
        match parse(bytes) {
            Ok((asked, answers)) => Ok(SearchMetadata {
                path,
                asked,
                answers,
            }),
            Err(Unfit::Foreign(found)) => Err(MetadataError::Foreign {
                path,
                found: format!("{found}; {}", FORMAT.makers),
            }),
            Err(Unfit::Version(version)) => Err(MetadataError::Version { path, version }),
            Err(Unfit::Short) => Err(MetadataError::Damaged {
                path,
                what: "it was cut short".into(),
            }),
            Err(Unfit::Corrupt(what)) => Err(MetadataError::Damaged { path, what }),
        }
    }

    /// What was asked for, in the words that the search was given.
    pub fn parameters(&self) -> &[String] {
        &self.asked.parameters
    }

    /// Names of the files of the database that was searched.
    pub fn database(&self) -> &str {
        &self.asked.database
    }

    /// What was compared with what; none where there were no queries.
    pub fn program(&self) -> Option<Program> {
        self.asked.program.as_ref()?.parse().ok()
    }

    /// How many queries there were.
    pub fn queries(&self) -> usize {
        self.answers.len()
    }

    pub(crate) fn answers(&self) -> &[Answer] {
        &self.answers
    }
}

/// Numbers of all subjects that any of some answers needs, in their order.
pub(crate) fn subjects_of(answers: &[Answer]) -> Vec<usize> {
    let subjects = answers.iter().flat_map(|answer| &answer.subjects);
    let mut all: Vec<usize> = subjects.copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn parse(bytes: &[u8]) -> Result<(Asked, Vec<Answer>), Unfit> {
    let header = FORMAT.header(bytes)?;
    let (start, length) = (FORMAT.header_bytes as u64, u64_at(header, 12));
    part(bytes, start, length, "parameters").map_err(|_| Unfit::Short)?;
    let text = checked_part(bytes, start, length, u32_at(header, 20), "parameters");
    let text = text.map_err(Unfit::Corrupt)?;
    let asked: Asked =
        serde_json::from_slice(text).map_err(|error| Unfit::Corrupt(error.to_string()))?;
    let mut rest = &bytes[FORMAT.header_bytes + text.len()..];
    let mut answers = Vec::new();
    loop {
        let before = rest;
        let length = next_number(&mut rest).map_err(|_| Unfit::Short)?;
        if length == 0 {
            let same = before == &end(answers.len())[..] && answers.len() as u64 == asked.queries;
            let wrong = || Unfit::Corrupt(format!("it ends behind {} queries", answers.len()));
            return match same {
                true => Ok((asked, answers)),
                false if before.len() < end(0).len() => Err(Unfit::Short),
                false => Err(wrong()),
            };
        }
        let (body, behind) = rest.split_at_checked(length as usize).ok_or(Unfit::Short)?;
        rest = behind;
        let query = answers.len() + 1;
        let wrong = || Unfit::Corrupt(format!("the record of query {query} is not what it was"));
        answers.push(answer(body, asked.alignments).ok_or_else(wrong)?);
    }
}

/// What a record has.
fn answer(body: &[u8], has_alignments: bool) -> Option<Answer> {
    let (numbers, checksums) = body.split_at_checked(body.len().checked_sub(CHECKSUMS)?)?;
    if crc32fast::hash(&body[..body.len() - 4]) != u32_at(checksums, 4) {
        return None;
    }
    let (mut rest, mut subjects, mut before) = (numbers, Vec::new(), 0_usize);
    for _ in 0..next_number(&mut rest).ok()? {
        before = before.checked_add(usize::try_from(next_number(&mut rest).ok()?).ok()?)?;
        subjects.push(before);
    }
    let mut alignments = None;
    if has_alignments {
        alignments = Some(read_alignments(&mut rest).ok()?);
    }
    rest.is_empty().then_some(Answer {
        subjects,
        alignments,
        digest: u32_at(checksums, 0),
    })
}
