//! `gyrase kmers import` and `gyrase kmers export`.

use std::path::{Path, PathBuf};
use std::slice;

use clap::{Args, ValueEnum};
use gyrase_count::exchange::{self, ExchangePlan, ExportConfig, Format, ImportConfig, TextStyle};
use gyrase_picture::words::{self, things};
use serde_json::json;

use crate::cmd::counts::{Counts, length, note_databases, totals, warn_if_saturated};
use crate::cmd::search::names;
use crate::failure::{Failure, Result};
use crate::places;
use crate::session::Session;

const IMPORT: &str = "\
Examples:
  gyrase kmers import s.kmc_pre -o s.gyk      s.kmc_pre and s.kmc_suf
  gyrase kmers import s.kff -o s.gyk
  gyrase kmers import dump.txt.gz -o s.gyk
  jellyfish dump -c s.jf | gyrase kmers import - -o s.gyk

The format is known by content. Counts of equal k-mers are summed.";

const EXPORT: &str = "\
Examples:
  gyrase kmers export s.gyk --to kmc -o s     s.kmc_pre and s.kmc_suf
  gyrase kmers export s.gyk -o s.kff
  gyrase kmers export s.gyk --to text -o - | head";

/// Read the database of another program.
#[derive(Debug, Args)]
#[command(after_help = IMPORT)]
pub struct Import {
    /// A KMC database, a KFF file, or a text of KMC or Jellyfish, plain or compressed; `-` for KFF
    /// or text through a pipe
    #[arg(value_name = "INPUT")]
    input: PathBuf,

    /// Database to make
    // `gyrase plan kmers import` does without.
    #[arg(long, short, value_name = "FILE.gyk", required = true)]
    output: Option<PathBuf>,

    /// Length of the k-mers, where the input is empty and does not say
    #[arg(short, value_name = "K", value_parser = length)]
    k: Option<usize>,

    /// Keep a k-mer and its reverse complement apart
    #[arg(long)]
    stranded: bool,

    #[command(flatten)]
    counts: Counts,
}

/// Write a database for another program, in the order of the letters.
#[derive(Debug, Args)]
#[command(after_help = EXPORT)]
pub struct Export {
    /// The database
    #[arg(value_name = "DATABASE.gyk")]
    database: PathBuf,

    /// Format to write: a KMC database, KFF 1.0, or a text (KMER<TAB>count, KMER count, or FASTA)
    /// [default: kff where the name of the output ends in .kff]
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<To>,

    /// File to write; for KMC the name without ending; for a text `-` is standard output,
    /// and an ending such as .gz compresses it
    // `gyrase plan kmers export` does without.
    #[arg(long, short, value_name = "FILE", required = true)]
    output: Option<PathBuf>,

    #[command(flatten)]
    counts: Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum To {
    Kmc,
    Kff,
    Text,
    TextSpace,
    Fasta,
}

impl Import {
    /// Reads the foreign database.
    pub fn run(self, session: &Session) -> Result<()> {
        let config = self.config(session)?;
        places::keep_databases_only(&config.output, places::Kind::Gyk)?;
        let (prefixes, suffixes) = exchange::kmc::pair(&config.input);
        session.keep_apart([&config.input, &prefixes, &suffixes], [&config.output])?;
        let made = session.shown(|progress| exchange::import(&config, progress))?;
        session.note("inputs", config.input.display().to_string());
        session.note("output", config.output.display().to_string());
        session.note(
            "counts",
            json!({"read": made.read, "zeros": made.zeros, "output": totals(&made.table)}),
        );
        if made.zeros > 0 {
            tracing::warn!(
                "{} had a count of 0 and were left out",
                things(made.zeros, "k-mer")
            );
        }
        warn_if_saturated(&made.table);
        let (read, kept) = (
            things(made.read, "k-mer"),
            things(made.table.distinct, "k-mer"),
        );
        let time = words::time(session.elapsed());
        tracing::info!("{read} read, {kept} in {}, {time}", config.output.display());
        Ok(())
    }

    /// What reading it will take.
    pub fn plan(self, session: &Session) -> Result<ExchangePlan> {
        Ok(exchange::plan_import(&self.config(session)?)?)
    }

    fn config(self, session: &Session) -> Result<ImportConfig> {
        Ok(ImportConfig {
            input: self.input,
            output: self.output.unwrap_or_default(),
            k: self.k,
            stranded: self.stranded,
            cutoffs: self.counts.cutoffs()?,
            memory: session.memory,
            tmp: session.tmp.clone(),
            max_tmp: session.max_tmp,
            threads: session.threads,
        })
    }
}

impl Export {
    /// Writes the foreign database.
    pub fn run(self, session: &Session) -> Result<()> {
        let config = self.config(session)?;
        if config.output == Path::new("-") && matches!(config.format, Format::Kmc | Format::Kff) {
            return Err(Failure::usage(
                "only a text can go to standard output; -o names a file",
            ));
        }
        let outputs = outputs(&config);
        session.keep_apart([&config.input], &outputs)?;
        note_databases(slice::from_ref(&config.input), session)?;
        let made = session.shown(|progress| exchange::export(&config, progress))?;
        session.note("inputs", config.input.display().to_string());
        session.note("output", config.output.display().to_string());
        session.note(
            "counts",
            json!({"read": made.read, "written": made.written}),
        );
        let (written, time) = (
            things(made.written, "k-mer"),
            words::time(session.elapsed()),
        );
        let outputs = names(&outputs).join(" and ");
        tracing::info!("{written} written to {outputs}, {time}");
        Ok(())
    }

    /// What writing it will take.
    pub fn plan(self, session: &Session) -> Result<ExchangePlan> {
        let config = self.config(session)?;
        let mut plan = exchange::plan_export(&config)?;
        if matches!(config.format, Format::Text(_)) && places::is_compressed(&config.output) {
            plan.output.least = 0;
        }
        Ok(plan)
    }

    fn config(self, session: &Session) -> Result<ExportConfig> {
        let output = self.output.unwrap_or_default();
        let to = self.to.or_else(|| named(&output));
        let to = to.ok_or_else(|| {
            Failure::usage("--to names the format: kmc, kff, text, text-space or fasta")
        })?;
        Ok(ExportConfig {
            input: self.database,
            output,
            format: format(to),
            cutoffs: self.counts.cutoffs()?,
            memory: session.memory,
            tmp: session.tmp.clone(),
            max_tmp: session.max_tmp,
            threads: session.threads,
        })
    }
}

/// The format that the name of the output asks for, where no other could be meant.
fn named(output: &Path) -> Option<To> {
    (output.extension()? == "kff").then_some(To::Kff)
}

/// The files that will appear.
fn outputs(config: &ExportConfig) -> Vec<PathBuf> {
    match config.format {
        Format::Kmc => <[PathBuf; 2]>::from(exchange::kmc::pair(&config.output)).to_vec(),
        _ => vec![config.output.clone()],
    }
}

fn format(to: To) -> Format {
    match to {
        To::Kmc => Format::Kmc,
        To::Kff => Format::Kff,
        To::Text => Format::Text(TextStyle::Tab),
        To::TextSpace => Format::Text(TextStyle::Space),
        To::Fasta => Format::Text(TextStyle::Fasta),
    }
}
