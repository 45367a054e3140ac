//! What is asked of a search, and what it tells when it is done.

use std::path::PathBuf;
use std::sync::Arc;

use gyrase_seqdb::TaxidFilter;

use crate::protein::Sensitivity;
use crate::waiting::WaitingText;
use crate::{
    DatabaseMask, HitLimits, HopelessQuery, MaskOptions, Molecule, NucleotideOptions, Program,
    ProteinOptions, TranslationOptions,
};

/// What is searched for, where, and how.
#[derive(Clone, Debug)]
pub struct Config {
    /// What is compared with what; none where the letters of the files decide.
    pub program: Option<Program>,
    /// Files and databases of queries.
    pub queries: Vec<PathBuf>,
    /// FASTA of more queries in memory, behind those of files, by names for messages.
    pub query_texts: Vec<(String, Arc<[u8]>)>,
    /// Files and databases of subjects, in the order of the database.
    pub subjects: Vec<PathBuf>,
    /// How surely proteins are found.
    pub sensitivity: Sensitivity,
    /// Which subjects are meant; E-values are those of the whole database all the same.
    pub taxids: TaxidFilter,
    /// What is reported.
    pub limits: HitLimits,
    /// Letters of the database that E-values are of, where this is a part of a larger one.
    pub db_length: Option<u64>,
    /// Sequences of that database.
    pub db_sequences: Option<u64>,
    /// What is masked in queries.
    pub masks: MaskOptions,
    /// What masks of subjects do.
    pub db_mask: DatabaseMask,
    /// How proteins are compared.
    pub protein: ProteinOptions,
    /// How nucleotides are compared.
    pub nucleotide: NucleotideOptions,
    /// How nucleotides are translated, and their alignments taken together.
    pub translation: TranslationOptions,
    /// Where waits what is found before it can be written, and the memory does not take.
    pub waiting: WaitingText,
    /// Bytes of memory to stay within.
    pub memory: u64,
    /// Threads.
    pub threads: usize,
}

impl Config {
    /// The program that was asked for, or else that of queries and subjects of these molecules.
    pub(crate) fn program_for(&self, molecules: [Molecule; 2]) -> Program {
        self.program.unwrap_or_else(|| Program::of(molecules))
    }

    /// As what they are compared.
    pub(crate) fn compares(&self, molecules: [Molecule; 2]) -> Molecule {
        self.program_for(molecules).compares()
    }
}

/// What a search did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Queries.
    pub queries: u64,
    /// Of them, with a hit.
    pub with_hits: u64,
    /// Subjects of all queries.
    pub hits: u64,
    /// Sequences of the database.
    pub subjects: u64,
    /// Of them, those that were meant by their taxids.
    pub searched: u64,
    /// Taxids stood for themselves alone: nothing said what is below them.
    pub literal_taxids: bool,
    /// Residues or nucleotides of the database.
    pub letters: u64,
    /// What was compared with what; none where there was nothing.
    pub program: Option<Program>,
    /// Masks of the database were asked for, and it has none.
    pub lacks_masks: bool,
    /// Queries that can have no hits, whatever the database holds.
    pub hopeless: Vec<HopelessQuery>,
}
