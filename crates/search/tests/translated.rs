//! Translated searches against what BLAST+ 2.12 found in the same sequences: genes of families of
//! random proteins in random DNA, with frameshifts, introns, stops and runs of N, on both strands.
//!
//! The golden tables were written query by query, since BLAST's thresholds depend on what else is
//! searched for:
//! `blastx -query ONE -db PROTEINS -evalue 1e-3 -outfmt "6 std score qframe sframe"`, the same for
//! `tblastn` with each protein and `tblastx` with each query in `translated-subjects.fna`.

use std::collections::HashMap;
use std::path::PathBuf;

use gyrase_search::{Config, HitLimits, Program, SearchError, Sensitivity, TranslationOptions};

use crate::families::{Place, Random, codon, report, usual};

const COLUMNS: &str = "6 std score qframe sframe";
const PROTEINS: &str = "translated-proteins.faa";
const QUERIES: &str = "translated-queries.fna";
const SUBJECTS: &str = "translated-subjects.fna";

fn golden(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).join(name)
}

fn config(program: Option<Program>, queries: &str, subjects: &str) -> Config {
    Config {
        program,
        ..usual(golden(queries), golden(subjects))
    }
}

/// Rows by query, subject and ends.
fn rows(table: &str) -> HashMap<Vec<&str>, Vec<&str>> {
    let columns = table.lines().map(|row| row.split('\t').collect());
    let keyed = columns.map(|row: Vec<&str>| {
        let key = [&row[..2], &row[6..10]].concat();
        (key, row)
    });
    keyed.collect()
}

/// How many rows BLAST has, how many of them are found, and how many are equal. Of those that are
/// found only E-values may differ: by what else they are taken together with.
fn compared(found: &str, expected: &str) -> [usize; 3] {
    let (found, expected) = (rows(found), rows(expected));
    let mut counts = [expected.len(), 0, 0];
    for (key, row) in &expected {
        let Some(own) = found.get(key) else {
            continue;
        };
        counts[1] += 1;
        counts[2] += usize::from(own == row);
        for (column, (one, other)) in own.iter().zip(row).enumerate() {
            assert!(column == 10 || one == other, "{own:?} {row:?}");
        }
    }
    counts
}

#[test]
fn what_blast_finds_is_found() {
    let blastx = config(None, QUERIES, PROTEINS);
    let tblastn = config(None, PROTEINS, SUBJECTS);
    let tblastx = config(Some(Program::Tblastx), QUERIES, SUBJECTS);
    // What differs follows an alignment that BLAST's words do not find, or the other way round.
    for (config, expected, counts) in [
        (blastx, include_str!("golden/blastx.tsv"), [95, 95, 93]),
        (tblastn, include_str!("golden/tblastn.tsv"), [98, 97, 93]),
        (tblastx, include_str!("golden/tblastx.tsv"), [257, 243, 219]),
    ] {
        let found = report(&config, COLUMNS).unwrap();
        assert_eq!(compared(&found, expected), counts, "{:?}", config.program);
    }
}

#[test]
fn the_answer_depends_neither_on_threads_nor_on_other_queries() {
    for (program, queries, subjects) in [
        (Program::Blastx, QUERIES, PROTEINS),
        (Program::Tblastn, PROTEINS, SUBJECTS),
        (Program::Tblastx, QUERIES, SUBJECTS),
    ] {
        let all = config(Some(program), queries, subjects);
        let expected = report(&all, COLUMNS).unwrap();
        let alone = Config {
            threads: 1,
            ..all.clone()
        };
        assert_eq!(report(&alone, COLUMNS).unwrap(), expected);
        let folder = tempfile::tempdir().unwrap();
        let text = std::fs::read_to_string(golden(queries)).unwrap();
        let mut joined = String::new();
        for (number, record) in text.split_inclusive("\n>").enumerate() {
            let path = folder.path().join(format!("{number}.fa"));
            let start = if number == 0 { "" } else { ">" };
            let record = record.strip_suffix('>').unwrap_or(record);
            std::fs::write(&path, format!("{start}{record}")).unwrap();
            let one = Config {
                queries: vec![path],
                ..all.clone()
            };
            joined += &report(&one, COLUMNS).unwrap();
        }
        assert_eq!(joined, expected, "{program:?}");
    }
}

/// So many copies of a subject, to which a query has two alignments on different strands: both
/// the first and the last copy have them, though the steps of the last find no room.
#[test]
fn copies_are_aligned_alike_where_there_is_no_room_to_keep_all_steps() {
    const COPIES: usize = 300;
    const KEPT: usize = 1 << 17;
    let mut random = Random::new();
    let protein = random.protein(600);
    let relative = random.relative(&protein, 20);
    let text = |protein: &[u8]| String::from_utf8_lossy(protein).into_owned();
    let genes = |protein: &[u8]| {
        let gene: String = text(protein).chars().map(codon).collect();
        let complement = |base| "TGCA".as_bytes()["ACGT".find(base).expect("a base")];
        let other: Vec<u8> = gene.chars().rev().map(complement).collect();
        gene + &"N".repeat(3001) + &text(&other)
    };
    for (program, rows_of_copy, query, subject) in [
        (Program::Blastp, 1, text(&protein), text(&relative)),
        (Program::Tblastn, 2, text(&protein), genes(&relative)),
        (Program::Blastx, 2, genes(&protein), text(&relative)),
    ] {
        let place = Place::new();
        let copies = (0..COPIES).map(|number| format!(">copy{number}\n{subject}\n"));
        let copies: Vec<String> = copies.collect();
        let config = Config {
            program: Some(program),
            threads: 1,
            ..place.config(&format!(">query\n{query}\n"), &copies)
        };
        let found = report(&config, "6 length score evalue gaps qframe sframe btop");
        let found = found.expect("alignments");
        let rows: Vec<&str> = found.lines().collect();
        let length = |row: &&str| row.split('\t').next().and_then(|text| text.parse().ok());
        let lengths = rows.iter().map(|row| length(row).unwrap_or(0));
        assert!(
            lengths.sum::<usize>() > KEPT + 600,
            "{program:?}: all are kept"
        );
        assert_eq!(rows.len(), rows_of_copy * COPIES, "{program:?}");
        let mut copies = rows.chunks(rows_of_copy);
        assert!(
            copies.all(|copy| *copy == rows[..rows_of_copy]),
            "{program:?}"
        );
    }
}

#[test]
fn options_of_translation_are_heard() {
    let usual = config(None, QUERIES, PROTEINS);
    let with = |translation| {
        let config = Config {
            translation,
            ..usual.clone()
        };
        report(&config, "6 qaccver saccver evalue")
    };
    let options = TranslationOptions::default();
    let expected = with(options).unwrap();
    let shared = |table: &str| {
        let rows = table.lines().filter(|row| row.starts_with("i7\tp7_0\t"));
        let mut evalues: Vec<&str> = rows.collect();
        let rows = evalues.len();
        evalues.dedup();
        (rows, evalues.len())
    };
    assert_eq!(shared(&expected), (4, 1));
    let sums = false;
    let apart = with(TranslationOptions { sums, ..options }).unwrap();
    let (rows, evalues) = shared(&apart);
    assert_eq!(rows, evalues);
    let max_intron = 0;
    let none = with(TranslationOptions {
        max_intron,
        ..options
    })
    .unwrap();
    assert_eq!(none, apart);
    let query_code = 2;
    let other = with(TranslationOptions {
        query_code,
        ..options
    })
    .unwrap();
    assert_ne!(other, expected);
    let query_code = 7;
    let refused = with(TranslationOptions {
        query_code,
        ..options
    })
    .unwrap_err();
    assert!(matches!(refused, SearchError::GeneticCode { number: 7 }));
    let told = refused.to_string();
    assert!(
        told.starts_with("there is no genetic code 7: choose 1, 2, "),
        "{told}"
    );
}

#[test]
fn only_what_fits_translated_searches_is_allowed() {
    let usual = config(None, QUERIES, PROTEINS);
    let sensitivity = Sensitivity::Exhaustive;
    let refused = report(
        &Config {
            sensitivity,
            ..usual.clone()
        },
        COLUMNS,
    );
    assert!(matches!(
        refused,
        Err(SearchError::Sensitivity { program: "blastx" })
    ));
    let sensitivity = Sensitivity::Fast;
    let fast = report(
        &Config {
            sensitivity,
            ..usual.clone()
        },
        COLUMNS,
    )
    .unwrap();
    assert!(fast.lines().count() > 60);
    let limits = HitLimits {
        max_hsps: 1,
        query_cover: 60.0,
        ..usual.limits
    };
    let some = report(&Config { limits, ..usual }, "6 qaccver saccver qcovhsp").unwrap();
    let mut pairs: Vec<&str> = some
        .lines()
        .map(|row| row.rsplit_once('\t').unwrap().0)
        .collect();
    let all = pairs.len();
    pairs.dedup();
    assert!(all > 10 && pairs.len() == all);
    assert!(
        some.lines()
            .all(|row| row.rsplit_once('\t').unwrap().1.parse::<u32>().unwrap() >= 60)
    );
}
