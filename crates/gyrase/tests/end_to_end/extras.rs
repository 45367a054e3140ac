//! What `gyrase classify` gives beside taxa of reads: places on references, evidence, reads by
//! taxon, plots, the coverage filter.

use std::collections::HashMap;

use crate::classify::{BUILD, GENOMES, PAIRS, place};
use crate::place::Place;

fn text(place: &Place, file: &str) -> String {
    String::from_utf8(place.read(file)).unwrap()
}

/// The records of a file of FASTQ, by the first word of their name.
fn records(text: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let record = |lines: &[&str]| {
        (
            lines[0][1..].split(' ').next().unwrap().to_string(),
            lines.join("\n") + "\n",
        )
    };
    lines.chunks(4).map(record).collect()
}

/// The records of `file` whose answer in `answers` has one of `taxids`.
fn expected(place: &Place, file: &str, answers: &str, taxids: &[&str]) -> String {
    let taxid: HashMap<&str, &str> = answers
        .lines()
        .map(|line| {
            let columns: Vec<&str> = line.split('\t').collect();
            (columns[1], columns[2])
        })
        .collect();
    let name = |name: &str| {
        name.trim_end_matches("/1")
            .trim_end_matches("/2")
            .to_string()
    };
    let chosen = records(&text(place, file))
        .into_iter()
        .filter(|(read, _)| taxids.contains(&taxid[name(read).as_str()]));
    chosen.map(|(_, record)| record).collect()
}

#[test]
fn answers_with_locations() {
    let place = place();
    place.ok(&BUILD);
    let plain = place.ok(&PAIRS);
    let located = place.ok(&[&PAIRS[..], &["--locations"]].concat());
    assert_eq!(
        located,
        place.ok(&[&PAIRS[..], &["--locations", "-t", "1"]].concat())
    );
    let mut classified = 0;
    for (plain, located) in plain.lines().zip(located.lines()) {
        let (plain, located): (Vec<&str>, Vec<&str>) =
            (plain.split('\t').collect(), located.split('\t').collect());
        assert_eq!((located.len(), &plain[..4]), (10, &located[..4]));
        if located[0] == "U" {
            continue;
        }
        classified += 1;
        let number = |column: usize| located[column].parse::<i64>().unwrap();
        // The simulator says where a pair is from: genome:sequence:first-last of both mates.
        let (first, last) = located[1]
            .split(':')
            .nth(2)
            .unwrap()
            .split_once('-')
            .unwrap();
        let near = |column: usize, truth: &str| {
            (number(column) - truth.parse::<i64>().unwrap()).abs() < 200
        };
        assert!(
            located[4] == "genome_1" && near(5, first) && near(6, last),
            "{located:?}"
        );
        assert!(
            1 <= number(5) && number(7) >= 2 && number(8) >= number(7) / 2,
            "{located:?}"
        );
        let share: f64 = located[9].parse().unwrap();
        assert!(share > 0.0 && share <= 1.0, "{located:?}");
    }
    assert!(classified > 200, "{classified}");
}

#[test]
fn a_long_read_tells_its_place() {
    let place = place();
    place.ok(&BUILD);
    let genome: String = text(&place, "refs/a.fa").lines().skip(1).collect();
    place.write(
        "long.fa",
        format!(">long\n{}\n>none\nACGT\n", &genome[5000..17_000]),
    );
    let answers = place.ok(&["classify", "--db", "r.gydb", "long.fa", "--locations"]);
    let columns: Vec<&str> = answers.lines().next().unwrap().split('\t').collect();
    assert_eq!(&columns[..4], ["C", "long", "562", "12000"]);
    let number = |column: usize| columns[column].parse::<f64>().unwrap();
    assert!(
        (number(5) - 5000.0).abs() < 300.0 && (number(6) - 17_000.0).abs() < 300.0,
        "{answers}"
    );
    assert!(number(9) > 0.97, "{answers}");
    let none = answers.lines().nth(1).unwrap();
    assert_eq!(none, "U\tnone\t0\t4\t*\t0\t0\t0\t0\t0.0000");
}

#[test]
fn reads_of_a_taxon_in_files_of_their_own() {
    let place = place();
    place.ok(&BUILD);
    let out = [
        "--extract",
        "561=genus#.fq",
        "--extract",
        "9606=both.fq.gz",
        "--classified-out",
        "c#.fq",
        "--unclassified-out",
        "u#.fq",
    ];
    let mut first = Vec::new();
    for threads in ["1", "2"] {
        let answers =
            place.ok(&[&PAIRS[..], &out, &["-t", threads, "--report", "run.json"]].concat());
        assert_eq!(place.json("run.json")["extracted"][1], "genus_2.fq");
        for (name, taxids) in [
            ("genus", &["561", "562", "564"][..]),
            ("c", &["1", "2", "561", "562", "564", "2759", "9606"]),
            ("u", &["0"]),
        ] {
            for mate in ["1", "2"] {
                let (found, reads) = (
                    text(&place, &format!("{name}_{mate}.fq")),
                    format!("r_{mate}.fq"),
                );
                assert!(
                    found == expected(&place, &reads, &answers, taxids),
                    "{name}_{mate}"
                );
                assert!(name == "u" || found.len() > 10_000, "{name}");
            }
        }
        let [one, two] =
            ["r_1.fq", "r_2.fq"].map(|file| records(&expected(&place, file, &answers, &["9606"])));
        let both: String = one
            .iter()
            .zip(&two)
            .map(|(one, two)| one.1.clone() + &two.1)
            .collect();
        let mut found = String::new();
        std::io::Read::read_to_string(
            &mut flate2::read::MultiGzDecoder::new(&place.read("both.fq.gz")[..]),
            &mut found,
        )
        .unwrap();
        assert!(found == both && !one.is_empty());
        first.push(["genus_1.fq", "both.fq.gz", "c_2.fq"].map(|file| place.read(file)));
    }
    assert!(first[0] == first[1]);
    // FASTA stays FASTA.
    let genome: String = text(&place, "refs/c.fa").lines().skip(1).collect();
    place.write(
        "some.fa",
        format!(
            ">one of c\n{}\n>two\nACGTACGTACGTACGTACGTACGTACGT\n",
            &genome[..200]
        ),
    );
    let args = [
        "classify",
        "--db",
        "r.gydb",
        "some.fa",
        "-o",
        "o",
        "--extract",
        "9606=c.fa",
        "--unclassified-out",
        "u.fa",
    ];
    place.ok(&args);
    assert_eq!(
        text(&place, "c.fa"),
        format!(">one of c\n{}\n", &genome[..200])
    );
    assert_eq!(text(&place, "u.fa"), ">two\nACGTACGTACGTACGTACGTACGTACGT\n");
}

#[test]
fn evidence_and_genomes() {
    let place = place();
    place.ok(&BUILD);
    place.ok(&[
        &PAIRS[..],
        &[
            "-o",
            "o",
            "--evidence",
            "e",
            "--kreport",
            "k",
            "--kreport-evidence",
            "m",
            "--abundance-out",
            "a",
        ],
    ]
    .concat());
    let rows = |file: &str| -> Vec<Vec<String>> {
        text(&place, file)
            .lines()
            .map(|line| line.split('\t').map(str::to_string).collect())
            .collect()
    };
    let row = |taxid: &str| rows("e").into_iter().find(|row| row[0] == taxid).unwrap();
    let targets = place.ok(&["db", "targets", "r.gydb"]);
    for (_, taxid, _) in GENOMES {
        let row = row(taxid);
        let number = |column: usize| {
            row[column]
                .parse::<f64>()
                .unwrap_or_else(|_| panic!("{row:?}"))
        };
        let windows = targets
            .lines()
            .find(|line| line.split('\t').nth(1) == Some(taxid))
            .unwrap()
            .split('\t')
            .nth(3)
            .unwrap();
        assert_eq!(row[9], windows);
        // Pairs at coverage 1 hit about two of three features, and as many as expected.
        assert!(number(6) <= number(5) && number(6) > 1000.0, "{row:?}");
        assert!((number(6) / number(7) - 1.0).abs() < 0.15, "{row:?}");
        assert!(
            number(8) <= number(9)
                && (number(8) / number(9) - number(10)).abs() < 1e-4
                && number(10) > 0.5,
            "{row:?}"
        );
    }
    // The long report is the other with two columns more.
    let short: Vec<Vec<String>> = rows("m")
        .into_iter()
        .map(|mut row| {
            row.drain(3..5);
            row
        })
        .collect();
    assert_eq!(short, rows("k"));
    let hits =
        |taxid: &str| rows("m").into_iter().find(|row| row[6] == taxid).unwrap()[3..5].to_vec();
    assert_eq!(hits("562"), row("562")[5..7]);
    // Reads at equal coverage: twice as many of the genome twice as long, and as many genomes.
    let abundance = |taxid: &str| rows("a").into_iter().find(|row| row[0] == taxid).unwrap();
    for (_, taxid, length) in GENOMES {
        let row = abundance(taxid);
        assert_eq!(row[7], length);
        let [reads, genomes] = [5, 8].map(|column| row[column].parse::<f64>().unwrap());
        assert!(
            (reads - length.parse::<f64>().unwrap() / 90_000.0).abs() < 0.03,
            "{row:?}"
        );
        assert!((genomes - 1.0 / 3.0).abs() < 0.03, "{row:?}");
    }
}

#[test]
fn plots_of_coverage() {
    let place = place();
    place.ok(&BUILD);
    place.ok(&[
        &PAIRS[..],
        &[
            "-o",
            "o",
            "--coverage-plots",
            "plots",
            "--report",
            "run.json",
            "--cami",
            "p",
        ],
    ]
    .concat());
    assert_eq!(place.json("run.json")["coverage_plots"], "plots");
    assert!(
        text(&place, "p").starts_with("@SampleID:r\n"),
        "{}",
        text(&place, "p")
    );
    let mut files: Vec<String> = std::fs::read_dir(place.path("plots"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let taxids: Vec<&str> = files
        .iter()
        .map(|file| file.split('_').next().unwrap())
        .collect();
    assert_eq!(taxids, ["562", "564", "9606"]);
    let plot = text(&place, &format!("plots/{}", files[0]));
    assert!(
        plot.contains("Escherichia coli (taxid 562)") && plot.ends_with("</svg>\n"),
        "{plot}"
    );
    assert!(!plot.contains("No read was found"));
    // Only one genome has reads.
    let genome: String = text(&place, "refs/c.fa").lines().skip(1).collect();
    place.write("some.fa", format!(">one\n{}\n", &genome[..200]));
    place.ok(&[
        "classify",
        "--db",
        "r.gydb",
        "some.fa",
        "-o",
        "o",
        "--coverage-plots",
        "few",
    ]);
    assert_eq!(std::fs::read_dir(place.path("few")).unwrap().count(), 1);
    place.fails(
        &[&PAIRS[..], &["-o", "o2", "--coverage-plots", "no/where"]].concat(),
        6,
        &["no/where"],
    );
    // A run that fails takes the folder with it that it made, and no other.
    place.write("cut.fq", "@cut\nACGT\n");
    for (folder, stays) in [("new", false), ("few", true)] {
        place.fails(
            &[
                "classify",
                "--db",
                "r.gydb",
                "cut.fq",
                "-o",
                "o2",
                "--coverage-plots",
                folder,
            ],
            7,
            &["cut.fq"],
        );
        assert_eq!(place.path(folder).exists(), stays, "{folder}");
    }
}

#[test]
fn the_least_covered_genomes_are_dropped() {
    let place = place();
    place.ok(&BUILD);
    // All reads of a and c, one pair of b.
    let mut seen = 0;
    for file in ["r_1.fq", "r_2.fq"] {
        seen = 0;
        let keep = |(name, record): (String, String)| {
            seen += usize::from(name.starts_with("b:"));
            (!name.starts_with("b:") || seen == 5).then_some(record)
        };
        let kept: String = records(&text(&place, file))
            .into_iter()
            .filter_map(keep)
            .collect();
        place.write(file, kept);
    }
    assert!(seen > 5);
    let count = |answers: &str, taxid: &str| {
        answers
            .lines()
            .filter(|line| line.split('\t').nth(2) == Some(taxid))
            .count()
    };
    let all = place.ok(&PAIRS);
    let ran = place.run(
        &[
            &PAIRS[..],
            &["--drop-least-covered", "0.1", "--report", "run.json"],
        ]
        .concat(),
    );
    assert_eq!((count(&all, "564"), count(&ran.stdout, "564")), (1, 0));
    assert!(
        ran.stderr.contains("1 of 3 genomes with reads dropped"),
        "{}",
        ran.stderr
    );
    assert_eq!(place.json("run.json")["dropped_genomes"], 1);
    let others = |answers: &str| {
        answers
            .lines()
            .filter(|line| !line.contains("\tb:"))
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(others(&all).len() + 1, all.lines().count());
    assert_eq!(others(&all), others(&ran.stdout));
    place.fails(
        &[
            "classify",
            "--db",
            "r.gydb",
            "-",
            "--drop-least-covered",
            "0.1",
        ],
        1,
        &["twice", "- is no file"],
    );
    place.fails(
        &[
            "classify",
            "--db",
            "r.gydb",
            "r_1.fq",
            "--drop-least-covered",
            "1",
        ],
        1,
        &["0.1"],
    );
}

#[test]
fn samples_of_a_sheet_have_the_same() {
    let place = place();
    place.ok(&BUILD);
    place.write("sheet.csv", "sample,fastq_1,fastq_2\none,r_1.fq,r_2.fq\n");
    let many = [
        "classify",
        "--db",
        "r.gydb",
        "--samples",
        "sheet.csv",
        "--out-dir",
        "out",
        "--reports",
        "evidence,kreport-evidence",
    ];
    let more = ["--locations", "--drop-least-covered", "0.3"];
    place.ok(&[&many[..], &more].concat());
    place.ok(&[
        &PAIRS[..],
        &more,
        &["-o", "o", "--evidence", "e", "--kreport-evidence", "m"],
    ]
    .concat());
    for (of_sample, alone) in [
        ("out/one.tsv", "o"),
        ("out/one.evidence", "e"),
        ("out/one.kraken2.kreport-evidence", "m"),
    ] {
        assert!(place.read(of_sample) == place.read(alone), "{of_sample}");
    }
    place.fails(
        &[&many[..], &["--extract", "562=x.fq"]].concat(),
        1,
        &["--extract", "--samples"],
    );
}

#[test]
fn stored_candidates_tell_the_same() {
    let place = place();
    place.ok(&BUILD);
    place.ok(&[&PAIRS[..], &["--candidates", "r.gyc"]].concat());
    let streamed = [&PAIRS[..], &["--candidates", "-"]].concat();
    place.fails(&streamed, 1, &["standard output", "--candidates x.gyc"]);
    let more = ["--locations", "--drop-least-covered", "0.3", "--evidence"];
    place.ok(&[
        &PAIRS[..],
        &more,
        &["e", "-o", "o", "--coverage-plots", "p"],
    ]
    .concat());
    place.ok(&[
        &["classify", "--merge", "r.gyc"],
        &more[..],
        &["e2", "-o", "o2", "--coverage-plots", "p2"],
    ]
    .concat());
    assert!(place.read("o") == place.read("o2") && place.read("e") == place.read("e2"));
    for plot in std::fs::read_dir(place.path("p")).unwrap() {
        let name = plot.unwrap().file_name().into_string().unwrap();
        assert!(
            place.read(&format!("p/{name}")) == place.read(&format!("p2/{name}")),
            "{name}"
        );
    }
    place.fails(
        &[
            "classify",
            "--merge",
            "r.gyc",
            "-o",
            "o3",
            "--extract",
            "562=x.fq",
        ],
        1,
        &["--extract", "--merge"],
    );
}

#[test]
fn without_reads_or_hits_everything_is_there_and_valid() {
    let place = place();
    place.ok(&BUILD);
    place.write("none.fq", "");
    place.write("other.fq", format!("@x\n{0}\n+\n{0}\n", "A".repeat(99)));
    for reads in ["none.fq", "other.fq"] {
        let outputs = [
            "-o",
            "o",
            "--locations",
            "--extract",
            "562=x.fq",
            "--classified-out",
            "c.fq.zst",
            "--unclassified-out",
            "u.fq",
            "--evidence",
            "e",
            "--kreport-evidence",
            "m",
            "--abundance-out",
            "a",
            "--coverage-plots",
            "p",
            "--drop-least-covered",
            "0.1",
        ];
        let ran = place.run(&[&["classify", "--db", "r.gydb", reads], &outputs[..]].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(
            (text(&place, "x.fq").as_str(), text(&place, "u.fq")),
            ("", text(&place, reads))
        );
        assert_eq!(std::fs::read_dir(place.path("p")).unwrap().count(), 0);
        assert_eq!(text(&place, "e").lines().count(), 1);
        for file in ["e", "m", "a", "o"] {
            assert!(
                !text(&place, file).to_lowercase().contains("nan"),
                "{file}: {}",
                text(&place, file)
            );
        }
        assert!(
            text(&place, "m").ends_with("  0.00\t0\t0\t0\t0\tR\t1\troot\n"),
            "{}",
            text(&place, "m")
        );
    }
}

#[test]
fn what_is_wrong_is_named() {
    let place = place();
    place.ok(&BUILD);
    let with = |more: &[&'static str]| [&PAIRS[..], &["-o", "o"], more].concat();
    place.fails(
        &with(&["--extract", "999=x.fq"]),
        1,
        &["999", "gyrase db taxa"],
    );
    place.fails(&with(&["--extract", "coli=x.fq"]), 1, &["562=coli.fq"]);
    place.fails(
        &with(&["--extract", "562=x.fq", "--extract", "564=x.fq"]),
        1,
        &["x.fq is named for two outputs"],
    );
    place.fails(
        &with(&["--extract", "562=r#.fq"]),
        1,
        &["r_1.fq is an input"],
    );
    place.fails(
        &[
            "classify",
            "--db",
            "r.gydb",
            "r_1.fq",
            "--extract",
            "562=x#.fq",
        ],
        1,
        &["x#.fq", "no pairs"],
    );
    place.fails(&with(&["--extract", "562=no/x.fq"]), 6, &["no/x.fq"]);
    place.fails(
        &[
            "classify",
            "--db",
            "r.gydb",
            "r_1.fq",
            "--classified-out",
            "-",
        ],
        1,
        &["standard output"],
    );
    // Nothing appears when one output does not fit, be it the last.
    let full = with(&[
        "--kreport",
        "k",
        "--classified-out",
        "c#.fq",
        "--unclassified-out",
        "/dev/full",
        "--extract",
        "561=/dev/full",
    ]);
    place.fails(&full, 6, &["/dev/full", "No space left"]);
    let before = place.files();
    let limited = place.limited(
        "ulimit -f 8",
        &with(&["--kreport", "k", "--extract", "562=x.fq", "--evidence", "e"]),
    );
    place.check_failure(limited, 6, &["cannot write"], &before);
}
