//! Several databases, databases that are larger than the memory, and stored candidates: the bytes
//! are those of one database in memory.

use crate::classify::{BUILD, place};
use crate::place::Place;

const READS: [&str; 2] = ["r_1.fq", "r_2.fq"];

/// `r.gydb` of all references; `one.gydb` and `two.gydb` of parts of them.
fn places() -> Place {
    let place = place();
    place.ok(&BUILD);
    let part = |files: &[&str], output| {
        let rest = ["--taxonomy", "tax", "--map", "map", "-o", output];
        place.ok(&[&["db", "build"], files, &rest].concat());
    };
    part(&["refs/a.fa"], "one.gydb");
    part(&["refs/b.fa", "refs/c.fa"], "two.gydb");
    place
}

/// Answers and kreport of a run.
fn answers(place: &Place, args: &[&str]) -> (String, String) {
    let text = place.ok(&[&["classify"], args, &["--kreport", "k"]].concat());
    (text, String::from_utf8(place.read("k")).unwrap())
}

#[test]
fn the_same_bytes_from_parts_in_passes_and_merged() {
    let place = places();
    for reads in [&READS[..], &READS[..1]] {
        let expected = answers(&place, &[&["--db", "r.gydb"], reads].concat());
        assert!(
            ["562", "564", "9606"]
                .iter()
                .all(|taxid| expected.0.contains(&format!("\t{taxid}\t")))
        );
        for threads in ["1", "2"] {
            let with = |args: &[&str]| answers(&place, &[args, reads, &["-t", threads]].concat());
            assert_eq!(with(&["--db", "one.gydb", "--db", "two.gydb"]), expected);
            for databases in [
                &["--db", "r.gydb"][..],
                &["--db", "one.gydb", "--db", "two.gydb"],
            ] {
                let memory = least_memory(&place, databases, threads);
                assert_eq!(
                    with(&[databases, &["--memory", &memory]].concat()),
                    expected
                );
            }
            for (database, candidates) in [
                ("one.gydb", "one.gyc"),
                ("two.gydb", "two.gyc"),
                ("r.gydb", "r.gyc"),
            ] {
                let keep = [
                    "classify",
                    "--db",
                    database,
                    "--candidates",
                    candidates,
                    "-t",
                    threads,
                ];
                assert_eq!(place.ok(&[&keep[..], reads].concat()), "");
            }
            let merged =
                |files: &[&str]| answers(&place, &[&["-t", threads, "--merge"], files].concat());
            assert_eq!(merged(&["one.gyc", "two.gyc"]), expected);
            assert_eq!(merged(&["r.gyc"]), expected);
        }
    }
}

/// The memory that a message says is needed at least.
fn least_memory(place: &Place, databases: &[&str], threads: &str) -> String {
    let ran = place.run(
        &[
            &["classify", "r_1.fq", "--memory", "1M", "-t", threads],
            databases,
        ]
        .concat(),
    );
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    let words = ran.stderr.split("at least ").nth(1).unwrap();
    let (number, rest) = words.split_once(' ').unwrap();
    assert!(rest.starts_with("MiB of memory"), "{words}");
    format!("{}M", number.parse::<u64>().unwrap())
}

#[test]
fn candidates_have_the_same_bytes_whatever_the_memory() {
    let place = places();
    let reads = place.read("r_1.fq");
    place.write("many.fq", reads.repeat((1 << 19) / reads.len() + 1));
    let memory = least_memory(&place, &["--db", "r.gydb"], "1");
    let keep = ["classify", "--db", "r.gydb", "many.fq", "--candidates"];
    place.ok(&[&keep[..], &["a.gyc", "-t", "2"]].concat());
    place.ok(&[&keep[..], &["b.gyc", "-t", "1", "--memory", &memory]].concat());
    assert!(place.read("a.gyc") == place.read("b.gyc"));
    place.ok(&[
        "classify",
        "--db",
        "r.gydb",
        "r_1.fq",
        "--candidates",
        "c.gyc",
    ]);
    let [a, b, c] = ["a.gyc", "b.gyc", "c.gyc"].map(|file| {
        place.ok(&[
            "classify", "--merge", file, "-o", "o.tsv", "--report", "r.json",
        ]);
        place.json("r.json")["candidates"][0].take()
    });
    assert_eq!((&a["path"], &c["path"]), (&"a.gyc".into(), &"c.gyc".into()));
    assert!(a["checksum"] == b["checksum"] && a["checksum"] != c["checksum"]);
    assert_eq!(a["checksum"].as_str().map(str::len), Some(16));
}

#[test]
fn passes_are_told_and_need_files() {
    let place = places();
    let memory = least_memory(&place, &["--db", "r.gydb"], "1");
    let small = [
        "classify", "--db", "r.gydb", "--memory", &memory, "-t", "1", "-o", "o.tsv",
    ];
    let ran = place.run(&[&small[..], &READS].concat());
    assert!(
        ran.stderr
            .contains(" times, since asking the databases at once takes "),
        "{}",
        ran.stderr
    );
    place.fails(
        &[&small[..], &["-"]].concat(),
        1,
        &["- is no file", "--memory"],
    );
    let files = place.files();
    place.fails(
        &[&small[..], &READS, &["--max-tmp", "1k"]].concat(),
        6,
        &["the 1.0 KiB that --max-tmp allows"],
    );
    assert_eq!(place.files(), files);
}

#[test]
fn what_does_not_fit_together_is_named() {
    let place = places();
    let build = [
        "db",
        "build",
        "refs/a.fa",
        "--taxonomy",
        "tax",
        "--map",
        "map",
    ];
    place.ok(&[&build[..], &["-k", "20", "-o", "k20.gydb"]].concat());
    let pairs = [&["classify", "-o", "o.tsv"], &READS[..]].concat();
    place.fails(
        &[&pairs[..], &["--db", "r.gydb", "--db", "k20.gydb"]].concat(),
        1,
        &["k20.gydb", "r.gydb", "-k 20"],
    );
    place.fails(
        &[&pairs[..], &["--db", "r.gydb", "--db", "./r.gydb"]].concat(),
        1,
        &["r.gydb is named twice"],
    );
    place.fails(
        &["classify", "--db", "r.gydb", "r_1.fq", "./r_1.fq"],
        1,
        &["r_1.fq is named twice"],
    );
    place.fails(
        &["classify", "--db", "r.gydb", "-", "-"],
        1,
        &["- is named twice"],
    );
    place.ok(&[
        "classify",
        "--db",
        "one.gydb",
        "r_1.fq",
        "--candidates",
        "one.gyc",
    ]);
    place.fails(
        &["classify", "--merge", "one.gyc", "one.gyc", "-o", "o.tsv"],
        1,
        &["one.gyc is named twice"],
    );
    let nowhere = [
        "classify",
        "--db",
        "one.gydb",
        "r_1.fq",
        "--candidates",
        "nowhere/one.gyc",
    ];
    place.fails(&nowhere, 6, &["there is no folder nowhere"]);
    place.ok(&[
        "classify",
        "--db",
        "two.gydb",
        "r_2.fq",
        "--candidates",
        "two.gyc",
    ]);
    place.fails(
        &["classify", "--merge", "one.gyc", "two.gyc", "-o", "o.tsv"],
        1,
        &["one.gyc", "two.gyc", "read 1 "],
    );
    let whole = place.read("one.gyc");
    place.write("cut.gyc", &whole[..whole.len() / 2]);
    place.fails(
        &["classify", "--merge", "cut.gyc", "-o", "o.tsv"],
        2,
        &["cut.gyc", "truncated"],
    );
    place.fails(
        &["classify", "--merge", "r_1.fq", "-o", "o.tsv"],
        2,
        &["r_1.fq", "--candidates"],
    );
    place.fails(
        &["classify", "--merge", "nowhere.gyc", "-o", "o.tsv"],
        2,
        &["nowhere.gyc"],
    );
    place.fails(
        &["classify", "--merge", "one.gyc", "--db", "r.gydb"],
        1,
        &["--merge"],
    );
    for answers in [
        &["-o", "o.tsv"][..],
        &["--locations"],
        &["--drop-least-covered", "0.1"],
    ] {
        let both = [
            &[
                "classify",
                "--db",
                "r.gydb",
                "r_1.fq",
                "--candidates",
                "c.gyc",
            ],
            answers,
        ]
        .concat();
        place.fails(&both, 1, &["--candidates", answers[0]]);
    }
    place.fails(
        &["classify", "--merge", "one.gyc", "-o", "one.gyc"],
        1,
        &["one.gyc is an input"],
    );
}
