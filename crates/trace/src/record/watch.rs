//! A thread that only sleeps, and notes when the whole process was kept from running.
//!
//! Whatever the other threads do, this one has nothing to wait for: when it wakes late, no core was
//! given to it, or somebody stopped the process.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use super::lane::{Event, Lane};
use super::machine::{LATE, RunQueue, Throttling, process_cpu};
use super::tracer::{Shared, Tracer};

/// How long it sleeps.
const TICK: Duration = Duration::from_millis(10);

/// What a late awakening is called in a trace.
pub const GAP: &str = "gap";
/// Somebody stopped the process.
pub const STOPPED: &str = "stopped";
/// It was ready and other work had the cores.
pub const QUEUED: &str = "queued";
/// A control group had used up its share of the cores.
pub const THROTTLED: &str = "throttled";

impl Tracer {
    /// Starts a thread that notes when this process was kept from running: stopped, throttled, or
    /// without a core.
    pub fn watch(&self) {
        let lane = Arc::new(Lane::new("watch".into()));
        self.lock_lanes().push(Arc::clone(&lane));
        let shared = Arc::downgrade(&self.0);
        // Without it the trace has no gaps; the run goes on.
        let _ = thread::Builder::new()
            .name("watch".into())
            .spawn(move || watch(&shared, &lane));
    }
}

#[derive(Clone, Copy)]
struct Reading {
    now: u64,
    cpu: u64,
    queued: u64,
}

impl Reading {
    fn new(shared: &Shared, queue: &RunQueue) -> Reading {
        Reading {
            now: shared.now(),
            cpu: process_cpu(),
            queued: queue.waited(),
        }
    }
}

fn watch(shared: &Weak<Shared>, lane: &Lane) {
    let (queue, throttling) = (RunQueue::of_this_thread(), Throttling::of_this_process());
    let mut throttled = throttling.so_far();
    let Some(mut before) = shared.upgrade().map(|of| Reading::new(&of, &queue)) else {
        return;
    };
    let mut exchange = Reading {
        queued: 0,
        ..before
    };
    loop {
        thread::sleep(TICK);
        let Some(shared) = shared.upgrade() else {
            return;
        };
        let after = Reading::new(&shared, &queue);
        let start = before.now + TICK.as_nanos() as u64;
        let late = after.now.saturating_sub(start);
        if late >= LATE {
            let before_it = std::mem::replace(&mut throttled, throttling.so_far());
            let why = why(late, after.queued - before.queued, throttled - before_it);
            let event = Event {
                name: GAP,
                start,
                time: late,
                own: late,
                cpu: after.cpu - before.cpu,
                beside: true,
                ..shared.event()
            };
            lane.add(event, why, "", shared.room());
        }
        note_exchange(&shared, after, &mut exchange);
        before = after;
    }
}

/// Notes when the thread that calls MPI had no core since `before`, because of other processes.
fn note_exchange(shared: &Shared, now: Reading, before: &mut Reading) {
    let Some((queue, lane)) = shared.exchanging.get() else {
        return;
    };
    let now = Reading {
        queued: queue.waited(),
        ..now
    };
    let queued = now.queued.saturating_sub(before.queued);
    if queued < LATE {
        return;
    }
    let time = now.now - before.now;
    let event = Event {
        name: GAP,
        start: before.now,
        time,
        own: others_share(
            queued,
            now.cpu - before.cpu,
            time * shared.cores.len() as u64,
        ),
        queued,
        beside: true,
        ..shared.event()
    };
    *before = now;
    lane.add(event, QUEUED, "", shared.room());
}

/// Of the time for which a thread waited for a core, what it owes to other processes: of all time
/// of its cores its own process had `cpu`.
fn others_share(queued: u64, cpu: u64, cores: u64) -> u64 {
    let own = cpu as f64 / cores.max(1) as f64;
    (queued as f64 * (1.0 - own).max(0.0)) as u64
}

/// Why a thread that only sleeps was so late.
fn why(late: u64, queued: u64, throttled: u64) -> &'static str {
    if throttled >= late / 2 {
        THROTTLED
    } else if queued >= late / 2 {
        QUEUED
    } else {
        STOPPED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_that_the_process_has_itself_is_no_loss() {
        assert_eq!(others_share(80, 100, 100), 0);
        assert_eq!(others_share(80, 25, 100), 60);
        assert_eq!(others_share(80, 0, 0), 80);
    }

    #[test]
    fn a_gap_has_one_cause() {
        assert_eq!(why(100, 0, 0), STOPPED);
        assert_eq!(why(100, 90, 10), QUEUED);
        // A throttled thread is ready, too.
        assert_eq!(why(100, 90, 200), THROTTLED);
    }
}
