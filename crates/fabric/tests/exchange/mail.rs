//! Processes of a job as threads of one: what they send lies in a common mailbox, and arrives after
//! a while.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use gyrase_fabric::conformance::Same;
use gyrase_fabric::{
    Combining, Exchange, ExchangeFabric, Exchanged, FabricError, FabricOptions, Pages, Peer, Place,
    SpillFolder, Traffic, Wire, exchange,
};

/// What all of them see.
pub struct Job {
    pub ranks: usize,
    /// Senders combine their records, and find nothing to combine.
    pub combines: bool,
    counts: Mutex<Vec<Vec<Option<Vec<u32>>>>>,
    bytes: Mutex<Vec<Vec<Option<Sent>>>>,
    started: Vec<AtomicU64>,
    pub failed: AtomicBool,
}

struct Sent {
    bytes: Vec<u8>,
    lengths: Vec<u32>,
    taken: usize,
}

impl Job {
    pub fn new(ranks: usize) -> Arc<Job> {
        Job::combining(ranks, false)
    }

    pub fn combining(ranks: usize, combines: bool) -> Arc<Job> {
        Arc::new(Job {
            ranks,
            combines,
            counts: Mutex::default(),
            bytes: Mutex::default(),
            started: (0..ranks).map(|_| AtomicU64::new(0)).collect(),
            failed: AtomicBool::new(false),
        })
    }

    /// How many rounds the rank that started the most has started.
    pub fn busiest(&self) -> u64 {
        self.started
            .iter()
            .map(|started| started.load(SeqCst))
            .max()
            .unwrap_or(0)
    }
}

/// Puts what `rank` gives to its operation number `at`.
fn put<T>(all: &mut Vec<Vec<Option<T>>>, ranks: usize, at: usize, rank: usize, what: T) {
    while all.len() <= at {
        all.push((0..ranks).map(|_| None).collect());
    }
    all[at][rank] = Some(what);
}

struct Thread {
    job: Arc<Job>,
    rank: usize,
    /// Bytes that may be sent in a round.
    most: u64,
    random: u64,
    /// Started and ended.
    counts: (usize, usize),
    bytes: (usize, usize),
    /// Per operation under way: the buffer and what is to come.
    own: VecDeque<(Vec<u8>, Pages, Vec<u32>)>,
}

impl Thread {
    fn late(&mut self) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random.is_multiple_of(3)
    }
}

impl Wire for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.job.ranks
    }

    fn start_counts(&mut self, numbers: Vec<u32>) -> Result<(), FabricError> {
        assert_eq!(numbers.len(), self.job.ranks);
        put(
            &mut self.job.counts.lock().expect("no rank panics"),
            self.job.ranks,
            self.counts.0,
            self.rank,
            numbers,
        );
        self.counts.0 += 1;
        Ok(())
    }

    fn counts(&mut self) -> Result<Option<Vec<u32>>, FabricError> {
        assert!(self.counts.0 > self.counts.1, "an operation is under way");
        if self.late() {
            return Ok(None);
        }
        let (counts, rank) = (self.job.counts.lock().expect("no rank panics"), self.rank);
        let came = counts[self.counts.1]
            .iter()
            .map(|numbers| Some(numbers.as_ref()?[rank]))
            .collect();
        self.counts.1 += usize::from(Option::is_some(&came));
        Ok(came)
    }

    fn start_bytes(
        &mut self,
        bytes: Vec<u8>,
        sent: &[u32],
        came: Pages,
        received: &[u32],
    ) -> Result<(), FabricError> {
        assert_eq!(sent.iter().sum::<u32>() as usize, bytes.len());
        assert_eq!((sent[self.rank], received[self.rank]), (0, 0));
        assert!(
            bytes.len() as u64 <= self.most,
            "{} bytes to be sent, not {}",
            bytes.len(),
            self.most
        );
        let copy = Sent {
            bytes: bytes.clone(),
            lengths: sent.to_vec(),
            taken: 0,
        };
        put(
            &mut self.job.bytes.lock().expect("no rank panics"),
            self.job.ranks,
            self.bytes.0,
            self.rank,
            copy,
        );
        self.bytes.0 += 1;
        self.own.push_back((bytes, came, received.to_vec()));
        Ok(())
    }

    fn bytes(&mut self) -> Result<Option<Exchanged>, FabricError> {
        assert!(self.bytes.0 > self.bytes.1, "an operation is under way");
        if self.late() {
            return Ok(None);
        }
        let mut all = self.job.bytes.lock().expect("no rank panics");
        let round = &mut all[self.bytes.1];
        if round.iter().any(Option::is_none) {
            return Ok(None);
        }
        self.bytes.1 += 1;
        let (sent, mut came, received) = self.own.pop_front().expect("an operation is under way");
        let mut at = 0;
        for (other, expected) in round.iter_mut().flatten().zip(received) {
            let from = other.lengths[..self.rank].iter().sum::<u32>() as usize;
            assert_eq!(other.lengths[self.rank], expected, "what was announced");
            came[at..][..expected as usize]
                .copy_from_slice(&other.bytes[from..][..expected as usize]);
            at += expected as usize;
            other.taken += 1;
            if other.taken == self.job.ranks {
                other.bytes = Vec::new();
            }
        }
        Ok(Some(Exchanged { sent, came }))
    }
}

/// Drives an exchange as the thread that owns the message library does, until it is over or the job
/// failed; `most` bytes may be sent in a round.
pub fn drive(job: &Arc<Job>, rank: usize, most: u64, mut exchange: Exchange) -> Traffic {
    let random = 0x9e37_79b9_7f4a_7c15 ^ (rank as u64 + 1) << 17;
    let (job, own) = (Arc::clone(job), VecDeque::new());
    let mut wire = Thread {
        job: Arc::clone(&job),
        rank,
        most,
        random,
        counts: (0, 0),
        bytes: (0, 0),
        own,
    };
    while !exchange.is_over() {
        if job.failed.load(SeqCst) {
            exchange.fail();
            break;
        }
        let busiest = if wire.late() { 0 } else { job.busiest() };
        let moved = exchange
            .step(&mut wire, busiest)
            .expect("a mailbox never fails");
        job.started[rank].store(exchange.started(), SeqCst);
        if !moved {
            thread::sleep(Duration::from_micros(50));
        }
    }
    exchange.traffic()
}

/// Runs `work` as every process of a job, each with a fabric of its own; what it returned and what
/// was moved, by rank.
pub fn run<T: Send>(
    job: &Arc<Job>,
    partitions: usize,
    memory: u64,
    folder: impl Fn(usize) -> Arc<SpillFolder> + Sync,
    work: impl Fn(usize, ExchangeFabric) -> Result<T, FabricError> + Sync,
) -> Vec<(Result<T, FabricError>, Traffic)> {
    let process = |rank| {
        let place = Place::among(
            partitions,
            Peer {
                rank,
                ranks: job.ranks,
            },
        );
        let combining = Combining {
            make: Box::new(|| Box::<Same>::default()),
            portion: 1 << 16,
        };
        let options = FabricOptions {
            memory,
            spill: Some(folder(rank)),
            combining: job.combines.then_some(combining),
            ..FabricOptions::default()
        };
        let (fabric, exchange) = exchange(place, options, || ());
        thread::scope(|scope| {
            let most = ExchangeFabric::most_received(memory, job.ranks);
            let driver = scope.spawn(move || drive(job, rank, most, exchange));
            let done = work(rank, fabric);
            if done.is_err() {
                job.failed.store(true, SeqCst);
            }
            (done, driver.join().expect("no rank panics"))
        })
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..job.ranks)
            .map(|rank| scope.spawn(move || process(rank)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no rank panics"))
            .collect()
    })
}
