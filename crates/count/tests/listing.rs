//! Dumps, histograms and what a database says of itself, against the maps that databases were made
//! of.
// A helper of a test is a test.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use crate::databases::{Counts, EDGES, random, write};
use gyrase_count::dump::{self, Config, Style};
use gyrase_count::histogram::{self, Histogram};
use gyrase_count::info;
use gyrase_kmer::{Shape, with_words};
use gyrase_table::gyk::Cutoffs;
use gyrase_work::Progress;

fn config(database: &Path) -> Config {
    Config {
        database: database.to_path_buf(),
        style: Style::Tab,
        cutoffs: Cutoffs::default(),
        sorted_within: None,
        threads: 3,
    }
}

fn dumped(config: &Config) -> String {
    let mut text = Vec::new();
    let summary = dump::run(config, &mut text, &Progress::default()).unwrap();
    let text = String::from_utf8(text).unwrap();
    let lines = text.lines().count() as u64;
    assert_eq!(
        summary.listed,
        if config.style == Style::Fasta {
            lines / 2
        } else {
            lines
        }
    );
    text
}

fn check_dump<const W: usize>(path: PathBuf, shape: Shape) {
    let map = random::<W>(shape, 2000, 1 << 40, 8);
    write(&path, shape, &map);
    let lines = |style: fn(String, u32) -> String, cutoffs: Cutoffs| -> String {
        let kept = map.iter().filter(|&(_, &count)| cutoffs.keep(count));
        kept.map(|(kmer, &count)| style(String::from_utf8(kmer.letters(shape.k())).unwrap(), count))
            .collect()
    };
    let all = Cutoffs::default();
    let some = Cutoffs { min: 2, max: 254 };
    let tab = |kmer, count| format!("{kmer}\t{count}\n");
    // From a k-mer a range to everything at once.
    for memory in [0, 1000, 20_000, 1 << 30] {
        for threads in [1, 4] {
            let sorted = Config {
                sorted_within: Some(memory),
                threads,
                ..config(&path)
            };
            if memory > 0 || (threads == 1 && shape.k() % 32 == 1) {
                assert!(
                    dumped(&sorted) == lines(tab, all),
                    "k={} memory={memory}",
                    shape.k()
                );
            }
        }
    }
    let sorted = Config {
        sorted_within: Some(1 << 30),
        ..config(&path)
    };
    assert!(
        dumped(&Config {
            cutoffs: some,
            ..sorted.clone()
        }) == lines(tab, some)
    );
    let fasta = Config {
        style: Style::Fasta,
        ..sorted.clone()
    };
    assert!(dumped(&fasta) == lines(|kmer, count| format!(">{count}\n{kmer}\n"), all));
    let columns = Config {
        style: Style::Space,
        ..sorted
    };
    assert!(dumped(&columns) == lines(|kmer, count| format!("{kmer} {count}\n"), all));
    let stored = dumped(&config(&path));
    assert!(
        stored
            == dumped(&Config {
                threads: 1,
                ..config(&path)
            })
    );
    let mut shuffled: Vec<&str> = stored.lines().collect();
    shuffled.sort_unstable();
    assert!(shuffled.join("\n") == lines(tab, all).trim_end());
}

#[test]
fn dumps_list_every_kmer_at_every_word_edge() {
    let folder = tempfile::tempdir().unwrap();
    for k in EDGES {
        let shape = Shape::new(k, false).unwrap();
        with_words!(shape, W => check_dump::<W>(folder.path().join("x.gyk"), shape));
    }
}

#[test]
fn histograms_hold_every_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gyk");
    let shape = Shape::new(33, true).unwrap();
    let map = random::<2>(shape, 5000, 1 << 40, 9);
    write(&path, shape, &map);
    let expected: Histogram = map.values().map(|&count| (count, 1)).collect();
    for threads in [1, 4] {
        assert_eq!(
            histogram::run(&path, threads, &Progress::default()).unwrap(),
            expected
        );
    }
    let info = info::run(&path, true).unwrap();
    assert_eq!(
        (expected.distinct(), expected.total()),
        (info.header.distinct, info.header.total)
    );
    assert_eq!(
        (expected.kmers(1), expected.largest()),
        (info.header.unique, info.header.largest)
    );
    assert!(info.bins_used > 1000 && info.fullest_bin > 1 && info.verified);
}

#[test]
fn an_empty_database_gives_empty_answers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gyk");
    write(&path, Shape::new(31, false).unwrap(), &Counts::<1>::new());
    assert_eq!(dumped(&config(&path)), "");
    assert_eq!(
        dumped(&Config {
            sorted_within: Some(1 << 20),
            ..config(&path)
        }),
        ""
    );
    assert_eq!(
        histogram::run(&path, 2, &Progress::default()).unwrap(),
        Histogram::default()
    );
    assert_eq!(info::run(&path, true).unwrap().bins_used, 0);
}
