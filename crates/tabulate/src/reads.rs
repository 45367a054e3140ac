//! Batches of reads through many threads and out again in the order of their files: the road of what answers for every read.

use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex};

use gyrase_fabric::Progress;
use gyrase_fastx::{Options, PairedReader, Reader};
use gyrase_seq::Batch;

use crate::TabulateError;

/// Results on their way to the thread that called.
const ON_THE_WAY: usize = 4;

/// Reads or pairs of reads in the order of their files.
pub enum Source {
    /// Single reads.
    Single(Box<Reader>),
    /// Pairs.
    Paired(Box<PairedReader>),
}

impl Source {
    /// Reads are whole, so that what is known of a read is known at once.
    pub fn options() -> Options {
        Options { whole_records: true, ..Options::default() }
    }

    /// Fills the batch, or those of first and second mates; false when there is no more.
    fn next(&mut self, batches: &mut [Batch; 2]) -> Result<bool, gyrase_fastx::Error> {
        let [first, second] = batches;
        match self {
            Source::Single(reader) => reader.next_batch(first),
            Source::Paired(reader) => reader.next_batches(first, second),
        }
    }
}

/// Whose turn it is to pass something on: the task of that number, counted from 0.
#[derive(Debug, Default)]
pub struct Turn {
    /// The task, and whether the run has failed.
    now: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl Turn {
    /// Waits for the turn of `task`; false when the run has failed.
    pub fn wait(&self, task: usize) -> bool {
        let now = self.now.lock().expect("no thread panics while it holds the turn");
        let now = self.changed.wait_while(now, |now| now.0 != task && !now.1);
        !now.expect("no thread panics while it holds the turn").1
    }

    /// Gives the turn to the next task.
    pub fn pass(&self) {
        self.now.lock().expect("no thread panics while it holds the turn").0 += 1;
        self.changed.notify_all();
    }

    /// Wakes all that wait: nobody gets a turn any more.
    pub fn fail(&self) {
        self.now.lock().expect("no thread panics while it holds the turn").1 = true;
        self.changed.notify_all();
    }
}

/// What the threads share: where batches come from, how many came, and whether more may.
struct Shared {
    source: Source,
    taken: usize,
    ended: bool,
    spare: Vec<[Batch; 2]>,
}

/// Reads batches, lets `threads` threads make something of each (with a state from `start`), and calls `emit` with the
/// batches and what was made of them, on the calling thread, in the order of the files.
///
/// # Errors
/// The reads cannot be read, somebody cancelled, or the first error of `emit`.
pub fn in_order<S, R: Send, E: From<TabulateError>>(
    threads: usize,
    source: Source,
    progress: &Progress,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &[Batch; 2]) -> R + Sync,
    mut emit: impl FnMut(&[Batch; 2], R) -> Result<(), E>,
) -> Result<(), E> {
    let shared = Mutex::new(Shared { source, taken: 0, ended: false, spare: Vec::new() });
    let turn = Turn::default();
    let (results, received) = sync_channel(ON_THE_WAY);
    // Whoever is stopped is stopped by somebody with an error of his own.
    let lane = |results: std::sync::mpsc::SyncSender<([Batch; 2], R)>| -> Result<(), TabulateError> {
        let guard = Guard(&turn);
        let mut state = start();
        while let Some((number, batches)) = take(&shared, progress)? {
            let made = work(&mut state, &batches);
            if !turn.wait(number) || results.send((batches, made)).is_err() {
                return Ok(());
            }
            turn.pass();
        }
        std::mem::forget(guard);
        Ok(())
    };
    std::thread::scope(|scope| {
        let lane = &lane;
        let lanes: Vec<_> = (0..threads.max(1))
            .map(|_| {
                let results = results.clone();
                scope.spawn(move || lane(results))
            })
            .collect();
        drop(results);
        let mut outcome = Ok(());
        for (batches, made) in received {
            outcome = emit(&batches, made);
            if outcome.is_err() {
                turn.fail();
                break;
            }
            lock(&shared).spare.push(batches);
        }
        for lane in lanes {
            let done = lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            outcome = outcome.and(done.map_err(E::from));
        }
        outcome
    })
}

/// The next batches and their number, or `None` at the end.
fn take(shared: &Mutex<Shared>, progress: &Progress) -> Result<Option<(usize, [Batch; 2])>, TabulateError> {
    let mut shared = lock(shared);
    if progress.is_cancelled() {
        shared.ended = true;
        return Err(TabulateError::Cancelled);
    }
    if shared.ended {
        return Ok(None);
    }
    let mut batches = shared.spare.pop().unwrap_or_default();
    // Until the batches are full: whoever comes after an error finds the end.
    shared.ended = true;
    if !shared.source.next(&mut batches)? {
        return Ok(None);
    }
    shared.ended = false;
    shared.taken += 1;
    Ok(Some((shared.taken - 1, batches)))
}

fn lock(shared: &Mutex<Shared>) -> std::sync::MutexGuard<'_, Shared> {
    shared.lock().expect("no thread panics while it reads")
}

/// Wakes the others when a thread leaves early, be it by an error or by a panic.
struct Guard<'a>(&'a Turn);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.fail();
    }
}
