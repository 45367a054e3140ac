//! Which alignments are left out because others are there.

use clap::Args;
use gyrase_search::{BestHit, Culling};

use super::numbers::part;

/// What BLAST takes for one of the two where the other alone is given.
const USUAL: f64 = 0.1;

/// Alignments that tell little beside others of the query, with any subject.
#[derive(Debug, Args)]
#[command(next_help_heading = "Redundant alignments")]
pub(super) struct Redundant {
    /// Leave out what N better alignments dominate, which have half of its part of the query
    #[arg(
        long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with_all = ["best_hit_overhang", "best_hit_score_edge"],
    )]
    culling_limit: Option<u32>,

    /// Leave out what is within a better alignment with the same subject, by the query
    #[arg(long)]
    subject_besthit: bool,

    /// Leave out what is within a denser alignment, but for so large a part of that at each end
    /// [default with --best-hit-score-edge: 0.1]
    #[arg(long, value_name = "PART", value_parser = part)]
    best_hit_overhang: Option<f64>,

    /// It has so much less score for each letter at least [default with --best-hit-overhang: 0.1]
    #[arg(long, value_name = "PART", value_parser = part)]
    best_hit_score_edge: Option<f64>,
}

impl Redundant {
    /// What was chosen.
    pub(super) fn culling(&self) -> Culling {
        let (overhang, edge) = (self.best_hit_overhang, self.best_hit_score_edge);
        Culling {
            limit: self.culling_limit.map(|limit| limit as usize),
            best_hit: overhang.or(edge).map(|_| BestHit {
                overhang: overhang.unwrap_or(USUAL),
                score_edge: edge.unwrap_or(USUAL),
            }),
            subject_best: self.subject_besthit,
        }
    }
}
