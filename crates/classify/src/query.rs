//! Classifies reads: sketches, locations, candidates, a taxon each (thesis, section 6.4.3).

mod answer;
mod hits;
mod lookup;
mod road;
mod stored;

use std::io::Write;

use gyrase_files::OutputError;
use gyrase_seq::Batch;
use gyrase_table::gydb::GydbError;
use gyrase_tabulate::{Source, TabulateError};
use gyrase_work::Progress;

pub(crate) use self::answer::Read;
use self::answer::{Answerer, Answers};
pub use self::hits::{Hits, Scratch};
use self::road::{Road, Task, Tasks, Walker};
pub use self::stored::{Candidates, CandidatesError};
use crate::catalogue::Catalogue;
use crate::decide::Rule;
use crate::extract::Extract;
use crate::filter::{Covered, Dropped};
use crate::genomes::Genomes;
use crate::stored::StoredError;
use crate::tally::{Depth, Tally};

/// How to classify.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// When a read is classified.
    pub rule: Rule,
    /// Letters that a pair spans on its target when that is more than its own.
    pub insert: usize,
    /// Threads, at least 1.
    pub threads: usize,
    /// What is wanted of the answers.
    pub wanted: Wanted,
}

/// What is wanted of the answers beside reads per taxon. What is not wanted costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The line of each read.
    pub lines: Lines,
    /// What speaks for each taxon.
    pub evidence: bool,
    /// Reads per window.
    pub depth: bool,
}

impl Wanted {
    /// True where the region that a read comes from is asked for.
    fn regions(self) -> bool {
        self.lines == Lines::Locations || self.evidence || self.depth
    }
}

/// What the line of a read tells behind `C` or `U`, its name, its taxid, and its letters (`|`
/// between mates).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lines {
    /// Hits of the candidates by taxid, where Kraken 2 has k-mers by taxid.
    #[default]
    Hits,
    /// Where on which target it may come from: name, first and last letter (from 1), hits there,
    /// features of the read, and the share of the windows there that were hit.
    Locations,
}

/// Where answers go.
pub struct Outlets<'a> {
    /// A line for each read, in their order.
    pub lines: &'a mut dyn Write,
    /// Reads by their answers.
    pub extracts: &'a mut [Extract],
}

/// Why reads could not be classified.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The reads cannot be read, or the run was cancelled.
    #[error(transparent)]
    Reads(#[from] TabulateError),
    /// The database is damaged.
    #[error(transparent)]
    Database(#[from] GydbError),
    /// The place where answers go does not take them.
    #[error("cannot write the answers: {0}")]
    Sink(#[source] std::io::Error),
    /// Stored hits cannot be written or read.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// Reads cannot be extracted.
    #[error(transparent)]
    Extract(#[from] OutputError),
}

/// What was classified.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Reads, or pairs, by taxon.
    pub tally: Tally,
    /// Their letters.
    pub letters: u64,
    /// Reads per window, where that was wanted.
    pub depth: Depth,
}

/// The windows that the reads of `source` were found in, for the coverage filter: a pass over all
/// reads before that of [`classify`].
///
/// # Errors
/// See [`QueryError`].
pub fn covered(
    hits: &Hits<'_>,
    source: Source,
    config: &Config,
    progress: &Progress,
) -> Result<Covered, QueryError> {
    cover(
        Road::Sequences(hits),
        Tasks::Sequences(source, 0),
        config,
        progress,
    )
}

/// The windows that stored reads were found in; see [`covered`].
///
/// # Errors
/// See [`QueryError`].
pub fn covered_candidates(
    candidates: &Candidates,
    config: &Config,
    progress: &Progress,
) -> Result<Covered, QueryError> {
    cover(
        Road::Stored(candidates),
        Tasks::Stored(candidates, 0),
        config,
        progress,
    )
}

/// Classifies the reads of `source`, none of them by what was `dropped`: a line for each and the
/// reads that are extracted go to `outlets`, in their order. The files of extracted reads are left
/// to be completed.
///
/// # Errors
/// See [`QueryError`].
pub fn classify(
    hits: &Hits<'_>,
    source: Source,
    config: &Config,
    dropped: &Dropped,
    outlets: &mut Outlets<'_>,
    progress: &Progress,
) -> Result<Summary, QueryError> {
    answer(
        Road::Sequences(hits),
        Tasks::Sequences(source, 0),
        config,
        dropped,
        outlets,
        progress,
    )
}

/// Classifies stored reads, as [`classify`] does those that candidates were stored of. None can be
/// extracted: only their names are there.
///
/// # Errors
/// See [`QueryError`].
pub fn classify_candidates(
    candidates: &Candidates,
    config: &Config,
    dropped: &Dropped,
    outlets: &mut Outlets<'_>,
    progress: &Progress,
) -> Result<Summary, QueryError> {
    answer(
        Road::Stored(candidates),
        Tasks::Stored(candidates, 0),
        config,
        dropped,
        outlets,
        progress,
    )
}

fn cover(
    road: Road<'_>,
    tasks: Tasks<'_>,
    config: &Config,
    progress: &Progress,
) -> Result<Covered, QueryError> {
    let mut all = Covered::default();
    let dropped = Dropped::default();
    let start = || Answerer::new(road.catalogue(), config, &dropped);
    let work = |walker: &mut Walker<'_>, answerer: &mut Answerer<'_>, task: &Task| {
        let mut covered = Covered::default();
        walker.each(task, |read, hits| {
            answerer.cover(read, hits, &mut covered);
            Ok(())
        })?;
        Ok(covered)
    };
    road.follow(
        tasks,
        config.threads,
        progress,
        start,
        work,
        |_, covered| {
            all.merge(&covered);
            Ok(())
        },
    )?;
    Ok(all)
}

fn answer(
    road: Road<'_>,
    tasks: Tasks<'_>,
    config: &Config,
    dropped: &Dropped,
    outlets: &mut Outlets<'_>,
    progress: &Progress,
) -> Result<Summary, QueryError> {
    let mut summary = Summary::default();
    let start = || Answerer::new(road.catalogue(), config, dropped);
    let work = |walker: &mut Walker<'_>, answerer: &mut Answerer<'_>, task: &Task| {
        let mut answers = Answers::new();
        walker.each(task, |read, hits| {
            answerer.answer(read, hits, &mut answers);
            Ok(())
        })?;
        Ok(answers)
    };
    road.follow(
        tasks,
        config.threads,
        progress,
        start,
        work,
        |task, answers| {
            outlets.take(&task.batches, &answers)?;
            summary.add(&answers);
            Ok(())
        },
    )?;
    summary.complete(road.catalogue(), config.wanted);
    Ok(summary)
}

impl Outlets<'_> {
    fn take(&mut self, batches: &[Batch; 2], answers: &Answers) -> Result<(), QueryError> {
        self.lines
            .write_all(&answers.text)
            .map_err(QueryError::Sink)?;
        let mut extracts = self.extracts.iter_mut();
        Ok(extracts.try_for_each(|extract| extract.take(batches, &answers.taxa))?)
    }
}

impl Summary {
    /// Adds what was found of other reads of the same sample.
    pub fn merge(&mut self, other: &Summary) {
        self.tally.merge(&other.tally);
        self.depth.merge(&other.depth);
        self.letters += other.letters;
    }

    fn add(&mut self, answers: &Answers) {
        self.tally.merge(&answers.tally);
        self.depth.merge(&answers.depth);
        self.letters += answers.letters;
    }

    /// Says of what the evidence is a part.
    fn complete(&mut self, catalogue: &Catalogue, wanted: Wanted) {
        if wanted.evidence {
            let windows = Genomes::new(&catalogue.targets).windows();
            self.tally.know(
                |taxon| Some(catalogue.distinct(taxon)),
                |taxon| windows.get(&taxon).copied(),
            );
        }
    }
}
