//! Tasks through many threads and out again in their order.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex};

use tracing::info_span;

use crate::in_parallel::spawn_worker;
use crate::{Cancelled, Progress};

/// Results on their way to the thread that called.
const ON_THE_WAY: usize = 4;

/// What threads do at the same time before each asks for a task.
pub type Ahead = Arc<dyn Fn() + Send + Sync>;

/// What gives tasks, one after the other.
pub trait Feed: Send {
    /// A task. Tasks that are done are filled again.
    type Task: Default + Send;
    /// Why there is none.
    type Error: From<Cancelled> + Send;

    /// Fills a task; false when there is no more.
    ///
    /// # Errors
    /// What it is made of cannot be read.
    fn next(&mut self, task: &mut Self::Task) -> Result<bool, Self::Error>;

    /// What threads may do for tasks ahead of [`Feed::next`], which only one is in at a time, such
    /// as reading their text.
    fn ahead(&self) -> Option<Ahead> {
        None
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
        let _wait = info_span!(target: "gyrase::trace", "wait", at = "turn").entered();
        let now = self
            .now
            .lock()
            .expect("no thread panics while it holds the turn");
        let now = self.changed.wait_while(now, |now| now.0 != task && !now.1);
        !now.expect("no thread panics while it holds the turn").1
    }

    /// Gives the turn to the next task.
    pub fn pass(&self) {
        self.now
            .lock()
            .expect("no thread panics while it holds the turn")
            .0 += 1;
        self.changed.notify_all();
    }

    /// Wakes all that wait: nobody gets a turn any more.
    pub fn fail(&self) {
        self.now
            .lock()
            .expect("no thread panics while it holds the turn")
            .1 = true;
        self.changed.notify_all();
    }
}

/// What the threads share: where tasks come from, how many came, and whether more may.
struct Shared<F: Feed> {
    feed: F,
    taken: usize,
    ended: bool,
    spare: Vec<F::Task>,
}

/// Takes tasks, batches of reads mostly, lets `threads` threads make something of each (with a
/// state from `start`), and calls `emit` with the tasks and what was made of them, on the calling
/// thread, in the order of the tasks.
///
/// # Errors
/// The reads cannot be read, somebody cancelled, or the first error of `emit`.
pub fn in_order<F: Feed, S, R: Send, E: From<F::Error>>(
    threads: usize,
    feed: F,
    progress: &Progress,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &F::Task) -> R + Sync,
    mut emit: impl FnMut(&F::Task, R) -> Result<(), E>,
) -> Result<(), E> {
    let ahead = feed.ahead();
    let shared = Mutex::new(Shared {
        feed,
        taken: 0,
        ended: false,
        spare: Vec::new(),
    });
    let turn = Turn::default();
    let (results, received) = sync_channel(ON_THE_WAY);
    // Whoever is stopped is stopped by somebody with an error of his own.
    let lane = |results: std::sync::mpsc::SyncSender<(F::Task, R)>| -> Result<(), F::Error> {
        let guard = Guard(&turn);
        let mut state = start();
        let ask = || {
            ahead.iter().for_each(|ahead| ahead());
            take(&shared, progress)
        };
        while let Some((number, task)) = ask()? {
            let made =
                info_span!(target: "gyrase::trace", "answer").in_scope(|| work(&mut state, &task));
            if !turn.wait(number) || results.send((task, made)).is_err() {
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
            .map(|number| {
                let results = results.clone();
                spawn_worker(scope, number, move || lane(results))
            })
            .collect();
        drop(results);
        let mut outcome = Ok(());
        for (task, made) in received {
            outcome = emit(&task, made);
            if outcome.is_err() {
                turn.fail();
                break;
            }
            lock(&shared).spare.push(task);
        }
        for lane in lanes {
            let done = lane
                .expect("the system has threads to give")
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            outcome = outcome.and(done.map_err(E::from));
        }
        outcome
    })
}

/// The next task and its number, or `None` at the end.
fn take<F: Feed>(
    shared: &Mutex<Shared<F>>,
    progress: &Progress,
) -> Result<Option<(usize, F::Task)>, F::Error> {
    let wait = info_span!(target: "gyrase::trace", "wait", at = "turn").entered();
    let mut shared = lock(shared);
    drop(wait);
    if progress.is_cancelled() {
        shared.ended = true;
        return Err(Cancelled.into());
    }
    if shared.ended {
        return Ok(None);
    }
    let mut task = shared.spare.pop().unwrap_or_default();
    // Until the task is full: whoever comes after an error finds the end.
    shared.ended = true;
    if !shared.feed.next(&mut task)? {
        return Ok(None);
    }
    shared.ended = false;
    shared.taken += 1;
    Ok(Some((shared.taken - 1, task)))
}

fn lock<F: Feed>(shared: &Mutex<Shared<F>>) -> std::sync::MutexGuard<'_, Shared<F>> {
    shared.lock().expect("no thread panics while it reads")
}

/// Wakes the others when a thread leaves early, be it by an error or by a panic.
struct Guard<'a>(&'a Turn);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.fail();
    }
}
