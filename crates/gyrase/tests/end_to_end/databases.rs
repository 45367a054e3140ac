//! Databases that are merged, added to, rid of references and inspected.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::classify;
use crate::place::Place;

/// The taxonomy and the genomes of the tests of `classify`, each genome with a name of its own.
fn place() -> Place {
    let place = classify::place();
    for name in ["a", "b", "c"] {
        let file = format!("refs/{name}.fa");
        let text = String::from_utf8(place.read(&file)).unwrap();
        place.write(&file, text.replace(">genome_1", &format!(">{name}_1")));
    }
    place
}

/// Builds a database of some of the genomes `a`, `b` and `c`.
fn build(place: &Place, genomes: &[&str], output: &str) -> Vec<u8> {
    let files: Vec<String> = genomes
        .iter()
        .map(|name| format!("refs/{name}.fa"))
        .collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    place.ok(&[
        &["-q", "db", "build"],
        &files[..],
        &["--taxonomy", "tax", "--map", "map", "-o", output],
    ]
    .concat());
    place.read(output)
}

#[test]
fn merged_databases_are_as_built_together() {
    let place = place();
    let whole = build(&place, &["a", "b", "c"], "whole.gydb");
    build(&place, &["a"], "a.gydb");
    build(&place, &["b", "c"], "bc.gydb");
    for threads in ["1", "2"] {
        let said = place.run(&[
            "db", "merge", "a.gydb", "bc.gydb", "-o", "m.gydb", "-t", threads, "--report", "r.json",
        ]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        assert!(place.read("m.gydb") == whole, "{threads} threads");
        for words in [
            "a.gydb: 1 reference\n",
            "bc.gydb: 2 references\n",
            "m.gydb: 3 references, 0 without a taxon",
        ] {
            assert!(said.stderr.contains(words), "{words}: {}", said.stderr);
        }
    }
    let report = place.json("r.json");
    assert_eq!(
        (&report["counts"]["targets"], &report["inputs"][1]),
        (&3.into(), &"bc.gydb".into())
    );
    let said = place.run(&["db", "merge", "a.gydb", "a.gydb", "m.gydb", "-o", "a.gydb"]);
    let name = place
        .ok(&["db", "targets", "whole.gydb"])
        .lines()
        .nth(1)
        .unwrap()
        .split('\t')
        .next()
        .unwrap()
        .to_owned();
    for words in [
        "warning: 2 references came with a name that another has",
        &name,
    ] {
        assert!(said.stderr.contains(words), "{words}: {}", said.stderr);
    }
    assert!(
        place
            .ok(&["db", "info", "a.gydb"])
            .contains("references    5, in 5 files\n")
    );
}

#[test]
fn references_are_added_in_place() {
    let place = place();
    let whole = build(&place, &["a", "b", "c"], "whole.gydb");
    let before = build(&place, &["a"], "a.gydb");
    let new = [
        "refs/b.fa",
        "refs/c.fa",
        "--taxonomy",
        "tax",
        "--map",
        "map",
    ];
    let said = place.run(
        &[
            &["db", "add", "a.gydb"],
            &new[..],
            &["-o", "more.gydb", "--report", "r.json"],
        ]
        .concat(),
    );
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(
        said.stderr.contains("added 2 references")
            && said.stderr.contains("more.gydb: 3 references"),
        "{}",
        said.stderr
    );
    assert!(place.read("more.gydb") == whole && place.read("a.gydb") == before);
    assert_eq!(
        place.json("r.json")["inputs"],
        serde_json::json!(["a.gydb", "refs/b.fa", "refs/c.fa"])
    );
    // What the plan says is the least is refused with less, and enough.
    place.ok(&[
        &["plan", "db", "add", "a.gydb"],
        &new[..],
        &["--report", "p.json"],
    ]
    .concat());
    let least = place.json("p.json")["bytes"]["least_memory"]
        .as_u64()
        .unwrap();
    let [less, least] = [least - (8 << 20), least + (1 << 20)].map(|bytes| bytes.to_string());
    let within = |memory| [&["db", "add", "a.gydb"], &new[..], &["-m", memory]].concat();
    place.fails(&within(&less), 4, &["needs at least"]);
    place.ok(&[within(&least), vec!["-o", "least.gydb"]].concat());
    assert!(place.read("least.gydb") == whole);
    place.ok(&[&["db", "add", "a.gydb"], &new[..], &["-t", "1"]].concat());
    assert!(place.read("a.gydb") == whole);
    place.write(
        "tax/none.fa",
        ">lost\nACGTACGATCAGCTACGACTACGACTAGCATCGACTA\n",
    );
    let said = place.run(&[
        "db",
        "add",
        "a.gydb",
        "tax/none.fa",
        "refs/a.fa",
        "--map",
        "map",
    ]);
    for words in [
        "1 of 2 references have no taxon",
        "lost in tax/none.fa has no taxid",
        "1 reference came with a name",
    ] {
        assert!(said.stderr.contains(words), "{words}: {}", said.stderr);
    }
}

#[test]
fn without_a_taxonomy_that_of_the_database_must_do() {
    let place = place();
    build(&place, &["a", "b"], "ab.gydb");
    place.fails(
        &["db", "add", "ab.gydb", "refs/c.fa", "--map", "map"],
        1,
        &[
            "in refs/c.fa has taxid 9606, which ab.gydb does not have",
            "--taxonomy",
        ],
    );
    place.write("map", "c.fa\t562\n");
    place.ok(&["db", "add", "ab.gydb", "refs/c.fa", "--map", "map"]);
    assert!(
        place
            .ok(&["db", "taxa", "ab.gydb"])
            .contains("562\tspecies\tEscherichia coli\t2\t70000\n")
    );
    let names = String::from_utf8(place.read("tax/names.dmp")).unwrap();
    place.write(
        "tax/names.dmp",
        names.replace("Escherichia coli", "Bacterium coli"),
    );
    place.fails(
        &[
            "db",
            "add",
            "ab.gydb",
            "refs/c.fa",
            "--map",
            "map",
            "--taxonomy",
            "tax",
        ],
        1,
        &[
            "taxid 562 is \"Escherichia coli\" (species, below 561) in ab.gydb",
            "\"Bacterium coli\"",
            "in what is added",
        ],
    );
}

#[test]
fn what_is_removed_is_gone() {
    let place = place();
    build(&place, &["a", "b", "c"], "whole.gydb");
    let (ac, c) = (
        build(&place, &["a", "c"], "ac.gydb"),
        build(&place, &["c"], "c.gydb"),
    );
    let said = place.run(&[
        "db",
        "remove",
        "whole.gydb",
        "--taxid",
        "564",
        "-o",
        "less.gydb",
        "--report",
        "r.json",
    ]);
    assert!(
        said.stderr.contains("removed 1 reference\n"),
        "{}",
        said.stderr
    );
    assert!(place.read("less.gydb") == ac);
    assert_eq!(place.json("r.json")["counts"]["targets"], 2);
    place.ok(&[
        "db",
        "remove",
        "whole.gydb",
        "--taxid",
        "564",
        "--target",
        "a_1",
    ]);
    assert!(place.read("whole.gydb") == c);
    place.write("names", "a_1\t562\n\n");
    place.ok(&["db", "remove", "ac.gydb", "--targets-from", "names"]);
    assert!(place.read("ac.gydb") == c);
    place.write("nothing", "\n");
    for (how, words) in [
        (
            &["--taxid", "562"][..],
            &["c.gydb has no taxid 562", "gyrase db taxa"][..],
        ),
        (
            &["--target", "x", "--target", "y"],
            &["c.gydb has no x, y", "gyrase db targets"],
        ),
        (&["--taxid", "1"], &["no reference of c.gydb would be left"]),
        (
            &["--targets-from", "nothing"],
            &["nothing names no reference"],
        ),
        (&["--targets-from", "nowhere"], &["nowhere"]),
        (&[], &["--taxid"]),
    ] {
        place.fails(&[&["db", "remove", "c.gydb"], how].concat(), 1, words);
    }
    assert!(place.read("c.gydb") == c);
}

#[test]
fn features_are_listed_as_kraken2_inspect_lists_them() {
    let place = place();
    build(&place, &["a", "b", "c"], "r.gydb");
    let info: serde_json::Value =
        serde_json::from_str(&place.ok(&["db", "info", "r.gydb", "--json"])).unwrap();
    let text = place.ok(&["-q", "db", "inspect", "r.gydb"]);
    let (head, lines): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("# "));
    assert!(
        head[0].starts_with("# Database options: nucleotide db, k = 22, "),
        "{text}"
    );
    assert_eq!(
        head[1..3],
        [
            "# Total taxonomy nodes: 7",
            &format!("# Table size: {}", info["features"])
        ]
    );
    let columns: Vec<Vec<&str>> = lines
        .iter()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(columns[0][..2], ["100.00", &info["features"].to_string()]);
    let row = |taxid: &str| columns.iter().find(|line| line[4] == taxid).unwrap();
    assert_eq!(
        (row("1")[3], row("1")[5], row("564")[3]),
        ("R", "root", "S")
    );
    assert_eq!(row("564")[5], "      Escherichia fergusonii");
    let own: u64 = columns
        .iter()
        .map(|line| line[2].parse::<u64>().unwrap())
        .sum();
    assert_eq!(info["features"], own);
    assert_eq!(row("562")[1], row("562")[2]);
    place.ok(&["db", "inspect", "r.gydb", "-o", "i.txt", "-t", "1"]);
    assert_eq!(String::from_utf8(place.read("i.txt")).unwrap(), text);
    let histogram = place.ok(&["-q", "db", "inspect", "r.gydb", "--histogram"]);
    let mut rows = histogram.lines();
    assert_eq!(rows.next(), Some("locations\tfeatures"));
    let rows: Vec<[u64; 2]> = rows
        .map(|row| {
            row.split_once('\t')
                .map(|(a, b)| [a.parse().unwrap(), b.parse().unwrap()])
                .unwrap()
        })
        .collect();
    assert_eq!(info["features"], rows.iter().map(|row| row[1]).sum::<u64>());
    assert_eq!(
        info["locations"],
        rows.iter().map(|row| row[0] * row[1]).sum::<u64>()
    );
}

#[test]
fn it_is_said_what_reached_the_cap() {
    let place = place();
    build(&place, &["a", "b", "c"], "r.gydb");
    let info = |database| -> serde_json::Value {
        serde_json::from_str(&place.ok(&["db", "info", database, "--json"])).unwrap()
    };
    let facts = info("r.gydb");
    assert_eq!(
        (
            &facts["genomes"],
            &facts["files"],
            &facts["features_at_cap"]
        ),
        (&3.into(), &3.into(), &0.into())
    );
    let text = place.ok(&["db", "info", "r.gydb"]);
    assert!(
        text.contains(", up to 254 a feature: none has so many\n")
            && text.contains("3 (a taxon in a file)"),
        "{text}"
    );
    let one = [
        "--taxonomy",
        "tax",
        "--map",
        "map",
        "--locations",
        "1",
        "-o",
    ];
    for (files, output) in [
        (&["refs/a.fa", "refs/b.fa"][..], "ab.gydb"),
        (&["refs/a.fa"], "a.gydb"),
    ] {
        place.ok(&[&["-q", "db", "build"], files, &one, &[output]].concat());
    }
    let facts = info("ab.gydb");
    assert_eq!(facts["features_at_cap"], facts["features"]);
    assert!(
        place
            .ok(&["db", "info", "ab.gydb"])
            .contains(" features with so many, perhaps of more\n")
    );
    place.ok(&[
        "db",
        "add",
        "a.gydb",
        "refs/b.fa",
        "--map",
        "map",
        "--taxonomy",
        "tax",
    ]);
    assert!(place.read("a.gydb") == place.read("ab.gydb"));
}

#[test]
fn odd_databases_are_no_surprise() {
    let place = place();
    place.write("short.fa", ">x|kraken:taxid|1\nACGT\n");
    place.write("empty.fa", "");
    let build_of = |file: &str, to: &str| {
        place.ok(&["db", "build", file, "--taxonomy", "tax", "-o", to]);
    };
    build_of("short.fa", "short.gydb");
    build_of("empty.fa", "none.gydb");
    let a = build(&place, &["a"], "a.gydb");
    place.ok(&[
        "db",
        "merge",
        "none.gydb",
        "a.gydb",
        "none.gydb",
        "-o",
        "m.gydb",
    ]);
    assert!(place.read("m.gydb") == a);
    place.ok(&["db", "add", "m.gydb", "empty.fa"]);
    assert!(place.read("m.gydb") == a);
    place.ok(&["db", "merge", "none.gydb", "none.gydb", "-o", "m.gydb"]);
    assert!(place.read("m.gydb") == place.read("none.gydb"));
    place.ok(&[
        "db",
        "add",
        "none.gydb",
        "refs/a.fa",
        "--map",
        "map",
        "--taxonomy",
        "tax",
    ]);
    assert!(place.read("none.gydb") == a);
    place.ok(&["db", "merge", "short.gydb", "a.gydb", "-o", "m.gydb"]);
    let said = place.run(&["db", "remove", "m.gydb", "--taxid", "562"]);
    assert!(
        said.code == 0 && said.stderr.contains("1 reference"),
        "{}",
        said.stderr
    );
    assert!(place.read("m.gydb") == place.read("short.gydb"));
    let text = place.ok(&["-q", "db", "inspect", "short.gydb"]);
    assert!(
        text.ends_with("  0.00\t0\t0\tU\t0\tunclassified\n  0.00\t0\t0\tR\t1\troot\n"),
        "{text}"
    );
    assert_eq!(
        place.ok(&["-q", "db", "inspect", "short.gydb", "--histogram"]),
        "locations\tfeatures\n"
    );
    place.ok(&["db", "verify", "m.gydb", "none.gydb", "short.gydb"]);
}

#[test]
fn what_is_no_database_stays_as_it_is() {
    let place = place();
    let a = build(&place, &["a", "b"], "a.gydb");
    place.ok(&[
        "-q",
        "db",
        "build",
        "refs",
        "--taxonomy",
        "tax",
        "--map",
        "map",
        "-o",
        "k.gydb",
        "-k",
        "20",
    ]);
    place.write("cut.gydb", &a[..a.len() / 2]);
    let mut damaged = a.clone();
    damaged[8000] ^= 1;
    place.write("damaged.gydb", &damaged);
    let add = |database| {
        [
            "db",
            "add",
            database,
            "refs/c.fa",
            "--map",
            "map",
            "--taxonomy",
            "tax",
        ]
    };
    for (database, code, word) in [
        ("nowhere.gydb", 2, "nowhere.gydb"),
        ("cut.gydb", 2, "truncated"),
        ("damaged.gydb", 2, "damaged.gydb"),
        ("refs/c.fa", 2, "refs/c.fa"),
    ] {
        // To replace what is no database is refused even before it is read.
        let in_place = if database == "refs/c.fa" { 6 } else { code };
        place.fails(
            &["db", "merge", "a.gydb", database, "-o", "m.gydb"],
            code,
            &[word],
        );
        place.fails(&add(database), in_place, &[word]);
        place.fails(
            &["db", "remove", database, "--taxid", "564"],
            in_place,
            &[database],
        );
        place.fails(&["db", "inspect", database], code, &[word]);
    }
    place.fails(
        &["db", "merge", "a.gydb", "k.gydb", "-o", "m.gydb"],
        1,
        &["a.gydb was built with -k 22", "k.gydb with -k 20"],
    );
    place.fails(
        &["db", "merge", "a.gydb", "a.gydb", "-o", "r_1.fq"],
        6,
        &["r_1.fq", "no .gydb database"],
    );
    place.fails(&["db", "merge", "a.gydb"], 1, &["--output"]);
    place.fails(&["db", "add", "a.gydb"], 1, &["REFS"]);
    place.fails(&["db", "add", "a.gydb", "nowhere.fa"], 1, &["nowhere.fa"]);
    place.fails(
        &["db", "inspect", "a.gydb", "-o", "a.gydb"],
        1,
        &["a.gydb is an input"],
    );
    for verb in [
        &["merge", "a.gydb", "-o", "m.gydb"][..],
        &["remove", "a.gydb", "--taxid", "2"],
        &["add", "a.gydb", "refs/b.fa"],
    ] {
        place.fails(
            &[&["db"], verb, &["--memory", "1M"]].concat(),
            4,
            &["--memory", "needs at least"],
        );
    }
    assert!(place.read("a.gydb") == a);
}

#[test]
fn a_signal_leaves_the_database_as_it_was() {
    let place = place();
    let a = build(&place, &["a"], "a.gydb");
    let before = place.files();
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let path = place.pipe("pipe");
        let add = [
            "db",
            "add",
            "a.gydb",
            "refs/b.fa",
            "pipe",
            "--map",
            "map",
            "--taxonomy",
            "tax",
        ];
        let mut child = place.command(&add).stderr(Stdio::piped()).spawn().unwrap();
        // Until somebody reads, it cannot be opened: the run is at its references then.
        let mut pipe = std::fs::File::options().write(true).open(&path).unwrap();
        pipe.write_all(">x\nACGTACGATGCATCGATCAT\n".repeat(9000).as_bytes())
            .unwrap();
        assert!(
            Command::new("kill")
                .args([&format!("-{name}"), &child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        let said = BufReader::new(child.stderr.take().unwrap())
            .lines()
            .map_while(Result::ok);
        assert!(
            said.into_iter().any(|line| line.contains("stopping")),
            "SIG{name}"
        );
        drop(pipe);
        assert_eq!(child.wait().unwrap().code(), Some(code), "SIG{name}");
        std::fs::remove_file(path).unwrap();
        assert_eq!(place.files(), before, "SIG{name}");
        assert!(place.read("a.gydb") == a);
    }
}

#[test]
fn a_full_disk_leaves_the_database_as_it_was() {
    let place = place();
    let a = build(&place, &["a"], "a.gydb");
    build(&place, &["b", "c"], "bc.gydb");
    let before = place.files();
    let blocks = format!("ulimit -f {}", a.len() / 1024 + 64);
    let merge = ["db", "merge", "a.gydb", "bc.gydb", "-o", "a.gydb"];
    let add = [
        "db",
        "add",
        "a.gydb",
        "refs/b.fa",
        "refs/c.fa",
        "--taxonomy",
        "tax",
        "--map",
        "map",
    ];
    for verb in [&merge[..], &add] {
        place.check_failure(place.limited(&blocks, verb), 6, &["a.gydb"], &before);
        assert!(place.read("a.gydb") == a);
    }
}
