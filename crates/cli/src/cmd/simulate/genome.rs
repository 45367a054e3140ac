//! `gyrase simulate genome`.

use std::path::PathBuf;

use clap::Args;
use gyrase_picture::words::things;
use gyrase_simulate::genome::{self, Blueprint, Config, Gaps, Repeats};
use serde_json::json;

use super::shown::simulate;
use crate::failure::Result;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase simulate genome -o genome.fa             one million random bases
  gyrase simulate genome -o g.fa --length 20000000 --contigs 8 --gc 0.38
  gyrase simulate genome -o diploid.fa --heterozygosity 0.01 --truth truth.tsv
  gyrase simulate genome -o tetraploid.fa --ploidy 4 --heterozygosity 0.01
  gyrase simulate genome -o g.fa --repeat-families 20 --repeat-length 800";

/// Make a random genome: GC content, repeats, gaps, further haplotypes.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Genome {
    /// FASTA file to write; compressed if it ends in .gz, .zst, .bz2 or .xz
    #[arg(long, short, alias = "out", value_name = "FILE")]
    output: PathBuf,

    /// Also write a table of every repeat, gap and variant
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,

    /// Which of all such genomes
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Bases of one haplotype
    #[arg(long, value_name = "BASES", default_value_t = 1_000_000)]
    length: u64,

    #[command(flatten)]
    kind: Kind,

    /// Share of bases in which each further haplotype differs from the first; 0 for a haploid
    /// genome
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    heterozygosity: f64,

    /// Haplotypes where they differ, 2 to 8
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2,
        requires = "heterozygosity"
    )]
    ploidy: u32,
}

/// What a random genome is like, beside its length.
#[derive(Debug, Args)]
pub struct Kind {
    /// Contigs
    #[arg(long, value_name = "N", default_value_t = 1)]
    contigs: u32,

    /// Share of G and C
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    gc: f64,

    /// Repeat families
    #[arg(long, value_name = "N", default_value_t = 0)]
    repeat_families: u32,

    /// Copies of each repeat family
    #[arg(long, value_name = "N", default_value_t = 10)]
    repeat_copies: u32,

    /// Bases of each copy
    #[arg(long, value_name = "BASES", default_value_t = 500)]
    repeat_length: u64,

    /// Share of bases in which a copy differs from its family
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    repeat_divergence: f64,

    /// Runs of N
    #[arg(long, value_name = "N", default_value_t = 0)]
    gaps: u32,

    /// Letters of each run of N
    #[arg(long, value_name = "LETTERS", default_value_t = 100)]
    gap_length: u64,
}

impl Kind {
    /// The blueprint of a haploid genome.
    pub fn blueprint(&self, seed: u64, length: u64) -> Blueprint {
        Blueprint {
            seed,
            length,
            contigs: self.contigs,
            gc: self.gc,
            repeats: Repeats {
                families: self.repeat_families,
                copies: self.repeat_copies,
                length: self.repeat_length,
                divergence: self.repeat_divergence,
            },
            gaps: Gaps {
                runs: self.gaps,
                length: self.gap_length,
            },
            ..Blueprint::default()
        }
    }
}

impl Genome {
    /// Writes the genome.
    pub fn run(self, session: &Session) -> Result<()> {
        session.keep_apart([], [&self.output].into_iter().chain(&self.truth))?;
        let blueprint = self.kind.blueprint(self.seed, self.length);
        let blueprint = Blueprint {
            heterozygosity: self.heterozygosity,
            ploidy: self.ploidy,
            ..blueprint
        };
        let config = Config {
            blueprint,
            output: self.output,
            truth: self.truth,
        };
        let summary = simulate(
            session,
            |progress| genome::run(&config, progress),
            |made| {
                format!(
                    "{}, {}",
                    things(made.sequences, "sequence"),
                    things(made.letters, "letter")
                )
            },
        )?;
        session.note(
            "parameters",
            json!({"seed": self.seed, "length": self.length, "gc": self.kind.gc}),
        );
        session.note("output", config.output.display().to_string());
        session.note(
            "counts",
            json!({
                "sequences": summary.sequences, "letters": summary.letters,
                "repeats": summary.repeats, "gaps": summary.gaps, "variants": summary.variants,
            }),
        );
        Ok(())
    }
}
