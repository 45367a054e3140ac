//! `gyrase classify`.

mod again;
mod against;
mod answer;
mod conflicts;
mod extras;
mod gpu;
mod many;
mod origin;
mod outputs;
mod plan;
mod plots;
mod reports;
mod stored;
mod tell;
mod thresholds;
mod together;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use gyrase_classify::report::Origin;
use gyrase_classify::{Candidates, Columns, Config, Lane, Summary, sample_of};
use serde_json::json;

use self::against::Against;
use self::answer::{keep_rereadable, keep_shareable, of_lanes, of_stored};
use self::extras::Extras;
use self::many::{Many, With};
use self::outputs::{Outputs, Places};
use self::reports::Reports;
use self::stored::Stored;
use self::tell::{counts, say, warn_if_short};
use crate::failure::{Failure, Result};
use crate::gpu::GpuArgs;
use crate::places;
use crate::report;
use crate::session::Session;

pub use self::reports::rank;
pub use self::thresholds::Thresholds;

const EXAMPLES: &str = "\
Examples:
  gyrase classify --db refs.gydb reads.fq.gz -o reads.tsv --kreport s.kreport
  gyrase classify --db refs.gydb r_1.fq r_2.fq -o reads.tsv --html sample.html
  gyrase classify --db refs.gydb long.fq --locations -o where.tsv
  gyrase classify --db refs.gydb r_1.fq r_2.fq -o /dev/null \\
      --extract 562=coli#.fq.gz --unclassified-out rest#.fq.gz
  gyrase classify --refs refs/ --taxonomy taxdump/ reads.fq > reads.tsv
      on the fly: builds in memory, writes no database
  gyrase classify --db one.gydb --db two.gydb reads.fq -o reads.tsv
      as with one database of all their references
  gyrase classify --db one.gydb reads.fq --candidates reads.one.gyc
  gyrase classify --merge reads.one.gyc reads.two.gyc -o reads.tsv
      the same, with each database where it has room
  gyrase classify --db refs.gydb --samples sheet.csv --out-dir out/
      many samples, the database opened once; goes on with --resume

  gyrase classify --db refs.gydb reads.fq --with-confidence -o reads.tsv
  gyrase classify --db refs.gydb --answers reads.tsv --confidence 0.2 \\
      -o sure.tsv --kreport sure.kreport
      stricter, without the reads

A line a read or pair, in the order of the reads, in Kraken's columns: C or U,
name, taxid (0: none), letters (mates as 150|148), and taxid:hits of the best
references. --kreport is the report of taxa that Kraken 2 calls --report;
--report is, as everywhere in gyrase, what the run did, in JSON.";

/// Say which taxon each read comes from, and what a sample holds.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Classify {
    /// Reads, or first mates; FASTA or FASTQ, plain or compressed, known by content; `-` for a pipe
    #[arg(value_name = "READS", required_unless_present_any = ["samples", "merge", "answers"])]
    reads: Option<PathBuf>,

    /// Second mates
    #[arg(value_name = "MATES", conflicts_with = "interleaved")]
    mates: Option<PathBuf>,

    /// READS and MATES are mates, as they are without it.
    #[arg(long, hide = true, conflicts_with_all = ["interleaved", "samples", "merge"])]
    paired: bool,

    /// Mates follow each other in READS, or in the files of a sheet that have none beside them
    #[arg(long)]
    interleaved: bool,

    #[command(flatten)]
    against: Against,

    /// File for the answers, a line a read or pair; `-` for standard output [default: -]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    thresholds: Thresholds,

    #[command(flatten)]
    extras: Extras,

    #[command(flatten)]
    gpu: GpuArgs,

    #[command(flatten)]
    reports: Reports,

    #[command(flatten)]
    stored: Stored,

    #[command(flatten)]
    many: Many,
}

impl Classify {
    /// Classifies; the outputs of a sample appear together, once its last read is answered.
    pub fn run(self, session: &Session) -> Result<()> {
        if self.paired && self.mates.is_none() {
            let what = "--paired goes with two files of mates; mates in one file are --interleaved";
            return Err(Failure::usage(what));
        }
        session.keep_report_json()?;
        self.note_parameters(session);
        if let Some(wanted) = self.many.wanted() {
            let with = With {
                against: &self.against,
                interleaved: self.interleaved,
                rank: self.reports.rank(),
                thresholds: &self.thresholds,
                extras: &self.extras,
                gpu: &self.gpu,
            };
            return self.many.run(wanted, &with, session);
        }
        if !self.stored.merge.is_empty() {
            return self.run_merge(&self.stored.merge, session);
        }
        if let Some(path) = &self.stored.answers {
            return self.run_again(path, session);
        }
        let lane = self
            .lane()
            .ok_or_else(|| Failure::usage("name the reads, or a sheet with --samples"))?;
        self.run_one(lane, session)
    }

    /// The reads of the one sample.
    fn lane(&self) -> Option<Lane> {
        Some(Lane {
            reads: self.reads.clone()?,
            mates: self.mates.clone(),
            interleaved: self.interleaved,
        })
    }

    fn run_one(&self, lane: Lane, session: &Session) -> Result<()> {
        keep_shareable([&lane].into_iter(), session)?;
        let (places, references) = (
            self.places(lane.is_paired())?,
            self.against.references(session)?,
        );
        let inputs: Vec<&PathBuf> = lane.files().chain(self.against.inputs()).collect();
        check_places(
            inputs.iter().copied().chain(&references),
            &places,
            &self.stored,
            session,
        )?;
        if self.extras.drop_least_covered.is_some() {
            keep_rereadable(&lane, extras::DROP_READS_TWICE)?;
        }
        places::keep_different(&lane.files().cloned().collect::<Vec<_>>())?;
        lane.check()?;
        session.same_files(self.against.files(&references))?;
        let mut collection = self.against.index(references, &self.gpu, session)?;
        note_inputs(&inputs, session);
        gpu::bring(&self.gpu, &mut collection, [&lane].into_iter(), session)?;
        if let Some(path) = &self.stored.candidates {
            return stored::keep(path, &lane, &collection, session);
        }
        let start = Instant::now();
        let outputs = places.open_in(session, &collection.catalogue.taxonomy)?;
        self.answer(
            of_lanes(
                &collection,
                std::slice::from_ref(&lane),
                self.thresholds.rule(),
                session,
            ),
            (&places, outputs),
            &self.against.origin(&collection)?,
            &sample_of(&lane.reads, lane.mates.as_deref()),
            start,
            session,
        )
    }

    fn run_merge(&self, paths: &[PathBuf], session: &Session) -> Result<()> {
        let places = self.places(false)?;
        check_places(paths, &places, &self.stored, session)?;
        note_inputs(&paths.iter().collect::<Vec<_>>(), session);
        places::keep_different(paths)?;
        let (start, candidates) = (Instant::now(), Candidates::open(paths)?);
        session.note("candidates", report::identified(candidates.checksums()));
        let outputs = places.open_in(session, &candidates.catalogue().taxonomy)?;
        self.answer(
            of_stored(&candidates, self.thresholds.rule(), session),
            (&places, outputs),
            &origin::of_stored(paths)?,
            &sample_of(&paths[0], None),
            start,
            session,
        )
    }

    /// Makes answers again, with other thresholds: the first process does it alone.
    fn run_again(&self, path: &PathBuf, session: &Session) -> Result<()> {
        if !session.is_first() {
            return Ok(());
        }
        let places = self.places(false)?;
        let inputs: Vec<&PathBuf> = [path].into_iter().chain(self.against.inputs()).collect();
        check_places(inputs.iter().copied(), &places, &self.stored, session)?;
        note_inputs(&inputs, session);
        let collection = self.against.index(Vec::new(), &self.gpu, session)?;
        let (start, catalogue) = (Instant::now(), &collection.catalogue);
        let origin = self.against.origin(&collection)?;
        let mut outputs = places.open_in(session, &catalogue.taxonomy)?;
        let summary = again::answer(path, &self.thresholds, catalogue, &mut outputs.answers)?;
        outputs.finish((catalogue, &origin), &summary, &sample_of(path, None))?;
        note(session, &places, &summary);
        warn_if_short("", &summary, catalogue.parameters.sketch.k());
        say(&summary, start.elapsed());
        Ok(())
    }

    fn answer(
        &self,
        mut config: Config,
        (places, mut outputs): (&Places, Outputs),
        origin: &Origin,
        sample: &str,
        start: Instant,
        session: &Session,
    ) -> Result<()> {
        config.drop_least_covered = self.extras.drop_least_covered;
        let summary = answer::answer(config, &mut outputs, session)?;
        if !session.is_first() {
            return Ok(());
        }
        let catalogue = config.catalogue();
        outputs.finish((catalogue, origin), &summary, sample)?;
        let time = start.elapsed();
        note(session, places, &summary);
        warn_if_short("", &summary, catalogue.parameters.sketch.k());
        say(&summary, time);
        Ok(())
    }

    fn places(&self, paired: bool) -> Result<Places> {
        let answers = self.output.clone().unwrap_or("-".into());
        Ok(Places {
            answers: self.stored.candidates.is_none().then_some(answers),
            reports: self.reports.places(),
            rank: self.reports.rank(),
            columns: Columns {
                locations: self.extras.locations,
                confidence: self.thresholds.with_confidence,
            },
            extracts: self.extras.places(paired)?,
            plots: self.extras.coverage_plots.clone(),
        })
    }

    fn note_parameters(&self, session: &Session) {
        session.note(
            "parameters",
            json!({
                "paired": self.mates.is_some() || self.interleaved,
                "on_the_fly": self.against.is_on_the_fly(),
                "abundance": self.reports.rank().name(),
                "drop_least_covered": self.extras.drop_least_covered,
                "thresholds": self.thresholds.noted(),
                "threads": session.threads,
                "memory_bytes": session.memory,
            }),
        );
    }
}

fn check_places<'a>(
    inputs: impl IntoIterator<Item = &'a PathBuf>,
    places: &'a Places,
    stored: &'a Stored,
    session: &'a Session,
) -> Result<()> {
    session.keep_apart(inputs, places.files().chain(&stored.candidates))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn note_inputs(inputs: &[&PathBuf], session: &Session) {
    session.note(
        "inputs",
        inputs.iter().map(|path| shown(path)).collect::<Vec<_>>(),
    );
}

fn note(session: &Session, places: &Places, summary: &Summary) {
    session.note("output", places.answers.as_deref().map(shown));
    session.note(
        "reports",
        places
            .reports
            .iter()
            .map(|(_, path)| shown(path))
            .collect::<Vec<_>>(),
    );
    let extracts = places.extracts.iter().flat_map(extras::ReadsOutput::files);
    session.note(
        "extracted",
        extracts.map(|path| shown(path)).collect::<Vec<_>>(),
    );
    session.note("coverage_plots", places.plots.as_deref().map(shown));
    session.note("dropped_genomes", summary.dropped.genomes);
    session.note("counts", counts(summary));
}
