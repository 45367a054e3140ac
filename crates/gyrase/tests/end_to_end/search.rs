//! `gyrase search`: tables of hits, and what is refused.

use crate::place::{Place, gzip};

/// A protein, two relatives of it, and a stranger.
pub const PROTEINS: &str = "\
>p1 the first
MKVLAWYGDERTIPLMNVCQHSAAKLEDGIVWTRELNNPFKYDLIAMHGSTQVERKAPDF
>p2
MKVLAWYGEERTIPLMNICQHSAAKLEDGIVWTKELNNPFKYDLIAMHGSSQVERKAPDF
>p3
MRVLSWYGDERSIPLMNVCQHTAAKLEEGIVWPRELNNPFRYDLVAMHGSTQLERKAPEF
>p4
GQNDWSCTPRHHYEEAFVLKMNSGQIPPTDWRCYKKVFALHHEDSNQMTGIWRPVYCEAL
";

fn first(table: &str) -> Vec<&str> {
    table
        .lines()
        .map(|line| line.split('\t').nth(1).unwrap())
        .collect()
}

#[test]
fn hits_are_written_as_a_table() {
    let place = Place::new();
    place.write("refs.faa", PROTEINS);
    place.write("q.faa.gz", gzip(&PROTEINS.as_bytes()[..78]));
    let table = place.ok(&["-q", "search", "q.faa.gz", "--db", "refs.faa"]);
    assert_eq!(first(&table), ["p1", "p2", "p3"], "{table}");
    place.ok(&[
        "-q",
        "search",
        "q.faa.gz",
        "--db",
        "refs.faa",
        "-o",
        "hits.tsv.gz",
        "--report",
        "r.json",
    ]);
    let (report, packed) = (place.json("r.json"), place.read("hits.tsv.gz"));
    assert!(packed.starts_with(&[0x1f, 0x8b]));
    assert_eq!(report["counts"]["hits"], 3);
    assert_eq!(report["counts"]["subjects"], 4);
    let best = place.ok(&[
        "-q", "search", "q.faa.gz", "--db", "refs.faa", "refs.faa", "--top", "1",
    ]);
    // Of equal subjects the last of the database comes first.
    assert_eq!(first(&best), ["p1"]);
    let args = ["-q", "search", "-", "--db", "refs.faa", "--evalue", "1e-9"];
    let piped = place.limited("exec < refs.faa", &args);
    assert_eq!(first(&piped.stdout).len(), 10, "{piped:?}");
}

#[test]
fn formats_and_limits_are_those_of_blast() {
    let place = Place::new();
    place.write("refs.faa", PROTEINS);
    place.write("q.faa", format!(">none\nMKVW\n{}", &PROTEINS[..74]));
    let search = ["-q", "search", "q.faa", "--db", "refs.faa"];
    let with = |more: &[&str]| place.ok(&[&search[..], more].concat());
    let version = env!("CARGO_PKG_VERSION");
    let comments = with(&["--format", "7 delim=; qacc stitle qcovs", "--top", "1"]);
    let head = format!("# BLASTP gyrase {version}\n# Query: ");
    let expected = format!(
        "{head}none\n# Database: refs.faa\n# 0 hits found\n{head}p1 the first\n\
         # Database: refs.faa\n\
         # Fields: query acc., subject title, % query coverage per subject\n# 1 hits found\n\
         p1;p1 the first;100\n# BLAST processed 2 queries\n"
    );
    assert_eq!(comments, expected);
    let xml = with(&["--format", "5"]);
    assert!(xml.contains("<Iteration_message>No hits found<"), "{xml}");
    assert!(xml.contains("<Hit_def>p1 the first</Hit_def>"), "{xml}");
    let best = with(&["--max-hsps", "1", "--query-cover", "100"]);
    assert_eq!(first(&best), ["p1", "p2", "p3"]);
    for (option, value, told) in [
        (
            "--format",
            "6 std stax",
            "no column stax: choose std, qseqid",
        ),
        (
            "--format",
            "18",
            "choose 0 to 4 (text), 5 or 16 (XML), 6, 7",
        ),
        ("--format", "13", "a file for each query: name the list"),
        ("--format", "17", "17 is for nucleotides, this is blastp"),
        ("--query-cover", "101", "from 0 to 100"),
        ("--matrix", "BLOSUM61", "choose BLOSUM45, BLOSUM50"),
        ("--gap-open", "3", "BLOSUM62; known are 11/2, 10/2"),
        ("--best-hit-overhang", "0.5", "between 0 and 0.5"),
        ("--max-hsps", "0", "--max-hsps"),
    ] {
        place.fails(&[&search[..], &[option, value]].concat(), 1, &[told]);
    }
}

/// Formats 13 and 14: what one document has of each query, in a file for each.
#[test]
fn documents_of_queries_are_those_of_one_document() {
    let place = Place::new();
    place.write("refs.faa", PROTEINS);
    place.write("q.faa", format!(">none\nMKVW\n{}", &PROTEINS[..74]));
    let search = |format: &str, more: &[&str]| {
        let args = [
            "-q", "search", "q.faa", "--db", "refs.faa", "--format", format,
        ];
        place.ok(&[&args[..], more].concat());
    };
    let text = |name: &str| String::from_utf8(place.read(name)).unwrap();
    search("15", &["-o", "all.json"]);
    let whole = place.json("all.json");
    for more in [&[][..], &["--resume"]] {
        search("13", &[&["-o", "hits.json"][..], more].concat());
        let list = place.json("hits.json");
        let names = list["BlastJSON"].as_array().unwrap();
        assert_eq!(names.len(), 2);
        for (number, name) in names.iter().enumerate() {
            let name = name["File"].as_str().unwrap();
            assert_eq!(name, format!("hits_{}.json", number + 1));
            let expected = &whole["BlastOutput2"][number];
            assert_eq!(place.json(name)["BlastOutput2"], *expected);
            std::fs::remove_file(place.path(name)).unwrap();
        }
    }
    assert!(!place.path("hits.json.documents").exists());
    search("16", &["-o", "all.xml"]);
    search("14", &["-o", "hits"]);
    let list = text("hits");
    for name in ["hits_1.xml", "hits_2.xml"] {
        assert!(
            list.contains(&format!("<xi:include href=\"{name}\"/>")),
            "{list}"
        );
        let document = text(name);
        let (_, body) = document.split_once("\n>\n").unwrap();
        let body = body.strip_suffix("</BlastOutput2>\n").unwrap();
        assert!(
            body.len() > 500 && text("all.xml").contains(body),
            "{document}"
        );
    }
}

#[test]
fn command_lines_of_blast_are_understood() {
    let place = Place::new();
    place.write("refs.faa", PROTEINS);
    place.write("q.faa", &PROTEINS[..74]);
    let ours = [
        "-q", "search", "q.faa", "--db", "refs.faa", "--top", "2", "-e", "1e-3",
    ];
    let theirs = [
        "-query",
        "q.faa",
        "-subject",
        "refs.faa",
        "-evalue",
        "1e-3",
        "-num_threads",
        "1",
    ];
    let theirs = [&["blastp"], &theirs[..], &["-max_target_seqs", "2"]].concat();
    let table = place.ok(&ours);
    assert!(!table.is_empty());
    assert_eq!(place.ok(&[&theirs[..], &["-outfmt", "6"]].concat()), table);
    let text = place.ok(&[&ours[..], &["--format", "0"]].concat());
    assert_eq!(place.ok(&theirs), text);
    for (option, told) in [("-remote", "--db"), ("-num_alignments", "type --top N")] {
        let asked = ["search", "q.faa", "--db", "refs.faa", option];
        place.fails(&asked, 1, &[option, "is not understood here", told]);
    }
}

#[test]
fn what_is_no_search_is_refused() {
    let place = Place::new();
    place.write("refs.faa", PROTEINS);
    place.write("bases.fa", format!(">g\n{}\n", "GATTACA".repeat(30)));
    let search = ["search", "refs.faa", "--db"];
    let with = |more: &[&'static str]| [&search[..], more].concat();
    let proteins = with(&["bases.fa", "--program", "blastp"]);
    place.fails(&proteins, 1, &["bases.fa", "nucleotides"]);
    place.fails(&["search", "-", "--db", "-"], 1, &["standard input"]);
    place.fails(
        &with(&["none.faa"]),
        2,
        &["none.faa: there is no such file"],
    );
    let mixed = with(&["refs.faa", "bases.fa"]);
    place.fails(&mixed, 1, &["bases.fa", "a database has one kind"]);
    place.fails(
        &with(&["refs.faa", "-o", "refs.faa"]),
        1,
        &["refs.faa is an input"],
    );
    place.fails(&with(&["refs.faa", "--evalue", "0"]), 1, &["above 0"]);
    place.fails(&with(&["refs.faa", "--top", "0"]), 1, &["--top"]);
    place.fails(&with(&["refs.faa", "-m", "1M"]), 4, &["--memory 17M"]);
    place.write("nothing.faa", "");
    let nothing = ["search", "nothing.faa", "--db", "refs.faa", "--format", "7"];
    let empty = place.run(&nothing);
    assert_eq!(empty.stdout, "# BLAST processed 0 queries\n", "{empty:?}");
    assert!(
        empty.stderr.contains("warning: there are no queries"),
        "{empty:?}"
    );
    place.write("cut.faa.gz", &gzip(PROTEINS.as_bytes())[..60]);
    place.fails(
        &["search", "cut.faa.gz", "--db", "refs.faa", "-o", "o.tsv"],
        7,
        &["cut.faa.gz"],
    );
}

#[test]
fn a_search_that_is_kept_writes_the_same_and_goes_on() {
    let place = Place::new();
    place.write("refs.faa", PROTEINS);
    place.write("q.faa", PROTEINS.repeat(100));
    let search = ["-q", "search", "q.faa", "--db", "refs.faa", "-o"];
    let with = |more: &[&'static str]| [&search[..], more].concat();
    for (format, name) in [("7", "x.txt"), ("5", "x.xml"), ("6", "x.tsv.gz")] {
        place.ok(&with(&["one", "--format", format]));
        place.ok(&with(&[name, "--format", format, "--resume"]));
        if !name.ends_with(".gz") {
            assert!(place.read("one") == place.read(name), "{name}");
        }
    }
    let before = place.files();
    // What is finished of a search that ends with a full disk is not searched again.
    let full = place.limited("ulimit -f 40", &with(&["o.tsv", "--resume"]));
    assert_eq!(full.code, 6, "{}", full.stderr);
    let kept: Vec<String> = place
        .files()
        .into_iter()
        .filter(|name| !before.contains(name))
        .collect();
    assert!(
        matches!(&kept[..], [one] if one.starts_with("gyrase-search-")),
        "{kept:?}"
    );
    place.ok(&with(&["o.tsv", "--resume"]));
    place.ok(&with(&["one", "--format", "6"]));
    assert!(place.read("o.tsv") == place.read("one"));
    place.fails(&with(&["-", "--resume"]), 1, &["name one with -o"]);
    place.fails(
        &[&search[..5], &["--resume"]].concat(),
        1,
        &["name one with -o"],
    );
}

#[test]
fn a_missing_hit_is_explained() {
    let place = Place::new();
    let far = PROTEINS.replace(
        "MRVLSWYGDERSIPLMNVCQHTAAKLEEGIVW",
        "GQNDWSCTPRHHYEEAFVLKMNSGQIPPTDWR",
    );
    place.write("refs.faa", far);
    place.write("q.faa", &PROTEINS[..74]);
    let why = |subject: &str, more: &[&str]| {
        let args = [
            "-q", "search", "q.faa", "--db", "refs.faa", "--why", "p1", subject,
        ];
        place.ok(&[&args[..], more].concat())
    };
    let first = why("p1", &["--top", "1"]);
    for told in [
        "p1, 60 residues",
        "rank            1 of ",
        "answer          reported",
    ] {
        assert!(first.contains(told), "{first}");
    }
    for (subject, more, told) in [
        ("p2", ["--top", "1"], "left out: enough others are better"),
        (
            "p3",
            ["--query-cover", "90"],
            "left out: no alignment has enough of the query",
        ),
        ("p4", ["--top", "9"], "left out: no se"),
        (
            "p2",
            ["--evalue", "1e-60"],
            "left out: the gapped score is too small",
        ),
    ] {
        let found = why(subject, &more);
        assert!(found.contains(told), "{subject}, {more:?}: {found}");
    }
    let args = ["search", "q.faa", "--db", "refs.faa", "--why", "p1", "p9"];
    place.fails(&args, 1, &["no subject of the name p9"]);
}

#[test]
fn a_plan_of_a_search_holds() {
    let place = Place::new();
    place.write("refs.faa", PROTEINS.repeat(500));
    place.write("q.faa", PROTEINS);
    let search = [
        "search",
        "q.faa",
        "--db",
        "refs.faa",
        "--threads",
        "1",
        "-m",
        "200M",
    ];
    let report = ["--report", "r.json"];
    let said = place.ok(&[&["-q", "plan"], &search[..], &report].concat());
    for row in [
        "queries",
        "database",
        "memory",
        "least --memory",
        "output",
        "time",
    ] {
        assert!(
            said.lines().any(|line| line.starts_with(row)),
            "{row}: {said}"
        );
    }
    let plan = place.json("r.json");
    place.ok(&[&["-q"], &search[..], &["-o", "o.tsv"], &report].concat());
    let stages = place.json("r.json")["stages"].clone();
    let peak = stages.as_array().unwrap().last().unwrap()["peak_memory_bytes"].as_u64();
    let most = plan["bytes"]["memory"]["most"].as_u64().unwrap();
    // Programs for tests are unoptimised, and so much larger than those that are measured.
    assert!(peak.unwrap() <= most + (17 << 20), "{peak:?} {most}");
    let output = plan["bytes"]["output"]["most"].as_u64().unwrap();
    assert!(place.read("o.tsv").len() as u64 <= output);
    let mut little = search;
    little[7] = "16M";
    place.fails(&[&["plan"], &little[..]].concat(), 4, &["--memory"]);
}

#[test]
fn a_database_larger_than_memory_is_searched_within_it() {
    let place = Place::new();
    // Strangers around each family, some 9 million residues: 54 MB with an index.
    let mut state = 5_u64;
    let mut stranger = |length: usize| -> String {
        let mut letter = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            char::from(b"ARNDCQEGHILKMFPSTWYV"[(state >> 33) as usize % 20])
        };
        (0..length).map(|_| letter()).collect()
    };
    let mut refs = String::new();
    for number in 0..3000 {
        refs += &format!(">x{number}\n{}\n", stranger(3000));
        if number % 200 == 0 {
            refs += &PROTEINS.replace(">p", &format!(">{number}-p"));
        }
    }
    place.write("refs.faa", &refs);
    place.write("q.faa", PROTEINS);
    place.ok(&["-q", "index", "refs.faa", "-o", "refs.gysd"]);
    let search = |db: &str, format: &str, memory: &str, threads: &str| {
        place.ok(&[
            "-q",
            "search",
            "q.faa",
            "--db",
            db,
            "--format",
            format,
            "-m",
            memory,
            "--threads",
            threads,
            "-o",
            "o.txt",
            "--report",
            "r.json",
        ]);
        let peak = place.json("r.json")["peak_memory_bytes"].as_u64().unwrap();
        (place.read("o.txt"), peak)
    };
    for (format, db) in [("6", "refs.gysd"), ("5", "refs.faa")] {
        let (expected, _) = search(db, format, "1G", "2");
        assert!(expected.len() > 5_000);
        for (memory, threads) in [("38M", "1"), ("64M", "2")] {
            let (found, peak) = search(db, format, memory, threads);
            assert!(found == expected, "{format}, {memory}");
            let most = memory[..2].parse::<u64>().unwrap() << 20;
            assert!(peak <= most, "{peak} bytes of {memory}");
        }
    }
}

#[test]
fn queries_are_masked_as_blast_masks_them() {
    let place = Place::new();
    place.write("refs.faa", PROTEINS);
    let (name, letters) = PROTEINS[..74].split_at(14);
    let query = format!("{name}{}{}\n", letters[..25].to_lowercase(), &letters[25..]);
    place.write("q.faa", query);
    let starts = |options: &[&str]| -> Vec<u32> {
        let args = ["blastp", "-q", "-query", "q.faa", "-db", "refs.faa"];
        let table = place.ok(&[
            &args[..],
            &["-outfmt", "6 qstart", "-evalue", "1e-3"],
            options,
        ]
        .concat());
        table.lines().map(|start| start.parse().unwrap()).collect()
    };
    assert_eq!(starts(&[]), [1, 1, 1]);
    assert_eq!(starts(&["-lcase_masking"]), [26, 26, 26]);
    let soft = ["-lcase_masking", "-soft_masking", "true"];
    assert_eq!(starts(&soft), [1, 1, 1]);
    assert!(starts(&["-seg", "12 4.3 4.3"]).is_empty());
    let search = ["search", "q.faa", "--db", "refs.faa"];
    let advice = ["WINDOW LOW HIGH", "12 2.2 2.5"];
    place.fails(&[&search[..], &["--seg", "12 2.5"]].concat(), 1, &advice);
    let advice = ["LEVEL WINDOW LINKER", "20 64 1"];
    place.fails(&[&search[..], &["--dust", "20 7 1"]].concat(), 1, &advice);
}

#[test]
fn queries_that_can_have_no_hits_are_named() {
    let place = Place::new();
    place.write("refs.faa", PROTEINS);
    let others: String = (0..11)
        .map(|number| format!(">x{number}\nXXXX\n"))
        .collect();
    place.write("q.faa", format!(">none\n\n{others}{PROTEINS}"));
    let ran = place.run(&["search", "q.faa", "--db", "refs.faa"]);
    assert_eq!(first(&ran.stdout).len(), 10, "{}", ran.stdout);
    for told in [
        "query none can have no hits: it has no letters",
        "query x8 can have no hits: none of its letters stands for one residue or base",
        "2 more query sequences can have no hits",
    ] {
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    assert!(!ran.stderr.contains("query x9"), "{}", ran.stderr);
}

#[test]
fn a_missing_hit_of_a_translation_is_explained() {
    let place = Place::new();
    place.write("refs.faa", PROTEINS);
    let gene = "ATGAAAGTTCTGGCTTGGTATGGTGATGAACGTACCATTCCGCTGATGAACGTGTGCCAGCATTCTGCTGCG";
    place.write("q.fna", format!(">gene\n{gene}{}\n", gene.to_lowercase()));
    let why = |subject: &str, more: &[&str]| {
        let args = ["-q", "search", "q.fna", "--db", "refs.faa", "--why", "gene"];
        place.ok(&[&args[..], &[subject], more].concat())
    };
    let found = why("p1", &[]);
    for told in [
        "gene, 144 letters",
        "segments",
        "1 of 3; 500 are",
        "reported",
    ] {
        assert!(found.contains(told), "{found}");
    }
    let found = why("p4", &[]);
    assert!(found.contains("left out: no se"), "{found}");
    let found = why("p1", &["--evalue", "1e-30"]);
    assert!(
        found.contains("left out: the E-value is too large"),
        "{found}"
    );
}

#[test]
fn masks_of_databases_are_taken_as_blast_takes_them() {
    let place = Place::new();
    let (name, letters) = PROTEINS[..74].split_at(14);
    let letters = letters.trim_end();
    let subject = format!("{}{}", letters[..25].to_lowercase(), &letters[25..]);
    place.write("q.faa", format!("{name}{letters}\n"));
    place.write(
        "refs.faa",
        format!(">s\n{subject}\n>all\n{}\n", letters.to_lowercase()),
    );
    let index = ["-q", "index", "refs.faa", "--molecule", "protein", "-o"];
    place.ok(&[&index[..], &["kept.gysd", "--lower-case-masking"]].concat());
    place.ok(&[&index[..], &["plain.gysd"]].concat());
    let rows = |db: &str, options: &[&str]| -> Vec<String> {
        let args = ["blastp", "-q", "-query", "q.faa", "-db", db];
        let format = ["-outfmt", "6 sseqid qstart", "-evalue", "1e-3"];
        let table = place.ok(&[&args[..], &format, options].concat());
        table.lines().map(|row| row.replace('\t', " ")).collect()
    };
    for db in ["refs.faa", "kept.gysd"] {
        assert_eq!(rows(db, &[]), ["all 1", "s 1"], "{db}");
        assert_eq!(rows(db, &["-db_soft_mask", "40"]), ["s 1"], "{db}");
        assert_eq!(rows(db, &["-db_hard_mask", "40"]), ["s 26"], "{db}");
        assert_eq!(rows(db, &["--db-mask", "hard"]), ["s 26"], "{db}");
    }
    assert_eq!(rows("plain.gysd", &["--db-mask", "soft"]).len(), 2);
    let search = |db| ["search", "q.faa", "--db", db, "--db-mask", "soft"];
    let said = place.run(&search("plain.gysd")).stderr;
    assert!(said.contains("the database has no masks"), "{said}");
    let said = place.run(&search("kept.gysd")).stderr;
    assert!(!said.contains("masks"), "{said}");
    let why = place.ok(&[&search("kept.gysd")[..], &["--why", "p1", "all"]].concat());
    assert!(why.contains("masked in the subject"), "{why}");
}

#[test]
fn a_report_is_made_of_metadata_where_a_replica_is() {
    let place = Place::new();
    place.write("refs.faa", PROTEINS);
    place.write("q.faa", format!(">none\nMKVW\n{}", &PROTEINS[..74]));
    place.ok(&["-q", "index", "refs.faa", "-o", "replica.gysd"]);
    let asked = [
        "blastp", "-q", "-query", "q.faa", "-db", "refs.faa", "-evalue", "1e-3", "-outfmt", "5",
    ];
    place.ok(&[
        &asked[..],
        &["--metadata", "hits.gym", "-o", "hits.xml", "-t", "1"],
    ]
    .concat());
    place.ok(&[&asked[..], &["--metadata", "alone.gym", "-m", "1G"]].concat());
    assert_eq!(place.read("hits.gym"), place.read("alone.gym"));
    let again = ["regenerate", "hits.gym", "q.faa", "--db"];
    let made = place.ok(&[&["-q"], &again[..], &["replica.gysd"]].concat());
    assert_eq!(made.as_bytes(), place.read("hits.xml"));
    let kept = ["--metadata", "all.gym", "--metadata-alignments"];
    place.ok(&[&asked[..], &kept].concat());
    let again_by = ["-q", "regenerate", "all.gym", "q.faa", "--db"];
    let made = place.ok(&[&again_by[..], &["replica.gysd"]].concat());
    assert_eq!(made.as_bytes(), place.read("hits.xml"));
    let table = place.ok(&[&["-q"], &again[..], &["replica.gysd", "--format", "6"]].concat());
    assert_eq!(first(&table), ["p1", "p2", "p3"]);
    place.write("other.faa", PROTEINS.replacen("MRVLSW", "MRVLAW", 1));
    let refused = |args: &[&str], code, told: &str| {
        let run = place.run(&[args, &["-o", "x.xml"]].concat());
        assert_eq!(run.code, code, "{run:?}");
        assert!(run.stderr.contains(told), "{run:?}");
        assert!(!place.path("x.xml").exists());
    };
    let differs = "of query p1 this database gives another answer";
    refused(&[&again[..], &["other.faa"]].concat(), 2, differs);
    refused(&[&again_by[1..], &["other.faa"]].concat(), 2, differs);
    let size = "of 4 sequences, 240 letters; here are 8 sequences";
    refused(&[&again[..], &["refs.faa", "refs.faa"]].concat(), 2, size);
    let queries = ["regenerate", "hits.gym", "refs.faa", "--db", "refs.faa"];
    refused(&queries, 1, "is of other queries: 2 sequences, 64 letters");
    place.write("cut.gym", &place.read("hits.gym")[..200]);
    let cut = ["regenerate", "cut.gym", "q.faa", "--db", "refs.faa"];
    refused(&cut, 7, "cut.gym is damaged: it was cut short");
}
