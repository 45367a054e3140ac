//! Reading a trace.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::{self, SeqAccess, Visitor};

use crate::failure::{Code, Failure, Result};
use crate::trace::{FOLDED, VERSION};

/// What a trace holds, times in seconds.
#[derive(Debug, Default)]
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
    pub stages: Vec<Stage>,
    /// Spans of all ranks.
    pub spans: Vec<Span>,
    /// Sums over the spans that are not there.
    pub folded: Vec<Folded>,
}

/// A stage of one rank.
#[derive(Clone, Debug)]
pub struct Stage {
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
pub struct Span {
    /// The rank.
    pub rank: usize,
    /// Its thread.
    pub track: u64,
    /// What was done.
    pub what: What,
    /// What was called, in collectives.
    pub call: String,
    /// When it began.
    pub start: f64,
    /// How long it took.
    pub time: f64,
    /// Of that, what was spent in no other span.
    pub own: f64,
    /// Bytes that moved.
    pub bytes: u64,
    /// Which of the calls it was.
    pub instance: Option<u64>,
    /// It was under way beside what its thread did.
    pub beside: bool,
}

/// What a thread can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum What {
    /// Finding records in text.
    Parse,
    /// Counting a partition.
    Count,
    /// Any other work.
    #[default]
    Work,
    /// Opening a file.
    Open,
    /// Waiting for the bytes of an input, decompressed.
    Read,
    /// Writing an output, and waiting for the disk to have it.
    Write,
    /// Writing and reading temporary files.
    Spill,
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
}

impl What {
    fn of(name: &str, at: &str) -> What {
        match (name, at) {
            ("parse", _) => What::Parse,
            ("reduce", _) => What::Count,
            ("open", _) => What::Open,
            ("read", _) => What::Read,
            ("write" | "sync", _) => What::Write,
            ("spill", _) => What::Spill,
            ("round", _) => What::Round,
            ("wait", "collective") => What::Collective,
            ("wait", "buffer") => What::Buffer,
            ("wait", "border") => What::Border,
            ("wait", "turn") => What::Turn,
            ("wait", _) => What::Message,
            _ => What::Work,
        }
    }
}

/// A sum over spans of one kind.
#[derive(Clone, Debug)]
pub struct Folded {
    /// The stage.
    pub stage: String,
    /// What the spans have in common; the time and the bytes are sums.
    pub sum: Span,
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
}

/// The events, taken in one by one: a trace may hold millions.
#[derive(Default)]
struct Events<'a> {
    trace: Trace,
    marker: std::marker::PhantomData<&'a ()>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Events<'a> {
    fn deserialize<D: de::Deserializer<'de>>(events: D) -> std::result::Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Trace;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of events")
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut events: A,
            ) -> std::result::Result<Trace, A::Error> {
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

impl Trace {
    fn add(&mut self, event: &Line) {
        let rank = event.pid;
        match (&*event.ph, &*event.name) {
            ("M", "process_labels") => {
                self.nodes
                    .resize(self.nodes.len().max(rank + 1), String::new());
                self.nodes[rank] = event.args.labels.to_string();
            }
            ("M", "thread_name") => {
                self.threads
                    .insert((rank, event.tid), event.args.name.to_string());
            }
            ("M", FOLDED) => {
                let time = seconds(event.args.own.unwrap_or(0.0));
                let what = What::of(&event.args.name, &event.args.at);
                let sum = Span {
                    what,
                    time,
                    own: time,
                    ..span(event)
                };
                self.folded.push(Folded {
                    stage: event.args.stage.to_string(),
                    sum,
                });
            }
            ("X", name) if event.cat == "stage" => {
                let (start, time) = (seconds(event.ts), seconds(event.dur));
                self.stages.push(Stage {
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

fn span(event: &Line) -> Span {
    let args = &event.args;
    Span {
        rank: event.pid,
        track: event.tid,
        what: What::of(&event.name, &args.at),
        call: args.call.to_string(),
        start: seconds(event.ts),
        time: seconds(event.dur),
        own: seconds(args.own.unwrap_or(event.dur)),
        bytes: args.bytes,
        instance: args.instance,
        beside: event.ph == "b",
    }
}

/// Reads the trace at `path`.
///
/// # Errors
/// There is none; it is empty, cut off, no trace of Gyrase, of another version, or makes no sense.
pub fn read(path: &Path) -> Result<Trace> {
    let name = path.display();
    let wrong = |what: &str| Err(Failure::new(Code::Input, format!("{name} {what}")));
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) => return Err(Failure::usage(format!("{name} cannot be read: {error}"))),
    };
    if text.iter().all(u8::is_ascii_whitespace) {
        return wrong(
            "is empty; `gyrase count … --trace FILE.json` writes a trace when the run has succeeded",
        );
    }
    let File { about, events } = match serde_json::from_slice(&text) {
        Ok(file) => file,
        Err(error) if error.is_eof() => {
            return wrong(&format!(
                "is truncated: it stops in line {}; copy it again, or trace the run again",
                error.line()
            ));
        }
        Err(error) => return wrong(&format!("is no trace: {error}")),
    };
    let Some(About {
        gyrase: Some(made_by),
        trace: Some(form),
        ranks,
        command,
    }) = about
    else {
        return wrong("is no trace of Gyrase; `gyrase count … --trace FILE.json` makes one");
    };
    if form != VERSION {
        let own = env!("CARGO_PKG_VERSION");
        return wrong(&format!(
            "is a trace of Gyrase {made_by}, in form {form}; Gyrase {own} reads form {VERSION}"
        ));
    }
    let trace = Trace {
        ranks,
        command: command.into_owned(),
        ..events.trace
    };
    match trace.fault() {
        Some(fault) => wrong(&format!("is damaged: {fault}; trace the run again")),
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
