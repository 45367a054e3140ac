//! Where reads and their hits come from: sequences that are looked up, or what is stored of them.

use std::ops::Range;
use std::sync::Arc;

use gyrase_seq::Batch;
use gyrase_tabulate::TabulateError;
use gyrase_work::{Checking, Feed, Fetching, Progress, in_order};

use super::answer::Spans;
use super::error::QueryError;
use super::hits::Hits;
use super::located::Located;
use super::lookup::{Lookup, keep_to_cap};
use super::on_gpu::{Each, GpuLookup, by_processor};
use super::stored::Candidates;
use crate::candidates::Hit;
use crate::cap::Cap;
use crate::catalogue::Catalogue;
use crate::dealt::Dealt;
use crate::on_gpu::PartOnGpu;
use crate::read::Read;
use crate::stored::{Cursor, Row};

/// Reads and what their hits come from.
#[derive(Clone, Copy)]
pub(super) enum Origin<'r> {
    Sequences(&'r Hits<'r>),
    Stored(&'r Candidates),
}

impl<'r> Origin<'r> {
    /// What the hits are of.
    pub(super) fn catalogue(self) -> &'r Catalogue {
        match self {
            Origin::Sequences(hits) => &hits.collection.catalogue,
            Origin::Stored(candidates) => &candidates.catalogue,
        }
    }

    /// What is asked on a GPU, brought there for all threads.
    fn on_gpu(self) -> Result<Option<PartOnGpu<'r>>, QueryError> {
        match self {
            Origin::Sequences(hits) => Ok(hits.on_gpu()?),
            Origin::Stored(_) => Ok(None),
        }
    }

    /// What one thread needs to find hits.
    fn finder(self, on_gpu: Option<&PartOnGpu<'r>>) -> Finder<'r> {
        match self {
            Origin::Sequences(hits) => {
                let gpu = on_gpu.map(|part| GpuLookup::new(part.clone(), hits));
                Finder::Sequences(Box::new(Lookup::new(hits)), gpu)
            }
            Origin::Stored(candidates) => Finder::Stored(Rows::new(candidates)),
        }
    }

    /// `work` makes something of each task of reads with a state from `start`, in the memory of
    /// what was made of another; `emit` takes it in the order of the tasks. How many reads there
    /// were, the same in all passes.
    pub(super) fn each_task<T, S, R: Default + Send>(
        self,
        tasks: T,
        threads: usize,
        progress: &Progress,
        start: impl Fn() -> S + Sync,
        work: impl Fn(&mut Finder<'r>, &mut S, &Task, &mut R) -> Result<(), QueryError> + Sync,
        mut emit: impl FnMut(&Task, &mut R) -> Result<(), QueryError>,
    ) -> Result<u64, QueryError>
    where
        T: Feed<Task = Task, Error = TabulateError>,
    {
        let mut reads = 0;
        let on_gpu = self.on_gpu()?;
        let start = || (self.finder(on_gpu.as_ref()), start());
        let work = |(finder, state): &mut (Finder<'r>, S), task: &Task, made: &mut R| {
            work(finder, state, task, made)
        };
        in_order(threads, tasks, progress, start, work, |task, made| {
            emit(task, made)?;
            reads = task.reads.end;
            let of_task = task.reads.end - task.reads.start;
            progress.add_reads(of_task + task.batches[1].records.len() as u64);
            if matches!(self, Origin::Stored(_)) {
                progress.advance(of_task);
            }
            Ok::<_, QueryError>(())
        })?;
        if let Origin::Sequences(hits) = self {
            hits.had(reads)?;
            // A GPU that failed is asked for nothing.
            let left = hits.collection.on_gpu().filter(|_| on_gpu.is_none());
            left.iter().for_each(|gpu| gpu.leave(reads as usize));
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

/// Reads or pairs in batches, in their order: single reads and an empty batch, or first and second
/// mates. Those of whole files, or of any share of them.
pub trait ReadFeed: Feed<Task = [Batch; 2], Error = TabulateError> {}

impl<F: Feed<Task = [Batch; 2], Error = TabulateError>> ReadFeed for F {}

/// Batches of sequences.
pub(super) struct Batches<F> {
    feed: F,
    /// The number of the next read.
    next: u64,
}

impl<F: ReadFeed> Batches<F> {
    pub(super) fn new(feed: F) -> Batches<F> {
        Batches { feed, next: 0 }
    }
}

impl<F: ReadFeed> Feed for Batches<F> {
    type Task = Task;
    type Error = TabulateError;

    fn next(&mut self, task: &mut Task) -> Result<bool, TabulateError> {
        let more = self.feed.next(&mut task.batches)?;
        let first = self.next;
        if more {
            self.next += task.batches[0].records.len() as u64;
        }
        task.reads = first..self.next;
        Ok(more)
    }

    fn fetching(&self) -> Option<Fetching> {
        self.feed.fetching()
    }

    fn checking(&self) -> Option<Checking<Task, TabulateError>> {
        let check = self.feed.checking()?;
        Some(Arc::new(move |task: &Task| check(&task.batches)))
    }
}

/// Blocks of stored reads: those that are dealt to a process, one in each round, or no reads.
pub(super) struct Blocks<'r> {
    candidates: &'r Candidates,
    dealt: Dealt,
    /// The first block of the next round.
    next: usize,
}

impl<'r> Blocks<'r> {
    pub(super) fn new(candidates: &'r Candidates, dealt: Dealt) -> Blocks<'r> {
        Blocks {
            candidates,
            dealt,
            next: 0,
        }
    }
}

impl Feed for Blocks<'_> {
    type Task = Task;
    type Error = TabulateError;

    fn next(&mut self, task: &mut Task) -> Result<bool, TabulateError> {
        let stored = &self.candidates.files[0].0;
        if self.next >= stored.blocks() {
            return Ok(false);
        }
        let own = self.next + self.dealt.rank;
        task.reads = match own < stored.blocks() {
            true => stored.rows_of(own),
            false => stored.rows()..stored.rows(),
        };
        self.next += self.dealt.ranks;
        Ok(true)
    }
}

/// Finds the hits of reads, a task at a time.
pub(super) enum Finder<'r> {
    Sequences(Box<Lookup<'r>>, Option<GpuLookup<'r>>),
    Stored(Rows<'r>),
}

impl Finder<'_> {
    /// Calls `each` for every read or pair of a task in order, with its hits, in any order.
    pub(super) fn each(
        &mut self,
        task: &Task,
        mut each: impl FnMut(&Read<'_>, &mut [Hit]) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        match self {
            Finder::Sequences(lookup, gpu) => {
                let mut each = |read: &Read<'_>, located: Located<'_>| each(read, located.hits);
                look_up(lookup, gpu.as_mut(), task, None, &mut each)
            }
            Finder::Stored(rows) => rows.each(task.reads.clone(), each),
        }
    }

    /// As [`Finder::each`], with the best regions too where a GPU finds them.
    pub(super) fn locate(
        &mut self,
        task: &Task,
        spans: Spans,
        mut each: impl FnMut(&Read<'_>, Located<'_>) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        match self {
            Finder::Sequences(lookup, gpu) => {
                look_up(lookup, gpu.as_mut(), task, Some(spans), &mut each)
            }
            Finder::Stored(rows) => rows.each(task.reads.clone(), |read, hits| {
                each(read, Located::hits(hits))
            }),
        }
    }
}

/// Calls `each` for every read or pair of a task in order, with what the databases have of it; with
/// the best regions where a GPU finds them by these spans.
fn look_up(
    lookup: &mut Lookup<'_>,
    gpu: Option<&mut GpuLookup<'_>>,
    task: &Task,
    spans: Option<Spans>,
    each: Each<'_>,
) -> Result<(), QueryError> {
    let (first, batches) = (task.reads.start, &task.batches);
    match gpu {
        Some(gpu) => gpu.each(first, batches, spans, lookup, each),
        None => by_processor(lookup, first, batches, each),
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
        if reads.is_empty() {
            return Ok(());
        }
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
