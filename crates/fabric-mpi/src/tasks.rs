//! What the threads of a process ask of the one that calls MPI, and how they get their answers.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use gyrase_fabric::{Exchange, FabricError};
use gyrase_work::Progress;

use crate::counters::Counting;
use crate::heartbeat::Failed;
use crate::messages::{Inbox, Outgoing};
use crate::shim::{Fetch, Reduce};

/// How often a thread that waits for an answer looks whether there will be one.
const LOOK: Duration = Duration::from_millis(50);

/// Where the answer goes. Dropped when there will be none.
pub(crate) type Reply<T> = SyncSender<T>;

/// Something to be done by the thread that calls MPI.
pub(crate) enum Task {
    /// Collective: one number of everybody's, place by place.
    Reduce(Reduce, Vec<u64>, Reply<Vec<u64>>),
    /// Collective: everybody's number to rank 0.
    Sizes(u64, Reply<Vec<u64>>),
    /// Collective: everybody's bytes to rank 0, which knows how many each gives.
    Gather(Vec<u8>, Vec<u64>, Reply<Vec<u8>>),
    /// Collective: so many of the bytes to everybody, one piece behind the other.
    Bytes(Vec<u8>, usize, Reply<Vec<u8>>),
    /// Collective: so many numbers in each process that all can use; which window it is.
    Window(usize, Reply<usize>),
    /// This process does not use a window any more.
    Leave(usize),
    /// A number of a window, changed.
    Fetch {
        window: usize,
        what: Fetch,
        place: (usize, usize),
        number: u64,
        reply: Reply<u64>,
    },
    /// A number of a window, replaced if it is as expected.
    Swap {
        window: usize,
        place: (usize, usize),
        expected: u64,
        new: u64,
        reply: Reply<u64>,
    },
    /// A message to another process.
    Send(Outgoing),
    /// What the workers of this process send to others, to be stepped until it is over.
    Exchange(Box<Exchange>),
}

/// How far this process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    /// It works.
    Working,
    /// It has done its part and waits for the others.
    Left,
    /// It failed by itself, with this exit code; or somebody asked it to stop.
    Failed { code: u8, stopped: bool },
    /// One failed, as all know, and this process has no more to say.
    Done,
}

/// What is done when a process does not come to its end: it cleans up and exits with the code.
pub(crate) type Stuck = Box<dyn FnOnce(u8) + Send>;

/// Whom the thread that calls MPI heeds.
#[derive(Default)]
pub(crate) struct Heed {
    /// Whether the run is to stop.
    pub(crate) progress: Option<Arc<Progress>>,
    /// What is done when it does not.
    pub(crate) stuck: Option<Stuck>,
}

/// Between the threads of a process and the one that calls MPI.
pub(crate) struct Shared {
    state: Mutex<State>,
    bell: Condvar,
    /// Messages that came.
    pub(crate) inbox: Inbox,
    /// What was done.
    pub(crate) counting: Arc<Counting>,
}

struct State {
    tasks: Vec<Task>,
    /// Somebody rang since the last look.
    rung: bool,
    own: Own,
    since: Instant,
    /// Why nothing is answered any more.
    over: Option<FabricError>,
    /// Who failed, as all know.
    known: Option<Failed>,
    /// This process found a rank silent.
    found_silent: bool,
    heed: Heed,
}

impl Shared {
    /// Nothing asked yet.
    pub(crate) fn new() -> Shared {
        let state = State {
            tasks: Vec::new(),
            rung: false,
            own: Own::Working,
            since: Instant::now(),
            over: None,
            known: None,
            found_silent: false,
            heed: Heed::default(),
        };
        Shared {
            state: Mutex::new(state),
            bell: Condvar::new(),
            inbox: Inbox::default(),
            counting: Arc::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("no thread panics while it holds the tasks")
    }

    /// Hands a task over.
    pub(crate) fn give(&self, task: Task) -> Result<(), FabricError> {
        let mut state = self.state();
        if let Some(why) = &state.over {
            return Err(why.clone());
        }
        state.tasks.push(task);
        drop(state);
        self.bell.notify_one();
        Ok(())
    }

    /// Hands a task over and waits for its answer.
    pub(crate) fn ask<T>(&self, task: impl FnOnce(Reply<T>) -> Task) -> Result<T, FabricError> {
        let (reply, answer) = sync_channel(1);
        self.give(task(reply))?;
        self.wait(&answer)
    }

    fn wait<T>(&self, answer: &Receiver<T>) -> Result<T, FabricError> {
        loop {
            match answer.recv_timeout(LOOK) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Timeout) if self.goes_on().is_ok() => {}
                Err(_) => return Err(self.error()),
            }
        }
    }

    /// What callers get when there will be no answer.
    pub(crate) fn error(&self) -> FabricError {
        self.state().over.clone().unwrap_or(FabricError::Elsewhere)
    }

    /// Refuses when there will be no answers any more, or nobody is to wait for them.
    pub(crate) fn goes_on(&self) -> Result<(), FabricError> {
        if self.is_cancelled() {
            return Err(FabricError::Elsewhere);
        }
        self.state().over.clone().map_or(Ok(()), Err)
    }

    /// Lets the thread that calls MPI look again at once.
    pub(crate) fn ring(&self) {
        self.state().rung = true;
        self.bell.notify_one();
    }

    /// The tasks so far; sleeps up to `pause` while there are none.
    pub(crate) fn take(&self, pause: Duration) -> Vec<Task> {
        let mut state = self.state();
        let asked = std::mem::take(&mut state.rung) || !state.tasks.is_empty();
        if !asked && !pause.is_zero() {
            state = self
                .bell
                .wait_timeout(state, pause)
                .expect("no thread panics while it holds the tasks")
                .0;
        }
        std::mem::take(&mut state.tasks)
    }

    /// Nothing is answered any more, for the first reason given.
    pub(crate) fn over(&self, why: FabricError) {
        let mut state = self.state();
        state.over.get_or_insert(why);
        state.tasks.clear();
    }

    /// One failed, and all know it.
    pub(crate) fn all_know(&self, failed: Failed) {
        let mut state = self.state();
        state.known = Some(failed);
        // Threads that count, or read, wait for nobody: this is where they hear of it.
        state
            .heed
            .progress
            .iter()
            .for_each(|progress| progress.cancel());
        drop(state);
        self.over(FabricError::Elsewhere);
    }

    /// A rank is silent, as `failed` found, which may be this process.
    pub(crate) fn silent(&self, failed: Failed, by_this: bool) {
        self.state().found_silent = by_this;
        self.all_know(failed);
    }

    /// Whether this process found a rank silent.
    pub(crate) fn found_silent(&self) -> bool {
        self.state().found_silent
    }

    /// Who failed, if all know it.
    pub(crate) fn known(&self) -> Option<Failed> {
        self.state().known
    }

    /// How far this process is, and since when.
    pub(crate) fn own(&self) -> (Own, Instant) {
        let state = self.state();
        (state.own, state.since)
    }

    /// This process ends.
    pub(crate) fn leave(&self, own: Own) {
        let mut state = self.state();
        (state.own, state.since) = (own, Instant::now());
        drop(state);
        self.bell.notify_one();
    }

    /// Settles whom to heed.
    pub(crate) fn heed(&self, heed: Heed) {
        self.state().heed = heed;
    }

    /// Whether the run is to stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.state()
            .heed
            .progress
            .as_ref()
            .is_some_and(|progress| progress.is_cancelled())
    }

    /// What is done when this process does not come to its end; given out once.
    pub(crate) fn stuck(&self) -> Option<Stuck> {
        self.state().heed.stuck.take()
    }
}
