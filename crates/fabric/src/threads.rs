//! A job whose processes are threads of one, for tests of whatever runs in any [`World`].

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::schedule::{Post, Schedule, Steal, Stealing, Window, window_numbers};
use crate::{
    Combining, Exchange, ExchangeFabric, Exchanged, FabricError, Pages, Place, SpillFolder, Wire,
    World, exchange,
};

/// One process of the job, seen by the thread that runs it.
pub struct Process<'w> {
    rank: usize,
    ranks: usize,
    steal: Steal,
    watch: Watch<'w>,
    job: Arc<Job>,
    /// Exchanges and schedules so far: the same number everywhere, as they are begun by all.
    begun: AtomicUsize,
}

/// What is told of every collective before the process takes part in it, and may hold it up: the
/// rank, the name of the method, and the numbers that it gives.
pub type Watch<'w> = &'w (dyn Fn(usize, &str, &[u64]) + Sync);

/// Runs `work` as each of `ranks` processes, in threads; what they return, by rank. An error of one
/// ends what the others wait for.
///
/// # Panics
/// When one of them panics.
pub fn run<T: Send, E: Send>(
    ranks: usize,
    steal: Steal,
    work: impl Fn(&Process) -> Result<T, E> + Sync,
) -> Vec<Result<T, E>> {
    run_watched(ranks, steal, &|_, _, _| (), work)
}

/// As [`run`], with a look at every collective.
///
/// # Panics
/// When a process panics.
pub fn run_watched<T: Send, E: Send>(
    ranks: usize,
    steal: Steal,
    watch: Watch,
    work: impl Fn(&Process) -> Result<T, E> + Sync,
) -> Vec<Result<T, E>> {
    let job = Arc::new(Job::default());
    let process = |rank| {
        let process = Process {
            rank,
            ranks,
            steal,
            watch,
            job: Arc::clone(&job),
            begun: AtomicUsize::new(0),
        };
        let guard = Guard(&job);
        let done = work(&process);
        if done.is_ok() {
            std::mem::forget(guard);
        }
        done
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..ranks)
            .map(|rank| scope.spawn(move || process(rank)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no process panics"))
            .collect()
    })
}

/// What all processes see.
#[derive(Default)]
struct Job {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    failed: bool,
    /// What the processes gave to the collective under way.
    given: Vec<(usize, Vec<u8>)>,
    /// What they gave to the last one, by rank, and how many there were.
    last: Arc<Vec<Vec<u8>>>,
    collectives: u64,
    mail: HashMap<usize, Arc<Mail>>,
    boards: HashMap<usize, Arc<Board>>,
}

impl Job {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("no thread panics while it holds the job")
    }

    fn fail(&self) {
        self.lock().failed = true;
        self.changed.notify_all();
    }

    fn check(&self) -> Result<(), FabricError> {
        if self.lock().failed {
            Err(FabricError::Elsewhere)
        } else {
            Ok(())
        }
    }
}

/// Fails the job when a process leaves with an error or a panic.
struct Guard<'a>(&'a Job);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.fail();
    }
}

impl Process<'_> {
    /// What every process gives.
    fn all(&self, bytes: Vec<u8>) -> Result<Arc<Vec<Vec<u8>>>, FabricError> {
        let mut state = self.job.lock();
        let this = state.collectives;
        state.given.push((self.rank, bytes));
        if state.given.len() == self.ranks {
            let mut given = std::mem::take(&mut state.given);
            given.sort_unstable();
            state.last = Arc::new(given.into_iter().map(|(_, bytes)| bytes).collect());
            state.collectives += 1;
            self.job.changed.notify_all();
        }
        let state = self
            .job
            .changed
            .wait_while(state, |state| state.collectives == this && !state.failed);
        let state = state.expect("no thread panics while it holds the job");
        // The next one ends only when this process took part in it.
        if state.collectives == this {
            Err(FabricError::Elsewhere)
        } else {
            Ok(Arc::clone(&state.last))
        }
    }

    fn numbers(&self, numbers: &[u64]) -> Result<Vec<Vec<u64>>, FabricError> {
        let all = self.all(
            numbers
                .iter()
                .flat_map(|number| number.to_le_bytes())
                .collect(),
        )?;
        Ok(all
            .iter()
            .map(|bytes| {
                bytes
                    .as_chunks()
                    .0
                    .iter()
                    .map(|&bytes| u64::from_le_bytes(bytes))
                    .collect()
            })
            .collect())
    }

    fn fold(&self, numbers: &[u64], with: fn(u64, u64) -> u64) -> Result<Vec<u64>, FabricError> {
        let all = self.numbers(numbers)?;
        Ok((0..numbers.len())
            .map(|at| {
                all.iter()
                    .map(|numbers| numbers[at])
                    .reduce(with)
                    .unwrap_or(0)
            })
            .collect())
    }
}

impl World for Process<'_> {
    type Fabric = ExchangeFabric;

    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn fabric(
        &self,
        partitions: usize,
        memory: u64,
        folder: Arc<SpillFolder>,
        combining: Combining,
    ) -> Result<ExchangeFabric, FabricError> {
        (self.watch)(self.rank, "fabric", &[]);
        let number = self.begun.fetch_add(1, SeqCst);
        let mail = Arc::clone(self.job.lock().mail.entry(number).or_default());
        let place = Place {
            partitions,
            rank: self.rank,
            ranks: self.ranks,
        };
        let driver: Arc<Mutex<Option<Thread>>> = Arc::default();
        let woken = Arc::clone(&driver);
        let wake = move || {
            woken
                .lock()
                .expect("nobody panics here")
                .iter()
                .for_each(Thread::unpark)
        };
        let (fabric, exchange) = exchange(place, memory, folder, Some(combining), wake);
        let (job, carrier) = (Arc::clone(&self.job), Carrier::new(place, mail));
        let thread = thread::spawn(move || carrier.drive(exchange, &job));
        *driver.lock().expect("nobody panics here") = Some(thread.thread().clone());
        Ok(fabric)
    }

    fn schedule(&self, chunks: usize) -> Result<Box<dyn Schedule + '_>, FabricError> {
        (self.watch)(self.rank, "schedule", &[]);
        let number = self.begun.fetch_add(1, SeqCst);
        let board = || Arc::new(Board::new(self.ranks, chunks));
        let board = Arc::clone(self.job.lock().boards.entry(number).or_insert_with(board));
        let pin = || Pin {
            board: Arc::clone(&board),
            job: &self.job,
            rank: self.rank,
        };
        Ok(Box::new(Stealing::new(
            pin(),
            pin(),
            self.rank,
            self.ranks,
            chunks,
            self.steal,
        )))
    }

    fn sum(&self, numbers: &[u64]) -> Result<Vec<u64>, FabricError> {
        (self.watch)(self.rank, "sum", numbers);
        self.fold(numbers, u64::wrapping_add)
    }

    fn max(&self, numbers: &[u64]) -> Result<Vec<u64>, FabricError> {
        (self.watch)(self.rank, "max", numbers);
        self.fold(numbers, u64::max)
    }

    fn gather(&self, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, FabricError> {
        (self.watch)(self.rank, "gather", &[]);
        let all = self.all(bytes)?;
        Ok(if self.rank == 0 {
            all.to_vec()
        } else {
            Vec::new()
        })
    }

    fn give_up(&self) {
        self.job.fail();
    }
}

/// An operation, by its number, and the process that takes part in it.
type Part = (usize, usize);

/// What lies in the post of one exchange: what each process sent each other one.
#[derive(Default)]
struct Mail {
    counts: Mutex<HashMap<Part, Vec<u32>>>,
    bytes: Mutex<HashMap<Part, Vec<Vec<u8>>>>,
    started: AtomicU64,
}

/// Moves what one process exchanges.
struct Carrier {
    place: Place,
    mail: Arc<Mail>,
    /// Operations started and ended.
    counts: (usize, usize),
    bytes: (usize, usize),
    /// Buffers of operations under way.
    own: VecDeque<(Vec<u8>, Pages)>,
}

impl Carrier {
    fn new(place: Place, mail: Arc<Mail>) -> Carrier {
        Carrier {
            place,
            mail,
            counts: (0, 0),
            bytes: (0, 0),
            own: VecDeque::new(),
        }
    }

    fn drive(mut self, mut exchange: Exchange, job: &Job) {
        let mail = Arc::clone(&self.mail);
        while !exchange.is_over() && job.check().is_ok() {
            let moved = exchange
                .step(&mut self, mail.started.load(SeqCst))
                .expect("nothing goes wrong in memory");
            mail.started.fetch_max(exchange.started(), SeqCst);
            if !moved {
                thread::park_timeout(Duration::from_micros(200));
            }
        }
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        0..self.place.ranks
    }
}

impl Wire for Carrier {
    fn rank(&self) -> usize {
        self.place.rank
    }

    fn ranks(&self) -> usize {
        self.place.ranks
    }

    fn start_counts(&mut self, numbers: Vec<u32>) -> Result<(), FabricError> {
        lock(&self.mail.counts).insert((self.counts.0, self.place.rank), numbers);
        self.counts.0 += 1;
        Ok(())
    }

    fn counts(&mut self) -> Result<Option<Vec<u32>>, FabricError> {
        let counts = lock(&self.mail.counts);
        let came = self
            .others()
            .map(|rank| Some(counts.get(&(self.counts.1, rank))?[self.place.rank]))
            .collect();
        self.counts.1 += usize::from(Option::is_some(&came));
        Ok(came)
    }

    fn start_bytes(
        &mut self,
        bytes: Vec<u8>,
        sent: &[u32],
        came: Pages,
        _: &[u32],
    ) -> Result<(), FabricError> {
        let mut rest = &bytes[..];
        let mut next = |&length: &u32| {
            rest.split_off(..length as usize)
                .expect("lengths are those of the bytes")
                .to_vec()
        };
        let letters = sent.iter().map(&mut next).collect();
        lock(&self.mail.bytes).insert((self.bytes.0, self.place.rank), letters);
        self.bytes.0 += 1;
        self.own.push_back((bytes, came));
        Ok(())
    }

    fn bytes(&mut self) -> Result<Option<Exchanged>, FabricError> {
        let mut bytes = lock(&self.mail.bytes);
        let operation = self.bytes.1;
        if !self
            .others()
            .all(|rank| bytes.contains_key(&(operation, rank)))
        {
            return Ok(None);
        }
        let (sent, mut came) = self.own.pop_front().expect("an operation is under way");
        let mut at = 0;
        for rank in self.others() {
            let letters = bytes.get_mut(&(operation, rank)).expect("all are there");
            let letter = std::mem::take(&mut letters[self.place.rank]);
            came[at..][..letter.len()].copy_from_slice(&letter);
            at += letter.len();
        }
        self.bytes.1 += 1;
        Ok(Some(Exchanged { sent, came }))
    }
}

/// What the processes keep for all during one schedule: numbers, and letters by addressee.
struct Board {
    numbers: Vec<Vec<AtomicU64>>,
    letters: Vec<Mutex<VecDeque<Letter>>>,
}

/// A number, and what is in the letter.
type Letter = (u64, Vec<u8>);

impl Board {
    fn new(ranks: usize, chunks: usize) -> Board {
        let numbers = |rank| {
            (0..window_numbers(rank, ranks, chunks))
                .map(|_| AtomicU64::new(0))
                .collect()
        };
        Board {
            numbers: (0..ranks).map(numbers).collect(),
            letters: (0..ranks).map(|_| Mutex::default()).collect(),
        }
    }
}

/// A process before the board.
struct Pin<'j> {
    board: Arc<Board>,
    job: &'j Job,
    rank: usize,
}

impl Window for Pin<'_> {
    fn add(&self, rank: usize, at: usize, number: u64) -> Result<u64, FabricError> {
        self.job.check()?;
        Ok(self.board.numbers[rank][at].fetch_add(number, SeqCst))
    }

    fn get(&self, rank: usize, at: usize) -> Result<u64, FabricError> {
        self.job.check()?;
        Ok(self.board.numbers[rank][at].load(SeqCst))
    }

    fn put(&self, rank: usize, at: usize, number: u64) -> Result<(), FabricError> {
        self.job.check()?;
        self.board.numbers[rank][at].store(number, SeqCst);
        Ok(())
    }

    fn compare_and_swap(
        &self,
        rank: usize,
        at: usize,
        expected: u64,
        new: u64,
    ) -> Result<u64, FabricError> {
        self.job.check()?;
        let swapped = self.board.numbers[rank][at].compare_exchange(expected, new, SeqCst, SeqCst);
        Ok(swapped.unwrap_or_else(|found| found))
    }
}

impl Post for Pin<'_> {
    fn send(&self, rank: usize, number: u64, bytes: Vec<u8>) -> Result<(), FabricError> {
        self.job.check()?;
        lock(&self.board.letters[rank]).push_back((number, bytes));
        Ok(())
    }

    fn receive(&self) -> Result<Option<(u64, Vec<u8>)>, FabricError> {
        self.job.check()?;
        Ok(lock(&self.board.letters[self.rank]).pop_front())
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock()
        .expect("no thread panics while it holds the post")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_agree_and_an_error_of_one_ends_the_others() {
        let done = run(3, Steal::On, |process| {
            let mine = process.rank() as u64 + 1;
            assert_eq!(process.sum(&[mine, u64::MAX]).unwrap(), [6, u64::MAX - 2]);
            assert_eq!(process.max(&[mine, 10 - mine]).unwrap(), [3, 9]);
            let gathered = process.gather(vec![mine as u8; process.rank()]).unwrap();
            assert_eq!(
                gathered,
                if mine == 1 {
                    vec![vec![], vec![2], vec![3, 3]]
                } else {
                    vec![]
                }
            );
            if process.rank() == 1 {
                return Err(FabricError::Memory);
            }
            process.sum(&[0])
        });
        assert!(
            matches!(done[0], Err(FabricError::Elsewhere))
                && matches!(done[2], Err(FabricError::Elsewhere))
        );
        assert!(matches!(done[1], Err(FabricError::Memory)));
    }

    #[test]
    fn chunks_are_handed_out_once() {
        let taken = run(4, Steal::On, |process| {
            let schedule = process.schedule(50)?;
            std::iter::from_fn(|| schedule.take().transpose())
                .collect::<Result<Vec<usize>, FabricError>>()
        });
        let mut all: Vec<usize> = taken.into_iter().flat_map(Result::unwrap).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..50));
    }
}
