//! The definition of counting, written down as plainly as possible: what the demonstration checks
//! against.

use std::collections::HashMap;
use std::path::PathBuf;

use gyrase_kmer::Kmer;
use gyrase_table::gyk::Database;

use crate::failure::{Code, Failure, Result};

/// Length of the k-mers.
pub const K: usize = 31;

/// The letters of a canonical k-mer.
pub type Word = [u8; K];

/// Counts the canonical k-mers of FASTA files, and of FASTQ files of four lines a record.
pub fn count(paths: &[PathBuf]) -> Result<HashMap<Word, u32>> {
    let mut counts = HashMap::new();
    for path in paths {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::new(
                Code::Input,
                format!("cannot read {}: {error}", path.display()),
            )
        })?;
        for sequence in sequences(&text) {
            for word in sequence.as_bytes().windows(K).filter_map(canonical) {
                *counts.entry(word).or_insert(0) += 1;
            }
        }
    }
    Ok(counts)
}

fn sequences(text: &str) -> Vec<String> {
    if text.starts_with('@') {
        return text.lines().skip(1).step_by(4).map(String::from).collect();
    }
    text.split('>')
        .map(|record| record.lines().skip(1).collect())
        .collect()
}

fn canonical(window: &[u8]) -> Option<Word> {
    let forward: Word = window.try_into().ok()?;
    let mut reverse = forward;
    reverse.reverse();
    for letter in &mut reverse {
        *letter = match letter {
            b'A' => b'T',
            b'C' => b'G',
            b'G' => b'C',
            b'T' => b'A',
            _ => return None,
        };
    }
    Some(forward.min(reverse))
}

/// The count that a database has for a word, 0 where it has it not.
pub fn look_up(database: &Database, letters: &[u8]) -> Result<u32> {
    Ok(Kmer::<1>::from_letters(letters)
        .map_or(Ok(None), |kmer| database.get(kmer))?
        .unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_strands_are_one() {
        let forward = b"ACGTTGCATTAGACCATGACCAGTAGGACTT";
        let reverse = gyrase_seq::reverse_complement(forward);
        assert_eq!(canonical(forward), canonical(&reverse));
        assert_eq!(canonical(b"ACGTTGCATTAGACCATGACCAGTAGGACTN"), None);
        assert_eq!(sequences(">a\nAC\nGT\n>b\nT\n")[1..], ["ACGT", "T"]);
        assert_eq!(sequences("@a\nAC\n+\nII\n@b\nT\n+\nI\n"), ["AC", "T"]);
    }
}
