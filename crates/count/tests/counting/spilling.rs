//! Out of core: the same bytes, the disk accounted for, its limit kept.

use std::path::PathBuf;
use std::sync::Mutex;

use gyrase_count::{Config, Error, plan};
use gyrase_fabric::FabricError;
use gyrase_table::gyk::Database;
use gyrase_tabulate::TabulateError;

use crate::naive::{self, Random};
use crate::runs::{Place, content_where, done, least, run_until};

/// One long sequence after the other, without repeats.
pub fn genome(place: &Place, megabases: usize, seed: u64) -> PathBuf {
    let mut random = Random(seed);
    let mut text = Vec::new();
    for _ in 0..megabases * 10 {
        text.extend_from_slice(b">s\n");
        text.extend(random.bases(100_000));
        text.push(b'\n');
    }
    place.input("genome.fa", &text)
}

/// Reads of 150 bases of both strands of a genome; one in four has an error.
fn deep(place: &Place, genome: usize, reads: usize, seed: u64) -> PathBuf {
    let mut random = Random(seed);
    let genome = random.bases(genome);
    let mut text = Vec::with_capacity(reads * 154);
    for _ in 0..reads {
        let start = random.below(genome.len() - 150);
        let read = &genome[start..start + 150];
        text.extend_from_slice(b">r\n");
        match random.below(2) {
            0 => text.extend_from_slice(read),
            _ => text.extend(naive::reverse_complement(read)),
        }
        if random.below(4) == 0 {
            let at = text.len() - 1 - random.below(150);
            text[at] = b"ACGT"[random.below(4)];
        }
        text.push(b'\n');
    }
    place.input("deep.fa", &text)
}

/// Counts the k-mers with a given start only, so that much data can be counted naively.
fn some(config: &Config, start: &[u8]) -> naive::Counts {
    let text = std::fs::read(&config.inputs[0]).unwrap();
    let mut counts = naive::Counts::new();
    let complement = naive::reverse_complement(start);
    for line in text
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.starts_with(b">"))
    {
        for kmer in line.windows(config.shape.k()) {
            if kmer.starts_with(start) || kmer.ends_with(&complement) {
                let form = naive::form(kmer.to_vec(), false);
                if form.starts_with(start) {
                    *counts.entry(form).or_insert(0) += 1;
                }
            }
        }
    }
    counts
}

/// Compares the k-mers with a given start, and the total of all.
fn check_some(config: &Config, kmers: u64) {
    let start = b"ACGTC";
    let found = content_where(&config.output, |kmer| kmer.starts_with(start));
    assert_eq!(
        Database::open(&config.output).unwrap().header().total,
        kmers
    );
    assert!(found.len() > 1000 && found == some(config, start));
}

#[test]
fn repeats_are_combined_and_spilled_without_a_trace() {
    let place = Place::new();
    let input = deep(&place, 2_000_000, 330_000, 21);
    let plenty = place.config(std::slice::from_ref(&input), 31, false);
    let summary = done(&plenty);
    assert_eq!(summary.spilled_bytes, 0);
    assert_eq!(
        (summary.read.reads, summary.read.kmers),
        (330_000, 330_000 * 120)
    );
    check_some(&plenty, 330_000 * 120);
    let expected = place.take();
    for threads in [1, 2] {
        let scarce = least(Config {
            threads,
            ..plenty.clone()
        });
        let summary = done(&scarce);
        assert!(
            summary.spilled_bytes > 0,
            "{threads} threads: all fitted in memory"
        );
        let tmp = plan(&scarce).unwrap().tmp;
        assert!(
            (tmp.least..=tmp.most.unwrap()).contains(&summary.spilled_bytes),
            "{tmp:?} {summary:?}"
        );
        assert!(expected == place.take(), "{threads} threads: other bytes");
    }
}

#[test]
fn the_bytes_on_disk_are_those_of_the_summary_and_no_more_than_planned() {
    let place = Place::new();
    let input = genome(&place, 20, 22);
    let scarce = least(place.config(std::slice::from_ref(&input), 31, false));
    let planned = plan(&scarce).unwrap().tmp;
    let seen = Mutex::new(0);
    let summary = run_until(&scarce, "count", 0, |_| {
        let folder = std::fs::read_dir(place.tmp())
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        let files = std::fs::read_dir(folder).unwrap();
        *seen.lock().unwrap() = files
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum::<u64>();
    });
    let (summary, seen) = (summary.unwrap(), seen.into_inner().unwrap());
    assert_eq!(summary.spilled_bytes, seen);
    assert!(
        seen > 0 && (planned.least..=planned.most.unwrap()).contains(&seen),
        "{seen} bytes, {planned:?}"
    );
    let expected = place.take();
    // Just enough is enough.
    let summary = done(&Config {
        max_tmp: Some(seen),
        ..scarce.clone()
    });
    assert_eq!(summary.spilled_bytes, seen);
    assert!(expected == place.take());
    for (resume, limit) in [(false, seen / 2), (false, seen - 1), (true, seen - 1)] {
        let error = gyrase_count::run(
            &Config {
                max_tmp: Some(limit),
                resume,
                ..scarce.clone()
            },
            &gyrase_work::Progress::default(),
        );
        let Err(Error::Tabulate(TabulateError::Fabric(FabricError::TooMuchSpill { limit: told }))) =
            error
        else {
            panic!("limit {limit}: {error:?}");
        };
        assert_eq!(told, limit);
        assert_eq!(place.left(), [""; 0], "limit {limit}, resume {resume}");
    }
    done(&Config {
        memory: crate::runs::PLENTY,
        ..scarce
    });
    assert!(expected == place.take(), "in memory: other bytes");
}

#[test]
fn a_limit_below_what_is_surely_needed_is_refused_before_the_first_byte() {
    let place = Place::new();
    let input = genome(&place, 20, 23);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, &std::fs::read(&input).unwrap()).unwrap();
    let packed = place.input("genome.fa.gz", &packed.finish().unwrap());
    for input in [input, packed] {
        let scarce = least(place.config(&[input], 31, false));
        let tmp = plan(&scarce).unwrap().tmp;
        assert!(tmp.least > 0, "{tmp:?}");
        let progress = gyrase_work::Progress::default();
        let short = Config {
            max_tmp: Some(tmp.least - 1),
            ..scarce.clone()
        };
        let error = gyrase_count::run(&short, &progress).unwrap_err();
        assert!(
            matches!(error, Error::MaxTmp { .. }) && error.to_string().contains("may take"),
            "{error}"
        );
        assert!(progress.stages().is_empty(), "something was read");
        assert!(matches!(
            plan(&short).unwrap().admit(&short),
            Err(Error::MaxTmp { .. })
        ));
        assert_eq!(place.left(), [""; 0]);
        plan(&scarce)
            .unwrap()
            .admit(&Config {
                max_tmp: Some(tmp.least),
                ..scarce
            })
            .unwrap();
    }
}

#[test]
fn a_run_without_enough_memory_is_refused_before_it_begins() {
    let place = Place::new();
    let input = place.input("x.fa", b">r\nACGTACGT\n");
    for threads in [1, 2, 3, 16] {
        let config = least(Config {
            threads,
            ..place.config(std::slice::from_ref(&input), 5, false)
        });
        done(&config);
        place.take();
        let short = Config {
            memory: config.memory - 1,
            ..config
        };
        let error = gyrase_count::run(&short, &gyrase_work::Progress::default()).unwrap_err();
        assert!(matches!(error, Error::Memory { .. }), "{error}");
        assert_eq!(place.left(), [""; 0]);
    }
}
