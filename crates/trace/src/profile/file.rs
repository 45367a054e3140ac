//! Reading a trace.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use serde::Deserialize;
use serde::de::{self, SeqAccess, Visitor};

use crate::record::{BETWEEN, FOLDED, GAP, RANK, STOPPED, THROTTLED, VERSION};

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened or read.
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// There is nothing in it.
    #[error("{path} is empty")]
    Empty {
        /// The file.
        path: String,
    },
    /// It ends too early.
    #[error("{path} is truncated: it stops in line {line}; copy it again, or trace the run again")]
    Truncated {
        /// The file.
        path: String,
        /// The last line, from 1.
        line: usize,
    },
    /// It is something else.
    #[error("{path} is no trace: {what}")]
    NoTrace {
        /// The file.
        path: String,
        /// What does not fit, and where.
        what: String,
    },
    /// Another program wrote it.
    #[error("{path} is no trace of Gyrase")]
    Foreign {
        /// The file.
        path: String,
    },
    /// Another Gyrase wrote it.
    #[error("{path} is a trace of Gyrase {by}, in form {form}; this Gyrase reads form {VERSION}")]
    Form {
        /// The file.
        path: String,
        /// The version of the program that wrote it.
        by: String,
        /// The number of its form.
        form: u64,
    },
    /// What it says cannot be.
    #[error("{path} is damaged: {what}; trace the run again")]
    Damaged {
        /// The file.
        path: String,
        /// What makes no sense.
        what: String,
    },
}

/// What a trace holds, times in seconds.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Processes of the run.
    pub ranks: usize,
    /// Its command line.
    pub command: String,
    /// The machine of each rank.
    pub nodes: Vec<String>,
    /// The names of threads by rank and track.
    pub threads: HashMap<(usize, u64), String>,
    /// Stages of all ranks.
    pub stages: Vec<Interval>,
    /// Spans of all ranks.
    pub spans: Vec<TracedSpan>,
    /// Sums over the spans that are not there.
    pub folded: Vec<Folded>,
    /// When ranks were kept from running.
    pub gaps: Vec<Gap>,
    /// What each rank used, where it is known.
    pub used: Vec<Used>,
}

/// A time in which a rank, or the thread of it that calls MPI, was kept from running.
#[derive(Clone, Copy, Debug)]
pub struct Gap {
    /// The rank.
    pub rank: usize,
    /// The thread that noted it, or that it is about.
    pub track: u64,
    /// Why.
    pub why: Kept,
    /// When it began.
    pub start: f64,
    /// How long it lasted.
    pub time: f64,
    /// Of that, the seconds without a core.
    pub own: f64,
}

/// What keeps a rank from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Somebody stopped it, or paused its machine.
    Stopped,
    /// The limit of its control group.
    Throttled,
    /// Other work that has the cores.
    Queued,
}

/// What a rank used during the run.
#[derive(Clone, Debug, Default)]
pub struct Used {
    /// Seconds of processor time.
    pub cpu: f64,
    /// Seconds in which the cores that it may use were busy, all together, with whatever.
    pub busy: f64,
    /// Seconds for which its control group kept it from cores, added up over them.
    pub throttled: f64,
    /// Pages of its memory that came from a disk.
    pub faults: u64,
    /// How nice it was, 0 as usual.
    pub nice: i32,
    /// The cores that it may use; none where they are not known.
    pub cores: Vec<usize>,
}

/// A stage of one rank.
#[derive(Clone, Debug)]
pub struct Interval {
    /// The rank.
    pub rank: usize,
    /// What it is called.
    pub name: String,
    /// When it began.
    pub start: f64,
    /// How long it took.
    pub time: f64,
}

/// Something that a thread did.
#[derive(Clone, Debug, Default)]
pub struct TracedSpan {
    /// The rank.
    pub rank: usize,
    /// Its thread.
    pub track: u64,
    /// What was done.
    pub what: SpanKind,
    /// What was called, in collectives.
    pub call: String,
    /// When it began.
    pub start: f64,
    /// How long it took.
    pub time: f64,
    /// Of that, what was spent in no other span.
    pub own: f64,
    /// Of the own time, processor time.
    pub cpu: f64,
    /// Of the own time, what the thread was ready and had no core.
    pub queued: f64,
    /// Bytes that moved.
    pub bytes: u64,
    /// Which of the calls it was.
    pub instance: Option<u64>,
    /// It was under way beside what its thread did.
    pub beside: bool,
}

/// What a thread can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SpanKind {
    /// Finding records in text.
    Parse,
    /// Counting a partition.
    Count,
    /// Any other work.
    #[default]
    Work,
    /// Whatever was done between two spans.
    Between,
    /// Opening a file.
    Open,
    /// Waiting for the bytes of an input, decompressed.
    Read,
    /// Writing an output, and waiting for the disk to have it.
    Write,
    /// Writing and reading temporary files.
    Spill,
    /// Being stopped, whatever it was about.
    Stopped,
    /// Waiting in a collective.
    Collective,
    /// Waiting for an answer of another rank: which chunk is next.
    Message,
    /// Waiting for a send buffer.
    Buffer,
    /// Waiting for the end of a record that another thread has.
    Border,
    /// Waiting for another thread of the rank.
    Turn,
    /// A round of the exchange, beside what threads do.
    Round,
    /// Sending a message to another rank.
    Send,
}

impl TracedSpan {
    /// Of the own time, what the thread waited for a disk or for others.
    pub fn blocked(&self) -> f64 {
        (self.own - self.cpu - self.queued).max(0.0)
    }
}

impl SpanKind {
    /// Whether its thread needs nothing but a core.
    pub fn computes(self) -> bool {
        matches!(self, SpanKind::Parse | SpanKind::Count | SpanKind::Work)
    }

    fn of(name: &str, at: &str) -> SpanKind {
        match (name, at) {
            ("parse", _) => SpanKind::Parse,
            ("reduce", _) => SpanKind::Count,
            ("open", _) => SpanKind::Open,
            ("read", _) => SpanKind::Read,
            ("write" | "sync", _) => SpanKind::Write,
            ("spill", _) => SpanKind::Spill,
            ("round", _) => SpanKind::Round,
            ("send", _) => SpanKind::Send,
            ("wait", "collective") => SpanKind::Collective,
            ("wait", "buffer") => SpanKind::Buffer,
            ("wait", "border") => SpanKind::Border,
            ("wait", "turn") => SpanKind::Turn,
            ("wait", _) => SpanKind::Message,
            (BETWEEN, _) => SpanKind::Between,
            _ => SpanKind::Work,
        }
    }
}

/// A sum over spans of one kind.
#[derive(Clone, Debug)]
pub struct Folded {
    /// The stage.
    pub stage: String,
    /// What the spans have in common; the time and the bytes are sums.
    pub sum: TracedSpan,
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow, rename = "otherData")]
    about: Option<About<'a>>,
    #[serde(borrow, rename = "traceEvents", default)]
    events: Events<'a>,
}

#[derive(Deserialize)]
struct About<'a> {
    #[serde(borrow)]
    gyrase: Option<Cow<'a, str>>,
    trace: Option<u64>,
    #[serde(default)]
    ranks: usize,
    #[serde(borrow, default)]
    command: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    ph: Cow<'a, str>,
    #[serde(borrow, default)]
    cat: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(default)]
    pid: usize,
    #[serde(default)]
    tid: u64,
    #[serde(default)]
    ts: f64,
    #[serde(default)]
    dur: f64,
    #[serde(borrow, default)]
    args: Args<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Args<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    labels: Cow<'a, str>,
    #[serde(borrow)]
    stage: Cow<'a, str>,
    #[serde(borrow)]
    at: Cow<'a, str>,
    #[serde(borrow)]
    call: Cow<'a, str>,
    instance: Option<u64>,
    bytes: u64,
    own: Option<f64>,
    cpu: Option<f64>,
    queued: f64,
    cpu_seconds: f64,
    busy_seconds: f64,
    throttled_seconds: f64,
    faults: u64,
    nice: i32,
    cores: Vec<usize>,
}

/// The events, taken in one by one: a trace may hold millions.
#[derive(Default)]
struct Events<'a> {
    trace: Trace,
    marker: std::marker::PhantomData<&'a ()>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Events<'a> {
    fn deserialize<D: de::Deserializer<'de>>(events: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Trace;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of events")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> Result<Trace, A::Error> {
                let mut trace = Trace::default();
                while let Some(event) = events.next_element::<Line>()? {
                    trace.add(&event);
                }
                Ok(trace)
            }
        }
        Ok(Events {
            trace: events.deserialize_seq(Each)?,
            marker: std::marker::PhantomData,
        })
    }
}

/// Seconds of a number of microseconds.
fn seconds(micros: f64) -> f64 {
    micros / 1e6
}

/// The place of a rank in a list, which grows as it has to.
fn at<T: Default>(list: &mut Vec<T>, rank: usize) -> &mut T {
    if list.len() <= rank {
        list.resize_with(rank + 1, T::default);
    }
    &mut list[rank]
}

impl Trace {
    /// The machine of a rank, or nothing.
    pub fn node(&self, rank: usize) -> &str {
        self.nodes.get(rank).map_or("", String::as_str)
    }

    fn add(&mut self, event: &Line) {
        let rank = event.pid;
        match (&*event.ph, &*event.name) {
            ("M", "process_labels") => {
                *at(&mut self.nodes, rank) = event.args.labels.to_string();
            }
            ("M", RANK) => *at(&mut self.used, rank) = used(&event.args),
            ("M", "thread_name") => {
                self.threads
                    .insert((rank, event.tid), event.args.name.to_string());
            }
            ("M", FOLDED) => self.folded.push(Folded {
                stage: event.args.stage.to_string(),
                sum: TracedSpan {
                    time: seconds(event.args.own.unwrap_or(0.0)),
                    own: seconds(event.args.own.unwrap_or(0.0)),
                    what: SpanKind::of(&event.args.name, &event.args.at),
                    ..span(event)
                },
            }),
            (_, GAP) => self.gaps.extend((event.ph == "b").then(|| gap(event))),
            ("X", name) if event.cat == "stage" => {
                let (start, time) = (seconds(event.ts), seconds(event.dur));
                self.stages.push(Interval {
                    rank,
                    name: name.to_string(),
                    start,
                    time,
                });
            }
            ("X" | "b", _) if event.cat == "gyrase" => self.spans.push(span(event)),
            _ => {}
        }
    }
}

fn span(event: &Line) -> TracedSpan {
    let args = &event.args;
    let (what, own) = (
        SpanKind::of(&event.name, &args.at),
        args.own.unwrap_or(event.dur),
    );
    let cpu = args.cpu.unwrap_or(if what.computes() { own } else { 0.0 });
    TracedSpan {
        rank: event.pid,
        track: event.tid,
        what,
        call: args.call.to_string(),
        start: seconds(event.ts),
        time: seconds(event.dur),
        own: seconds(own),
        cpu: seconds(cpu.min(own)),
        queued: seconds(args.queued),
        bytes: args.bytes,
        instance: args.instance,
        beside: event.ph == "b",
    }
}

fn gap(event: &Line) -> Gap {
    Gap {
        rank: event.pid,
        track: event.tid,
        why: match &*event.args.at {
            STOPPED => Kept::Stopped,
            THROTTLED => Kept::Throttled,
            _ => Kept::Queued,
        },
        start: seconds(event.ts),
        time: seconds(event.dur),
        own: seconds(event.args.own.unwrap_or(event.dur)),
    }
}

fn used(args: &Args) -> Used {
    Used {
        cpu: args.cpu_seconds,
        busy: args.busy_seconds,
        throttled: args.throttled_seconds,
        faults: args.faults,
        nice: args.nice,
        cores: args.cores.clone(),
    }
}

/// Reads the trace that was opened at `path`.
///
/// # Errors
/// There is none; it is empty, cut off, no trace of Gyrase, of another form, or makes no sense.
pub fn read(path: &Path, opened: io::Result<impl Read>) -> Result<Trace, TraceError> {
    let (name, mut text) = (path.display().to_string(), Vec::new());
    match opened.and_then(|mut file| file.read_to_end(&mut text)) {
        Ok(_) => parse(name, &text),
        Err(source) => Err(TraceError::Unreadable { path: name, source }),
    }
}

/// Reads the trace in the file `path`, which holds `text`.
pub(super) fn parse(path: String, text: &[u8]) -> Result<Trace, TraceError> {
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(TraceError::Empty { path });
    }
    let File { about, events } = match serde_json::from_slice(text) {
        Ok(file) => file,
        Err(error) if error.is_eof() => {
            let line = error.line();
            return Err(TraceError::Truncated { path, line });
        }
        Err(error) => {
            let what = error.to_string();
            return Err(TraceError::NoTrace { path, what });
        }
    };
    let Some(About {
        gyrase: Some(by),
        trace: Some(form),
        ranks,
        command,
    }) = about
    else {
        return Err(TraceError::Foreign { path });
    };
    if form != VERSION {
        let by = by.into_owned();
        return Err(TraceError::Form { path, by, form });
    }
    let trace = Trace {
        ranks,
        command: command.into_owned(),
        ..events.trace
    };
    match trace.fault() {
        Some(what) => Err(TraceError::Damaged { path, what }),
        None => Ok(trace),
    }
}

impl Trace {
    /// What makes no sense, if anything.
    fn fault(&self) -> Option<String> {
        let ranks = self.ranks;
        let beyond = self
            .spans
            .iter()
            .map(|span| span.rank)
            .chain(self.stages.iter().map(|stage| stage.rank));
        if let Some(rank) = beyond.filter(|&rank| rank >= ranks).max() {
            return Some(format!(
                "it holds spans of rank {rank} and says that there were {ranks} ranks"
            ));
        }
        let lost = (0..ranks).find(|&rank| !self.stages.iter().any(|stage| stage.rank == rank));
        if ranks == 0 || lost.is_some() {
            return Some(format!("it holds no stages of rank {}", lost.unwrap_or(0)));
        }
        let numbers = self
            .spans
            .iter()
            .flat_map(|span| [span.start, span.time, span.own]);
        let numbers = numbers.chain(
            self.stages
                .iter()
                .flat_map(|stage| [stage.start, stage.time]),
        );
        let odd = numbers
            .into_iter()
            .find(|number| !number.is_finite() || *number < 0.0);
        odd.map(|odd| format!("a time in it is {odd} s"))
    }
}
