//! The profile as a table for people and as JSON for programs.

use std::fmt::Write;
use std::time::Duration;

use gyrase_picture::words::{self, bytes, things};
use serde_json::{Map, Value, json};

use super::advice::{advise, sentence};
use gyrase_trace::profile::{
    Activity, Finding, RankProfile, RunProfile, SpanKind, StageProfile, Times, Trace, Wait,
};

/// The most ranks that have a row each.
const ROWS: usize = 16;
/// A column is shown when some row has as much of the wall time.
const SHOWN: f64 = 0.005;
/// Stages of a smaller share of the run may be as unequal as they like.
const LONG: f64 = 0.02;
/// A wait of fewer seconds is none.
const SEVERE: f64 = 0.001;

/// The table, what was noticed, and the advice.
pub fn text(trace: &Trace, profile: &RunProfile) -> String {
    let mut text = String::new();
    let threads = profile
        .stages
        .iter()
        .flat_map(|stage| &stage.ranks)
        .map(|cell| cell.threads)
        .max()
        .unwrap_or(1);
    let size = format!(
        "{} of {}",
        things(trace.ranks as u64, "rank"),
        things(threads as u64, "thread")
    );
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{size}, {}: {}\n", time(profile.wall), trace.command);
    rows(&mut text, profile);
    text.push('\n');
    for (name, value) in remarks(trace, profile) {
        let _ = writeln!(text, "{name:<15}{value}");
    }
    text
}

fn time(seconds: f64) -> String {
    words::time(Duration::from_secs_f64(seconds.max(0.0)))
}

/// The columns that say something.
fn columns(profile: &RunProfile) -> Vec<(Activity, &'static str)> {
    let cells: Vec<&RankProfile> = profile
        .stages
        .iter()
        .flat_map(|stage| &stage.ranks)
        .collect();
    let notable = |place: Activity| {
        cells
            .iter()
            .any(|cell| cell.times[place as usize] >= SHOWN * profile.wall)
    };
    Activity::ALL
        .into_iter()
        .filter(|(place, _)| *place == Activity::Compute || notable(*place))
        .collect()
}

fn rows(text: &mut String, profile: &RunProfile) {
    let columns = columns(profile);
    let heads: String = columns
        .iter()
        .map(|(_, name)| format!("{name:>11}"))
        .collect();
    let names = profile.stages.iter().map(|stage| stage.name.len());
    let width = names.fold("histogram".len(), usize::max) + 1;
    let _ = writeln!(
        text,
        "{:<width$}{:<8}{:>9}{heads}   (seconds)",
        "stage", "rank", "wall"
    );
    let mut row = |stage: &str, rank: &str, wall: f64, times: &Times| {
        let times: String = columns
            .iter()
            .map(|(place, _)| format!("{:>11.2}", times[*place as usize]))
            .collect();
        let _ = writeln!(text, "{stage:<width$}{rank:<8}{wall:>9.2}{times}");
    };
    for stage in &profile.stages {
        if let [alone] = &stage.ranks[..] {
            row(&stage.name, "0", alone.wall, &alone.times);
            continue;
        }
        let wall = stage.ranks.iter().map(|cell| cell.wall).sum::<f64>() / stage.ranks.len() as f64;
        row(&stage.name, "mean", wall, &stage.mean());
        for rank in shown(stage) {
            row(
                "",
                &rank.to_string(),
                stage.ranks[rank].wall,
                &stage.ranks[rank].times,
            );
        }
    }
}

/// The ranks that have a row: all of a few, else those that worked longest and shortest.
fn shown(stage: &StageProfile) -> Vec<usize> {
    let mut ranks: Vec<usize> = (0..stage.ranks.len()).collect();
    if ranks.len() > ROWS {
        ranks.sort_by(|&a, &b| stage.ranks[b].busy().total_cmp(&stage.ranks[a].busy()));
        ranks.drain(ROWS / 2..ranks.len() - ROWS / 2);
    }
    ranks
}

fn remarks(trace: &Trace, profile: &RunProfile) -> Vec<(&'static str, String)> {
    let mut remarks = Vec::new();
    let over = if trace.ranks > 1 { "ranks" } else { "threads" };
    let long = profile
        .stages
        .iter()
        .filter(|stage| stage.wall() >= LONG * profile.wall);
    let imbalances: Vec<String> = long.filter_map(imbalance).collect();
    if !imbalances.is_empty() {
        remarks.push((
            "imbalance",
            format!("{}; largest over mean of the {over}", imbalances.join("; ")),
        ));
    }
    let moved: Vec<String> = profile.stages.iter().filter_map(moved).collect();
    if !moved.is_empty() {
        remarks.push(("bytes", moved.join("; ")));
    }
    let calls = &profile.collectives;
    if calls.calls > 0 {
        let (count, waited) = (things(calls.calls as u64, "call"), time(calls.waited));
        remarks.push((
            "collectives",
            format!("{count}, {waited} of waiting for the last to come, over all ranks"),
        ));
    }
    let (rounds, each) = rounds(profile);
    if rounds > 0 {
        remarks.push((
            "exchange",
            format!(
                "{}, {} each on average",
                things(rounds, "round"),
                time(each)
            ),
        ));
    }
    let severest = profile.severest.as_ref().filter(|wait| wait.time >= SEVERE);
    remarks.push((
        "severest wait",
        severest.map_or("none".into(), |wait| severest_as_words(wait, profile)),
    ));
    if profile.folded {
        remarks.push((
            "note",
            "the shortest spans are in the trace as sums only; the times here are whole".into(),
        ));
    }
    let (advice, found) = advise(trace, profile);
    remarks.push(("advice", advice));
    let others = found.iter().skip(1);
    remarks.extend(others.map(|other| ("and", sentence(other))));
    remarks
}

fn imbalance(stage: &StageProfile) -> Option<String> {
    let imbalance = stage.imbalance();
    let time = imbalance.time?;
    let bytes = imbalance
        .bytes
        .map_or(String::new(), |bytes| format!(", bytes {bytes:.2}"));
    Some(format!("{}: time {time:.2}{bytes}", stage.name))
}

fn moved(stage: &StageProfile) -> Option<String> {
    let parts: Vec<String> = total(stage)
        .into_iter()
        .filter(|part| part.1 > 0)
        .map(|(name, sum)| format!("{} {name}", bytes(sum)))
        .collect();
    (!parts.is_empty()).then(|| format!("{}: {}", stage.name, parts.join(", ")))
}

/// Bytes of all ranks.
fn total(stage: &StageProfile) -> [(&'static str, u64); 6] {
    let mut total = [
        ("read", 0),
        ("parsed", 0),
        ("sent", 0),
        ("counted", 0),
        ("written", 0),
        ("spilled", 0),
    ];
    for cell in &stage.ranks {
        let parts = of_cell(cell);
        total
            .iter_mut()
            .zip(parts)
            .for_each(|(sum, part)| sum.1 += part.1);
    }
    total
}

fn of_cell(cell: &RankProfile) -> [(&'static str, u64); 6] {
    let bytes = cell.bytes;
    [
        ("read", bytes.read),
        ("parsed", bytes.parsed),
        ("sent", bytes.sent),
        ("counted", bytes.counted),
        ("written", bytes.written),
        ("spilled", bytes.spilled),
    ]
}

/// Rounds of the exchange, the same number on all ranks, and the mean of the seconds that one
/// takes.
fn rounds(profile: &RunProfile) -> (u64, f64) {
    let ranks = profile.stages.first().map_or(0, |stage| stage.ranks.len());
    let of_rank = |rank: usize| {
        profile
            .stages
            .iter()
            .map(|stage| stage.ranks[rank].rounds.0)
            .sum::<u64>()
    };
    let all: u64 = (0..ranks).map(of_rank).sum();
    let within: f64 = profile
        .stages
        .iter()
        .flat_map(|stage| &stage.ranks)
        .map(|cell| cell.rounds.1)
        .sum();
    (
        (0..ranks).map(of_rank).max().unwrap_or(0),
        within / all.max(1) as f64,
    )
}

fn severest_as_words(wait: &Wait, profile: &RunProfile) -> String {
    let (rank, stage) = (wait.rank, &profile.stages[wait.stage].name);
    let place = format!("rank {rank} ({}) in {stage}", wait.thread);
    match wait.late {
        Some((late, all)) => format!(
            "{place}: {} in the collective \"{}\" until rank {late} came; {} over all ranks",
            time(wait.time),
            wait.call,
            time(all)
        ),
        None => format!("{place}: {} for {}", time(wait.time), object(wait.what)),
    }
}

fn object(what: SpanKind) -> &'static str {
    match what {
        SpanKind::Buffer => "a send buffer",
        SpanKind::Border => "the end of a record that another thread has",
        SpanKind::Turn => "another thread of the rank",
        _ => "an answer of another rank",
    }
}

/// The profile as JSON.
pub fn facts(trace: &Trace, profile: &RunProfile) -> Value {
    let stages: Vec<Value> = profile
        .stages
        .iter()
        .map(|stage| stage_facts(trace, stage))
        .collect();
    let calls = &profile.collectives;
    let severest = profile.severest.as_ref().map(|wait| {
        let (rank, thread, stage) = (wait.rank, &wait.thread, &profile.stages[wait.stage].name);
        let late = wait
            .late
            .map(|(rank, all)| json!({"rank": rank, "seconds_of_all_ranks": rounded(all)}));
        json!({
            "rank": rank,
            "thread": thread,
            "stage": stage,
            "seconds": rounded(wait.time),
            "call": wait.call,
            "late": late,
        })
    });
    let (advice, found) = advise(trace, profile);
    let causes: Vec<Value> = found.iter().map(cause).collect();
    let late: Vec<f64> = calls.late.iter().map(|&time| rounded(time)).collect();
    json!({
        "command": trace.command,
        "ranks": trace.ranks,
        "seconds": rounded(profile.wall),
        "stages": stages,
        "collectives": {
            "calls": calls.calls,
            "waited_seconds": rounded(calls.waited),
            "waited_for_rank": late,
        },
        "rounds": rounds(profile).0,
        "severest_wait": severest,
        "short_spans_are_sums": profile.folded,
        "causes": causes,
        "advice": advice,
    })
}

fn cause(found: &Finding) -> Value {
    let says = found.to_string();
    json!({
        "rank": found.who.rank, "stage": found.stage, "seconds": rounded(found.seconds),
        "says": says,
    })
}

fn stage_facts(trace: &Trace, stage: &StageProfile) -> Value {
    let imbalance = stage.imbalance();
    let ranks: Vec<Value> = stage
        .ranks
        .iter()
        .enumerate()
        .map(|(rank, cell)| {
            let bytes: Map<String, Value> = of_cell(cell)
                .into_iter()
                .map(|(name, bytes)| (name.into(), bytes.into()))
                .collect();
            let node = trace.nodes.get(rank);
            json!({
                "rank": rank,
                "node": node,
                "seconds": rounded(cell.wall),
                "threads": cell.threads,
                "times": times(&cell.times),
                "bytes": bytes,
            })
        })
        .collect();
    json!({
        "stage": stage.name,
        "seconds": rounded(stage.wall()),
        "times": times(&stage.mean()),
        "imbalance": {"time": imbalance.time.map(rounded), "bytes": imbalance.bytes.map(rounded)},
        "ranks": ranks,
    })
}

fn times(times: &Times) -> Value {
    let named = Activity::ALL
        .into_iter()
        .map(|(place, name)| (name.to_string(), rounded(times[place as usize]).into()));
    Value::Object(named.collect())
}

/// Microseconds are all that a clock tells.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}
