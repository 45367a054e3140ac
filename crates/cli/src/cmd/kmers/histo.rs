//! `gyrase kmers histo`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use gyrase_count::histogram::{self, Histogram, Style};
use gyrase_count::spectrum::{self, Spectrum};
use gyrase_picture::words::grouped;
use gyrase_table::gyk::{Cutoffs, Database};
use serde_json::{Value, json};

use crate::failure::{Failure, Result};
use crate::places::keep_pictures_svg;
use crate::session::Session;
use crate::sink::{self, Sink};

const EXAMPLES: &str = "\
Examples:
  gyrase kmers histo s.gyk > s.hist            for GenomeScope and Smudgeplot
  gyrase kmers histo s.gyk --plot s.svg        the spectrum as a picture
  gyrase kmers histo s.gyk --style kmc         as `kmc_tools .. histogram`
  gyrase kmers histo s.gyk --style jellyfish -o s_jf.hist     also for MultiQC

Nothing is cut off by default: genome sizes need the high counts.";

/// Print how many k-mers have which count.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Histo {
    /// The database
    #[arg(value_name = "DATABASE.gyk")]
    database: PathBuf,

    /// Draw the spectrum: errors, peaks, estimated genome size
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,

    /// File to write [default: standard output; with --plot none]
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
enum Form {
    Genomescope,
    Kmc,
    Jellyfish,
}

impl Histo {
    /// Prints the histogram.
    pub fn run(self, session: &Session) -> Result<()> {
        let style = self.style()?;
        self.plot.as_deref().map_or(Ok(()), keep_pictures_svg)?;
        session.keep_apart([&self.database], self.plot.iter().chain(&self.output))?;
        let histogram =
            session.shown(|progress| histogram::run(&self.database, session.threads, progress))?;
        if let Some(plot) = &self.plot {
            self.draw(session, &histogram, plot)?;
        }
        if self.plot.is_none() || self.output.is_some() {
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

    fn draw(&self, session: &Session, histogram: &Histogram, plot: &Path) -> Result<()> {
        let k = Database::open(&self.database)?.shape().k();
        let rows: Vec<(u64, u64)> = histogram
            .rows()
            .map(|(count, kmers)| (u64::from(count), kmers))
            .collect();
        let spectrum = Spectrum::estimate(&rows, k);
        let sample = self
            .database
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy();
        sink::write_all(
            Some(plot),
            spectrum::plot(&rows, &spectrum, &sample).as_bytes(),
        )?;
        say(&spectrum);
        session.note("spectrum", facts(&spectrum));
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

fn say(spectrum: &Spectrum) {
    let Some(size) = spectrum.genome_size else {
        tracing::info!(
            "the spectrum has no peak beside the errors: nothing can be said about the genome"
        );
        return;
    };
    tracing::info!("genome size about {} bases", grouped(size));
    if let Some(depth) = spectrum.hom_peak {
        tracing::info!("each k-mer of the genome about {depth:.1} times");
    }
    if let Some(share) = spectrum.heterozygosity {
        tracing::info!("heterozygosity about {:.2} %", share * 100.0);
    }
    if let Some(rate) = spectrum.error_rate {
        tracing::info!("sequencing errors about {:.2} % of the bases", rate * 100.0);
    }
}

fn facts(spectrum: &Spectrum) -> Value {
    json!({
        "genome_size": spectrum.genome_size,
        "valley": spectrum.valley,
        "heterozygous_peak": spectrum.het_peak,
        "homozygous_peak": spectrum.hom_peak,
        "heterozygosity": spectrum.heterozygosity,
        "error_rate": spectrum.error_rate,
    })
}
