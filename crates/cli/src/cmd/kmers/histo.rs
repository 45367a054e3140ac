//! `gyrase kmers histo`.

use std::path::PathBuf;
use std::slice;

use clap::{ArgGroup, Args, ValueEnum};
use gyrase_count::histogram::{self, Histogram, Style};
use gyrase_count::spectrum::{self, MOST_HAPLOTYPES, Spectrum};
use gyrase_picture::Scale;
use gyrase_table::gyk::{Cutoffs, Database};
use serde_json::json;

use super::summary;
use crate::cmd::counts::note_databases;
use crate::failure::{Failure, Result};
use crate::places::{self, Picture, without_compression};
use crate::session::Session;
use crate::sink::{self, Sink};

const EXAMPLES: &str = "\
Examples:
  gyrase kmers histo s.gyk > s.hist            for GenomeScope and Smudgeplot
  gyrase kmers histo s.gyk --plot s.png        the spectrum as a picture
  gyrase kmers histo s.gyk --summary s.json    what it tells of the genome
  gyrase kmers histo s.gyk --style kmc         as `kmc_tools .. histogram`
  gyrase kmers histo s.gyk --style jellyfish -o s_jf.hist     also for MultiQC

Nothing is cut off by default: genome sizes need the high counts.";

/// Print how many k-mers have which count.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    group = ArgGroup::new("spectrum").multiple(true).args(["plot", "summary"]),
)]
pub struct Histo {
    /// The database
    #[arg(value_name = "DATABASE.gyk")]
    pub(super) database: PathBuf,

    /// Draw the spectrum: errors, peaks, estimated genome size; FILE.svg or FILE.png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Axes of the plot: log shows the errors and all repeats too
    #[arg(long, value_enum, value_name = "SCALE", default_value_t = Scales::Linear, requires = "plot")]
    axes: Scales,

    /// Write what the spectrum tells of the genome, with ranges: JSON if the name ends with .json,
    /// else a table
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,

    /// Haplotypes of the genome, 1 to 4, for --plot and --summary [default: 2 where they are seen,
    /// else 1]
    #[arg(
        long, value_name = "N", requires = "spectrum",
        value_parser = clap::value_parser!(u32).range(1..=MOST_HAPLOTYPES as i64),
    )]
    ploidy: Option<u32>,

    /// File to write [default: standard output; with --plot or --summary none]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// genomescope: `count k-mers`, counts that occur; kmc: tabs, and a line for every count, zeros
    /// too; jellyfish: what is below --low in one first line, what is above --high in one last
    #[arg(long, value_enum, value_name = "STYLE", default_value_t = Form::Genomescope)]
    style: Form,

    /// First count of styles kmc and jellyfish [default: 1]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    low: Option<u32>,

    /// Last count of styles kmc and jellyfish [default: 10000]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    high: Option<u32>,

    /// Style jellyfish: a line for every count, zeros too
    #[arg(long)]
    full: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Scales {
    Linear,
    Log,
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
        let picture = self.plot.as_deref().map(Picture::of).transpose()?;
        session.keep_apart([&self.database], self.outputs())?;
        note_databases(slice::from_ref(&self.database), session)?;
        let histogram =
            session.shown(|progress| histogram::run(&self.database, session.threads, progress))?;
        if self.tells() {
            self.tell(session, &histogram, picture)?;
        }
        if !self.tells() || self.output.is_some() {
            let mut sink = Sink::open(self.output.as_deref())?;
            histogram
                .write(style, &mut sink)
                .map_err(|source| sink.error(source))?;
            sink.finish()?;
        }
        session.note("inputs", self.database.display().to_string());
        session.note(
            "counts",
            json!({"distinct": histogram.distinct(), "total": histogram.total()}),
        );
        Ok(())
    }

    /// True where the histogram becomes something else, and is printed only if it is to be.
    fn tells(&self) -> bool {
        self.plot.is_some() || self.summary.is_some()
    }

    fn outputs(&self) -> impl Iterator<Item = &PathBuf> {
        let named = self.plot.iter().chain(&self.summary).chain(&self.output);
        named.chain((!self.tells() && self.output.is_none()).then(places::standard_output))
    }

    /// What the histogram says of the genome, as a picture, a summary, and words.
    fn tell(
        &self,
        session: &Session,
        histogram: &Histogram,
        picture: Option<Picture>,
    ) -> Result<()> {
        let k = Database::open(&self.database)?.shape().k();
        let rows: Vec<(u64, u64)> = histogram
            .rows()
            .map(|(count, kmers)| (u64::from(count), kmers))
            .collect();
        let spectrum = Spectrum::estimate_with(&rows, k, self.ploidy);
        if let Some((path, picture)) = self.plot.as_deref().zip(picture) {
            let sample = self.database.file_stem().unwrap_or_default();
            let scale = match self.axes {
                Scales::Linear => Scale::Linear,
                Scales::Log => Scale::Log,
            };
            let svg = spectrum::plot(&rows, &spectrum, &sample.to_string_lossy(), scale);
            sink::write_all(Some(path), &picture.finish(svg))?;
        }
        if let Some(path) = &self.summary {
            let text = match without_compression(path).extension() {
                Some(ending) if ending == "json" => format!("{:#}\n", summary::json(&spectrum)),
                _ => summary::table(&spectrum),
            };
            sink::write_all(Some(path), text.as_bytes())?;
        }
        summary::say(&spectrum);
        session.note("spectrum", summary::json(&spectrum));
        Ok(())
    }

    fn style(&self) -> Result<Style> {
        let (low, high, full) = (
            self.low.unwrap_or(1),
            self.high.unwrap_or(10_000),
            self.full,
        );
        if self.style == Form::Genomescope && (self.low.is_some() || self.high.is_some()) {
            return Err(Failure::usage(
                "--low and --high go with --style kmc or jellyfish",
            ));
        }
        if full && self.style != Form::Jellyfish {
            return Err(Failure::usage("--full goes with --style jellyfish"));
        }
        if low > high {
            return Err(Failure::usage(format!(
                "--low {low} is above --high {high}: no count has a line"
            )));
        }
        Ok(match self.style {
            Form::Genomescope => Style::GenomeScope,
            Form::Kmc => Style::Kmc(Cutoffs {
                min: low,
                max: high,
            }),
            Form::Jellyfish => Style::Jellyfish { low, high, full },
        })
    }
}
