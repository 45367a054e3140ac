//! Several processes, here threads, count into one database: the bytes of one process, from any
//! number of them.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use gyrase_count::{Config, Error, Scattered, Summary, run_in};
use gyrase_fabric::testing::{Process, run, run_watched};
use gyrase_fabric::{FabricError, Steal, World};
use gyrase_files::OutputFile;
use gyrase_tabulate::{TabulateError, spill_path};
use gyrase_work::Progress;

use crate::naive::Random;
use crate::runs::{Place, done, fasta, letters};
use crate::spilling::genome;

/// Counts in `ranks` processes; what each says.
fn count(ranks: usize, steal: Steal, config: &Config) -> Vec<Result<Summary, Error>> {
    count_as(ranks, steal, |process| {
        run_in(config, process, &Progress::default())
    })
}

fn count_as(
    ranks: usize,
    steal: Steal,
    count: impl Fn(&Process) -> Result<Summary, Error> + Sync,
) -> Vec<Result<Summary, Error>> {
    run(ranks, steal, count)
}

/// The summary of rank 0, which is that of all.
fn all_done(ranks: usize, steal: Steal, config: &Config) -> Summary {
    let outcome = count(ranks, steal, config);
    assert!(outcome.iter().all(Result::is_ok), "{outcome:?}");
    let summaries: Vec<Summary> = outcome.into_iter().map(Result::unwrap).collect();
    let first = summaries[0];
    for summary in &summaries {
        assert_eq!(
            (summary.read, summary.database),
            (first.read, first.database)
        );
        assert_eq!(
            (summary.spilled_bytes, summary.resumed_bins),
            (first.spilled_bytes, first.resumed_bins)
        );
    }
    let sum = |of: fn(&Summary) -> u64| summaries.iter().map(of).sum::<u64>();
    assert_eq!(sum(|summary| summary.share.read.reads), first.read.reads);
    assert_eq!(
        sum(|summary| summary.share.traffic.sent),
        sum(|summary| summary.share.traffic.received)
    );
    assert_eq!(sum(|summary| summary.share.bins as u64), 4096);
    first
}

/// Reads of a small genome, some of them repeated.
fn reads(random: &mut Random, number: usize) -> Vec<Vec<u8>> {
    let genome = random.bases(30_000);
    let read = |random: &mut Random| {
        let start = random.below(genome.len() - 150);
        genome[start..start + 150].to_vec()
    };
    (0..number).map(|_| read(random)).collect()
}

fn fastq(reads: &[Vec<u8>]) -> Vec<u8> {
    let record =
        |read: &Vec<u8>| [b"@r\n", &read[..], b"\n+\n", &vec![b'@'; read.len()], b"\n"].concat();
    reads.iter().flat_map(record).collect()
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_processes() {
    let (place, mut random) = (Place::new(), Random(71));
    let (first, second) = (reads(&mut random, 9000), reads(&mut random, 700));
    let inputs = [
        place.input("a.fq", &fastq(&first)),
        place.input("b.fa", &fasta(&second)),
        place.input("c.fa", b""),
    ];
    for (k, stranded, min_count) in [(31, false, 2), (65, true, 1)] {
        let config = Config {
            min_count,
            ..place.config(&inputs, k, stranded)
        };
        let alone = done(&config);
        assert_eq!(
            (alone.read.reads, alone.read.bases),
            (9700, letters(&first) + letters(&second))
        );
        let expected = place.take();
        for ranks in 1..=7 {
            let threads = 1 + ranks % 2;
            let steal = [Steal::On, Steal::Off, Steal::Forced][ranks % 3];
            let summary = all_done(
                ranks,
                steal,
                &Config {
                    threads,
                    chunk: Some(100_000),
                    ..config.clone()
                },
            );
            assert_eq!(
                (summary.database, summary.read.kmers),
                (alone.database, alone.read.kmers)
            );
            assert!(
                place.take() == expected,
                "k={k}, {ranks} ranks of {threads} threads"
            );
        }
    }
}

/// Reads with errors of a genome that is so small that it has few minimizers, and heavy bins.
fn heavy(random: &mut Random, number: usize) -> Vec<Vec<u8>> {
    let genome = random.bases(400);
    let read = |random: &mut Random| {
        let start = random.below(genome.len() - 150);
        let mut read = genome[start..start + 150].to_vec();
        for _ in 0..2 {
            read[random.below(150)] = b"ACGT"[random.below(4)];
        }
        read
    };
    (0..number).map(|_| read(random)).collect()
}

#[test]
fn heavy_bins_are_cut_for_many_processes_and_threads() {
    let (place, mut random) = (Place::new(), Random(73));
    let reads = heavy(&mut random, 6000);
    let inputs = [
        place.input("a.fq", &fastq(&reads[..5000])),
        place.input("b.fa", &fasta(&reads[5000..])),
    ];
    for (k, min_count) in [(31, 1), (65, 2)] {
        let config = Config {
            min_count,
            ..place.config(&inputs, k, false)
        };
        let alone = done(&config);
        let expected = place.take();
        done(&Config {
            threads: 24,
            ..config.clone()
        });
        assert!(place.take() == expected, "24 threads");
        for (ranks, threads) in [(8, 2), (13, 1), (40, 1)] {
            let config = Config {
                threads,
                chunk: Some(40_000),
                ..config.clone()
            };
            let outcome = count(ranks, Steal::On, &config);
            let shares = outcome.iter().map(|one| one.as_ref().unwrap().share);
            let partitions: usize = shares.map(|share| share.partitions).sum();
            assert!((4097..4096 + ranks).contains(&partitions), "{partitions}");
            assert_eq!(outcome[0].as_ref().unwrap().database, alone.database);
            assert!(
                place.take() == expected,
                "{ranks} ranks of {threads} threads"
            );
        }
    }
}

#[test]
fn cut_bins_are_resumed_by_any_number() {
    let (place, mut random) = (Place::new(), Random(74));
    let reads = heavy(&mut random, 200_000);
    let config = Config {
        resume: true,
        ..place.config(&[place.input("a.fa", &fasta(&reads))], 31, false)
    };
    done(&config);
    let expected = place.take();
    let least = least_of(8, &config);
    for by in [8, 1] {
        count_some(8, 200, |_| least.clone());
        let summary = all_done(by, Steal::On, &least_of(by, &config));
        assert!(summary.spilled_bytes > 0, "nothing was read again");
        assert!(place.take() == expected, "8 processes, then {by}");
    }
}

#[test]
fn nothing_to_count_is_a_database_too() {
    let place = Place::new();
    let config = place.config(&[place.input("a.fa", b"")], 31, false);
    done(&config);
    let expected = place.take();
    assert_eq!(all_done(3, Steal::On, &config).database.distinct, 0);
    assert!(place.take() == expected);
}

/// The same with the least memory that so many processes take.
fn least_of(ranks: usize, config: &Config) -> Config {
    let outcome = count(
        ranks,
        Steal::On,
        &Config {
            memory: 1 << 20,
            ..config.clone()
        },
    );
    let needed = outcome.iter().find_map(|outcome| match outcome {
        Err(Error::Memory { needed, .. }) => Some(*needed),
        _ => None,
    });
    // One process among one has an exchange here, which a process alone has not.
    let exchange = if ranks == 1 { 8 } else { 0 };
    Config {
        memory: (needed.unwrap() + exchange) << 20,
        ..config.clone()
    }
}

/// Counts until `enough` bins are counted in every process, and is stopped then; `config` is told
/// which process.
fn count_some(ranks: usize, enough: u64, config: impl Fn(usize) -> Config + Sync) {
    let (progress, ended) = (
        Vec::from_iter((0..ranks).map(|_| Progress::default())),
        AtomicBool::new(false),
    );
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let counted = |progress: &Progress| match progress.now() {
                ("count", bins, _) => bins >= enough,
                (stage, ..) => stage == "write",
            };
            while !ended.load(Relaxed) {
                if progress.iter().all(counted) {
                    return progress.iter().for_each(Progress::cancel);
                }
                std::thread::yield_now();
            }
        });
        let outcome = count_as(ranks, Steal::On, |process| {
            let rank = process.rank();
            run_in(&config(rank), process, &progress[rank])
        });
        ended.store(true, Relaxed);
        let stopped =
            |outcome: &_| matches!(outcome, Err(Error::Tabulate(TabulateError::Cancelled)));
        assert!(
            outcome.iter().any(stopped),
            "{ranks} processes: {outcome:?}"
        );
    });
}

#[test]
fn processes_spill_apart_and_are_resumed_by_any_number() {
    let place = Place::new();
    let config = place.config(&[genome(&place, 24, 5)], 15, false);
    let alone = done(&config);
    let expected = place.take();
    let same = |summary: Summary| {
        // Where a long sequence is cut into batches depends on who reads it, and so does how many
        // super-k-mers it makes.
        let read = Scattered {
            super_kmers: alone.read.super_kmers,
            ..summary.read
        };
        assert_eq!((read, summary.database), (alone.read, alone.database));
        assert!(place.take() == expected);
        summary
    };
    let summary = same(all_done(2, Steal::On, &least_of(2, &config)));
    assert!(summary.spilled_bytes > 0 && summary.share.spilled_bytes < summary.spilled_bytes);
    let config = Config {
        resume: true,
        ..config
    };
    for (killed, by) in [(2, 3), (2, 1), (1, 2)] {
        let least = least_of(killed, &config);
        count_some(killed, 900 / killed as u64, |_| least.clone());
        // A process alone goes on in its file, others from what was spilled.
        assert_eq!(
            place.left().contains(&"x.gyk.partial".to_string()),
            killed == 1
        );
        let summary = same(all_done(by, Steal::On, &config));
        assert_eq!(summary.resumed_bins, 0, "{killed} processes, then {by}");
        assert!(summary.spilled_bytes > 0, "nothing was read again");
    }
}

#[test]
fn spill_files_of_two_runs_are_not_joined() {
    let place = Place::new();
    let config = place.config(&[genome(&place, 24, 6)], 15, false);
    let alone = done(&config);
    let expected = place.take();
    let least = Config {
        resume: true,
        ..least_of(2, &config)
    };
    // Process 1 runs on another machine, with a disk of its own for spill files.
    let disks = [place.tmp(), place.folder.path().join("tmp-1")];
    let on_disks = |rank: usize, chunk: u64| Config {
        tmp: disks[rank].clone(),
        chunk: Some(chunk),
        ..least.clone()
    };
    // One process reads all, and then both read: what they read does not add up.
    count_some(2, 400, |rank| on_disks(rank, 1 << 30));
    let (kept, aside) = (
        spills(&disks[1], &config),
        place.folder.path().join("aside"),
    );
    std::fs::rename(&kept, &aside).unwrap();
    count_some(2, 400, |rank| on_disks(rank, 1 << 20));
    assert!(kept.join("rank-1/manifest").exists());
    std::fs::remove_dir_all(&kept).unwrap();
    std::fs::rename(&aside, &kept).unwrap();
    let outcome = count_as(2, Steal::On, |process| {
        run_in(
            &on_disks(process.rank(), 1 << 20),
            process,
            &Progress::default(),
        )
    });
    for summary in outcome {
        let summary = summary.unwrap();
        assert_eq!(summary.read.bases, alone.read.bases);
        assert_eq!(summary.database, alone.database);
    }
    assert!(place.take() == expected);
}

/// What failed in `rank`; all others hear that it was elsewhere.
fn failure(outcome: Vec<Result<Summary, Error>>, rank: usize) -> Error {
    let mut failure = None;
    for (other, outcome) in outcome.into_iter().enumerate() {
        let error = outcome.unwrap_err();
        let elsewhere = matches!(
            &error,
            Error::Tabulate(TabulateError::Fabric(FabricError::Elsewhere))
        );
        assert_eq!(elsewhere, other != rank, "rank {other}: {error}");
        failure = if other == rank { Some(error) } else { failure };
    }
    failure.unwrap()
}

#[test]
fn a_process_that_fails_ends_the_job_and_leaves_nothing() {
    let (place, mut random) = (Place::new(), Random(72));
    let input = place.input("a.fa", &fasta(&reads(&mut random, 1000)));
    let good = place.config(&[input], 31, false);
    let with = |rank: usize, other: Config| {
        let outcome = count_as(3, Steal::On, |process| {
            let config = if process.rank() == rank {
                &other
            } else {
                &good
            };
            run_in(config, process, &Progress::default())
        });
        assert!(place.left().is_empty(), "{:?}", place.left());
        failure(outcome, rank)
    };
    for rank in 0..3 {
        let error = with(
            rank,
            Config {
                memory: 1 << 20,
                ..good.clone()
            },
        );
        assert!(matches!(error, Error::Memory { ranks: 3, .. }), "{error}");
        assert!(
            error.to_string().contains("in each of 3 processes"),
            "{error}"
        );
        with(
            rank,
            Config {
                inputs: vec!["/no/such.fa".into()],
                ..good.clone()
            },
        );
    }
    let error = with(
        1,
        Config {
            output: place.folder.path().join("tmp/other.gyk"),
            ..good.clone()
        },
    )
    .to_string();
    assert!(error.contains("all machines of the job share"), "{error}");
    let error = with(
        0,
        Config {
            output: place.folder.path().join("no/x.gyk"),
            ..good.clone()
        },
    )
    .to_string();
    assert!(error.contains("there is no folder"), "{error}");
}

/// Waits for another process; false where that takes a minute.
fn in_time(done: impl Fn() -> bool) -> bool {
    (0..6000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        done()
    })
}

/// The folder for spill files of a job.
fn spills(tmp: &Path, config: &Config) -> PathBuf {
    spill_path(tmp, "gyrase", &config.output)
}

/// Cuts off the end of what was spilled to a folder, where that is there: bins lie in order.
fn damage(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(entry.unwrap().path())
            .unwrap();
        file.set_len(file.metadata().unwrap().len().saturating_sub(1))
            .unwrap();
    }
}

#[test]
fn a_process_that_fails_does_not_wait_for_one_that_is_behind() {
    let place = Place::new();
    let config = least_of(2, &place.config(&[genome(&place, 24, 6)], 15, false));
    let ended = AtomicBool::new(false);
    // Process 1 finds its last bins damaged, while process 0 is far behind: it sums lengths of bins
    // only once process 1 has ended.
    let watch = |rank: usize, call: &str, numbers: &[u64]| match (rank, call, numbers.len()) {
        (0, "sum", 3..) => assert!(
            in_time(|| ended.load(Relaxed)),
            "process 1 failed, and waits for process 0"
        ),
        // What is asked once the records were exchanged: whether an input is to be read again.
        (1, "max", 1) => damage(&spills(&place.tmp(), &config).join("rank-1")),
        _ => {}
    };
    let outcome = run_watched(2, Steal::On, &watch, |process| {
        let outcome = run_in(&config, process, &Progress::default());
        ended.fetch_or(process.rank() == 1, Relaxed);
        outcome
    });
    let error = failure(outcome, 1).to_string();
    assert!(error.contains("was damaged"), "{error}");
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn from_the_begun_output_to_the_reading_processes_meet_for_that_alone() {
    let place = Place::new();
    let config = place.config(&[place.input("a.fa", b">a\nACGT\n")], 3, false);
    let (begun, calls) = (
        OutputFile::partial(&config.output).unwrap(),
        Mutex::new(Vec::new()),
    );
    let watch = |rank: usize, call: &str, _: &[u64]| {
        if rank == 0 && begun.exists() && call != "fabric" {
            calls.lock().unwrap().push(call.to_owned());
        }
    };
    let outcome = run_watched(3, Steal::On, &watch, |process| {
        run_in(&config, process, &Progress::default())
    });
    assert!(outcome.iter().all(Result::is_ok), "{outcome:?}");
    let calls = calls.into_inner().unwrap();
    // The chunks are agreed on, and with the first of it all learn what the output is known by.
    assert_eq!(calls[..3], ["sum", "max", "schedule"], "{calls:?}");
}

#[test]
fn an_output_that_is_gone_with_a_process_that_failed_is_not_missed() {
    let place = Place::new();
    let config = place.config(&[place.input("bad.fq", b"@r\nACGT\n+\nIII\n")], 3, false);
    let begun = OutputFile::partial(&config.output).unwrap();
    let watch = |rank: usize, call: &str, _: &[u64]| {
        if (rank, call) == (1, "schedule") {
            assert!(in_time(|| !begun.exists()), "process 0 waits for process 1");
        }
    };
    let outcome = run_watched(2, Steal::On, &watch, |process| {
        run_in(&config, process, &Progress::default())
    });
    let error = failure(outcome, 0).to_string();
    assert!(error.contains("bad.fq"), "{error}");
}

#[test]
fn a_job_leaves_alone_what_another_builds() {
    let (place, mut random) = (Place::new(), Random(73));
    let config = place.config(
        &[place.input("a.fa", &fasta(&reads(&mut random, 1000)))],
        31,
        false,
    );
    let first = OutputFile::create(&config.output).unwrap();
    let spilled = spills(&place.tmp(), &config).join("rank-1/spill-0");
    std::fs::create_dir_all(spilled.parent().unwrap()).unwrap();
    std::fs::write(&spilled, "of the first").unwrap();
    for resume in [false, true] {
        let error = failure(
            count(
                3,
                Steal::On,
                &Config {
                    resume,
                    ..config.clone()
                },
            ),
            0,
        )
        .to_string();
        assert!(error.contains("another process is writing it"), "{error}");
        assert_eq!(std::fs::read_to_string(&spilled).unwrap(), "of the first");
        assert!(OutputFile::partial(&config.output).unwrap().exists());
    }
    drop(first);
    all_done(3, Steal::On, &config);
    place.take();
}

#[test]
fn what_earlier_jobs_left_goes_on_every_machine() {
    let place = Place::new();
    let config = least_of(2, &place.config(&[genome(&place, 24, 7)], 15, false));
    // Process 1 runs on another machine, with a disk of its own for spill files.
    let disks = [place.tmp(), place.folder.path().join("tmp-1")];
    for resume in [false, true] {
        for tmp in &disks {
            // Of jobs of another number of processes, which ran elsewhere, and of a process alone.
            for left in [
                "rank-0/spill-0",
                "rank-1/manifest",
                "rank-5/spill-0",
                "bins",
                "spill-0",
            ] {
                let path = spills(tmp, &config).join(left);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "stale").unwrap();
            }
        }
        let outcome = count_as(2, Steal::On, |process| {
            let config = Config {
                tmp: disks[process.rank()].clone(),
                resume,
                ..config.clone()
            };
            run_in(&config, process, &Progress::default())
        });
        assert!(outcome.iter().all(|summary| {
            summary
                .as_ref()
                .is_ok_and(|summary| summary.share.spilled_bytes > 0)
        }));
        assert_eq!(std::fs::read_dir(&disks[1]).unwrap().count(), 0);
        place.take();
    }
}

#[test]
fn processes_that_see_different_files_say_so() {
    let place = Place::new();
    let (short, long) = (
        place.input("a.fa", b">a\nACGT\n"),
        place.input("b.fa", b">a\nACGTACGT\n"),
    );
    let see = |inputs: &(dyn Fn(usize) -> Vec<PathBuf> + Sync)| {
        let outcome = count_as(2, Steal::On, |process| {
            run_in(
                &place.config(&inputs(process.rank()), 3, false),
                process,
                &Progress::default(),
            )
        });
        assert!(place.left().is_empty());
        outcome.into_iter().next().unwrap().unwrap_err().to_string()
    };
    let error = see(&|rank| vec![[&short, &long][rank].clone()]);
    assert!(
        error.contains("a.fa has 8 bytes for one process of the job and 12 for another"),
        "{error}"
    );
    let error = see(&|rank| vec![short.clone(); 1 + rank]);
    assert!(
        error.contains("one process of the job has 1 inputs and another 2"),
        "{error}"
    );
}
