//! `gyrase classify`.

mod reports;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use gyrase_classify::{Config, Index, Parameters, QueryError, Rule, Summary, classify};
use gyrase_fastx::{PairedReader, Reader};
use gyrase_tabulate::Source;
use serde_json::json;

use self::reports::Reports;
use super::references::{self, Taxa};
use crate::failure::{Code, Failure, Result};
use crate::session::Session;
use crate::sink::Sink;
use crate::words::{self, bytes, things};

/// Letters that a pair may span on its reference.
const INSERT: usize = 400;

const EXAMPLES: &str = "\
Examples:
  gyrase classify --db refs.gydb reads.fq.gz -o reads.tsv --kreport s.kreport
  gyrase classify --db refs.gydb r_1.fq r_2.fq -o reads.tsv --html sample.html
  gyrase classify --db refs.gydb long.fq -o /dev/null --bracken s.bracken
  gyrase classify --refs refs/ --taxonomy taxdump/ reads.fq > reads.tsv
      on the fly: builds in memory, writes no database

A line a read or pair, in the order of the reads, in Kraken's columns: C or U,
name, taxid (0: none), letters (mates as 150|148), and taxid:hits of the best
references. --kreport is the report of taxa that Kraken 2 calls --report;
--report is, as everywhere in gyrase, what the run did, in JSON.";

/// Say which taxon each read comes from, and what a sample holds.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Classify {
    /// Reads, or first mates; FASTA or FASTQ, plain or compressed, known by content; `-` for a pipe
    #[arg(value_name = "READS")]
    reads: PathBuf,

    /// Second mates
    #[arg(value_name = "MATES", conflicts_with = "interleaved")]
    mates: Option<PathBuf>,

    /// Mates follow each other in READS
    #[arg(long)]
    interleaved: bool,

    #[command(flatten)]
    against: Against,

    /// File for the answers, a line a read or pair; `-` for standard output [default: -]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    reports: Reports,
}

/// What the reads are compared with.
#[derive(Debug, Args)]
struct Against {
    /// Database of references, as `gyrase db build` makes it
    #[arg(long, value_name = "FILE.gydb", required_unless_present = "refs", conflicts_with = "refs")]
    db: Option<PathBuf>,

    /// Instead of a database: references, a folder of them, or `@list`; may be given again
    #[arg(long, value_name = "REFS", requires = "taxonomy")]
    refs: Vec<PathBuf>,

    /// With --refs: the taxonomy, as for `gyrase db build`
    #[arg(long, value_name = "PATH", requires = "refs")]
    taxonomy: Option<PathBuf>,

    /// With --refs: table of taxids, as for `gyrase db build`; may be given again
    #[arg(long, value_name = "FILE", requires = "refs")]
    map: Vec<PathBuf>,
}

impl Against {
    fn inputs(&self) -> impl Iterator<Item = &PathBuf> {
        self.db.iter().chain(&self.taxonomy).chain(&self.map)
    }

    /// Opens the database, or builds it in memory.
    fn index(&self, references: Vec<PathBuf>, session: &Session) -> Result<Index> {
        match (&self.db, &self.taxonomy) {
            (Some(path), _) => Ok(Index::open(path)?),
            (None, Some(taxonomy)) => {
                let taxa = Taxa::read(taxonomy, &self.map, &references)?;
                let (summary, database) = taxa.build(references, None, Parameters::default(), session)?;
                let (targets, size) = (things(summary.targets as u64, "reference"), bytes(summary.table.bytes));
                tracing::info!("{targets} in memory, {size}, {}", words::time(session.elapsed()));
                let database = database.ok_or_else(|| Failure::new(Code::Internal, "the database was not kept"))?;
                Ok(Index::of(database)?)
            }
            (None, None) => Err(Failure::usage("name a database with --db, or references with --refs and --taxonomy")),
        }
    }
}

impl Classify {
    /// Classifies; the outputs appear together, once the last read is answered.
    pub fn run(self, session: &Session) -> Result<()> {
        let references = references::files(&self.against.refs)?;
        self.check_places(&references, session)?;
        let source = self.source()?;
        let index = self.against.index(references, session)?;
        let mut answers = Sink::open(self.output.as_deref())?;
        let reports = self.reports.open()?;
        let start = Instant::now();
        let summary = answer(&index, source, &mut answers, session)?;
        let time = start.elapsed();
        let written = self.reports.write(reports, &index.taxonomy, &summary.tally, &sample(&self.reads))?;
        answers.finish()?;
        written.into_iter().try_for_each(Sink::finish)?;
        self.note(session, &summary);
        say(&summary, time);
        Ok(())
    }

    fn check_places(&self, references: &[PathBuf], session: &Session) -> Result<()> {
        let inputs = [&self.reads].into_iter().chain(&self.mates).chain(self.against.inputs()).chain(references);
        let outputs = || self.output.iter().chain(self.reports.paths());
        let to_stdout = outputs().filter(|path| path.as_os_str() == "-").count() + usize::from(self.output.is_none());
        if to_stdout > 1 {
            return Err(Failure::usage("two outputs go to standard output; give the answers a file with -o"));
        }
        session.keep_apart(inputs, outputs())
    }

    fn source(&self) -> Result<Source> {
        let options = Source::options();
        Ok(match &self.mates {
            Some(mates) => Source::Paired(Box::new(PairedReader::open(&self.reads, mates, &options)?)),
            None if self.interleaved => {
                Source::Paired(Box::new(PairedReader::open_interleaved(&self.reads, &options)?))
            }
            None => Source::Single(Box::new(Reader::open(&self.reads, &options)?)),
        })
    }

    fn note(&self, session: &Session, summary: &Summary) {
        let shown = |path: &PathBuf| path.display().to_string();
        let inputs = [&self.reads].into_iter().chain(&self.mates).chain(self.against.inputs());
        session.note("inputs", inputs.chain(&self.against.refs).map(shown).collect::<Vec<_>>());
        session.note("output", self.output.as_ref().map_or("-".into(), shown));
        session.note("reports", self.reports.paths().map(shown).collect::<Vec<_>>());
        session.note(
            "parameters",
            json!({
                "paired": self.mates.is_some() || self.interleaved,
                "on_the_fly": self.against.db.is_none(),
                "abundance": self.reports.rank().name(),
                "threads": session.threads,
                "memory_bytes": session.memory,
            }),
        );
        let tally = &summary.tally;
        session.note(
            "counts",
            json!({
                "reads": tally.total(),
                "bases": summary.letters,
                "classified": tally.classified(),
                "unclassified": tally.unclassified(),
                "taxa": tally.taxa().count(),
            }),
        );
    }
}

fn answer(index: &Index, source: Source, answers: &mut Sink, session: &Session) -> Result<Summary> {
    let config = Config { rule: Rule::default(), insert: INSERT, threads: session.threads };
    let classified = session.shown(|progress| {
        progress.start("classify", 0);
        classify(index, source, &config, answers, progress)
    });
    classified.map_err(|error| match error {
        QueryError::Sink(source) => answers.error(source).into(),
        error => error.into(),
    })
}

/// The name of a sample: that of its file without what tells the format.
fn sample(reads: &Path) -> String {
    let name = reads.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split('.').next().filter(|name| !name.is_empty() && *name != "-");
    name.unwrap_or("sample").to_string()
}

/// Says it in Kraken's words, which other programs look for.
fn say(summary: &Summary, time: Duration) {
    let tally = &summary.tally;
    let (total, million, seconds) = (tally.total(), summary.letters as f64 / 1e6, time.as_secs_f64());
    let per_minute = 60.0 / seconds.max(0.001);
    tracing::info!(
        "{total} sequences ({million:.2} Mbp) processed in {seconds:.3}s ({:.1} Kseq/m, {:.2} Mbp/m).",
        total as f64 / 1e3 * per_minute,
        million * per_minute
    );
    let percent = |reads: u64| reads as f64 * 100.0 / total.max(1) as f64;
    let (found, others) = (tally.classified(), tally.unclassified());
    tracing::info!("  {found} sequences classified ({:.2}%)", percent(found));
    tracing::info!("  {others} sequences unclassified ({:.2}%)", percent(others));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_named_by_their_files() {
        for (file, name) in [("x/a_1.fq.gz", "a_1"), ("b", "b"), ("-", "sample"), (".fq", "sample")] {
            assert_eq!(sample(Path::new(file)), name);
        }
    }
}
