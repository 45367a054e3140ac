//! Runs of the counter and what they leave, to be compared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use gyrase_count::{Config, Error, Summary, plan, run};
use gyrase_kmer::{BINS, Key, Kmer, Shape, with_words};
use gyrase_table::gyk::Database;
use gyrase_work::Progress;
use tempfile::TempDir;

use crate::naive::{self, Counts};

/// Memory in which all small data fits.
pub const PLENTY: u64 = 2 << 30;

/// A folder with inputs, an output and a folder for spill files.
pub struct Place {
    pub folder: TempDir,
}

impl Place {
    pub fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("tmp")).unwrap();
        std::fs::create_dir(folder.path().join("out")).unwrap();
        Place { folder }
    }

    pub fn tmp(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    pub fn output(&self) -> PathBuf {
        self.folder.path().join("out/x.gyk")
    }

    /// Writes an input.
    pub fn input(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// A run of one thread with plenty of memory that keeps every k-mer.
    pub fn config(&self, inputs: &[PathBuf], k: usize, stranded: bool) -> Config {
        Config {
            inputs: inputs.to_vec(),
            output: self.output(),
            shape: Shape::new(k, stranded).unwrap(),
            min_count: 1,
            max_count: u32::MAX,
            min_base_quality: None,
            paired: false,
            threads: 1,
            memory: PLENTY,
            tmp: self.tmp(),
            max_tmp: None,
            resume: false,
            chunk: None,
        }
    }

    /// Names of files beside the output and of folders for spill files.
    pub fn left(&self) -> Vec<String> {
        let mut names: Vec<String> = [self.tmp(), self.folder.path().join("out")]
            .iter()
            .flat_map(|folder| std::fs::read_dir(folder).unwrap())
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Bytes of the database; nothing else may be there. Removes it.
    pub fn take(&self) -> Vec<u8> {
        assert_eq!(self.left(), ["x.gyk"], "the output and nothing else");
        let bytes = std::fs::read(self.output()).unwrap();
        std::fs::remove_file(self.output()).unwrap();
        bytes
    }
}

/// The same run with the least memory that the plan allows.
pub fn least(config: Config) -> Config {
    let memory = plan(&config).unwrap().least_memory;
    Config { memory, ..config }
}

pub fn done(config: &Config) -> Summary {
    run(config, &Progress::default()).unwrap_or_else(|error| panic!("{config:?}: {error}"))
}

/// Runs, and calls `act` once, as soon as a stage has come so far or a later one began.
pub fn run_until(
    config: &Config,
    stage: &str,
    units: u64,
    act: impl Fn(&Progress) + Sync,
) -> Result<Summary, Error> {
    let (progress, ended) = (Progress::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Relaxed) {
                let (name, done, _) = progress.now();
                let place = |stage| {
                    ["read", "count", "write"]
                        .iter()
                        .position(|&name| name == stage)
                };
                if place(name) > place(stage) || name == stage && done >= units {
                    return act(&progress);
                }
                std::thread::yield_now();
            }
        });
        let outcome = run(config, &progress);
        ended.store(true, Relaxed);
        outcome
    })
}

/// All k-mers of a database that is right in itself.
pub fn content(path: &Path) -> Counts {
    content_where(path, |_| true)
}

/// Some k-mers of a database that is right in itself: every bin is checked, and these k-mers
/// against the naive bin.
pub fn content_where(path: &Path, wanted: impl Fn(&[u8]) -> bool) -> Counts {
    let database = Database::open(path).unwrap();
    database.verify().unwrap();
    let mut counts = BTreeMap::new();
    with_words!(database.shape(), W => for bin in 0..BINS {
        let view = database.bin(bin);
        for (&row, count) in view.rows::<W>().iter().zip(view.counts()) {
            let letters = Kmer::from(Key(row)).letters(database.shape().k());
            if !wanted(&letters) {
                continue;
            }
            assert_eq!(naive::bin(&letters), bin);
            assert!(counts.insert(letters, count).is_none(), "every k-mer is there once");
        }
    });
    counts
}

/// Runs and compares the database, its totals and the summary with the naive counts of `reads`.
pub fn check(config: &Config, reads: &[Vec<u8>], lengths: u64, at: &str) {
    let summary = done(config);
    let (k, stranded) = (config.shape.k(), config.shape.stranded());
    let all = naive::count(reads.iter().map(Vec::as_slice), k, stranded);
    let kmers: u64 = all.values().map(|&count| u64::from(count)).sum();
    let kept: Counts = all
        .into_iter()
        .filter(|(_, count)| (config.min_count..=config.max_count).contains(count))
        .collect();
    let found = content(&config.output);
    if found != kept {
        let missing: Vec<_> = kept
            .iter()
            .filter(|(kmer, count)| found.get(*kmer) != Some(count))
            .take(3)
            .collect();
        let extra: Vec<_> = found
            .iter()
            .filter(|(kmer, count)| kept.get(*kmer) != Some(count))
            .take(3)
            .collect();
        panic!(
            "{at}: {} k-mers instead of {}: {missing:?} {extra:?}",
            found.len(),
            kept.len()
        );
    }
    let (read, database) = (summary.read, Database::open(&config.output).unwrap());
    assert_eq!(
        (read.reads, read.bases, read.kmers),
        (reads.len() as u64, lengths, kmers),
        "{at}"
    );
    assert_eq!(
        (database.metadata().reads, database.metadata().bases),
        (reads.len() as u64, lengths),
        "{at}"
    );
    let totals = database.header();
    let sum: u64 = kept.values().map(|&count| u64::from(count)).sum();
    let unique = kept.values().filter(|&&count| count == 1).count() as u64;
    let largest = kept.values().copied().max().unwrap_or(0);
    assert_eq!(
        (totals.distinct, totals.total, totals.unique),
        (kept.len() as u64, sum, unique),
        "{at}"
    );
    assert_eq!((totals.largest, totals.saturated), (largest, false), "{at}");
    assert_eq!(summary.database, totals.summary(), "{at}");
    assert_eq!(
        (totals.cutoffs.min, totals.cutoffs.max),
        (config.min_count, config.max_count),
        "{at}"
    );
}

/// Letters of all reads.
pub fn letters(reads: &[Vec<u8>]) -> u64 {
    reads.iter().map(|read| read.len() as u64).sum()
}

pub fn fasta(reads: &[Vec<u8>]) -> Vec<u8> {
    reads
        .iter()
        .flat_map(|read| [b">r\n", read.as_slice(), b"\n"].concat())
        .collect()
}
