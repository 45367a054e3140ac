//! Searches of made proteins: the relatives are found, and nothing changes the answer.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use std::collections::HashSet;
use std::path::PathBuf;

use gyrase_search::{
    Config, DustMask, HitLimits, Program, ReportFormat, SearchError, Sensitivity, run,
};
use gyrase_work::Progress;

use crate::families::{Place, Random, codon, families, report, table, usual};

fn names<'t>(table: &'t str, query: &str) -> Vec<&'t str> {
    let columns = table
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>());
    let mut names: Vec<&str> = columns
        .filter(|row| row[0] == query)
        .map(|row| row[1])
        .collect();
    names.dedup();
    names
}

#[test]
fn files_of_two_kinds_are_no_database() {
    let place = Place::new();
    let protein = String::from_utf8(Random::new().protein(100)).expect("letters");
    let gene: String = protein.chars().map(codon).collect();
    let proteins = place.write("proteins.faa", &format!(">protein\n{protein}\n"));
    let genes = place.write("genes.fna", &format!(">gene\n{gene}\n"));
    for files in [[&proteins, &genes], [&genes, &proteins]] {
        let config = Config {
            subjects: files.map(PathBuf::clone).to_vec(),
            ..usual(proteins.clone(), proteins.clone())
        };
        let refused = report(&config, "6").expect_err("two kinds").to_string();
        let [first, second] = files.map(|file| file.display().to_string());
        assert!(refused.contains("a database has one kind"), "{refused}");
        assert!(
            refused.contains(&first) && refused.contains(&second),
            "{refused}"
        );
    }
}

#[test]
fn relatives_are_found_from_the_nearest_on() {
    let (queries, subjects) = families(&mut Random::new());
    let place = Place::new();
    let table = table(&place.config(&queries, &subjects)).unwrap();
    for number in 0..12 {
        let query = format!("q{number}");
        let found = names(&table, &query);
        // Of equal subjects the later one comes first, as BLAST has it.
        let expected =
            ["0", "20-again", "20", "40"].map(|relative| format!("s{number}-{relative}"));
        assert_eq!(found[..4], expected, "{query}");
    }
    assert!(!table.contains("\tx"), "{table}");
    let row: Vec<&str> = table.lines().next().unwrap().split('\t').collect();
    assert_eq!(row.len(), 12, "{row:?}");
}

/// `blastp -query proteins.faa -subject proteins.faa -evalue 1e-3 -outfmt 6`, BLAST+ 2.12.
#[test]
fn the_table_is_that_of_blastp() {
    let place = Place::new();
    let proteins = include_str!("golden/proteins.faa");
    let found = table(&place.config(proteins, &[proteins.into()])).unwrap();
    assert_eq!(found, include_str!("golden/blastp.tsv"));
}

/// Every column that BLAST has without a taxonomy, but titles: it has none of `-subject`.
const EVERY_COLUMN: &str = "6 qseqid qacc qaccver qlen sseqid sallseqid sacc saccver sallacc slen \
     qstart qend sstart send qseq sseq evalue bitscore score length pident nident mismatch \
     positive gapopen gaps ppos frames qframe sframe btop qcovs qcovhsp";

/// Columns that BLAST has nothing in for a file of `-subject`.
const TAXA: &str = "7 saccver qgi sgi sallgi staxid ssciname scomname sblastname sskingdom staxids \
     sscinames scomnames sblastnames sskingdoms sstrand qcovus";

fn assert_lines(found: &str, expected: &str, what: &str) {
    for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "{what}, line {}", number + 1);
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{what}");
}

/// The formats of `blastp`, on the same files: `-evalue 1e-3 -outfmt FORMAT`, BLAST+ 2.12.
#[test]
fn tables_are_those_of_blastp() {
    let place = Place::new();
    let proteins = include_str!("golden/proteins.faa");
    let config = place.config(proteins, &[proteins.into()]);
    let place = Place::new();
    let odd_subjects = include_str!("golden/odd-subjects.faa");
    let odd = place.config(
        include_str!("golden/odd-queries.faa"),
        &[odd_subjects.into()],
    );
    let every_odd = include_str!("golden/odd-every-column.tsv");
    let some = include_str!("golden/some-columns.csv");
    for (config, format, expected) in [
        (&config, "7", include_str!("golden/blastp.7.txt")),
        (&config, "10", include_str!("golden/blastp.csv")),
        (
            &config,
            EVERY_COLUMN,
            include_str!("golden/every-column.tsv"),
        ),
        (&config, "10 delim=; bitscore std qseqid", some),
        (&odd, "7", include_str!("golden/odd.7.txt")),
        (&odd, TAXA, include_str!("golden/odd-taxa.7.txt")),
        (&odd, EVERY_COLUMN, every_odd),
    ] {
        let found = report(config, format).unwrap();
        let found = found.replace(
            ": proteins.faa",
            ": User specified sequence set (Input: proteins.faa)",
        );
        let expected = expected.replace("odd-subjects.faa", "proteins.faa");
        assert_lines(&found, &expected, format);
    }
    let titles = report(&odd, "6 delim=| saccver stitle salltitles").unwrap();
    let title = "a first subject <1> & \"x\", y";
    assert_eq!(titles.lines().next().unwrap(), format!("a|{title}|{title}"));
}

/// BLAST leaves the name and the size of a database away where it is a file of `-subject`.
#[test]
fn xml_is_that_of_blastp() {
    let proteins = include_str!("golden/proteins.faa");
    let odd = [
        include_str!("golden/odd-queries.faa"),
        include_str!("golden/odd-subjects.faa"),
    ];
    for ([queries, subjects], expected) in [
        ([proteins; 2], include_str!("golden/blastp.xml")),
        (odd, include_str!("golden/odd.xml")),
    ] {
        let place = Place::new();
        let found = report(&place.config(queries, &[subjects.into()]), "5").unwrap();
        let kept = |text: &str| {
            let ours = ["<BlastOutput_db>", "<Statistics_db-"];
            let is_ours = |line: &&str| ours.iter().any(|element| line.contains(element));
            let lines = text.lines().filter(|line| !is_ours(line));
            lines.collect::<Vec<_>>().join("\n")
        };
        assert_lines(&kept(&found), &kept(expected), "XML");
        assert_eq!(found.lines().count(), expected.lines().count());
    }
}

/// `makeblastdb -in SUBJECTS -dbtype prot -title proteins.faa`, then `blastp -query QUERIES
/// -evalue 1e-3`, BLAST+ 2.12. Its database has a date, and its search two numbers more.
#[test]
fn text_is_that_of_blastp() {
    let proteins = include_str!("golden/proteins.faa");
    let titles = include_str!("golden/titles.faa");
    let odd = [
        include_str!("golden/odd-queries.faa"),
        include_str!("golden/odd-subjects.faa"),
    ];
    for ([queries, subjects], expected) in [
        ([proteins; 2], include_str!("golden/blastp.0.txt")),
        (odd, include_str!("golden/odd.0.txt")),
        ([titles; 2], include_str!("golden/titles.0.txt")),
    ] {
        let place = Place::new();
        let found = report(&place.config(queries, &[subjects.into()]), "0").unwrap();
        let theirs = ["    Posted date:", "Neighboring words", "Window for"];
        let kept = |text: &str| {
            let is_theirs = |line: &&str| theirs.iter().any(|start| line.starts_with(start));
            let lines = text.lines().filter(|line| !is_theirs(line));
            lines.collect::<Vec<_>>().join("\n")
        };
        assert_lines(&kept(&found), &kept(expected), "text");
    }
}

/// `makeblastdb -in proteins.faa -dbtype prot -parse_seqids`, then `blastp -query QUERIES
/// -parse_deflines -evalue 1e-3 -outfmt N`, BLAST+ 2.12: what stands between the list of subjects
/// and the parameters of each query.
#[test]
fn alignments_along_the_query_are_those_of_blastp() {
    let proteins = include_str!("golden/proteins.faa");
    let queries = proteins.split_inclusive('>').skip(1).filter(|record| {
        let wanted = ["f0_60", "f1_25", "f1_45", "f2_45"];
        wanted.contains(&record.split('\n').next().unwrap())
    });
    let queries: Vec<String> = queries
        .map(|record| format!(">{}", record.trim_end_matches('>')))
        .collect();
    let place = Place::new();
    let config = place.config(&queries.concat(), &[proteins.into()]);
    let expected = include_str!("golden/anchored.txt").split("# ").skip(1);
    for expected in expected {
        let (format, expected) = expected.split_once('\n').unwrap();
        let found = report(&config, format).unwrap();
        let found = found.split("Query= ").skip(1).map(|query| {
            let (_, behind) = query.split_once("\n\n\n\n").unwrap();
            let (alignments, _) = behind.split_once("\n\n\nLambda").unwrap();
            format!("{alignments}\n\n")
        });
        assert_lines(&found.collect::<String>(), expected, format);
    }
}

/// The lines of a document but those that have one of these words.
fn without(text: &str, words: &[&str]) -> String {
    let has = |line: &&str| words.iter().any(|word| line.trim_start().starts_with(word));
    let lines = text.lines().filter(|line| !has(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// The database of [`text_is_that_of_blastp`], `-outfmt 15` and 16. What BLAST gives a number for a
/// name has its name here.
#[test]
fn documents_are_those_of_blastp() {
    let place = Place::new();
    let [queries, subjects] = [
        include_str!("golden/odd-queries.faa"),
        include_str!("golden/odd-subjects.faa"),
    ];
    let config = place.config(queries, &[subjects.into()]);
    let json = include_str!("golden/odd.json");
    let xml = include_str!("golden/odd.2.xml");
    for (format, expected, names) in [
        ("15", json, ["\"id\"", "\"accession\"", "\"db\""]),
        ("16", xml, ["<id>", "<accession>", "<db>"]),
    ] {
        let found = report(&config, format).unwrap();
        assert_lines(&without(&found, &names), &without(expected, &names), format);
        assert_eq!(found.lines().count(), expected.lines().count());
    }
}

/// A line is what the document of all has of the query in `search`, without spaces.
#[test]
fn lines_of_json_are_parts_of_the_document() {
    let place = Place::new();
    let config = place.config(
        include_str!("golden/odd-queries.faa"),
        &[include_str!("golden/odd-subjects.faa").into()],
    );
    let lines = report(&config, "jsonl").unwrap();
    let document = report(&config, "15").unwrap();
    let narrow: Vec<String> = document
        .lines()
        .map(|line| line.trim().replacen("\": ", "\":", 1))
        .collect();
    let narrow = narrow.concat();
    let searches: Vec<&str> = narrow.split("\"search\":").skip(1).collect();
    assert_eq!(searches.len(), 4);
    assert_eq!(lines.lines().count(), 4);
    for (line, search) in lines.lines().zip(searches) {
        assert!(search.starts_with(line), "{line}");
    }
}

/// The columns of PAF against those of a table.
#[test]
fn paf_has_the_alignments_of_tables() {
    let place = Place::new();
    let proteins = include_str!("golden/proteins.faa");
    let config = place.config(proteins, &[proteins.into()]);
    let paf = report(&config, "paf").unwrap();
    let columns = "6 qaccver qlen qstart qend saccver slen sstart send nident length score btop";
    let table = report(&config, columns).unwrap();
    assert_eq!(paf.lines().count(), table.lines().count());
    for (line, row) in paf.lines().zip(table.lines()) {
        let line: Vec<&str> = line.split('\t').collect();
        let row: Vec<&str> = row.split('\t').collect();
        let number = |text: &str| text.parse::<usize>().unwrap();
        let before = |text: &str| (number(text) - 1).to_string();
        let (query, subject) = (before(row[2]), before(row[6]));
        let expected = [
            row[0], row[1], &query, row[3], "+", row[4], row[5], &subject, row[7], row[8], row[9],
            "255",
        ];
        assert_eq!(line[..12], expected);
        assert_eq!(line[13], format!("AS:i:{}", row[10]));
        let runs = line[17].strip_prefix("cg:Z:").unwrap();
        let sum = |kinds: &str| -> usize {
            let runs = runs.split_inclusive(char::is_alphabetic);
            let of_kind = runs.filter(|run| kinds.contains(&run[run.len() - 1..]));
            of_kind.map(|run| number(&run[..run.len() - 1])).sum()
        };
        assert_eq!(sum("MI"), number(row[3]) - number(&query), "{runs}");
        assert_eq!(sum("MD"), number(row[7]) - number(&subject), "{runs}");
        // A gap in the query is D: pairs of `-` and a residue in BTOP.
        let [in_query, in_subject] = gaps(row[11]);
        assert_eq!([sum("D"), sum("I")], [in_query, in_subject], "{runs}");
    }
}

/// The letters of FASTA against those of a table.
#[test]
fn fasta_has_what_tables_have_of_subjects() {
    let place = Place::new();
    let proteins = include_str!("golden/proteins.faa");
    let config = place.config(proteins, &[proteins.into()]);
    let fasta = report(&config, "fasta").unwrap();
    let table = report(&config, "6 saccver sstart send qaccver sseq").unwrap();
    let records: Vec<&str> = fasta.split('>').skip(1).collect();
    assert_eq!(records.len(), table.lines().count());
    for (record, row) in records.iter().zip(table.lines()) {
        let row: Vec<&str> = row.split('\t').collect();
        let (title, letters) = record.split_once('\n').unwrap();
        assert_eq!(
            title,
            format!("{}:{}-{} {}", row[0], row[1], row[2], row[3])
        );
        assert_eq!(letters.replace('\n', ""), row[4].replace('-', ""));
        assert!(letters.lines().all(|line| line.len() <= 80));
    }
}

/// SAM is for nucleotides; places, runs and letters are made alike for proteins.
#[test]
fn sam_has_the_alignments_of_paf() {
    let place = Place::new();
    let proteins = include_str!("golden/proteins.faa");
    let config = place.config(proteins, &[proteins.into()]);
    let paf = report(&config, "paf").unwrap();
    let on_subjects = report(&config, "17 SQ SR").unwrap();
    let on_queries = report(&config, "17").unwrap();
    let rows = |text: &str| -> Vec<Vec<String>> {
        let rows = text.lines().filter(|line| !line.starts_with('@'));
        rows.map(|row| row.split('\t').map(str::to_owned).collect())
            .collect()
    };
    assert!(on_subjects.starts_with("@HD\tVN:1.2\tGO:query\n@SQ\tSN:f0_0\tLN:120\n"));
    assert!(
        on_subjects.contains("\n@PG\tID:0\tVN:2.12.0+\tPN:blastp\nf0_0\t0\tf0_0\t1\t255\t120M\t")
    );
    assert_eq!(on_subjects.matches("@SQ").count(), 13);
    let letters = report(&config, "6 qseq").unwrap();
    let [paf, sam] = [rows(&paf), rows(&on_subjects)];
    assert_eq!(paf.len(), sam.len());
    for ((row, line), letters) in paf.iter().zip(&sam).zip(letters.lines()) {
        let clip = |letters: usize| match letters {
            0 => String::new(),
            some => format!("{some}H"),
        };
        let number = |at: usize| row[at].parse::<usize>().unwrap();
        let runs = row[17].strip_prefix("cg:Z:").unwrap();
        let (before, behind) = (clip(number(2)), clip(number(1) - number(3)));
        let start = (number(7) + 1).to_string();
        let cigar = format!("{before}{runs}{behind}");
        let letters = letters.replace('-', "");
        let expected = [
            &row[0], "0", &row[5], &start, "255", &cigar, "*", "0", "0", &letters, "*",
        ];
        assert_eq!(line[..11], expected);
        assert_eq!(line[13], row[12], "NM");
    }
    // The other way round: the same alignments, by the query's places.
    let mut other: Vec<[String; 3]> = paf
        .iter()
        .map(|row| {
            [
                row[5].clone(),
                row[0].clone(),
                (row[2].parse::<usize>().unwrap() + 1).to_string(),
            ]
        })
        .collect();
    let mut found: Vec<[String; 3]> = rows(&on_queries)
        .into_iter()
        .map(|row| [row[0].clone(), row[2].clone(), row[3].clone()])
        .collect();
    let places = |of: &str| -> Vec<usize> {
        let own = found.iter().filter(|row| row[1] == of);
        own.map(|row| row[2].parse().unwrap()).collect()
    };
    assert!(places("f0_0").is_sorted());
    other.sort();
    found.sort();
    assert_eq!(found, other);
}

/// Columns of BTOP with a gap in the query, and in the subject.
fn gaps(btop: &str) -> [usize; 2] {
    let pairs: Vec<u8> = btop.bytes().filter(|byte| !byte.is_ascii_digit()).collect();
    let pairs = pairs.chunks(2);
    pairs.fold([0, 0], |[query, subject], pair| {
        [
            query + usize::from(pair[0] == b'-'),
            subject + usize::from(pair[1] == b'-'),
        ]
    })
}

#[test]
fn the_page_holds_the_answers_and_no_markup_of_names() {
    let place = Place::new();
    let config = place.config(
        include_str!("golden/odd-queries.faa"),
        &[include_str!("golden/odd-subjects.faa").into()],
    );
    let page = report(&config, "html").unwrap();
    let elements = page.split("class=\"data\">\n").skip(1);
    let data: Vec<&str> = elements
        .map(|element| element.split_once("</script>").unwrap().0)
        .collect();
    let data = data.concat();
    assert!(!data.contains('<'), "{data}");
    assert!(
        data.contains("\"title\":\"a first title with \\u003cangles>"),
        "{data}"
    );
    assert_eq!(data.matches("\"hits\":[").count(), 4);
    assert_eq!(data.matches("\"letters\":[").count(), 4);
    for address in ["http:", "https:", "src="] {
        let page = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!page.contains(address), "{address}");
    }
}

#[test]
fn the_page_has_tables_where_no_script_runs() {
    let place = Place::new();
    let config = place.config(
        include_str!("golden/odd-queries.faa"),
        &[include_str!("golden/odd-subjects.faa").into()],
    );
    let page = report(&config, "html").unwrap();
    let rows = report(&config, "6 qseqid sseqid evalue bitscore qcovs").unwrap();
    let parts = page.split("<noscript>").skip(1);
    let still: Vec<&str> = parts
        .map(|part| part.split_once("</noscript>").unwrap().0)
        .collect();
    // What was searched, then each query.
    assert_eq!(still.len(), 5);
    assert!(still[0].contains("blastp by "), "{}", still[0]);
    let heading = "<h2>a first title with &lt;angles&gt;";
    assert!(still.iter().any(|part| part.contains(heading)), "{still:?}");
    let mut seen = HashSet::new();
    for row in rows.lines() {
        let fields: Vec<&str> = row.split('\t').collect();
        if !seen.insert((fields[0], fields[1])) {
            continue;
        }
        let cells = [
            format!(">{}</td><td class=\"number\">{}</td>", fields[3], fields[2]),
            format!(">{} %</td>", fields[4]),
        ];
        let part = still
            .iter()
            .find(|part| cells.iter().all(|cell| part.contains(cell)));
        assert!(part.is_some(), "{row}: {still:?}");
    }
    assert_eq!(page.matches("<tr><td>").count(), seen.len());
}

#[test]
fn a_report_without_queries_is_whole() {
    let place = Place::new();
    let config = place.config("", &[">p\nMKVLAW\n".into()]);
    assert_eq!(report(&config, "0").unwrap(), "");
    assert_eq!(
        report(&config, "15").unwrap(),
        "{\n\"BlastOutput2\": [\n]\n}\n"
    );
    assert_eq!(report(&config, "10").unwrap(), "");
    assert_eq!(
        report(&config, "7").unwrap(),
        "# BLAST processed 0 queries\n"
    );
    let xml = report(&config, "5").unwrap();
    assert!(xml.contains("<BlastOutput_query-len>0<"), "{xml}");
    assert!(xml.ends_with("</BlastOutput>\n\n"), "{xml}");
}

#[test]
fn what_is_no_format_is_refused() {
    for (format, told) in [
        ("", "there is no format"),
        ("18", "choose 0 to 4 (text), 5 or 16 (XML), 6, 7 or 10"),
        ("11", "13 or 14 (a file for each query)"),
        ("13 std", "format 13 has no columns"),
        ("17 SQ SX", "format 17 has no SX: choose SQ"),
        (
            "6 std stax",
            "there is no column stax: choose std, qseqid, ",
        ),
        ("5 std", "format 5 has no columns"),
        ("10 delim=", "delim="),
    ] {
        let refused = format.parse::<ReportFormat>().unwrap_err().to_string();
        assert!(refused.contains(told), "{format}: {refused}");
    }
}

/// As many lines as `blastp -evalue 1e-3 -qcov_hsp_perc P` writes, BLAST+ 2.12.
#[test]
fn the_cover_of_a_query_is_that_of_blastp() {
    let place = Place::new();
    let proteins = include_str!("golden/proteins.faa");
    let mut config = place.config(proteins, &[proteins.into()]);
    for (percent, expected) in [(90.0, 39), (92.5, 37), (95.0, 37), (99.0, 31), (99.5, 25)] {
        config.limits.query_cover = percent;
        let lines = table(&config).unwrap().lines().count();
        assert_eq!(lines, expected, "{percent}");
    }
}

#[test]
fn limits_keep_what_they_say() {
    let place = Place::new();
    let proteins = include_str!("golden/proteins.faa");
    let mut records = proteins
        .split('>')
        .skip(1)
        .map(|record| record.split_once('\n').unwrap().1);
    let (one, other) = (records.next().unwrap(), records.nth(3).unwrap());
    // Two proteins, one behind the other, have two alignments with both the other way round.
    let queries = format!("{proteins}>both\n{one}{other}");
    let subjects = format!("{proteins}>turned\n{other}{one}");
    let config = place.config(&queries, &[subjects]);
    let lines = |limits: HitLimits| {
        let config = Config {
            limits,
            ..config.clone()
        };
        let rows = report(&config, "6 std qcovhsp").unwrap();
        rows.lines().map(str::to_owned).collect::<Vec<String>>()
    };
    let few = config.limits;
    let all = HitLimits { evalue: 1e3, ..few };
    let whole = lines(all);
    let pair = |line: &String| line.split('\t').take(2).collect::<Vec<_>>().join(" ");
    let mut firsts = whole.clone();
    firsts.dedup_by_key(|line| pair(line));
    assert!(firsts.len() < whole.len(), "a pair has two alignments");
    assert_eq!(lines(HitLimits { max_hsps: 1, ..all }), firsts);
    let covered = |line: &&String| line.rsplit('\t').next().unwrap().parse::<u32>().unwrap() >= 60;
    let expected: Vec<String> = whole.iter().filter(covered).cloned().collect();
    let limits = HitLimits {
        query_cover: 60.0,
        ..all
    };
    assert_eq!(lines(limits), expected);
    // What does not cover enough takes no place among the best.
    let best = lines(HitLimits {
        top: 2,
        max_hsps: 1,
        ..limits
    });
    let mut firsts = expected;
    firsts.dedup_by_key(|line| pair(line));
    let of_query = |line: &String| line.split('\t').next().unwrap().to_owned();
    let best_of_all: Vec<String> = (firsts.chunk_by(|one, next| of_query(one) == of_query(next)))
        .flat_map(|rows| rows.iter().take(2).cloned())
        .collect();
    assert_eq!(best, best_of_all);
}

#[test]
fn nothing_changes_the_answer() {
    let mut random = Random::new();
    let (queries, subjects) = families(&mut random);
    let place = Place::new();
    let config = place.config(&queries, &subjects);
    let expected = table(&config).unwrap();
    for threads in [1, 3, 7] {
        let config = Config {
            threads,
            ..config.clone()
        };
        assert_eq!(table(&config).unwrap(), expected, "{threads} threads");
    }
    // Less and less, until a single query has too many matches.
    let mut memory = (16 << 20) + 1_000_000;
    let refused = loop {
        match table(&Config {
            memory,
            ..config.clone()
        }) {
            Ok(table) => assert_eq!(table, expected, "{memory} bytes"),
            Err(error) => break error,
        }
        memory -= 20_000;
    };
    assert!(
        matches!(
            refused,
            SearchError::Memory { .. } | SearchError::Matches { .. }
        ),
        "{refused}"
    );
    let files: Vec<PathBuf> = subjects
        .chunks(7)
        .enumerate()
        .map(|(number, part)| place.write(&format!("s{number}.faa"), &part.concat()))
        .collect();
    let config = Config {
        subjects: files,
        ..config
    };
    assert_eq!(table(&config).unwrap(), expected, "many files");
}

#[test]
fn fewer_subjects_are_the_first_of_more() {
    let (queries, subjects) = families(&mut Random::new());
    let place = Place::new();
    for sensitivity in [Sensitivity::Blast, Sensitivity::Fast] {
        let config = Config {
            limits: HitLimits {
                evalue: 1e4,
                ..place.config("", &[]).limits
            },
            sensitivity,
            ..place.config(&queries, &subjects)
        };
        let all = table(&config).unwrap();
        for top in [1, 2, 3, 5, 25] {
            let some = table(&Config {
                limits: HitLimits {
                    top,
                    ..config.limits
                },
                ..config.clone()
            })
            .unwrap();
            for number in 0..12 {
                let query = format!("q{number}");
                let (some, all) = (names(&some, &query), names(&all, &query));
                assert_eq!(some, all[..top.min(all.len())], "{query}, {top}");
            }
        }
    }
}

#[test]
fn odd_sequences_are_searched() {
    let place = Place::new();
    let long = String::from_utf8(Random::new().protein(300)).unwrap();
    let odd = [
        "",
        "M",
        "XXXXXXXXXXXXXXXXXXXX",
        "*",
        "MKV*",
        "UUUUUUUUUUUUUUUU",
        "OJBZX-.acd",
    ];
    let records: Vec<String> = odd
        .iter()
        .chain([&&*long])
        .enumerate()
        .map(|(number, protein)| format!(">p{number}\n{protein}\n"))
        .collect();
    let found = table(&place.config(&records.concat(), &records)).unwrap();
    assert_eq!(names(&found, "p7"), ["p7"], "{found}");
    assert_eq!(table(&place.config("", &records)).unwrap(), "");
    assert_eq!(table(&place.config(&records[7], &[])).unwrap(), "");
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let place = Place::new();
    let protein = ">p\nMKVLAWYGDERTIPLMNVCQHSAAKLEDGIVW\n";
    let bases = format!(">g\n{}\n", "GATTACAN".repeat(20));
    let nucleotides = Config {
        program: Some(Program::Blastp),
        ..place.config(protein, &[bases])
    };
    let refused = table(&nucleotides).unwrap_err();
    assert!(matches!(refused, SearchError::Molecule { .. }), "{refused}");
    let long = format!(">p\n{}", protein.replace(">p\n", "").repeat(20_000));
    let little = Config {
        memory: 17 << 20,
        ..place.config(protein, &[long])
    };
    let SearchError::Memory { least } = table(&little).unwrap_err() else {
        panic!("the memory is too little");
    };
    // 6 bytes for each residue, 22 for the record, 1 for its title; two threads align the query,
    // and keep steps of alignments.
    let query = 6 * 32 + 22 + 1 + 2 * (320 * 32 + (128 << 10));
    assert_eq!(least, (16 << 20) + query + 2 * (6 * 32 * 20_000 + 22 + 1));
    let stopped = Progress::default();
    stopped.cancel();
    let config = place.config(protein, &[protein.into()]);
    let ended = run::<SearchError>(&config, &stopped, |_| Ok(())).unwrap_err();
    assert!(matches!(ended, SearchError::Cancelled), "{ended}");
}

/// What has letters of bases alone may be what a program wants, though few proteins lack E and L.
#[test]
fn repeats_of_few_bases_are_nucleotides_where_a_program_says_so() {
    let place = Place::new();
    let repeat = format!(">a\n{}CGGCATTCGA{}\n", "AT".repeat(90), "A".repeat(120));
    let mut config = place.config(&repeat, std::slice::from_ref(&repeat));
    config.program = Some(Program::Blastn);
    config.masks.dust = Some(DustMask::Off);
    let found = report(&config, "6 pident length").unwrap();
    assert!(found.starts_with("100.000\t310\n"), "{found}");
    let protein = ">p\nMKVLAWYGDERTIPLMNVCQHSAAKLEDGIVWTRELNNPFKYDLIAMHGSTQVERKAPDF\n".repeat(3);
    let config = Config {
        program: Some(Program::Blastn),
        ..place.config(&protein, std::slice::from_ref(&protein))
    };
    let refused = report(&config, "6").unwrap_err();
    assert!(matches!(refused, SearchError::Molecule { .. }), "{refused}");
}
