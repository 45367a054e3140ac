//! Every verb does what its help says.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use gyrase_seq::reverse_complement;

use crate::place::{Place, gzip};

/// The definition: canonical k-mers over A, C, G, T of each sequence, sorted.
fn naive(sequences: &[&str], k: usize) -> String {
    let mut counts = BTreeMap::new();
    for sequence in sequences {
        let letters = sequence.to_uppercase().replace('U', "T").into_bytes();
        for word in letters
            .windows(k)
            .filter(|word| word.iter().all(|letter| b"ACGT".contains(letter)))
        {
            *counts
                .entry(word.to_vec().min(reverse_complement(word)))
                .or_insert(0) += 1;
        }
    }
    counts
        .iter()
        .map(|(word, count)| format!("{}\t{count}\n", String::from_utf8_lossy(word)))
        .collect()
}

#[test]
fn counts_odd_text_as_defined() {
    let place = Place::new();
    place.write(
        "a.data",
        ">one\r\nacgtNACGu\r\nTTGCA\r\n>empty\r\n\r\n>two no end\r\nGATTACAGATTACARG",
    );
    place.write(
        "b",
        gzip(b"@r 1\nACGTACGT\n+r 1\nIIIIIIII\n@r 2\nTTGCAATG\n+\n@@@@@@@@\n"),
    );
    let sequences = ["acgtNACGuTTGCA", "GATTACAGATTACARG", "ACGTACGT", "TTGCAATG"];
    for k in [1, 2, 3, 5, 8] {
        place.ok(&["count", "a.data", "b", "-k", &k.to_string(), "-o", "o.gyk"]);
        assert_eq!(
            place.ok(&["kmers", "dump", "o.gyk", "--sorted"]),
            naive(&sequences, k),
            "k={k}"
        );
    }
    place.ok(&[
        "count",
        "a.data",
        "b",
        "-k",
        "3",
        "-o",
        "o.gyk",
        "--min-count",
        "2",
        "--max-count",
        "3",
    ]);
    let all = naive(&sequences, 3);
    let kept = all
        .lines()
        .filter(|line| line.ends_with("\t2") || line.ends_with("\t3"));
    assert_eq!(
        place
            .ok(&["kmers", "dump", "o.gyk", "--sorted"])
            .lines()
            .collect::<Vec<_>>(),
        kept.collect::<Vec<_>>()
    );
}

#[test]
fn reads_pipes_and_lists() {
    let place = Place::new();
    place.simulate("5000", "5");
    place.write("list", "r_1.fq\nr_2.fq\n");
    place.ok(&["count", "r_1.fq", "r_2.fq", "-o", "files.gyk"]);
    place.ok(&["count", "@list", "-o", "list.gyk"]);
    assert_eq!(place.read("files.gyk"), place.read("list.gyk"));
    let file = std::fs::File::open(place.path("r_1.fq")).unwrap();
    assert!(
        place
            .command(&["-q", "count", "-", "-o", "pipe.gyk"])
            .stdin(file)
            .status()
            .unwrap()
            .success()
    );
    place.ok(&["count", "r_1.fq", "-o", "file.gyk"]);
    assert_eq!(
        place.ok(&["kmers", "dump", "pipe.gyk"]),
        place.ok(&["kmers", "dump", "file.gyk"])
    );
}

#[test]
fn a_folder_stands_for_its_sequences() {
    let place = Place::new();
    place.simulate("5000", "5");
    std::fs::create_dir(place.path("in")).unwrap();
    place.write("in/b.fq.gz", gzip(&place.read("r_2.fq")));
    place.write("in/a.fastq", place.read("r_1.fq"));
    place.write("in/g.fna", place.read("g.fa"));
    place.write("in/notes.txt", "no sequences");
    let said = place.run(&["count", "in", "-o", "in.gyk", "--report", "r.json"]);
    assert!(
        said.stderr.contains("in: 3 files of sequences"),
        "{}",
        said.stderr
    );
    let names = ["in/a.fastq", "in/b.fq.gz", "in/g.fna"];
    assert_eq!(place.json("r.json")["inputs"], serde_json::json!(names));
    place.ok(&["count", names[0], names[1], names[2], "-o", "files.gyk"]);
    assert_eq!(place.read("in.gyk"), place.read("files.gyk"));
    assert!(place.ok(&["plan", "count", "in"]).contains("bases"));
    std::fs::create_dir(place.path("empty")).unwrap();
    place.fails(
        &["count", "empty", "-o", "o.gyk"],
        1,
        &["the folder empty has no sequences"],
    );
}

#[test]
fn the_report_says_what_was_done() {
    let place = Place::new();
    place.simulate("5000", "10");
    let said = place.run(&[
        "count", "r_1.fq", "r_2.fq", "-k", "21", "-o", "o.gyk", "--report", "run.json", "--histo",
        "h",
    ]);
    for word in [
        "334 reads",
        "bases",
        "21-mers",
        "distinct in o.gyk",
        "unique",
        "peak memory",
    ] {
        assert!(said.stderr.contains(word), "{word}: {}", said.stderr);
    }
    let report = place.json("run.json");
    assert_eq!(report["gyrase"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["parameters"]["k"], 21);
    assert_eq!(report["inputs"][1], "r_2.fq");
    assert_eq!(report["counts"]["reads"], 334);
    assert_eq!(report["bytes"]["output"], place.read("o.gyk").len());
    assert!(report["peak_memory_bytes"].as_u64().unwrap() > 1_000_000);
    assert!(report["stages"].as_array().unwrap().len() >= 2);
    assert_eq!(
        place.ok(&["kmers", "histo", "o.gyk"]).into_bytes(),
        place.read("h")
    );
    assert_eq!(
        place.run(&["-q", "count", "r_1.fq", "-o", "o.gyk"]).stderr,
        ""
    );
    let lines = place
        .run(&["--log", "json", "count", "r_1.fq", "-o", "o.gyk"])
        .stderr;
    let lines: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(lines.iter().all(|line| line["level"] == "INFO"));
    assert!(lines.iter().any(|line| line["fields"]["reads"] == 167));
    let failed = place
        .run(&["--log", "json", "count", "none.fq", "-o", "o.gyk"])
        .stderr;
    let failed: serde_json::Value = serde_json::from_str(&failed).unwrap();
    assert_eq!(failed["fields"]["exit_code"], 1);
}

#[test]
fn databases_are_described_combined_and_verified() {
    let place = Place::new();
    place.write("a.fa", ">a\nACGTTGCATTAG\n");
    place.write("b.fa", ">b\nACGTTGCAGGCC\n");
    for name in ["a", "b"] {
        place.ok(&[
            "count",
            &format!("{name}.fa"),
            "-k",
            "5",
            "-o",
            &format!("{name}.gyk"),
        ]);
    }
    let info: serde_json::Value =
        serde_json::from_str(&place.ok(&["kmers", "info", "a.gyk", "--json"])).unwrap();
    assert_eq!(
        (&info["k"], &info["total"], &info["inputs"][0]),
        (&5.into(), &8.into(), &"a.fa".into())
    );
    assert!(
        place
            .ok(&["kmers", "info", "a.gyk"])
            .contains("5 bases, canonical")
    );
    assert_eq!(place.ok(&["kmers", "verify", "a.gyk", "b.gyk"]), "");

    let dump = |name: &str| place.ok(&["kmers", "dump", name, "--sorted"]);
    place.ok(&["kmers", "union", "a.gyk", "b.gyk", "-o", "u.gyk"]);
    assert_eq!(dump("u.gyk"), naive(&["ACGTTGCATTAG", "ACGTTGCAGGCC"], 5));
    let said = place
        .run(&["kmers", "intersect", "a.gyk", "b.gyk", "-o", "i.gyk"])
        .stderr;
    assert_eq!(dump("i.gyk"), naive(&["ACGTTGCA"], 5));
    assert!(
        said.contains("a.gyk: 8 k-mers") && said.contains("in all of them: 4 k-mers"),
        "{said}"
    );
    place.ok(&["kmers", "subtract", "a.gyk", "b.gyk", "-o", "s.gyk"]);
    assert_eq!(dump("s.gyk"), naive(&["TGCATTAG"], 5));
    place.ok(&[
        "kmers", "subtract", "u.gyk", "b.gyk", "--counts", "-o", "c.gyk",
    ]);
    assert_eq!(dump("c.gyk"), dump("a.gyk"));
    place.ok(&["kmers", "union", "u.gyk", "--min-count", "2", "-o", "m.gyk"]);
    assert_eq!(dump("m.gyk").lines().count(), 4);

    assert_eq!(
        place.ok(&["kmers", "query", "a.gyk", "TGCAA", "TTGCA", "GGGGG"]),
        "TGCAA\t1\nTTGCA\t1\nGGGGG\t0\n"
    );
    let profile = place.ok(&["kmers", "query", "a.gyk", "--reads", "b.fa", "--all"]);
    assert_eq!(
        profile.lines().nth(1),
        Some("b\t8\t4\t0.50\t0.5\t1,1,1,1,0,0,0,0")
    );
}

#[test]
fn histograms_have_each_style() {
    let place = Place::new();
    place.write("a.fa", ">a\nAAAAAAA\n>b\nCCGT\n");
    place.ok(&["count", "a.fa", "-k", "3", "-o", "a.gyk"]);
    assert_eq!(place.ok(&["kmers", "histo", "a.gyk"]), "1 2\n5 1\n");
    assert_eq!(
        place.ok(&["kmers", "histo", "a.gyk", "--style", "kmc", "--high", "3"]),
        "1\t2\n2\t0\n3\t0\n"
    );
    assert_eq!(
        place.ok(&[
            "kmers",
            "histo",
            "a.gyk",
            "--style",
            "jellyfish",
            "--high",
            "2"
        ]),
        "1 2\n3 1\n"
    );
    let jellyfish = [
        "kmers",
        "histo",
        "a.gyk",
        "--style",
        "jellyfish",
        "--low",
        "3",
        "--high",
        "4",
    ];
    assert_eq!(place.ok(&jellyfish), "2 2\n5 1\n");
    assert_eq!(
        place.ok(&[&jellyfish[..], &["--full"]].concat()),
        "2 2\n3 0\n4 0\n5 1\n"
    );
    place.fails(&[&jellyfish[..], &["--low", "5"]].concat(), 1, &["--low"]);
    place.fails(
        &[
            "kmers", "histo", "a.gyk", "--low", "9", "--high", "4", "--style", "kmc",
        ],
        1,
        &["--low 9 is above"],
    );
    place.fails(
        &["kmers", "histo", "a.gyk", "--full"],
        1,
        &["--full", "jellyfish"],
    );
    assert_eq!(
        place.ok(&["kmers", "histo", "a.gyk", "--plot", "s.svg"]),
        ""
    );
    assert!(
        String::from_utf8(place.read("s.svg"))
            .unwrap()
            .starts_with("<svg")
    );
}

#[test]
fn foreign_databases_come_back_unchanged() {
    let place = Place::new();
    place.simulate("3000", "4");
    for k in ["15", "31", "40"] {
        place.ok(&["count", "r_1.fq", "-k", k, "-o", "o.gyk"]);
        let dump = place.ok(&["kmers", "dump", "o.gyk"]);
        for (format, name) in [
            ("kmc", "x"),
            ("kff", "x.kff"),
            ("text", "x.txt"),
            ("fasta", "x.fa"),
        ] {
            place.ok(&["kmers", "export", "o.gyk", "--to", format, "-o", name]);
            place.ok(&["kmers", "import", name, "-o", "back.gyk"]);
            assert_eq!(
                place.ok(&["kmers", "dump", "back.gyk"]),
                dump,
                "k={k} {format}"
            );
        }
    }
    place.ok(&["kmers", "export", "o.gyk", "-o", "named.kff"]);
    assert!(place.read("named.kff") == place.read("x.kff"));
    place.write("x.txt.gz", gzip(&place.read("x.txt")));
    place.ok(&["kmers", "import", "x.txt.gz", "-o", "packed.gyk"]);
    assert!(
        place.read("x.txt").len() > 1000 && place.ok(&["kmers", "dump", "packed.gyk"]).len() > 1000
    );
    assert_eq!(
        place.ok(&["kmers", "dump", "packed.gyk"]),
        place.ok(&["kmers", "dump", "o.gyk"])
    );
    let cut = gzip(&place.read("x.txt"));
    place.write("x.txt.gz", &cut[..cut.len() - 20]);
    place.fails(
        &["kmers", "import", "x.txt.gz", "-o", "cut.gyk"],
        7,
        &["x.txt.gz", "truncated"],
    );
}

#[test]
fn limits_of_kmc_are_shown() {
    let place = Place::new();
    place.simulate("3000", "6");
    place.ok(&[
        "count",
        "r_1.fq",
        "r_2.fq",
        "--min-count",
        "2",
        "--max-count",
        "9",
        "-o",
        "o.gyk",
    ]);
    place.ok(&["kmers", "export", "o.gyk", "--to", "kmc", "-o", "x"]);
    place.ok(&["kmers", "import", "x.kmc_pre", "-o", "back.gyk"]);
    let info = place.ok(&["kmers", "info", "back.gyk"]);
    assert!(info.contains("counts kept   2 to 9\n"), "{info}");
}

#[test]
fn counts_that_no_longer_fit_saturate_with_a_warning() {
    let place = Place::new();
    place.write("a.txt", "ACGTA\t4294967290\nCCCCC\t4294967295\nGATTA\t7\n");
    place.write("b.txt", "ACGTA\t6\nGATTA\t4294967288\n");
    for name in ["a", "b"] {
        let ran = place.run(&[
            "kmers",
            "import",
            &format!("{name}.txt"),
            "-o",
            &format!("{name}.gyk"),
        ]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    let ran = place.run(&["kmers", "union", "a.gyk", "b.gyk", "-o", "u.gyk"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("warning: k-mers that occur more often than 4,294,967,295"),
        "{}",
        ran.stderr
    );
    let counts = place.ok(&["kmers", "dump", "u.gyk", "--sorted"]);
    assert_eq!(
        counts,
        "ACGTA\t4294967295\nCCCCC\t4294967295\nGATTA\t4294967295\n"
    );
    assert!(
        place
            .ok(&["kmers", "info", "u.gyk"])
            .contains("4,294,967,295 or more")
    );
    // What is or more is taken as exact, with a warning.
    let ran = place.run(&[
        "kmers", "subtract", "u.gyk", "b.gyk", "--counts", "-o", "s.gyk",
    ]);
    assert!(
        ran.code == 0
            && ran
                .stderr
                .contains("warning: u.gyk has k-mers that occur 4,294,967,295"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        place.ok(&["kmers", "dump", "s.gyk", "--sorted"]),
        "ACGTA\t4294967289\nCCCCC\t4294967295\nGATTA\t7\n"
    );
    let ran = place.run(&["kmers", "subtract", "u.gyk", "b.gyk", "-o", "s.gyk"]);
    assert!(
        ran.code == 0 && !ran.stderr.contains("u.gyk has"),
        "{}",
        ran.stderr
    );
    // One less is exact.
    place.write("c.txt", "GATTA\t6\n");
    place.ok(&["kmers", "import", "c.txt", "-o", "c.gyk"]);
    let ran = place.run(&["kmers", "union", "b.gyk", "c.gyk", "-o", "v.gyk"]);
    assert!(
        ran.code == 0 && !ran.stderr.contains("warning"),
        "{}",
        ran.stderr
    );
    assert!(
        place
            .ok(&["kmers", "dump", "v.gyk"])
            .contains("GATTA\t4294967294\n")
    );
}

#[test]
fn links_stay_links() {
    let place = Place::new();
    place.simulate("2000", "2");
    std::fs::create_dir(place.path("store")).unwrap();
    std::os::unix::fs::symlink("store/o.gyk", place.path("o.gyk")).unwrap();
    for k in ["21", "31"] {
        place.ok(&["count", "r_1.fq", "-k", k, "-o", "o.gyk"]);
        assert!(place.path("o.gyk").is_symlink());
        assert!(
            place
                .ok(&["kmers", "info", "store/o.gyk"])
                .contains(&format!("{k} bases"))
        );
    }
    assert_eq!(std::fs::read_dir(place.path("store")).unwrap().count(), 1);
}

#[test]
fn reads_are_filtered() {
    let place = Place::new();
    place.simulate("3000", "4");
    place.ok(&[
        "-q", "simulate", "genome", "-o", "other.fa", "--length", "3000", "--seed", "9",
    ]);
    place.ok(&[
        "-q",
        "simulate",
        "reads",
        "other.fa",
        "-o",
        "o.fq",
        "--layout",
        "single",
        "--coverage",
        "4",
    ]);
    place.ok(&["count", "g.fa", "-o", "g.gyk"]);
    let mixed = [place.read("r_1.fq"), place.read("o.fq")].concat();
    place.write("mixed.fq", &mixed);
    place.ok(&[
        "kmers",
        "filter",
        "g.gyk",
        "mixed.fq",
        "--min-kmers",
        "10",
        "-o",
        "kept.fq",
    ]);
    assert_eq!(place.read("kept.fq"), place.read("r_1.fq"));
    assert_eq!(
        place
            .ok(&[
                "kmers",
                "filter",
                "g.gyk",
                "mixed.fq",
                "--min-kmers",
                "10",
                "--drop",
                "-o",
                "-"
            ])
            .into_bytes(),
        place.read("o.fq")
    );
    place.ok(&[
        "kmers", "filter", "g.gyk", "r_1.fq", "r_2.fq", "-o", "1.fq.gz", "--out2", "2.fq",
    ]);
    assert_eq!(place.read("2.fq"), place.read("r_2.fq"));
}

#[test]
fn nothing_gives_valid_nothing() {
    let place = Place::new();
    place.write("empty.fq", "");
    let arguments = [
        "count", "empty.fq", "-o", "e.gyk", "--histo", "e.hist", "--report", "e.json",
    ];
    place.ok(&arguments);
    place.ok(&["kmers", "verify", "e.gyk"]);
    assert_eq!(place.read("e.hist"), b"");
    assert_eq!(place.json("e.json")["counts"]["reads"], 0);
    assert!(place.ok(&["kmers", "info", "e.gyk"]).contains("0.00 %"));
    assert_eq!(place.ok(&["kmers", "dump", "e.gyk"]), "");
    place.ok(&[
        "kmers", "histo", "e.gyk", "--plot", "e.svg", "-o", "e2.hist",
    ]);
    assert!(
        !String::from_utf8(place.read("e.svg"))
            .unwrap()
            .contains("NaN")
    );
    place.ok(&["kmers", "union", "e.gyk", "e.gyk", "-o", "u.gyk"]);
    place.ok(&["kmers", "export", "e.gyk", "--to", "kmc", "-o", "k"]);
    place.ok(&["kmers", "import", "k", "-o", "i.gyk"]);
    place.ok(&["kmers", "filter", "e.gyk", "empty.fq", "-o", "f.fq"]);
    assert_eq!(place.read("f.fq"), b"");
}

#[test]
fn a_reader_who_has_seen_enough_is_no_failure() {
    let place = Place::new();
    place.simulate("50000", "3");
    place.ok(&["count", "r_1.fq", "-o", "o.gyk"]);
    let mut child = place
        .command(&["kmers", "dump", "o.gyk"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.contains('\t'));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_plan_comes_before_the_first_byte() {
    let place = Place::new();
    place.simulate("5000", "5");
    let plan = place.ok(&["plan", "count", "r_1.fq", "r_2.fq", "-k", "55"]);
    for row in [
        "bases",
        "memory",
        "least --memory",
        "temporary disk  none",
        "time",
    ] {
        assert!(plan.contains(row), "{plan}");
    }
    assert!(!plan.contains("unknown"), "{plan}");
    // A small input is sampled as a whole, so that its figures are exact.
    place.write("r.fq.gz", gzip(&place.read("r_1.fq")));
    let bases = |name: &str| {
        place.ok(&["plan", "count", name, "--report", "p.json"]);
        place.json("p.json")["counts"]["bases"].clone()
    };
    place.ok(&["count", "r_1.fq", "-o", "o.gyk", "--report", "r.json"]);
    let read = &place.json("r.json")["counts"]["bases"];
    assert_eq!(
        (&bases("r.fq.gz")["least"], &bases("r_1.fq")["most"]),
        (read, read)
    );
}

#[test]
fn the_plan_prints_no_figures_for_what_nobody_knows() {
    let place = Place::new();
    place.simulate("5000", "5");
    let ran = |more: &[&str]| {
        let pipe = std::fs::File::open(place.path("r_1.fq")).unwrap();
        let args = [&["plan", "count", "-", "--report", "p.json"], more].concat();
        let output = place.command(&args).stdin(pipe).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let plan = ran(&["--max-tmp", "1K"]);
    for row in [
        "bases           unknown",
        "memory          up to",
        "time            unknown",
    ] {
        assert!(plan.contains(row), "{row}: {plan}");
    }
    assert!(
        plan.contains(
            "temporary disk  unknown: an input is a pipe, up to 1.0 KiB, all that --max-tmp allows"
        ),
        "{plan}"
    );
    let report = place.json("p.json");
    assert!(
        report["counts"]["bases"]["most"].is_null() && report["predicted_seconds"].is_null(),
        "{report}"
    );
    assert!(report["bytes"]["temporary"]["most"].is_null(), "{report}");
    let plan = ran(&["r_2.fq"]);
    assert!(
        plan.contains("at least") && plan.contains("is free"),
        "{plan}"
    );
}

#[test]
fn the_plan_of_a_run_that_would_be_refused_is_refused() {
    let place = Place::new();
    place.simulate_much();
    let least = place.least_memory(2);
    for (memory, more, code, words) in [
        ("1M", [].as_slice(), 4, ["--memory", "needs at least"]),
        (
            &least,
            &["--max-tmp", "10K"],
            6,
            ["which may take 10 KiB; raise --max-tmp", "needs at least"],
        ),
    ] {
        let what = [
            &[
                "count",
                "r_1.fq",
                "r_2.fq",
                "--threads",
                "2",
                "--memory",
                memory,
            ],
            more,
        ]
        .concat();
        place.fails(&[&["plan"], &what[..]].concat(), code, &words);
        place.fails(&[&what[..], &["-o", "o.gyk"]].concat(), code, &words);
    }
    // What may not fit is let through with a warning.
    let tmp = [
        "--report",
        "p.json",
        "plan",
        "count",
        "r_1.fq",
        "r_2.fq",
        "--threads",
        "2",
        "--memory",
        &least,
    ];
    place.ok(&tmp);
    let limit = place.json("p.json")["bytes"]["temporary"]["most"]
        .as_u64()
        .unwrap()
        - 1;
    let ran = place.run(&[&tmp[2..], &["--max-tmp", &limit.to_string()]].concat());
    assert!(
        ran.code == 0 && ran.stderr.contains("warning: temporary files in"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_demonstration_checks_itself() {
    let place = Place::new();
    let said = place.ok(&["demo", "--keep", "kept"]);
    assert!(
        said.contains("$ gyrase count") && said.contains("counts: yes"),
        "{said}"
    );
    assert!(
        said.contains("$ gyrase classify --db refs.gydb")
            && said.contains("R\t1\troot\n")
            && said.contains("got the species that they were simulated from"),
        "{said}"
    );
    assert!(
        place
            .read("kept/sample.kreport")
            .starts_with(b"100.00\t4800\t")
    );
    place.ok(&["kmers", "verify", "kept/sample.gyk"]);
    place.ok(&["demo"]);
    assert_eq!(place.files(), ["kept"]);
}

#[test]
fn shells_manuals_and_citations() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            place.ok(&["completions", shell]).contains("gyrase"),
            "{shell}"
        );
    }
    assert!(
        place
            .ok(&["man", "kmers", "histo"])
            .contains(".TH GYRASE-KMERS-HISTO 1")
    );
    std::fs::create_dir(place.path("man")).unwrap();
    place.ok(&["man", "--all", "man"]);
    assert!(place.path("man/gyrase-simulate-reads.1").exists());
    for page in std::fs::read_dir(place.path("man")).unwrap() {
        let page = std::fs::read_to_string(page.unwrap().path()).unwrap();
        let mut filled = true;
        for line in page.lines() {
            filled = line == ".fi" || (filled && line != ".nf");
            let is_text = filled && !line.starts_with(['.', '\'']);
            assert!(
                !is_text || line.len() <= 80,
                "mandoc -Tlint says so of {line}"
            );
        }
    }
    assert!(place.ok(&["cite"]).contains(env!("CARGO_PKG_VERSION")));
    assert!(place.ok(&["cite", "--bibtex"]).starts_with("@software{"));
}

#[test]
fn a_library_for_mpi_needs_a_compiler() {
    let place = Place::new();
    let ran = place.run(&["mpi-setup", "--mpicc", "no-such-mpicc", "--dir", "mpi"]);
    assert_eq!(ran.code, 8);
    assert!(
        ran.stderr.contains("cannot run no-such-mpicc") && ran.stderr.contains("--mpicc"),
        "{}",
        ran.stderr
    );
    assert!(
        std::fs::read_dir(place.path("mpi"))
            .unwrap()
            .next()
            .is_none()
    );
}
