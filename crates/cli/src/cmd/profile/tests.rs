//! Traces of which the answer is known.

use serde_json::{Value, json};

use super::{advice, table};
use crate::failure::Code;
use gyrase_trace::profile::{self, Activity, RunProfile, Trace, sum};

/// The form of traces that is read.
const VERSION: u64 = 2;
/// The name of events with sums.
const FOLDED: &str = "gyrase_folded";

/// A trace under construction; times in seconds.
struct Made {
    ranks: usize,
    events: Vec<Value>,
}

const MAIN: u64 = 2;
const WORKER: u64 = 3;

impl Made {
    /// Ranks with a main thread and two workers each.
    fn new(ranks: usize) -> Made {
        let mut made = Made {
            ranks,
            events: Vec::new(),
        };
        for rank in 0..ranks {
            made.meta(
                "process_labels",
                rank,
                0,
                json!({"labels": format!("node{rank}")}),
            );
            for (track, name) in [
                (MAIN, "main"),
                (WORKER, "worker 0"),
                (WORKER + 1, "worker 1"),
                (9, "mpi"),
            ] {
                made.meta("thread_name", rank, track, json!({"name": name}));
            }
        }
        made
    }

    fn meta(&mut self, name: &str, rank: usize, track: u64, args: Value) {
        self.events
            .push(json!({"ph": "M", "name": name, "pid": rank, "tid": track, "args": args}));
    }

    fn add(
        &mut self,
        kind: (&str, &str, &str),
        rank: usize,
        track: u64,
        from: f64,
        to: f64,
        args: Value,
    ) {
        let (ph, cat, name) = kind;
        let (ts, dur) = (from * 1e6, (to - from) * 1e6);
        self.events.push(json!({
            "ph": ph, "cat": cat, "name": name, "pid": rank, "tid": track, "ts": ts, "dur": dur,
            "args": args,
        }));
    }

    /// A stage of every rank.
    fn stage(mut self, name: &str, from: f64, to: f64) -> Made {
        (0..self.ranks)
            .for_each(|rank| self.add(("X", "stage", name), rank, 1, from, to, json!({})));
        self
    }

    fn span(
        mut self,
        name: &str,
        rank: usize,
        track: u64,
        from: f64,
        to: f64,
        args: Value,
    ) -> Made {
        self.add(("X", "gyrase", name), rank, track, from, to, args);
        self
    }

    /// The same of both workers of all ranks.
    fn all(mut self, name: &str, from: f64, to: f64, args: Value) -> Made {
        for rank in 0..self.ranks {
            for track in [WORKER, WORKER + 1] {
                self = self.span(name, rank, track, from, to, args.clone());
            }
        }
        self
    }

    /// Two seconds of work by both workers of all ranks, from `from` on.
    fn work(self, from: f64) -> Made {
        self.all("scatter", from, from + 2.0, json!({}))
    }

    fn text(&self) -> String {
        let about = json!({"gyrase": "0.1.0", "trace": VERSION, "ranks": self.ranks, "command": "gyrase count"});
        json!({"otherData": about, "traceEvents": self.events}).to_string()
    }

    fn read(&self) -> (Trace, RunProfile) {
        let trace = read(&self.text()).unwrap();
        let profile = sum(&trace);
        (trace, profile)
    }

    /// The advice, which must say all of `words`.
    fn advises(&self, words: &[&str]) {
        let (trace, profile) = self.read();
        let advice = advice::advise(&trace, &profile).0;
        for word in words {
            assert!(
                advice.contains(word),
                "expected {word:?} in: {advice}\n{}",
                table::text(&trace, &profile)
            );
        }
    }
}

fn read(text: &str) -> crate::failure::Result<Trace> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    Ok(profile::read(
        file.path(),
        std::fs::File::open(file.path()),
    )?)
}

fn close(times: f64, expected: f64) -> bool {
    (times - expected).abs() < 1e-6
}

fn times_are(profile: &RunProfile, stage: usize, rank: usize, expected: &[(Activity, f64)]) {
    let cell = &profile.stages[stage].ranks[rank];
    for (place, name) in Activity::ALL {
        let wanted = expected
            .iter()
            .find(|time| time.0 == place)
            .map_or(0.0, |time| time.1);
        let found = cell.times[place as usize];
        assert!(close(found, wanted), "{name}: {found}, expected {wanted}");
    }
}

#[test]
fn spans_within_spans_are_counted_once() {
    let made = Made::new(1)
        .stage("read", 0.0, 10.0)
        .span(
            "parse",
            0,
            WORKER,
            1.0,
            7.0,
            json!({"bytes": 600, "own": 4e6}),
        )
        .span("read", 0, WORKER, 1.0, 3.0, json!({"bytes": 600}))
        .span("scatter", 0, WORKER, 7.0, 9.0, json!({}))
        .span("wait", 0, WORKER + 1, 0.0, 10.0, json!({"at": "turn"}));
    let (_, profile) = made.read();
    times_are(
        &profile,
        0,
        0,
        &[
            (Activity::Compute, 3.0),
            (Activity::Read, 1.0),
            (Activity::Turn, 5.0),
            (Activity::Idle, 1.0),
        ],
    );
    let bytes = profile.stages[0].ranks[0].bytes;
    assert_eq!((bytes.parsed, bytes.read), (600, 600));
    let severest = profile.severest.unwrap();
    assert!(
        severest.thread == "worker 1" && close(severest.time, 10.0),
        "{severest:?}"
    );
}

#[test]
fn ranks_wait_for_the_latest() {
    let wait = |instance: u64| json!({"at": "collective", "call": "sum", "instance": instance});
    let barrier = json!({"at": "collective", "call": "window", "instance": 0});
    let mut made = Made::new(3)
        .stage("read", 0.0, 4.0)
        .stage("count", 4.0, 10.0);
    // Rank 1 comes 2 s late to the sum, in which all then stay for another second.
    for (rank, start) in [(0, 5.0), (1, 7.0), (2, 6.0)] {
        made = made.span("wait", rank, MAIN, start, 8.0, wait(4)).span(
            "wait",
            rank,
            MAIN,
            8.5,
            9.0,
            barrier.clone(),
        );
    }
    // A call that only two took part in, the third being lost, is nobody's fault.
    made = made
        .span("wait", 0, MAIN, 9.0, 9.5, wait(5))
        .span("wait", 2, MAIN, 9.2, 9.5, wait(5));
    let (trace, profile) = made.read();
    let count = |late, collective| {
        let rest = 6.0 - late - collective;
        [
            (Activity::Late, late),
            (Activity::Collective, collective),
            (Activity::Compute, rest),
        ]
    };
    times_are(&profile, 1, 0, &count(2.0, 1.0 + 0.5 + 0.5));
    times_are(&profile, 1, 1, &count(0.0, 1.0 + 0.5));
    times_are(&profile, 1, 2, &count(1.0, 1.0 + 0.5 + 0.3));
    let calls = &profile.collectives;
    assert!(
        calls.calls == 2 && close(calls.waited, 3.0) && close(calls.late[1], 3.0),
        "{calls:?}"
    );
    let severest = profile.severest.as_ref().unwrap();
    assert!(
        severest.rank == 0 && severest.stage == 1 && close(severest.time, 2.0),
        "{severest:?}"
    );
    assert!(
        severest
            .late
            .is_some_and(|(rank, all)| rank == 1 && close(all, 3.0)),
        "{severest:?}"
    );
    let text = table::text(&trace, &profile);
    assert!(
        text.contains("rank 0 (main) in count: 2.00 s in the collective \"sum\" until rank 1 came"),
        "{text}"
    );
}

#[test]
fn waits_beside_the_work_keep_nobody_from_it() {
    let wait = json!({"at": "collective", "call": "sum", "instance": 0});
    let mut made = Made::new(2).stage("count", 0.0, 2.0).work(0.0);
    made = made
        .span("wait", 0, 9, 0.0, 1.5, wait.clone())
        .span("wait", 1, 9, 1.0, 1.5, wait);
    let (_, profile) = made.read();
    times_are(&profile, 0, 0, &[(Activity::Compute, 2.0)]);
    assert!(
        profile.severest.is_none() && profile.collectives.calls == 0,
        "{profile:?}"
    );
}

#[test]
fn barriers_have_a_column_of_their_own() {
    let barrier = json!({"at": "collective", "call": "window"});
    let made = Made::new(2)
        .stage("write", 0.0, 5.0)
        .span("wait", 0, MAIN, 1.0, 4.0, barrier.clone())
        .span("wait", 1, MAIN, 3.0, 4.0, barrier);
    let (_, profile) = made.read();
    times_are(
        &profile,
        0,
        0,
        &[
            (Activity::Barrier, 2.0),
            (Activity::Collective, 1.0),
            (Activity::Compute, 2.0),
        ],
    );
}

#[test]
fn imbalance_is_largest_over_mean() {
    let mut made = Made::new(4).stage("count", 0.0, 8.0);
    for (rank, time, bytes) in [(0, 2.0, 100), (1, 2.0, 100), (2, 8.0, 300), (3, 4.0, 100)] {
        made = made.span("reduce", rank, WORKER, 0.0, time, json!({"bytes": bytes}));
    }
    let (_, profile) = made.read();
    let imbalance = profile.stages[0].imbalance();
    assert!(
        imbalance.time.is_some_and(|time| close(time, 2.0)),
        "{imbalance:?}"
    );
    assert!(
        imbalance.bytes.is_some_and(|bytes| close(bytes, 2.0)),
        "{imbalance:?}"
    );
    assert_eq!(imbalance.slowest, 2);
}

#[test]
fn sums_of_short_spans_count() {
    let mut made =
        Made::new(1)
            .stage("read", 0.0, 4.0)
            .span("scatter", 0, WORKER, 0.0, 1.0, json!({}));
    let args = json!({
        "stage": "read", "name": "parse", "at": "", "call": "", "spans": 9, "own": 2e6, "bytes": 77,
    });
    made.meta(FOLDED, 0, WORKER, args);
    let (_, profile) = made.read();
    times_are(
        &profile,
        0,
        0,
        &[(Activity::Compute, 3.0), (Activity::Idle, 1.0)],
    );
    assert!(profile.folded && profile.stages[0].ranks[0].bytes.parsed == 77);
}

#[test]
fn rounds_and_messages_are_beside_the_work() {
    let mut made = Made::new(2).stage("read", 0.0, 2.0).work(0.0);
    for rank in 0..2 {
        for (instance, bytes) in [(0, 10), (1, 30)] {
            let args = json!({"instance": instance, "bytes": bytes});
            made.add(("b", "gyrase", "round"), rank, 9, 0.0, 1.5, args);
        }
        made = made.span("send", rank, 9, 1.5, 1.6, json!({"bytes": 5}));
    }
    let (trace, profile) = made.read();
    times_are(&profile, 0, 0, &[(Activity::Compute, 2.0)]);
    assert_eq!(profile.stages[0].ranks[1].bytes.sent, 45);
    assert!(table::text(&trace, &profile).contains("2 rounds, 1.50 s each"));
}

#[test]
fn advice_follows_from_the_numbers() {
    let one = || Made::new(1).work(0.0);
    let two = || Made::new(2).work(0.0);
    one()
        .stage("read", 0.0, 2.0)
        .advises(&["nothing stands out: 100 %", "more threads"]);
    two()
        .stage("read", 0.0, 2.0)
        .advises(&["nothing stands out", "more ranks"]);
    Made::new(1)
        .stage("read", 0.0, 0.01)
        .advises(&["0.01 s", "too short to tell"]);
    let read = one().stage("read", 0.0, 4.0);
    read.all("read", 2.0, 4.0, json!({"bytes": 200 << 20}))
        .advises(&["50 %", "200 MiB a second", "faster disk"]);
    let gzip = one()
        .stage("read", 0.0, 4.0)
        .all("parse", 2.0, 2.1, json!({"bytes": 4000}));
    gzip.all("read", 2.1, 4.0, json!({"bytes": 1000, "cpu": 1.9e6}))
        .advises(&["decompresses", "one thread at a time", "bgzip"]);
    one()
        .stage("read", 0.0, 4.0)
        .all("open", 2.0, 4.0, json!({}))
        .advises(&["opens files", "fewer, larger"]);
    let turn = |made: Made| made.all("wait", 2.0, 4.0, json!({"at": "turn"}));
    turn(one().stage("read", 0.0, 4.0)).advises(&["threads wait", "give several files"]);
    let counted = one()
        .stage("count", 0.0, 4.0)
        .all("reduce", 0.0, 0.1, json!({"bytes": 5}));
    turn(counted).advises(&["finished partitions wait", "much larger"]);
    let written = one().stage("read", 0.0, 2.0).stage("write", 2.0, 6.0);
    written
        .span("write", 0, MAIN, 2.0, 3.0, json!({"bytes": 3u64 << 30}))
        .span("sync", 0, MAIN, 3.0, 6.0, json!({}))
        .advises(&["67 %", "(3.0 GiB)", "-o"]);
    let spilled =
        one()
            .stage("read", 0.0, 4.0)
            .all("spill", 2.0, 4.0, json!({"bytes": 1u64 << 30}));
    spilled.advises(&["temporary files", "2.0 GiB", "--memory", "--tmp"]);
}

#[test]
fn advice_for_many_ranks_follows_from_the_numbers() {
    let two = || Made::new(2).work(0.0).stage("read", 0.0, 4.0);
    two()
        .all("wait", 2.0, 4.0, json!({"at": "buffer"}))
        .advises(&["the network", "doctor"]);
    two()
        .all("wait", 2.0, 4.0, json!({"at": "chunk"}))
        .advises(&["answers of other ranks, 2000 ms", "doctor"]);
    two()
        .all("wait", 2.0, 4.0, json!({"at": "border"}))
        .advises(&["records that cross", "larger --chunk"]);
    let mut network = two();
    let mut culprit = Made::new(3).work(0.0).stage("read", 0.0, 4.0);
    let mut nobody = Made::new(3).work(0.0).stage("read", 0.0, 4.0);
    let call = |instance: u64| json!({"at": "collective", "call": "max", "instance": instance});
    for rank in 0..2 {
        network = network.span("wait", rank, MAIN, 2.0, 4.0, call(0));
    }
    for instance in 0..3 {
        let at = 2.0 + 0.6 * instance as f64;
        for rank in 0..3 {
            let late = |late: bool| if late { at + 0.5 } else { at };
            culprit = culprit.span(
                "wait",
                rank,
                MAIN,
                late(rank == 1),
                at + 0.51,
                call(instance),
            );
            nobody = nobody.span(
                "wait",
                rank,
                MAIN,
                late(rank as u64 == instance),
                at + 0.51,
                call(instance),
            );
        }
    }
    let init = json!({"at": "collective", "call": "init", "instance": 0});
    let mut slow = Made::new(2).stage("start", 0.0, 2.0);
    slow = slow
        .span("wait", 0, MAIN, 0.0, 1.9, init.clone())
        .span("wait", 1, MAIN, 0.0, 1.9, init);
    slow.advises(&["95 %", "MPI takes", "to start"]);
    network.advises(&["collective operations take", "fewer ranks"]);
    culprit.advises(&["rank 1 on node1 comes last", "100 %"]);
    nobody.advises(&["now one rank, now another", "fewer ranks"]);
}

#[test]
fn advice_for_idle_threads_names_the_cause() {
    let spread = Made::new(1).stage("read", 0.0, 4.0).work(0.0);
    spread.advises(&["have nothing to do", "too little to do"]);
    let lonely =
        Made::new(1)
            .stage("read", 0.0, 4.0)
            .span("scatter", 0, WORKER, 0.0, 4.0, json!({}));
    let lonely = lonely.span("scatter", 0, WORKER + 1, 0.0, 1.0, json!({}));
    lonely.advises(&["works 1.6 times", "files or chunks"]);
    let uneven = Made::new(2).stage("reduce", 0.0, 4.0).span(
        "reduce",
        0,
        WORKER,
        0.0,
        1.0,
        json!({"bytes": 1}),
    );
    uneven
        .span("reduce", 1, WORKER, 0.0, 4.0, json!({"bytes": 9}))
        .advises(&["rank 1 on node1", "one partition of 9 B"]);
}

#[test]
fn what_is_no_trace_is_refused() {
    let whole = Made::new(1).stage("read", 0.0, 1.0).text();
    let refused = |text: &str, words: &str| {
        let failure = read(text).unwrap_err();
        assert!(
            failure.code == Code::Input && failure.message.contains(words),
            "{failure:?}"
        );
    };
    refused("", "is empty");
    for length in [1, whole.len() / 2, whole.len() - 1] {
        refused(&whole[..length], "is truncated");
    }
    refused("@read 1\nACGT\n", "is no trace: ");
    refused("{\"traceEvents\":[]}", "is no trace of Gyrase");
    refused("{\"traceEvents\":5}", "is no trace: ");
    refused(&whole.replace("\"trace\":2", "\"trace\":1"), "form 1");
    refused(&Made::new(2).text(), "no stages of rank 0");
    refused(&whole.replace("\"ranks\":1", "\"ranks\":0"), "is damaged");
    refused(
        &whole.replace("\"dur\":1000000.0", "\"dur\":-1.0"),
        "a time in it",
    );
    assert!(
        profile::read(
            std::path::Path::new("nowhere.json"),
            std::fs::File::open("nowhere.json")
        )
        .unwrap_err()
        .to_string()
        .contains("cannot be read")
    );
}

#[test]
fn many_ranks_have_a_few_rows() {
    let mut made = Made::new(40).stage("read", 0.0, 50.0);
    for rank in 0..40 {
        made = made.span("scatter", rank, WORKER, 0.0, 1.0 + rank as f64, json!({}));
    }
    let (trace, profile) = made.read();
    let text = table::text(&trace, &profile);
    let rows = text
        .lines()
        .filter(|line| line.starts_with("          "))
        .count();
    assert_eq!(rows, 16, "{text}");
    let has_row = |rank: u32| {
        let start = format!("          {rank} ");
        text.lines().any(|line| line.starts_with(&start))
    };
    assert!(has_row(39) && has_row(0) && !has_row(20), "{text}");
    assert_eq!(
        table::facts(&trace, &profile)["stages"][0]["ranks"]
            .as_array()
            .map(Vec::len),
        Some(40)
    );
}
