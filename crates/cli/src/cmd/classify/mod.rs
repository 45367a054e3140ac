//! `gyrase classify`.

mod against;
mod answer;
mod extras;
mod lane;
mod many;
mod outputs;
mod plots;
mod record;
mod reports;
mod sheet;
mod together;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use gyrase_classify::{Dropped, Summary};
use serde_json::{Value, json};

use self::against::Against;
use self::answer::{answer, least_covered};
use self::extras::Extras;
use self::lane::{Lane, sample_of};
use self::many::{Many, With};
use self::outputs::Places;
use self::reports::Reports;
use crate::failure::{Failure, Result};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase classify --db refs.gydb reads.fq.gz -o reads.tsv --kreport s.kreport
  gyrase classify --db refs.gydb r_1.fq r_2.fq -o reads.tsv --html sample.html
  gyrase classify --db refs.gydb long.fq --locations -o where.tsv
  gyrase classify --db refs.gydb r_1.fq r_2.fq -o /dev/null \\
      --extract 562=coli#.fq.gz --unclassified-out rest#.fq.gz
  gyrase classify --refs refs/ --taxonomy taxdump/ reads.fq > reads.tsv
      on the fly: builds in memory, writes no database
  gyrase classify --db refs.gydb --samples sheet.csv --out-dir out/
      many samples, the database opened once; goes on with --resume

A line a read or pair, in the order of the reads, in Kraken's columns: C or U,
name, taxid (0: none), letters (mates as 150|148), and taxid:hits of the best
references. --kreport is the report of taxa that Kraken 2 calls --report;
--report is, as everywhere in gyrase, what the run did, in JSON.";

/// Say which taxon each read comes from, and what a sample holds.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Classify {
    /// Reads, or first mates; FASTA or FASTQ, plain or compressed, known by content; `-` for a pipe
    #[arg(value_name = "READS", required_unless_present = "samples")]
    reads: Option<PathBuf>,

    /// Second mates
    #[arg(value_name = "MATES", conflicts_with = "interleaved")]
    mates: Option<PathBuf>,

    /// Mates follow each other in READS, or in the files of a sheet that have none beside them
    #[arg(long)]
    interleaved: bool,

    #[command(flatten)]
    against: Against,

    /// File for the answers, a line a read or pair; `-` for standard output [default: -]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    extras: Extras,

    #[command(flatten)]
    reports: Reports,

    #[command(flatten)]
    many: Many,
}

/// The arguments that are of one sample.
const ONE_SAMPLE: [&str; 15] = [
    "reads",
    "mates",
    "output",
    "extract",
    "classified_out",
    "unclassified_out",
    "coverage_plots",
    "kreport",
    "kreport_evidence",
    "evidence",
    "mpa",
    "cami",
    "html",
    "bracken",
    "abundance_out",
];

impl Classify {
    /// Classifies; the outputs of a sample appear together, once its last read is answered.
    pub fn run(self, session: &Session) -> Result<()> {
        self.note_parameters(session);
        if let Some(wanted) = self.many.wanted() {
            let (interleaved, rank, extras) = (self.interleaved, self.reports.rank(), &self.extras);
            let with = With { against: &self.against, interleaved, rank, extras };
            return self.many.run(wanted, &with, session);
        }
        let reads = self.reads.clone().ok_or_else(|| Failure::usage("name the reads, or a sheet with --samples"))?;
        self.run_one(Lane { reads, mates: self.mates.clone(), interleaved: self.interleaved }, session)
    }

    fn run_one(&self, lane: Lane, session: &Session) -> Result<()> {
        let (places, references) = (self.places(&lane)?, self.against.references()?);
        self.check_places(&lane, &places, &references, session)?;
        let source = lane.open()?;
        let collection = self.against.index(references, session)?;
        let mut outputs = places.open(&collection.catalogue.taxonomy)?;
        let start = Instant::now();
        let share = self.extras.drop_least_covered;
        let dropped = least_covered(&collection, std::slice::from_ref(&lane), share, session)?;
        let summary = answer(&collection, [Ok(source)], &dropped, &mut outputs, session)?;
        let time = start.elapsed();
        outputs.finish(&collection.catalogue, &summary, &sample_of(&lane.reads))?;
        self.note(session, &lane, &places, &dropped, &summary);
        say(&summary, time);
        Ok(())
    }

    fn places(&self, lane: &Lane) -> Result<Places> {
        Ok(Places {
            answers: Some(self.output.clone().unwrap_or("-".into())),
            reports: self.reports.places(),
            rank: self.reports.rank(),
            locations: self.extras.locations,
            extracts: self.extras.places(lane.is_paired())?,
            plots: self.extras.coverage_plots.clone(),
        })
    }

    fn check_places(&self, lane: &Lane, places: &Places, references: &[PathBuf], session: &Session) -> Result<()> {
        if places.to_stdout() > 1 {
            return Err(Failure::usage("two outputs go to standard output; give the answers a file with -o"));
        }
        if self.extras.drop_least_covered.is_some() {
            lane.keep_rereadable()?;
        }
        session.keep_apart(lane.files().chain(self.against.inputs()).chain(references), places.files())
    }

    fn note_parameters(&self, session: &Session) {
        session.note(
            "parameters",
            json!({
                "paired": self.mates.is_some() || self.interleaved,
                "on_the_fly": self.against.is_on_the_fly(),
                "abundance": self.reports.rank().name(),
                "drop_least_covered": self.extras.drop_least_covered,
                "threads": session.threads,
                "memory_bytes": session.memory,
            }),
        );
    }

    fn note(&self, session: &Session, lane: &Lane, places: &Places, dropped: &Dropped, summary: &Summary) {
        let shown = |path: &PathBuf| path.display().to_string();
        session.note("inputs", lane.files().chain(self.against.inputs()).map(shown).collect::<Vec<_>>());
        session.note("output", places.answers.as_ref().map(shown));
        session.note("reports", places.reports.iter().map(|(_, path)| shown(path)).collect::<Vec<_>>());
        let extracts = places.extracts.iter().flat_map(extras::Place::files);
        session.note("extracted", extracts.map(shown).collect::<Vec<_>>());
        session.note("dropped_genomes", dropped.genomes);
        session.note("counts", counts(summary));
    }
}

/// The numbers of a sample.
fn counts(summary: &Summary) -> Value {
    let tally = &summary.tally;
    json!({
        "reads": tally.total(),
        "bases": summary.letters,
        "classified": tally.classified(),
        "unclassified": tally.unclassified(),
        "taxa": tally.taxa().count(),
    })
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
