//! The lines of a trace file: one event of Chrome's trace format each, as Perfetto opens it.

use std::fmt::Write;

use serde_json::{Value, json};

use super::clock::Alignment;
use super::lane::{Event, Folded, Kept, Kind};
use super::machine::Usage;

/// Numbers the form of what Gyrase puts into a trace; another number is not read.
pub const VERSION: u64 = 2;
/// The track of the stages.
pub const STAGES: usize = 1;

/// The beginning of the file, up to its first event, which says what process 0 is.
pub fn head(ranks: usize, command: &str) -> String {
    let gyrase = env!("CARGO_PKG_VERSION");
    let about = json!({"gyrase": gyrase, "trace": VERSION, "ranks": ranks, "command": command});
    let first =
        json!({"ph": "M", "name": "process_sort_index", "pid": 0, "args": {"sort_index": 0}});
    format!("{{\"displayTimeUnit\":\"ms\",\"otherData\":{about},\"traceEvents\":[\n{first}")
}

/// The end of the file.
pub const TAIL: &str = "\n]}\n";

/// Where and when the spans of a process were: its rank, and what its times are for the first.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    /// The rank.
    pub rank: usize,
    /// Its clock.
    pub clock: Alignment,
}

impl Process {
    /// Names the process.
    pub fn process(self, out: &mut String, name: &str, label: &str) {
        self.meta(out, "process_name", None, &json!({"name": name}));
        self.meta(out, "process_labels", None, &json!({"labels": label}));
        self.meta(
            out,
            "process_sort_index",
            None,
            &json!({"sort_index": self.rank}),
        );
    }

    /// Names a thread.
    pub fn thread(self, out: &mut String, track: usize, name: &str) {
        self.meta(out, "thread_name", Some(track), &json!({"name": name}));
        self.meta(
            out,
            "thread_sort_index",
            Some(track),
            &json!({"sort_index": track}),
        );
    }

    /// What the process used during the run, of cores that others may use too.
    pub fn used(self, out: &mut String, used: Usage, nice: i32, cores: &[usize]) {
        let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
        let args = json!({
            "cpu_seconds": seconds(used.cpu), "busy_seconds": seconds(used.busy),
            "throttled_seconds": seconds(used.throttled), "faults": used.faults,
            "nice": nice, "cores": cores,
        });
        self.meta(out, RANK, None, &args);
    }

    fn meta(self, out: &mut String, name: &str, track: Option<usize>, args: &Value) {
        let thread = track.map_or(String::new(), |track| format!(",\"tid\":{track}"));
        line(
            out,
            format_args!(
                "{{\"ph\":\"M\",\"name\":\"{name}\",\"pid\":{}{thread},\"args\":{args}}}",
                self.rank
            ),
        );
    }

    /// A stage of the run, from and to the nanoseconds of the process.
    pub fn stage(self, out: &mut String, name: &str, from: u64, to: u64) {
        let (name, rank) = (Value::from(name), self.rank);
        let (ts, dur) = (
            micros(self.clock.time(from)),
            micros(to.saturating_sub(from)),
        );
        line(
            out,
            format_args!(
                "{{\"ph\":\"X\",\"cat\":\"stage\",\"name\":{name},\"pid\":{rank},\"tid\":{STAGES},\"ts\":{ts},\"dur\":{dur}}}"
            ),
        );
    }

    /// A span.
    pub fn span(self, out: &mut String, track: usize, event: &Event, kept: &Kept) {
        let (name, rank) = (event.name, self.rank);
        let (ts, dur) = (micros(self.clock.time(event.start)), micros(event.time));
        let mut args = words(kept, event.at, event.call);
        let mut add = |name: &str, value: String| {
            let comma = if args.is_empty() { "" } else { "," };
            // Writing to a string cannot fail.
            let _ = write!(args, "{comma}\"{name}\":{value}");
        };
        event
            .instance
            .into_iter()
            .for_each(|instance| add("instance", instance.to_string()));
        event
            .bytes
            .into_iter()
            .for_each(|bytes| add("bytes", bytes.to_string()));
        if event.own != event.time {
            add("own", micros(event.own));
        }
        add("cpu", micros(event.cpu));
        if event.queued > 0 {
            add("queued", micros(event.queued));
        }
        let place = format!(
            "\"cat\":\"gyrase\",\"name\":\"{name}\",\"pid\":{rank},\"tid\":{track},\"ts\":{ts}"
        );
        if event.beside {
            let (id, end) = (
                event.start,
                micros(self.clock.time(event.start + event.time)),
            );
            let id = format!("\"id2\":{{\"local\":\"{name} {id}\"}}");
            line(
                out,
                format_args!("{{\"ph\":\"b\",{place},{id},\"dur\":{dur},\"args\":{{{args}}}}}"),
            );
            let place = format!(
                "\"cat\":\"gyrase\",\"name\":\"{name}\",\"pid\":{rank},\"tid\":{track},\"ts\":{end}"
            );
            line(out, format_args!("{{\"ph\":\"e\",{place},{id}}}"));
        } else {
            line(
                out,
                format_args!("{{\"ph\":\"X\",{place},\"dur\":{dur},\"args\":{{{args}}}}}"),
            );
        }
    }

    /// The sums over spans that were folded. Viewers skip them.
    pub fn folded(
        self,
        out: &mut String,
        track: usize,
        kind: &Kind,
        folded: &Folded,
        stage: &str,
        kept: &Kept,
    ) {
        let Folded {
            spans,
            own,
            cpu,
            queued,
            bytes,
        } = *folded;
        let (at, call) = (kept.text(kind.at), kept.text(kind.call));
        let [own, cpu, queued] = [own, cpu, queued].map(|time| time as f64 / 1000.0);
        let args = json!({
            "stage": stage, "name": kind.name, "at": at, "call": call, "spans": spans,
            "own": own, "cpu": cpu, "queued": queued, "bytes": bytes,
        });
        self.meta(out, FOLDED, Some(track), &args);
    }
}

/// The name of the event that says what a process used.
pub const RANK: &str = "gyrase_rank";
/// The name of the events with sums.
pub const FOLDED: &str = "gyrase_folded";

fn words(kept: &Kept, at: u8, call: u8) -> String {
    let words = [("at", kept.text(at)), ("call", kept.text(call))];
    let words = words.iter().filter(|word| !word.1.is_empty());
    words
        .map(|(name, word)| format!("\"{name}\":{}", Value::from(*word)))
        .collect::<Vec<_>>()
        .join(",")
}

fn line(out: &mut String, event: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = write!(out, ",\n{event}");
}

/// Nanoseconds as microseconds with three places.
fn micros(nanoseconds: u64) -> String {
    format!("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
}
