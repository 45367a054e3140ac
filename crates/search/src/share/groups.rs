//! Processes of which none has memory for the whole database: each has a part.
//!
//! ```text
//!              part 0   part 1   part 2   a task is a batch of queries and a part
//!  batch 0       A        B        C      who has a part does its tasks, batch by batch;
//!  batch 1       A        B        C      whoever is done reads the part with the most left
//!  batch 2       A        B        D
//!    |
//!    |  the best of each part, with what reports need
//!    v
//!  the owner of the batch (0: A, 1: B, 2: C, 3: D, 4: A ...) merges them and writes its text
//! ```

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use gyrase_fabric::{FabricError, Farm, Mailbox, World};

use super::shared::{ReportTarget, Shared};
use crate::aside::Aside;
use crate::database::Cursor;
use crate::found::Found;
use crate::indexes::Indexes;
use crate::parts::{self, Merging};
use crate::{SearchError, Sequences, Summary};

/// How long a process sleeps that waits for what others found.
const PAUSE: Duration = Duration::from_millis(1);

/// Searches for all queries; what is returned is true in the first process.
pub(super) fn search(
    shared: &Shared,
    world: &dyn World,
    target: &mut ReportTarget,
) -> Result<Summary, SearchError> {
    let prepared = shared.prepared;
    let parts = prepared.database.parts();
    let tasks = parts * shared.batches.len();
    let owners = match target {
        ReportTarget::Stream(_) => 1,
        ReportTarget::File(_) => world.ranks(),
    };
    let group = Group {
        shared,
        owners,
        found: &*world.mailbox()?,
        worker: Mutex::new(Worker {
            cursor: prepared.database.cursor(),
            part: None,
        }),
        over: AtomicBool::new(false),
        failed: AtomicBool::new(false),
    };
    let farm = Farm {
        tasks,
        workers: 1,
        ahead: tasks,
        parts,
    };
    let progress = shared.progress;
    progress.start_counting("search", tasks as u64, "batches and parts");
    let own = shared.own_batches(world.rank(), owners);
    let aside = Mutex::new(Aside::new(shared.folder.clone(), prepared.aside));
    thread::scope(|scope| {
        let taking = scope.spawn(|| {
            let taken = group.take(parts * own.len(), &aside);
            group.failed.store(taken.is_err(), Relaxed);
            taken
        });
        let done = farm.run(world, |task| group.work(task), &mut |_, _| {
            progress.advance(1);
            Ok::<_, SearchError>(())
        });
        group.over.store(done.is_err(), Relaxed);
        let taken = taking.join().expect("no thread panics that takes messages");
        taken.and(done)
    })?;
    // A part is not needed any more.
    drop(group);
    let mut aside = aside.into_inner().unwrap_or_else(PoisonError::into_inner);
    let sums = merge_all(shared, &own, &mut aside, target)?;
    let sums = world.sum(&sums)?;
    let mut summary = prepared.summary(prepared.queries.len());
    (summary.with_hits, summary.hits) = (sums[0], sums[1]);
    Ok(summary)
}

/// Merges the batches of this process; how many queries have hits, and how many hits.
fn merge_all(
    shared: &Shared,
    own: &[usize],
    aside: &mut Aside,
    target: &mut ReportTarget,
) -> Result<[u64; 2], SearchError> {
    let progress = shared.progress;
    progress.start_counting("merge", own.len() as u64, "batches of queries");
    let mut sums = [0; 2];
    for &batch in own {
        let (text, of_batch) = shared.merge(batch, aside)?;
        sums[0] += of_batch.with_hits;
        sums[1] += of_batch.hits;
        match target {
            ReportTarget::Stream(take) => take(&text)?,
            ReportTarget::File(_) => shared.put(batch, text)?,
        }
        progress.advance(1);
    }
    Ok(sums)
}

/// What a process has while parts are searched.
struct Group<'g> {
    shared: &'g Shared<'g>,
    /// So many processes, the first, merge batches.
    owners: usize,
    /// What was found, by task, for the owner of the batch.
    found: &'g dyn Mailbox,
    worker: Mutex<Worker<'g>>,
    /// Nothing more is to come.
    over: AtomicBool,
    /// What comes can be laid aside no more.
    failed: AtomicBool,
}

/// What searches.
struct Worker<'g> {
    cursor: Cursor<'g>,
    part: Option<Part>,
}

/// The part that a process has.
struct Part {
    number: usize,
    subjects: Sequences,
    indexes: Indexes,
}

impl Worker<'_> {
    fn part(&mut self, number: usize, shared: &Shared) -> Result<&Part, SearchError> {
        let own = self.part.take().filter(|part| part.number == number);
        let part = match own {
            Some(part) => part,
            None => Part {
                number,
                subjects: self.cursor.read(number, &shared.progress.of_part())?,
                indexes: Indexes::default(),
            },
        };
        Ok(self.part.insert(part))
    }
}

impl<'g> Group<'g> {
    /// Searches for a batch in a part, and sends what it finds to the owner of the batch.
    fn work(&self, task: usize) -> Result<Vec<u8>, SearchError> {
        if self.failed.load(Relaxed) {
            return Err(FabricError::Elsewhere.into());
        }
        let batches = self.shared.batches.len();
        let (part, batch) = (task / batches, task % batches);
        let found = self.shared.kept_or(task, || self.find(part, batch))?;
        self.found
            .send(batch % self.owners, task as u64, found.text)?;
        Ok(Vec::new())
    }

    fn find(&self, part: usize, batch: usize) -> Result<Found, SearchError> {
        let shared = self.shared;
        let mut worker = self.worker();
        let part = worker.part(part, shared)?;
        let of_part = (&part.subjects, Some(&part.indexes));
        let (queries, quiet) = (shared.batches[batch].clone(), shared.progress.of_part());
        parts::find(shared.prepared, of_part, queries, &quiet)
    }

    fn worker(&self) -> MutexGuard<'_, Worker<'g>> {
        self.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lays aside what all find for the batches of this process: so many texts.
    fn take(&self, texts: usize, aside: &Mutex<Aside>) -> Result<(), SearchError> {
        let mut left = texts;
        while left > 0 && !self.over.load(Relaxed) {
            let Some((task, text)) = self.found.receive()? else {
                thread::sleep(PAUSE);
                continue;
            };
            let mut aside = aside.lock().unwrap_or_else(PoisonError::into_inner);
            aside.append(task as usize, text)?;
            left -= 1;
        }
        Ok(())
    }
}

impl Shared<'_> {
    /// The batches that a process merges, where so many do.
    fn own_batches(&self, rank: usize, owners: usize) -> Vec<usize> {
        let batches = 0..self.batches.len();
        batches.filter(|batch| batch % owners == rank).collect()
    }

    /// The text of a batch.
    fn merge(&self, batch: usize, aside: &mut Aside) -> Result<(Vec<u8>, Summary), SearchError> {
        let (prepared, batches) = (self.prepared, self.batches.len());
        let tasks = (0..prepared.database.parts()).map(|part| part * batches + batch);
        let mut merging = Merging {
            prepared,
            waiting: self.waiting,
            readers: tasks.map(|task| aside.take(task)).collect(),
            summary: prepared.summary(self.batches[batch].len()),
        };
        let mut text = Vec::new();
        for query in self.batches[batch].clone() {
            self.progress.go_on()?;
            merging.give::<SearchError>(query, &mut |answer| {
                // Writing to memory cannot fail, but some reports tell of the whole database.
                let told = self.report.answer(&mut text, answer);
                told.map_err(SearchError::Reread)
            })?;
        }
        Ok((text, merging.summary))
    }
}
