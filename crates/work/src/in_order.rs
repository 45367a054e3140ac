//! Tasks through many threads and out again in their order.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tracing::info_span;

use crate::in_parallel::spawn_worker;
use crate::{Cancelled, Progress};

/// Results on their way to the thread that called.
const ON_THE_WAY: usize = 4;

/// What threads do at the same time before each asks for a task.
pub type Fetching = Arc<dyn Fn() + Send + Sync>;

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
    fn fetching(&self) -> Option<Fetching> {
        None
    }
}

/// What was made of tasks, until those before them are done.
struct Held<R> {
    state: Mutex<Waiting<R>>,
    changed: Condvar,
    /// How many may wait.
    most: usize,
}

struct Waiting<R> {
    /// The task that is passed on next, counted from 0.
    next: usize,
    made: BTreeMap<usize, R>,
    /// Nothing is passed on any more.
    failed: bool,
}

impl<R> Held<R> {
    fn new(most: usize) -> Held<R> {
        let state = Waiting {
            next: 0,
            made: BTreeMap::new(),
            failed: false,
        };
        Held {
            state: Mutex::new(state),
            changed: Condvar::new(),
            most,
        }
    }

    /// Passes on what was made of a task and of those that waited for it, or holds it; waits while
    /// too many are held. False when the run has failed.
    fn pass(&self, task: usize, made: R, on: &SyncSender<R>) -> bool {
        let _wait = info_span!(target: "gyrase::trace", "wait", at = "turn").entered();
        let mut state = self.lock();
        state.made.insert(task, made);
        loop {
            let next = state.next;
            let Some(made) = state.made.remove(&next).filter(|_| !state.failed) else {
                break;
            };
            state.next += 1;
            state.failed = on.send(made).is_err();
        }
        self.changed.notify_all();
        let too_many = |state: &mut Waiting<R>| state.made.len() >= self.most && !state.failed;
        let state = self.changed.wait_while(state, too_many);
        !state.unwrap_or_else(PoisonError::into_inner).failed
    }

    /// Wakes all that wait: nothing is passed on any more.
    fn fail(&self) {
        self.lock().failed = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
    emit: impl FnMut(&F::Task, R) -> Result<(), E>,
) -> Result<(), E> {
    let fetching = feed.fetching();
    let shared = Mutex::new(Shared {
        feed,
        taken: 0,
        ended: false,
        spare: Vec::new(),
    });
    let held = Held::new(threads.max(1));
    let (results, received) = sync_channel(ON_THE_WAY);
    // Whoever is stopped is stopped by somebody with an error of his own.
    let lane = |results: SyncSender<(F::Task, R)>| -> Result<(), F::Error> {
        let guard = Guard(&held);
        let mut state = start();
        let ask = || {
            fetching.iter().for_each(|fetch| fetch());
            take(&shared, progress)
        };
        while let Some((number, task)) = ask()? {
            let made =
                info_span!(target: "gyrase::trace", "answer").in_scope(|| work(&mut state, &task));
            if !held.pass(number, (task, made), &results) {
                return Ok(());
            }
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
        let mut outcome = emit_all(received, &shared, emit);
        // Nobody receives any more, so that no thread is stopped with what is held in its hands.
        if outcome.is_err() {
            held.fail();
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

/// Emits what comes, and keeps the tasks to be filled again.
fn emit_all<F: Feed, R, E>(
    received: Receiver<(F::Task, R)>,
    shared: &Mutex<Shared<F>>,
    mut emit: impl FnMut(&F::Task, R) -> Result<(), E>,
) -> Result<(), E> {
    for (task, made) in received {
        emit(&task, made)?;
        lock(shared).spare.push(task);
    }
    Ok(())
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

fn lock<F: Feed>(shared: &Mutex<Shared<F>>) -> MutexGuard<'_, Shared<F>> {
    shared.lock().expect("no thread panics while it reads")
}

/// Wakes the others when a thread leaves early, be it by an error or by a panic.
struct Guard<'a, R>(&'a Held<R>);

impl<R> Drop for Guard<'_, R> {
    fn drop(&mut self) {
        self.0.fail();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    /// The numbers up to one.
    struct Numbers(usize, usize);

    impl Feed for Numbers {
        type Task = usize;
        type Error = Cancelled;

        fn next(&mut self, task: &mut usize) -> Result<bool, Cancelled> {
            *task = self.0;
            self.0 += 1;
            Ok(*task < self.1)
        }
    }

    #[test]
    fn a_thread_goes_on_while_a_task_before_its_own_takes_long() {
        for threads in [2, 3, 8] {
            let (done, awaited) = channel();
            let awaited = Mutex::new(awaited);
            let mut emitted = Vec::new();
            let work = |_: &mut (), &task: &usize| match task {
                // Long enough for the others to fill what is held.
                0 => awaited
                    .lock()
                    .unwrap()
                    .recv_timeout(Duration::from_secs(60))
                    .is_ok(),
                _ if task == threads => done.send(()).is_ok(),
                _ => true,
            };
            let progress = Progress::default();
            let emit = |&task: &usize, made| {
                emitted.push((task, made));
                Ok::<_, Cancelled>(())
            };
            in_order(threads, Numbers(0, 50), &progress, || (), work, emit).unwrap();
            assert!(
                emitted.into_iter().eq((0..50).map(|task| (task, true))),
                "{threads}"
            );
        }
    }

    #[test]
    fn what_fails_ends_all() {
        let progress = Progress::default();
        let mut last = 0;
        let failed = in_order(
            3,
            Numbers(0, 500),
            &progress,
            || (),
            |(), _| (),
            |&task, ()| {
                last = task;
                if task == 70 { Err(Cancelled) } else { Ok(()) }
            },
        );
        assert!(failed.is_err());
        assert_eq!(last, 70);
    }
}
