//! Cores for the workers of the processes on one machine.

use std::ffi::OsString;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_setaffinity};

use crate::{Neighbours, clock};

/// How many nanoseconds a worker stays on a core that others share: long against what it takes to fill its caches, short against a run.
const TURN: i64 = 20_000_000;

/// Does `work` on the core of a worker, and lets the first worker have the thread that calls MPI there too; where the machine has
/// cores to spare, or its launcher tells nothing, on any.
///
/// Left to itself a system that has as many threads to run as cores may let two of them share one for seconds while another has
/// one to itself.
pub(crate) fn on_core<T>(worker: usize, workers: usize, mpi: Pid, work: impl FnOnce() -> T) -> T {
    let Some(seats) = seats(Neighbours::of_this_process(), worker, workers) else { return work() };
    let threads = [gettid(), mpi];
    seats.work(if worker == 0 { &threads } else { &threads[..1] }, work)
}

/// Where a worker sits.
struct Seats {
    /// The cores that its threads had.
    all: CpuSet,
    /// The one that is its own, or those that it has in turn because others share them. All workers go on at the same times, so that
    /// each core has as many at any time, and each worker has been on fast cores as long as on slow ones.
    cores: Vec<usize>,
}

/// The seats of worker `worker` of the `workers` of this process; `None` where there are more cores than workers, who have room enough
/// then.
fn seats(Neighbours { rank, ranks }: Neighbours, worker: usize, workers: usize) -> Option<Seats> {
    let all = sched_getaffinity(None).ok()?;
    let mut cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&core| all.is_set(core)).collect();
    let seated = ranks * workers;
    if cores.len() < 2 || seated < cores.len() {
        return None;
    }
    let first = (rank? * workers + worker) % cores.len();
    cores.rotate_left(first);
    match seated > cores.len() {
        true => cores = in_one_node(cores, node),
        false => cores.truncate(1),
    }
    Some(Seats { all, cores })
}

/// Those of the cores whose memory is as near as the first one's.
fn in_one_node<N: PartialEq>(mut cores: Vec<usize>, node: impl Fn(usize) -> N) -> Vec<usize> {
    let near = node(cores[0]);
    cores.retain(|&core| node(core) == near);
    cores
}

/// The NUMA node of a core, by its name; `None` where the system does not say.
fn node(core: usize) -> Option<OsString> {
    let entries = std::fs::read_dir(format!("/sys/devices/system/cpu/cpu{core}")).ok()?;
    let mut names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    names.find(|name| name.as_encoded_bytes().starts_with(b"node"))
}

impl Seats {
    /// Does `work` while the threads sit here; they have all their cores again then.
    fn work<T>(&self, threads: &[Pid], work: impl FnOnce() -> T) -> T {
        let done = thread::scope(|scope| {
            let (_working, ended) = channel();
            bind(threads, &self.seat(clock::now()));
            if self.cores.len() > 1 {
                // Where there is no such thread they stay where they are.
                _ = thread::Builder::new().name("turns".into()).spawn_scoped(scope, || self.take_turns(threads, ended));
            }
            work()
        });
        bind(threads, &self.all);
        done
    }

    /// Goes from core to core until the work has `ended`.
    fn take_turns(&self, threads: &[Pid], ended: Receiver<()>) {
        // Not only on the core of whoever started this thread: where that one is busy it would come late.
        bind(&[gettid()], &self.all);
        let left = || Duration::from_nanos((TURN - clock::now() % TURN) as u64);
        while ended.recv_timeout(left()) == Err(RecvTimeoutError::Timeout) {
            bind(threads, &self.seat(clock::now()));
        }
    }

    /// The core at a time by the clock that all processes of a machine share.
    fn seat(&self, now: i64) -> CpuSet {
        let mut seat = CpuSet::new();
        seat.set(self.cores[(now / TURN) as usize % self.cores.len()]);
        seat
    }
}

/// Lets the threads run on these cores only. Where the system refuses, it is left to itself.
fn bind(threads: &[Pid], cores: &CpuSet) {
    threads.iter().for_each(|&thread| _ = sched_setaffinity(Some(thread), cores));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(rank: usize, ranks: usize) -> Neighbours {
        Neighbours { rank: Some(rank), ranks }
    }

    fn cores() -> usize {
        (0..CpuSet::MAX_CPU).filter(|&core| sched_getaffinity(None).unwrap().is_set(core)).count()
    }

    #[test]
    fn every_core_has_as_many_workers_at_any_time() {
        for (ranks, workers) in [(cores(), 1), (1, cores()), (2 * cores(), 1), (cores(), 3), (2 * cores() + 1, 1)] {
            let everybody = (0..ranks).flat_map(|rank| (0..workers).map(move |worker| (rank, worker)));
            let seats = |(rank, worker)| seats(here(rank, ranks), worker, workers);
            let Some(all) = everybody.map(seats).collect::<Option<Vec<Seats>>>() else {
                assert_eq!(cores(), 1, "there is no choice");
                continue;
            };
            for turn in 0..5 {
                let seated: Vec<CpuSet> = all.iter().map(|seats| seats.seat(turn * TURN + TURN / 2)).collect();
                let load = |core| seated.iter().filter(|seat| seat.is_set(core)).count();
                let loads: Vec<usize> = (0..CpuSet::MAX_CPU).map(load).filter(|&load| load > 0).collect();
                assert_eq!(loads.len(), cores());
                assert!(loads.iter().max().unwrap() - loads.iter().min().unwrap() <= 1, "{loads:?}");
            }
        }
        assert!(seats(here(0, cores() - 1), 0, 1).is_none(), "there is room");
        assert!(seats(Neighbours { rank: None, ranks: 2 * cores() }, 0, 1).is_none(), "nobody says who this is");
    }

    #[test]
    fn a_worker_stays_where_its_memory_is() {
        assert_eq!(in_one_node(vec![6, 7, 0, 1, 2, 3, 4, 5], |core| core / 4), [6, 7, 4, 5]);
        assert_eq!(in_one_node(vec![1, 0], |_| None::<()>), [1, 0]);
    }

    #[test]
    fn a_worker_that_shares_has_each_core_in_turn() {
        let before = sched_getaffinity(None).unwrap();
        let Some(seats) = seats(here(0, 2 * cores()), 0, 1) else { return };
        let mut seen = std::collections::HashSet::new();
        let all = seats.cores.len();
        let done = seats.work(&[gettid()], || {
            while seen.len() < all {
                seen.insert(rustix::thread::sched_getcpu());
                thread::yield_now();
            }
            7
        });
        assert_eq!(done, 7);
        assert_eq!(sched_getaffinity(None).unwrap(), before, "it has all its cores back");
    }
}
