//! Named sequences, and reading them from files.

use std::path::Path;

use gyrase_fastx::{Options, Reader};
use gyrase_seq::{Batch, Record};

use crate::SimulateError;

/// A named sequence of upper-case letters `ACGTN`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The first word of the header line.
    pub name: String,
    /// The letters.
    pub letters: Vec<u8>,
}

/// Reads every record of a FASTA or FASTQ file: upper case, U as T, and every letter other than
/// `ACGT` as N.
///
/// # Errors
/// When the file cannot be read or holds no sequence.
pub fn read_sequences(path: &Path) -> Result<Vec<Sequence>, SimulateError> {
    let options = Options {
        whole_records: true,
        ..Options::default()
    };
    let mut reader = Reader::open(path, &options)?;
    let (mut batch, mut sequences) = (Batch::default(), Vec::new());
    while reader.next_batch(&mut batch)? {
        sequences.extend(batch.records.iter().map(|record| sequence(&batch, record)));
    }
    if sequences.is_empty() {
        Err(SimulateError::Empty {
            path: path.to_path_buf(),
        })
    } else {
        Ok(sequences)
    }
}

fn sequence(batch: &Batch, record: &Record) -> Sequence {
    let header = String::from_utf8_lossy(batch.bytes(record.name));
    let name = header
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_owned();
    let mut letters = batch.bytes(record.letters).to_vec();
    normalise(&mut letters);
    Sequence { name, letters }
}

/// The same sequences with a suffix to each name.
pub(crate) fn suffixed(sequences: Vec<Sequence>, suffix: &str) -> Vec<Sequence> {
    let rename = |sequence: Sequence| Sequence {
        name: sequence.name + suffix,
        ..sequence
    };
    sequences.into_iter().map(rename).collect()
}

fn normalise(letters: &mut [u8]) {
    for letter in letters {
        *letter = gyrase_seq::encode(*letter).map_or(b'N', gyrase_seq::decode);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_come_back_in_upper_case_by_their_first_word() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.fa");
        std::fs::write(&path, ">one and more\r\nacgu\r\nRYN\n>two\n\n>three\nTT").unwrap();
        let sequences = read_sequences(&path).unwrap();
        let found: Vec<_> = sequences
            .iter()
            .map(|s| (s.name.as_str(), s.letters.as_slice()))
            .collect();
        assert_eq!(
            found,
            [("one", &b"ACGTNNN"[..]), ("two", b""), ("three", b"TT")]
        );
    }

    #[test]
    fn files_that_are_missing_or_empty_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none.fa");
        assert!(
            matches!(read_sequences(&path), Err(SimulateError::Input(error)) if error.is_usage())
        );
        std::fs::write(&path, "").unwrap();
        let error = read_sequences(&path).unwrap_err();
        assert!(
            matches!(error, SimulateError::Empty { .. }) && error.to_string().contains("none.fa")
        );
    }
}
