//! `gyrase kmers filter`.

use std::path::PathBuf;
use std::{iter, slice};

use clap::Args;
use gyrase_count::filter::{self, Config, Mates, Need, Summary};
use gyrase_count::ops::DatabasesPlan;
use gyrase_fastx::{Inputs, Options, PairWriter};
use gyrase_picture::words::{self, grouped, percent};
use gyrase_tabulate::Estimate;
use serde_json::json;

use crate::cmd::counts::{Counts, note_databases};
use crate::failure::{Failure, Result};
use crate::session::Session;
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase kmers filter host.gyk reads.fq --drop -o rest.fq       host reads out
  gyrase kmers filter target.gyk r_1.fq r_2.fq --min-share 0.5 \\
      -o hit_1.fq.gz --out2 hit_2.fq.gz                       pairs
  gyrase kmers filter solid.gyk reads.fq --min-kmers 20 -o - | head

A pair is kept or dropped as a whole, by the k-mers of both mates. What is kept
is written as it came, in its order.";

/// Keep or drop reads by how many of their k-mers a database has.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Filter {
    /// The database
    #[arg(value_name = "DATABASE.gyk")]
    pub(super) database: PathBuf,

    /// Reads, or first mates; FASTA or FASTQ, plain or compressed; `-` for a pipe
    #[arg(value_name = "READS")]
    reads: PathBuf,

    /// Second mates
    #[arg(value_name = "MATES", conflicts_with = "interleaved")]
    mates: Option<PathBuf>,

    /// Mates follow each other in READS
    #[arg(long)]
    interleaved: bool,

    /// Drop the reads that match, and keep the others
    #[arg(long)]
    drop: bool,

    /// A read matches with so many k-mers in the database
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        conflicts_with = "min_share"
    )]
    min_kmers: u64,

    /// A read matches with this share of its k-mers in the database, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    min_share: Option<f64>,

    /// File for what is kept, compressed if its name ends so; `-` for standard output
    // `gyrase plan kmers filter` does without.
    #[arg(long, short, value_name = "FILE", required = true)]
    output: Option<PathBuf>,

    /// File for the second mates [default: mates follow each other in one file]
    #[arg(long, value_name = "FILE")]
    out2: Option<PathBuf>,

    #[command(flatten)]
    counts: Counts,
}

fn share(text: &str) -> std::result::Result<f64, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "write a share between 0 and 1".into())
}

impl Filter {
    /// Predicts what filtering takes, and the bytes of what is kept.
    pub fn plan(&self, session: &Session) -> Result<(DatabasesPlan, Estimate)> {
        let files: Vec<PathBuf> = iter::once(&self.reads)
            .chain(&self.mates)
            .cloned()
            .collect();
        let inputs = Inputs::open(&files, Options::default())?;
        Ok(filter::plan(&self.config(session)?, inputs.inputs())?)
    }

    /// Writes the reads that are kept.
    pub fn run(self, session: &Session) -> Result<()> {
        if self.out2.is_some() && self.mates.is_none() && !self.interleaved {
            return Err(Failure::usage(
                "--out2 is for second mates; name MATES, or say --interleaved",
            ));
        }
        let inputs = [&self.database, &self.reads].into_iter().chain(&self.mates);
        let output = self.output.clone().unwrap_or_default();
        session.keep_apart(inputs, [&output].into_iter().chain(&self.out2))?;
        note_databases(slice::from_ref(&self.database), session)?;
        let config = self.config(session)?;
        let second = self.out2.as_deref().map(sink::records).transpose()?;
        let kept = PairWriter::new(sink::records(&output)?, second);
        let summary = session.shown(|progress| filter::run(&config, kept, progress))?;
        note(session, &config, &summary);
        tracing::info!(
            "{} of {} {} kept ({}), {}",
            grouped(summary.kept),
            grouped(summary.reads),
            if config.mates == Mates::None {
                "reads"
            } else {
                "pairs"
            },
            percent(summary.kept, summary.reads),
            words::time(session.elapsed())
        );
        Ok(())
    }

    fn config(&self, session: &Session) -> Result<Config> {
        let mates = match &self.mates {
            Some(path) => Mates::File(path.clone()),
            None if self.interleaved => Mates::Interleaved,
            None => Mates::None,
        };
        Ok(Config {
            database: self.database.clone(),
            reads: self.reads.clone(),
            mates,
            counts: self.counts.cutoffs()?,
            need: self
                .min_share
                .map_or(Need::Number(self.min_kmers), Need::Share),
            drop: self.drop,
            threads: session.threads,
        })
    }
}

fn note(session: &Session, config: &Config, summary: &Summary) {
    session.note(
        "inputs",
        vec![
            config.database.display().to_string(),
            config.reads.display().to_string(),
        ],
    );
    session.note(
        "counts",
        json!({
            "reads": summary.reads, "kept": summary.kept, "kmers": summary.kmers,
            "found": summary.found,
        }),
    );
}
