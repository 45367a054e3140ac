//! What is made of subjects once, where many searches want it.

use crate::Molecule;
use crate::nucleotide::WordIndex;
use crate::seeds::{SeedIndexes, bytes_of_indexes};

/// Indexes of subjects that stay from one search to the next.
#[derive(Default)]
pub(crate) struct Indexes {
    /// Of the seeds of proteins.
    pub seeds: SeedIndexes,
    /// Of the words of nucleotides, where it was made.
    pub words: Option<WordIndex>,
}

impl Indexes {
    /// Bytes that those of so many letters take.
    pub(crate) fn bytes(molecule: Molecule, letters: u64) -> u64 {
        match molecule {
            Molecule::Protein => bytes_of_indexes(letters),
            Molecule::Nucleotide => WordIndex::bytes(letters),
        }
    }
}
