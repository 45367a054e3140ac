//! How far a run is, and whether it should stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::machine::peak_memory;

/// Shared by the threads that work (they add once per batch) and the one that shows or stops them.
#[derive(Debug, Default)]
pub struct Progress {
    stages: Mutex<Vec<(&'static str, Mark)>>,
    total: AtomicU64,
    done: AtomicU64,
    reads: AtomicU64,
    sample: Mutex<String>,
    things: Mutex<&'static str>,
    cancelled: Arc<AtomicBool>,
}

/// Somebody called [`Progress::cancel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// A finished or running stage and what it took (so far).
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// What was done, as a verb: "read", "count".
    pub name: &'static str,
    /// Wall time.
    pub time: Duration,
    /// [`peak_memory`] at its end.
    pub peak_memory: u64,
}

/// What is noted between two stages.
#[derive(Clone, Copy, Debug)]
struct Mark {
    time: Instant,
    peak_memory: u64,
}

impl Mark {
    fn now() -> Mark {
        Mark {
            time: Instant::now(),
            peak_memory: peak_memory(),
        }
    }
}

impl Progress {
    /// For a part of a stage: what it has of stages is nobody's business. Whoever cancels one
    /// cancels both.
    pub fn of_part(&self) -> Progress {
        Progress {
            cancelled: Arc::clone(&self.cancelled),
            ..Progress::default()
        }
    }

    /// Begins a stage of `total` units (bytes or partitions; 0 when unknown).
    pub fn start(&self, stage: &'static str, total: u64) {
        self.start_counting(stage, total, "");
    }

    /// Begins a stage of `total` units that tell people something: `things`, such as "queries".
    pub fn start_counting(&self, stage: &'static str, total: u64, things: &'static str) {
        tracing::info!(target: "gyrase::trace", stage);
        let mut stages = self
            .stages
            .lock()
            .expect("no thread panics while it holds the stages");
        stages.push((stage, Mark::now()));
        // Before anybody can look: the units of the stage before are none of this one.
        self.done.store(0, Relaxed);
        self.reads.store(0, Relaxed);
        self.total.store(total, Relaxed);
        *self.locked_things() = things;
    }

    /// What the units of the stage are; empty where that tells people nothing.
    pub fn things(&self) -> &'static str {
        *self.locked_things()
    }

    fn locked_things(&self) -> MutexGuard<'_, &'static str> {
        self.things
            .lock()
            .expect("no thread panics while it holds the name of units")
    }

    /// Adds finished units to the stage.
    pub fn advance(&self, units: u64) {
        self.done.fetch_add(units, Relaxed);
    }

    /// Adds reads that the stage is done with, each mate one.
    pub fn add_reads(&self, reads: u64) {
        self.reads.fetch_add(reads, Relaxed);
    }

    /// Reads that the stage is done with; 0 where it counts none.
    pub fn reads(&self) -> u64 {
        self.reads.load(Relaxed)
    }

    /// Says which sample of several the stages from now on are of.
    pub fn begin_sample(&self, name: &str, number: usize, all: usize) {
        *self.locked_sample() = format!("{name} ({number} of {all})");
    }

    /// The sample, as `name (3 of 7)`; empty where there is one only.
    pub fn sample(&self) -> String {
        self.locked_sample().clone()
    }

    fn locked_sample(&self) -> MutexGuard<'_, String> {
        self.sample
            .lock()
            .expect("no thread panics while it holds the name of a sample")
    }

    /// The stage that runs, its finished units and all its units.
    pub fn now(&self) -> (&'static str, u64, u64) {
        let stages = self
            .stages
            .lock()
            .expect("no thread panics while it holds the stages");
        let name = stages.last().map_or("", |stage| stage.0);
        (name, self.done.load(Relaxed), self.total.load(Relaxed))
    }

    /// Every stage so far, in order.
    pub fn stages(&self) -> Vec<Stage> {
        let stages = self
            .stages
            .lock()
            .expect("no thread panics while it holds the stages");
        let ends = stages
            .iter()
            .skip(1)
            .map(|stage| stage.1)
            .chain([Mark::now()]);
        let stage = |(&(name, start), end): (&(_, Mark), Mark)| Stage {
            name,
            time: end.time - start.time,
            peak_memory: end.peak_memory,
        };
        stages.iter().zip(ends).map(stage).collect()
    }

    /// Asks every thread to stop at its next batch.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// An error once [`Progress::cancel`] was called: clean up and hand it on.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn go_on(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }

    /// True once [`Progress::cancel`] was called: return an error and clean up.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_stages_of_its_own_and_ends_with_the_whole() {
        let progress = Progress::default();
        progress.start("search", 10);
        let part = progress.of_part();
        part.start("match", 5);
        part.advance(3);
        assert_eq!(progress.now(), ("search", 0, 10));
        assert!(part.go_on().is_ok());
        progress.cancel();
        assert!(part.is_cancelled());
    }

    #[test]
    fn no_stage_has_a_higher_peak_than_one_after_it() {
        let progress = Progress::default();
        for stage in ["read", "count", "write"] {
            progress.start(stage, 0);
            std::hint::black_box(vec![1u8; 1 << 20]);
        }
        let peaks: Vec<u64> = progress
            .stages()
            .iter()
            .map(|stage| stage.peak_memory)
            .collect();
        assert!(
            peaks.len() == 3 && peaks.is_sorted() && peaks[2] <= peak_memory(),
            "{peaks:?}"
        );
    }
}
