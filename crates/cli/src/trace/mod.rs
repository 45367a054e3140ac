//! `--trace`: what every thread did and when, gathered while it runs.
//!
//! The spans are those of target `gyrase::trace`, which the libraries open around batches and
//! waits. Every thread has a lane of its own, so that none waits for another, with room for a
//! bounded number of spans; where there are more, the shortest are folded into sums. A span is
//! opened and closed by one thread; one that is never entered was under way *beside* what the
//! thread did.

mod json;
mod lane;
mod write;

use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use gyrase_fabric_mpi::clock;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event as Message, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use lane::{Event, Lane};

pub use json::{FOLDED, VERSION};
pub use write::{START, write};

/// Spans of that target are traced.
pub const TARGET: &str = "gyrase::trace";

/// The most spans of a thread that are kept: 2 MiB, which the overhead of a thread that `--memory`
/// allows for has room for.
const ROOM: usize = 1 << 15;
/// About the most spans of a file: 300 MB, which viewers still open.
const ROOM_OF_ALL: usize = 1 << 21;
/// The fewest spans of a thread for which there is room however many threads there are.
const LEAST_ROOM: usize = 1 << 10;

/// Gathers spans. Clones gather together.
#[derive(Clone, Debug)]
pub struct Tracer(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    start: Instant,
    /// The same on the machine's monotonic clock, in nanoseconds: what processes compare.
    clock: i64,
    lanes: Mutex<Vec<Arc<Lane>>>,
    /// When each stage began, in nanoseconds.
    stages: Mutex<Vec<(String, u64)>>,
    stage: AtomicUsize,
    room: AtomicUsize,
}

impl Tracer {
    /// A tracer whose clock begins now.
    pub fn new() -> Tracer {
        Tracer(Arc::new(Shared {
            start: Instant::now(),
            clock: clock::now(),
            lanes: Mutex::default(),
            stages: Mutex::default(),
            stage: AtomicUsize::new(0),
            room: AtomicUsize::new(ROOM),
        }))
    }

    /// Says how many threads of how many processes there will be, so that the file of all does not
    /// get too large.
    pub fn expect_threads(&self, threads: usize) {
        self.0.room.store(
            (ROOM_OF_ALL / threads.max(1)).clamp(LEAST_ROOM, ROOM),
            Relaxed,
        );
    }

    fn now(&self) -> u64 {
        self.0.start.elapsed().as_nanos() as u64
    }

    /// The lane of the thread that calls.
    fn lane(&self) -> Arc<Lane> {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("helper");
        let mut lanes = self
            .0
            .lanes
            .lock()
            .expect("no thread panics while it holds the lanes");
        if let Some(lane) = lanes.iter().find(|lane| lane.take_over(name)) {
            return Arc::clone(lane);
        }
        let lane = Arc::new(Lane::new(name.to_string()));
        lanes.push(Arc::clone(&lane));
        lane
    }

    /// Does something with what the calling thread has open; its lane is found the first time.
    fn own<T>(&self, work: impl FnOnce(&mut Own) -> T) -> T {
        OWN.with_borrow_mut(|own| match own {
            Some(own) if Arc::ptr_eq(&own.of, &self.0) => work(own),
            _ => work(own.insert(Own {
                of: Arc::clone(&self.0),
                lane: self.lane(),
                open: Vec::new(),
            })),
        })
    }

    /// Ends a span; `beside` others if it was never entered.
    fn close(&self, id: &Id, beside: bool) {
        let now = self.now();
        self.own(|own| {
            let place = own
                .open
                .iter()
                .rposition(|open| open.id == id.into_u64() && open.entered != beside);
            let Some(open) = place.map(|place| own.open.remove(place)) else {
                return;
            };
            let time = now.saturating_sub(open.start);
            if let Some(outer) = own.open.iter_mut().rfind(|outer| outer.entered && !beside) {
                outer.inner += time;
            }
            let Fields {
                bytes,
                instance,
                at,
                call,
                ..
            } = open.fields;
            let (name, start, own_time, stage) = (
                open.name,
                open.start,
                time.saturating_sub(open.inner),
                open.stage,
            );
            let event = Event {
                name,
                start,
                time,
                own: own_time,
                bytes,
                instance,
                at: 0,
                call: 0,
                stage,
                beside,
            };
            own.lane
                .add(event, at.as_str(), call.as_str(), self.0.room.load(Relaxed));
        });
    }
}

thread_local! {
    static OWN: RefCell<Option<Own>> = const { RefCell::new(None) };
}

/// What a thread has.
struct Own {
    of: Arc<Shared>,
    lane: Arc<Lane>,
    /// Spans that it has not left, outermost first.
    open: Vec<Open>,
}

impl Drop for Own {
    fn drop(&mut self) {
        self.lane.free.store(true, Relaxed);
    }
}

/// A span that has not ended.
struct Open {
    id: u64,
    name: &'static str,
    start: u64,
    entered: bool,
    /// Time in spans within it.
    inner: u64,
    stage: u16,
    fields: Fields,
}

/// What a span says of itself.
#[derive(Default)]
struct Fields {
    bytes: Option<u64>,
    instance: Option<u64>,
    at: String,
    call: String,
    stage: String,
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "bytes" => self.bytes = Some(value),
            "instance" => self.instance = Some(value),
            _ => {}
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.record_u64(field, value.max(0) as u64);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "at" => self.at = value.into(),
            "call" => self.call = value.into(),
            "stage" => self.stage = value.into(),
            _ => {}
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}

impl<S: Subscriber> Layer<S> for Tracer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let (name, stage) = (
            attributes.metadata().name(),
            self.0.stage.load(Relaxed) as u16,
        );
        let open = Open {
            id: id.into_u64(),
            name,
            start: self.now(),
            entered: false,
            inner: 0,
            stage,
            fields,
        };
        self.own(|own| own.open.push(open));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        self.own(|own| {
            if let Some(open) = own.open.iter_mut().rfind(|open| open.id == id.into_u64()) {
                values.record(&mut open.fields);
            }
        });
    }

    fn on_enter(&self, id: &Id, _: Context<'_, S>) {
        let now = self.now();
        self.own(|own| {
            if let Some(open) = own.open.iter_mut().rfind(|open| open.id == id.into_u64()) {
                (open.start, open.entered) = (now, true);
            }
        });
    }

    fn on_exit(&self, id: &Id, _: Context<'_, S>) {
        self.close(id, false);
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.close(&id, true);
    }

    fn on_event(&self, event: &Message<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        if !fields.stage.is_empty() {
            let mut stages = self
                .0
                .stages
                .lock()
                .expect("no thread panics while it holds the stages");
            stages.push((fields.stage, self.now()));
            self.0.stage.store(stages.len(), Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::info_span;
    use tracing_subscriber::prelude::*;

    /// The lanes after `work` on a thread of its own, named "main".
    fn traced(tracer: &Tracer, work: impl FnOnce() + Send) -> Vec<(String, lane::Kept)> {
        let subscriber = tracing_subscriber::registry().with(tracer.clone());
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("main".into());
            let thread = thread
                .spawn_scoped(scope, || {
                    tracing::subscriber::with_default(subscriber, work)
                })
                .unwrap();
            thread.join().unwrap();
        });
        let lanes = tracer.0.lanes.lock().unwrap();
        lanes
            .iter()
            .map(|lane| (lane.name.clone(), lane.kept()))
            .collect()
    }

    #[test]
    fn spans_within_spans_share_the_time() {
        let tracer = Tracer::new();
        let lanes = traced(&tracer, || {
            tracing::info!(target: TARGET, stage = "read");
            let parse = info_span!(target: TARGET, "parse", bytes = 5u64).entered();
            let read = info_span!(target: TARGET, "read", bytes = tracing::field::Empty).entered();
            std::thread::sleep(std::time::Duration::from_millis(2));
            read.record("bytes", 7u64);
            drop(read);
            drop(parse);
            info_span!(target: TARGET, "wait", at = "collective", call = "sum", instance = 3u64)
                .in_scope(|| {});
        });
        let [(name, kept)] = &lanes[..] else {
            panic!("{lanes:?}")
        };
        let [read, parse, wait] = &kept.events[..] else {
            panic!("{kept:?}")
        };
        assert_eq!(
            (name.as_str(), read.name, read.bytes, read.own),
            ("main", "read", Some(7), read.time)
        );
        assert_eq!(
            (parse.name, parse.bytes, parse.own),
            ("parse", Some(5), parse.time - read.time)
        );
        assert!(parse.start <= read.start && read.start + read.time <= parse.start + parse.time);
        assert!(read.time >= 2_000_000, "{read:?}");
        assert_eq!(
            (kept.text(wait.at), kept.text(wait.call), wait.instance),
            ("collective", "sum", Some(3))
        );
        assert_eq!(wait.stage, 1);
    }

    #[test]
    fn spans_that_are_not_entered_lie_beside_the_others() {
        let tracer = Tracer::new();
        let lanes = traced(&tracer, || {
            let first = info_span!(target: TARGET, "round", instance = 0u64, bytes = 9u64);
            let count = info_span!(target: TARGET, "count").entered();
            let second = info_span!(target: TARGET, "round", instance = 1u64);
            drop(first);
            drop(count);
            drop(second);
        });
        let events: Vec<_> = lanes[0]
            .1
            .events
            .iter()
            .map(|event| (event.name, event.instance, event.beside))
            .collect();
        assert_eq!(
            events,
            [
                ("round", Some(0), true),
                ("count", None, false),
                ("round", Some(1), true)
            ]
        );
        assert_eq!(lanes[0].1.events[1].own, lanes[0].1.events[1].time);
    }

    #[test]
    fn threads_of_one_name_share_a_lane_one_after_the_other() {
        let tracer = Tracer::new();
        let one = || info_span!(target: TARGET, "count").in_scope(|| {});
        traced(&tracer, one);
        let lanes = traced(&tracer, one);
        assert_eq!(lanes.len(), 1);
        assert_eq!(lanes[0].1.events.len(), 2);
    }

    #[test]
    fn there_is_less_room_where_there_are_more_threads() {
        let (tracer, rooms) = (
            Tracer::new(),
            [(1, ROOM), (64, ROOM), (128, 1 << 14), (1 << 20, LEAST_ROOM)],
        );
        for (threads, room) in rooms {
            tracer.expect_threads(threads);
            assert_eq!(tracer.0.room.load(Relaxed), room);
        }
    }
}
