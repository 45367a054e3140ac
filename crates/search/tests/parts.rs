//! Searches in databases that the memory does not take: what comes out is that of the whole.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use std::fmt::Write as _;
use std::path::Path;

use gyrase_fabric::{Steal, World, testing};
use gyrase_search::{
    About, Config, Program, Report, ReportTarget, SearchError, Sensitivity, WaitingText, run_in,
};
use gyrase_work::Progress;

use crate::families::{Place, Random, families, report, report_with};

/// Memory that a search takes for itself.
const BESIDE: u64 = 16 << 20;

/// Proteins with ties, and strangers enough that a part has few of them.
pub fn proteins(place: &Place) -> Config {
    let mut random = Random::new();
    let (queries, mut subjects) = families(&mut random);
    // The same twice, far apart: ties across parts.
    subjects.extend(subjects.clone());
    for number in 0..80 {
        let length = 1 + random.below(1500);
        let protein = random.protein(length);
        let text = String::from_utf8(protein).unwrap();
        subjects.push(format!(">y{number} a stranger\n{text}\n"));
    }
    let mut config = place.config(&queries, &subjects);
    config.limits.evalue = 10.0;
    config.threads = 1;
    config
}

/// Genes in genomes, on both strands, with repeats, and what stands for several bases.
pub fn nucleotides(place: &Place) -> Config {
    let mut random = Random::new();
    let mut bases = |length: usize| -> String {
        (0..length)
            .map(|_| char::from(b"ACGT"[random.below(4)]))
            .collect()
    };
    let genes: Vec<String> = (0..12).map(|number| bases(60 + 70 * number)).collect();
    let (mut queries, mut subjects) = (String::new(), Vec::new());
    for (number, gene) in genes.iter().enumerate() {
        writeln!(queries, ">q{number}\n{gene}").unwrap();
    }
    for number in 0..40 {
        let mut text = String::new();
        for place in 0..6 {
            let gene = &genes[(number * 7 + place * 5) % genes.len()];
            let other = |base: char| match base {
                'A' => 'T',
                'C' => 'G',
                'G' => 'C',
                _ => 'A',
            };
            text += &bases(500 + 300 * (number % 5));
            text += &match place % 3 {
                0 => gene.clone(),
                1 => gene.chars().rev().map(other).collect(),
                _ => gene.replacen("GATT", "GRTT", 2).replacen("CCA", "CCTTA", 3),
            };
        }
        subjects.push(format!(">g{number} of a genome\n{text}\n"));
    }
    let mut config = place.config(&queries, &subjects);
    config.program = Some(Program::Blastn);
    config.threads = 1;
    config
}

/// Letters of a file.
fn letters(path: &Path) -> u64 {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('>'));
    lines.map(|line| line.len() as u64).sum()
}

/// Letters of subjects, and cells of extensions.
const SIDE_BY_SIDE: u64 = (1 << 21) + (65_792 + (64 << 9)) + ((1 << 17) + 256) * 32;

/// Memory in which a part of the subjects is one of so many.
fn memory(config: &Config, parts: u64) -> u64 {
    let (queries, subjects) = (letters(&config.queries[0]), letters(&config.subjects[0]));
    let threads = config.threads as u64;
    match config.program {
        // Six frames of both.
        Some(Program::Tblastx) => {
            BESIDE + (288 << 10) * threads + 30 * queries + 26 * subjects / parts
        }
        // The table of words, what a thread reads, and what it extends side by side.
        Some(_) => {
            BESIDE
                + 786_432
                + (131_072 + SIDE_BY_SIDE) * threads
                + 56 * queries
                + 3 * subjects / (4 * parts)
        }
        // The longest query, and steps of alignments.
        None => BESIDE + (288 << 10) * threads + 8 * queries + 14 * subjects / parts,
    }
}

#[test]
fn any_memory_gives_the_same_bytes() {
    for (program, sensitivity, formats) in [
        (Program::Blastp, Sensitivity::Blast, ["6", "0", "5"]),
        (Program::Blastp, Sensitivity::Fast, ["6", "0", "5"]),
        (Program::Blastn, Sensitivity::Blast, ["6", "0", "17 SR"]),
        (Program::Tblastx, Sensitivity::Blast, ["6", "0", "5"]),
    ] {
        let place = Place::new();
        let whole = match (program, sensitivity) {
            (Program::Blastp, Sensitivity::Fast) => {
                // Few are reported, so that most need not be aligned.
                let mut fast = proteins(&place);
                (fast.sensitivity, fast.limits.top) = (sensitivity, 3);
                fast
            }
            (Program::Blastp, _) => proteins(&place),
            _ => Config {
                program: Some(program),
                ..nucleotides(&place)
            },
        };
        for (number, format) in formats.into_iter().enumerate() {
            let expected = report(&whole, format).unwrap();
            assert!(expected.len() > 1_500, "{}", expected.len());
            for parts in [2, 20] {
                let mut own = whole.clone();
                own.threads = 1 + number % 2;
                own.memory = memory(&own, parts);
                let progress = Progress::default();
                let found = report_with(&own, format, &progress).unwrap();
                let stages = progress.stages();
                assert!(stages.iter().any(|stage| stage.name == "merge"), "{parts}");
                assert!(found == expected, "{format} in {parts} parts");
            }
        }
        assert!(!place.0.path().join("waiting").exists());
    }
}

#[test]
fn processes_that_have_parts_write_what_one_does() {
    for (nucleotide, resume, format) in [(false, false, "5"), (true, true, "7")] {
        let place = Place::new();
        let mut whole = match nucleotide {
            true => nucleotides(&place),
            false => proteins(&place),
        };
        let text = std::fs::read_to_string(&whole.queries[0]).unwrap();
        let again = |number: usize| text.replace(">q", &format!(">again{number}-"));
        place.write("q.faa", &(0..5).map(again).collect::<String>());
        let expected = report(&whole, format).unwrap();
        let about = About {
            program: "2.12.0+".into(),
            database: "proteins.faa".into(),
            evalue: whole.limits.evalue,
        };
        let report = Report::new(format.parse().unwrap(), about);
        whole.waiting = WaitingText {
            resume,
            ..WaitingText::new(place.0.path().join("waiting"))
        };
        let path = place.0.path().join("o.txt");
        for (ranks, parts) in [(1, 2), (3, 2), (4, 5)] {
            let search = |world: &testing::Process, target: ReportTarget| {
                let mut own = whole.clone();
                // Who has more memory has the same parts as the others.
                // A sixteenth is for text that waits.
                own.memory = (memory(&own, parts) / 15 * 16) << (world.rank() % 2);
                run_in(&own, &report, world, target, &Progress::default())
            };
            let done = testing::run(ranks, Steal::Off, |world| {
                search(world, ReportTarget::File(&path))
            });
            let done: Vec<_> = done.into_iter().map(Result::unwrap).collect();
            let summary = done[0].as_ref().unwrap();
            assert_eq!(summary.queries, 60);
            assert!(summary.with_hits >= 55 && summary.hits > 250, "{summary:?}");
            let found = std::fs::read_to_string(&path).unwrap();
            assert!(found == expected, "{format}, {ranks} ranks, {parts} parts");
            let streamed = testing::run(ranks, Steal::Off, |world| {
                let mut text = Vec::new();
                let mut take = |part: &[u8]| {
                    text.extend_from_slice(part);
                    Ok(())
                };
                search(world, ReportTarget::Stream(&mut take))?;
                Ok::<_, SearchError>(text)
            });
            let streamed: Vec<_> = streamed.into_iter().map(Result::unwrap).collect();
            assert!(streamed[0] == expected.as_bytes(), "{ranks} ranks");
            assert!(!whole.waiting.folder.exists());
        }
    }
}

#[test]
fn a_query_with_too_many_matches_divides_the_subjects() {
    let place = Place::new();
    // Repeats of one unit match on many diagonals.
    let unit = "MKVLAWYGDERTIPLMNVCQ";
    let subject = |number: usize| {
        let tail = &"HSAAKLEDGIVWTRELNNPF"[..number % 20];
        format!(">s{number}\n{}{tail}\n", unit.repeat(3))
    };
    let subjects: Vec<String> = (0..800).map(subject).collect();
    let mut whole = place.config(&format!(">q\n{}\n", unit.repeat(10)), &subjects);
    whole.limits.top = 30;
    whole.threads = 1;
    let searched = |config: &Config| {
        let progress = Progress::default();
        let table = report_with(config, "6", &progress).unwrap();
        let stages = progress.stages();
        let matched = stages.iter().filter(|stage| stage.name == "match");
        (table, matched.count())
    };
    let (expected, once) = searched(&whole);
    assert_eq!(once, 1);
    let query = 6 * 200 + 320 * 200 + (128 << 10);
    let all = 7 * letters(&whole.subjects[0]) + 30 * 800;
    whole.memory = BESIDE + query + 2 * all;
    let (found, times) = searched(&whole);
    assert!(times > 2, "{times}");
    assert!(found == expected);
}
