//! `gyrase unitigs`: the same bytes for any means, whole or not at all, and what it refuses.

use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::place::{Place, gzip};

const PAIR: [&str; 2] = ["r_1.fq", "r_2.fq"];

/// The text of these arguments, in memory and out of core, with one thread and two.
fn each_way(place: &Place, args: &[&str], output: &str) -> Vec<u8> {
    let mut first: Option<Vec<u8>> = None;
    for threads in ["1", "2"] {
        let least = place.least_memory(threads.parse().unwrap());
        for memory in [&least, "2G"] {
            let means = ["-t", threads, "-m", memory, "-q", "--report", "r.json"];
            place.ok(&[&["unitigs", "-o", output], args, &means].concat());
            let report = place.json("r.json");
            assert!(report["peak_memory_bytes"].as_u64().unwrap() <= report_memory(&report));
            let bytes = place.read(output);
            let same = first.as_ref().is_none_or(|first| *first == bytes);
            assert!(same, "{args:?} {means:?}");
            first.get_or_insert(bytes);
        }
    }
    first.unwrap()
}

fn report_memory(report: &serde_json::Value) -> u64 {
    report["parameters"]["memory_bytes"].as_u64().unwrap()
}

#[test]
fn threads_memory_and_order_leave_no_trace() {
    let place = Place::new();
    place.simulate_much();
    for (k, output) in [("31", "o.fa"), ("127", "o.gfa")] {
        let args = ["--min-count", "2", "-k", k];
        let one = each_way(&place, &[&args[..], &PAIR].concat(), output);
        let other = ["unitigs", "r_2.fq", "r_1.fq", "-o", output];
        place.ok(&[&other[..], &args].concat());
        assert!(one == place.read(output) && one.len() > 400_000, "{k}");
    }
}

#[test]
fn more_kmers_than_memory_holds_make_the_same() {
    let place = Place::new();
    place.ok(&[
        "-q", "simulate", "genome", "-o", "g.fa", "--length", "3000000",
    ]);
    let means = ["-t", "1", "-m", "100M", "--report", "r.json"];
    place.ok(&[&["unitigs", "g.fa", "-o", "spilled.fa"], &means[..]].concat());
    let report = place.json("r.json");
    assert!(report["bytes"]["temporary"].as_u64() > Some(1_000_000));
    assert!(report["peak_memory_bytes"].as_u64().unwrap() <= report_memory(&report));
    place.ok(&["unitigs", "g.fa", "-o", "held.fa"]);
    assert!(place.read("spilled.fa") == place.read("held.fa"));
    assert_eq!(place.files(), ["g.fa", "held.fa", "r.json", "spilled.fa"]);
}

#[test]
fn databases_make_what_their_reads_make() {
    let place = Place::new();
    place.simulate("20000", "20");
    place.ok(&[
        "unitigs",
        "r_1.fq",
        "r_2.fq",
        "--min-count",
        "3",
        "-o",
        "reads.fa",
    ]);
    place.ok(&["count", "r_1.fq", "r_2.fq", "-o", "both.gyk"]);
    place.ok(&["count", "r_1.fq", "-o", "one.gyk"]);
    place.ok(&["count", "r_2.fq", "-o", "two.gyk"]);
    for databases in [
        &["both.gyk"][..],
        &["one.gyk", "two.gyk"],
        &["two.gyk", "one.gyk"],
    ] {
        let args = [&["unitigs", "--min-count", "3", "-o", "o.fa"], databases].concat();
        place.ok(&args);
        assert!(
            place.read("o.fa") == place.read("reads.fa"),
            "{databases:?}"
        );
    }
    let printed = place.ok(&["unitigs", "both.gyk", "--min-count", "3"]);
    assert!(printed.as_bytes() == place.read("reads.fa"));
    let graph = place.ok(&[
        "unitigs",
        "both.gyk",
        "--min-count",
        "3",
        "--format",
        "gfa",
        "-o",
        "-",
    ]);
    place.ok(&["unitigs", "both.gyk", "--min-count", "3", "-o", "o.gfa.gz"]);
    assert!(graph.starts_with("H\tVN:Z:1.0\nS\t0\t"));
    assert_eq!(place.read("o.gfa.gz")[..2], gzip(b"")[..2]);
}

#[test]
fn what_makes_no_unitigs_is_refused() {
    let place = Place::new();
    place.simulate("2000", "5");
    place.ok(&["count", "g.fa", "-o", "g.gyk"]);
    place.ok(&["count", "g.fa", "-k", "21", "-o", "short.gyk"]);
    place.ok(&["count", "g.fa", "-k", "32", "-o", "even.gyk"]);
    place.ok(&["count", "g.fa", "--stranded", "-o", "stranded.gyk"]);
    place.write("broken.fq", "@r\nACGT\n+\nII\n");
    place.write("broken.gyk", "GYK");
    let refused: [(&[&str], i32, &[&str]); 11] = [
        (&["g.fa", "-k", "30"], 1, &["odd", "-k 29 or -k 31"]),
        (&["g.fa", "-k", "1"], 1, &["odd, from 3"]),
        (&["even.gyk"], 1, &["k is 32"]),
        (
            &["stranded.gyk"],
            1,
            &["strands apart", "without --stranded"],
        ),
        (
            &["g.gyk", "short.gyk"],
            1,
            &["short.gyk is of 21-mers", "31-mers"],
        ),
        (&["g.gyk", "-k", "21"], 1, &["31-mers", "-k 21"]),
        (&["g.gyk", "g.fa"], 1, &["cannot be mixed"]),
        (&["g.gyk", "--paired"], 1, &["for reads"]),
        (&["broken.fq"], 7, &["broken.fq"]),
        (&["broken.gyk"], 2, &["broken.gyk"]),
        (&["g.fa", "-m", "50M"], 4, &["needs at least", "MiB"]),
    ];
    for (args, code, words) in refused {
        for verb in [
            &["unitigs", "-o", "o.fa"][..],
            &["plan", "unitigs", "-o", "o.fa"],
        ] {
            // A plan reads no records.
            if !(verb[0] == "plan" && args[0] == "broken.fq") {
                place.fails(&[verb, args].concat(), code, words);
            }
        }
    }
    place.fails(&["unitigs", "g.fa", "-o", "g.fa"], 1, &["g.fa"]);
    let files = place.files();
    let ran = place.limited("ulimit -f 1", &["unitigs", "g.fa", "-o", "o.fa"]);
    place.check_failure(ran, 6, &["o.fa"], &files);
}

#[test]
fn nothing_makes_a_valid_empty_file() {
    let place = Place::new();
    place.write("empty.fa", "");
    place.write("short.fa", ">r\nACGT\n");
    place.write("n.fa", format!(">r\n{}\n", "N".repeat(100)));
    for input in ["empty.fa", "short.fa", "n.fa"] {
        let said = place.run(&["unitigs", input, "-o", "o.fa"]);
        assert!(
            said.code == 0 && said.stderr.contains("no unitig"),
            "{}",
            said.stderr
        );
        assert!(place.read("o.fa").is_empty());
        place.ok(&["unitigs", input, "-o", "o.gfa"]);
        assert_eq!(place.read("o.gfa"), b"H\tVN:Z:1.0\n");
    }
}

#[test]
fn a_plan_promises_not_too_little() {
    let place = Place::new();
    place.simulate("200000", "30");
    place.ok(&["count", "r_1.fq", "r_2.fq", "-o", "r.gyk"]);
    for inputs in [&PAIR[..], &["r.gyk"]] {
        let args = [
            inputs,
            &["--min-count", "2", "-t", "2", "--report", "r.json"],
        ]
        .concat();
        let said = place.ok(&[&["plan", "unitigs"], &args[..]].concat());
        assert!(said.contains("memory") && said.contains("time"), "{said}");
        let planned = place.json("r.json")["bytes"]["memory"]["most"]
            .as_u64()
            .unwrap();
        place.ok(&[&["unitigs", "-o", "o.fa"], &args[..]].concat());
        let taken = place.json("r.json")["peak_memory_bytes"].as_u64().unwrap();
        assert!(taken <= planned, "{inputs:?}: {taken} of {planned}");
    }
}

#[test]
fn a_killed_run_leaves_nothing_that_looks_whole() {
    let place = Place::new();
    place.simulate("300000", "20");
    let args = ["unitigs", "r_1.fq", "r_2.fq", "-o", "o.fa", "-m", "250M"];
    place.ok(&args);
    let whole = place.read("o.fa");
    let files = place.files();
    for moment in (0..200).step_by(20) {
        std::fs::remove_file(place.path("o.fa")).unwrap();
        let mut child = place.command(&args).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(moment));
        child.kill().unwrap();
        child.wait().unwrap();
        let there = std::fs::read(place.path("o.fa"));
        assert!(
            there.is_err() || there.unwrap() == whole,
            "after {moment} ms"
        );
        place.ok(&args);
        assert!(place.read("o.fa") == whole && place.files() == files);
    }
}
