//! Searches of made proteins: the relatives are found, and nothing changes the answer.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use std::fmt::Write as _;
use std::path::PathBuf;

use gyrase_search::{Config, SearchError, run, write_tabular};
use gyrase_work::Progress;
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// Residues about as often as proteins have them.
const RESIDUES: &[u8] = b"AAAAAAAARRRRRNNNNDDDDDCQQQQEEEEEEGGGGGGGHHIIIIIILLLLLLLLLLKKKKKKMMFFFFPPPPPSSSSSSSTTTTTWYYYVVVVVVV";

struct Random(TestRng);

impl Random {
    fn new() -> Random {
        Random(TestRng::deterministic_rng(RngAlgorithm::ChaCha))
    }

    fn below(&mut self, end: usize) -> usize {
        (self.0.next_u32() as usize) % end
    }

    fn protein(&mut self, length: usize) -> Vec<u8> {
        (0..length)
            .map(|_| RESIDUES[self.below(RESIDUES.len())])
            .collect()
    }

    /// Substitutes this percent of the residues, and loses or gains a few.
    fn relative(&mut self, protein: &[u8], percent: usize) -> Vec<u8> {
        let mut relative = Vec::new();
        for &residue in protein {
            match self.below(1000) {
                0..5 => {}
                5..10 => relative.extend([residue, RESIDUES[self.below(RESIDUES.len())]]),
                other if other / 10 < percent => {
                    relative.push(RESIDUES[self.below(RESIDUES.len())])
                }
                _ => relative.push(residue),
            }
        }
        relative
    }
}

/// Queries, and a database of relatives, copies and strangers.
fn families(random: &mut Random) -> (String, Vec<String>) {
    let (mut queries, mut subjects) = (String::new(), Vec::new());
    let mut add = |name: String, protein: &[u8]| {
        subjects.push(format!(">{name}\n{}\n", String::from_utf8_lossy(protein)));
    };
    for number in 0..12 {
        let length = 60 + random.below(400);
        let protein = random.protein(length);
        writeln!(
            queries,
            ">q{number} a query\n{}",
            String::from_utf8_lossy(&protein)
        )
        .unwrap();
        for percent in [0, 20, 40, 55] {
            let relative = random.relative(&protein, percent);
            add(format!("s{number}-{percent}"), &relative);
            if percent == 20 {
                // The same twice: a tie.
                add(format!("s{number}-{percent}-again"), &relative);
            }
        }
        for stranger in 0..4 {
            let length = 1 + random.below(600);
            add(format!("x{number}-{stranger}"), &random.protein(length));
        }
    }
    (queries, subjects)
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn config(&self, queries: &str, subjects: &[String]) -> Config {
        Config {
            queries: vec![self.write("q.faa", queries)],
            subjects: vec![self.write("s.faa", &subjects.concat())],
            evalue: 1e-3,
            top: 500,
            memory: 1 << 30,
            threads: 2,
        }
    }
}

fn table(config: &Config) -> Result<String, SearchError> {
    let mut out = Vec::new();
    run::<SearchError>(
        config,
        &Progress::default(),
        |queries, query, subjects, hits| {
            write_tabular(&mut out, queries, query, subjects, hits).unwrap();
            Ok(())
        },
    )?;
    Ok(String::from_utf8(out).unwrap())
}

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
    let config = Config {
        evalue: 1e4,
        ..place.config(&queries, &subjects)
    };
    let all = table(&config).unwrap();
    for top in [1, 2, 3, 5, 25] {
        let some = table(&Config {
            top,
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
    let nucleotides = place.config(protein, &[bases]);
    let refused = table(&nucleotides).unwrap_err();
    assert!(
        matches!(refused, SearchError::Nucleotides { .. }),
        "{refused}"
    );
    let little = Config {
        memory: 17 << 20,
        ..place.config(protein, &[protein.repeat(20_000)])
    };
    let SearchError::Memory { least } = table(&little).unwrap_err() else {
        panic!("the memory is too little");
    };
    assert_eq!(least, (16 << 20) + 2 * 7 * 32 * 20_000);
    let stopped = Progress::default();
    stopped.cancel();
    let config = place.config(protein, &[protein.into()]);
    let ended = run::<SearchError>(&config, &stopped, |_, _, _, _| Ok(())).unwrap_err();
    assert!(matches!(ended, SearchError::Cancelled), "{ended}");
}
