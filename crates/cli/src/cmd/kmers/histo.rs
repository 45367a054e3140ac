//! `gyrase kmers histo`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gyrase_count::histogram::{self, Style};
use gyrase_table::gyk::Cutoffs;
use serde_json::json;

use crate::failure::{Failure, Result};
use crate::session::Session;
use crate::sink::Sink;

const EXAMPLES: &str = "\
Examples:
  gyrase kmers histo sample.gyk > sample.hist                      every count that occurs: for GenomeScope, Smudgeplot
  gyrase kmers histo sample.gyk --style kmc --high 10000           as `kmc_tools transform sample histogram`
  gyrase kmers histo sample.gyk --style jellyfish -o s_jf.hist     as `jellyfish histo`, for MultiQC

Nothing is cut off by default: genome sizes need the high counts.";

/// Print how many k-mers have which count.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Histo {
    /// The database
    #[arg(value_name = "DATABASE.gyk")]
    database: PathBuf,

    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// genomescope: `count k-mers`, counts that occur; kmc: tabs, and a line for every count, zeros too; jellyfish: what is
    /// above --high in one last line
    #[arg(long, value_enum, value_name = "STYLE", default_value_t = Form::Genomescope)]
    style: Form,

    /// First count of style kmc [default: 1]
    #[arg(long, value_name = "COUNT")]
    low: Option<u32>,

    /// Last count of styles kmc and jellyfish [default: 10000]
    #[arg(long, value_name = "COUNT")]
    high: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Genomescope,
    Kmc,
    Jellyfish,
}

impl Histo {
    /// Prints the histogram.
    pub fn run(self, session: &Session) -> Result<()> {
        let style = self.style()?;
        let histogram = session.shown(|progress| histogram::run(&self.database, session.threads, progress))?;
        let mut sink = Sink::open(self.output.as_deref())?;
        histogram.write(style, &mut sink).map_err(|source| sink.error(source))?;
        sink.finish()?;
        session.note("inputs", self.database.display().to_string());
        session.note("counts", json!({"distinct": histogram.distinct(), "total": histogram.total()}));
        Ok(())
    }

    fn style(&self) -> Result<Style> {
        let high = self.high.unwrap_or(10_000);
        match (self.style, self.low, self.high) {
            (Form::Genomescope, None, None) => Ok(Style::GenomeScope),
            (Form::Jellyfish, None, _) => Ok(Style::Jellyfish { high }),
            (Form::Kmc, low, _) => Ok(Style::Kmc(Cutoffs { min: low.unwrap_or(1), max: high })),
            (Form::Genomescope, ..) => Err(Failure::usage("--low and --high go with --style kmc or jellyfish")),
            (Form::Jellyfish, ..) => Err(Failure::usage("--low goes with --style kmc")),
        }
    }
}
