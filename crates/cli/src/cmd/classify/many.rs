//! Many samples in one run: the database is opened once, and each sample gets its files in one
//! folder.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use gyrase_classify::report::Origin;
use gyrase_classify::samples::{self, Done, SampleReads, Series};
use gyrase_classify::{Collection, Columns, Lane, Rule, Summary, TaxonReport};
use gyrase_picture::words::{grouped, percent, things};
use gyrase_taxonomy::Rank;
use serde_json::{Value, json};

use super::against::Against;
use super::answer::{answer, keep_rereadable, keep_shareable, of_lanes};
use super::conflicts::ONE_SAMPLE;
use super::extras::{self, Extras};
use super::gpu;
use super::outputs::Places;
use super::reports::{ending, report};
use super::tell;
use super::thresholds::Thresholds;
use super::together::{self, Together};
use crate::failure::{Code, Failure, Result};
use crate::gpu::GpuArgs;
use crate::session::Session;

/// Failed samples that the last message names.
const NAMED: usize = 5;

/// A sheet of samples, and what becomes of them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Many samples")]
pub struct Many {
    /// Sheet with a line for each file or pair of a sample: columns sample, fastq_1, fastq_2;
    /// commas or tabs
    #[arg(long, value_name = "SHEET", requires = "out_dir", conflicts_with_all = ONE_SAMPLE)]
    samples: Option<PathBuf>,

    /// Folder for <sample>.tsv and the reports of each sample, taxa.tsv, taxa.biom, taxa.html,
    /// summary.tsv and summary_mqc.json of all
    #[arg(long, value_name = "DIR", requires = "samples")]
    out_dir: Option<PathBuf>,

    /// Reports of each sample, <sample>.<report>; separated by commas
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        requires = "samples",
        default_value = "kreport",
        value_parser = report()
    )]
    reports: Vec<TaxonReport>,

    /// Write no <sample>.tsv
    #[arg(long, requires = "samples")]
    no_answers: bool,

    /// Leave out samples whose outputs an earlier run made with this database, these reads and
    /// options
    #[arg(long, requires = "samples")]
    resume: bool,
}

/// What holds for every sample.
pub struct With<'a> {
    /// What reads are compared with.
    pub against: &'a Against,
    /// True where a file alone has both mates.
    pub interleaved: bool,
    /// The rank of estimates.
    pub rank: Rank,
    /// When a read is classified.
    pub thresholds: &'a Thresholds,
    /// What is wanted beside answers and reports.
    pub extras: &'a Extras,
    /// Whether a GPU looks reads up.
    pub gpu: &'a GpuArgs,
}

/// What all samples of a run are classified with.
struct Run<'a> {
    collection: &'a Collection,
    series: Series<'a>,
    rule: Rule,
    /// What pages say of where they come from.
    origin: Origin,
    /// How much of the coverage of genomes is dropped.
    drop: Option<f64>,
    session: &'a Session,
}

impl Many {
    /// The sheet of samples, and the folder for what becomes of them.
    pub fn wanted(&self) -> Option<(&PathBuf, &Path)> {
        Some((self.samples.as_ref()?, self.out_dir.as_deref()?))
    }

    /// Classifies all samples of `sheet` that can be read; the first failure is that of the run.
    pub fn run(
        &self,
        (sheet, folder): (&PathBuf, &Path),
        with: &With,
        session: &Session,
    ) -> Result<()> {
        let references = with.against.references(session)?;
        let samples = samples::read(sheet, with.interleaved)?;
        let places: Vec<Places> = samples
            .iter()
            .map(|sample| self.places(sample, folder, with))
            .collect();
        let lanes: Vec<&Lane> = samples.iter().flat_map(|sample| &sample.lanes).collect();
        keep_readable(&lanes, with, session)?;
        let inputs = [sheet]
            .into_iter()
            .chain(lanes.iter().flat_map(|lane| lane.files()))
            .chain(with.against.inputs())
            .chain(&references);
        session.keep_apart(inputs, &outputs(&places, folder)?)?;
        let first = session.is_first();
        if first {
            make(folder)?;
        }
        session.same_files(with.against.files(&references))?;
        let mut collection = with.against.index(references, with.gpu, session)?;
        gpu::bring(with.gpu, &mut collection, lanes.iter().copied(), session)?;
        let together = first.then(|| Together::open(folder)).transpose()?;
        let run = Run {
            collection: &collection,
            series: Series {
                folder,
                what: what(&collection, with),
                resume: self.resume,
                taxonomy: &collection.catalogue.taxonomy,
            },
            rule: with.thresholds.rule(),
            origin: with.against.origin(&collection)?,
            drop: with.extras.drop_least_covered,
            session,
        };
        if first {
            let prepared = run.series.prepare();
            prepared.map_err(|error| cannot_make(folder, error))?;
        }
        let (done, failed) = run.all(&samples, &places)?;
        // The first process alone ends with what failed: it has files to remove before it ends.
        let Some(together) = together else {
            return Ok(());
        };
        note(session, &samples, &done);
        say_all(&done);
        if let Some((_, first)) = failed.first() {
            let what = some_failed(&failed, samples.len());
            return Err(Failure::new(first.code, what));
        }
        together.finish(&collection.catalogue.taxonomy, &run.origin, &done)
    }

    fn places(&self, sample: &SampleReads, folder: &Path, with: &With) -> Places {
        let place = |ending: &str| folder.join(format!("{}.{ending}", sample.name));
        let wanted: BTreeSet<TaxonReport> = self.reports.iter().copied().collect();
        let reports = wanted
            .into_iter()
            .map(|report| (report, place(&ending(report))))
            .collect();
        let answers = (!self.no_answers).then(|| place("tsv"));
        Places {
            answers,
            reports,
            rank: with.rank,
            columns: Columns {
                locations: with.extras.locations,
                confidence: with.thresholds.with_confidence,
            },
            extracts: Vec::new(),
            plots: None,
        }
    }
}

/// Refuses reads that can be read only once where they are read again, or by several processes.
fn keep_readable(lanes: &[&Lane], with: &With, session: &Session) -> Result<()> {
    if with.extras.drop_least_covered.is_some() {
        lanes
            .iter()
            .try_for_each(|lane| keep_rereadable(lane, extras::DROP_READS_TWICE))?;
    }
    keep_shareable(lanes.iter().copied(), session)
}

/// What the outputs of all samples depend on, beside their reads.
fn what(collection: &Collection, with: &With) -> Value {
    let databases: Vec<String> = collection
        .checksums()
        .map(|sum| format!("{sum:016x}"))
        .collect();
    json!({
        "databases": databases,
        "abundance": with.rank.name(),
        "locations": with.extras.locations,
        "drop": with.extras.drop_least_covered,
        "thresholds": with.thresholds.noted(),
        "with_confidence": with.thresholds.with_confidence,
    })
}

/// A sample that failed, and why.
type Failed<'a> = (&'a str, Failure);

impl Run<'_> {
    /// Classifies one sample after the other. A sample whose reads are damaged does not stop the
    /// others; all else does.
    fn all<'a>(
        &self,
        samples: &'a [SampleReads],
        places: &[Places],
    ) -> Result<(Vec<Done>, Vec<Failed<'a>>)> {
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        for (number, (sample, places)) in samples.iter().zip(places).enumerate() {
            let progress = &self.session.progress;
            progress.begin_sample(&sample.name, number + 1, samples.len());
            match self.one(sample, places) {
                Ok(one) => done.push(one),
                Err(failure) if is_of_reads(&failure) => {
                    if self.session.is_first() {
                        tracing::error!("sample {}: {}", sample.name, failure.message);
                    }
                    failed.push((sample.name.as_str(), failure));
                }
                Err(Failure { code, message }) => {
                    return Err(Failure::new(
                        code,
                        format!("sample {}: {message}", sample.name),
                    ));
                }
            }
        }
        Ok((done, failed))
    }

    fn one(&self, sample: &SampleReads, places: &Places) -> Result<Done> {
        let files: Vec<PathBuf> = places.files().cloned().collect();
        let make = || self.make(sample, places);
        let done = (self.series).one(self.session.world(), sample, &files, make)?;
        if self.session.is_first() {
            say_one(&done);
        }
        Ok(done)
    }

    /// Classifies a sample and publishes its files.
    fn make(&self, sample: &SampleReads, places: &Places) -> Result<Summary> {
        let catalogue = &self.collection.catalogue;
        let mut outputs = places.open_in(self.session, &catalogue.taxonomy)?;
        let mut config = of_lanes(self.collection, &sample.lanes, self.rule, self.session);
        config.drop_least_covered = self.drop;
        let summary = answer(config, &mut outputs, self.session)?;
        if self.session.is_first() {
            let whose = format!("sample {}: ", sample.name);
            tell::warn_if_short(&whose, &summary, catalogue.parameters.sketch.k());
            outputs.finish((catalogue, &self.origin), &summary, &sample.name)?;
        }
        Ok(summary)
    }
}

fn say_one(done: &Done) {
    let name = &done.name;
    if done.before {
        tracing::info!(
            "sample {name}: an earlier run made its outputs with the same database, reads and options"
        );
        return;
    }
    if !done.removed.is_empty() {
        tracing::info!(
            "sample {name}: removed what an earlier run had made besides: {}",
            done.removed.join(", ")
        );
    }
    let tally = &done.summary.tally;
    let (all, classified) = (tally.total(), tally.classified());
    let share = percent(classified, all);
    tracing::info!(
        "sample {name}: {} of {} classified ({share})",
        grouped(classified),
        things(all, "sequence")
    );
}

/// True where it is the reads that are wrong.
fn is_of_reads(failure: &Failure) -> bool {
    matches!(failure.code, Code::Input | Code::Usage)
}

/// All outputs; refuses two of one name.
fn outputs(places: &[Places], folder: &Path) -> Result<Vec<PathBuf>> {
    let outputs: Vec<_> = together::places(folder)
        .into_iter()
        .chain(places.iter().flat_map(Places::files).cloned())
        .collect();
    let mut seen = HashSet::new();
    match outputs.iter().find(|path| !seen.insert(path.as_path())) {
        Some(twice) => Err(Failure::usage(format!(
            "{} would be written twice; give the sample another name in the sheet",
            twice.display()
        ))),
        None => Ok(outputs),
    }
}

/// Makes the folder of outputs if only it is missing: a slip in a long path should not make a tree.
fn make(folder: &Path) -> Result<()> {
    let made = if folder.is_dir() {
        Ok(())
    } else {
        std::fs::create_dir(folder)
    };
    made.map_err(|error| cannot_make(folder, error))
}

fn cannot_make(folder: &Path, error: std::io::Error) -> Failure {
    Failure::new(
        Code::Output,
        format!("cannot make the folder {}: {error}", folder.display()),
    )
}

fn some_failed(failed: &[Failed], all: usize) -> String {
    let names: Vec<&str> = failed.iter().take(NAMED).map(|(name, _)| *name).collect();
    let more = if failed.len() > NAMED { ", .." } else { "" };
    format!(
        "{} of {} failed: {}{more}. {} are of all samples and were not written; mend the reads, or \
         take these samples out of the \
         sheet, and run again with --resume",
        failed.len(),
        things(all as u64, "sample"),
        names.join(", "),
        together::FILES.join(", ")
    )
}

/// Says what was classified, by this run or by those that it goes on from.
fn say_all(done: &[Done]) {
    let before = done.iter().filter(|one| one.before).count() as u64;
    if before > 0 {
        let all = things(done.len() as u64, "sample");
        tracing::info!(
            "{} of {all} done before; with their reads and the time that they took:",
            grouped(before)
        );
    }
    let (mut all, mut time) = (Summary::default(), Duration::ZERO);
    for one in done {
        all.tally.merge(&one.summary.tally);
        all.letters += one.summary.letters;
        time += one.time;
    }
    tell::say(&all, time);
}

/// Tells the report of the run about every sample that is done.
fn note(session: &Session, samples: &[SampleReads], done: &[Done]) {
    let inputs = |name: &str| {
        let lanes = samples
            .iter()
            .find(|sample| sample.name == name)
            .map_or(&[][..], |sample| &sample.lanes);
        lanes
            .iter()
            .flat_map(Lane::files)
            .map(|file| file.display().to_string())
            .collect::<Vec<_>>()
    };
    let fact = |one: &Done| {
        json!({
            "sample": one.name,
            "inputs": inputs(&one.name),
            "done_before": one.before,
            "counts": tell::counts(&one.summary),
        })
    };
    session.note("samples", done.iter().map(fact).collect::<Vec<_>>());
}
