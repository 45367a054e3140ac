//! `gyrase simulate reads`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gyrase_picture::words::{grouped, things};
use gyrase_simulate::reads::{self, Amount, Config, Errors, LibraryLayout, Protocol, ReadFiles};
use serde_json::json;

use super::shown::simulate;
use crate::failure::Result;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase simulate reads g.fa -o r_1.fq --out2 r_2.fq      2 x 150 bases, 30x
  gyrase simulate reads g.fa -o pairs.fq.gz --fragments 100000
  gyrase simulate reads g.fa -o single.fq --layout single --error-rate 0
  gyrase simulate reads g.fa -o long.fq --layout long --length 8000

A read is named after the place that it was read from:
sequence:start-end:strand:number.";

/// Read genomes: paired, single or long reads with errors and qualities.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Reads {
    /// Genomes to read, FASTA or FASTQ, plain or compressed
    #[arg(value_name = "GENOME", required = true)]
    genomes: Vec<PathBuf>,

    #[command(flatten)]
    shotgun: Shotgun,
}

/// How reads are made, how many, and where they go.
#[derive(Debug, Args)]
pub struct Shotgun {
    /// FASTQ file to write; compressed if it ends in .gz, .zst, .bz2 or .xz
    #[arg(long, short, alias = "out", value_name = "FILE")]
    output: PathBuf,

    /// File for the second mates [default: mates follow each other in one file]
    #[arg(long, value_name = "FILE")]
    out2: Option<PathBuf>,

    /// Bases read for each base of the genomes
    #[arg(
        long,
        value_name = "DEPTH",
        default_value_t = 30.0,
        conflicts_with = "fragments"
    )]
    coverage: f64,

    /// So many reads, or pairs of reads, instead of a coverage
    #[arg(long, value_name = "N")]
    fragments: Option<u64>,

    /// Kind of reads
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Layout::Paired)]
    layout: Layout,

    /// Bases of a read; of long reads the mean [default: 150, long 10000]
    #[arg(long, value_name = "BASES")]
    length: Option<u32>,

    /// Standard deviation of the length of long reads [default: half of --length]
    #[arg(long, value_name = "BASES")]
    length_sd: Option<f64>,

    /// Mean length of the fragments that mates end
    #[arg(long, value_name = "BASES", default_value_t = 350.0)]
    insert: f64,

    /// Standard deviation of that length
    #[arg(long, value_name = "BASES", default_value_t = 50.0)]
    insert_sd: f64,

    /// Errors per base [default: 0.002, long 0.02]
    #[arg(long, value_name = "RATE")]
    error_rate: Option<f64>,

    /// Share of errors that are insertions or deletions [default: 0.02, long 0.4]
    #[arg(long, value_name = "SHARE")]
    indel_share: Option<f64>,

    /// Which of all such read sets
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Layout {
    Paired,
    Single,
    Long,
}

impl Shotgun {
    /// How fragments are read.
    pub fn protocol(&self) -> Protocol {
        let long = self.layout == Layout::Long;
        let length = self.length.unwrap_or(if long { 10_000 } else { 150 });
        let mean = f64::from(length);
        let layout = match self.layout {
            Layout::Paired => LibraryLayout::Paired {
                length,
                insert_mean: self.insert,
                insert_deviation: self.insert_sd,
            },
            Layout::Single => LibraryLayout::Single { length },
            Layout::Long => LibraryLayout::Long {
                mean,
                deviation: self.length_sd.unwrap_or(mean / 2.0),
            },
        };
        let rate = self.error_rate.unwrap_or(if long { 0.02 } else { 0.002 });
        let indels = self.indel_share.unwrap_or(if long { 0.4 } else { 0.02 });
        Protocol {
            seed: self.seed,
            layout,
            errors: Errors { rate, indels },
        }
    }

    /// How much is read.
    pub fn amount(&self) -> Amount {
        self.fragments
            .map_or(Amount::Coverage(self.coverage), Amount::Fragments)
    }

    /// The files of reads.
    pub fn outputs(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.output].into_iter().chain(&self.out2)
    }

    /// Where the reads go.
    pub fn target(&self) -> ReadFiles {
        match &self.out2 {
            Some(second) => ReadFiles::Two(self.output.clone(), second.clone()),
            None => ReadFiles::One(self.output.clone()),
        }
    }

    /// Adds what the report says of reads.
    pub fn note(&self, session: &Session, reads: u64, letters: u64, errors: u64) {
        let output: Vec<_> = self
            .outputs()
            .map(|path| path.display().to_string())
            .collect();
        session.note("output", output);
        session.note(
            "counts",
            json!({"reads": reads, "bases": letters, "errors": errors}),
        );
        session.note(
            "parameters",
            json!({"seed": self.seed, "coverage": self.coverage, "fragments": self.fragments}),
        );
    }
}

/// What was written, in words.
pub fn words(reads: u64, letters: u64, errors: u64) -> String {
    format!(
        "{}, {}, {} of them errors",
        things(reads, "read"),
        things(letters, "base"),
        grouped(errors)
    )
}

impl Reads {
    /// Writes the reads.
    pub fn run(self, session: &Session) -> Result<()> {
        let shotgun = &self.shotgun;
        session.keep_apart(&self.genomes, shotgun.outputs())?;
        let (protocol, amount, target) = (shotgun.protocol(), shotgun.amount(), shotgun.target());
        let config = Config {
            genomes: self.genomes,
            protocol,
            amount,
            target,
        };
        let made = simulate(
            session,
            |progress| reads::run(&config, progress),
            |made| words(made.reads, made.letters, made.errors),
        )?;
        shotgun.note(session, made.reads, made.letters, made.errors);
        Ok(())
    }
}
