//! `gyrase lab`: tables, files and pictures of simulated schedules.

use crate::place::Place;

/// Few and short workloads.
const FEW: [&str; 6] = [
    "-q",
    "lab",
    "schedule",
    "--queries=80",
    "--seeds=2",
    "--load=0.6,0.8",
];

fn run(place: &Place, more: &[&str]) -> String {
    place.ok(&[&FEW[..], more].concat())
}

/// The cells of a table, line by line.
fn cells(table: &str) -> Vec<Vec<&str>> {
    table
        .lines()
        .map(|line| line.split('\t').collect())
        .collect()
}

#[test]
fn the_same_seeds_give_the_same_tables() {
    let place = Place::new();
    let table = run(&place, &["-t", "1"]);
    assert_eq!(table, run(&place, &["-t", "2"]));
    assert_ne!(table, run(&place, &["--seed", "2"]));
    let rows = cells(&table);
    assert_eq!(rows.len(), 1 + 8 * 2);
    assert_eq!(
        rows[0][..5],
        ["policy", "load", "workloads", "queries", "unserved"]
    );
    assert_eq!(rows[1][..5], ["FIX-S", "0.6", "2", "80.0", "0.000"]);
    let json = ["--policy", "rmap-plard", "-o", "r.json", "--table"];
    assert!(run(&place, &json).starts_with("load  policy       mean"));
    let found = place.json("r.json");
    assert_eq!(
        (found.as_array().unwrap().len(), &found[1]["load"]),
        (2, &"0.8".into())
    );
    let response = found[0]["response_s"].as_f64().unwrap();
    let row = rows
        .iter()
        .find(|row| row[..2] == ["RMAP-PLARD", "0.6"])
        .unwrap();
    assert_eq!(format!("{response:.2}"), row[8], "{row:?}");
}

#[test]
fn workloads_and_clusters_are_read_back() {
    let place = Place::new();
    let one = [
        "lab",
        "schedule",
        "--policy",
        "rmap-plard,fix-m",
        "--load",
        "0.7",
        "--seeds",
        "1",
    ];
    let drawn = place.ok(&[&one[..], &["--queries", "90"]].concat());
    let written = [
        "--queries",
        "90",
        "--workload-out",
        "w.tsv.gz",
        "--cluster-out",
        "c.json",
    ];
    let load = ["lab", "schedule", "--load", "0.7", "--seeds", "1"];
    assert_eq!(place.ok(&[&load[..], &written].concat()), "");
    let given = [
        "lab",
        "schedule",
        "--policy",
        "rmap-plard,fix-m",
        "--workload",
        "w.tsv.gz",
    ];
    let cluster = [
        "--cluster",
        "c.json",
        "--timeline",
        "t.tsv",
        "--report",
        "r.json",
    ];
    let again = place.ok(&[&given[..], &cluster].concat());
    assert_eq!(again.replace("\tgiven\t", "\t0.7\t"), drawn);
    let timeline = String::from_utf8(place.read("t.tsv")).unwrap();
    let rows = cells(&timeline);
    assert_eq!(rows.len(), 1 + 2 * 90);
    let sum: f64 = rows[1..91]
        .iter()
        .map(|row| row[7].parse::<f64>().unwrap() - row[5].parse::<f64>().unwrap())
        .sum();
    let mean = place.json("r.json")["results"][0]["response_s"]
        .as_f64()
        .unwrap();
    assert!((sum / 90.0 - mean).abs() < 0.001, "{sum} {mean}");
    // With fewer nodes all take longer, and there are no partitions of 32 processors.
    let fewer = place.ok(&[&given[..], &["--cluster", "c.json", "--nodes", "10"]].concat());
    assert_ne!(fewer, again);
}

#[test]
fn figures_are_drawn() {
    let place = Place::new();
    let args = [
        "-q",
        "lab",
        "schedule",
        "--seeds",
        "1",
        "--figures",
        "figures",
    ];
    assert_eq!(place.ok(&args), "");
    let mut names: Vec<_> = std::fs::read_dir(place.path("figures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 5);
    assert!(names[0].starts_with("figure-5.4") && names[4].starts_with("figure-5.8"));
    assert!(
        place
            .read("figures/figure-5.7-fixed-loads.svg")
            .starts_with(b"<svg")
    );
}

#[test]
fn what_is_wrong_is_named() {
    let place = Place::new();
    place.write("w.tsv", "1\tnt\t1\n2\tntt\t1\n");
    let text = place.ok(&["lab", "schedule", "--cluster-out", "-"]);
    place.write("typo.json", text.replace("\"nodes\"", "\"node\""));
    place.write("six.json", text.replace("\"least\": 8", "\"least\": 6"));
    let cases: [(&[&str], i32, &[&str]); 8] = [
        (
            &["--workload", "w.tsv"],
            7,
            &["w.tsv, line 2", "one of env_nr, nr", "\"ntt\""],
        ),
        (&["--workload", "no.tsv"], 1, &["cannot read no.tsv"]),
        (
            &["--cluster", "typo.json"],
            7,
            &["unknown field `node`", "line 2", "--cluster-out"],
        ),
        (&["--cluster", "six.json"], 1, &["6 processors for nt"]),
        (
            &["--nodes", "3"],
            1,
            &["6 processors", "the 8 that the smallest partition for nt"],
        ),
        (&["--policy", "best"], 1, &["fix-s, fix-s-plard"]),
        (&["--load", "0"], 1, &["0.001 to 1000"]),
        (
            &["--table", "-o", "-"],
            1,
            &["two outputs go to standard output"],
        ),
    ];
    for (args, code, words) in cases {
        place.fails(&[&["lab", "schedule"], args].concat(), code, words);
    }
}

#[test]
fn drives_that_count_find_what_the_counter_finds() {
    let place = crate::classify::place();
    let ssd = [
        "-q", "lab", "ssd", "r_1.fq", "-k", "21", "--design", "op,basic", "--pad", "2K",
    ];
    let more = ["--report", "x.json", "--plot", "f.svg"];
    let text = place.ok(&[&ssd[..], &more].concat());
    assert_eq!(text, place.ok(&[&ssd[..], &["-t", "1"]].concat()));
    place.ok(&[
        "-q", "count", "r_1.fq", "-k", "21", "-o", "r.gyk", "--report", "c.json",
    ]);
    let (report, counted) = (place.json("x.json"), place.json("c.json"));
    let (found, counts) = (&report["results"]["profile"], &counted["counts"]);
    assert!(found["kmers"].as_u64() > Some(0), "{found}");
    for name in ["kmers", "distinct", "unique"] {
        assert_eq!(found[name], counts[name], "{counts}");
    }
    let runs = report["results"]["runs"].as_array().unwrap();
    assert_eq!([&runs[0]["design"], &runs[1]["design"]], ["basic", "op"]);
    let bytes = &runs[0]["bytes"];
    assert_eq!(bytes["super_kmers_written"], found["super_kmer_bytes"]);
    assert!(place.read("f.svg").starts_with(b"<svg "));
    let where_to = [
        "-q", "lab", "where", "r_1.fq", "--sample", "50K", "--read", "1K",
    ];
    let said = place.ok(&[&where_to[..], &["--machine-out", "m.json"]].concat());
    assert!(
        said.contains("what holds the run up most is storage"),
        "{said}"
    );
    place.ok(&[&where_to[..6], &["--machine", "m.json", "-o", "w.html"]].concat());
    assert!(
        String::from_utf8(place.read("w.html"))
            .unwrap()
            .contains("<h1>Where the time")
    );
}
