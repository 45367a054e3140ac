//! What may be chosen for nucleotides.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gyrase_search::{NucleotideOptions, Strands, TemplateType};

use super::numbers::percent;
use super::protein::Gaps;

/// Options of nucleotides.
#[derive(Debug, Args)]
#[command(next_help_heading = "Nucleotides")]
pub(super) struct Nucleotide {
    /// Bases in a row that are equal in each alignment [default: 11; megablast: 28;
    /// blastn-short: 7]; of dc-megablast bases of a template, 11 or 12
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(4..=64))]
    word_size: Option<u32>,

    /// Bases from the first to the last of a template, of dc-megablast [default: 18]
    #[arg(
        long, value_name = "N",
        value_parser = PossibleValuesParser::new(["16", "18", "21"])
            .map(|length| length.parse::<usize>().expect("a number")),
    )]
    template_length: Option<usize>,

    /// Which bases of a template are equal: as in coding sequences, those that find most in
    /// others, or both in turn
    #[arg(long, value_enum, default_value_t = Template::Coding)]
    template_type: Template,

    /// Score of a match [default: 2; megablast, blastn-short: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=1000))]
    reward: Option<i32>,

    /// Score of a mismatch [default: -3; megablast: -2]
    #[arg(
        long, value_name = "N", allow_negative_numbers = true,
        value_parser = clap::value_parser!(i32).range(-1000..=-1),
    )]
    penalty: Option<i32>,

    /// Strands of the queries to search for
    #[arg(long, value_enum, default_value_t = Strand::Both)]
    strand: Strand,

    /// Report alignments of which at least so many percent of the columns are equal
    #[arg(long, value_name = "P", default_value_t = 0.0, value_parser = percent)]
    perc_identity: f64,
}

/// Bases of templates, by the names of BLAST.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
enum Template {
    Coding,
    Optimal,
    CodingAndOptimal,
}

/// Strands of queries.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Strand {
    Both,
    Plus,
    Minus,
}

impl Nucleotide {
    /// What was chosen.
    pub(super) fn options(&self, gaps: &Gaps) -> NucleotideOptions {
        NucleotideOptions {
            word: self.word_size.map(|bases| bases as usize),
            template_length: self.template_length,
            template: match self.template_type {
                Template::Coding => TemplateType::Coding,
                Template::Optimal => TemplateType::Optimal,
                Template::CodingAndOptimal => TemplateType::Both,
            },
            reward: self.reward,
            penalty: self.penalty,
            gap_open: gaps.gap_open,
            gap_extend: gaps.gap_extend,
            strands: match self.strand {
                Strand::Both => Strands::Both,
                Strand::Plus => Strands::Plus,
                Strand::Minus => Strands::Minus,
            },
            identity: self.perc_identity,
        }
    }
}
