//! `gyrase unitigs`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use gyrase_assemble::unitigs::{self, Config, GraphFormat, GraphTarget, KmersOf, Summary};
use gyrase_kmer::Shape;
use gyrase_picture::words::{self, bytes, grouped, things};
use gyrase_work::machine;
use serde_json::json;

use crate::cmd::counts::{length, note_databases};
use crate::cmd::folders::{self, Wanted};
use crate::cmd::rows::{Table, bounds};
use crate::failure::{Failure, Result};
use crate::places::{self, or_standard_output};
use crate::session::Session;
use crate::sink::Sink;

const EXAMPLES: &str = "\
Examples:
  gyrase unitigs r_1.fq.gz r_2.fq.gz --min-count 2 -o unitigs.fa   of reads
  gyrase unitigs genomes/ -k 55 -o genomes.gfa                     as a graph
  gyrase unitigs a.gyk b.gyk --min-count 2 -o both.fa              of databases
  gyrase unitigs genome.fa -k 21 | head                            to a pipe
  mpirun -n 8 gyrase unitigs r_1.fq.gz r_2.fq.gz -o unitigs.fa     by many

A unitig is the longest sequence that k-mers spell without a choice. The FASTA
has the header fields of BCALM 2; a name that ends in .gfa makes GFA 1. Both
have the same bytes for any threads, memory, processes and order of the files;
docs/assembling.md says how.";

/// Join k-mers to the longest sequences that they spell without a choice.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Unitigs {
    /// FASTA or FASTQ, plain or compressed, known by content; `-` for a pipe, `@list` for a list of
    /// files, a folder for the files in it that are named like such. Or databases of `gyrase count`
    #[arg(value_name = "READS", required = true)]
    inputs: Vec<PathBuf>,

    /// Length of the k-mers, odd, 3 to 127 [default: 31, or that of the databases]
    #[arg(short, value_name = "K", value_parser = length)]
    k: Option<usize>,

    /// Leave out k-mers with a lower count, in all inputs together: 2 or more for reads, in which
    /// most k-mers that come once are errors
    #[arg(
        long, value_name = "COUNT", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..),
    )]
    min_count: u32,

    /// Take bases of lower quality for N (Phred, 1 to 93)
    #[arg(long, value_name = "Q", value_parser = clap::value_parser!(u8).range(1..=93))]
    min_base_quality: Option<u8>,

    /// READS are files of first and second mates in turn: stop where the names say that they are
    /// not in step [default: any files, read faster]
    #[arg(long)]
    paired: bool,

    /// File to make, compressed where its name says so [default: standard output]
    #[arg(long, short, value_name = "FILE.fa|FILE.gfa")]
    output: Option<PathBuf>,

    /// How the graph is written [default: gfa where the output is named so, else fasta]
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<Form>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Fasta,
    Gfa,
}

impl Unitigs {
    /// Makes the unitigs, and says how many there are.
    pub fn run(self, session: &Session) -> Result<()> {
        let config = self.config(session)?;
        let inputs = match &config.kmers {
            KmersOf::Reads(reads) => &reads.inputs,
            KmersOf::Databases { paths, .. } => paths,
        };
        session.keep_apart(
            self.lists().iter().chain(inputs),
            [or_standard_output(&self.output)],
        )?;
        if let KmersOf::Databases { paths, .. } = &config.kmers {
            note_databases(paths, session)?;
        }
        let summary = self.make(&config, inputs, session)?;
        session.note_ranks()?;
        if !session.is_first() {
            return Ok(());
        }
        note(session, &config, inputs, &summary);
        say(session, &summary);
        Ok(())
    }

    /// Makes them, in all processes of a job, and writes them.
    fn make(&self, config: &Config, inputs: &[PathBuf], session: &Session) -> Result<Summary> {
        let output = or_standard_output(&self.output);
        let world = session.world();
        let several = world.ranks() > 1;
        if several {
            places::refuse_standard_input(inputs)?;
        }
        // What is compressed goes through one process, and so does what is no file.
        let target = (several && places::is_plain(output)).then_some(output.as_path());
        session.leaves(unitigs::leftovers(config, target, world.peer()));
        if let Some(path) = target {
            let target = GraphTarget::File(path);
            let run = |progress: &_| unitigs::run_in(config, target, world, progress);
            return Ok(session.shown(run)?);
        }
        let mut sink = match session.is_first() {
            true => Sink::open(self.output.as_deref())?,
            false => Sink::NOWHERE,
        };
        let target = GraphTarget::Stream(&mut sink);
        let made = session.shown(|progress| unitigs::run_in(config, target, world, progress));
        let summary = made.map_err(|error| match error {
            gyrase_assemble::Error::Sink(source) => sink.error(source).into(),
            error => Failure::from(error),
        })?;
        sink.finish()?;
        Ok(summary)
    }

    /// Says what making them will take; refuses what a run would.
    pub fn plan(&self, session: &Session) -> Result<()> {
        let config = self.config(session)?;
        let plan = unitigs::plan(&config)?;
        session.note("counts", json!({"kmers": bounds(plan.kmers)}));
        session.note(
            "bytes",
            json!({
                "memory": bounds(plan.memory), "least_memory": plan.least_memory,
                "temporary": bounds(plan.tmp),
            }),
        );
        session.note("predicted_seconds", plan.seconds);
        let mut table = Table::default();
        if let Some(most) = plan.kmers.most {
            table.row("k-mers", format!("at most {}", grouped(most)));
        }
        table.memory(plan.memory, config.memory, plan.kmers.most.is_none());
        table.row("least --memory", bytes(plan.least_memory));
        table.temporary(plan.tmp, &config.tmp);
        table.time(plan.seconds, "");
        table.print()
    }

    /// The files that list others.
    fn lists(&self) -> Vec<PathBuf> {
        let list = |path: &PathBuf| path.to_str()?.strip_prefix('@').map(PathBuf::from);
        self.inputs.iter().filter_map(list).collect()
    }

    /// The library's configuration.
    pub fn config(&self, session: &Session) -> Result<Config> {
        // Once, since a list may be a pipe.
        let inputs = folders::files(&self.inputs, Wanted::Sequences, session)?;
        let databases = inputs.iter().filter(|path| is_database(path)).count();
        let output = self.spill_name(session)?;
        let kmers = match databases {
            0 => KmersOf::Reads(Box::new(self.reads(inputs, &output, session)?)),
            all if all == inputs.len() => self.databases(inputs)?,
            _ => {
                let what = "databases and files of sequences cannot be mixed; count the sequences \
                            first, with the k of the databases";
                return Err(Failure::usage(what));
            }
        };
        Ok(Config {
            kmers,
            format: self.format(),
            output,
            threads: session.threads,
            memory: session.memory,
            tmp: session.tmp.clone(),
            max_tmp: session.max_tmp,
        })
    }

    fn reads(
        &self,
        inputs: Vec<PathBuf>,
        output: &Path,
        session: &Session,
    ) -> Result<gyrase_count::Config> {
        Ok(gyrase_count::Config {
            inputs,
            output: output.to_path_buf(),
            shape: Shape::new(self.k.unwrap_or(DEFAULT_K), false).map_err(Failure::usage)?,
            min_count: self.min_count,
            max_count: u32::MAX,
            min_base_quality: self.min_base_quality,
            paired: self.paired,
            threads: session.threads,
            memory: session.memory,
            tmp: session.tmp.clone(),
            max_tmp: session.max_tmp,
            resume: false,
            chunk: None,
        })
    }

    fn databases(&self, paths: Vec<PathBuf>) -> Result<KmersOf> {
        if self.min_base_quality.is_some() || self.paired {
            let what = "--min-base-quality and --paired are for reads; databases are counted \
                        already";
            return Err(Failure::usage(what));
        }
        if let Some(k) = self.k {
            let database = gyrase_table::gyk::Database::open(&paths[0])?;
            let found = database.shape().k();
            if found != k {
                let path = paths[0].display();
                let what = format!("{path} is of {found}-mers, and -k {k} was asked for");
                return Err(Failure::usage(what));
            }
        }
        let min_count = self.min_count;
        Ok(KmersOf::Databases { paths, min_count })
    }

    fn format(&self) -> GraphFormat {
        let named_so = || {
            let name = places::without_compression(self.output.as_deref()?);
            Some(name.extension()?.eq_ignore_ascii_case("gfa"))
        };
        match self.format {
            Some(Form::Gfa) => GraphFormat::Gfa,
            Some(Form::Fasta) => GraphFormat::Fasta,
            None if named_so() == Some(true) => GraphFormat::Gfa,
            None => GraphFormat::Fasta,
        }
    }

    /// What names the folder for temporary files: two runs may write to standard output at once.
    fn spill_name(&self, session: &Session) -> Result<PathBuf> {
        if let Some(output) = self.output.as_ref().filter(|path| path.as_os_str() != "-") {
            return Ok(output.clone());
        }
        // The same in all processes of a job.
        let own = if session.is_first() {
            std::process::id()
        } else {
            0
        };
        let first = session.world().sum(&[own.into()])?[0];
        Ok(format!("standard-output-{first}").into())
    }
}

const DEFAULT_K: usize = 31;

fn is_database(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gyk")
}

fn say(session: &Session, made: &Summary) {
    if let Some(read) = made.read {
        tracing::info!(
            reads = read.reads,
            bases = read.bases,
            "{}, {}",
            things(read.reads, "read"),
            things(read.bases, "base")
        );
    }
    let rings = match made.circular {
        0 => String::new(),
        rings => format!(", {} of them circular", grouped(rings)),
    };
    tracing::info!(
        kmers = made.kmers,
        unitigs = made.unitigs,
        circular = made.circular,
        bases = made.bases,
        "{} {}-mers, {}{rings}; the longest has {}",
        grouped(made.kmers),
        made.k,
        things(made.unitigs, "unitig"),
        things(made.longest, "base")
    );
    if made.kmers == 0 {
        tracing::warn!(
            "there is no {}-mer with such a count, so there is no unitig",
            made.k
        );
    }
    let spilled = match made.spilled {
        0 => String::new(),
        spilled => format!(", {} of temporary files", bytes(spilled)),
    };
    let peak = machine::peak_memory();
    tracing::info!(
        seconds = session.elapsed().as_secs_f64(),
        peak_memory_bytes = peak,
        temporary_bytes = made.spilled,
        "{}, peak memory {}{spilled}",
        words::time(session.elapsed()),
        bytes(peak)
    );
}

fn note(session: &Session, config: &Config, inputs: &[PathBuf], made: &Summary) {
    let paths = inputs.iter().map(|path| path.display().to_string());
    session.note("inputs", paths.collect::<Vec<_>>());
    session.note("output", config.output.display().to_string());
    let min_count = match &config.kmers {
        KmersOf::Reads(reads) => reads.min_count,
        KmersOf::Databases { min_count, .. } => *min_count,
    };
    session.note(
        "parameters",
        json!({
            "k": made.k,
            "min_count": min_count,
            "threads": config.threads,
            "memory_bytes": config.memory,
            "tmp": config.tmp.display().to_string(),
        }),
    );
    session.note(
        "counts",
        json!({
            "reads": made.read.map(|read| read.reads),
            "bases": made.read.map(|read| read.bases),
            "kmers": made.kmers,
            "count_sum": made.count_sum,
            "unitigs": made.unitigs,
            "circular": made.circular,
            "unitig_bases": made.bases,
            "longest": made.longest,
            "links": made.links,
        }),
    );
    session.note("bytes", json!({"temporary": made.spilled}));
}
