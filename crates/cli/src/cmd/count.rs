//! `gyrase count`.

use std::path::{Path, PathBuf};

use clap::Args;
use gyrase_count::histogram::{self, Style};
use gyrase_count::{Config, Summary};
use gyrase_kmer::Shape;
use serde_json::{Value, json};

use crate::cmd::kmers::{Counts, warn_if_saturated};
use crate::failure::{Failure, Result};
use crate::machine;
use crate::places;
use crate::session::Session;
use crate::sink::Sink;
use crate::words::{self, bytes, grouped, things};

const EXAMPLES: &str = "\
Examples:
  gyrase count reads_1.fq.gz reads_2.fq.gz -o sample.gyk    both files together
  gyrase count genome.fa -k 21 --stranded -o genome.gyk     strands apart
  gyrase count @files.txt -k 55 --min-count 2 -o solid.gyk  a list of files
  gyrase count r_1.fq r_2.fq --paired -o x.gyk              mates, in step
  samtools fastq x.bam | gyrase count - -o x.gyk            through a pipe
  gyrase count big.fq.gz --memory 8G --tmp /scratch --resume -o big.gyk

Counts are exact. A k-mer over a letter other than A, C, G, T and U does not
exist. The database has the same bytes for any threads, memory and order of the
files; docs/counting.md says how.";

/// Count the k-mers of FASTA and FASTQ files into a database.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Count {
    #[command(flatten)]
    what: What,

    /// Database to make
    #[arg(long, short, value_name = "FILE.gyk")]
    output: PathBuf,

    /// Go on from what a killed run of the same command left, and leave that if this one is killed (not with pipes)
    #[arg(long)]
    resume: bool,

    /// Also write the histogram: `count k-mers` lines, as GenomeScope reads them
    #[arg(long, value_name = "FILE")]
    histo: Option<PathBuf>,
}

/// What to count; `plan count` takes the same.
#[derive(Debug, Args)]
pub struct What {
    /// FASTA or FASTQ, plain or compressed (gz, bgz, zst, bz2, xz), known by content; `-` for a pipe, `@list` for a list of files
    #[arg(value_name = "READS", required = true)]
    pub inputs: Vec<PathBuf>,

    /// Length of the k-mers, 1 to 127
    #[arg(short, value_name = "K", default_value_t = 31, value_parser = length)]
    pub k: usize,

    /// Count a k-mer and its reverse complement apart [default: as one, under the smaller]
    #[arg(long)]
    pub stranded: bool,

    #[command(flatten)]
    pub counts: Counts,

    /// Take bases of lower quality for N (Phred, 1 to 93)
    #[arg(long, value_name = "Q", value_parser = clap::value_parser!(u8).range(1..=93))]
    pub min_base_quality: Option<u8>,

    /// READS are files of first and second mates in turn: stop where the names say that they are not in step [default: any
    /// files, read faster]
    #[arg(long)]
    pub paired: bool,
}

/// A length that k-mers may have.
pub fn length(text: &str) -> std::result::Result<usize, String> {
    let k = text.parse().map_err(|_| "write a whole number from 1 to 127".to_string())?;
    Shape::new(k, false).map(|_| k).map_err(|error| error.to_string())
}

impl What {
    /// The files that list others.
    pub fn lists(&self) -> Vec<PathBuf> {
        self.inputs.iter().filter_map(|path| path.to_str()?.strip_prefix('@')).map(PathBuf::from).collect()
    }

    /// The library's configuration for a run that makes `output`.
    pub fn config(&self, session: &Session, output: &Path, resume: bool) -> Result<Config> {
        let cutoffs = self.counts.cutoffs()?;
        Ok(Config {
            // Once, since a list may be a pipe.
            inputs: gyrase_fastx::expand_lists(&self.inputs)?,
            output: output.to_path_buf(),
            shape: Shape::new(self.k, self.stranded).map_err(Failure::usage)?,
            min_count: cutoffs.min,
            max_count: cutoffs.max,
            min_base_quality: self.min_base_quality,
            paired: self.paired,
            threads: session.threads,
            memory: session.memory,
            tmp: session.tmp.clone(),
            max_tmp: session.max_tmp,
            resume,
            chunk: None,
        })
    }
}

impl Count {
    /// Counts, and says what was counted.
    pub fn run(self, session: &Session) -> Result<()> {
        places::keep_databases_only(&self.output, places::Kind::Gyk)?;
        let config = self.what.config(session, &self.output, self.resume)?;
        let inputs = self.what.lists();
        session.keep_apart(inputs.iter().chain(&config.inputs), [&self.output].into_iter().chain(&self.histo))?;
        let summary = session.shown(|progress| gyrase_count::run(&config, progress))?;
        if let Some(path) = &self.histo {
            write_histogram(&config, path, session)?;
        }
        note(session, &config, &summary);
        say(session, &config, &summary);
        Ok(())
    }
}

fn write_histogram(config: &Config, path: &Path, session: &Session) -> Result<()> {
    let mut sink = Sink::open(Some(path))?;
    let histogram = histogram::run(&config.output, config.threads, &session.progress)?;
    histogram.write(Style::GenomeScope, &mut sink).map_err(|source| sink.error(source))?;
    sink.finish()
}

fn say(session: &Session, config: &Config, summary: &Summary) {
    let (read, made, k) = (&summary.read, &summary.database, config.shape.k());
    tracing::info!("{}, {}", things(read.reads, "read"), things(read.bases, "base"));
    tracing::info!(
        "{} {k}-mers; {} distinct in {}, {} of them unique",
        grouped(read.kmers),
        grouped(made.distinct),
        config.output.display(),
        grouped(made.unique)
    );
    warn_if_saturated(made);
    let spilled = match summary.spilled_bytes {
        0 => String::new(),
        spilled => format!(", {} of temporary files", bytes(spilled)),
    };
    tracing::info!("{}, peak memory {}{spilled}", words::time(session.elapsed()), bytes(machine::peak_memory()));
}

fn note(session: &Session, config: &Config, summary: &Summary) {
    let paths: Vec<Value> = config.inputs.iter().map(|path| path.display().to_string().into()).collect();
    session.note("inputs", paths);
    session.note("output", config.output.display().to_string());
    session.note("parameters", parameters(config));
    session.note("counts", counts(summary));
    let spilled = summary.spilled_bytes;
    session.note("bytes", json!({"output": summary.database.file_bytes, "temporary": spilled}));
}

fn parameters(config: &Config) -> Value {
    json!({
        "k": config.shape.k(),
        "stranded": config.shape.stranded(),
        "min_count": config.min_count,
        "max_count": config.max_count,
        "min_base_quality": config.min_base_quality,
        "paired": config.paired,
        "threads": config.threads,
        "memory_bytes": config.memory,
        "tmp": config.tmp.display().to_string(),
        "resume": config.resume,
    })
}

fn counts(summary: &Summary) -> Value {
    json!({
        "reads": summary.read.reads,
        "bases": summary.read.bases,
        "kmers": summary.read.kmers,
        "super_kmers": summary.read.super_kmers,
        "distinct": summary.database.distinct,
        "unique": summary.database.unique,
        "total": summary.database.total,
        "largest": summary.database.largest,
        "saturated": summary.database.saturated,
        "resumed_bins": summary.resumed_bins,
    })
}
