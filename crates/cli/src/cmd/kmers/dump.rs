//! `gyrase kmers dump`.

use std::path::PathBuf;
use std::slice;

use clap::{Args, ValueEnum};
use gyrase_count::Estimate;
use gyrase_count::dump::{self, Config, Style};
use gyrase_count::ops::DatabasesPlan;
use serde_json::json;

use crate::cmd::counts::{Counts, note_databases};
use crate::failure::Result;
use crate::places::{self, or_standard_output};
use crate::session::Session;
use crate::sink::Sink;

const EXAMPLES: &str = "\
Examples:
  gyrase kmers dump s.gyk | head              in the order of the database
  gyrase kmers dump s.gyk --sorted -o s.txt   in the order of the letters
  gyrase kmers dump s.gyk --style fasta       >count and the k-mer
  gyrase kmers dump s.gyk --min-count 1000    the frequent ones";

/// Print every k-mer with its count.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Dump {
    /// The database
    #[arg(value_name = "DATABASE.gyk")]
    database: PathBuf,

    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// tab: KMER<TAB>count, as `kmc_dump`; space: KMER count, as `jellyfish dump -c`; fasta: as
    /// `jellyfish dump`
    #[arg(long, value_enum, value_name = "STYLE", default_value_t = Form::Tab)]
    style: Form,

    /// In the order of the letters, within --memory
    #[arg(long)]
    sorted: bool,

    #[command(flatten)]
    counts: Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Tab,
    Space,
    Fasta,
}

impl Dump {
    /// Prints the k-mers.
    pub fn run(self, session: &Session) -> Result<()> {
        let config = self.config(session)?;
        session.keep_apart([&config.database], [or_standard_output(&self.output)])?;
        note_databases(slice::from_ref(&config.database), session)?;
        let mut sink = Sink::open(self.output.as_deref())?;
        let summary = session.shown(|progress| dump::run(&config, &mut sink, progress));
        let summary = summary.map_err(|error| sink.failure(error))?;
        sink.finish()?;
        session.note("inputs", config.database.display().to_string());
        session.note(
            "counts",
            json!({"distinct": summary.distinct, "listed": summary.listed}),
        );
        Ok(())
    }

    /// What printing them will take, and the size of the text.
    pub fn plan(&self, session: &Session) -> Result<(DatabasesPlan, Estimate)> {
        let (plan, text) = dump::plan(&self.config(session)?)?;
        let compressed = self.output.as_deref().is_some_and(places::is_compressed);
        let least = if compressed { 0 } else { text.least };
        Ok((plan, Estimate { least, ..text }))
    }

    fn config(&self, session: &Session) -> Result<Config> {
        let style = match self.style {
            Form::Tab => Style::Tab,
            Form::Space => Style::Space,
            Form::Fasta => Style::Fasta,
        };
        Ok(Config {
            database: self.database.clone(),
            style,
            cutoffs: self.counts.cutoffs()?,
            sorted_within: self.sorted.then_some(session.memory),
            threads: session.threads,
        })
    }
}
