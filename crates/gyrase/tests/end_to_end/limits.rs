//! Memory and disk are limits that hold.

use crate::place::Place;

#[test]
fn too_little_memory_is_refused_before_the_first_byte() {
    let place = Place::new();
    place.simulate("2000", "2");
    place.fails(
        &["count", "r_1.fq", "-o", "o.gyk", "--memory", "1M"],
        4,
        &["--memory", "needs at least"],
    );
    place.fails(
        &["count", "nowhere.fq", "-o", "o.gyk", "--memory", "1M"],
        1,
        &["nowhere.fq"],
    );
}

#[test]
fn what_one_record_or_window_takes_is_part_of_the_promise() {
    let place = Place::new();
    place.write("r_1.fq", "@short\nACGTTGCA\n+\nIIIIIIII\n");
    let least = place.least_memory(1);
    let count = |name| {
        [
            "count",
            name,
            "-o",
            "o.gyk",
            "--threads",
            "1",
            "--memory",
            &least,
        ]
    };
    let long = 20 << 20;
    place.write(
        "long.fq",
        format!(
            "@endless\n{}\n+\n{}\n",
            "ACGT".repeat(long / 4),
            "I".repeat(long)
        ),
    );
    place.fails(
        &count("long.fq"),
        4,
        &["long.fq", "record 1", "endless", "--memory"],
    );
    place.ok(&["count", "long.fq", "-o", "o.gyk", "--memory", "3G"]);

    // A frame with one stored block and a window of 2 GiB, as `zstd --long=31` makes it.
    let text = place.read("r_1.fq");
    let block = ((text.len() as u32) << 3 | 1).to_le_bytes();
    place.write(
        "long.zst",
        [&b"\x28\xb5\x2f\xfd\x00\xa8"[..], &block[..3], &text].concat(),
    );
    place.fails(
        &count("long.zst"),
        4,
        &["2040 MiB of them", "--long", "--memory"],
    );
    place.fails(
        &[
            "plan",
            "count",
            "long.zst",
            "--threads",
            "1",
            "--memory",
            "1G",
        ],
        4,
        &["2040 MiB of them"],
    );
    place.ok(&[
        "count",
        "long.zst",
        "-o",
        "o.gyk",
        "--threads",
        "1",
        "--memory",
        "3G",
    ]);
}

#[test]
fn a_limit_on_address_space_is_heeded() {
    let place = Place::new();
    place.simulate("20000", "10");
    let args = ["count", "r_1.fq", "r_2.fq", "-o", "o.gyk"];
    let ran = place.limited("ulimit -v 1200000", &args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let before = place.files();
    let ran = place.limited(
        "ulimit -v 800000",
        &[&args[..], &["--memory", "6G"]].concat(),
    );
    if ran.code != 0 {
        place.check_failure(ran, 4, &["memory"], &before);
    }
}

#[test]
fn memory_stays_within_its_limit() {
    let place = Place::new();
    place.simulate_much();
    let least = place.least_memory(2);
    place.ok(&[
        "count", "r_1.fq", "r_2.fq", "-o", "o.gyk", "--memory", &least, "--report", "r.json",
    ]);
    let report = place.json("r.json");
    assert!(
        report["bytes"]["temporary"].as_u64().unwrap() > 0,
        "{report}"
    );
    assert!(
        report["peak_memory_bytes"].as_u64().unwrap() <= least.parse().unwrap(),
        "{report}"
    );
    assert_eq!(
        place.files(),
        ["g.fa", "o.gyk", "r.json", "r_1.fq", "r_2.fq"]
    );
}

/// What `plan` promises for a run, and what it takes; `more` names the output.
fn promised_and_taken(place: &Place, run: &[&str], more: &[&str]) -> (u64, u64) {
    let report = |args: &[&str], key: &str, name: &str| {
        place.ok(&[&["-q"], args, &["--report", "r.json"]].concat());
        let report = place.json("r.json");
        let found = if key.is_empty() {
            &report[name]
        } else {
            &report[key][name]
        };
        found.as_u64().unwrap()
    };
    (
        report(&[&["plan"], run].concat(), "bytes", "memory"),
        report(&[run, more].concat(), "", "peak_memory_bytes"),
    )
}

/// The program of the tests is not optimised, and larger.
#[test]
fn the_plan_promises_what_a_run_takes() {
    let place = Place::new();
    place.simulate_much();
    place.write("tax.tsv", "id\tgenus\tspecies\ng.fa\tA\tA a\n");
    let build = ["db", "build", "g.fa", "--taxonomy", "tax.tsv"];
    for (run, more) in [
        (&["count", "r_1.fq", "r_2.fq"][..], &["-o", "r.gyk"][..]),
        (
            &["count", "r_1.fq", "r_2.fq", "-k", "55", "-m", "240M"],
            &["-o", "s.gyk"],
        ),
        (&["count", "g.fa"], &["-o", "g.gyk"]),
        (&["kmers", "union", "r.gyk", "g.gyk"], &["-o", "u.gyk"]),
        (&["kmers", "filter", "r.gyk", "r_1.fq"], &["-o", "f.fq"]),
        (
            &["kmers", "filter", "g.gyk", "r_1.fq", "r_2.fq"],
            &["-o", "f.fq"],
        ),
        (&["kmers", "dump", "r.gyk"], &["-o", "r.txt"]),
        (&["kmers", "dump", "--sorted", "r.gyk"], &["-o", "s.txt"]),
        (&["kmers", "export", "r.gyk", "--to", "kmc"], &["-o", "r"]),
        (
            &["kmers", "export", "r.gyk", "--to", "kff"],
            &["-o", "r.kff"],
        ),
        (&["kmers", "import", "r.kff"], &["-o", "i.gyk"]),
        (&["kmers", "import", "r.kmc_pre"], &["-o", "i.gyk"]),
        (
            &["kmers", "import", "r.txt", "-m", "160M"],
            &["-o", "i.gyk"],
        ),
        (&build, &["-o", "g.gydb"]),
        (
            &["db", "add", "g.gydb", "g.fa", "--taxonomy", "tax.tsv"],
            &["-o", "h.gydb"],
        ),
        (
            &["classify", "--db", "g.gydb", "r_1.fq", "r_2.fq"],
            &["-o", "a.tsv"],
        ),
    ] {
        let (promised, taken) = promised_and_taken(&place, run, more);
        let larger = 16 << 20;
        assert!(
            taken < promised + larger && promised < taken + taken / 4 + larger,
            "{run:?}: promised {promised}, taken {taken}"
        );
    }
    let plan = place.ok(&[&["plan"], &build[..]].concat());
    for row in [
        "letters",
        "least --memory",
        "temporary disk  none",
        "output",
        "time",
    ] {
        assert!(plan.contains(row), "{row}: {plan}");
    }
    place.fails(
        &[&["plan"], &build[..], &["-m", "20M"]].concat(),
        4,
        &["a build with"],
    );
}

/// What the plan says of the size of an output holds it: whether small or large, of one genome or
/// of two that are the same.
#[test]
fn the_plan_promises_the_size_of_what_is_written() {
    let place = Place::new();
    place.simulate_much();
    let genome = String::from_utf8(place.read("g.fa")).unwrap();
    place.write("h.fa", genome.replace('>', ">other_"));
    place.write("t.fa", genome.split_at(20_000).0);
    place.write("tax.tsv", "id\tspecies\ng.fa\tA a\nh.fa\tA b\nt.fa\tA c\n");
    let first = genome[1..].split_whitespace().next().unwrap();
    let other = format!("other_{first}");
    let taxonomy = ["--taxonomy", "tax.tsv"];
    for (run, output) in [
        (&["db", "build", "t.fa"][..], "t.gydb"),
        (&["db", "build", "g.fa"], "g.gydb"),
        (&["db", "build", "g.fa", "h.fa"], "gh.gydb"),
        (&["db", "add", "t.gydb", "g.fa"], "tg.gydb"),
        (&["db", "add", "g.gydb", "h.fa"], "h.gydb"),
        (&["db", "merge", "t.gydb", "g.gydb"], "m.gydb"),
        (&["db", "merge", "g.gydb", "h.gydb"], "n.gydb"),
        (&["db", "remove", "h.gydb", "--target", &other], "r.gydb"),
        (&["count", "g.fa", "-k", "21"], "g.gyk"),
        (&["kmers", "dump", "g.gyk"], "g.txt"),
        (&["kmers", "dump", "g.gyk", "--style", "fasta"], "g.dump"),
        (&["kmers", "dump", "g.gyk", "--min-count", "2"], "g.two"),
        (&["kmers", "export", "g.gyk", "--to", "kff"], "g.kff"),
        (&["kmers", "export", "g.gyk", "--to", "text"], "g.tab"),
        (&["kmers", "import", "g.kff"], "i.gyk"),
        (&["kmers", "import", "g.dump"], "j.gyk"),
    ] {
        let build = matches!(run[1], "build" | "add");
        let run = [run, if build { &taxonomy } else { &[] }].concat();
        place.ok(&[&["-q", "plan"], &run[..], &["--report", "p.json"]].concat());
        place.ok(&[&["-q"], &run[..], &["-o", output]].concat());
        let plan = place.json("p.json");
        let promised = &plan["bytes"]["output"];
        let [least, most] = ["least", "most"].map(|bound| promised[bound].as_u64().unwrap());
        let written = place.read(output).len() as u64;
        assert!(
            (least..=most).contains(&written),
            "{run:?}: {promised}, not {written}"
        );
        let repeats = matches!(output, "gh.gydb" | "h.gydb" | "n.gydb" | "g.two");
        assert!(
            most <= written + written / 4 || repeats,
            "{run:?}: {promised}, not {written}"
        );
    }
}

/// A genome `g.fa` with more features than the buffers of a build of the least memory hold, and a
/// taxonomy `tax.tsv` of it.
fn references(place: &Place) {
    place.ok(&[
        "-q", "simulate", "genome", "-o", "g.fa", "--length", "12000000",
    ]);
    place.write("tax.tsv", "id\tspecies\ng.fa\tSome species\n");
}

const BUILD: [&str; 10] = [
    "db",
    "build",
    "g.fa",
    "--taxonomy",
    "tax.tsv",
    "-o",
    "g.gydb",
    "--one-in",
    "1",
    "--threads",
];

/// The least memory for a build, as the refusal of less tells it, in MiB.
fn least_for_build(place: &Place, threads: &str) -> u64 {
    let ran = place.run(&[&BUILD[..], &[threads, "--memory", "1M"]].concat());
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    let (_, least) = ran.stderr.split_once("needs at least ").unwrap();
    least.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_build_stays_within_its_memory() {
    let place = Place::new();
    references(&place);
    for threads in ["1", "2"] {
        let memory = (least_for_build(&place, threads) + 2) << 20;
        let limit = memory.to_string();
        let args = [
            &BUILD[..],
            &[threads, "--memory", &limit, "--report", "r.json"],
        ]
        .concat();
        place.ok(&args);
        let peak = place.json("r.json")["peak_memory_bytes"].as_u64().unwrap();
        assert!(peak <= memory, "{threads} threads: {peak} of {memory}");
        std::fs::rename(place.path("g.gydb"), place.path(&format!("{threads}.gydb"))).unwrap();
    }
    place.ok(&[&BUILD[..], &["2", "--memory", "1G"]].concat());
    assert!(
        place.read("1.gydb") == place.read("g.gydb")
            && place.read("2.gydb") == place.read("g.gydb")
    );
    assert_eq!(
        place.files(),
        ["1.gydb", "2.gydb", "g.fa", "g.gydb", "r.json", "tax.tsv"]
    );
}

#[test]
fn a_database_in_memory_that_does_not_fit_is_refused() {
    let place = Place::new();
    references(&place);
    place.write("r.fa", ">r\nACGTTGCAACGTTGCAACGTTGCAACGTTGCAACGTTGCAACGT\n");
    place.write("refs.txt", "g.fa\n".repeat(6));
    let memory = ((least_for_build(&place, "2") + 2) << 20).to_string();
    let args = [
        "classify",
        "--refs",
        "@refs.txt",
        "--taxonomy",
        "tax.tsv",
        "r.fa",
        "--threads",
        "2",
        "--memory",
        &memory,
    ];
    place.fails(&args, 4, &["in memory", "--memory", "gyrase db build"]);
}

#[test]
fn a_full_disk_is_named_and_leaves_nothing() {
    let place = Place::new();
    place.simulate_much();
    let before = place.files();
    let least = place.least_memory(2);
    // In bash the unit of `ulimit -f` is 1,024 bytes.
    for memory in [&least, "2G"] {
        let args = [
            "count", "r_1.fq", "r_2.fq", "-o", "o.gyk", "--memory", memory,
        ];
        place.check_failure(
            place.limited("ulimit -f 500", &args),
            6,
            &["File too large"],
            &before,
        );
    }
    let args = [
        "count", "r_1.fq", "r_2.fq", "-o", "o.gyk", "--memory", &least,
    ];
    place.fails(
        &[&args[..], &["--max-tmp", "100K"]].concat(),
        6,
        &["--max-tmp"],
    );
    place.fails(
        &[&args[..], &["--tmp", "g.fa"]].concat(),
        6,
        &["g.fa", "--tmp"],
    );
}

#[test]
fn few_open_files_are_enough() {
    let place = Place::new();
    place.simulate_much();
    let args = [
        "count",
        "r_1.fq",
        "r_2.fq",
        "-o",
        "o.gyk",
        "--memory",
        &place.least_memory(2),
    ];
    let ran = place.limited("ulimit -n 40", &args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn evidence_of_a_deep_lineage_keeps_to_the_memory() {
    let place = Place::new();
    std::fs::create_dir(place.path("tax")).unwrap();
    let (depth, mut nodes, mut names) = (33_000, String::new(), String::new());
    for taxid in 1..=depth {
        let (parent, rank) = (
            1.max(taxid - 1),
            if taxid == depth { "species" } else { "no rank" },
        );
        nodes += &format!("{taxid}\t|\t{parent}\t|\t{rank}\t|\n");
        names += &format!("{taxid}\t|\tt{taxid}\t|\t\t|\tscientific name\t|\n");
    }
    place.write("tax/nodes.dmp", nodes);
    place.write("tax/names.dmp", names);
    let simulate = ["-q", "simulate"];
    place.ok(&[
        &simulate[..],
        &["genome", "-o", "g.fa", "--length", "1000000"],
    ]
    .concat());
    place.ok(&[
        &simulate[..],
        &["reads", "g.fa", "-o", "r.fq", "--coverage", "1"],
    ]
    .concat());
    place.write("map", format!("g.fa\t{depth}\n"));
    let build = [
        "db",
        "build",
        "g.fa",
        "--taxonomy",
        "tax",
        "--map",
        "map",
        "-o",
        "g.gydb",
    ];
    place.ok(&[&["-q"], &build[..]].concat());
    let args = [
        "classify",
        "--db",
        "g.gydb",
        "r.fq",
        "-o",
        "o",
        "--evidence",
        "e.tsv",
        "--kreport",
        "k",
        "-t",
        "1",
    ];
    let ran = place.limited("ulimit -v 300000", &[&args[..], &["-m", "150M"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lines = String::from_utf8(place.read("e.tsv")).unwrap();
    assert_eq!(lines.lines().count(), 1 + depth, "a line a clade");
    // What is found in the leaf is found in every clade above it.
    let found = |line: &str| {
        line.split('\t')
            .skip(5)
            .take(2)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let all: std::collections::HashSet<_> = lines.lines().skip(1).map(found).collect();
    assert_eq!(all.len(), 1);
}
