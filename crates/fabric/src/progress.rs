//! How far a run is, and whether it should stop.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Shared by the threads that work (they add once per batch) and the one that shows or stops them.
#[derive(Debug, Default)]
pub struct Progress {
    stages: Mutex<Vec<(&'static str, Instant)>>,
    total: AtomicU64,
    done: AtomicU64,
    cancelled: AtomicBool,
}

/// A finished or running stage and how long it took (so far).
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// What was done, as a verb: "read", "count".
    pub name: &'static str,
    /// Wall time.
    pub time: Duration,
}

impl Progress {
    /// Begins a stage of `total` units (bytes or partitions; 0 when unknown).
    pub fn start(&self, stage: &'static str, total: u64) {
        tracing::info!(target: "gyrase::trace", stage);
        self.stages.lock().expect("no thread panics while it holds the stages").push((stage, Instant::now()));
        self.done.store(0, Relaxed);
        self.total.store(total, Relaxed);
    }

    /// Adds finished units to the stage.
    pub fn advance(&self, units: u64) {
        self.done.fetch_add(units, Relaxed);
    }

    /// The stage that runs, its finished units and all its units.
    pub fn now(&self) -> (&'static str, u64, u64) {
        let stages = self.stages.lock().expect("no thread panics while it holds the stages");
        let name = stages.last().map_or("", |stage| stage.0);
        (name, self.done.load(Relaxed), self.total.load(Relaxed))
    }

    /// Every stage so far, in order.
    pub fn stages(&self) -> Vec<Stage> {
        let stages = self.stages.lock().expect("no thread panics while it holds the stages");
        let ends = stages.iter().skip(1).map(|stage| stage.1).chain([Instant::now()]);
        stages.iter().zip(ends).map(|(&(name, start), end)| Stage { name, time: end - start }).collect()
    }

    /// Asks every thread to stop at its next batch.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// True once [`Progress::cancel`] was called: return an error and clean up.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }
}
