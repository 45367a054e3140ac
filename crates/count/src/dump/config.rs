//! What is listed, and how.

use std::path::PathBuf;

use gyrase_table::gyk::Cutoffs;

/// How a k-mer and its count are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// `KMER TAB count`, as `kmc_dump`.
    #[default]
    Tab,
    /// `KMER SPACE count`, as `jellyfish dump -c`.
    Space,
    /// `>count`, and the k-mer on the next line, as `jellyfish dump`.
    Fasta,
}

/// What to list.
#[derive(Clone, Debug)]
pub struct Config {
    /// The database.
    pub database: PathBuf,
    /// How a k-mer and its count are written.
    pub style: Style,
    /// The counts to list.
    pub cutoffs: Cutoffs,
    /// `None`: in the order of the database. `Some`: in the order of the letters, with about so
    /// many bytes of memory.
    pub sorted_within: Option<u64>,
    /// Threads, at least 1.
    pub threads: usize,
}
