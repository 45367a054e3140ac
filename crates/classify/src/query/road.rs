//! Where reads and their hits come from: sequences that are looked up, or what is stored of them.

use std::ops::Range;

use gyrase_seq::Batch;
use gyrase_tabulate::{Source, TabulateError};
use gyrase_work::Progress;
use gyrase_work::{Feed, in_order};

use super::answer::Read;
use super::hits::Hits;
use super::lookup::{Lookup, keep_to_cap};
use super::{Candidates, QueryError};
use crate::candidates::Hit;
use crate::cap::Cap;
use crate::catalogue::Catalogue;
use crate::stored::{Cursor, Row};

/// Reads and what their hits come from.
#[derive(Clone, Copy)]
pub(super) enum Road<'r> {
    Sequences(&'r Hits<'r>),
    Stored(&'r Candidates),
}

impl<'r> Road<'r> {
    /// What the hits are of.
    pub(super) fn catalogue(self) -> &'r Catalogue {
        match self {
            Road::Sequences(hits) => &hits.collection.catalogue,
            Road::Stored(candidates) => &candidates.catalogue,
        }
    }

    /// What one thread needs to follow the road.
    pub(super) fn walker(self) -> Walker<'r> {
        match self {
            Road::Sequences(hits) => Walker::Sequences(Box::new(Lookup::new(hits))),
            Road::Stored(candidates) => Walker::Stored(Rows::new(candidates)),
        }
    }

    /// Follows the road to its end: `work` makes something of each task with a state from `start`,
    /// `emit` takes it in the order of the tasks. How many reads there were, the same in all
    /// passes.
    pub(super) fn follow<S, R: Send>(
        self,
        tasks: Tasks<'_>,
        threads: usize,
        progress: &Progress,
        start: impl Fn() -> S + Sync,
        work: impl Fn(&mut Walker<'r>, &mut S, &Task) -> Result<R, QueryError> + Sync,
        mut emit: impl FnMut(&Task, R) -> Result<(), QueryError>,
    ) -> Result<u64, QueryError> {
        let mut reads = 0;
        let start = || (self.walker(), start());
        let work = |(walker, state): &mut (Walker<'r>, S), task: &Task| work(walker, state, task);
        in_order(
            threads,
            tasks,
            progress,
            start,
            work,
            |task, made: Result<R, QueryError>| {
                emit(task, made?)?;
                reads = task.reads.end;
                progress.advance(task.reads.end - task.reads.start);
                Ok::<_, QueryError>(())
            },
        )?;
        if let Road::Sequences(hits) = self {
            hits.had(reads)?;
        }
        Ok(reads)
    }
}

/// Some reads.
#[derive(Default)]
pub(super) struct Task {
    /// Their numbers among all.
    pub reads: Range<u64>,
    /// Their sequences; empty where only what is stored of them is at hand.
    pub batches: [Batch; 2],
}

/// Gives tasks.
pub(super) enum Tasks<'r> {
    /// Batches of sequences, and the number of the next read.
    Sequences(Source, u64),
    /// Blocks of stored reads, and the next of them.
    Stored(&'r Candidates, usize),
}

impl Feed for Tasks<'_> {
    type Task = Task;
    type Error = TabulateError;

    fn next(&mut self, task: &mut Task) -> Result<bool, TabulateError> {
        match self {
            Tasks::Sequences(source, next) => {
                let more = source.next(&mut task.batches)?;
                let first = *next;
                *next += if more {
                    task.batches[0].records.len() as u64
                } else {
                    0
                };
                task.reads = first..*next;
                Ok(more)
            }
            Tasks::Stored(candidates, next) => {
                let stored = &candidates.files[0].0;
                let more = *next < stored.blocks();
                if more {
                    task.reads = stored.rows_of(*next);
                    *next += 1;
                }
                Ok(more)
            }
        }
    }
}

/// Follows a road, a task at a time.
pub(super) enum Walker<'r> {
    Sequences(Box<Lookup<'r>>),
    Stored(Rows<'r>),
}

impl Walker<'_> {
    /// Calls `each` for every read or pair of a task in order, with its hits, in any order.
    pub(super) fn each(
        &mut self,
        task: &Task,
        mut each: impl FnMut(&Read<'_>, &mut [Hit]) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        match self {
            Walker::Sequences(lookup) => {
                lookup.each(task.reads.start, &task.batches, |number, features, hits| {
                    each(&Read::of(&task.batches, number, features), hits)
                })
            }
            Walker::Stored(rows) => rows.each(task.reads.clone(), each),
        }
    }
}

/// The rows of files of candidates, read in step.
pub(super) struct Rows<'r> {
    candidates: &'r Candidates,
    cursors: Vec<Cursor<'r>>,
    cap: Option<Cap<'r>>,
}

impl<'r> Rows<'r> {
    fn new(candidates: &'r Candidates) -> Rows<'r> {
        let cursors = candidates
            .files
            .iter()
            .map(|(stored, windows)| Cursor::new(stored, windows.clone()))
            .collect();
        let Catalogue {
            targets,
            parameters,
            ..
        } = &candidates.catalogue;
        let cap = (candidates.files.len() > 1).then(|| Cap::new(targets, parameters.locations));
        Rows {
            candidates,
            cursors,
            cap,
        }
    }

    fn each(
        &mut self,
        reads: Range<u64>,
        mut each: impl FnMut(&Read<'_>, &mut [Hit]) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        self.cursors
            .iter_mut()
            .try_for_each(|cursor| cursor.seek(reads.start))?;
        let (mut row, mut other) = (Row::default(), Row::default());
        for number in reads {
            row.hits.clear();
            self.cursors[0].next(&mut row)?;
            for (file, cursor) in self.cursors.iter_mut().enumerate().skip(1) {
                other.hits.clear();
                cursor.next(&mut other)?;
                if other.read() != row.read() {
                    return Err(self.candidates.other_reads(file, number).into());
                }
                row.hits.append(&mut other.hits);
            }
            if let Some(cap) = &self.cap {
                keep_to_cap(&mut row.hits, row.features.len(), cap);
            }
            let Row {
                name,
                lengths,
                features,
                hits,
            } = &mut row;
            each(
                &Read {
                    name,
                    lengths: *lengths,
                    features,
                },
                hits,
            )?;
        }
        Ok(())
    }
}
