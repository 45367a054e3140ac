//! Who reads what: shares are equal whatever the sizes of the files, and those who are done help a
//! slow one.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::launch::{Job, Mpi};
use crate::place::Place;

/// A library that makes files behave as on a bad machine, as shell text for [`Job::on`];
/// `bad_machine.c` has the variables.
pub fn hindered(variable: &str) -> String {
    static LIBRARY: OnceLock<String> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bad-machine.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mpi/bad_machine.c");
        let mut compiler = Command::new("cc");
        compiler
            .args(["-shared", "-fPIC", "-o"])
            .arg(&made)
            .arg(source)
            .arg("-ldl");
        assert!(compiler.status().unwrap().success());
        made.to_str().unwrap().to_owned()
    });
    format!("export {variable} LD_PRELOAD={library}")
}

/// A figure of every rank.
pub fn of_ranks(report: &Value, name: &str) -> Vec<u64> {
    let ranks = report["ranks"]
        .as_array()
        .unwrap_or_else(|| panic!("no ranks in {report}"));
    ranks
        .iter()
        .map(|rank| {
            rank[name]
                .as_u64()
                .unwrap_or_else(|| panic!("no {name} in {rank}"))
        })
        .collect()
}

const COUNT: [&str; 9] = [
    "-q",
    "count",
    "r_1.fq",
    "r_2.fq",
    "-o",
    "o.gyk",
    "--threads",
    "1",
    "--report",
];

#[test]
fn the_chunks_of_a_slow_rank_are_taken_by_others() {
    let place = Place::new();
    place.simulate("60000", "40");
    place.ok(&["-q", "count", "r_1.fq", "r_2.fq", "-o", "alone.gyk"]);
    for mpi in Mpi::all() {
        let job = Job::new(&place, mpi, 3).on(1, hindered("GYRASE_DELAY_MS=500"));
        job.alone()
            .ok(&[&COUNT[..], &["r.json", "--chunk", "100K"]].concat());
        assert!(place.read("o.gyk") == place.read("alone.gyk"));
        let report = place.json("r.json");
        let bytes = of_ranks(&report, "bytes_read");
        let whole: u64 = bytes.iter().sum();
        // A third of them were the slow rank's.
        assert!(bytes[1] < whole / 6, "the slow rank read {bytes:?}");
        assert!(
            bytes[0] + bytes[2] > whole / 6 * 5,
            "the others read {bytes:?}"
        );
    }
}

#[test]
fn nobody_waits_for_a_rank_that_is_slow_to_open_the_output() {
    let place = Place::new();
    place.simulate("30000", "20");
    place.ok(&["-q", "count", "r_1.fq", "r_2.fq", "-o", "alone.gyk"]);
    for mpi in Mpi::all() {
        let job = Job::new(&place, mpi, 3).on(1, hindered("GYRASE_SLOW_OPEN=o.gyk.partial"));
        job.alone()
            .ok(&[&COUNT[..], &["r.json", "--chunk", "64K"]].concat());
        assert!(place.read("o.gyk") == place.read("alone.gyk"));
        let bytes = of_ranks(&place.json("r.json"), "bytes_read");
        assert!(
            bytes[1] == 0 && bytes[0] + bytes[2] > 0,
            "others wait for the slow rank before they read: {bytes:?}"
        );
    }
}

#[test]
fn shares_are_equal_whatever_the_sizes_of_files() {
    let place = Place::new();
    place.simulate("60000", "40");
    let reads = String::from_utf8(place.read("r_2.fq")).unwrap();
    let lines: Vec<&str> = reads.lines().collect();
    // One file with 90 % of the bytes, and many small ones.
    let small: Vec<String> = (0..20).map(|number| format!("small-{number}.fq")).collect();
    let part = lines.len() / 4 / 20 / 9 * 4;
    for (number, name) in small.iter().enumerate() {
        place.write(
            name,
            format!("{}\n", lines[number * part..][..part].join("\n")),
        );
    }
    let files: Vec<&str> = small[..10]
        .iter()
        .map(String::as_str)
        .chain(["r_1.fq"])
        .collect();
    let files = [files, small[10..].iter().map(String::as_str).collect()].concat();
    place.ok(&[&["-q", "count", "-o", "alone.gyk"], &files[..]].concat());
    for mpi in Mpi::all() {
        let means = [
            "-o",
            "o.gyk",
            "--threads",
            "1",
            "--chunk",
            "64K",
            "--stealing",
            "off",
            "--report",
            "r.json",
        ];
        Job::new(&place, mpi, 4)
            .alone()
            .ok(&[&["-q", "count"], &means[..], &files].concat());
        assert!(place.read("o.gyk") == place.read("alone.gyk"));
        let bytes = of_ranks(&place.json("r.json"), "bytes_read");
        let mean = bytes.iter().sum::<u64>() as f64 / 4.0;
        assert!(
            *bytes.iter().max().unwrap() as f64 <= 1.1 * mean,
            "{bytes:?}"
        );
    }
}
