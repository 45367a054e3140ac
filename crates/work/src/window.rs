//! What many threads made of tasks, until it is passed on in their order.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tracing::info_span;

/// Results of some neighbouring tasks, the first of which is passed on next.
pub(crate) struct Window<R> {
    now: Mutex<Now<R>>,
    /// There is room for one more, or none is to come.
    room: Condvar,
    /// The next one is there, or none is to come.
    next: Condvar,
}

struct Now<R> {
    /// Tasks for which there was room, and those that were passed on.
    reserved: usize,
    passed: usize,
    /// What was made of tasks that are not passed on, by their numbers modulo the length.
    made: Vec<Option<R>>,
    /// How many tasks there are, once that is known.
    end: Option<usize>,
    /// Nothing is passed on any more.
    stopped: bool,
}

impl<R> Window<R> {
    /// A window of so many tasks, at least 1.
    pub fn new(length: usize) -> Window<R> {
        Window {
            now: Mutex::new(Now {
                reserved: 0,
                passed: 0,
                made: (0..length.max(1)).map(|_| None).collect(),
                end: None,
                stopped: false,
            }),
            room: Condvar::new(),
            next: Condvar::new(),
        }
    }

    /// Waits until there is room for one more task; false when none is to come.
    pub fn reserve(&self) -> bool {
        let _wait = info_span!(target: "gyrase::trace", "wait", at = "turn").entered();
        let is_full = |now: &Now<R>| now.reserved - now.passed >= now.made.len();
        let waits = |now: &Now<R>| !now.stopped && now.end.is_none() && is_full(now);
        let mut now = self.wait_while(&self.room, waits);
        now.reserved += 1;
        !now.stopped && now.end.is_none()
    }

    /// Leaves what was made of a task for which there was room.
    pub fn put(&self, task: usize, made: R) {
        let mut now = self.lock();
        let place = task % now.made.len();
        now.made[place] = Some(made);
        if now.passed == task {
            self.next.notify_one();
        }
    }

    /// Waits for what was made of the next task, and makes room; none behind the last one, or where
    /// a thread has stopped all before.
    pub fn pass(&self) -> Option<R> {
        let place = |now: &Now<R>| now.passed % now.made.len();
        let ended = |now: &Now<R>| now.stopped || now.end == Some(now.passed);
        let waits = |now: &Now<R>| !ended(now) && now.made[place(now)].is_none();
        let mut now = self.wait_while(&self.next, waits);
        let place = place(&now);
        let made = now.made[place].take()?;
        now.passed += 1;
        drop(now);
        // Who is woken in vain would take the lock from who passes on.
        self.room.notify_one();
        Some(made)
    }

    /// Says how many tasks there are.
    pub fn end(&self, tasks: usize) {
        self.lock().end = Some(tasks);
        self.wake_all();
    }

    /// Wakes all that wait: nothing more is made.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.wake_all();
    }

    fn wake_all(&self) {
        self.room.notify_all();
        self.next.notify_all();
    }

    fn wait_while(
        &self,
        changed: &Condvar,
        condition: impl Fn(&Now<R>) -> bool,
    ) -> MutexGuard<'_, Now<R>> {
        let now = changed.wait_while(self.lock(), |now| condition(&*now));
        now.unwrap_or_else(PoisonError::into_inner)
    }

    // No thread panics while it holds the lock, but the last may go where another panicked.
    fn lock(&self) -> MutexGuard<'_, Now<R>> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops all when it goes: a thread leaves early, be it by an error or by a panic, or nothing is
/// left.
pub(crate) struct Stops<'w, R>(pub &'w Window<R>);

impl<R> Drop for Stops<'_, R> {
    fn drop(&mut self) {
        self.0.stop();
    }
}
