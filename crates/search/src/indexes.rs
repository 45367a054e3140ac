//! What is made of subjects once, where many searches want it.

use std::sync::OnceLock;

use crate::nucleotide::WordIndex;
use crate::seeds::{SeedIndexes, bytes_of_indexes};
use crate::{Molecule, Sequences};

/// Indexes of subjects that stay from one search to the next.
#[derive(Default)]
pub(crate) struct Indexes {
    /// Of the seeds of proteins.
    pub seeds: SeedIndexes,
    /// Of the words of nucleotides, once it was made.
    pub words: OnceLock<WordIndex>,
}

impl Indexes {
    /// Those of all sequences of a database. Words of nucleotides are indexed at once, seeds of
    /// proteins by the first search that wants them. None where there is no index of the words.
    pub(crate) fn new(molecule: Molecule, whole: &Sequences, threads: usize) -> Option<Indexes> {
        let indexes = Indexes::default();
        let made = molecule == Molecule::Protein || indexes.index_words(whole, threads);
        made.then_some(indexes)
    }

    /// Indexes the words of nucleotides; false where there is no index of them.
    pub(crate) fn index_words(&self, subjects: &Sequences, threads: usize) -> bool {
        let made = WordIndex::new(subjects, threads);
        made.is_some_and(|words| self.words.set(words).is_ok())
    }

    /// Bytes that those of so many letters take.
    pub(crate) fn bytes(molecule: Molecule, letters: u64) -> u64 {
        match molecule {
            Molecule::Protein => bytes_of_indexes(letters),
            Molecule::Nucleotide => WordIndex::bytes(letters),
        }
    }

    /// Bytes that making them takes beside.
    pub(crate) fn bytes_beside(molecule: Molecule, letters: u64) -> u64 {
        match molecule {
            Molecule::Protein => 0,
            Molecule::Nucleotide => WordIndex::bytes(letters),
        }
    }
}
