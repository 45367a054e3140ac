//! `gyrase count`.

pub mod gpu;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use gyrase_count::histogram::{self, Style};
use gyrase_count::{Config, Summary};
use gyrase_fabric::{Steal, World};
use gyrase_fabric_mpi::Job;
use gyrase_kmer::Shape;
use gyrase_picture::words::{self, bytes, grouped, things};
use gyrase_work::Progress;
use gyrase_work::machine;
use serde_json::{Value, json};

use crate::cmd::counts::{Counts, length, warn_if_saturated};
use crate::cmd::folders::{self, Wanted};
use crate::failure::{Failure, Result};
use crate::gpu::GpuArgs;
use crate::multiqc::{self, PERCENT, WHOLE};
use crate::places;
use crate::report;
use crate::session::Session;
use crate::sink::{self, Sink};
use crate::size::Size;

const EXAMPLES: &str = "\
Examples:
  gyrase count reads_1.fq.gz reads_2.fq.gz -o sample.gyk    both files together
  gyrase count genome.fa -k 21 --stranded -o genome.gyk     strands apart
  gyrase count @files.txt -k 55 --min-count 2 -o solid.gyk  a list of files
  gyrase count genomes/ -k 21 -o genomes.gyk                a folder of files
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
    /// FASTA or FASTQ, plain or compressed (gz, bgz, zst, bz2, xz), known by content; `-` for a
    /// pipe, `@list` for a list of files, a folder for the files in it that are named like such
    #[arg(value_name = "READS", required = true)]
    inputs: Vec<PathBuf>,

    /// Length of the k-mers, 1 to 127
    #[arg(short, value_name = "K", default_value_t = 31, value_parser = length)]
    k: usize,

    /// Count a k-mer and its reverse complement apart [default: as one, under the smaller]
    #[arg(long)]
    stranded: bool,

    #[command(flatten)]
    counts: Counts,

    /// Take bases of lower quality for N (Phred, 1 to 93)
    #[arg(long, value_name = "Q", value_parser = clap::value_parser!(u8).range(1..=93))]
    min_base_quality: Option<u8>,

    /// READS are files of first and second mates in turn: stop where the names say that they are
    /// not in step [default: any files, read faster]
    #[arg(long)]
    paired: bool,

    /// Database to make
    // `gyrase plan count` does without.
    #[arg(long, short, value_name = "FILE.gyk", required = true)]
    output: Option<PathBuf>,

    /// Go on from what a killed run of the same command left, and leave that if this one is killed
    /// (not with pipes)
    #[arg(long)]
    resume: bool,

    /// Input that a thread takes at a time where several processes share it [default: 64M, less
    /// where that leaves threads idle]
    #[arg(long, value_name = "SIZE", value_parser = chunk)]
    chunk: Option<u64>,

    /// Whether a process takes chunks that were meant for others
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Stealing::Auto, hide = true)]
    stealing: Stealing,

    /// Also write the histogram: `count k-mers` lines, as GenomeScope reads them
    #[arg(long, value_name = "FILE")]
    histo: Option<PathBuf>,

    /// Also write the numbers of the run as a table for MultiQC, which knows it by its name
    #[arg(long, value_name = "FILE_mqc.json")]
    multiqc: Option<PathBuf>,

    #[command(flatten)]
    pub(super) gpu: GpuArgs,
}

/// Whether a process takes chunks that were meant for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Stealing {
    Auto,
    Off,
    Forced,
}

/// Bytes of a chunk.
fn chunk(text: &str) -> std::result::Result<u64, String> {
    match text.parse()? {
        Size::Bytes(bytes) if bytes >= LEAST_CHUNK => Ok(bytes),
        _ => Err("write a size of 64K or more".into()),
    }
}

/// Bytes of a chunk below which the borders would be most of the work.
const LEAST_CHUNK: u64 = 64 << 10;

impl Count {
    /// The files that list others.
    pub fn lists(&self) -> Vec<PathBuf> {
        self.inputs
            .iter()
            .filter_map(|path| path.to_str()?.strip_prefix('@'))
            .map(PathBuf::from)
            .collect()
    }

    /// The library's configuration.
    pub fn config(&self, session: &Session) -> Result<Config> {
        let cutoffs = self.counts.cutoffs()?;
        Ok(Config {
            // Once, since a list may be a pipe.
            inputs: folders::files(&self.inputs, Wanted::Sequences, session)?,
            output: self.output.clone().unwrap_or_default(),
            shape: Shape::new(self.k, self.stranded).map_err(Failure::usage)?,
            min_count: cutoffs.min,
            max_count: cutoffs.max,
            min_base_quality: self.min_base_quality,
            paired: self.paired,
            threads: session.threads,
            memory: session.memory,
            tmp: session.tmp.clone(),
            max_tmp: session.max_tmp,
            resume: self.resume,
            chunk: self.chunk,
        })
    }

    /// Whose chunks a process takes.
    pub fn steal(&self) -> Steal {
        match self.stealing {
            Stealing::Auto => Steal::On,
            Stealing::Off => Steal::Off,
            Stealing::Forced => Steal::Forced,
        }
    }

    /// Counts, and says what was counted.
    pub fn run(self, session: &Session) -> Result<()> {
        if let Some(output) = &self.output {
            places::keep_databases_only(output, places::Kind::Gyk)?;
        }
        let config = self.config(session)?;
        session.keep_apart(
            self.lists().iter().chain(&config.inputs),
            self.output.iter().chain(&self.histo).chain(&self.multiqc),
        )?;
        session.keep_in_folders(self.histo.iter().chain(&self.multiqc))?;
        self.multiqc.as_deref().map_or(Ok(()), multiqc::keep_name)?;
        if let Some(path) = places::twice(&config.inputs).filter(|_| session.is_first()) {
            tracing::warn!(
                "{} is named twice, and its k-mers are counted twice",
                path.display()
            );
        }
        let found = self.gpu.find_named(session)?;
        let on_gpu = gpu::open(&self.gpu, found.as_ref(), &config)?;
        let summary = session.shown(|progress| match (session.job(), &on_gpu) {
            (Some(job), _) => count_in(job, &config, session, progress),
            (None, Some(on_gpu)) => Ok(gyrase_count::run_on(on_gpu, &config, progress)?),
            (None, None) => Ok(gyrase_count::run(&config, progress)?),
        })?;
        let shares = session.gather(&share(session, &summary))?;
        if !session.is_first() {
            return Ok(());
        }
        if let Some(path) = &self.histo {
            write_histogram(&config, path, session)?;
        }
        if let Some(path) = &self.multiqc {
            sink::write_all(Some(path), &table(&config, &summary))?;
        }
        note(session, &config, &summary);
        if let Some(on_gpu) = &on_gpu {
            gpu::tell(on_gpu, session);
        }
        say(session, &config, &summary, &shares);
        if !shares.is_empty() {
            session.note("ranks", shares);
        }
        Ok(())
    }
}

/// Counts in all processes of a job.
fn count_in(job: &Job, config: &Config, session: &Session, progress: &Progress) -> Result<Summary> {
    places::refuse_standard_input(&config.inputs)?;
    session.leaves(gyrase_count::leftovers(config, job.peer()));
    Ok(gyrase_count::run_in(config, job, progress)?)
}

/// What this process of a job did.
fn share(session: &Session, summary: &Summary) -> Value {
    let Some(job) = session.job() else {
        return Value::Null;
    };
    let (share, moved) = (&summary.share, job.counters());
    json!({
        "rank": job.rank(),
        "threads": session.threads,
        "memory_bytes": session.memory,
        "reads": share.read.reads,
        "bytes_read": share.read.bytes,
        "bytes_sent": moved.bytes_sent,
        "bytes_received": moved.bytes_received,
        "messages": moved.messages,
        "rounds": moved.rounds,
        "collectives": moved.collectives,
        "one_sided": moved.one_sided,
        "bytes_kept": share.kept_bytes,
        "bytes_temporary": share.spilled_bytes,
        "bins": share.bins,
        "partitions": share.partitions,
        "stages": report::stages_by_name(&session.progress),
        "peak_memory_bytes": machine::peak_memory(),
    })
}

fn write_histogram(config: &Config, path: &Path, session: &Session) -> Result<()> {
    let mut sink = Sink::open(Some(path))?;
    let histogram = histogram::run(&config.output, config.threads, &session.progress)?;
    histogram
        .write(Style::GenomeScope, &mut sink)
        .map_err(|source| sink.error(source))?;
    sink.finish()
}

/// The numbers of the run for MultiQC; the sample is named as the database.
fn table(config: &Config, summary: &Summary) -> Vec<u8> {
    const COLUMNS: [multiqc::Column; 6] = [
        ("reads", "Reads", "Reads", WHOLE),
        ("bases", "Bases", "Bases of the reads", WHOLE),
        ("k", "k", "Length of the k-mers", WHOLE),
        (
            "total",
            "k-mers",
            "k-mers of the database, with their counts",
            WHOLE,
        ),
        (
            "distinct",
            "Distinct",
            "Different k-mers of the database",
            WHOLE,
        ),
        (
            "unique",
            "Unique",
            "Of the different k-mers, those that occur once",
            PERCENT,
        ),
    ];
    let (read, made) = (&summary.read, &summary.database);
    let row = json!({
        "reads": read.reads,
        "bases": read.bases,
        "k": config.shape.k(),
        "total": made.total,
        "distinct": made.distinct,
        "unique": multiqc::percent(made.unique, made.distinct),
    });
    let sample = config.output.file_stem().unwrap_or_default();
    let rows = [(sample.to_string_lossy().into_owned(), row)];
    let about = "k-mers of each sample, counted exactly.";
    multiqc::table("count", about, &COLUMNS, rows.into_iter().collect())
}

fn say(session: &Session, config: &Config, summary: &Summary, shares: &[Value]) {
    let (read, made, k) = (&summary.read, &summary.database, config.shape.k());
    tracing::info!(
        reads = read.reads,
        bases = read.bases,
        "{}, {}",
        things(read.reads, "read"),
        things(read.bases, "base")
    );
    tracing::info!(
        kmers = read.kmers,
        distinct = made.distinct,
        unique = made.unique,
        "{} {k}-mers; {} distinct in {}, {} of them unique",
        grouped(read.kmers),
        grouped(made.distinct),
        config.output.display(),
        grouped(made.unique)
    );
    if read.kmers == 0 && read.reads > 0 {
        tracing::warn!("no read has {k} letters in a row that are bases, so there is no k-mer");
    }
    warn_if_saturated(made);
    let spilled = match summary.spilled_bytes {
        0 => String::new(),
        spilled => format!(", {} of temporary files", bytes(spilled)),
    };
    let peaks = shares
        .iter()
        .filter_map(|share| share["peak_memory_bytes"].as_u64());
    let (peak, of) = match peaks.max() {
        Some(most) => (
            most,
            format!(" at most in each of {} processes", shares.len()),
        ),
        None => (machine::peak_memory(), String::new()),
    };
    tracing::info!(
        seconds = session.elapsed().as_secs_f64(),
        peak_memory_bytes = peak,
        temporary_bytes = summary.spilled_bytes,
        "{}, peak memory {}{of}{spilled}",
        words::time(session.elapsed()),
        bytes(peak)
    );
}

fn note(session: &Session, config: &Config, summary: &Summary) {
    let paths: Vec<Value> = config
        .inputs
        .iter()
        .map(|path| path.display().to_string().into())
        .collect();
    session.note("inputs", paths);
    session.note("output", config.output.display().to_string());
    session.note("parameters", parameters(config));
    session.note("counts", counts(summary));
    let spilled = summary.spilled_bytes;
    session.note(
        "bytes",
        json!({"output": summary.database.file_bytes, "temporary": spilled}),
    );
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
