//! A job whose processes are threads of one, for tests of whatever runs in any [`World`].

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

use crate::carrier::carry;
use crate::group::fold;
use crate::{
    ExchangeFabric, FabricError, FabricOptions, Mailbox, Message, Peer, Place, Schedule, Steal,
    Stealing, Window, World, window_numbers,
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
    /// Bytes of its messages to others.
    sent: Arc<AtomicU64>,
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
            sent: Arc::default(),
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
    /// By number, until every process has it.
    boards: HashMap<usize, (Arc<Board>, usize)>,
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
    /// Bytes of the messages that it sent to other processes so far.
    pub fn sent(&self) -> u64 {
        self.sent.load(SeqCst)
    }

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

    fn fold(&self, numbers: &[u64], with: fn(u64, u64) -> u64) -> Result<Vec<u64>, FabricError> {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        let all = self.all(bytes.collect())?;
        Ok(fold(&all, numbers.len(), with))
    }

    /// Collective. This process before a board of so many numbers each.
    fn pin(&self, numbers: usize) -> Pin {
        let number = self.begun.fetch_add(1, SeqCst);
        let mut state = self.job.lock();
        let board = || (Arc::new(Board::new(self.ranks, numbers)), 0);
        let (board, users) = state.boards.entry(number).or_insert_with(board);
        *users += 1;
        let (board, all) = (Arc::clone(board), *users == self.ranks);
        if all {
            state.boards.remove(&number);
        }
        Pin {
            board,
            job: Arc::clone(&self.job),
            rank: self.rank,
            sent: Arc::clone(&self.sent),
        }
    }
}

impl World for Process<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn fabric(
        &self,
        partitions: usize,
        mut options: FabricOptions,
    ) -> Result<ExchangeFabric, FabricError> {
        (self.watch)(self.rank, "fabric", &[]);
        let place =
            Place::among(partitions, self.peer()).owned_by(std::mem::take(&mut options.owners));
        Ok(carry(Arc::new(self.pin(0)), place, options))
    }

    fn schedule(&self, chunks: usize) -> Result<Box<dyn Schedule + '_>, FabricError> {
        (self.watch)(self.rank, "schedule", &[]);
        let numbers = (0..self.ranks).map(|rank| {
            let peer = Peer {
                rank,
                ..self.peer()
            };
            window_numbers(peer, chunks)
        });
        let pin = self.pin(numbers.max().unwrap_or(0));
        let schedule = Stealing::new(pin.clone(), pin, self.peer(), chunks, self.steal);
        Ok(Box::new(schedule))
    }

    fn mailbox(&self) -> Result<Arc<dyn Mailbox>, FabricError> {
        (self.watch)(self.rank, "mailbox", &[]);
        Ok(Arc::new(self.pin(0)))
    }

    fn sum(&self, numbers: &[u64]) -> Result<Vec<u64>, FabricError> {
        (self.watch)(self.rank, "sum", numbers);
        self.fold(numbers, u64::wrapping_add)
    }

    fn max(&self, numbers: &[u64]) -> Result<Vec<u64>, FabricError> {
        (self.watch)(self.rank, "max", numbers);
        self.fold(numbers, u64::max)
    }

    fn broadcast(&self, from: usize, bytes: Vec<u8>) -> Result<Vec<u8>, FabricError> {
        (self.watch)(self.rank, "broadcast", &[]);
        Ok(self.all(bytes)?[from].clone())
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, FabricError> {
        (self.watch)(self.rank, "all_gather", &[]);
        Ok(self.all(bytes.to_vec())?.to_vec())
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

/// What the processes keep for all: numbers, and messages by addressee.
struct Board {
    numbers: Vec<Vec<AtomicU64>>,
    messages: Vec<Mutex<VecDeque<Message>>>,
}

impl Board {
    fn new(ranks: usize, numbers: usize) -> Board {
        let zeros = || (0..numbers).map(|_| AtomicU64::new(0)).collect();
        Board {
            numbers: (0..ranks).map(|_| zeros()).collect(),
            messages: (0..ranks).map(|_| Mutex::default()).collect(),
        }
    }
}

/// A process before the board.
#[derive(Clone)]
struct Pin {
    board: Arc<Board>,
    job: Arc<Job>,
    rank: usize,
    sent: Arc<AtomicU64>,
}

impl Window for Pin {
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

impl Mailbox for Pin {
    fn send(&self, rank: usize, number: u64, bytes: Vec<u8>) -> Result<(), FabricError> {
        self.job.check()?;
        if rank != self.rank {
            self.sent.fetch_add(bytes.len() as u64, SeqCst);
        }
        lock(&self.board.messages[rank]).push_back((number, bytes));
        Ok(())
    }

    fn receive(&self) -> Result<Option<Message>, FabricError> {
        self.job.check()?;
        Ok(lock(&self.board.messages[self.rank]).pop_front())
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock()
        .expect("no thread panics while it holds the messages")
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
