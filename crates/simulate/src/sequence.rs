//! Named sequences, read from and written to FASTA.

use std::io::{self, Write};
use std::path::Path;

use crate::SimulateError;

const COLUMNS: usize = 80;

/// A named sequence of upper-case letters `ACGTN`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The first word of the header line.
    pub name: String,
    /// The letters.
    pub letters: Vec<u8>,
}

/// Writes sequences as FASTA, 80 letters to a line.
///
/// # Errors
/// Those of `out`.
pub fn write_fasta(out: &mut dyn Write, sequences: &[Sequence]) -> io::Result<()> {
    for sequence in sequences {
        writeln!(out, ">{}", sequence.name)?;
        for line in sequence.letters.chunks(COLUMNS) {
            out.write_all(line)?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// Reads every record of a FASTA file.
pub fn read_sequences(path: &Path) -> Result<Vec<Sequence>, SimulateError> {
    let text = std::fs::read(path).map_err(|source| SimulateError::Unreadable { path: path.to_path_buf(), source })?;
    let mut sequences: Vec<Sequence> = Vec::new();
    for line in text.split(|&b| b == b'\n') {
        if let Some(name) = line.strip_prefix(b">") {
            sequences.push(Sequence { name: String::from_utf8_lossy(name).into_owned(), letters: Vec::new() });
        } else if let Some(sequence) = sequences.last_mut() {
            sequence.letters.extend_from_slice(line);
        }
    }
    sequences.iter_mut().for_each(|sequence| normalise(&mut sequence.letters));
    if sequences.is_empty() { Err(SimulateError::Empty { path: path.to_path_buf() }) } else { Ok(sequences) }
}

/// The same sequences with a suffix to each name.
pub(crate) fn suffixed(sequences: Vec<Sequence>, suffix: &str) -> Vec<Sequence> {
    let rename = |sequence: Sequence| Sequence { name: sequence.name + suffix, ..sequence };
    sequences.into_iter().map(rename).collect()
}

/// Upper case; U becomes T, and every letter other than `ACGT` becomes N.
pub(crate) fn normalise(letters: &mut [u8]) {
    for letter in letters {
        *letter = gyrase_seq::encode(*letter).map_or(b'N', gyrase_seq::decode);
    }
}
