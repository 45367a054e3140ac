//! The odd inputs that reading is tested on, counted.

use std::path::{Path, PathBuf};

use crate::parser;
use crate::runs::{Place, check, letters};

const EDGES: [usize; 9] = [1, 5, 31, 32, 33, 63, 64, 65, 127];

/// Every valid file with its reads.
fn valid() -> Vec<(PathBuf, Vec<Vec<u8>>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fastx/tests/corpus");
    let index = std::fs::read_to_string(folder.join("index.tsv")).unwrap();
    let valid = index
        .lines()
        .filter(|line| line.split('\t').nth(1) == Some("valid"));
    valid
        .map(|line| {
            let path = folder.join(line.split('\t').next().unwrap());
            let records = parser::parse(&std::fs::read(&path).unwrap()).unwrap();
            (path, records.into_iter().map(|record| record.1).collect())
        })
        .collect()
}

#[test]
fn every_file_alone() {
    let files = valid();
    assert!(files.len() > 60);
    for (number, (path, reads)) in files.iter().enumerate() {
        for k in [5, EDGES[number % EDGES.len()]] {
            let place = Place::new();
            let mut config = place.config(std::slice::from_ref(path), k, number % 3 == 0);
            config.threads = 1 + number % 3;
            check(
                &config,
                reads,
                letters(reads),
                &format!("{} k={k}", path.display()),
            );
        }
    }
}

#[test]
fn all_files_together_at_every_edge() {
    let (paths, reads): (Vec<_>, Vec<_>) = valid().into_iter().unzip();
    let reads = reads.concat();
    for k in EDGES {
        for stranded in [false, true] {
            let place = Place::new();
            let mut config = place.config(&paths, k, stranded);
            config.threads = 2;
            config.min_count = 1 + u32::from(stranded);
            check(
                &config,
                &reads,
                letters(&reads),
                &format!("k={k} stranded={stranded}"),
            );
        }
    }
}
