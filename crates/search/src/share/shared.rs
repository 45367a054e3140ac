//! What a process has of a search that is shared, and the search of one that has all subjects.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use gyrase_fabric::{Farm, Finished, SpillFolder, World};
use gyrase_files::{OrderedFile, OutputError, Segment};
use gyrase_tabulate::KeptWork;
use gyrase_work::Progress;

use crate::batches::Over;
use crate::engine::Engine;
use crate::found::Found;
use crate::indexes::Indexes;
use crate::prepared::Prepared;
use crate::{Report, SearchError, Sequences, Summary, WaitingText};

/// Results for each process that may wait in the first one for an earlier one, where it takes the
/// text.
const AHEAD: usize = 4;
/// Where the report of a search by processes goes.
pub enum ReportTarget<'a> {
    /// To what takes its text in the first process, piece by piece.
    Stream(&'a mut dyn FnMut(&[u8]) -> Result<(), OutputError>),
    /// To a file, in which each process writes the text of its batches.
    File(&'a Path),
}

/// What a process has of a search that is shared.
pub(super) struct Shared<'s> {
    pub prepared: &'s Prepared,
    pub batches: Vec<Range<usize>>,
    pub report: &'s Report,
    /// The file that takes the text, unless it goes to the first process.
    pub file: Option<OrderedFile<(), Finished>>,
    /// There are other processes.
    pub several: bool,
    pub kept: Option<KeptWork>,
    pub progress: &'s Progress,
    pub waiting: &'s WaitingText,
    pub folder: Arc<SpillFolder>,
}

impl Shared<'_> {
    /// Searches for all queries; what is returned is true in the first process.
    pub(super) fn search(
        &self,
        world: &dyn World,
        subjects: &Sequences,
        target: &mut ReportTarget,
    ) -> Result<Summary, SearchError> {
        let mut summary = self.prepared.summary(self.prepared.queries.len());
        self.progress
            .start_counting("search", summary.queries, "queries");
        let tasks = self.batches.len();
        let ahead = match target {
            ReportTarget::Stream(_) => AHEAD * world.ranks(),
            ReportTarget::File(_) => tasks,
        };
        let farm = Farm {
            tasks,
            workers: 1,
            ahead,
            parts: 1,
        };
        let indexes = Indexes::default();
        let engine = self.prepared.engine(subjects, Some(&indexes));
        let work = |task| self.work((subjects, &*engine), task);
        farm.run(world, work, &mut |task, result| {
            let found = Found::of_message(result);
            summary.with_hits += found.with_hits;
            summary.hits += found.hits;
            if let ReportTarget::Stream(take) = target {
                take(&found.text)?;
            }
            self.progress.advance(self.batches[task].len() as u64);
            Ok::<_, SearchError>(())
        })?;
        Ok(summary)
    }

    /// Searches for a batch; what the first process is told.
    fn work(&self, over: (&Sequences, &dyn Engine), task: usize) -> Result<Vec<u8>, SearchError> {
        let mut found = self.kept_or(task, || self.find(over, task))?;
        if self.file.is_some() {
            self.put(task, std::mem::take(&mut found.text))?;
        }
        Ok(found.into_message())
    }

    /// What an earlier run found for a task, or what is found now, which is kept.
    pub(super) fn kept_or(
        &self,
        task: usize,
        find: impl FnOnce() -> Result<Found, SearchError>,
    ) -> Result<Found, SearchError> {
        let Some(kept) = &self.kept else {
            return find();
        };
        if let Some(found) = kept.get(task) {
            return Ok(Found::of_message(found));
        }
        let found = find()?.into_message();
        kept.put(task, &found)?;
        Ok(Found::of_message(found))
    }

    /// Lays aside the text of a batch of this process for its place in the file.
    pub(super) fn put(&self, batch: usize, text: Vec<u8>) -> Result<(), SearchError> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        if self.several {
            file.take(batch);
        }
        Ok(file.put(batch, Segment::new(text), ())?)
    }

    fn find(
        &self,
        (subjects, engine): (&Sequences, &dyn Engine),
        task: usize,
    ) -> Result<Found, SearchError> {
        let mut text = Vec::new();
        let (range, part) = (self.batches[task].clone(), self.progress.of_part());
        let over = Over {
            prepared: self.prepared,
            subjects,
            engine,
            progress: &part,
        };
        let summary = over.search(range, &mut |answer| {
            // Writing to memory cannot fail.
            let _ = self.report.answer(&mut text, answer);
            Ok::<_, SearchError>(())
        })?;
        Ok(Found {
            with_hits: summary.with_hits,
            hits: summary.hits,
            text,
        })
    }
}
