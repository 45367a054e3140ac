//! `gyrase classify --samples`: many samples in one run.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::classify::{BUILD, place};
use crate::place::Place;

const RUN: [&str; 7] = [
    "classify",
    "--db",
    "r.gydb",
    "--samples",
    "sheet.csv",
    "--out-dir",
    "out",
];
const ALL: [&str; 2] = [
    "--reports",
    "kreport,mpa,cami,taxpasta,bracken,html,abundance",
];
const TOGETHER: [&str; 5] = [
    "summary.tsv",
    "summary_mqc.json",
    "taxa.biom",
    "taxa.html",
    "taxa.tsv",
];

/// References, reads, and a sheet of a pair, of two lanes of single reads that are not side by
/// side, and of no reads.
fn place_of_samples() -> Place {
    let place = place();
    place.ok(&BUILD);
    let lines = String::from_utf8(place.read("r_1.fq")).unwrap();
    let lines: Vec<&str> = lines.split_inclusive('\n').collect();
    place.write("lane 1.fq", lines[..40].concat());
    place.write("lane 2.fq", lines[40..].concat());
    place.write("none.fq", "");
    place.write(
        "sheet.csv",
        "sample,fastq_1,fastq_2\nsingle,lane \
         1.fq,\npair,r_1.fq,r_2.fq\nnone,none.fq,\nsingle,\"lane 2.fq\",\n",
    );
    place
}

/// The files of the folder of outputs.
fn outputs(place: &Place) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(place.path("out"))
        .unwrap()
        .map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.path().is_file());
    files
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                std::fs::read(entry.path()).unwrap(),
            )
        })
        .collect()
}

fn text(place: &Place, file: &str) -> String {
    String::from_utf8(place.read(&format!("out/{file}"))).unwrap()
}

#[test]
fn every_sample_gets_what_it_would_get_alone() {
    let place = place_of_samples();
    let ran = place.run(&[&RUN[..], &ALL, &["-t", "2", "--report", "run.json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let made = outputs(&place);
    assert_eq!(made.len(), 3 * 8 + TOGETHER.len(), "{:?}", made.keys());
    for (sample, reads) in [
        ("pair", &["r_1.fq", "r_2.fq"][..]),
        ("single", &["r_1.fq"]),
        ("none", &["none.fq"]),
    ] {
        let reports = [
            "--kreport",
            "k",
            "--mpa",
            "m",
            "--bracken",
            "b",
            "--abundance-out",
            "a",
        ];
        place.ok(&[&["classify", "--db", "r.gydb", "-o", "o"], reads, &reports].concat());
        for (alone, ending) in [
            ("o", "tsv"),
            ("k", "kraken2.kreport"),
            ("m", "mpa"),
            ("b", "bracken"),
            ("a", "abundance"),
        ] {
            assert!(
                place.read(alone) == made[&format!("{sample}.{ending}")],
                "{sample}.{ending}"
            );
        }
        assert!(
            text(&place, &format!("{sample}.cami")).starts_with(&format!("@SampleID:{sample}\n"))
        );
        assert!(text(&place, &format!("{sample}.html")).contains(&format!("Taxa of {sample}")));
    }
    let (table, column) = (text(&place, "taxa.tsv"), text(&place, "pair.taxpasta"));
    let cells = table
        .lines()
        .skip(1)
        .map(|row| row.split('\t').collect::<Vec<_>>())
        .filter(|row| row[5] != "0" || row[0] == "0");
    let expected = cells
        .map(|row| format!("{}\t{}\n", row[0], row[5]))
        .collect::<String>();
    assert_eq!(
        column.strip_prefix("taxonomy_id\tcount\n"),
        Some(expected.as_str())
    );
    let facts = place.json("run.json");
    let (samples, pair) = (&facts["samples"], text(&place, "pair.tsv").lines().count());
    assert_eq!(
        (&samples[1]["sample"], &samples[1]["counts"]["reads"]),
        (&"pair".into(), &pair.into())
    );
    assert_eq!(
        samples[0]["inputs"],
        serde_json::json!(["lane 1.fq", "lane 2.fq"])
    );
    assert!(
        ran.stderr.contains(&format!("{} sequences (", 2 * pair)),
        "{}",
        ran.stderr
    );
    place.ok(&[&RUN[..], &ALL, &["-t", "1"]].concat());
    assert!(outputs(&place) == made, "one thread gives other bytes");
    place.ok(&[
        "classify",
        "--refs",
        "refs",
        "--taxonomy",
        "tax",
        "--map",
        "map",
        "--samples",
        "sheet.csv",
        "--out-dir",
        "fly",
    ]);
    assert!(place.read("fly/taxa.tsv") == made["taxa.tsv"]);
}

#[test]
fn the_tables_of_all_samples_add_up() {
    let place = place_of_samples();
    place.ok(&[&RUN[..], &["--no-answers"]].concat());
    let names: Vec<String> = outputs(&place).into_keys().collect();
    assert_eq!(
        names,
        [
            "none.kraken2.kreport",
            "pair.kraken2.kreport",
            "single.kraken2.kreport",
            "summary.tsv",
            "summary_mqc.json",
            "taxa.biom",
            "taxa.html",
            "taxa.tsv"
        ]
    );
    let table = text(&place, "taxa.tsv");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(
        rows[0],
        [
            "taxonomy_id",
            "name",
            "rank",
            "lineage",
            "single",
            "pair",
            "none"
        ]
    );
    assert_eq!(rows[1][..3], ["0", "unclassified", "no rank"]);
    let cell = |row: &[&str], column: usize| row[4 + column].parse::<u64>().unwrap();
    let summary = text(&place, "summary.tsv");
    let mut lines = summary.lines();
    assert_eq!(
        lines.next(),
        Some("sample\treads\tclassified\tunclassified\ttaxa")
    );
    for (column, line) in lines.enumerate() {
        let fields: Vec<&str> = line.split('\t').collect();
        let all: u64 = rows[1..].iter().map(|row| cell(row, column)).sum();
        let taxa = rows[2..].iter().filter(|row| cell(row, column) > 0).count();
        let expected = [
            all,
            all - cell(&rows[1], column),
            cell(&rows[1], column),
            taxa as u64,
        ]
        .map(|n| n.to_string());
        assert_eq!(
            (fields[0], fields[1..].to_vec()),
            (
                rows[0][4 + column],
                expected.each_ref().map(String::as_str).to_vec()
            )
        );
        check_kreport(
            &text(&place, &format!("{}.kraken2.kreport", fields[0])),
            &rows[1..],
            column,
        );
    }
    check_biom(&place.json("out/taxa.biom"), &rows);
    let table = place.json("out/summary_mqc.json");
    assert_eq!(table["plot_type"], "table");
    for line in summary.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let row = &table["data"][fields[0]];
        let share = row["classified"].as_f64().unwrap() * row["reads"].as_f64().unwrap() / 100.0;
        assert_eq!(
            (row["reads"].to_string(), share.round().to_string()),
            (fields[1].into(), fields[2].into())
        );
        assert_eq!(row["top"] == "none", fields[2] == "0", "{row}");
    }
    let page = text(&place, "taxa.html");
    assert!(
        page.contains("<dt>Database</dt><dd>r.gydb, checksum "),
        "{page}"
    );
    assert!(
        ["single", "pair", "none"]
            .iter()
            .all(|name| page.contains(&format!("\"name\":\"{name}\"")))
    );
}

/// MultiQC knows it by its first line, and the reads of taxa themselves are those of a column of
/// the matrix. The pattern:
/// `^\s{0,2}(\d{1,3}\.\d{1,2})\t(\d+)\t(\d+)\t((\d+)\t(\d+)\t)?([URDKPCOFGS-]\d{0,2})\t(\d+)(\s+)[root|unclassified]`.
fn check_kreport(kreport: &str, rows: &[Vec<&str>], column: usize) {
    let line = kreport.lines().next().unwrap();
    let fields: Vec<&str> = line.split('\t').collect();
    let [percent, clade, own, rank, taxid, name] = fields[..] else {
        panic!("{line}")
    };
    let spaces = percent.len() - percent.trim_start().len();
    let (whole, part) = percent.trim_start().split_once('.').unwrap();
    let digits = |text: &str, most| {
        (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
    };
    assert!(spaces <= 2 && digits(whole, 3) && digits(part, 2), "{line}");
    assert!(
        [clade, own, taxid].iter().all(|number| digits(number, 20)),
        "{line}"
    );
    assert!(
        ["U", "R"].contains(&rank) && ["unclassified", "root"].contains(&name),
        "{line}"
    );
    let own = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        (fields[2] != "0").then(|| (fields[4].to_string(), fields[2].to_string()))
    };
    let found: BTreeMap<_, _> = kreport.lines().filter_map(own).collect();
    let cells = rows
        .iter()
        .map(|row| (row[0].to_string(), row[4 + column].to_string()));
    assert_eq!(found, cells.filter(|cell| cell.1 != "0").collect());
}

/// All that the description of BIOM 1.0 asks for, and the numbers of the matrix.
fn check_biom(biom: &Value, rows: &[Vec<&str>]) {
    for field in [
        "id",
        "format",
        "format_url",
        "type",
        "generated_by",
        "date",
        "rows",
        "columns",
        "matrix_type",
    ] {
        assert!(biom.get(field).is_some(), "{field}");
    }
    assert_eq!(
        (&biom["format"], &biom["type"]),
        (
            &"Biological Observation Matrix 1.0.0".into(),
            &"Taxon table".into()
        )
    );
    assert_eq!(
        (&biom["matrix_type"], &biom["matrix_element_type"]),
        (&"sparse".into(), &"int".into())
    );
    let ids = |name: &str| {
        biom[name]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_str().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids("columns"), rows[0][4..]);
    assert_eq!(
        ids("rows"),
        rows[1..].iter().map(|row| row[0]).collect::<Vec<_>>()
    );
    assert_eq!(
        biom["shape"],
        serde_json::json!([rows.len() - 1, rows[0].len() - 4])
    );
    assert!(
        biom["rows"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["metadata"]["taxonomy"].as_array().unwrap().len() == 7)
    );
    let mut cells = vec![vec!["0".to_string(); rows[0].len() - 4]; rows.len() - 1];
    for cell in biom["data"].as_array().unwrap() {
        let [row, column] = [0, 1].map(|at| cell[at].as_u64().unwrap() as usize);
        cells[row][column] = cell[2].to_string();
    }
    assert!(
        cells
            .iter()
            .zip(&rows[1..])
            .all(|(cells, row)| cells == &row[4..])
    );
}

#[test]
fn a_sample_that_is_done_is_not_done_again() {
    let place = place_of_samples();
    let reads = String::from_utf8(place.read("r_1.fq"))
        .unwrap()
        .lines()
        .count()
        / 4;
    // What a log parser reads is of all samples, whichever run did them.
    let all = format!("{} sequences (", 2 * reads);
    let resumed = |more: &[&str]| {
        let ran = place.run(&[&RUN[..], &["--resume", "--report", "run.json"], more].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains(&all), "{}", ran.stderr);
        let said = ran
            .stderr
            .matches("an earlier run made its outputs")
            .count();
        let facts = place.json("run.json");
        let before: Vec<_> = facts["samples"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["done_before"] == true)
            .collect();
        assert_eq!(before.len(), said);
        before
            .into_iter()
            .map(|one| one["sample"].as_str().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    assert!(resumed(&[]).is_empty());
    let made = outputs(&place);
    assert_eq!(resumed(&["-t", "1"]), ["single", "pair", "none"]);
    assert!(outputs(&place) == made, "what was kept gives other tables");
    std::fs::remove_file(place.path("out/pair.kraken2.kreport")).unwrap();
    assert_eq!(resumed(&[]), ["single", "none"]);
    place.write("out/single.tsv", "cut");
    assert_eq!(resumed(&[]), ["pair", "none"]);
    let reads = place.read("lane 2.fq");
    place.write("lane 2.fq", &reads);
    assert_eq!(resumed(&[]), ["pair", "none"], "reads were written anew");
    assert!(outputs(&place) == made);
    assert!(resumed(&["--reports", "kreport,bracken", "--abundance", "genus"]).is_empty());
    assert_eq!(
        resumed(&[
            "--reports",
            "bracken",
            "--abundance",
            "genus",
            "--no-answers"
        ])
        .len(),
        3
    );
    place.ok(&[&BUILD[..], &["--one-in", "6"]].concat());
    assert!(resumed(&[]).is_empty(), "another database");
    place.write("out/.gyrase/pair.json", "{}");
    assert_eq!(resumed(&[]), ["single", "none"]);
    place.ok(&RUN);
    assert_eq!(place.json("run.json")["samples"][0]["done_before"], true);
}

#[test]
fn reports_of_an_earlier_run_do_not_stay_beside_others() {
    let place = place_of_samples();
    place.ok(&[&RUN[..], &["--reports", "kreport,mpa,bracken"]].concat());
    place.write("out/pair.mpa", "changed by hand");
    place.write("out/single.notes", "not ours");
    place.write(
        "sheet.csv",
        "sample,reads\nsingle,lane 1.fq\npair,none.fq\n",
    );
    let ran = place.run(&[&RUN[..], &["--no-answers"]].concat());
    assert!(
        ran.code == 0 && ran.stderr.contains("sample pair: removed"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .contains("single.bracken, single.mpa, single.tsv"),
        "{}",
        ran.stderr
    );
    let ours = [
        "none.bracken",
        "none.kraken2.kreport",
        "none.mpa",
        "none.tsv",
    ];
    let kept = [
        "pair.kraken2.kreport",
        "pair.mpa",
        "single.kraken2.kreport",
        "single.notes",
    ];
    let names = ours.into_iter().chain(kept).chain(TOGETHER);
    assert_eq!(
        outputs(&place).into_keys().collect::<Vec<_>>(),
        names.collect::<Vec<_>>()
    );
    // Reads that are damaged first do not make it forget.
    place.ok(&[&RUN[..], &["--reports", "cami"]].concat());
    place.write("sheet.csv", "sample,reads\nsingle,bad.fq\n");
    place.write("bad.fq", "@cut\nACGT\n");
    assert_eq!(place.run(&RUN).code, 7);
    place.write("bad.fq", "@whole\nACGT\n+\nIIII\n");
    place.ok(&RUN);
    assert!(!place.path("out/single.cami").exists() && place.path("out/single.tsv").exists());
}

#[test]
fn damaged_reads_fail_their_sample_alone() {
    let place = place_of_samples();
    place.write(
        "bad.fq",
        [&place.read("lane 1.fq")[..], b"@cut\nACGT\n"].concat(),
    );
    let sheet = place.read("sheet.csv");
    place.write(
        "sheet.csv",
        [
            &b"sample,fastq_1,fastq_2\nbad,bad.fq,\nmates,r_1.fq,lane 1.fq\n"[..],
            &sheet[23..],
        ]
        .concat(),
    );
    let ran = place.run(&RUN);
    assert_eq!(ran.code, 7, "{}", ran.stderr);
    for words in [
        "sample bad: bad.fq",
        "sample mates: ",
        "2 of 5 samples failed: bad, mates",
        "taxa.biom",
        "--resume",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    let names = ["none", "pair", "single"]
        .map(|name| [format!("{name}.kraken2.kreport"), format!("{name}.tsv")])
        .concat();
    assert_eq!(outputs(&place).into_keys().collect::<Vec<_>>(), names);
    place.write("sheet.csv", sheet);
    let resumed = place.run(&[&RUN[..], &["--resume"]].concat());
    assert!(
        resumed.code == 0 && resumed.stderr.matches("an earlier run").count() == 3,
        "{}",
        resumed.stderr
    );
    let made = outputs(&place);
    std::fs::remove_dir_all(place.path("out")).unwrap();
    place.ok(&RUN);
    assert!(outputs(&place) == made);
}

#[test]
fn odd_sheets_are_refused_before_any_work() {
    let place = place_of_samples();
    std::fs::create_dir(place.path("out")).unwrap();
    place.write("out/kept.tsv", "a\n");
    let refused = |sheet: &[u8], code, words: &[&str]| {
        place.write("sheet.csv", sheet);
        place.fails(&RUN, code, words);
        assert_eq!(
            outputs(&place).into_keys().collect::<Vec<_>>(),
            ["kept.tsv"]
        );
    };
    refused(b"", 7, &["sheet.csv", "it is empty"]);
    refused(b"sample,fastq_1\n", 7, &["sheet.csv", "no samples"]);
    refused(
        b"\xef\xbb\xbfname,fastq_1\r\ns,r_1.fq\r\n",
        7,
        &["sheet.csv, line 1", "sample", "name, fastq_1"],
    );
    refused(
        b"sample,fastq_1\ns,r_1.fq\nt,nowhere.fq\n",
        1,
        &["sheet.csv, line 3", "fastq_1", "nowhere.fq", "folder"],
    );
    refused(
        b"sample,fastq_1\ns,r_1.fq\ns,r_1.fq\n",
        7,
        &["line 3", "already, in line 2"],
    );
    refused(b"sample,fastq_1\n../s,r_1.fq\n", 7, &["line 2", "slash"]);
    refused(
        b"sample,fastq_1\ntaxa,r_1.fq\n",
        1,
        &["out/taxa.tsv", "another name"],
    );
    refused(
        b"sample,fastq_1\nkept,out/kept.tsv\n",
        1,
        &["out/kept.tsv is an input"],
    );
    refused(b"\xff\xfes\0", 7, &["UTF-16"]);
    place.write("sheet.csv", "sample,fastq_1\ns,r_1.fq\n");
    place.fails(
        &[&RUN[..5], &["--out-dir", "far/away"]].concat(),
        6,
        &["cannot make the folder far/away"],
    );
    place.fails(&RUN[..5], 1, &["--out-dir"]);
    place.fails(&[&RUN[..], &["r_1.fq"]].concat(), 1, &["--samples"]);
    place.fails(&[&RUN[..], &["--kreport", "k"]].concat(), 1, &["--kreport"]);
    place.fails(
        &[
            "classify",
            "--db",
            "r.gydb",
            "--samples",
            "nowhere.csv",
            "--out-dir",
            "out",
        ],
        1,
        &["nowhere.csv"],
    );
    place.fails(
        &["classify", "--db", "r.gydb", "r_1.fq", "--resume"],
        1,
        &["--samples"],
    );
}

#[test]
fn what_a_run_will_take_is_told_beforehand() {
    let place = place_of_samples();
    let planned = |reads: &[&str], more: &[&str]| {
        let args = [
            &[
                "plan",
                "classify",
                "--db",
                "r.gydb",
                "-t",
                "1",
                "--report",
                "plan.json",
            ],
            reads,
            more,
        ]
        .concat();
        let ran = place.run(&args);
        let facts = if ran.code == 0 {
            place.json("plan.json")
        } else {
            Value::Null
        };
        (ran, facts)
    };
    let (ran, facts) = planned(
        &["r_1.fq", "r_2.fq"],
        &["--memory", "1G", "-o", "o.tsv", "--kreport", "k"],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    place.ok(&[
        "classify", "--db", "r.gydb", "r_1.fq", "r_2.fq", "-o", "o.tsv", "--report", "run.json",
    ]);
    assert_eq!(
        facts["counts"]["letters"]["most"],
        place.json("run.json")["counts"]["bases"]
    );
    assert_eq!(facts["counts"]["passes"], 1);
    for words in [
        "passes          1 over the reads\n",
        "temporary disk  none\n",
        "of the 1.0 GiB allowed\n",
        "time            about ",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    let number = |facts: &Value, name: &str| facts["bytes"][name].as_u64().unwrap();
    let least = number(&facts, "least_memory");
    assert!(
        number(&facts, "databases") < place.read("r.gydb").len() as u64
            && number(&facts, "databases") < number(&facts, "memory")
    );
    let (enough, facts) = planned(&["r_1.fq"], &["--memory", &least.to_string()]);
    assert!(
        enough.code == 0 && number(&facts, "memory") <= least,
        "{}",
        enough.stderr
    );
    let (too_little, _) = planned(&["r_1.fq"], &["--memory", &(least - (1 << 20)).to_string()]);
    assert!(
        too_little.code == 4 && too_little.stderr.contains("classifying takes at least"),
        "{too_little:?}"
    );
    let (_, facts) = planned(&["--samples", "sheet.csv", "--out-dir", "out"], &[]);
    let total = ["r_1.fq", "r_1.fq", "r_2.fq"]
        .map(|file| letters(&place.read(file)))
        .iter()
        .sum::<usize>();
    assert!(
        facts["counts"]["letters"]["most"] == total && !place.path("out").exists(),
        "{facts}"
    );
    place.fails(
        &[
            "plan",
            "classify",
            "--refs",
            "refs",
            "--taxonomy",
            "tax",
            "r_1.fq",
        ],
        1,
        &["--db"],
    );
}

/// Letters of the reads of a FASTQ file.
fn letters(fastq: &[u8]) -> usize {
    std::str::from_utf8(fastq)
        .unwrap()
        .lines()
        .skip(1)
        .step_by(4)
        .map(str::len)
        .sum()
}

#[test]
fn a_stopped_run_goes_on() {
    let place = place_of_samples();
    place.write("sheet.csv", "sample,fastq_1\na,r_1.fq\nb,pipe\n");
    let pipe = place.pipe("pipe");
    for (signal, code) in [("TERM", Some(143)), ("KILL", None)] {
        let mut run = place.command(&RUN).stderr(Stdio::piped()).spawn().unwrap();
        let mut reads = std::fs::File::options().write(true).open(&pipe).unwrap();
        reads.write_all(&place.read("lane 1.fq")).unwrap();
        // The first sample is done before the second is opened.
        while !place.path("out/b.tsv.partial").exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(
            Command::new("kill")
                .args([&format!("-{signal}"), &run.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        // Before the pipe ends, or the second sample would be done.
        let said = BufReader::new(run.stderr.take().unwrap())
            .lines()
            .map_while(Result::ok);
        assert_eq!(
            said.into_iter().any(|line| line.contains("stopping")),
            code.is_some()
        );
        drop(reads);
        assert_eq!(run.wait().unwrap().code(), code);
        let whole: Vec<String> = outputs(&place)
            .into_keys()
            .filter(|name| !name.ends_with(".partial"))
            .collect();
        assert_eq!(whole, ["a.kraken2.kreport", "a.tsv"]);
        assert!(
            code.is_none() || outputs(&place).len() == 2,
            "a signal leaves partial files"
        );
    }
    std::fs::remove_file(&pipe).unwrap();
    std::fs::copy(place.path("lane 2.fq"), &pipe).unwrap();
    let resumed = place.run(&[&RUN[..], &["--resume"]].concat());
    assert!(
        resumed.code == 0 && resumed.stderr.contains("sample a: an earlier run"),
        "{}",
        resumed.stderr
    );
    let names = ["a.kraken2.kreport", "a.tsv", "b.kraken2.kreport", "b.tsv"]
        .into_iter()
        .chain(TOGETHER);
    assert_eq!(
        outputs(&place).into_keys().collect::<Vec<_>>(),
        names.collect::<Vec<_>>()
    );
}
