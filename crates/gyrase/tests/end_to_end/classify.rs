//! Databases of references, and the taxa of reads.

use crate::place::Place;

/// A genus of two species and a species of another domain; the genomes `a.fa`, `b.fa`, `c.fa` are
/// of 562, 564 and 9606.
pub const NODES: &str = "\
1\t|\t1\t|\tno rank\t|
2\t|\t1\t|\tsuperkingdom\t|
561\t|\t2\t|\tgenus\t|
562\t|\t561\t|\tspecies\t|
564\t|\t561\t|\tspecies\t|
2759\t|\t1\t|\tsuperkingdom\t|
9606\t|\t2759\t|\tspecies\t|
";

pub const NAMES: &str = "\
1\t|\troot\t|\t\t|\tscientific name\t|
2\t|\tBacteria\t|\t\t|\tscientific name\t|
561\t|\tEscherichia\t|\t\t|\tscientific name\t|
562\t|\tEscherichia coli\t|\t\t|\tscientific name\t|
564\t|\tEscherichia fergusonii\t|\t\t|\tscientific name\t|
2759\t|\tEukaryota\t|\t\t|\tscientific name\t|
9606\t|\tHomo sapiens\t|\t\t|\tscientific name\t|
";

/// The genomes, each with its taxid and length.
pub const GENOMES: [(&str, &str, &str); 3] = [
    ("a", "562", "30000"),
    ("b", "564", "20000"),
    ("c", "9606", "40000"),
];

/// Taxonomy `tax`, genomes in `refs`, a table of their taxids `map`, pairs of all of them `r_1.fq`
/// and `r_2.fq`.
pub fn place() -> Place {
    let place = Place::new();
    for folder in ["tax", "refs"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    place.write("tax/nodes.dmp", NODES);
    place.write("tax/names.dmp", NAMES);
    let mut reads = [Vec::new(), Vec::new()];
    for (seed, (name, _, length)) in GENOMES.into_iter().enumerate() {
        let genome = format!("refs/{name}.fa");
        place.ok(&[
            "-q",
            "simulate",
            "genome",
            "-o",
            &genome,
            "--length",
            length,
            "--seed",
            &format!("{}", seed + 7),
        ]);
        let made = [
            "-o",
            "s_1.fq",
            "--out2",
            "s_2.fq",
            "--coverage",
            "1",
            "--error-rate",
            "0.005",
        ];
        place.ok(&[&["-q", "simulate", "reads", &genome], &made[..]].concat());
        for (all, file) in reads.iter_mut().zip(["s_1.fq", "s_2.fq"]) {
            let text = String::from_utf8(place.read(file)).unwrap();
            let named = text.lines().enumerate().map(|(i, line)| match i % 4 {
                0 => format!("@{name}:{}\n", &line[1..]),
                _ => format!("{line}\n"),
            });
            all.extend(named.collect::<String>().into_bytes());
            std::fs::remove_file(place.path(file)).unwrap();
        }
    }
    place.write("r_1.fq", &reads[0]);
    place.write("r_2.fq", &reads[1]);
    place.write(
        "map",
        GENOMES
            .map(|(name, taxid, _)| format!("{name}.fa\t{taxid}\n"))
            .concat(),
    );
    place
}

pub const BUILD: [&str; 9] = [
    "db",
    "build",
    "refs",
    "--taxonomy",
    "tax",
    "--map",
    "map",
    "-o",
    "r.gydb",
];
pub const PAIRS: [&str; 5] = ["classify", "--db", "r.gydb", "r_1.fq", "r_2.fq"];

/// The taxid that the reads of a genome should get.
fn truth(read: &str) -> &'static str {
    let genome = GENOMES
        .iter()
        .find(|genome| read.starts_with(&format!("{}:", genome.0)));
    genome.unwrap().1
}

#[test]
fn a_database_says_what_it_holds() {
    let place = place();
    let said = place.run(&[&BUILD[..], &["--report", "run.json"]].concat());
    assert_eq!(said.code, 0, "{}", said.stderr);
    for words in [
        "3 references, 90,000 letters",
        "in r.gydb",
        "every reference has a taxon",
        "peak memory",
    ] {
        assert!(said.stderr.contains(words), "{words}: {}", said.stderr);
    }
    let report = place.json("run.json");
    assert_eq!(report["inputs"][2], "refs/c.fa");
    assert_eq!(report["counts"]["letters"], 90_000);
    assert_eq!(report["bytes"]["output"], place.read("r.gydb").len());
    let info: serde_json::Value =
        serde_json::from_str(&place.ok(&["db", "info", "r.gydb", "--json"])).unwrap();
    for (fact, value) in [
        ("targets", 3),
        ("without_taxon", 0),
        ("letters", 90_000),
        ("taxa", 7),
        ("species", 3),
    ] {
        assert_eq!(info[fact], value, "{fact}");
    }
    assert_eq!(info["features"], report["counts"]["features"]);
    assert_eq!(info["k"], report["parameters"]["k"]);
    assert!(
        place
            .ok(&["db", "info", "r.gydb"])
            .contains("references    3, in 3 files\n")
    );
    let taxa = place.ok(&["db", "taxa", "r.gydb"]);
    assert!(
        taxa.contains(
            "561\tgenus\tEscherichia\t2\t50000\n562\tspecies\tEscherichia coli\t1\t30000\n"
        ),
        "{taxa}"
    );
    let targets = place.ok(&["db", "targets", "r.gydb"]);
    let columns: Vec<Vec<&str>> = targets
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    let taxids: Vec<(&str, &str)> = columns.iter().map(|line| (line[1], line[2])).collect();
    assert_eq!(
        taxids,
        [
            ("taxid", "letters"),
            ("562", "30000"),
            ("564", "20000"),
            ("9606", "40000")
        ]
    );
    assert!(
        place
            .run(&["db", "verify", "r.gydb"])
            .stderr
            .contains("r.gydb: whole, 3 references")
    );
}

#[test]
fn reads_get_their_taxa() {
    let place = place();
    place.ok(&BUILD);
    let said = place.run(&[&PAIRS[..], &["-o", "o.tsv", "--report", "run.json"]].concat());
    let text = String::from_utf8(place.read("o.tsv")).unwrap();
    let (lines, right) = (
        text.lines().count(),
        text.lines().filter(|line| right(line)).count(),
    );
    assert!(
        lines > 200 && right * 100 > lines * 95,
        "{right} of {lines}: {}",
        said.stderr
    );
    let letters = ["r_1.fq", "r_2.fq"].map(|file| {
        String::from_utf8(place.read(file))
            .unwrap()
            .lines()
            .map(str::len)
            .collect::<Vec<_>>()
    });
    for (i, line) in text.lines().enumerate() {
        let mates = letters.each_ref().map(|lines| lines[4 * i + 1].to_string());
        assert_eq!(line.split('\t').nth(3).unwrap(), mates.join("|"), "{line}");
    }
    let (report, info) = (
        place.json("run.json"),
        place.ok(&["db", "info", "r.gydb", "--json"]),
    );
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    assert_eq!(report["databases"][0]["checksum"], info["checksum"]);
    assert_eq!(info["checksum"].as_str().map(str::len), Some(16));
    let counts = &report["counts"];
    let classified = text.lines().filter(|line| line.starts_with("C\t")).count();
    assert_eq!(
        (&counts["reads"], &counts["classified"]),
        (&lines.into(), &classified.into())
    );
    for words in [
        format!("{lines} sequences ("),
        format!("  {classified} sequences classified ("),
    ] {
        assert!(said.stderr.contains(&words), "{words}: {}", said.stderr);
    }
    assert!(
        said.stderr.contains("sequences unclassified ("),
        "{}",
        said.stderr
    );

    let single = place.ok(&["-q", "classify", "--db", "r.gydb", "r_1.fq"]);
    let (lines, right) = (
        single.lines().count(),
        single.lines().filter(|line| self::right(line)).count(),
    );
    assert!(right * 100 > lines * 90, "{right} of {lines}");
    let [first, second] =
        ["r_1.fq", "r_2.fq"].map(|file| String::from_utf8(place.read(file)).unwrap());
    let record = |text: &str, i: usize| {
        text.lines()
            .skip(4 * i)
            .take(4)
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let both: String = (0..9)
        .map(|i| record(&first, i) + &record(&second, i))
        .collect();
    place.write("both.fq", both);
    let interleaved = place.ok(&[
        "-q",
        "classify",
        "--db",
        "r.gydb",
        "both.fq",
        "--interleaved",
    ]);
    assert_eq!(
        interleaved,
        text.lines()
            .take(9)
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    );
}

fn right(line: &str) -> bool {
    let columns: Vec<&str> = line.split('\t').collect();
    columns[2] == truth(columns[1])
}

const REPORTS: [&str; 14] = [
    "--kreport",
    "k",
    "--mpa",
    "m",
    "--cami",
    "c",
    "--html",
    "h",
    "--bracken",
    "b",
    "--abundance-out",
    "a",
    "-o",
    "o.tsv",
];

#[test]
fn a_page_has_the_date_that_it_is_given() {
    let place = place();
    place.ok(&BUILD);
    let dated = |date: &str| {
        let args = [&PAIRS[..], &["-o", "o.tsv", "--html", "h"]].concat();
        let mut command = place.command(&args);
        command.env("SOURCE_DATE_EPOCH", date).output().unwrap()
    };
    let text = || String::from_utf8(place.read("h")).unwrap();
    assert!(dated("1700000000").status.success());
    assert!(text().contains("<dt>Date</dt><dd>2023-11-14</dd>"));
    assert!(dated("").status.success() && text().contains("<dt>Date</dt><dd>none"));
    let wrong = dated("today");
    assert_eq!(wrong.status.code(), Some(1), "{wrong:?}");
}

#[test]
fn reports_tell_what_the_answers_tell() {
    let place = place();
    place.ok(&BUILD);
    place.ok(&[&PAIRS[..], &REPORTS].concat());
    let answers = String::from_utf8(place.read("o.tsv")).unwrap();
    let assigned = |taxid: &str| {
        answers
            .lines()
            .filter(|line| line.split('\t').nth(2) == Some(taxid))
            .count()
    };
    let text = |file| String::from_utf8(place.read(file)).unwrap();
    let kreport = text("k");
    let line = |taxid: &str| {
        let columns = |line: &str| line.split('\t').map(str::to_string).collect::<Vec<_>>();
        kreport
            .lines()
            .map(columns)
            .find(|columns| columns[4] == taxid)
            .unwrap()
    };
    for (taxid, code, name) in [
        ("562", "S", "      Escherichia coli"),
        ("9606", "S", "    Homo sapiens"),
    ] {
        let line = line(taxid);
        assert_eq!(
            (line[2].clone(), line[3].as_str(), line[5].as_str()),
            (assigned(taxid).to_string(), code, name)
        );
    }
    let genus = ["561", "562", "564"].map(assigned).iter().sum::<usize>();
    assert_eq!(
        (line("561")[1].clone(), line("561")[3].as_str()),
        (genus.to_string(), "G")
    );
    assert_eq!((line("2")[3].as_str(), line("1")[3].as_str()), ("D", "R"));
    assert!(
        text("m").contains(&format!("d__Bacteria|g__Escherichia\t{genus}\n")),
        "{}",
        text("m")
    );
    assert!(text("c").starts_with("@SampleID:r\n"));
    assert!(text("h").contains("Escherichia fergusonii") && text("h").ends_with("</html>\n"));
    assert!(
        text("b")
            .lines()
            .any(|line| line.starts_with("Escherichia coli\t562\tS\t"))
    );
    assert!(
        text("a")
            .lines()
            .any(|line| line.starts_with("562\tEscherichia coli\tspecies\t"))
    );
    place.ok(&[
        &PAIRS[..],
        &["-o", "o.tsv", "--bracken", "b", "--abundance", "genus"],
    ]
    .concat());
    assert!(text("b").contains("Escherichia\t561\tG\t"), "{}", text("b"));
}

#[test]
fn the_same_bytes_for_any_threads_and_on_the_fly() {
    let place = place();
    place.ok(&[&BUILD[..], &["-t", "1"]].concat());
    let (database, one) = (
        place.read("r.gydb"),
        place.ok(&[&PAIRS[..], &["-t", "1", "--kreport", "k"]].concat()),
    );
    let kreport = place.read("k");
    place.ok(&[&BUILD[..], &["-t", "2"]].concat());
    assert_eq!(place.read("r.gydb"), database);
    assert_eq!(
        place.ok(&[&PAIRS[..], &["-t", "2", "--kreport", "k"]].concat()),
        one
    );
    assert_eq!(place.read("k"), kreport);
    let files = place.files();
    let fly = [
        "classify",
        "--refs",
        "refs",
        "--taxonomy",
        "tax",
        "--map",
        "map",
        "r_1.fq",
        "r_2.fq",
    ];
    assert_eq!(place.ok(&fly), one);
    assert_eq!(place.files(), files);
    // It is the same database, and so it has the same checksum.
    place.ok(&[&PAIRS[..], &["--report", "r.json"]].concat());
    place.ok(&[&fly[..], &["--html", "fly.html", "--report", "fly.json"]].concat());
    let checksum = |report: &str| place.json(report)["databases"][0]["checksum"].take();
    assert_eq!(checksum("fly.json"), checksum("r.json"));
    let page = String::from_utf8(place.read("fly.html")).unwrap();
    let told = format!(
        "<dt>Database</dt><dd>in memory, checksum {}</dd>",
        checksum("r.json").as_str().unwrap()
    );
    assert!(page.contains(&told), "{told}");
}

#[test]
fn answers_are_made_again_with_other_thresholds() {
    let place = place();
    place.ok(&BUILD);
    let with = ["--with-confidence", "-o"];
    place.ok(&[&PAIRS[..], &with, &["all.tsv.gz"]].concat());
    let stricter = ["--confidence", "0.9", "--kreport", "k"];
    place.ok(&[&PAIRS[..], &stricter, &with, &["o.tsv"]].concat());
    let (strict, kreport) = (place.read("o.tsv"), place.read("k"));
    let again = ["classify", "--db", "r.gydb", "--answers"];
    let lines = place.ok(&[&again[..], &["all.tsv.gz"], &stricter].concat());
    assert_eq!((lines.as_bytes(), place.read("k")), (&strict[..], kreport));
    let unclassified = lines.lines().filter(|line| line.starts_with('U'));
    assert!(unclassified.count() > 10, "{lines}");
    place.ok(&[
        &PAIRS[..],
        &["--lowest-rank", "genus", "--kreport", "k", "-o", "o"],
    ]
    .concat());
    let kreport = place.read("k");
    let genus = ["--lowest-rank", "genus", "--kreport", "k", "-o", "o"];
    place.ok(&[&again[..], &["all.tsv.gz"], &genus].concat());
    assert_eq!(place.read("k"), kreport);
    // Nothing has three thousand hits.
    let none = place.ok(&[&PAIRS[..], &["--min-hits", "3000"]].concat());
    assert!(none.lines().all(|line| line.starts_with("U\t")));
    place.write("plain.tsv", "C\tone\t1\t100\t1:7\n");
    place.write("other.tsv", "C\tone\t77777\t100\t1:7\n");
    place.write("not.tsv", "one\ttwo\n");
    for (file, code, words) in [
        ("plain.tsv", 1, &["plain.tsv", "--with-confidence"][..]),
        ("not.tsv", 7, &["not.tsv", "line 1"]),
        ("nowhere.tsv", 1, &["nowhere.tsv"]),
    ] {
        place.fails(&[&again[..], &[file], &stricter].concat(), code, words);
    }
    place.fails(
        &[&again[..], &["other.tsv"]].concat(),
        2,
        &["77777", "line 1"],
    );
    place.fails(
        &[&again[..], &["all.tsv.gz", "--evidence", "e"]].concat(),
        1,
        &["--evidence"],
    );
    place.fails(
        &[&PAIRS[..], &["--confidence", "5"]].concat(),
        1,
        &["from 0 to 1"],
    );
}

#[test]
fn a_record_that_the_memory_has_no_room_for_is_refused() {
    let place = place();
    place.ok(&BUILD);
    let record = |bases: usize| [b">a\n".to_vec(), b"ACGT".repeat(bases / 4)].concat();
    let args = ["-m", "300M", "classify", "--db", "r.gydb", "long.fa"];
    place.write("long.fa", record(15 << 20));
    assert!(place.ok(&args).contains("\ta\t"));
    place.write("long.fa", record(40 << 20));
    place.fails(&args, 4, &["long.fa", "room for"]);
}

#[test]
fn no_reads_are_no_failure() {
    let place = place();
    place.ok(&BUILD);
    place.write("none.fq", "");
    let said = place.run(&[&["classify", "--db", "r.gydb", "none.fq"], &REPORTS[..]].concat());
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(
        said.stderr.contains("0 sequences (0.00 Mbp)")
            && said.stderr.contains("0 sequences classified (0.00%)")
    );
    assert_eq!(place.read("o.tsv"), b"");
    assert_eq!(
        place.read("k"),
        b"  0.00\t0\t0\tU\t0\tunclassified\n  0.00\t0\t0\tR\t1\troot\n"
    );
    for report in ["m", "c", "h", "b", "a"] {
        assert!(
            !String::from_utf8(place.read(report))
                .unwrap()
                .contains("NaN"),
            "{report}"
        );
    }
}

#[test]
fn parameters_are_kept_in_the_database() {
    let place = place();
    let set = [
        "-k",
        "16",
        "--window",
        "127",
        "--stride",
        "100",
        "--smallest",
        "20",
        "--locations",
        "50",
    ];
    place.ok(&[&BUILD[..], &set].concat());
    let info: serde_json::Value =
        serde_json::from_str(&place.ok(&["db", "info", "r.gydb", "--json"])).unwrap();
    for (fact, value) in [
        ("k", 16),
        ("window", 127),
        ("stride", 100),
        ("smallest", 20),
        ("most_locations", 50),
    ] {
        assert_eq!(info[fact], value, "{fact}");
    }
    // 30,000 letters in windows of 127 every 100: the last begins with at least 16 letters.
    assert!(
        place
            .ok(&["db", "targets", "r.gydb"])
            .contains("\t562\t30000\t300\t0\n")
    );
    let answers = place.ok(&PAIRS);
    let right = answers.lines().filter(|line| right(line)).count();
    assert!(right * 100 > answers.lines().count() * 95, "{answers}");
    place.ok(&[&BUILD[..], &["-k", "20", "--one-in", "3"]].concat());
    assert!(
        place
            .ok(&["db", "info", "r.gydb"])
            .contains(": one 20-mer in 3\n")
    );
    place.fails(
        &[&BUILD[..], &["--smallest", "16"]].concat(),
        1,
        &["k is 22; give -k 16 or less with --smallest"],
    );
    for wrong in [
        ["-k", "0"],
        ["-k", "33"],
        ["--one-in", "0"],
        ["--smallest", "16"],
        ["--window", "9"],
    ] {
        place.fails(&[&BUILD[..], &wrong].concat(), 1, &["gyrase: error: "]);
    }
}

#[test]
fn references_without_a_taxon_are_named() {
    let place = place();
    place.write("some", "a.fa\t562\nc.fa\t999\n");
    let ran = place.run(&[
        "db",
        "build",
        "refs",
        "--taxonomy",
        "tax",
        "--map",
        "some",
        "-o",
        "r.gydb",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for words in [
        "2 of 3 references have no taxon",
        "refs/b.fa has no taxid",
        "refs/c.fa has taxid 999",
        "--map",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    let targets = place.ok(&["db", "targets", "r.gydb"]);
    assert_eq!(
        targets
            .lines()
            .filter(|line| line.split('\t').nth(1) == Some("0"))
            .count(),
        2,
        "{targets}"
    );
    let without = ["db", "build", "refs", "--taxonomy", "tax", "-o", "n.gydb"];
    let words = ["none of the 3 references has a taxon", "--map"];
    place.fails(&without, 1, &words);
}

#[test]
fn lines_of_a_map_without_a_taxid_are_left_out() {
    let place = place();
    place.ok(&BUILD);
    let rest = String::from_utf8(place.read("map")).unwrap();
    place.write("holes", format!("nobody\n{rest}no more\nnobody\n"));
    let build = ["db", "build", "refs", "--taxonomy", "tax", "-o", "h.gydb"];
    let ran = place.run(&[&build[..], &["--map", "holes", "--report", "r.json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(place.read("h.gydb") == place.read("r.gydb"));
    let warnings = place.json("r.json")["warnings"].clone();
    let told = "holes, line 1: expected a name, a tab and a taxid, or a first line that names a \
                column \"taxid\", found \"nobody\"; the line was left out, and 2 more like it; \
                give its taxid there, or `na` where it has none";
    assert_eq!(warnings, serde_json::json!([told]));
    place.write("names", "nobody\nno_more\n");
    let words = ["names, line 1: expected a name", "is no table of taxids"];
    place.fails(&[&build[..], &["--map", "names"]].concat(), 7, &words);
}

#[test]
fn reads_shorter_than_k_are_told() {
    let place = place();
    place.ok(&BUILD);
    place.write(
        "short.fq",
        "@a\nACGTACGTACGTACGTACGTA\n+\nIIIIIIIIIIIIIIIIIIIII\n",
    );
    place.write(
        "long.fq",
        "@a\nACGTACGTACGTACGTACGTAC\n+\nIIIIIIIIIIIIIIIIIIIIII\n",
    );
    place.write(
        "sheet.csv",
        "sample,fastq_1,fastq_2\ngut,short.fq,\nskin,long.fq,\n",
    );
    place.write("none.fq", "");
    let told = "no read has 22 letters, the k of the database, so none can be classified; -k of \
                gyrase db build makes one with shorter k-mers";
    let warnings = |args: &[&str]| {
        place.ok(&[&["classify", "--db", "r.gydb", "--report", "r.json"], args].concat());
        let warnings = place.json("r.json")["warnings"].clone();
        warnings.as_array().cloned().unwrap_or_default()
    };
    place.write("short_2.fq", place.read("short.fq"));
    assert_eq!(warnings(&["short.fq", "-o", "short.tsv"]), [told]);
    assert_eq!(
        warnings(&["short.fq", "short_2.fq", "-o", "pair.tsv"]),
        [told]
    );
    assert_eq!(
        warnings(&["--answers", "pair.tsv", "-o", "again.tsv"]),
        [told]
    );
    assert_eq!(warnings(&["short.fq", "long.fq", "-o", "o.tsv"]), [""; 0]);
    assert_eq!(
        warnings(&["--answers", "o.tsv", "-o", "again.tsv"]),
        [""; 0]
    );
    assert_eq!(warnings(&["none.fq", "-o", "none.tsv"]), [""; 0]);
    let sheet = ["--samples", "sheet.csv", "--out-dir", "out"];
    assert_eq!(warnings(&sheet), [format!("sample gut: {told}")]);
    let resumed = [&sheet[..], &["--resume"]].concat();
    assert_eq!(warnings(&resumed), [""; 0], "it was told when it was made");
}

#[test]
fn what_is_wrong_is_named() {
    let place = place();
    place.ok(&BUILD);
    let whole = place.read("r.gydb");
    place.write("cut.gydb", &whole[..whole.len() / 2]);
    place.write("foreign.gydb", ">no database\nACGT\n");
    place.write("bad.fq", "@one\nACGTACGT\n");
    let with = |db, reads| ["classify", "--db", db, reads, "-o", "o", "--kreport", "k"];
    place.fails(&with("nowhere.gydb", "r_1.fq"), 2, &["nowhere.gydb"]);
    place.fails(&with("cut.gydb", "r_1.fq"), 2, &["cut.gydb", "truncated"]);
    place.fails(
        &with("foreign.gydb", "r_1.fq"),
        2,
        &["foreign.gydb", "FASTA", "gyrase db build"],
    );
    place.fails(&["db", "info", "foreign.gydb"], 2, &["foreign.gydb"]);
    place.fails(&["db", "verify", "r.gydb", "cut.gydb"], 2, &["cut.gydb"]);
    place.fails(&with("r.gydb", "bad.fq"), 7, &["bad.fq", "line"]);
    place.fails(&with("r.gydb", "nowhere.fq"), 1, &["nowhere.fq"]);
    place.fails(&["classify", "r_1.fq"], 1, &["--db"]);
    place.fails(
        &["classify", "r_1.fq", "--refs", "refs"],
        1,
        &["--taxonomy"],
    );
    place.fails(
        &["classify", "--db", "r.gydb", "r_1.fq", "--kreport", "-"],
        1,
        &["standard output", "-o"],
    );
    place.fails(
        &["classify", "--db", "r.gydb", "r_1.fq", "-o", "r.gydb"],
        1,
        &["r.gydb is an input"],
    );
    place.fails(
        &[
            "classify",
            "--db",
            "r.gydb",
            "r_1.fq",
            "--abundance",
            "genus",
        ],
        1,
        &["--bracken"],
    );
    place.fails(
        &[
            "db",
            "build",
            "refs",
            "--taxonomy",
            "nowhere",
            "-o",
            "n.gydb",
        ],
        1,
        &["nowhere", "nodes.dmp"],
    );
    place.fails(
        &["db", "build", "tax", "--taxonomy", "tax", "-o", "n.gydb"],
        1,
        &["tax has no references"],
    );
    place.fails(
        &["db", "build", "refs", "--taxonomy", "tax", "-o", "r_1.fq"],
        6,
        &["r_1.fq", ".gydb"],
    );
    place.fails(
        &[&BUILD[..], &["--memory", "1M"]].concat(),
        4,
        &["--memory", "needs at least"],
    );
    std::fs::remove_file(place.path("tax/names.dmp")).unwrap();
    place.fails(
        &["db", "build", "refs", "--taxonomy", "tax", "-o", "n.gydb"],
        7,
        &["tax has no names.dmp"],
    );
}
