//! Operations on databases against the same operations on maps.
// A helper of a test is a test.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use crate::databases::{Counts, EDGES, random, read, write};
use gyrase_count::ops::{Combine, Config, Operation, OperationError, run};
use gyrase_kmer::{Shape, with_words};
use gyrase_table::gyk::{Cutoffs, Database};
use gyrase_work::Progress;

fn config(operation: Operation, inputs: &[PathBuf], output: PathBuf) -> Config {
    Config {
        operation,
        combine: operation.usual_combine(),
        inputs: inputs.to_vec(),
        output,
        cutoffs: Cutoffs::default(),
        threads: 4,
    }
}

fn combined(combine: Combine, a: u32, b: u32) -> u32 {
    match combine {
        Combine::Sum => a.saturating_add(b),
        Combine::Min => a.min(b),
        Combine::Max => a.max(b),
        Combine::First => a,
    }
}

/// What `operation` makes of two maps.
fn oracle<const W: usize>(
    operation: Operation,
    combine: Combine,
    a: &Counts<W>,
    b: &Counts<W>,
) -> Counts<W> {
    let mut result = a.clone();
    match operation {
        Operation::Union => {
            for (&kmer, &count) in b {
                result
                    .entry(kmer)
                    .and_modify(|old| *old = combined(combine, *old, count))
                    .or_insert(count);
            }
        }
        Operation::Intersect => {
            result.retain(|kmer, _| b.contains_key(kmer));
            result
                .iter_mut()
                .for_each(|(kmer, count)| *count = combined(combine, *count, b[kmer]));
        }
        Operation::Subtract => result.retain(|kmer, _| !b.contains_key(kmer)),
        Operation::SubtractCounts => {
            result.iter_mut().for_each(|(kmer, count)| {
                *count = count.saturating_sub(*b.get(kmer).unwrap_or(&0))
            });
            result.retain(|_, &mut count| count > 0);
        }
    }
    result
}

fn cases() -> Vec<(Operation, Combine)> {
    let combines = [Combine::Sum, Combine::Min, Combine::Max, Combine::First];
    let combined = combines
        .into_iter()
        .flat_map(|c| [(Operation::Union, c), (Operation::Intersect, c)]);
    combined
        .chain([Operation::Subtract, Operation::SubtractCounts].map(|o| (o, o.usual_combine())))
        .collect()
}

fn check_all<const W: usize>(folder: &Path, shape: Shape) {
    let maps: Vec<Counts<W>> = (0..5)
        .map(|i| random(shape, 700 * (i as usize % 4), 1500, i))
        .collect();
    let paths: Vec<PathBuf> = (0..5).map(|i| folder.join(format!("{i}.gyk"))).collect();
    maps.iter()
        .zip(&paths)
        .for_each(|(map, path)| write(path, shape, map));
    let output = folder.join("out.gyk");
    // Two with many k-mers in common, an empty one first and last, and an odd number of them.
    for chosen in [
        vec![2, 3],
        vec![0, 3],
        vec![3, 4],
        vec![3, 2, 1],
        vec![1, 2, 3, 0, 2],
    ] {
        let inputs: Vec<PathBuf> = chosen.iter().map(|&i: &usize| paths[i].clone()).collect();
        for (operation, combine) in cases() {
            let mut expected = maps[chosen[0]].clone();
            chosen[1..]
                .iter()
                .for_each(|&i| expected = oracle(operation, combine, &expected, &maps[i]));
            let config = Config {
                combine,
                ..config(operation, &inputs, output.clone())
            };
            let summary = run(&config, &Progress::default()).unwrap();
            assert!(
                read::<W>(&output) == expected,
                "k={} {operation:?} {combine:?} {chosen:?}",
                shape.k()
            );
            assert_eq!(summary.before_cutoffs, expected.len() as u64);
            if let [a, b] = chosen[..] {
                let shared = maps[a]
                    .keys()
                    .filter(|kmer| maps[b].contains_key(kmer))
                    .count();
                assert_eq!(summary.shared, Some(shared as u64));
            }
        }
    }
}

#[test]
fn agree_with_maps_at_every_word_edge() {
    let folder = tempfile::tempdir().unwrap();
    for k in EDGES {
        let shape = Shape::new(k, k % 3 == 0).unwrap();
        with_words!(shape, W => check_all::<W>(folder.path(), shape));
    }
}

#[test]
fn cutoffs_choose_from_the_result_and_threads_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let shape = Shape::new(31, false).unwrap();
    let paths = [folder.path().join("a.gyk"), folder.path().join("b.gyk")];
    let (a, b) = (
        random::<1>(shape, 5000, 9000, 1),
        random::<1>(shape, 5000, 9000, 2),
    );
    write(&paths[0], shape, &a);
    write(&paths[1], shape, &b);
    let cutoffs = Cutoffs { min: 3, max: 400 };
    let output = folder.path().join("out.gyk");
    let whole = oracle(Operation::Union, Combine::Sum, &a, &b);
    let mut expected = whole.clone();
    expected.retain(|_, &mut count| (3..=400).contains(&count));
    let mut bytes = Vec::new();
    for threads in [1, 2, 7] {
        let config = Config {
            cutoffs,
            threads,
            ..config(Operation::Union, &paths, output.clone())
        };
        let summary = run(&config, &Progress::default()).unwrap();
        assert_eq!(
            (summary.before_cutoffs, summary.output.distinct),
            (whole.len() as u64, expected.len() as u64)
        );
        assert!(read::<1>(&output) == expected);
        bytes.push(std::fs::read(&output).unwrap());
    }
    assert!(bytes[0] == bytes[1] && bytes[1] == bytes[2]);
    let database = Database::open(&output).unwrap();
    assert_eq!(database.header().cutoffs, cutoffs);
    assert_eq!(
        (
            database.metadata().inputs.join(" "),
            database.metadata().reads
        ),
        ("a.gyk b.gyk".to_string(), 4)
    );
    let alone = Config {
        cutoffs,
        ..config(Operation::Union, &paths[..1], output.clone())
    };
    run(&alone, &Progress::default()).unwrap();
    let mut expected = a;
    expected.retain(|_, &mut count| cutoffs.keep(count));
    assert!(read::<1>(&output) == expected);
}

#[test]
fn sums_stop_at_the_largest_count_and_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let shape = Shape::new(64, true).unwrap();
    let path = folder.path().join("a.gyk");
    let map: Counts<2> = random::<2>(shape, 10, 100, 3)
        .into_keys()
        .map(|kmer| (kmer, 3 << 30))
        .collect();
    write(&path, shape, &map);
    let output = folder.path().join("out.gyk");
    let summary = run(
        &config(Operation::Union, &[path.clone(), path], output.clone()),
        &Progress::default(),
    )
    .unwrap();
    assert!(summary.output.saturated && summary.output.largest == u32::MAX);
    assert!(read::<2>(&output).values().all(|&count| count == u32::MAX));
}

#[test]
fn refuses_what_makes_no_sense_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = ["a.gyk", "b.gyk", "c.gyk"]
        .iter()
        .map(|name| folder.path().join(name))
        .collect();
    for (path, (k, stranded)) in paths.iter().zip([(31, false), (21, false), (31, true)]) {
        write(path, Shape::new(k, stranded).unwrap(), &Counts::<1>::new());
    }
    let output = folder.path().join("out.gyk");
    let fails = |operation, inputs: &[PathBuf], min| {
        let config = Config {
            cutoffs: Cutoffs { min, max: 9 },
            ..config(operation, inputs, output.clone())
        };
        let error = run(&config, &Progress::default()).unwrap_err();
        assert!(!output.exists());
        error
    };
    let error = fails(Operation::Union, &paths[..2], 1).to_string();
    assert!(
        error.contains("canonical 31-mers") && error.contains("b.gyk holds canonical 21-mers"),
        "{error}"
    );
    let error = fails(
        Operation::Intersect,
        &[paths[0].clone(), paths[2].clone()],
        1,
    )
    .to_string();
    assert!(error.contains("stranded 31-mers"), "{error}");
    assert!(matches!(
        fails(Operation::Subtract, &paths[..1], 1),
        OperationError::NoInput
    ));
    assert!(matches!(
        fails(Operation::Union, &[], 1),
        OperationError::NoInput
    ));
    assert!(matches!(
        fails(Operation::Union, &paths[..1], 10),
        OperationError::Cutoffs { min: 10, max: 9 }
    ));
    assert!(matches!(
        fails(Operation::Union, &[folder.path().join("none")], 1),
        OperationError::Database(_)
    ));
    let progress = Progress::default();
    progress.cancel();
    let error = run(
        &config(Operation::Union, &paths[..1], output.clone()),
        &progress,
    )
    .unwrap_err();
    assert!(matches!(error, OperationError::Cancelled));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}
