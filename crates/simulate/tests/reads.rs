//! Reads and communities: names tell the truth, amounts and error rates are met, and the bytes
//! never change.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use gyrase_simulate::community::{self, GenomeSource, Phylogeny};
use gyrase_simulate::genome::{Blueprint, Gaps, generate};
use gyrase_simulate::reads::{
    Amount, Config, Errors, LibraryLayout, Protocol, ReadFiles, Summary, run,
};
use gyrase_simulate::{Sequence, SimulateError, read_sequences};
use gyrase_work::Progress;

const PAIRED: LibraryLayout = LibraryLayout::Paired {
    length: 100,
    insert_mean: 300.0,
    insert_deviation: 40.0,
};
const PERFECT: Errors = Errors {
    rate: 0.0,
    indels: 0.0,
};

fn genome() -> Vec<Sequence> {
    let gaps = Gaps {
        runs: 2,
        length: 500,
    };
    generate(&Blueprint {
        seed: 9,
        length: 50_000,
        contigs: 2,
        gaps,
        ..Blueprint::default()
    })
    .unwrap()
    .sequences
}

fn write(folder: &Path, sequences: &[Sequence]) -> PathBuf {
    let path = folder.join("genome.fa");
    let text: String = sequences
        .iter()
        .map(|s| format!(">{}\n{}\n", s.name, str::from_utf8(&s.letters).unwrap()))
        .collect();
    fs::write(&path, text).unwrap();
    path
}

/// Runs with one output file and gives its text.
fn shoot(layout: LibraryLayout, errors: Errors, amount: Amount) -> (Summary, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("reads.fq");
    let config = Config {
        genomes: vec![write(folder.path(), &genome())],
        protocol: Protocol {
            seed: 5,
            layout,
            errors,
        },
        amount,
        target: ReadFiles::One(output.clone()),
    };
    let summary = run(&config, &Progress::default()).unwrap();
    (summary, fs::read(output).unwrap())
}

/// Name, letters and qualities of each record.
fn records(fastq: &[u8]) -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let lines: Vec<&[u8]> = fastq.split(|&byte| byte == b'\n').collect();
    let record = |lines: &[&[u8]]| {
        assert_eq!(
            (lines[0][0], lines[2], lines[1].len()),
            (b'@', &b"+"[..], lines[3].len())
        );
        (
            String::from_utf8(lines[0][1..].to_vec()).unwrap(),
            lines[1].to_vec(),
            lines[3].to_vec(),
        )
    };
    lines[..lines.len() - 1].chunks(4).map(record).collect()
}

/// What a read of this name (with `/1` or `/2` for mates) and `length` shows when no error was
/// made.
fn slice(name: &str, length: usize, sequences: &[Sequence]) -> Vec<u8> {
    let (name, mate) = name.split_once('/').unwrap_or((name, "1"));
    let words: Vec<&str> = name.rsplitn(4, ':').collect();
    let [_number, strand, range, sequence] = words[..] else {
        panic!("{name}")
    };
    let (start, end) = range.split_once('-').unwrap();
    let letters = &sequences
        .iter()
        .find(|candidate| candidate.name == sequence)
        .unwrap()
        .letters;
    let fragment = &letters[start.parse::<usize>().unwrap() - 1..end.parse().unwrap()];
    if (strand == "-") != (mate == "2") {
        gyrase_seq::reverse_complement(&fragment[fragment.len() - length..])
    } else {
        fragment[..length].to_vec()
    }
}

#[test]
fn error_free_reads_are_slices_of_the_genome() {
    let genome = genome();
    for layout in [
        LibraryLayout::Single { length: 75 },
        PAIRED,
        LibraryLayout::Long {
            mean: 900.0,
            deviation: 700.0,
        },
    ] {
        let (summary, fastq) = shoot(layout.clone(), PERFECT, Amount::Fragments(2000));
        let records = records(&fastq);
        let mates = if layout == PAIRED { 2 } else { 1 };
        assert_eq!((summary.reads, summary.errors), (2000 * mates, 0));
        assert_eq!(records.len() as u64, summary.reads);
        for (name, letters, _) in &records {
            assert_eq!(*letters, slice(name, letters.len(), &genome), "{name}");
        }
        let minus = records
            .iter()
            .filter(|(name, ..)| name.contains(":-:"))
            .count() as u64;
        assert!(minus.abs_diff(1000 * mates) < 150 * mates, "{minus}");
        let starts: Vec<&str> = records.iter().map(|(name, ..)| name.as_str()).collect();
        assert!(!starts.is_sorted());
    }
}

#[test]
fn amounts_and_error_rates_are_met() {
    let genome = genome();
    for (rate, layout) in [
        (0.01, PAIRED),
        (
            0.08,
            LibraryLayout::Long {
                mean: 3000.0,
                deviation: 2000.0,
            },
        ),
    ] {
        let (summary, fastq) = shoot(layout, Errors { rate, indels: 0.0 }, Amount::Coverage(30.0));
        let coverage = summary.letters as f64 / summary.genome_letters as f64;
        assert!((coverage / 30.0 - 1.0).abs() < 0.1, "{coverage}");
        assert_eq!(summary.genome_letters, 50_000);
        let wrong = |(name, letters, _): &(String, Vec<u8>, Vec<u8>)| {
            letters
                .iter()
                .zip(slice(name, letters.len(), &genome))
                .filter(|(a, b)| **a != *b)
                .count() as u64
        };
        let errors: u64 = records(&fastq).iter().map(wrong).sum();
        assert_eq!(errors, summary.errors);
        let found = errors as f64 / summary.letters as f64;
        assert!((found / rate - 1.0).abs() < 0.05, "{found}");
    }
}

#[test]
fn more_reads_change_none_and_gaps_are_avoided() {
    let errors = Errors {
        rate: 0.01,
        indels: 0.2,
    };
    let (_, few) = shoot(PAIRED, errors.clone(), Amount::Fragments(100));
    let (_, many) = shoot(PAIRED, errors, Amount::Fragments(3000));
    assert!(many.starts_with(&few));
    let n = |letters: &[u8]| letters.iter().filter(|&&letter| letter == b'N').count();
    assert!(
        records(&many)
            .iter()
            .all(|(_, letters, _)| n(letters) <= 35)
    );
}

#[test]
fn the_bytes_are_the_same_on_every_machine() {
    let errors = Errors {
        rate: 0.01,
        indels: 0.2,
    };
    let crc = |layout| crc32fast::hash(&shoot(layout, errors.clone(), Amount::Fragments(500)).1);
    let long = LibraryLayout::Long {
        mean: 900.0,
        deviation: 700.0,
    };
    assert_eq!(
        [
            crc(PAIRED),
            crc(LibraryLayout::Single { length: 36 }),
            crc(long)
        ],
        [680_017_113, 2_687_621_543, 2_985_332_703]
    );
}

#[test]
fn two_files_hold_the_mates_of_the_interleaved_one() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["1.fq", "2.fq"].map(|name| folder.path().join(name));
    let errors = Errors {
        rate: 0.01,
        indels: 0.0,
    };
    let config = Config {
        genomes: vec![write(folder.path(), &genome())],
        protocol: Protocol {
            seed: 5,
            layout: PAIRED,
            errors: errors.clone(),
        },
        amount: Amount::Fragments(200),
        target: ReadFiles::Two(first.clone(), second.clone()),
    };
    run(&config, &Progress::default()).unwrap();
    let (firsts, seconds) = (
        records(&fs::read(first).unwrap()),
        records(&fs::read(second).unwrap()),
    );
    let both: Vec<_> = firsts
        .into_iter()
        .zip(seconds)
        .flat_map(|(first, second)| [first, second])
        .collect();
    assert_eq!(
        both,
        records(&shoot(PAIRED, errors, Amount::Fragments(200)).1)
    );
}

#[test]
fn what_cannot_be_done_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = Sequence {
        name: "tiny".to_owned(),
        letters: b"ACGT".to_vec(),
    };
    let config = Config {
        genomes: vec![write(folder.path(), &[tiny])],
        protocol: Protocol {
            seed: 5,
            layout: PAIRED,
            errors: PERFECT,
        },
        amount: Amount::Fragments(1),
        target: ReadFiles::One(folder.path().join("reads.fq")),
    };
    let error = run(&config, &Progress::default()).unwrap_err();
    assert!(
        matches!(
            error,
            SimulateError::Short {
                longest: 4,
                needed: 100,
                ..
            }
        ),
        "{error}"
    );
    let progress = Progress::default();
    progress.cancel();
    let long = Config {
        genomes: vec![write(folder.path(), &genome())],
        amount: Amount::Fragments(50_000),
        ..config
    };
    assert!(matches!(
        run(&long, &progress),
        Err(SimulateError::Cancelled)
    ));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

fn community(folder: &Path, source: GenomeSource) -> community::Config {
    community::Config {
        source,
        sigma: 1.0,
        protocol: Protocol {
            seed: 11,
            layout: PAIRED,
            errors: PERFECT,
        },
        amount: Amount::Coverage(5.0),
        target: ReadFiles::One(folder.join("reads.fq")),
        truth: folder.join("truth.tsv"),
        abundances: folder.join("abundances.tsv"),
        genomes: Some(folder.join("genomes.fa")),
    }
}

fn family() -> GenomeSource {
    let ancestor = Blueprint {
        seed: 3,
        length: 20_000,
        contigs: 2,
        ..Blueprint::default()
    };
    GenomeSource::Phylogeny(Phylogeny {
        ancestor,
        species: 3,
        strains: 2,
        species_divergence: 0.2,
        strain_divergence: 0.01,
    })
}

#[test]
fn a_community_is_what_its_tables_say() {
    let folder = tempfile::tempdir().unwrap();
    let config = community(folder.path(), family());
    let summary = community::run(&config, &Progress::default()).unwrap();
    let genomes = read_sequences(&folder.path().join("genomes.fa")).unwrap();
    assert_eq!(genomes.len(), 12);
    let fastq = fs::read(folder.path().join("reads.fq")).unwrap();
    let truth = fs::read_to_string(folder.path().join("truth.tsv")).unwrap();
    let records = records(&fastq);
    let lines: Vec<Vec<&str>> = truth
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(
        (records.len(), summary.reads),
        (2 * lines.len(), 2 * lines.len() as u64)
    );
    for (pair, line) in records.chunks(2).zip(&lines) {
        assert_eq!(
            (&*pair[0].0, &*pair[1].0),
            (&*format!("{}/1", line[0]), &*format!("{}/2", line[0]))
        );
        assert!(line[2].starts_with(line[1]));
        pair.iter()
            .for_each(|(name, letters, _)| assert_eq!(*letters, slice(name, 100, &genomes)));
    }
    let shares: f64 = summary.members.iter().map(|member| member.abundance).sum();
    assert!((shares - 1.0).abs() < 1e-9);
    for member in &summary.members {
        assert_eq!(
            member.fragments as usize,
            lines.iter().filter(|line| line[1] == member.genome).count()
        );
        let expected = member.abundance * lines.len() as f64;
        assert!(
            (member.fragments as f64 - expected).abs() < 5.0 * expected.sqrt() + 5.0,
            "{member:?}"
        );
    }
}

#[test]
fn relatives_are_as_far_apart_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    community::run(&community(folder.path(), family()), &Progress::default()).unwrap();
    let genomes = read_sequences(&folder.path().join("genomes.fa")).unwrap();
    let distance = |a: usize, b: usize| {
        let pairs = genomes[a].letters.iter().zip(&genomes[b].letters);
        pairs.filter(|(a, b)| a != b).count() as f64 / genomes[a].letters.len() as f64
    };
    let (strains, species) = (distance(0, 2), distance(0, 4));
    assert!((0.015..0.025).contains(&strains), "{strains}");
    assert!((0.32..0.40).contains(&species), "{species}");
}

#[test]
fn a_community_of_files_takes_their_names_and_never_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &genome());
    let config = community(folder.path(), GenomeSource::Files(vec![path]));
    let summary = community::run(&config, &Progress::default()).unwrap();
    assert_eq!(
        (summary.members.len(), summary.members[0].genome.as_str()),
        (1, "genome")
    );
    let crc = |name| crc32fast::hash(&fs::read(folder.path().join(name)).unwrap());
    assert_eq!(
        ["reads.fq", "truth.tsv", "abundances.tsv"].map(crc),
        [916_653_375, 2_888_134_096, 629_052_750]
    );
}

#[test]
fn compressed_files_hold_the_same_reads() {
    let folder = tempfile::tempdir().unwrap();
    let errors = Errors {
        rate: 0.01,
        indels: 0.0,
    };
    let plain = records(&shoot(PAIRED, errors.clone(), Amount::Fragments(300)).1);
    for ending in ["gz", "zst", "bz2", "xz"] {
        let output = folder.path().join(format!("reads.fq.{ending}"));
        let config = Config {
            genomes: vec![write(folder.path(), &genome())],
            protocol: Protocol {
                seed: 5,
                layout: PAIRED,
                errors: errors.clone(),
            },
            amount: Amount::Fragments(300),
            target: ReadFiles::One(output.clone()),
        };
        run(&config, &Progress::default()).unwrap();
        assert!(fs::read(&output).unwrap()[0] != b'@');
        let found: Vec<_> = read_sequences(&output)
            .unwrap()
            .into_iter()
            .map(|read| (read.name, read.letters))
            .collect();
        let expected: Vec<_> = plain
            .iter()
            .map(|(name, letters, _)| (name.clone(), letters.clone()))
            .collect();
        assert_eq!(found, expected, "{ending}");
    }
}

#[test]
fn tables_are_compressed_as_their_names_say() {
    let folder = tempfile::tempdir().unwrap();
    let run = |truth: &str| {
        let config = community::Config {
            truth: folder.path().join(truth),
            ..community(folder.path(), family())
        };
        community::run(&config, &Progress::default()).unwrap();
        fs::read(config.truth).unwrap()
    };
    let plain = run("t.tsv");
    for name in ["t.tsv.gz", "t.tsv.zst", "t.tsv.bz2", "t.tsv.xz"] {
        let stored = run(name);
        assert!(stored.len() < plain.len(), "{name}");
        let mut text = Vec::new();
        let mut reader = gyrase_fastx::decompress(std::io::Cursor::new(stored)).unwrap();
        std::io::Read::read_to_end(&mut reader, &mut text).unwrap();
        assert!(text == plain, "{name}");
    }
}
