//! A thread that only sleeps, and notes when the whole process was kept from running.
//!
//! Whatever the other threads do, this one has nothing to wait for: when it wakes late, no core was
//! given to it, or somebody stopped the process.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use super::lane::{Event, Lane};
use super::machine::{RunQueue, Throttling, process_cpu};
use super::{Shared, Tracer};

/// How long it sleeps.
const TICK: Duration = Duration::from_millis(10);
/// So many nanoseconds late are worth a note.
const LATE: u64 = 20_000_000;

/// What a late awakening is called in a trace.
pub const GAP: &str = "gap";
/// Somebody stopped the process.
pub const STOPPED: &str = "stopped";
/// It was ready and other work had the cores.
pub const QUEUED: &str = "queued";
/// A control group had used up its share of the cores.
pub const THROTTLED: &str = "throttled";

/// Watches until the tracer is gone.
pub fn start(tracer: &Tracer) {
    let (shared, lane) = (
        Arc::downgrade(&tracer.0),
        Arc::new(Lane::new("watch".into())),
    );
    tracer.lock_lanes().push(Arc::clone(&lane));
    // Without it the trace has no gaps; the run goes on.
    let _ = thread::Builder::new()
        .name("watch".into())
        .spawn(move || watch(&shared, &lane));
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
        before = after;
    }
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
    fn a_gap_has_one_cause() {
        assert_eq!(why(100, 0, 0), STOPPED);
        assert_eq!(why(100, 90, 10), QUEUED);
        // A throttled thread is ready, too.
        assert_eq!(why(100, 90, 200), THROTTLED);
    }
}
