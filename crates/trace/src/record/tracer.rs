//! The tracer: listens to spans, and keeps them by thread.

use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Instant;

use gyrase_work::machine::core_numbers;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event as Message, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use super::lane::{Event, Lane};
use super::machine::{self, LATE, RunQueue, Throttling, Usage};

/// The most spans of a thread that are kept: 3 MiB, which the overhead of a thread that `--memory`
/// allows for has room for.
pub(super) const ROOM: usize = 1 << 15;
/// About the most spans of a file: 300 MB, which viewers still open.
const ROOM_OF_ALL: usize = 1 << 21;
/// Nanoseconds without a core that are looked into: whoever waits less shares its core with nobody.
const OFF_CPU: u64 = 500_000;
/// The thread that calls MPI. All ranks wait when it has no core.
pub const EXCHANGES: &str = "mpi";
/// How the names of workers begin.
pub const WORKER: &str = "worker ";
/// What a worker did between two of its spans.
pub const BETWEEN: &str = "between";
/// The fewest spans of a thread for which there is room however many threads there are.
const LEAST_ROOM: usize = 1 << 10;

/// Gathers spans. Clones gather together.
#[derive(Clone, Debug)]
pub struct Tracer(pub(super) Arc<Shared>);

/// What clones share.
#[derive(Debug)]
pub(super) struct Shared {
    start: Instant,
    /// The same on the machine's monotonic clock, in nanoseconds: what processes compare.
    clock: i64,
    pub(super) lanes: Mutex<Vec<Arc<Lane>>>,
    /// When each stage began, in nanoseconds.
    pub(super) stages: Mutex<Vec<(String, u64)>>,
    stage: AtomicUsize,
    room: AtomicUsize,
    /// The cores that this process may use.
    pub(super) cores: Vec<usize>,
    pub(super) throttling: Throttling,
    /// What was used before the start.
    pub(super) before: Usage,
    /// The thread that calls MPI: how long it had no core, and where that is noted.
    pub(super) exchanging: OnceLock<(RunQueue, Arc<Lane>)>,
}

impl Shared {
    pub(super) fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    pub(super) fn room(&self) -> usize {
        self.room.load(Relaxed)
    }

    /// An event of now, to be filled in.
    pub(super) fn event(&self) -> Event {
        Event {
            name: "",
            start: self.now(),
            time: 0,
            own: 0,
            cpu: 0,
            queued: 0,
            bytes: None,
            instance: None,
            at: 0,
            call: 0,
            stage: self.stage.load(Relaxed) as u16,
            beside: false,
        }
    }
}

impl Tracer {
    /// A tracer whose times begin now, when the machine's monotonic clock shows `clock`
    /// nanoseconds: by that clock the processes of a job are compared.
    pub fn new(clock: i64) -> Tracer {
        let (cores, throttling) = (core_numbers(), Throttling::of_this_process());
        Tracer(Arc::new(Shared {
            before: Usage::now(&cores, &throttling),
            cores,
            throttling,
            start: Instant::now(),
            clock,
            lanes: Mutex::default(),
            stages: Mutex::default(),
            stage: AtomicUsize::new(0),
            room: AtomicUsize::new(ROOM),
            exchanging: OnceLock::new(),
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

    /// What the machine's monotonic clock showed when the times of this process began.
    pub fn clock(&self) -> i64 {
        self.0.clock
    }

    /// Nanoseconds since then.
    pub fn now(&self) -> u64 {
        self.0.now()
    }

    pub(super) fn lock_lanes(&self) -> MutexGuard<'_, Vec<Arc<Lane>>> {
        self.0
            .lanes
            .lock()
            .expect("no thread panics while it holds the lanes")
    }

    /// The lane of the thread that calls.
    fn lane(&self) -> Arc<Lane> {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("helper");
        let mut lanes = self.lock_lanes();
        if let Some(lane) = lanes.iter().find(|lane| lane.take_over(name)) {
            return Arc::clone(lane);
        }
        let lane = Arc::new(Lane::new(name.to_string()));
        lanes.push(Arc::clone(&lane));
        if name == EXCHANGES {
            let queue = RunQueue::of_this_thread();
            self.0.exchanging.get_or_init(|| (queue, Arc::clone(&lane)));
        }
        lane
    }

    /// Does something with what the calling thread has open; its lane is found the first time.
    fn own<T>(&self, work: impl FnOnce(&mut Own) -> T) -> T {
        OWN.with_borrow_mut(|own| match own {
            Some(own) if Arc::ptr_eq(&own.of, &self.0) => work(own),
            _ => work(own.insert(Own::new(&self.0, self.lane()))),
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
            let event = match (beside, open.fields.lasted) {
                (true, _) => open.ended(now),
                // It was over before it was opened.
                (false, Some(lasted)) => Event {
                    start: now.saturating_sub(lasted),
                    beside: true,
                    ..open.ended(open.start + lasted)
                },
                (false, None) => own.left(&open, now),
            };
            let Fields { at, call, .. } = &open.fields;
            own.lane.add(event, at, call, self.0.room());
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
    queue: RunQueue,
    /// What the queue said when it was last looked at.
    queued: u64,
    /// When it left the last of its spans, and its processor time then.
    outside: Option<(u64, u64)>,
    /// It is a worker: other threads wait for workers between their spans.
    works: bool,
}

impl Own {
    fn new(of: &Arc<Shared>, lane: Arc<Lane>) -> Own {
        let queue = RunQueue::of_this_thread();
        Own {
            of: Arc::clone(of),
            works: lane.name.starts_with(WORKER),
            lane,
            open: Vec::new(),
            queued: queue.waited(),
            queue,
            outside: None,
        }
    }

    /// The span that the thread was in until now. What it waited for a core is looked up only where
    /// it was without one for long.
    fn left(&mut self, open: &Open, now: u64) -> Event {
        let mut event = open.ended(now);
        let so_far = machine::thread_cpu();
        let cpu = so_far.saturating_sub(open.cpu);
        event.cpu = cpu.saturating_sub(open.inner.cpu).min(event.own);
        event.queued = self.queued_of(event.own - event.cpu);
        if let Some(outer) = self.open.iter_mut().rfind(|outer| outer.entered) {
            outer.inner.time += event.time;
            outer.inner.cpu += cpu;
        } else {
            self.outside = Some((now, so_far));
        }
        event
    }

    /// How much of so many nanoseconds without a core the thread was ready to run.
    fn queued_of(&mut self, off_cpu: u64) -> u64 {
        if off_cpu < OFF_CPU {
            return 0;
        }
        let waited = self.queue.waited();
        let since = waited - std::mem::replace(&mut self.queued, waited);
        since.min(off_cpu)
    }

    /// What a worker, whose processor time is `cpu` by now, did since it left its last span, when
    /// that is worth an event. It may have waited for others meanwhile: that is not its own time.
    fn between(&mut self, now: u64, cpu: u64) -> Option<Outside> {
        let (start, before) = self.outside.take().filter(|_| self.works)?;
        let time = now.saturating_sub(start);
        let cpu = cpu.saturating_sub(before).min(time);
        let queued = self.queued_of(time - cpu);
        (cpu + queued >= OFF_CPU || time >= LATE).then_some(Outside {
            start,
            time,
            cpu,
            queued,
        })
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.lane.free.store(true, Relaxed);
    }
}

/// What a thread did between spans, in nanoseconds.
struct Outside {
    start: u64,
    time: u64,
    cpu: u64,
    queued: u64,
}

impl Outside {
    fn event(&self, shared: &Shared) -> Event {
        Event {
            name: BETWEEN,
            start: self.start,
            time: self.time,
            own: self.cpu + self.queued,
            cpu: self.cpu,
            queued: self.queued,
            ..shared.event()
        }
    }
}

/// A span that has not ended.
struct Open {
    id: u64,
    name: &'static str,
    start: u64,
    /// Processor time of the thread at the start.
    cpu: u64,
    entered: bool,
    inner: Inner,
    stage: u16,
    fields: Fields,
}

/// What spans within a span took.
#[derive(Default)]
struct Inner {
    time: u64,
    cpu: u64,
}

impl Open {
    fn ended(&self, now: u64) -> Event {
        let time = now.saturating_sub(self.start);
        Event {
            name: self.name,
            start: self.start,
            time,
            own: time.saturating_sub(self.inner.time),
            cpu: 0,
            queued: 0,
            bytes: self.fields.bytes,
            instance: self.fields.instance,
            at: 0,
            call: 0,
            stage: self.stage,
            beside: !self.entered,
        }
    }
}

/// What a span says of itself.
#[derive(Default)]
struct Fields {
    bytes: Option<u64>,
    instance: Option<u64>,
    /// How long it took, where it is told of when it is over.
    lasted: Option<u64>,
    at: String,
    call: String,
    stage: String,
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "bytes" => self.bytes = Some(value),
            "instance" => self.instance = Some(value),
            "lasted" => self.lasted = Some(value),
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
            cpu: 0,
            entered: false,
            inner: Inner::default(),
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
        let (now, cpu) = (self.now(), machine::thread_cpu());
        self.own(|own| {
            if let Some(between) = own.between(now, cpu) {
                let event = between.event(&self.0);
                own.lane.add(event, "", "", self.0.room());
            }
            if let Some(open) = own.open.iter_mut().rfind(|open| open.id == id.into_u64()) {
                (open.start, open.entered, open.cpu) = (now, true, cpu);
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
    use super::super::TARGET;
    use super::super::lane::Kept;
    use super::*;
    use tracing::info_span;
    use tracing_subscriber::prelude::*;

    /// The lanes after `work` on a thread of its own, named "main".
    fn traced(tracer: &Tracer, work: impl FnOnce() + Send) -> Vec<(String, Kept)> {
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
        let tracer = Tracer::new(0);
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
        let tracer = Tracer::new(0);
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
    fn sleeping_takes_no_processor_time() {
        let tracer = Tracer::new(0);
        let lanes = traced(&tracer, || {
            let count = info_span!(target: TARGET, "count").entered();
            let read = info_span!(target: TARGET, "read").entered();
            let start = machine::thread_cpu();
            while machine::thread_cpu() < start + 3_000_000 {
                std::hint::black_box(start);
            }
            drop(read);
            std::thread::sleep(std::time::Duration::from_millis(5));
            drop(count);
            info_span!(target: TARGET, "step", lasted = 2_000_000u64).in_scope(|| {});
        });
        let [read, count, step] = &lanes[0].1.events[..] else {
            panic!("{lanes:?}")
        };
        assert!(read.cpu >= 3_000_000 && read.cpu <= read.own, "{read:?}");
        assert!(
            count.own >= 5_000_000 && count.cpu + 4_000_000 < count.own,
            "{count:?}"
        );
        assert!(step.time == 2_000_000 && step.beside, "{step:?}");
    }

    #[test]
    fn threads_of_one_name_share_a_lane_one_after_the_other() {
        let tracer = Tracer::new(0);
        let one = || info_span!(target: TARGET, "count").in_scope(|| {});
        traced(&tracer, one);
        let lanes = traced(&tracer, one);
        assert_eq!(lanes.len(), 1);
        assert_eq!(lanes[0].1.events.len(), 2);
    }

    #[test]
    fn there_is_less_room_where_there_are_more_threads() {
        let (tracer, rooms) = (
            Tracer::new(0),
            [(1, ROOM), (64, ROOM), (128, 1 << 14), (1 << 20, LEAST_ROOM)],
        );
        for (threads, room) in rooms {
            tracer.expect_threads(threads);
            assert_eq!(tracer.0.room.load(Relaxed), room);
        }
    }
}
