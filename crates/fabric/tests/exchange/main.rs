//! The fabric of many processes keeps the contract, whoever sends what to whom, and ends everywhere
//! when one fails.

mod mail;

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;
use std::{process, thread};

use gyrase_fabric::conformance::{ALL, LONG, SHORT};
use gyrase_fabric::{
    Drain, ExchangeFabric, Fabric, FabricError, FabricOptions, LocalPartitions, Peer, Place,
    Sender, SpillFolder, Traffic, conformance, exchange,
};
use mail::{Job, run};

/// Ends the whole test binary when `work` takes longer than anything here may: a job that hangs.
fn watched<T>(work: impl FnOnce() -> T) -> T {
    let (done, waiting) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if waiting.recv_timeout(Duration::from_secs(300))
                == Err(mpsc::RecvTimeoutError::Timeout)
            {
                // A panic would wait for the threads that hang.
                process::abort();
            }
        });
        let out = work();
        drop(done);
        out
    })
}

struct Case {
    ranks: usize,
    partitions: usize,
    memory: u64,
    records: u64,
}

impl Case {
    /// The same with records of other lengths than short ones.
    fn check_lengths(&self, lengths: &[usize], workers: usize) -> Vec<Traffic> {
        self.check_all(|_| workers, |_| (), lengths)
    }

    /// Runs the conformance check on every rank; `workers` says how many each has.
    fn check(
        &self,
        workers: impl Fn(usize) -> usize + Sync,
        before: impl Fn(usize) + Sync,
    ) -> Vec<Traffic> {
        self.check_all(workers, before, SHORT)
    }

    fn check_all(
        &self,
        workers: impl Fn(usize) -> usize + Sync,
        before: impl Fn(usize) + Sync,
        lengths: &[usize],
    ) -> Vec<Traffic> {
        let tmp = tempfile::tempdir().expect("a folder");
        let combines = self.memory < 256 << 20 && lengths == ALL;
        let job = Job::combining(self.ranks, combines);
        let all = (0..self.ranks).map(&workers).sum();
        let work = |rank: usize, fabric| {
            before(rank);
            let first = (0..rank).map(&workers).sum::<usize>();
            let case = conformance::Case {
                partitions: self.partitions,
                workers: first..first + workers(rank),
                all_workers: all,
                records: self.records,
                lengths,
                ordered: !combines,
            };
            conformance::check(fabric, &case)
        };
        let done = watched(|| {
            run(
                &job,
                self.partitions,
                self.memory,
                |rank| folder(&tmp, rank),
                work,
            )
        });
        let ok = |(checked, traffic): (Result<(), FabricError>, Traffic)| checked.map(|()| traffic);
        let traffic: Vec<Traffic> = done
            .into_iter()
            .map(ok)
            .collect::<Result<_, _>>()
            .expect("the contract");
        self.check_traffic(&traffic);
        assert_eq!(
            std::fs::read_dir(tmp.path()).expect("the folder").count(),
            0,
            "the spill files are gone"
        );
        traffic
    }

    fn check_traffic(&self, traffic: &[Traffic]) {
        let sum = |of: fn(&Traffic) -> u64| traffic.iter().map(of).sum::<u64>();
        assert_eq!(sum(|traffic| traffic.sent), sum(|traffic| traffic.received));
        let most = ExchangeFabric::most_received(self.memory, self.ranks);
        for of in traffic {
            assert_eq!(of.rounds, traffic[0].rounds, "rounds");
            assert!(
                of.most_received <= most && of.buffers <= 5,
                "{of:?}, {most}"
            );
        }
    }
}

fn folder(tmp: &tempfile::TempDir, rank: usize) -> Arc<SpillFolder> {
    Arc::new(SpillFolder::new(
        tmp.path().join(rank.to_string()),
        None,
        false,
    ))
}

#[test]
fn keeps_the_contract_in_memory() {
    for ranks in [1, 2, 3, 4, 7, 16] {
        for (workers, partitions, records) in [
            (1, 1, 9_000),
            (2, 5, 7_000),
            (1, 16, 8_000),
            (2, 100, 4_000),
            (1, 3, 0),
        ] {
            Case {
                ranks,
                partitions,
                memory: 256 << 20,
                records,
            }
            .check(|_| workers, |_| ());
        }
    }
    for (ranks, workers, partitions, records) in [
        (2, 2, 4096, 40_000),
        (3, 1, 4096, 30_000),
        (4, 2, 513, 20_000),
    ] {
        Case {
            ranks,
            partitions,
            memory: 256 << 20,
            records,
        }
        .check(|_| workers, |_| ());
    }
}

#[test]
fn keeps_the_contract_with_little_memory() {
    for (ranks, workers, partitions, records) in [
        (1, 1, 3, 300_000),
        (2, 1, 3, 400_000),
        (2, 2, 600, 300_000),
        (3, 2, 64, 200_000),
        (4, 1, 4, 200_000),
        (7, 1, 16, 100_000),
        (16, 1, 40, 60_000),
    ] {
        let memory = ExchangeFabric::least_memory(partitions, ranks, workers);
        Case {
            ranks,
            partitions,
            memory,
            records,
        }
        .check(|_| workers, |_| ());
    }
}

#[test]
fn keeps_the_contract_with_records_of_all_lengths() {
    for (ranks, workers, partitions, records) in [
        (1, 2, 5, 2_000),
        (2, 1, 1, 2_000),
        (2, 2, 5, 2_000),
        (3, 2, 300, 1_500),
        (4, 1, 40, 1_500),
        (5, 2, 7, 1_000),
    ] {
        for memory in [
            256 << 20,
            ExchangeFabric::least_memory(partitions, ranks, workers),
        ] {
            let case = Case {
                ranks,
                partitions,
                memory,
                records,
            };
            case.check_lengths(ALL, workers);
        }
    }
    // A buffer has room for a block for some of the others, or records of several buffers.
    for (ranks, partitions, memory, records, lengths) in [
        (20, 20, NARROW, 300, ALL),
        (40, 100, NARROW, 150, ALL),
        (3, 3, 64 << 20, 20, LONG),
        (2, 3, 40 << 20, 20, LONG),
    ] {
        let case = Case {
            ranks,
            partitions,
            memory,
            records,
        };
        case.check_lengths(lengths, 1);
    }
}

#[test]
fn keeps_the_contract_when_one_has_all_or_nothing_or_comes_late() {
    let case = Case {
        ranks: 4,
        partitions: 40,
        memory: 16 << 20,
        records: 100_000,
    };
    case.check(|rank| if rank == 2 { 3 } else { 0 }, |_| ());
    case.check(|rank| if rank == 1 { 0 } else { 1 }, |_| ());
    case.check(
        |_| 1,
        |rank| thread::sleep(Duration::from_millis(if rank == 3 { 500 } else { 0 })),
    );
    let empty = Case {
        ranks: 5,
        partitions: 3,
        memory: 16 << 20,
        records: 50_000,
    };
    empty.check(|_| 1, |_| ());
}

/// Memory for a sender, and for send buffers of 17 blocks.
const NARROW: u64 = 9 << 18;

#[test]
fn keeps_the_contract_where_a_buffer_has_no_room_for_all() {
    let case = |ranks, partitions, records| Case {
        ranks,
        partitions,
        memory: NARROW,
        records,
    };
    for (ranks, partitions, records) in [
        (19, 19, 20_000),
        (20, 100, 20_000),
        (40, 40, 8_000),
        (64, 100, 4_000),
    ] {
        case(ranks, partitions, records).check(|_| 1, |_| ());
    }
    // Some own nothing.
    case(40, 7, 10_000).check(|_| 1, |_| ());
    case(40, 80, 0).check(|_| 1, |_| ());
    case(40, 80, 30_000).check(|rank| usize::from(rank == 3), |_| ());
    case(20, 40, 20_000).check(
        |rank| usize::from(rank != 3),
        |rank| {
            thread::sleep(Duration::from_millis(if rank == 7 { 300 } else { 0 }));
        },
    );
}

#[test]
fn keeps_the_contract_where_workers_fill_buffers_for_others_of_many() {
    for (ranks, partitions, memory, records) in [
        (40, 100, 19 << 18, 5_000),
        (80, 100, 19 << 18, 1_500),
        (130, 150, 16 << 20, 500),
    ] {
        Case {
            ranks,
            partitions,
            memory,
            records,
        }
        .check(|_| 2, |_| ());
    }
    let case = Case {
        ranks: 80,
        partitions: 100,
        memory: 28 << 18,
        records: 20_000,
    };
    case.check(|rank| if rank == 79 { 3 } else { 0 }, |_| ());
}

/// The bytes of each owned partition.
fn contents(partitions: &LocalPartitions) -> Vec<(usize, Vec<u8>)> {
    let content = |partition| {
        let mut all = Vec::new();
        let drained = partitions.drain::<FabricError>(partition, &mut |bytes, used| {
            all.extend_from_slice(&bytes[..used]);
            Ok(())
        });
        drained
            .map(|()| (partition, all))
            .expect("a spill that is whole")
    };
    partitions.owned().into_iter().map(content).collect()
}

/// Sends `records` numbers from one worker.
fn send(
    fabric: ExchangeFabric,
    partitions: usize,
    records: u64,
) -> Result<LocalPartitions, FabricError> {
    let mut sender = fabric.sender();
    for number in 0..records {
        sender.send(number as usize % partitions, &number.to_le_bytes(), 8)?;
    }
    fabric.close(vec![sender])
}

#[test]
fn an_owner_of_everything_is_not_flooded() {
    const OWNER: usize = 2;
    for (ranks, memory, records) in [
        (4, 8 << 20, 300_000),
        (20, NARROW, 50_000),
        (40, NARROW, 20_000),
    ] {
        let case = Case {
            ranks,
            partitions: 2 * ranks,
            memory,
            records,
        };
        let (tmp, job) = (tempfile::tempdir().unwrap(), Job::new(ranks));
        let work = |_, fabric: ExchangeFabric| {
            let mut sender = fabric.sender();
            (0..records)
                .try_for_each(|number| sender.send(ranks + OWNER, &number.to_le_bytes(), 8))?;
            let partitions = fabric.close(vec![sender])?;
            Ok(partitions
                .owned()
                .into_iter()
                .map(|partition| partitions.bytes(partition))
                .sum::<u64>())
        };
        let done = watched(|| {
            run(
                &job,
                case.partitions,
                memory,
                |rank| folder(&tmp, rank),
                work,
            )
        });
        let (bytes, traffic): (Vec<_>, Vec<_>) = done
            .into_iter()
            .map(|(bytes, traffic)| (bytes.unwrap(), traffic))
            .unzip();
        let expected = |rank| {
            if rank == OWNER {
                ranks as u64 * 8 * records
            } else {
                0
            }
        };
        assert!(bytes.into_iter().eq((0..ranks).map(expected)));
        case.check_traffic(&traffic);
        let least = (ranks as u64 - 1) * 8 * records / ExchangeFabric::most_received(memory, ranks);
        assert!(
            traffic[OWNER].rounds > least && traffic[OWNER].sent == 0,
            "{:?}",
            traffic[OWNER]
        );
    }
}

#[test]
fn when_one_fails_nobody_waits() {
    for (ranks, failing, rounds) in [(2, 0, 1), (3, 1, 4), (4, 3, 0), (7, 0, 3), (40, 5, 3)] {
        let (tmp, job) = (tempfile::tempdir().unwrap(), Job::new(ranks));
        let work = |rank: usize, fabric| {
            if rank == failing {
                while job.busiest() < rounds {
                    thread::sleep(Duration::from_millis(1));
                }
                return Err(FabricError::Memory);
            }
            send(fabric, 8, u64::MAX).map(drop)
        };
        let memory = if ranks < 40 { 16 << 20 } else { NARROW };
        let done = watched(|| run(&job, 8, memory, |rank| folder(&tmp, rank), work));
        for (rank, (done, _)) in done.into_iter().enumerate() {
            let error = done.unwrap_err();
            assert!(
                matches!(error, FabricError::Elsewhere) == (rank != failing),
                "rank {rank}: {error}"
            );
        }
        assert_eq!(std::fs::read_dir(tmp.path()).unwrap().count(), 0);
    }
}

#[test]
fn who_cannot_spill_what_came_says_so() {
    let (tmp, job) = (tempfile::tempdir().unwrap(), Job::new(3));
    let limited = |rank: usize| {
        let limit = (rank == 1).then_some(0);
        Arc::new(SpillFolder::new(
            tmp.path().join(rank.to_string()),
            limit,
            false,
        ))
    };
    let work = |_, fabric| send(fabric, 3, 3_000_000).map(drop);
    let done = watched(|| run(&job, 3, 4 << 20, limited, work));
    for (rank, (done, _)) in done.into_iter().enumerate() {
        let error = done.unwrap_err();
        let expected = if rank == 1 {
            "that they may take"
        } else {
            "another process"
        };
        assert!(error.to_string().contains(expected), "rank {rank}: {error}");
    }
}

#[test]
fn an_exchange_that_nobody_drives_fails() {
    let tmp = tempfile::tempdir().unwrap();
    let place = Place::among(2, Peer { rank: 0, ranks: 2 });
    let options = FabricOptions {
        spill: Some(folder(&tmp, 0)),
        ..FabricOptions::memory(16 << 20)
    };
    let (fabric, exchange) = exchange(place, options, || ());
    let error = watched(|| {
        thread::spawn(move || drop(exchange));
        send(fabric, 2, u64::MAX).map(drop).unwrap_err()
    });
    assert!(matches!(error, FabricError::Elsewhere), "{error}");
}

#[test]
fn another_number_of_processes_goes_on_with_what_was_spilled() {
    const PARTITIONS: usize = 7;
    let (tmp, job) = (tempfile::tempdir().unwrap(), Job::new(3));
    let kept = |rank: usize| {
        Arc::new(SpillFolder::new(
            tmp.path().join(rank.to_string()),
            None,
            true,
        ))
    };
    let work = |rank, fabric| {
        // Some spilled because they had to, others do so that the job can be resumed.
        let mut partitions = send(fabric, PARTITIONS, if rank == 0 { 10 } else { 400_000 })?;
        assert!(rank == 2 || partitions.spilled() == (rank == 0), "{rank}");
        let before = contents(&partitions);
        if !partitions.spilled() {
            partitions.spill()?;
        }
        assert!(partitions.spilled() && contents(&partitions) == before);
        partitions.note("count k=31")?;
        Ok(before)
    };
    let done = watched(|| run(&job, PARTITIONS, 4 << 20, kept, work));
    let mut before: Vec<_> = done
        .into_iter()
        .flat_map(|(contents, _)| contents.unwrap())
        .collect();
    before.sort();
    assert!(before.iter().map(|content| content.0).eq(0..PARTITIONS));

    let reopen = |folders: &[usize], place, job| {
        let folders: Vec<_> = folders.iter().map(|&rank| kept(rank)).collect();
        LocalPartitions::reopen_job(place, &folders, job)
    };
    for incomplete in [&[0, 1][..], &[0, 1, 1], &[0, 1, 2, 3], &[]] {
        assert!(
            reopen(incomplete, Place::alone(PARTITIONS), "count k=31").is_none(),
            "{incomplete:?}"
        );
    }
    assert!(reopen(&[0, 1, 2], Place::alone(PARTITIONS), "count k=32").is_none());
    assert_eq!(kept(1).noted("count k=31"), Some((1, 3)));
    for ranks in [1, 2, 5] {
        let places = (0..ranks).map(|rank| Place::among(PARTITIONS, Peer { rank, ranks }));
        let parts = places.map(|place| contents(&reopen(&[2, 0, 1], place, "count k=31").unwrap()));
        let mut after: Vec<_> = parts.flatten().collect();
        after.sort();
        assert_eq!(after, before, "{ranks} ranks");
    }
}
