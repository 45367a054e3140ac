//! Databases of every version of the format are readable for ever: files that were written once and
//! are never regenerated, each beside the text of what is in it.
// A helper of a test is a test.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::common::{bins, metadata, write_bin};
use gyrase_kmer::{BINS, Key, Kmer, Shape, with_words};
use gyrase_table::gyk::{Cutoffs, Database, Writer};

const NAMES: [&str; 8] = [
    "k5", "k31", "k33", "k64", "k127", "overflow", "cutoffs", "empty",
];

fn golden(name: &str, extension: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/v1")
        .join(format!("{name}.{extension}"))
}

/// The lines of the text: the parameters, then k-mers and counts.
fn text(name: &str) -> (String, Vec<(String, u32)>) {
    let text = std::fs::read_to_string(golden(name, "txt")).unwrap();
    let (parameters, rows) = text.split_once('\n').unwrap();
    let rows = rows.lines().map(|line| line.split_once('\t').unwrap());
    (
        parameters.to_string(),
        rows.map(|(kmer, count)| (kmer.to_string(), count.parse().unwrap()))
            .collect(),
    )
}

fn rows<const W: usize>(database: &Database) -> Vec<(String, u32)> {
    let all = (0..BINS).map(|bin| database.bin(bin));
    let mut rows: Vec<(Kmer<W>, u32)> = all
        .flat_map(|view| {
            view.rows::<W>()
                .iter()
                .map(|&row| Kmer::from(Key(row)))
                .zip(view.counts())
                .collect::<Vec<_>>()
        })
        .collect();
    rows.sort_unstable();
    let letters = |kmer: Kmer<W>| String::from_utf8(kmer.letters(database.shape().k())).unwrap();
    rows.into_iter()
        .map(|(kmer, count)| (letters(kmer), count))
        .collect()
}

#[test]
fn version_1_is_readable() {
    for name in NAMES {
        let database = Database::open(&golden(name, "gyk")).unwrap();
        database.verify().unwrap();
        let (parameters, expected) = text(name);
        let (shape, cutoffs) = (database.shape(), database.header().cutoffs);
        let found = format!(
            "# k={} stranded={} min={} max={}",
            shape.k(),
            shape.stranded(),
            cutoffs.min,
            cutoffs.max
        );
        assert_eq!(found, parameters);
        assert_eq!(
            with_words!(shape, W => rows::<W>(&database)),
            expected,
            "{name}"
        );
        assert_eq!(database.header().distinct, expected.len() as u64);
        assert_eq!(
            database.header().total,
            expected.iter().map(|row| u64::from(row.1)).sum::<u64>()
        );
        assert_eq!(database.header().saturated, name == "overflow");
        assert_eq!(database.metadata(), &metadata());
    }
}

/// What this program writes is still version 1, to the byte.
#[test]
fn version_1_is_what_is_written() {
    fn rewrite<const W: usize>(
        path: &Path,
        shape: Shape,
        cutoffs: Cutoffs,
        rows: &[(String, u32)],
    ) {
        let kmers: BTreeMap<Kmer<W>, u32> = rows
            .iter()
            .map(|(kmer, count)| (Kmer::from_letters(kmer.as_bytes()).unwrap(), *count))
            .collect();
        let writer = Writer::create(path, shape, cutoffs).unwrap();
        bins(shape, &kmers)
            .iter()
            .enumerate()
            .for_each(|(bin, rows)| write_bin(&writer, bin, rows).unwrap());
        writer.finish(&metadata()).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gyk");
    for name in NAMES {
        let database = Database::open(&golden(name, "gyk")).unwrap();
        let (shape, cutoffs) = (database.shape(), database.header().cutoffs);
        with_words!(shape, W => rewrite::<W>(&path, shape, cutoffs, &text(name).1));
        assert!(
            std::fs::read(&path).unwrap() == std::fs::read(golden(name, "gyk")).unwrap(),
            "{name}"
        );
    }
}

/// The test vectors of `docs/formats.md`.
#[test]
fn the_documented_vectors_hold() {
    let documented = include_str!("../../../docs/formats.md");
    let mut checked = 0;
    for line in documented.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, k, letters, m, bin, key, _] = cells[..] else {
            continue;
        };
        let Ok(k) = k.parse::<usize>() else { continue };
        let letters = letters
            .strip_suffix(" ten times")
            .map_or(letters.to_string(), |part| part.repeat(10));
        let shape = Shape::new(k, false).unwrap();
        assert_eq!((letters.len(), shape.m().to_string()), (k, m.to_string()));
        let (found_bin, found_key) = with_words!(shape, W => {
            let kmer = Kmer::<W>::from_letters(letters.as_bytes()).unwrap();
            assert_eq!(kmer, kmer.form(shape));
            let words = Key::from(kmer).0.map(|word| format!("{word:016x}"));
            (gyrase_kmer::bin_of(kmer, shape), words.join(" "))
        });
        assert_eq!(
            (found_bin.to_string(), found_key),
            (bin.to_string(), key.to_string())
        );
        checked += 1;
    }
    assert_eq!(checked, 6);
}
