//! What processes share work by, on a process alone, on threads, and in groups of them.

use gyrase_fabric::conformance::{self, ALL, Case};
use gyrase_fabric::testing::{Process, run};
use gyrase_fabric::{
    Alone, Bounds, Drain, Fabric, FabricError, FabricOptions, Farm, Group, Mailbox, Owners, Sender,
    Steal, World, all_to_all, ask, look_up, scatter_again, tell,
};

/// Runs `work` in jobs of one to four processes, and in groups of five.
fn everywhere(work: impl Fn(&dyn World) + Sync) {
    work(&Alone);
    for ranks in 1..=4 {
        let done = run(ranks, Steal::On, |process| {
            work(process);
            Ok::<_, FabricError>(())
        });
        assert!(done.into_iter().all(|done| done.is_ok()));
    }
    let done = run(5, Steal::On, |process| {
        work(&Group::split(process, process.rank() as u64 % 2)?);
        Ok::<_, FabricError>(())
    });
    assert!(done.into_iter().all(|done| done.is_ok()));
}

#[derive(Debug, PartialEq)]
struct Read {
    reads: u64,
    largest: u32,
    whole: bool,
}

gyrase_fabric::numbers!(Read {
    reads,
    largest,
    whole
});

fn agree(world: &dyn World) -> Result<(), FabricError> {
    let (rank, ranks) = (world.rank() as u64, world.ranks() as u64);
    let all = ranks * (ranks + 1) / 2;
    assert_eq!(
        world.sum(&[rank + 1, u64::MAX])?,
        [all, 0u64.wrapping_sub(ranks)]
    );
    assert_eq!(world.max(&[rank, 10 - rank])?, [ranks - 1, 10]);
    assert_eq!(
        world.min(&[rank + 7, u64::MAX - rank])?,
        [7, u64::MAX - ranks + 1]
    );
    let bounds = Bounds {
        least: 0,
        most: ranks - 1,
    };
    assert_eq!(world.bounds(&[rank])?, [bounds]);
    assert!(world.all_equal(&[5, 0, u64::MAX])? && world.all_equal(&[])?);
    assert_eq!(world.all_equal(&[5, rank])?, ranks == 1);
    let own = |rank: u64| vec![rank as u8; rank as usize * 3 % 7];
    let all: Vec<Vec<u8>> = (0..ranks).map(own).collect();
    assert_eq!(world.all_gather(&own(rank))?, all);
    let at_first = if rank == 0 { all.clone() } else { Vec::new() };
    assert_eq!(world.gather(own(rank))?, at_first);
    for from in 0..ranks {
        let given = if rank == from {
            own(from + 1)
        } else {
            vec![9; 5]
        };
        assert_eq!(world.broadcast(from as usize, given)?, own(from + 1));
    }
    let read = Read {
        reads: rank,
        largest: 3,
        whole: rank == 0,
    };
    let sum = Read {
        reads: ranks * (ranks - 1) / 2,
        largest: 3 * ranks as u32,
        whole: true,
    };
    assert_eq!(world.sum_of(&read)?, sum);
    let last = Read {
        reads: ranks - 1,
        largest: 3,
        whole: ranks == 1,
    };
    assert_eq!(world.broadcast_of(ranks as usize - 1, &read)?, last);
    Ok(())
}

#[test]
fn all_agree() {
    everywhere(|world| agree(world).expect("no process fails"));
}

/// The owner of a key answers with its square and who it is. The most questions are two batches of
/// four megabytes.
fn ask_and_tell_owners(world: &dyn World) -> Result<(), FabricError> {
    let ranks = world.ranks();
    for all in [0, 1, 1000, 300_000] {
        // The last process asks and tells nothing.
        let own = if world.rank() + 1 == ranks && ranks > 1 {
            0
        } else {
            all
        };
        let key = |number: u32| number * 7919 % 1009;
        let keys = (0..own).map(key);
        let owner = |key: u32| (key as usize * 31) % ranks;
        let questions = keys.clone().map(|key| (owner(key), key.to_le_bytes()));
        let answer = |key| {
            let key = u64::from(u32::from_le_bytes(key));
            let mut answer = [0; 12];
            answer[..8].copy_from_slice(&(key * key).to_le_bytes());
            answer[8..].copy_from_slice(&(world.rank() as u32).to_le_bytes());
            answer
        };
        let mut answers = Vec::new();
        look_up(world, questions, answer, |told: [u8; 12]| {
            answers.push(told)
        })?;
        let expected = keys.map(|key| {
            let mut answer = [0; 12];
            answer[..8].copy_from_slice(&u64::from(key).pow(2).to_le_bytes());
            answer[8..].copy_from_slice(&(owner(key) as u32).to_le_bytes());
            answer
        });
        assert!(answers.into_iter().eq(expected));
        let mut heard = vec![0; 1009];
        let words = (0..own).map(|number| (owner(key(number)), key(number).to_le_bytes()));
        tell(world, words, |key| {
            heard[u32::from_le_bytes(key) as usize] += 1
        })?;
        let mut told = vec![0; 1009];
        let own_keys = (0..all).map(key).filter(|&key| owner(key) == world.rank());
        own_keys.for_each(|key| told[key as usize] += (ranks - 1).max(1));
        assert_eq!(heard, told);
    }
    Ok(())
}

#[test]
fn owners_answer_in_the_order_asked_and_hear_what_is_told() {
    everywhere(|world| ask_and_tell_owners(world).expect("no process fails"));
}

/// Each process talks to those whose rank divides the sum of both ranks and a number.
fn talk(world: &dyn World) -> Result<(), FabricError> {
    let (rank, ranks) = (world.rank(), world.ranks());
    for number in 0..6 {
        let said = |from: usize, to: usize| match (from + to + number) % (to + 1) {
            0 => vec![from as u8; 1 + (from * 31 + to + number) % 50],
            _ => Vec::new(),
        };
        let messages = || (0..ranks).map(|to| said(rank, to)).collect();
        let heard: Vec<Vec<u8>> = (0..ranks).map(|from| said(from, rank)).collect();
        assert_eq!(all_to_all(world, messages())?, heard);
        // An answer may be empty; who asked nothing gets none.
        let answer = |bytes: &Vec<u8>| bytes.repeat(number % 3);
        let answers = ask(world, messages(), |asked| {
            assert_eq!(asked, heard);
            let answers = asked.iter().map(|bytes| match bytes.is_empty() {
                true => b"nobody asked".to_vec(),
                false => answer(bytes),
            });
            answers.collect()
        })?;
        let expected: Vec<Vec<u8>> = (0..ranks).map(|to| answer(&said(rank, to))).collect();
        assert_eq!(answers, expected);
    }
    Ok(())
}

#[test]
fn processes_hear_what_some_say_and_get_answers() {
    everywhere(|world| talk(world).expect("no process fails"));
}

fn farm(world: &dyn World) -> Result<(), FabricError> {
    for (tasks, workers, ahead) in [(0, 1, 1), (1, 1, 1), (100, 2, 4), (37, 1, 1000)] {
        let mut left = Vec::new();
        let farm = Farm {
            tasks,
            // The first process only hands out, where there are others.
            workers: if world.rank() == 0 && world.ranks() > 1 {
                0
            } else {
                workers
            },
            ahead,
            parts: 1,
        };
        let result = |task: usize| vec![task as u8; task * 31 % 50];
        farm.run(
            world,
            |task| Ok::<_, FabricError>(result(task)),
            &mut |task, result| {
                left.push((task, result));
                Ok(())
            },
        )?;
        let expected = if world.rank() == 0 { 0..tasks } else { 0..0 };
        assert!(
            left.into_iter()
                .eq(expected.map(|task| (task, result(task))))
        );
    }
    Ok(())
}

#[test]
fn results_leave_in_the_order_of_tasks() {
    everywhere(|world| farm(world).expect("no process fails"));
}

#[test]
fn a_task_that_fails_ends_the_farm_everywhere() {
    let farm = Farm {
        tasks: 200,
        workers: 2,
        ahead: 20,
        parts: 1,
    };
    for failing in [0, 1, 2] {
        let done = run(3, Steal::On, |process| {
            let work = |task: usize| match task {
                50.. if process.rank() == failing => Err(FabricError::Memory),
                _ => Ok(Vec::new()),
            };
            farm.run(process, work, &mut |_, _| Ok(()))
        });
        assert!(
            matches!(done[failing], Err(FabricError::Memory)),
            "{done:?}"
        );
        assert!(
            failing == 0 || matches!(done[0], Err(FabricError::Elsewhere)),
            "{done:?}"
        );
    }
}

/// Numbers go from partition to partition, a step in each round, as labels do in a graph.
fn iterate(world: &dyn World) -> Result<(), FabricError> {
    const PARTITIONS: usize = 13;
    const NUMBERS: u64 = 500;
    let options = || FabricOptions {
        owners: Owners::weighted(&[1, 5, 2, 0, 7, 1, 1, 9, 3, 2, 2, 2, 1], world.ranks()),
        ..FabricOptions::memory(64 << 20)
    };
    let fabric = world.fabric(PARTITIONS, options())?;
    let mut sender = fabric.sender();
    let own = (0..NUMBERS).filter(|number| number % world.ranks() as u64 == world.rank() as u64);
    for number in own {
        sender.send(number as usize % PARTITIONS, &number.to_le_bytes(), 8)?;
    }
    let mut drained = fabric.close(vec![sender])?;
    for _ in 0..20 {
        let next = world.fabric(PARTITIONS, options())?;
        drained = scatter_again(&drained, next, 2, |bytes, used, sender| {
            bytes[..used].as_chunks().0.iter().try_for_each(|&number| {
                let number = u64::from_le_bytes(number) + 1;
                sender.send(number as usize % PARTITIONS, &number.to_le_bytes(), 8)
            })
        })?;
    }
    let mut numbers = Vec::new();
    for partition in drained.owned() {
        drained.drain::<FabricError>(partition, &mut |bytes, used| {
            for &number in bytes[..used].as_chunks().0 {
                let number = u64::from_le_bytes(number);
                assert_eq!(number as usize % PARTITIONS, partition);
                numbers.push(number);
            }
            Ok(())
        })?;
    }
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
    let all = world.all_gather(&bytes.collect::<Vec<u8>>())?.concat();
    let mut all: Vec<u64> = all
        .as_chunks()
        .0
        .iter()
        .map(|&b| u64::from_le_bytes(b))
        .collect();
    all.sort_unstable();
    assert!(all.into_iter().eq(20..NUMBERS + 20));
    Ok(())
}

#[test]
fn a_fabric_is_filled_from_the_one_before() {
    everywhere(|world| iterate(world).expect("no process fails"));
}

fn carry(world: &dyn World) -> Result<(), FabricError> {
    for owners in [
        Owners::Modulo,
        Owners::Runs,
        Owners::weighted(&[3; 40], world.ranks()),
    ] {
        let options = FabricOptions {
            owners,
            ..FabricOptions::memory(64 << 20)
        };
        let case = Case {
            partitions: 40,
            workers: 2 * world.rank()..2 * world.rank() + 2,
            all_workers: 2 * world.ranks(),
            records: 400,
            lengths: ALL,
            ordered: true,
        };
        conformance::check(world.fabric(40, options)?, &case)?;
    }
    Ok(())
}

#[test]
fn keeps_the_contract_whoever_owns_what() {
    everywhere(|world| carry(world).expect("no process fails"));
}

#[test]
fn what_does_not_fit_is_refused_without_a_folder() {
    let fabric = Alone
        .fabric(4, FabricOptions::memory(4 << 20))
        .expect("alone");
    let mut sender = fabric.sender();
    let sent = (0..10_000_000u64)
        .try_for_each(|number| sender.send(number as usize % 4, &number.to_le_bytes(), 8));
    assert!(matches!(sent, Err(FabricError::NoSpill)), "{sent:?}");
    drop(sender);
    assert!(!std::path::Path::new("spill-0").exists());
}

/// More rounds than a message library has tags.
#[test]
fn mailboxes_and_schedules_are_made_again_and_again() {
    let rounds = |process: &Process| -> Result<u64, FabricError> {
        let (rank, ranks) = (process.rank(), process.ranks());
        let mut sum = 0;
        for round in 0..40_000u64 {
            let mailbox = process.mailbox()?;
            mailbox.send((rank + 1) % ranks, round, vec![rank as u8])?;
            let (number, bytes) = mailbox.wait()?;
            assert_eq!(
                (number, &bytes[..]),
                (round, &[((rank + 1) % ranks) as u8][..])
            );
            if round % 100 == 0 {
                let schedule = process.schedule(4)?;
                while schedule.take()?.is_some() {
                    sum += 1;
                }
            }
        }
        Ok(process.sum(&[sum])?[0])
    };
    let done = run(2, Steal::On, rounds);
    assert!(
        done.into_iter()
            .all(|sum| sum.is_ok_and(|sum| sum == 4 * 400))
    );
}

#[test]
fn groups_work_side_by_side() {
    let done = run(5, Steal::On, |process| {
        let group = Group::split(process, u64::from(process.rank() >= 2))?;
        let expected = if process.rank() < 2 { (2, 1) } else { (3, 9) };
        assert_eq!((group.ranks(), group.sum(&[process.rank() as u64])?[0]), {
            (expected.0, expected.1)
        });
        // A group of a group, and one of each process.
        let alone = Group::split(&group, group.rank() as u64)?;
        assert_eq!((alone.rank(), alone.ranks()), (0, 1));
        assert_eq!(alone.all_gather(&[7])?, [[7]]);
        // Each process takes its own chunks, and gets what is sent back to them.
        let schedule = group.schedule(20)?;
        let mut own = Vec::new();
        while let Some(chunk) = schedule.take()? {
            if chunk > 0 {
                schedule.send_back(chunk - 1, vec![chunk as u8])?;
            }
            own.push(chunk);
        }
        for &chunk in own.iter().filter(|&&chunk| chunk < 19) {
            let came =
                std::iter::repeat_with(|| schedule.sent_back(chunk)).find_map(Result::transpose);
            assert_eq!(came.expect("it never ends")?, [chunk as u8 + 1]);
        }
        process.sum(&[own.len() as u64])
    });
    assert!(done.into_iter().all(|sum| sum.is_ok_and(|sum| sum == [40])));
}
