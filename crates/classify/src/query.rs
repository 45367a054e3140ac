//! Classifies reads: sketches, locations, candidates, a taxon each (thesis, section 6.4.3).

mod answer;
mod config;
mod error;
mod hits;
mod located;
mod lookup;
mod on_gpu;
mod origin;
mod passes;
mod sink;
mod spread;
mod stored;
mod summary;

use std::sync::{Mutex, PoisonError};

use gyrase_tabulate::TabulateError;
use gyrase_work::{Feed, Progress};

use self::answer::{Answerer, Answers};
pub use self::config::{AnswerConfig, INSERT, Wanted};
pub use self::error::QueryError;
pub use self::hits::Hits;
pub use self::origin::ReadFeed;
use self::origin::{Batches, Blocks, Finder, Origin, Task};
pub use self::passes::Scratch;
pub use self::sink::{Answer, Answered, Form, Sink};
pub(crate) use self::spread::Asked;
pub use self::stored::{Candidates, CandidatesError};
use self::summary::OwnSummary;
pub use self::summary::Summary;
use crate::dealt::Dealt;
use crate::filter::{Covered, Dropped};

/// The windows that some reads were found in, for the coverage filter: a pass over all reads before
/// that of [`classify`].
///
/// # Errors
/// See [`QueryError`].
pub fn covered(
    hits: &Hits<'_>,
    reads: impl ReadFeed,
    config: &AnswerConfig,
    progress: &Progress,
) -> Result<Covered, QueryError> {
    cover(
        Origin::Sequences(hits),
        Batches::new(reads),
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
    config: &AnswerConfig,
    progress: &Progress,
) -> Result<Covered, QueryError> {
    cover_stored(candidates, Dealt::ALL, config, progress)
}

/// As [`covered_candidates`], for the reads that are dealt to a process.
pub(crate) fn cover_stored(
    candidates: &Candidates,
    dealt: Dealt,
    config: &AnswerConfig,
    progress: &Progress,
) -> Result<Covered, QueryError> {
    let blocks = Blocks::new(candidates, dealt);
    cover(Origin::Stored(candidates), blocks, config, progress)
}

/// Classifies reads, none of them by what was `dropped`. `sink` takes the answers in the order of
/// the reads.
///
/// # Errors
/// See [`QueryError`].
pub fn classify(
    hits: &Hits<'_>,
    reads: impl ReadFeed,
    config: &AnswerConfig,
    dropped: &Dropped,
    sink: &mut impl Sink,
    progress: &Progress,
) -> Result<Summary, QueryError> {
    answer(
        Origin::Sequences(hits),
        Batches::new(reads),
        config,
        dropped,
        sink,
        progress,
    )
}

/// Classifies stored reads, as [`classify`] does those that candidates were stored of. Their
/// records are not there.
///
/// # Errors
/// See [`QueryError`].
pub fn classify_candidates(
    candidates: &Candidates,
    config: &AnswerConfig,
    dropped: &Dropped,
    sink: &mut impl Sink,
    progress: &Progress,
) -> Result<Summary, QueryError> {
    answer_stored(candidates, Dealt::ALL, config, dropped, sink, progress)
}

/// As [`classify_candidates`], for the reads that are dealt to a process.
pub(crate) fn answer_stored(
    candidates: &Candidates,
    dealt: Dealt,
    config: &AnswerConfig,
    dropped: &Dropped,
    sink: &mut impl Sink,
    progress: &Progress,
) -> Result<Summary, QueryError> {
    let (origin, blocks) = (Origin::Stored(candidates), Blocks::new(candidates, dealt));
    answer(origin, blocks, config, dropped, sink, progress)
}

fn cover(
    origin: Origin<'_>,
    tasks: impl Feed<Task = Task, Error = TabulateError>,
    config: &AnswerConfig,
    progress: &Progress,
) -> Result<Covered, QueryError> {
    let mut all = Covered::default();
    let dropped = Dropped::default();
    let start = || Answerer::new(origin.catalogue(), config, &dropped);
    let work = |finder: &mut Finder<'_>,
                answerer: &mut Answerer<'_>,
                task: &Task,
                covered: &mut Covered| {
        *covered = Covered::default();
        finder.locate(task, answerer.spans(), |read, located| {
            answerer.cover(read, located, covered);
            Ok(())
        })
    };
    origin.each_task(
        tasks,
        config.threads,
        progress,
        start,
        work,
        |_, covered| {
            all.merge(covered);
            Ok(())
        },
    )?;
    Ok(all)
}

fn answer<S: Sink>(
    origin: Origin<'_>,
    tasks: impl Feed<Task = Task, Error = TabulateError>,
    config: &AnswerConfig,
    dropped: &Dropped,
    sink: &mut S,
    progress: &Progress,
) -> Result<Summary, QueryError> {
    let all = Mutex::default();
    let form = sink.form();
    let start = || {
        let answerer = Answerer::new(origin.catalogue(), config, dropped);
        (answerer, OwnSummary::of(&all))
    };
    let work = |finder: &mut Finder<'_>,
                (answerer, own): &mut (Answerer<'_>, OwnSummary<'_>),
                task: &Task,
                answers: &mut Answers<<S::Form as Form>::Made>| {
        form.clear(&mut answers.made);
        answers.taxa.clear();
        let summary = own.of_next_batch();
        finder.locate(task, answerer.spans(), |read, located| {
            answerer.answer(read, located, &form, answers, summary);
            Ok(())
        })
    };
    let take = |task: &Task, answers: &mut Answers<<S::Form as Form>::Made>| {
        let answered = Answered {
            reads: task.reads.clone(),
            records: &task.batches,
            taxa: &answers.taxa,
        };
        sink.take(&answered, &answers.made)
    };
    origin.each_task(tasks, config.threads, progress, start, work, take)?;
    let mut summary = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    summary.complete(origin.catalogue(), config.wanted);
    Ok(summary)
}
