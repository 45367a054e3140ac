//! Odd inputs, each read in every way. `tests/corpus/index.tsv` says what to expect.

use std::path::{Path, PathBuf};

use gyrase_fastx::Error;

use crate::chunks::read_in_chunks;
use crate::harness::{Summary, compressed, read_in_order, read_parallel};
use crate::oracle;
use crate::shares::check_shares;

const BATCHES: [usize; 4] = [64, 97, 333, 1 << 20];

/// Bytes of a chunk.
const CHUNKS: [u64; 12] = [1, 2, 3, 5, 7, 13, 31, 64, 100, 333, 2000, 1 << 20];

struct Case {
    name: String,
    valid: bool,
    expected: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn cases() -> Vec<Case> {
    let index = std::fs::read_to_string(folder().join("index.tsv")).unwrap();
    let lines = index.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let (name, expected) = (fields[0].to_owned(), fields[2].to_owned());
            Case {
                name,
                valid: fields[1] == "valid",
                expected,
            }
        })
        .collect()
}

#[test]
fn every_file_is_in_the_index() {
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "index.tsv" && name != ".gitattributes")
        .collect();
    let mut names: Vec<String> = cases().into_iter().map(|case| case.name).collect();
    files.sort();
    names.sort();
    assert_eq!(files, names);
}

#[test]
fn valid_files_are_read_alike_in_every_way() {
    let folder = tempfile::tempdir().unwrap();
    for case in cases().iter().filter(|case| case.valid) {
        let text = std::fs::read(self::folder().join(&case.name)).unwrap();
        let want =
            oracle::parse(&text).unwrap_or_else(|| panic!("{}: the oracle refuses it", case.name));
        assert_eq!(want.len().to_string(), case.expected, "{}", case.name);
        let summaries = [5, 31, 127].map(|k| (k, Summary::of(&want, k)));
        for (compression, bytes) in compressed(&text) {
            let path = folder.path().join(format!("{}.{compression}", case.name));
            std::fs::write(&path, bytes).unwrap();
            for batch_bytes in BATCHES {
                let at = format!("{} {compression} in batches of {batch_bytes}", case.name);
                let records = read_in_order(&path, batch_bytes)
                    .unwrap_or_else(|error| panic!("{at}: {error}"));
                assert!(records == want, "{at}: other records");
                check_shares(&path, batch_bytes, Some(&want));
                for (k, summary) in &summaries {
                    for threads in [1, 3] {
                        let found = read_parallel(&path, *k, batch_bytes, threads);
                        let found = found.unwrap_or_else(|error| panic!("{at}: {error}"));
                        assert!(
                            found == *summary,
                            "{at}, k = {k}, {threads} threads: other k-mers"
                        );
                    }
                }
            }
            let (k, summary) = &summaries[0];
            for (seed, chunk) in CHUNKS
                .into_iter()
                .enumerate()
                .take(if compression == "plain" { 12 } else { 1 })
            {
                let at = format!("{} {compression} in chunks of {chunk}", case.name);
                let found = read_in_chunks(
                    std::slice::from_ref(&path),
                    *k,
                    BATCHES[seed % 4],
                    chunk,
                    seed as u64,
                );
                assert!(
                    found.unwrap_or_else(|error| panic!("{at}: {error}")) == *summary,
                    "{at}: other k-mers"
                );
            }
        }
    }
}

#[test]
fn invalid_files_are_refused_with_the_same_words_in_every_way() {
    let folder = tempfile::tempdir().unwrap();
    for case in cases().iter().filter(|case| !case.valid) {
        let text = std::fs::read(self::folder().join(&case.name)).unwrap();
        for (compression, bytes) in compressed(&text) {
            let path = folder.path().join(format!("{}.{compression}", case.name));
            std::fs::write(&path, bytes).unwrap();
            for batch_bytes in BATCHES {
                let at = format!("{} {compression} in batches of {batch_bytes}", case.name);
                check(read_in_order(&path, batch_bytes).err(), &path, case, &at);
                check_shares(&path, batch_bytes, None);
                for threads in [1, 3] {
                    check(
                        read_parallel(&path, 31, batch_bytes, threads).err(),
                        &path,
                        case,
                        &at,
                    );
                }
            }
            for (seed, chunk) in CHUNKS.into_iter().enumerate() {
                let at = format!("{} {compression} in chunks of {chunk}", case.name);
                let found = read_in_chunks(
                    std::slice::from_ref(&path),
                    31,
                    BATCHES[seed % 4],
                    chunk,
                    seed as u64,
                );
                check(found.err(), &path, case, &at);
            }
        }
    }
}

fn check(error: Option<Error>, path: &Path, case: &Case, at: &str) {
    let error = error.unwrap_or_else(|| panic!("{at}: nothing is found wrong"));
    let message = error.to_string();
    assert!(
        message.starts_with(&path.display().to_string()),
        "{at}: {message}"
    );
    assert!(message.contains(&case.expected), "{at}: {message}");
    assert!(!error.is_usage());
}
