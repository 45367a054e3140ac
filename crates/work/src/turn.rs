//! Threads that pass something on one after the other, in the order of their tasks.

use std::sync::{Condvar, Mutex};

use tracing::info_span;

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
