//! What one process of a job does in the tests.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use gyrase_fabric::conformance::{self, ALL, Case, LONG, SHORT, Same};
use gyrase_fabric::{
    Combining, Drain, ExchangeFabric, Fabric, FabricError, FabricOptions, Farm, Group, Mailbox,
    Schedule, Sender, SpillFolder, Window, World, look_up,
};
use gyrase_fabric_mpi::{Ended, ExitCodes, Failed, Job, start};
use gyrase_work::Progress;
use tempfile::TempDir;

/// Threads of a process that use one-sided numbers at the same time.
const THREADS: usize = 2;
/// What each of them adds, one by one.
const EACH: u64 = 20;

/// What processes end with that did not fail by themselves.
pub const CODES: ExitCodes = ExitCodes {
    memory: 4,
    mpi: 8,
    stopped: 130,
};

/// Plays a part and ends this process.
pub fn play(part: &str) {
    let job = match start(CODES, |_| ()) {
        Ok(Some(job)) => job,
        Ok(None) => {
            println!("alone: all as it must be");
            return;
        }
        Err(error) => {
            // Standard output is written a line at a time: lines of several processes stay whole.
            println!("cannot start: {error}");
            // The launcher kills the others when the first one ends.
            thread::sleep(Duration::from_millis(500));
            std::process::exit(8);
        }
    };
    let rank = job.rank();
    let progress = Arc::new(Progress::default());
    job.heed(Arc::clone(&progress), move |code| {
        println!("rank {rank} cleans up and exits");
        signal_hook::low_level::exit(code.into());
    });
    let result = match part {
        "everything" => everything(&job),
        "one fails" => fail(&job, &[1], 7, "line 5 is broken"),
        "two fail" => fail(&job, &[1, 3], 6, "the disk is full"),
        "one is stuck" => stuck(&job),
        "one gets no memory" => get_no_memory(&job),
        "one fails while records move" => fail_while_records_move(&job),
        "one is stopped" => stop(&job, &progress),
        "one gives up beside a collective" => give_up(&job, &progress),
        "one has no room for what comes" => have_no_room(&job),
        other => unreachable!("no part {other}"),
    };
    end(job, result);
}

fn end(job: Job, result: Result<(), Failed>) {
    let rank = job.rank();
    match job.end(result, |message| println!("says: {message}")) {
        Ended::Well => println!("rank {rank}: all as it must be"),
        Ended::Failed { code } => signal_hook::low_level::exit(code.into()),
    }
}

fn fail(job: &Job, failing: &[usize], code: u8, message: &str) -> Result<(), Failed> {
    if failing.contains(&job.rank()) {
        return Err(Failed {
            code,
            stopped: false,
            message: message.into(),
        });
    }
    // The others wait for those that fail, and must not do so for ever.
    match job.sum(&[1]) {
        Err(FabricError::Elsewhere) => Err(Failed {
            code: 8,
            stopped: false,
            message: "an echo".into(),
        }),
        other => panic!("{other:?} although a rank failed"),
    }
}

/// What one worker of each of three processes sends.
fn of_each(rank: usize) -> Case<'static> {
    Case {
        partitions: 5,
        workers: rank..rank + 1,
        all_workers: 3,
        records: 20_000,
        lengths: SHORT,
        ordered: false,
    }
}

/// The others have sent everything and wait for what the failing one was to send.
fn fail_while_records_move(job: &Job) -> Result<(), Failed> {
    let tmp = tempfile::tempdir().expect("a folder");
    let check = fabric(job, 5, 16 << 20, &tmp).and_then(|fabric| {
        if job.rank() == 1 {
            Ok(())
        } else {
            conformance::check(fabric, &of_each(job.rank()))
        }
    });
    if job.rank() == 1 {
        thread::sleep(Duration::from_millis(200));
        return Err(Failed {
            code: 7,
            stopped: false,
            message: "record 9 is cut off".into(),
        });
    }
    match check {
        Err(FabricError::Elsewhere) => Err(Failed {
            code: 8,
            stopped: false,
            message: "an echo".into(),
        }),
        other => panic!("{other:?} although a rank failed"),
    }
}

/// Rank 1 is stopped while it waits for what rank 2 does not send.
fn stop(job: &Job, progress: &Progress) -> Result<(), Failed> {
    let tmp = tempfile::tempdir().expect("a folder");
    let fabric = fabric(job, 5, 16 << 20, &tmp).expect("nothing failed yet");
    let waited = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
            if job.rank() == 1 {
                progress.cancel();
            }
        });
        match job.rank() {
            2 => job.sum(&[1]).map(drop),
            rank => conformance::check(fabric, &of_each(rank)),
        }
    });
    match waited {
        Err(FabricError::Elsewhere) if job.rank() == 1 => Err(Failed {
            code: 143,
            stopped: true,
            message: "stopped as asked".into(),
        }),
        Err(FabricError::Elsewhere) => Err(Failed {
            code: 8,
            stopped: false,
            message: "an echo".into(),
        }),
        other => panic!("{other:?} although a rank was stopped"),
    }
}

/// A thread of rank 1 fails while another waits for the others, who have much to do before they
/// come there.
fn give_up(job: &Job, progress: &Progress) -> Result<(), Failed> {
    if job.rank() != 1 {
        let heard = (0..1000).any(|_| {
            thread::sleep(Duration::from_millis(10));
            progress.is_cancelled()
        });
        assert!(
            heard,
            "a rank that is at work does not hear that another failed"
        );
        return Err(Failed {
            code: 8,
            stopped: false,
            message: "an echo".into(),
        });
    }
    let waited = thread::scope(|scope| {
        let waiting = scope.spawn(|| job.sum(&[1]));
        thread::sleep(Duration::from_millis(200));
        job.give_up();
        waiting.join().expect("no thread panics")
    });
    match waited {
        Err(FabricError::Elsewhere) => Err(Failed {
            code: 6,
            stopped: false,
            message: "no space is left".into(),
        }),
        other => panic!("{other:?} although nobody else took part"),
    }
}

/// Rank 1 cannot keep what the others send, while its only worker waits for something else.
fn have_no_room(job: &Job) -> Result<(), Failed> {
    let tmp = tempfile::tempdir().expect("a folder");
    let folder = SpillFolder::new(tmp.path().join("spill"), Some(0), false);
    let options = FabricOptions {
        memory: ExchangeFabric::least_memory(3, 3, 1),
        spill: Some(Arc::new(folder)),
        ..FabricOptions::default()
    };
    let fabric = job.fabric(3, options).expect("nothing failed yet");
    let done = match job.rank() {
        1 => job.sum(&[1]).map(drop),
        _ => send_to(1, fabric),
    };
    match done {
        Err(FabricError::TooMuchSpill { limit: 0 }) if job.rank() == 1 => Err(Failed {
            code: 6,
            stopped: false,
            message: "no room for what came".into(),
        }),
        Err(FabricError::Elsewhere) => Err(Failed {
            code: 8,
            stopped: false,
            message: "an echo".into(),
        }),
        other => panic!("{other:?} although a rank has no room"),
    }
}

fn send_to(partition: usize, fabric: ExchangeFabric) -> Result<(), FabricError> {
    let mut sender = fabric.sender();
    for number in 0..1_000_000_u64 {
        sender.send(partition, &number.to_le_bytes(), 8)?;
    }
    fabric.close(vec![sender]).map(drop)
}

fn stuck(job: &Job) -> Result<(), Failed> {
    if job.rank() == 2 {
        thread::sleep(Duration::from_secs(600));
    }
    fail(job, &[0], 4, "no memory")
}

fn get_no_memory(job: &Job) -> Result<(), Failed> {
    if job.rank() == 1 {
        // What the allocator of a thread does that gets none.
        thread::spawn(|| std::process::abort())
            .join()
            .expect("it never comes back");
    }
    fail(job, &[], 0, "")
}

fn everything(job: &Job) -> Result<(), Failed> {
    let all = || -> Result<(), FabricError> {
        collectives(job)?;
        numbers(job)?;
        messages(job)?;
        chunks(job)?;
        records(job)?;
        again_and_again(job)?;
        groups(job)?;
        clocks(job)?;
        job.try_all()
    };
    all().map_err(|error| Failed {
        code: 8,
        stopped: false,
        message: error.to_string(),
    })
}

fn collectives(job: &Job) -> Result<(), FabricError> {
    let (rank, ranks) = (job.rank() as u64, job.ranks() as u64);
    let sum = ranks * (ranks - 1) / 2;
    assert_eq!(
        job.sum(&[rank, 1, u64::MAX])?,
        [sum, ranks, 0u64.wrapping_sub(ranks)]
    );
    assert_eq!(
        job.max(&[rank, 100 - rank, u64::MAX - rank])?,
        [ranks - 1, 100, u64::MAX]
    );
    assert_eq!(
        job.max(&[if rank == 0 { 1 << 63 } else { rank }])?,
        [1 << 63],
        "numbers are not signed"
    );
    assert_eq!(job.sum(&[])?, []);
    // Nothing of rank 1, much of rank 2.
    let own = |rank: u64| vec![rank as u8; [3, 0, 100_000][rank as usize % 3]];
    let all: Vec<_> = (0..ranks).map(own).collect();
    assert_eq!(
        job.gather(own(rank))?,
        if rank == 0 { all } else { Vec::new() }
    );
    assert_eq!(job.gather(Vec::new())?.concat(), []);
    agree(job)
}

/// What any world's processes agree on.
fn agree(world: &dyn World) -> Result<(), FabricError> {
    let (rank, ranks) = (world.rank() as u64, world.ranks() as u64);
    assert_eq!(
        world.min(&[rank + 7, u64::MAX - rank])?,
        [7, u64::MAX - (ranks - 1)]
    );
    assert!(world.all_equal(&[5, u64::MAX])? && !world.all_equal(&[5, rank])?);
    let own = |rank: u64| vec![rank as u8 + 1; rank as usize * 12_345 % 70_001];
    let all: Vec<_> = (0..ranks).map(own).collect();
    assert_eq!(world.all_gather(&own(rank))?, all);
    for from in 0..ranks {
        assert_eq!(world.broadcast(from as usize, own(rank))?, own(from));
    }
    let asked = (0..1000u32).map(|key| ((key as usize * 31) % world.ranks(), key.to_le_bytes()));
    let asked: Vec<_> = asked.collect();
    let mut answers = Vec::new();
    let answer = |key: [u8; 4]| [key[0], key[1], world.rank() as u8];
    look_up(world, asked.iter().copied(), answer, |told| {
        answers.push(told)
    })?;
    let expected = |(owner, key): (usize, [u8; 4])| [key[0], key[1], owner as u8];
    assert!(answers.into_iter().eq(asked.into_iter().map(expected)));
    let mut left = Vec::new();
    let farm = Farm {
        tasks: 60,
        workers: 2,
        ahead: 9,
        parts: 1,
    };
    farm.run(
        world,
        |task| Ok::<_, FabricError>(vec![task as u8; task]),
        &mut |task, result| {
            left.push((task, result.len()));
            Ok(())
        },
    )?;
    let tasks = if rank == 0 { 60 } else { 0 };
    assert!(left.into_iter().eq((0..tasks).map(|task| (task, task))));
    Ok(())
}

/// Windows take the place of those that nobody uses; mailboxes and fabrics come and go.
fn again_and_again(job: &Job) -> Result<(), FabricError> {
    for round in 0..200u64 {
        let window = job.window(1 + round as usize % 3)?;
        let before = window.add(0, 0, 1)?;
        assert!(before < job.ranks() as u64, "{before} were there before");
        let mailbox = job.mailbox()?;
        let next = (job.rank() + 1) % job.ranks();
        mailbox.send(next, round, Vec::new())?;
        assert_eq!(mailbox.wait()?.0, round);
    }
    for round in 0..20u64 {
        let fabric = job.fabric(3, FabricOptions::memory(16 << 20))?;
        let mut sender = fabric.sender();
        for partition in 0..3 {
            sender.send(partition, &round.to_le_bytes(), 8)?;
        }
        let drained = fabric.close(vec![sender])?;
        for partition in drained.owned() {
            assert_eq!(drained.bytes(partition), 8 * job.ranks() as u64);
        }
    }
    Ok(())
}

/// Even and odd ranks, each by themselves: they agree, and exchange records.
fn groups(job: &Job) -> Result<(), FabricError> {
    let group = Group::split(job, job.rank() as u64 % 2)?;
    if group.ranks() > 1 {
        agree(&group)?;
    }
    let case = Case {
        partitions: 7,
        workers: group.rank()..group.rank() + 1,
        all_workers: group.ranks(),
        records: 500,
        lengths: ALL,
        ordered: true,
    };
    conformance::check(group.fabric(7, FabricOptions::memory(64 << 20))?, &case)?;
    job.sum(&[1]).map(drop)
}

/// Every thread of every process adds to every number and takes tickets by comparing and swapping.
fn numbers(job: &Job) -> Result<(), FabricError> {
    let window = job.window(3)?;
    let tickets: Result<Vec<u64>, FabricError> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| scope.spawn(|| use_numbers(job, &window)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no thread panics"))
            .collect()
    });
    let users = (THREADS * job.ranks()) as u64;
    let all = job.sum(&[tickets?.iter().sum()])?[0];
    assert_eq!(all, users * EACH, "every ticket is taken once");
    for rank in 0..job.ranks() {
        assert_eq!(
            window.get(rank, 0)?,
            users * EACH,
            "what all added at rank {rank}"
        );
        assert_eq!(
            window.get(rank, 2)?,
            1 + (rank + job.ranks() - 1) as u64 % job.ranks() as u64,
            "what was put"
        );
    }
    // Another window has numbers of its own.
    job.sum(&[1])?;
    let other = job.window(1)?;
    assert_eq!(other.get(0, 0)?, 0);
    Ok(())
}

fn use_numbers(job: &Job, window: &impl Window) -> Result<u64, FabricError> {
    let (rank, ranks) = (job.rank(), job.ranks());
    window.put((rank + 1) % ranks, 2, rank as u64 + 1)?;
    let mut taken = 0;
    for turn in 0..EACH as usize {
        for other in 0..ranks {
            window.add((rank + other) % ranks, 0, 1)?;
        }
        // Tickets are numbered at one rank: who swaps has one.
        let mut next = window.get(turn % ranks, 1)?;
        loop {
            match window.compare_and_swap(turn % ranks, 1, next, next + 1)? {
                found if found == next => break,
                found => next = found,
            }
        }
        taken += 1;
    }
    Ok(taken)
}

/// Every process sends messages to all, long and short ones in turn, and reads those of all in
/// order.
fn messages(job: &Job) -> Result<(), FabricError> {
    const LETTERS: u64 = 6;
    let mailbox = job.mailbox()?;
    let (rank, ranks) = (job.rank() as u64, job.ranks());
    let text = |from: u64, number: u64| {
        vec![(from * 16 + number) as u8; [200_000, 0, 3][number as usize % 3]]
    };
    for number in 0..LETTERS {
        for to in 0..ranks {
            mailbox.send(to, rank << 32 | number, text(rank, number))?;
        }
    }
    let mut next = vec![0; ranks];
    while next.iter().any(|&next| next < LETTERS) {
        let Some((number, bytes)) = mailbox.receive()? else {
            thread::sleep(Duration::from_micros(100));
            continue;
        };
        let (from, number) = (number >> 32, number & 0xffff_ffff);
        assert_eq!(
            number, next[from as usize],
            "messages of rank {from} in the order sent"
        );
        assert!(
            bytes == text(from, number),
            "message {number} of rank {from} is whole"
        );
        next[from as usize] += 1;
    }
    assert!(mailbox.receive()?.is_none());
    Ok(())
}

/// Every chunk is taken once, and what is sent back reaches who took it.
fn chunks(job: &Job) -> Result<(), FabricError> {
    for chunks in [0, 1, 3, 50] {
        let schedule = job.schedule(chunks)?;
        let taken = thread::scope(|scope| -> Result<Vec<usize>, FabricError> {
            let workers: Vec<_> = (0..2)
                .map(|_| scope.spawn(|| take_chunks(&*schedule)))
                .collect();
            let taken = workers
                .into_iter()
                .map(|worker| worker.join().expect("no worker panics"));
            taken
                .collect::<Result<Vec<_>, _>>()
                .map(|taken| taken.concat())
        })?;
        let mut waiting: Vec<usize> = taken
            .iter()
            .copied()
            .filter(|chunk| chunk + 1 < chunks)
            .collect();
        while !waiting.is_empty() || !schedule.all_sent()? {
            if let Some(&chunk) = waiting.last()
                && let Some(bytes) = schedule.sent_back(chunk)?
            {
                assert!(
                    bytes == before(chunk + 1),
                    "what chunk {} sent back",
                    chunk + 1
                );
                waiting.pop();
            }
        }
        let mut times = vec![0; chunks];
        taken.iter().for_each(|&chunk| times[chunk] += 1);
        assert_eq!(
            job.sum(&times)?,
            vec![1; chunks],
            "how often each chunk is taken"
        );
    }
    Ok(())
}

fn take_chunks(schedule: &dyn Schedule) -> Result<Vec<usize>, FabricError> {
    let mut taken = Vec::new();
    while let Some(chunk) = schedule.take()? {
        if chunk > 0 {
            schedule.send_back(chunk - 1, before(chunk))?;
        }
        taken.push(chunk);
    }
    Ok(taken)
}

/// What a chunk sends back to the one before it.
fn before(chunk: usize) -> Vec<u8> {
    vec![chunk as u8; chunk * 1000 % 70_001]
}

/// The contract of the fabric, in memory and spilled; a process has no worker, others have several.
/// One exchange begins while others are still in the one before it.
fn records(job: &Job) -> Result<(), FabricError> {
    for (partitions, records, lengths) in [
        (1, 100, SHORT),
        (64, 5_000, SHORT),
        (1, 10, SHORT),
        (3, 10, ALL),
        (2, 10, SHORT),
        (300, 2_000, ALL),
        (5, 20, LONG),
    ] {
        let tmp = tempfile::tempdir().expect("a folder");
        let workers = |rank: usize| (rank + 1) % 3;
        let first = (0..job.rank()).map(workers).sum();
        let all = (0..job.ranks()).map(workers).sum();
        let case = Case {
            partitions,
            workers: first..first + workers(job.rank()),
            all_workers: all,
            records,
            lengths,
            ordered: false,
        };
        let least = ExchangeFabric::least_memory(partitions, job.ranks(), 2);
        // One of two senders may take the memory that a long record of the other needs at once.
        let memory = if lengths == LONG { 256 << 20 } else { least };
        conformance::check(fabric(job, partitions, memory, &tmp)?, &case)?;
    }
    Ok(())
}

fn fabric(
    job: &Job,
    partitions: usize,
    memory: u64,
    tmp: &TempDir,
) -> Result<ExchangeFabric, FabricError> {
    let folder = Arc::new(SpillFolder::new(tmp.path().join("spill"), None, false));
    let combining = Combining {
        make: Box::new(|| Box::new(Same::default())),
        portion: 1 << 20,
    };
    let options = FabricOptions {
        memory,
        spill: Some(folder),
        combining: Some(combining),
        ..FabricOptions::default()
    };
    job.fabric(partitions, options)
}

/// All ranks of the test are on one machine, which has one clock.
fn clocks(job: &Job) -> Result<(), FabricError> {
    assert!(
        job.clock_offset().abs() < 1_000_000_000,
        "{} ns between the clocks",
        job.clock_offset()
    );
    let counters = job.counters();
    assert!(
        counters.messages >= 6
            && counters.bytes_sent >= 400_000
            && counters.bytes_received >= 400_000,
        "{counters:?}"
    );
    assert!(
        counters.rounds > 0
            && counters.one_sided > 0
            && counters.collectives > 5
            && counters.heartbeats > 0,
        "{counters:?}"
    );
    Ok(())
}
