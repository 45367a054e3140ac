//! What may be chosen where nucleotides are translated.

use clap::{ArgAction, Args};
use gyrase_search::TranslationOptions;

/// Options of translated searches.
#[derive(Debug, Args)]
#[command(next_help_heading = "Translation")]
pub(super) struct Translation {
    /// Genetic code of the queries, by NCBI's number
    #[arg(long, value_name = "N", default_value_t = 1)]
    query_gencode: u8,

    /// Genetic code of the database, by NCBI's number
    #[arg(long, value_name = "N", default_value_t = 1)]
    db_gencode: u8,

    /// Nucleotides that may be between two alignments that share an E-value; below 5 none do
    #[arg(
        long, value_name = "N", default_value_t = 122,
        value_parser = clap::value_parser!(u32).range(..=1_000_000),
    )]
    max_intron: u32,

    /// Let each alignment have an E-value of its own, not of all that follow each other
    #[arg(long = "no-sum-stats", action = ArgAction::SetFalse)]
    sums: bool,
}

impl Translation {
    /// What was chosen.
    pub(super) fn options(&self) -> TranslationOptions {
        TranslationOptions {
            query_code: self.query_gencode,
            subject_code: self.db_gencode,
            max_intron: self.max_intron as usize,
            sums: self.sums,
        }
    }
}
