//! What may be chosen for proteins, and for gaps.

use clap::Args;
use gyrase_search::{CompositionMode, Matrix, ProteinOptions};

/// Costs of gaps.
#[derive(Debug, Args)]
#[command(next_help_heading = "Gaps")]
pub(super) struct Gaps {
    /// Cost of a gap beside its letters [default: 11, or that of the matrix; nucleotides: 5;
    /// megablast: 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(0..=1000))]
    pub gap_open: Option<i32>,

    /// Cost of each letter beside a gap [default: 1, or that of the matrix; nucleotides: 2;
    /// megablast: 0, which means half a match and a mismatch]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(0..=1000))]
    pub gap_extend: Option<i32>,
}

/// Options of proteins.
#[derive(Debug, Args)]
#[command(next_help_heading = "Proteins")]
pub(super) struct Protein {
    /// Scores of pairs of residues: BLOSUM45, BLOSUM50, BLOSUM62, BLOSUM80, BLOSUM90, PAM30, PAM70
    /// or PAM250 [default: BLOSUM62; blastp-short: PAM30]
    #[arg(long, value_name = "NAME", value_parser = matrix)]
    matrix: Option<&'static Matrix>,

    /// How scores fit the composition of both sequences, as BLAST numbers it: 0 not, 1 by a factor,
    /// 2 in all scores or by a factor, 3 in all scores [default: 2; blastp-short: 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=3))]
    comp_based_stats: Option<u8>,
}

impl Protein {
    /// What was chosen.
    pub(super) fn options(&self, gaps: &Gaps) -> ProteinOptions {
        let mode = |number: u8| CompositionMode::ALL[usize::from(number)];
        ProteinOptions {
            matrix: self.matrix,
            gap_open: gaps.gap_open,
            gap_extend: gaps.gap_extend,
            composition: self.comp_based_stats.map(mode),
        }
    }
}

fn matrix(name: &str) -> Result<&'static Matrix, String> {
    let names = Matrix::all().iter().map(Matrix::name).collect::<Vec<_>>();
    Matrix::named(name).ok_or_else(|| format!("choose {}", names.join(", ")))
}
