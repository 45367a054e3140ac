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
        ("--format", "18", "choose 0 (text), 5 or 16 (XML), 6, 7"),
        ("--format", "13", "a file for each query: choose 15"),
        ("--format", "17", "17 is for nucleotides, this is blastp"),
        ("--query-cover", "101", "from 0 to 100"),
        ("--max-hsps", "0", "--max-hsps"),
    ] {
        place.fails(&[&search[..], &[option, value]].concat(), 1, &[told]);
    }
}

#[test]
fn what_is_no_search_is_refused() {
    let place = Place::new();
    place.write("refs.faa", PROTEINS);
    place.write("bases.fa", format!(">g\n{}\n", "GATTACA".repeat(30)));
    let search = ["search", "refs.faa", "--db"];
    let with = |more: &[&'static str]| [&search[..], more].concat();
    place.fails(&with(&["bases.fa"]), 1, &["bases.fa", "nucleotides"]);
    place.fails(&["search", "-", "--db", "-"], 1, &["standard input"]);
    place.fails(&with(&["none.faa"]), 1, &["none.faa"]);
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
