//! Work stealing: every chunk once, what is sent back to its worker, and no victim asked in vain.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

use gyrase_fabric::{
    FabricError, Mailbox, Peer, Schedule, Steal, Stealing, Window, window_numbers,
};
use gyrase_work::run_of;

type Message = (u64, Vec<u8>);

/// The numbers and the messages of all processes of a job, whose processes are threads.
struct Job {
    numbers: Vec<Vec<AtomicU64>>,
    messages: Vec<Mutex<VecDeque<Message>>>,
    calls: AtomicUsize,
    /// Let other threads go first now and then.
    yields: bool,
}

impl Job {
    fn new(ranks: usize, chunks: usize, yields: bool) -> Job {
        let zeros = |count| (0..count).map(|_| AtomicU64::new(0)).collect();
        let numbers = (0..ranks)
            .map(|rank| zeros(window_numbers(Peer { rank, ranks }, chunks)))
            .collect();
        let messages = (0..ranks).map(|_| Mutex::default()).collect();
        Job {
            numbers,
            messages,
            calls: AtomicUsize::new(0),
            yields,
        }
    }

    fn number(&self, rank: usize, at: usize) -> &AtomicU64 {
        let call = self.calls.fetch_add(1, SeqCst) as u64;
        if self.yields && call.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 62 == 0 {
            std::thread::yield_now();
        }
        &self.numbers[rank][at]
    }
}

impl Window for &Job {
    fn add(&self, rank: usize, at: usize, number: u64) -> Result<u64, FabricError> {
        Ok(self.number(rank, at).fetch_add(number, SeqCst))
    }
    fn get(&self, rank: usize, at: usize) -> Result<u64, FabricError> {
        Ok(self.number(rank, at).load(SeqCst))
    }
    fn put(&self, rank: usize, at: usize, number: u64) -> Result<(), FabricError> {
        self.number(rank, at).store(number, SeqCst);
        Ok(())
    }
    fn compare_and_swap(
        &self,
        rank: usize,
        at: usize,
        expected: u64,
        new: u64,
    ) -> Result<u64, FabricError> {
        Ok(self
            .number(rank, at)
            .compare_exchange(expected, new, SeqCst, SeqCst)
            .unwrap_or_else(|found| found))
    }
}

/// One process's end of the mailboxes.
struct Messages<'a>(&'a Job, usize);

impl Mailbox for Messages<'_> {
    fn send(&self, rank: usize, number: u64, bytes: Vec<u8>) -> Result<(), FabricError> {
        self.0.messages[rank]
            .lock()
            .unwrap()
            .push_back((number, bytes));
        Ok(())
    }
    fn receive(&self) -> Result<Option<Message>, FabricError> {
        Ok(self.0.messages[self.1].lock().unwrap().pop_front())
    }
}

type Process<'a> = Stealing<&'a Job, Messages<'a>>;

fn processes(job: &Job, chunks: usize, steal: Steal) -> Vec<Process<'_>> {
    let ranks = job.numbers.len();
    (0..ranks)
        .map(|rank| {
            Stealing::new(
                job,
                Messages(job, rank),
                Peer { rank, ranks },
                chunks,
                steal,
            )
        })
        .collect()
}

const WAYS: [Steal; 3] = [Steal::On, Steal::Off, Steal::Forced];

fn all_of(process: &Process) -> Vec<usize> {
    std::iter::from_fn(|| process.take().unwrap()).collect()
}

/// Runs of chunks that went to one worker each, without a border inside.
fn work(process: &Process, chunks: usize) -> Vec<Vec<usize>> {
    let mut runs = Vec::new();
    while let Some(chunk) = process.take().unwrap() {
        if chunk > 0 {
            process
                .send_back(chunk - 1, chunk.to_le_bytes().to_vec())
                .unwrap();
        }
        let mut run = vec![chunk];
        while process.take_this(run[run.len() - 1] + 1).unwrap() {
            run.push(run[run.len() - 1] + 1);
        }
        runs.push(run);
    }
    let borders = runs
        .iter()
        .map(|run| run[run.len() - 1])
        .filter(|&last| last + 1 < chunks);
    for chunk in borders {
        let bytes = loop {
            match process.sent_back(chunk).unwrap() {
                Some(bytes) => break bytes,
                // Others may wait for what is kept here.
                None => drop(process.all_sent().unwrap()),
            }
            std::thread::yield_now();
        };
        assert_eq!(
            bytes,
            (chunk + 1).to_le_bytes(),
            "what is behind chunk {chunk}"
        );
    }
    while !process.all_sent().unwrap() {
        std::thread::yield_now();
    }
    runs
}

#[test]
fn every_chunk_goes_to_one_worker_and_every_border_to_the_right_one() {
    for (round, steal) in WAYS.into_iter().cycle().take(24).enumerate() {
        for (ranks, workers, chunks) in [
            (1, 3, 40),
            (2, 1, 9),
            (3, 2, 50),
            (4, 1, 4),
            (5, 2, 3),
            (7, 1, 100),
            (4, 3, 0),
        ] {
            let job = Job::new(ranks, chunks, true);
            let processes = processes(&job, chunks, steal);
            let mut taken: Vec<usize> = std::thread::scope(|scope| {
                let start = |process| scope.spawn(move || work(process, chunks));
                let all = processes
                    .iter()
                    .flat_map(|process| (0..workers).map(move |_| process));
                let threads: Vec<_> = all.map(start).collect();
                threads
                    .into_iter()
                    .flat_map(|thread| thread.join().unwrap().concat())
                    .collect()
            });
            taken.sort_unstable();
            assert!(
                taken.into_iter().eq(0..chunks),
                "{steal:?}, {ranks} x {workers}, {chunks} chunks, round {round}"
            );
            assert!(
                job.messages
                    .iter()
                    .all(|messages| messages.lock().unwrap().is_empty())
            );
        }
    }
}

#[test]
fn the_chunks_of_who_is_slow_are_taken_by_others() {
    let job = Job::new(4, 40, false);
    let processes = processes(&job, 40, Steal::On);
    assert_eq!(processes[1].take().unwrap(), Some(10));
    let others: usize = [0, 2, 3]
        .map(|rank| all_of(&processes[rank]).len())
        .iter()
        .sum();
    assert_eq!((others, processes[1].take().unwrap()), (39, None));
}

#[test]
fn without_stealing_everybody_has_its_own() {
    let job = Job::new(3, 20, false);
    for (rank, process) in processes(&job, 20, Steal::Off).iter().enumerate() {
        let run = run_of(20, rank, 3);
        assert!(
            !process.take_this((run.end) % 20).unwrap(),
            "the first of the next"
        );
        assert_eq!(all_of(process), run.collect::<Vec<_>>());
    }
}

#[test]
fn forced_stealing_begins_at_the_neighbours() {
    let job = Job::new(3, 9, false);
    let processes = processes(&job, 9, Steal::Forced);
    assert_eq!(processes[0].take().unwrap(), Some(3));
    assert_eq!(processes[2].take().unwrap(), Some(0));
    assert_eq!(all_of(&processes[1]), [6, 7, 8, 1, 2, 4, 5]);
}

#[test]
fn victims_that_have_finished_are_skipped() {
    let ranks = 64;
    let job = Job::new(ranks, 640, false);
    let processes = processes(&job, 640, Steal::On);
    assert_eq!(all_of(&processes[1]).len(), 640);
    for rank in [0, 63, 40] {
        let before = job.calls.load(SeqCst);
        assert_eq!(processes[rank].take().unwrap(), None);
        // Process 40 asks those between it and the end, which have not found out yet themselves;
        // then 63, which has.
        let calls = job.calls.load(SeqCst) - before;
        assert!(
            calls <= if rank == 40 { 2 * 24 } else { 6 },
            "process {rank} made {calls} calls"
        );
        assert_eq!(processes[rank].take().unwrap(), None);
    }
}

#[test]
fn what_is_sent_back_waits_for_its_worker() {
    let job = Job::new(2, 4, false);
    let processes = processes(&job, 4, Steal::On);
    assert_eq!(processes[1].take().unwrap(), Some(2));
    processes[1].send_back(1, vec![7]).unwrap();
    assert!(!processes[1].all_sent().unwrap());
    assert_eq!(processes[0].take().unwrap(), Some(0));
    assert!(!processes[1].all_sent().unwrap());
    assert!(processes[0].take_this(1).unwrap());
    assert_eq!(processes[0].sent_back(1).unwrap(), None);
    assert!(processes[1].all_sent().unwrap());
    assert_eq!(processes[0].sent_back(1).unwrap(), Some(vec![7]));
    assert_eq!(processes[0].sent_back(1).unwrap(), None);
}

#[test]
fn who_gives_up_is_heard_by_all() {
    let job = Job::new(3, 3, false);
    let processes = processes(&job, 3, Steal::On);
    assert!(processes.iter().all(|process| !process.given_up().unwrap()));
    processes[1].give_up().unwrap();
    assert!(processes.iter().all(|process| process.given_up().unwrap()));
}
