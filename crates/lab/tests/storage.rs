//! The model of counting inside the storage: against `gyrase_count`, against a naive count, against
//! formulas of one's own hand.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gyrase_kmer::Shape;
use gyrase_lab::ssd::{
    BusyWith, MinimizerPartition, PUBLISHED_SETS, PartitionMapping, ProfileConfig, PublishedCases,
    SetsConfig, SsdConfig, SsdConstants, SsdDesign, SsdError, StorageProfile, Variation, page,
    profile, simulate,
};
use gyrase_simulate::Random;
use gyrase_work::Progress;

const MEMORY: u64 = 400 << 20;

/// Reads of a random genome with a repeat, some errors and some letters that are no base.
fn write_reads(folder: &Path) -> PathBuf {
    let mut random = Random::stream(5, 5, 5);
    let mut genome: Vec<u8> = (0..6000)
        .map(|_| b"ACGT"[random.below(4) as usize])
        .collect();
    genome.extend(b"A".repeat(300));
    genome.extend_from_within(100..600);
    let mut text = Vec::new();
    for number in 0..700 {
        let start = random.below(genome.len() as u64 - 120) as usize;
        let mut read = genome[start..start + 120].to_vec();
        if random.chance(0.3) {
            read[random.below(120) as usize] = b"ACGTN"[random.below(5) as usize];
        }
        text.extend(format!("@r{number}\n").bytes());
        text.extend(&read);
        text.extend(b"\n+\n");
        text.extend(b"I".repeat(120));
        text.push(b'\n');
    }
    let path = folder.join("reads.fq");
    std::fs::write(&path, text).unwrap();
    path
}

fn config(folder: &Path, shape: Shape, m: usize) -> ProfileConfig {
    ProfileConfig {
        inputs: vec![folder.join("reads.fq")],
        shape,
        m,
        threads: 2,
        memory: MEMORY,
        tmp: folder.into(),
    }
}

fn profiled(config: &ProfileConfig) -> StorageProfile {
    profile(config, &Progress::default()).unwrap()
}

/// Letters of the reads.
fn letters(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().skip(1).step_by(4).map(String::from).collect()
}

fn complement(word: &str) -> String {
    let of = |letter| match letter {
        'A' => 'T',
        'C' => 'G',
        'G' => 'C',
        _ => 'A',
    };
    word.chars().rev().map(of).collect()
}

/// k-mers by the letters of their minimizer, by the definition.
fn naive(path: &Path, shape: Shape, m: usize) -> BTreeMap<String, BTreeMap<String, u64>> {
    let form = |word: &str| match shape.stranded() {
        true => word.to_owned(),
        false => complement(word).min(word.to_owned()),
    };
    let mut all = BTreeMap::<String, BTreeMap<String, u64>>::new();
    for read in letters(path) {
        for start in 0..=read.len() - shape.k() {
            let kmer = &read[start..start + shape.k()];
            if kmer.contains('N') {
                continue;
            }
            let smallest = (0..=shape.k() - m)
                .map(|at| form(&kmer[at..at + m]))
                .min()
                .unwrap();
            *all.entry(smallest)
                .or_default()
                .entry(form(kmer))
                .or_default() += 1;
        }
    }
    all
}

#[test]
fn partitions_are_those_of_the_definition() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_reads(folder.path());
    for (k, m, stranded) in [(14, 9, false), (28, 6, true), (35, 9, false)] {
        let shape = Shape::new(k, stranded).unwrap();
        let found = profiled(&config(folder.path(), shape, m));
        let expected = naive(&path, shape, m);
        assert_eq!(found.partitions.len(), expected.len(), "k={k}");
        for (partition, kmers) in found.partitions.iter().zip(expected.values()) {
            let once = kmers.values().filter(|&&count| count == 1).count() as u64;
            assert_eq!(partition.kmers, kmers.values().sum::<u64>());
            assert_eq!(
                (partition.distinct, partition.unique),
                (kmers.len() as u64, once)
            );
            // A filter forgets nothing: what comes again passes it.
            assert!(partition.passed >= partition.kmers - partition.distinct);
            assert!(partition.kept >= partition.distinct - partition.unique);
            assert!(partition.kept <= partition.distinct);
        }
        let all = found.total();
        assert!((all.estimate as f64 / all.distinct as f64 - 1.0).abs() < 0.1);
        assert_eq!(found.text_bytes, path.metadata().unwrap().len());
        assert_eq!((found.reads, found.bases), (700, 700 * 120));
    }
}

#[test]
fn sums_are_those_of_the_counter_and_threads_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_reads(folder.path());
    let shape = Shape::new(28, false).unwrap();
    let own = config(folder.path(), shape, 9);
    let found = profiled(&own);
    let counted = gyrase_count::Config {
        inputs: vec![path],
        output: folder.path().join("s.gyk"),
        shape,
        min_count: 1,
        max_count: u32::MAX,
        min_base_quality: None,
        paired: false,
        threads: 1,
        memory: 1 << 30,
        tmp: folder.path().into(),
        max_tmp: None,
        resume: false,
        chunk: None,
    };
    let summary = gyrase_count::run(&counted, &Progress::default()).unwrap();
    let all = found.total();
    assert_eq!(
        (all.kmers, all.distinct),
        (summary.database.total, summary.database.distinct)
    );
    assert_eq!(all.unique, summary.database.unique);
    assert_eq!(
        found,
        profiled(&ProfileConfig {
            threads: 1,
            ..own.clone()
        })
    );
    let refused = profile(
        &ProfileConfig {
            memory: 1 << 20,
            ..own
        },
        &Progress::default(),
    );
    let Err(SsdError::Memory { needed, .. }) = refused else {
        panic!("{refused:?}")
    };
    let least = ProfileConfig {
        memory: needed,
        ..config(folder.path(), shape, 9)
    };
    assert_eq!(
        found,
        profiled(&ProfileConfig {
            threads: 1,
            ..least
        })
    );
}

/// So many partitions that are equal.
fn equal(partitions: u32, each: MinimizerPartition, text_bytes: u64) -> StorageProfile {
    let partition = |minimizer| MinimizerPartition { minimizer, ..each };
    StorageProfile {
        k: 28,
        m: 4,
        stranded: true,
        text_bytes,
        reads: 1,
        bases: text_bytes / 2,
        partitions: (0..partitions).map(partition).collect(),
    }
}

fn constants(changes: &[(&str, f64)]) -> SsdConstants {
    let mut constants = SsdConstants::standard();
    for (name, value) in changes {
        constants.named(name).unwrap().value = *value;
    }
    constants
}

#[test]
fn nothing_is_lost_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    write_reads(folder.path());
    let profile = profiled(&config(folder.path(), Shape::new(28, false).unwrap(), 9));
    let (all, constants) = (profile.total(), SsdConstants::standard());
    for design in SsdDesign::ALL {
        for (pad, mapping) in [
            (None, PartitionMapping::Heuristic),
            (Some(110), PartitionMapping::RoundRobin),
        ] {
            let config = SsdConfig {
                pad,
                mapping,
                channels: Some(3),
                ..SsdConfig::of(design)
            };
            let run = simulate(&profile, &config, &constants).unwrap();
            let moved = &run.moved;
            assert_eq!(run.large > 0, pad.is_some(), "{design:?}");
            let entries = if design == SsdDesign::Basic {
                all.distinct
            } else {
                all.kept
            };
            assert_eq!((run.entries, moved.tables_written), (entries, 11 * entries));
            assert_eq!(run.chip_kmers.iter().sum::<u64>(), all.kmers);
            if design == SsdDesign::Op {
                assert_eq!(moved.text_read, 2 * profile.text_bytes);
                assert_eq!((moved.super_kmers_written, moved.super_kmers_read), (0, 0));
                assert_eq!(moved.loose_written, moved.loose_read);
                assert_eq!(moved.loose_written > 0, pad.is_some());
            } else {
                assert_eq!(moved.text_read, profile.text_bytes);
                assert_eq!(moved.super_kmers_written, all.bytes);
                assert_eq!(moved.super_kmers_read, all.bytes);
                assert_eq!(moved.written(), all.bytes + 11 * entries);
            }
            assert_eq!(run, simulate(&profile, &config, &constants).unwrap());
            let shares: f64 = BusyWith::ALL.iter().map(|&kind| run.share(kind)).sum();
            assert!(shares - run.share(BusyWith::Channel) - 1.0 < 1e-9 && run.seconds > 0.0);
        }
    }
}

/// One chip, one partition, one batch: each step once, one after the other.
#[test]
fn one_chip_takes_the_sum_of_its_steps() {
    let alone = [
        ("channels", 1.0),
        ("chips_per_channel", 1.0),
        ("planes", 1.0),
        ("keeps_own", 0.0),
    ];
    let constants = constants(&alone);
    let value = |name: &str| {
        let all = constants.each();
        all.iter().find(|(one, _)| *one == name).unwrap().1.value
    };
    let each = MinimizerPartition {
        bytes: 20_000,
        kmers: 16_000,
        distinct: 9000,
        passed: 8000,
        kept: 3000,
        estimate: 9000,
        ..MinimizerPartition::default()
    };
    let (profile, pages) = (equal(1, each, 50_000), |bytes: f64| (bytes / 8192.0).ceil());
    let sum = |steps: &[f64]| steps.iter().fold(0.0, |sum, step| sum + step);
    let (clock, dram) = (value("clock_mhz") * 1e6, value("dram_gb_per_second") * 1e9);
    let [text, moved] = [pages(50_000.0) * 60.0 / 1e6, 20_000.0 / (1.2 * 1e9)];
    let split = 50_000.0 * value("split_cycles") / clock;
    let [written, read] = [pages(20_000.0) * 700.0 / 1e6, pages(20_000.0) * 60.0 / 1e6];
    let through = [text, split, moved, 20_000.0 / dram];
    let run = |design| simulate(&profile, &SsdConfig::of(design), &constants).unwrap();

    let scatter = sum(&[&through[..], &[20_000.0 / dram, moved, written]].concat());
    let table = pages(9000.0 * 11.0) * 700.0 / 1e6;
    let count = sum(&[read, 16_000.0 * value("probe_cycles") / clock, table]);
    assert_eq!(
        run(SsdDesign::Basic).phases,
        [("scatter", scatter), ("count", count)]
    );

    let sketch = (50_000.0 * value("split_cycles") + 16_000.0 * value("sketch_cycles")) / clock;
    let filter = 16_000.0 / value("filter_kmers_per_cycle") / clock;
    let loose = 8000.0 * 7.0 / (1.2 * 1e9);
    let probe = 8000.0 * value("probe_cycles") / clock;
    let table = pages(3000.0 * 11.0) * 700.0 / 1e6;
    let rest = [20_000.0 / dram, filter, loose, probe, table];
    let pipeline = sum(&[&through[..], &rest].concat());
    let expected = [("sketch", sum(&[text, sketch])), ("pipeline", pipeline)];
    assert_eq!(run(SsdDesign::Op).phases, expected);
}

/// Where nothing is shared, twice the channels take half the time.
#[test]
fn twice_the_channels_take_half_the_time() {
    let constants = constants(&[
        ("chips_per_channel", 1.0),
        ("planes", 1.0),
        ("keeps_own", 0.0),
        ("dram_gb_per_second", 1e18),
        ("dram_cache_gb", 1e9),
        ("filter_kmers_per_cycle", 1e18),
    ]);
    let each = MinimizerPartition {
        bytes: 64 * 8192,
        kmers: 400_000,
        distinct: 8 * 8192,
        passed: 128_000,
        kept: 8 * 8192,
        estimate: 1,
        ..MinimizerPartition::default()
    };
    let profile = equal(256, each, 8 * 16 * 16 * 8192);
    for design in SsdDesign::ALL {
        let seconds = [4, 8].map(|channels| {
            let config = SsdConfig {
                channels: Some(channels),
                pad: Some(1 << 20),
                mapping: PartitionMapping::RoundRobin,
                batches: 16,
                ..SsdConfig::of(design)
            };
            simulate(&profile, &config, &constants).unwrap().seconds
        });
        assert!(
            (seconds[0] / seconds[1] - 2.0).abs() < 1e-9,
            "{design:?} {seconds:?}"
        );
    }
}

/// The whole of the publication, on few letters: numbers are rough, but all of them are there.
#[test]
fn the_page_has_every_number() {
    let folder = tempfile::tempdir().unwrap();
    let sets = SetsConfig {
        letters: 20_000,
        ..SetsConfig::standard(folder.path())
    };
    let progress = Progress::default();
    let profiles: Vec<StorageProfile> = PUBLISHED_SETS
        .iter()
        .flat_map(|set| set.profiles(&sets, &progress).unwrap())
        .collect();
    for (profile, set) in profiles.iter().skip(2).step_by(3).zip(PUBLISHED_SETS) {
        let all = profile.total();
        let milliards = [all.kmers, all.distinct, all.unique].map(|number| number as f64 / 1e9);
        assert_eq!(
            milliards,
            [set.kmers, set.distinct, set.unique],
            "{}",
            set.name
        );
    }
    let constants = SsdConstants::standard();
    let grain = SsdConfig {
        batches: 1,
        ..SsdConfig::of(SsdDesign::Op)
    };
    let with = (2, &progress);
    let cases =
        PublishedCases::divide(profiles, Variation::all(), &constants, grain, with).unwrap();
    let runs = cases.simulate(&constants, with).unwrap();
    let scalars = runs.scalars(&constants);
    assert_eq!((scalars.len(), runs.sentences().len()), (30, 5));
    assert!(
        scalars
            .iter()
            .all(|scalar| scalar.found > 0.0 && scalar.found.is_finite())
    );
    let mut html = Vec::new();
    page(&runs, &constants, &mut html).unwrap();
    let html = String::from_utf8(html).unwrap();
    assert!(scalars.iter().all(|scalar| html.contains(scalar.what)));
    assert_eq!(html.matches("<svg ").count(), 4);
    assert!(!html.contains("NaN") && html.contains("fitted"));
}
