//! Look-ups along sequences and the filtering of reads, against maps.
// A helper of a test is a test.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::databases::{Counts, EDGES, write};
use gyrase_count::filter::{self, Mates, Need};
use gyrase_count::ops::OperationError;
use gyrase_count::query::{self, CountProfile};
use gyrase_fastx::{Format, PairWriter, Writer};
use gyrase_kmer::{Kmer, Shape, mix, with_words};
use gyrase_table::gyk::{Cutoffs, Database};
use gyrase_work::Progress;

/// Random letters, a few of them no bases, upper and lower case.
fn letters(n: usize, seed: u64) -> Vec<u8> {
    let letter = |at: usize| match mix(seed << 32 | at as u64) >> 32 {
        x if x % 211 == 0 => b'N',
        x if x % 97 == 0 => b"acgt"[(x >> 10) as usize % 4],
        x => b"ACGT"[(x >> 10) as usize % 4],
    };
    (0..n).map(letter).collect()
}

/// Every k-mer of a sequence in its counted form, or `None` over a letter that is no base.
fn kmers<const W: usize>(shape: Shape, letters: &[u8]) -> Vec<Option<Kmer<W>>> {
    letters
        .windows(shape.k())
        .map(|window| Some(Kmer::from_letters(window)?.form(shape)))
        .collect()
}

fn counted<const W: usize>(shape: Shape, letters: &[u8]) -> Counts<W> {
    let mut counts = Counts::new();
    kmers(shape, letters)
        .into_iter()
        .flatten()
        .for_each(|kmer| *counts.entry(kmer).or_insert(0) += 1);
    counts
}

fn check_profile<const W: usize>(path: &Path, shape: Shape) {
    let known = letters(3000, 1);
    let map = counted::<W>(shape, &known);
    write(path, shape, &map);
    let database = Database::open(path).unwrap();
    let mut sequence = letters(2000, 2);
    sequence.extend_from_slice(&known[100..2100]);
    let expected: Vec<Option<u32>> = kmers::<W>(shape, &sequence)
        .into_iter()
        .map(|kmer| kmer.map(|kmer| map.get(&kmer).copied().unwrap_or(0)))
        .collect();
    let profile = CountProfile::of(&database, &sequence).unwrap();
    assert!(profile.counts == expected, "k={}", shape.k());
    let present = expected
        .iter()
        .flatten()
        .filter(|&&count| count > 0)
        .count();
    assert_eq!(
        (profile.kmers, profile.present),
        (expected.iter().flatten().count() as u64, present as u64)
    );
    for (&kmer, &count) in map.iter().take(50) {
        let text = String::from_utf8(kmer.letters(shape.k())).unwrap();
        assert_eq!(query::look_up(&database, &text).unwrap(), count);
        if !shape.stranded() {
            let other =
                String::from_utf8(kmer.reverse_complement(shape.k()).letters(shape.k())).unwrap();
            assert_eq!(
                query::look_up(&database, &other.to_lowercase()).unwrap(),
                count
            );
        }
    }
    for wrong in [
        "".to_string(),
        "A".repeat(shape.k() + 1),
        "N".repeat(shape.k()),
    ] {
        assert!(matches!(
            query::look_up(&database, &wrong),
            Err(OperationError::NotAKmer { .. })
        ));
    }
}

#[test]
fn profiles_agree_with_maps_at_every_word_edge() {
    let folder = tempfile::tempdir().unwrap();
    for k in EDGES {
        for stranded in [false, true] {
            let shape = Shape::new(k, stranded).unwrap();
            with_words!(shape, W => check_profile::<W>(&folder.path().join("x.gyk"), shape));
        }
    }
}

/// More than one thread takes, of k-mers that the database has, of either strand, and of others.
const PACKED: usize = 70_000;

fn check_packed<const W: usize>(path: &Path, shape: Shape) {
    let known = letters(3000, 3);
    write(path, shape, &counted::<W>(shape, &known));
    let database = Database::open(path).unwrap();
    let of_known: Vec<Kmer<W>> = known
        .windows(shape.k())
        .filter_map(Kmer::from_letters)
        .collect();
    let kmers: Vec<Kmer<W>> = (0..PACKED as u64)
        .map(|i| match mix(i) % 3 {
            0 => Kmer([(); W].map(|()| mix(i ^ 7))).masked(shape.k()),
            1 => of_known[i as usize % of_known.len()],
            _ => of_known[i as usize % of_known.len()].reverse_complement(shape.k()),
        })
        .collect();
    let words: Vec<u64> = kmers.iter().flat_map(|kmer| kmer.0).collect();
    let alone = |kmer: &Kmer<W>| database.get(kmer.form(shape)).unwrap().unwrap_or(0);
    let expected: Vec<u32> = kmers.iter().map(alone).collect();
    for (threads, some) in [
        (1, PACKED),
        (2, PACKED),
        (5, PACKED),
        (2, 0),
        (1, 63),
        (9, 65),
    ] {
        let mut found = vec![u32::MAX; some];
        query::look_up_packed(&database, &words[..some * W], &mut found, threads).unwrap();
        assert!(found == expected[..some], "{shape:?}, {threads}, {some}");
    }
    if shape.k() < 32 * W {
        let mut words = words;
        words[60_001 * W] |= 1 << 63;
        let found = query::look_up_packed(&database, &words, &mut vec![0; PACKED], 2);
        let number = 60_001;
        assert!(
            matches!(found, Err(OperationError::NotPacked { number: n, .. }) if n == number),
            "{found:?}"
        );
    }
}

#[test]
fn many_packed_kmers_count_as_each_alone() {
    let folder = tempfile::tempdir().unwrap();
    for k in EDGES {
        for stranded in [false, true] {
            let shape = Shape::new(k, stranded).unwrap();
            with_words!(shape, W => check_packed::<W>(&folder.path().join("x.gyk"), shape));
        }
    }
}

#[test]
fn means_and_medians_count_what_is_absent() {
    let profile = CountProfile::new(vec![Some(4), None, Some(0), Some(1), Some(7)]);
    assert_eq!(
        (profile.kmers, profile.present, profile.mean, profile.median),
        (4, 3, 3.0, 2.5)
    );
    let profile = CountProfile::new(vec![Some(9), Some(0), Some(3)]);
    assert_eq!((profile.mean, profile.median), (4.0, 3.0));
    let profile = CountProfile::new(vec![None]);
    assert_eq!((profile.kmers, profile.mean, profile.median), (0, 0.0, 0.0));
}

#[test]
fn a_table_has_a_line_for_every_sequence() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("x.gyk");
    write(
        &database,
        Shape::new(4, false).unwrap(),
        &counted::<1>(Shape::new(4, false).unwrap(), b"AACCCAACC"),
    );
    let input = folder.path().join("x.fa");
    fs::write(&input, ">one of them\nAACCNGGTTA\n>short\nAC\n>\nTTTT\n").unwrap();
    let table = |all_counts, threads| {
        let config = query::Config {
            database: database.clone(),
            inputs: vec![input.clone()],
            all_counts,
            threads,
        };
        let mut text = Vec::new();
        let summary = query::run(&config, &mut text, &Progress::default()).unwrap();
        assert_eq!(
            (summary.sequences, summary.kmers, summary.present),
            (3, 4, 2)
        );
        String::from_utf8(text).unwrap()
    };
    let head = "#sequence\tk-mers\tpresent\tmean\tmedian";
    assert_eq!(
        table(false, 1),
        format!("{head}\none\t3\t2\t1.33\t2.0\nshort\t0\t0\t0.00\t0.0\n\t1\t0\t0.00\t0.0\n")
    );
    let all =
        "one\t3\t2\t1.33\t2.0\t2,.,.,.,.,2,0\nshort\t0\t0\t0.00\t0.0\t\n\t1\t0\t0.00\t0.0\t0\n";
    assert_eq!(table(true, 3), format!("{head}\tcounts\n{all}"));
}

struct Case {
    folder: tempfile::TempDir,
    reads: Vec<Vec<u8>>,
    map: Counts<1>,
    shape: Shape,
}

impl Case {
    /// 3000 reads of 60 letters, every third of them from the counted sequence.
    fn new() -> Case {
        let shape = Shape::new(21, false).unwrap();
        let known = letters(30_000, 5);
        let part = |i: usize| known[i * 7..i * 7 + 60].to_vec();
        let reads = (0..3000)
            .map(|i| {
                if i % 3 == 0 {
                    part(i)
                } else {
                    letters(60, 100 + i as u64)
                }
            })
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let map = counted::<1>(shape, &known);
        write(&folder.path().join("x.gyk"), shape, &map);
        Case {
            folder,
            reads,
            map,
            shape,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn record(&self, index: usize, mate: &str) -> String {
        let letters = String::from_utf8_lossy(&self.reads[index]);
        format!(
            "@r{}{mate} c\n{letters}\n+\n{}\n",
            index / if mate.is_empty() { 1 } else { 2 },
            "I".repeat(letters.len())
        )
    }

    fn found(&self, index: usize) -> usize {
        kmers::<1>(self.shape, &self.reads[index])
            .iter()
            .flatten()
            .filter(|kmer| self.map.contains_key(kmer))
            .count()
    }

    fn config(&self, reads: &str, mates: Mates, need: Need) -> filter::Config {
        let (database, reads) = (self.path("x.gyk"), self.path(reads));
        filter::Config {
            database,
            reads,
            mates,
            counts: Cutoffs::default(),
            need,
            drop: false,
            threads: 3,
        }
    }

    fn run(&self, config: &filter::Config, two: bool) -> (filter::Summary, String, String) {
        let (first, second) = (self.path("out_1"), self.path("out_2"));
        let writer = |path: &Path| Writer::create(path, Format::Fastq, None).unwrap();
        let kept = PairWriter::new(writer(&first), two.then(|| writer(&second)));
        let summary = filter::run(config, kept, &Progress::default()).unwrap();
        let text = |path: &Path| fs::read_to_string(path).unwrap();
        (
            summary,
            text(&first),
            if two { text(&second) } else { String::new() },
        )
    }
}

#[test]
fn single_reads_are_kept_or_dropped_as_they_are() {
    let case = Case::new();
    let all: String = (0..3000).map(|i| case.record(i, "")).collect();
    fs::write(case.path("r.fq"), &all).unwrap();
    for need in [
        Need::Number(1),
        Need::Number(30),
        Need::Share(0.5),
        Need::Share(0.0),
        Need::Number(0),
    ] {
        let matches = |i: usize| match need {
            Need::Number(least) => case.found(i) as u64 >= least,
            Need::Share(share) => {
                let kmers = kmers::<1>(case.shape, &case.reads[i])
                    .iter()
                    .flatten()
                    .count();
                case.found(i) as f64 >= share * kmers as f64 && (kmers > 0 || share == 0.0)
            }
        };
        for drop in [false, true] {
            let expected: String = (0..3000)
                .filter(|&i| matches(i) != drop)
                .map(|i| case.record(i, ""))
                .collect();
            for threads in [1, 4] {
                let config = filter::Config {
                    drop,
                    threads,
                    ..case.config("r.fq", Mates::None, need)
                };
                let (summary, kept, _) = case.run(&config, false);
                assert!(kept == expected, "{need:?} drop={drop} threads={threads}");
                assert_eq!(
                    (summary.reads, summary.kept),
                    (3000, expected.lines().count() as u64 / 4)
                );
            }
        }
    }
}

#[test]
fn counts_out_of_range_do_not_count() {
    let case = Case::new();
    fs::write(case.path("r.fq"), case.record(0, "")).unwrap();
    let counts = Cutoffs { min: 2, max: 9 };
    let config = filter::Config {
        counts,
        ..case.config("r.fq", Mates::None, Need::Number(1))
    };
    let (summary, kept, _) = case.run(&config, false);
    assert_eq!((summary.reads, summary.kept, kept.as_str()), (1, 0, ""));
}

#[test]
fn mates_stay_together() {
    let case = Case::new();
    let (mut first, mut second, mut both) = (String::new(), String::new(), String::new());
    let (mut kept_first, mut kept_second) = (String::new(), String::new());
    for pair in 0..1500 {
        let mates = (case.record(2 * pair, "/1"), case.record(2 * pair + 1, "/2"));
        first += &mates.0;
        second += &mates.1;
        both += &(mates.0.clone() + &mates.1);
        if case.found(2 * pair) + case.found(2 * pair + 1) >= 20 {
            kept_first += &mates.0;
            kept_second += &mates.1;
        }
    }
    for (name, text) in [("r_1.fq", &first), ("r_2.fq", &second), ("both.fq", &both)] {
        fs::write(case.path(name), text).unwrap();
    }
    let two_files = case.config("r_1.fq", Mates::File(case.path("r_2.fq")), Need::Number(20));
    let (summary, one, two) = case.run(&two_files, true);
    assert!(one == kept_first && two == kept_second);
    assert_eq!(
        (summary.reads, summary.kept),
        (1500, kept_first.lines().count() as u64 / 4)
    );
    let (_, mixed, _) = case.run(
        &case.config("both.fq", Mates::Interleaved, Need::Number(20)),
        false,
    );
    let lines: Vec<&str> = mixed.lines().collect();
    let of = |mate: usize| {
        lines
            .chunks(4)
            .skip(mate)
            .step_by(2)
            .flatten()
            .fold(String::new(), |all, line| all + line + "\n")
    };
    assert!(of(0) == kept_first && of(1) == kept_second);
}

#[test]
fn fasta_stays_fasta_no_reads_give_no_reads_and_errors_leave_no_file() {
    let case = Case::new();
    fs::write(case.path("r.fa"), ">a\nACGT\n>b\n\n").unwrap();
    let (summary, kept, _) = case.run(&case.config("r.fa", Mates::None, Need::Number(0)), false);
    assert_eq!((summary.kept, kept.as_str()), (2, ">a\nACGT\n>b\n"));
    fs::write(case.path("empty"), "").unwrap();
    let (summary, kept, _) = case.run(&case.config("empty", Mates::None, Need::Number(0)), false);
    assert_eq!((summary, kept.as_str()), (filter::Summary::default(), ""));
    fs::remove_file(case.path("out_1")).unwrap();
    fs::write(case.path("cut.fq"), "@a\nACGT\n+\nIIII\n@b\nAC").unwrap();
    let kept = PairWriter::new(
        Writer::create(&case.path("out_1"), Format::Fastq, None).unwrap(),
        None,
    );
    let config = case.config("cut.fq", Mates::None, Need::Number(0));
    let error = filter::run(&config, kept, &Progress::default()).unwrap_err();
    assert!(matches!(error, OperationError::Reads(_)), "{error}");
    assert!(!case.path("out_1").exists());
}
