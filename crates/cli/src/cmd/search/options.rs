//! What may be chosen for a search, wherever its queries and its database are.

use clap::Args;
use gyrase_search::{Config, HitLimits, Program, Sensitivity, TaxidFilter, WaitingText};

use super::culling::Redundant;
use super::masks::Masks;
use super::nucleotide::Nucleotide;
use super::numbers::{evalue, percent};
use super::protein::{Gaps, Protein};
use super::translation::Translation;

/// Options of a search.
#[derive(Debug, Args)]
pub struct SearchOptions {
    /// What is compared with what, as BLAST calls it [default: blastp, blastn, blastx or tblastn,
    /// by the letters]
    #[arg(long, value_name = "NAME")]
    pub(super) program: Option<Program>,

    /// Report alignments of which chance would give no more than so many in the whole database
    #[arg(long, short, value_name = "E", default_value_t = 10.0, value_parser = evalue)]
    pub(super) evalue: f64,

    /// Report so many subjects of a query at most, the best of the whole database
    #[arg(
        long, value_name = "N", default_value_t = 500,
        value_parser = clap::value_parser!(u32).range(1..),
    )]
    top: u32,

    /// Report so many alignments with a subject at most, the best
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_hsps: Option<u32>,

    /// Report alignments that have at least so many percent of the query; the --top are of them
    #[arg(long, value_name = "P", default_value_t = 0.0, value_parser = percent)]
    query_cover: f64,

    /// Find most of what is there, several times sooner: seeds of one shape instead of four
    #[arg(long, conflicts_with = "exhaustive")]
    fast: bool,

    /// Align every query with every subject: all that local alignment finds (Smith-Waterman)
    #[arg(long)]
    exhaustive: bool,

    /// Letters of the whole database, of which --db is a part: E-values are those of the whole
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    db_length: Option<u64>,

    /// Sequences of the whole database, of which --db is a part
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    db_sequences: Option<u64>,

    #[command(flatten)]
    redundant: Redundant,

    #[command(flatten)]
    masks: Masks,

    #[command(flatten)]
    gaps: Gaps,

    #[command(flatten)]
    protein: Protein,

    #[command(flatten)]
    nucleotide: Nucleotide,

    #[command(flatten)]
    translation: Translation,
}

/// Taxids of subjects that are meant.
#[derive(Debug, Args)]
#[command(next_help_heading = "Taxa")]
pub struct Taxids {
    /// Search only sequences of these taxids and of all below them
    #[arg(
        long, value_name = "TAXID", num_args = 1.., value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..),
    )]
    taxid: Vec<u32>,

    /// Leave out sequences that are of these taxids, or below, alone
    #[arg(
        long, value_name = "TAXID", num_args = 1.., value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..),
    )]
    not_taxid: Vec<u32>,
}

impl Taxids {
    /// What they choose, by the taxonomy of the databases.
    pub fn filter(&self) -> TaxidFilter {
        TaxidFilter {
            only: self.taxid.clone(),
            without: self.not_taxid.clone(),
            taxonomy: None,
        }
    }
}

impl SearchOptions {
    /// A search with these options, which has no queries, no database, no memory yet.
    pub fn config(&self) -> Config {
        Config {
            program: self.program,
            sensitivity: self.sensitivity(),
            queries: Vec::new(),
            query_texts: Vec::new(),
            subjects: Vec::new(),
            taxids: TaxidFilter::default(),
            limits: HitLimits {
                evalue: self.evalue,
                top: self.top as usize,
                max_hsps: self.max_hsps.map_or(usize::MAX, |most| most as usize),
                query_cover: self.query_cover,
                culling: self.redundant.culling(),
            },
            db_length: self.db_length,
            db_sequences: self.db_sequences,
            masks: self.masks.options(),
            db_mask: self.masks.of_database(),
            protein: self.protein.options(&self.gaps),
            nucleotide: self.nucleotide.options(&self.gaps),
            translation: self.translation.options(),
            waiting: WaitingText::new(Default::default()),
            memory: 0,
            threads: 1,
        }
    }

    fn sensitivity(&self) -> Sensitivity {
        match (self.fast, self.exhaustive) {
            (true, _) => Sensitivity::Fast,
            (_, true) => Sensitivity::Exhaustive,
            _ => Sensitivity::Blast,
        }
    }
}
