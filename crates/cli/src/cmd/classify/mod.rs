//! `gyrase classify`.

mod against;
mod answer;
mod lane;
mod outputs;
mod reports;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use gyrase_classify::Summary;
use serde_json::json;

use self::against::Against;
use self::answer::answer;
use self::lane::{Lane, sample_of};
use self::outputs::Places;
use self::reports::Reports;
use crate::failure::{Failure, Result};
use crate::session::Session;

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

impl Classify {
    /// Classifies; the outputs appear together, once the last read is answered.
    pub fn run(self, session: &Session) -> Result<()> {
        let (lane, places) = (self.lane(), self.places());
        let references = self.against.references()?;
        self.check_places(&places, &references, session)?;
        let source = lane.open()?;
        let collection = self.against.index(references, session)?;
        let mut outputs = places.open()?;
        let start = Instant::now();
        let summary = answer(&collection, [Ok(source)], &mut outputs, session)?;
        let time = start.elapsed();
        outputs.finish(&collection.catalogue.taxonomy, &summary.tally, &sample_of(&lane.reads))?;
        self.note(session, &places, &summary);
        say(&summary, time);
        Ok(())
    }

    fn lane(&self) -> Lane {
        Lane { reads: self.reads.clone(), mates: self.mates.clone(), interleaved: self.interleaved }
    }

    fn places(&self) -> Places {
        Places { answers: self.output.clone(), reports: self.reports.places(), rank: self.reports.rank() }
    }

    fn check_places(&self, places: &Places, references: &[PathBuf], session: &Session) -> Result<()> {
        if places.to_stdout() > 1 {
            return Err(Failure::usage("two outputs go to standard output; give the answers a file with -o"));
        }
        session.keep_apart(self.inputs().chain(references), places.files())
    }

    fn inputs(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.reads].into_iter().chain(&self.mates).chain(self.against.inputs())
    }

    fn note(&self, session: &Session, places: &Places, summary: &Summary) {
        let shown = |path: &PathBuf| path.display().to_string();
        session.note("inputs", self.inputs().map(shown).collect::<Vec<_>>());
        session.note("output", places.answers.as_ref().map_or("-".into(), shown));
        session.note("reports", places.reports.iter().map(|(_, path)| shown(path)).collect::<Vec<_>>());
        session.note(
            "parameters",
            json!({
                "paired": self.mates.is_some() || self.interleaved,
                "on_the_fly": self.against.is_on_the_fly(),
                "abundance": places.rank.name(),
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
