//! Searches of nucleotides: the tables of blastn 2.12, and nothing changes the answer.
//!
//! The tables of `golden/` were made with
//! `makeblastdb -in nucleotide-subjects.fna -dbtype nucl -out db` and
//! `blastn -task PROGRAM -query nucleotide-queries.fna -db db -evalue 10 -outfmt '6 std score'`.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use std::path::{Path, PathBuf};

use gyrase_search::{
    Config, DatabaseMemory, HitLimits, OpenDatabase, Program, SearchError, Sensitivity, Strands,
    TemplateType,
};
use gyrase_work::Progress;

use crate::families::{Place, Random, report, report_of, usual};

fn golden(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    folder.join(name)
}

fn config(program: &str) -> Config {
    let usual = usual(
        golden("nucleotide-queries.fna"),
        golden("nucleotide-subjects.fna"),
    );
    Config {
        program: Some(program.parse::<Program>().unwrap()),
        limits: HitLimits {
            evalue: 10.0,
            ..usual.limits
        },
        ..usual
    }
}

fn table(config: &Config) -> Result<String, SearchError> {
    report(config, "6 std score")
}

#[test]
fn nothing_but_proteins_is_searched_exhaustively() {
    let config = Config {
        sensitivity: Sensitivity::Exhaustive,
        ..config("blastn")
    };
    let refused = table(&config).unwrap_err();
    assert!(
        matches!(refused, SearchError::Sensitivity { .. }),
        "{refused}"
    );
}

#[test]
fn the_table_is_that_of_blastn() {
    let expected = std::fs::read_to_string(golden("blastn.tsv")).unwrap();
    assert_eq!(table(&config("blastn")).unwrap(), expected);
}

/// The table of a search in an open database.
fn table_of(open: &OpenDatabase, config: &Config) -> String {
    let progress = Progress::default();
    report_of(config, "6 std score", |each| {
        open.search(config, &progress, each)
    })
    .unwrap()
}

#[test]
fn an_index_of_words_changes_no_answer() {
    let place = Place::new();
    let mut random = Random::new();
    let mut gene = |bases| -> String {
        let base = |_| char::from(b"ACGT"[random.below(4)]);
        (0..bases).map(base).collect()
    };
    let [one, other, far] = [300; 3].map(&mut gene);
    let repeat = "CAGGTCATTGCCA".repeat(40);
    let queries = format!(
        ">one\n{one}\n>repeat\n{repeat}\n>with_n\n{}N{}\n",
        &far[..90],
        &far[91..]
    );
    let subjects = [
        format!(
            ">begins\n{}\n>short\nACGTACG\n>ends\n{other}{}\n",
            &one[7..],
            &one[..40]
        ),
        format!(
            ">n\n{}NNRY{}N{}\n>repeat\n{repeat}{other}\n",
            &one[..50],
            &one[54..80],
            &one[81..]
        ),
        format!(">far\n{}{far}\n>empty\n\n", gene(70_000)),
    ];
    let made = place.config(&queries, &subjects);
    let made = Config {
        program: Some(Program::Blastn),
        ..made
    };
    let of_word = |word| {
        let mut config = made.clone();
        config.nucleotide.word = Some(word);
        config
    };
    let long = [12, 16, 23].map(of_word);
    let all = [made, config("blastn"), config("blastn-short")];
    for config in all.into_iter().chain(long) {
        let expected = report(&config, "6 std score").unwrap();
        for threads in [1, 2, 7] {
            let memory = DatabaseMemory::new(64 << 20, 0);
            let (files, progress) = (config.subjects.clone(), Progress::default());
            let mut open = OpenDatabase::open(files, &memory, threads, &progress).unwrap();
            let without = memory.taken();
            assert!(!open.keep_indexes(64 << 20) && memory.taken() == without);
            assert!(open.keep_indexes(open.bytes_of_forms()) && memory.taken() > without);
            let config = Config {
                threads,
                ..config.clone()
            };
            assert_eq!(table_of(&open, &config), expected);
        }
    }
}

#[test]
fn templates_find_what_dc_megablast_does() {
    // It wants two words on one diagonal, and so loses what `blastn` finds.
    let expected = std::fs::read_to_string(golden("dc-megablast.tsv")).unwrap();
    let of_blastn = std::fs::read_to_string(golden("blastn.tsv")).unwrap();
    let found = table(&config("dc-megablast")).unwrap();
    let mut rest = found.lines();
    for row in expected.lines() {
        assert!(rest.any(|one| one == row), "{row} is missing, or elsewhere");
    }
    let is_sure = |row: &&str| row.split('\t').nth(10).unwrap().parse::<f64>().unwrap() < 1e-3;
    for row in found.lines().filter(is_sure) {
        let known = expected.lines().chain(of_blastn.lines());
        assert!(known.into_iter().any(|one| one == row), "{row}");
    }
}

#[test]
fn every_template_finds_relatives() {
    let expected = table(&config("dc-megablast")).unwrap();
    let best = |table: &str| {
        let pairs = table
            .lines()
            .map(|row| row.split('\t').take(2).collect::<Vec<_>>().join(" "));
        pairs.collect::<std::collections::BTreeSet<_>>().len()
    };
    for length in [16, 18, 21] {
        for word in [11, 12] {
            for template in [
                TemplateType::Coding,
                TemplateType::Optimal,
                TemplateType::Both,
            ] {
                let mut other = config("dc-megablast");
                other.nucleotide.template_length = Some(length);
                other.nucleotide.word = Some(word);
                other.nucleotide.template = template;
                let found = table(&other).unwrap();
                assert!(
                    10 * best(&found) >= 9 * best(&expected),
                    "{length} {word} {template:?}"
                );
            }
        }
    }
    let mut odd = config("dc-megablast");
    odd.nucleotide.template_length = Some(17);
    let refused = table(&odd).unwrap_err();
    assert!(
        matches!(
            refused,
            SearchError::Template {
                bases: 11,
                length: 17
            }
        ),
        "{refused}"
    );
}

#[test]
fn pairs_and_scores_are_those_of_megablast() {
    // One of its greedy alignments is longer by a part that scores 0.
    let scores = |table: &str| -> Vec<String> {
        let row = |line: &str| {
            let columns: Vec<&str> = line.split('\t').collect();
            [&columns[..2], &columns[10..]].concat().join("\t")
        };
        table.lines().map(row).collect()
    };
    let expected = std::fs::read_to_string(golden("megablast.tsv")).unwrap();
    let found = table(&config("megablast")).unwrap();
    assert_eq!(scores(&found), scores(&expected));
}

#[test]
fn neither_threads_nor_memory_change_the_answer() {
    for program in ["blastn", "megablast", "dc-megablast", "blastn-short"] {
        let expected = table(&config(program)).unwrap();
        for (threads, memory) in [(1, 1 << 30), (7, 1 << 30), (2, 230 << 20)] {
            let other = Config {
                threads,
                memory,
                ..config(program)
            };
            assert_eq!(table(&other).unwrap(), expected, "{program} {threads}");
        }
    }
}

#[test]
fn a_query_has_the_same_rows_among_others() {
    let place = Place::new();
    let all = std::fs::read_to_string(golden("nucleotide-queries.fna")).unwrap();
    // Short ones ask for less than long ones.
    let short = |(number, from): (usize, usize)| {
        let letters: String = all.lines().filter(|line| !line.starts_with('>')).collect();
        format!(">short{number}\n{}\n", &letters[from..from + 14 + number])
    };
    let shorts = [5, 300, 900, 1500, 2100].into_iter().enumerate().map(short);
    let mut records: Vec<String> = all
        .split('>')
        .skip(1)
        .map(|one| format!(">{one}"))
        .collect();
    records.extend(shorts);
    let of = |text: String| {
        place.write("q.fna", &text);
        let config = Config {
            queries: vec![place.0.path().join("q.fna")],
            ..config("blastn")
        };
        table(&config).unwrap()
    };
    let alone: String = records.iter().map(|record| of(record.clone())).collect();
    assert!(alone.contains("short"), "{alone}");
    assert_eq!(of(records.concat()), alone);
}

#[test]
fn the_best_come_first_whatever_their_number() {
    let all = table(&config("blastn-short")).unwrap();
    for top in [1, 2, 3] {
        let mut some = config("blastn-short");
        some.limits.top = top;
        let some = table(&some).unwrap();
        let queries = |table: &str| -> Vec<String> {
            let names = table.lines().filter_map(|line| line.split('\t').next());
            let mut names: Vec<String> = names.map(String::from).collect();
            names.dedup();
            names
        };
        assert_eq!(queries(&some), queries(&all));
        for query in queries(&all) {
            let of = |table: &str| -> Vec<String> {
                let own = |line: &&str| line.split('\t').next() == Some(&query);
                table.lines().filter(own).map(String::from).collect()
            };
            assert!(of(&all).starts_with(&of(&some)), "{query} {top}");
        }
    }
}

#[test]
fn a_strand_alone_has_its_part_of_both() {
    let both = table(&config("blastn")).unwrap();
    for (strands, plus) in [(Strands::Plus, true), (Strands::Minus, false)] {
        let mut one = config("blastn");
        one.nucleotide.strands = strands;
        let of_strand = |line: &&str| {
            let columns: Vec<usize> = line
                .split('\t')
                .skip(8)
                .take(2)
                .flat_map(str::parse)
                .collect();
            (columns[0] <= columns[1]) == plus
        };
        let found = table(&one).unwrap();
        let mut found: Vec<&str> = found.lines().collect();
        let mut expected: Vec<&str> = both.lines().filter(of_strand).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}

#[test]
fn other_costs_need_statistics() {
    let mut odd = config("blastn");
    odd.nucleotide.gap_open = Some(1);
    let refused = table(&odd).unwrap_err().to_string();
    assert!(refused.contains("2/-3"), "{refused}");
    odd.nucleotide.gap_open = Some(4);
    odd.nucleotide.gap_extend = Some(4);
    assert!(!table(&odd).unwrap().is_empty());
}
