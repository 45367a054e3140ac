//! `--trace`: a whole timeline, or no file.

use serde_json::Value;

use crate::place::Place;

fn events(place: &Place, name: &str) -> Vec<Value> {
    let trace = place.json(name);
    assert_eq!(trace["otherData"]["ranks"], 1);
    trace["traceEvents"].as_array().unwrap().clone()
}

#[test]
fn a_trace_holds_what_every_thread_did() {
    let place = Place::new();
    place.simulate("20000", "20");
    place.ok(&[
        "count",
        "r_1.fq",
        "r_2.fq",
        "-o",
        "o.gyk",
        "--threads",
        "2",
        "--trace",
        "t.json",
    ]);
    let events = events(&place, "t.json");
    let spans: Vec<&Value> = events.iter().filter(|event| event["ph"] == "X").collect();
    for name in [
        "open", "read", "parse", "scatter", "reduce", "write", "sync",
    ] {
        assert!(
            spans
                .iter()
                .any(|span| span["cat"] == "gyrase" && span["name"] == name),
            "{name}"
        );
    }
    let number = |value: &Value| value.as_f64().unwrap();
    for span in spans.iter().filter(|span| span["cat"] == "gyrase") {
        let cpu = number(&span["args"]["cpu"]);
        assert!(cpu >= 0.0 && cpu <= number(&span["dur"]), "{span}");
    }
    let used = events.iter().find(|event| event["name"] == "gyrase_rank");
    let used = &used.expect("each rank says what it used")["args"];
    assert!(number(&used["cpu_seconds"]) > 0.0 && !used["cores"].as_array().unwrap().is_empty());
    let stages: Vec<&str> = spans
        .iter()
        .filter(|span| span["cat"] == "stage")
        .filter_map(|span| span["name"].as_str())
        .collect();
    assert_eq!(stages, ["start", "read", "count", "write"]);
    let threads: Vec<&str> = events
        .iter()
        .filter(|event| event["name"] == "thread_name")
        .filter_map(|event| event["args"]["name"].as_str())
        .collect();
    assert!(
        threads.starts_with(&["stages", "main", "worker 0"]),
        "{threads:?}"
    );
    // Spans of a thread follow each other or lie within each other: viewers ask for that.
    for track in 1..=threads.len() as u64 {
        let mut ends: Vec<f64> = Vec::new();
        let mut of_track: Vec<(f64, f64)> = spans
            .iter()
            .filter(|span| span["tid"] == track)
            .map(|span| (span["ts"].as_f64().unwrap(), span["dur"].as_f64().unwrap()))
            .collect();
        of_track.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        for (start, time) in of_track {
            ends.retain(|&end| end > start + 0.0005);
            assert!(
                ends.iter().all(|&end| start + time <= end + 0.0015),
                "{start} {time} {ends:?}"
            );
            ends.push(start + time);
        }
    }
    let parsed: u64 = spans
        .iter()
        .filter(|span| span["name"] == "parse" && span["tid"] != 2)
        .filter_map(|span| span["args"]["bytes"].as_u64())
        .sum();
    assert_eq!(
        parsed as usize,
        place.read("r_1.fq").len() + place.read("r_2.fq").len()
    );
}

#[test]
fn a_failed_run_leaves_no_trace() {
    let place = Place::new();
    place.write("bad.fq", "@r\nACGT\n+\nIII\n");
    place.fails(
        &["count", "bad.fq", "-o", "o.gyk", "--trace", "t.json"],
        7,
        &["bad.fq"],
    );
}

#[test]
fn a_trace_that_cannot_be_written_is_refused_at_once() {
    let place = Place::new();
    place.write("r.fa", ">r\nACGTACGT\n");
    place.fails(
        &[
            "count",
            "r.fa",
            "-k",
            "3",
            "-o",
            "o.gyk",
            "--trace",
            "nowhere/t.json",
        ],
        6,
        &["there is no folder nowhere"],
    );
    place.fails(
        &["count", "r.fa", "-k", "3", "-o", "o.gyk", "--trace", "r.fa"],
        1,
        &["r.fa is an input"],
    );
    assert_eq!(place.read("r.fa"), b">r\nACGTACGT\n");
}

#[test]
fn a_profile_says_where_the_time_went() {
    let place = Place::new();
    place.simulate("20000", "20");
    place.ok(&[
        "count",
        "r_1.fq",
        "r_2.fq",
        "-o",
        "o.gyk",
        "--threads",
        "2",
        "--trace",
        "t.json",
    ]);
    let text = place.ok(&["profile", "t.json"]);
    for word in [
        "1 rank of 2 threads",
        "compute",
        "severest wait",
        "advice",
        "count r_1.fq",
    ] {
        assert!(text.contains(word), "{text}");
    }
    let profile: Value = serde_json::from_str(&place.ok(&["profile", "t.json", "--json"])).unwrap();
    let stages = profile["stages"].as_array().unwrap();
    let names: Vec<&str> = stages
        .iter()
        .filter_map(|stage| stage["stage"].as_str())
        .collect();
    assert_eq!(names, ["start", "read", "count", "write"]);
    for stage in stages {
        let seconds = stage["seconds"].as_f64().unwrap();
        let times: f64 = stage["times"]
            .as_object()
            .unwrap()
            .values()
            .filter_map(Value::as_f64)
            .sum();
        assert!(
            times >= seconds - 0.001 && times <= seconds * 1.5 + 0.001,
            "{stage}"
        );
    }
    let parsed = &stages[1]["ranks"][0]["bytes"]["parsed"];
    assert_eq!(
        parsed.as_u64(),
        Some((place.read("r_1.fq").len() + place.read("r_2.fq").len()) as u64)
    );
}

#[test]
fn what_is_no_trace_is_refused() {
    let place = Place::new();
    place.write("r.fa", ">r\nACGTACGT\n");
    place.write("empty.json", "");
    place.fails(&["profile", "r.fa"], 7, &["r.fa is no trace"]);
    place.fails(&["profile", "empty.json"], 7, &["empty.json is empty"]);
    place.fails(
        &["profile", "nowhere.json"],
        1,
        &["nowhere.json cannot be read"],
    );
    place.ok(&[
        "count", "r.fa", "-k", "3", "-o", "o.gyk", "--trace", "t.json",
    ]);
    let whole = place.read("t.json");
    place.write("cut.json", &whole[..whole.len() * 2 / 3]);
    place.fails(&["profile", "cut.json"], 7, &["cut.json is truncated"]);
}
