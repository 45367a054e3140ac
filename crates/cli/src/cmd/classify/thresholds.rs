//! When a read is classified, and how far down.

use clap::Args;
use gyrase_classify::{Confidence, LowestRank, Rule};
use serde_json::{Value, json};

/// What must speak for a taxon.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "When a read is classified")]
pub struct Thresholds {
    /// Least share of a read's features (the k-mers that are looked up) that the references of its
    /// taxon have: of a taxon with less, the nearest above it that has enough is named, if any
    /// [default: 0.035]
    #[arg(long, value_name = "SHARE")]
    pub confidence: Option<Confidence>,

    /// Least features that one place of one reference has
    #[arg(long, value_name = "N", default_value_t = Rule::default().least_hits)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub min_hits: u32,

    /// Name no taxon below this rank: strain (that of the reference), subspecies, species, genus,
    /// family, order, class, phylum, kingdom, domain
    #[arg(long, value_name = "RANK", default_value_t)]
    pub lowest_rank: LowestRank,

    /// A last column of answers: taxid:confidence of the taxon, and of those above it with more
    #[arg(long)]
    pub with_confidence: bool,
}

impl Thresholds {
    /// The names of the arguments.
    pub const NAMES: [&str; 4] = ["confidence", "min_hits", "lowest_rank", "with_confidence"];

    /// The rule.
    pub fn rule(&self) -> Rule {
        Rule {
            least_hits: self.min_hits,
            confidence: self.confidence.unwrap_or(Confidence::DEFAULT),
            lowest: self.lowest_rank,
            ..Rule::default()
        }
    }

    /// What is said of them in reports.
    pub fn noted(&self) -> Value {
        json!({
            "confidence": self.rule().confidence.share(),
            "min_hits": self.min_hits,
            "lowest_rank": self.lowest_rank.to_string(),
        })
    }
}
