//! Cores for the workers of the processes on one machine.

use std::ffi::OsString;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_setaffinity};

use crate::{Neighbours, clock};

/// How many nanoseconds a worker stays on a core that others share: long against what it takes to
/// fill its caches, short against a run.
const TURN: i64 = 20_000_000;

/// Does `work` on the core of a worker, and lets the first worker have the thread that calls MPI
/// there too; where the machine has cores to spare, or its launcher tells nothing, on any.
///
/// Left to itself a system that has as many threads to run as cores may let two of them share one
/// for seconds while another has one to itself.
pub(crate) fn on_core<T>(worker: usize, workers: usize, mpi: Pid, work: impl FnOnce() -> T) -> T {
    let Ok(all) = sched_getaffinity(None) else {
        return work();
    };
    let cores = (0..CpuSet::MAX_CPU)
        .filter(|&core| all.is_set(core))
        .collect();
    let Some(cores) = seats(cores, node, Neighbours::of_this_process(), worker, workers) else {
        return work();
    };
    let threads = [gettid(), mpi];
    Seats { all, cores }.work(if worker == 0 { &threads } else { &threads[..1] }, work)
}

/// The core of worker `worker` of the `workers` of this process; of cores that workers have to
/// share, all that it has in turn, which are of one `node`. `None` where there are more cores than
/// workers, who have room enough then, or no choice.
fn seats<N: PartialEq>(
    mut cores: Vec<usize>,
    node: impl Fn(usize) -> N,
    Neighbours { rank, ranks }: Neighbours,
    worker: usize,
    workers: usize,
) -> Option<Vec<usize>> {
    let (number, seated) = (cores.len(), ranks * workers);
    if number < 2 || seated < number {
        return None;
    }
    cores.rotate_left((rank? * workers + worker) % number);
    if seated == number {
        cores.truncate(1);
    } else {
        let near = node(cores[0]);
        cores.retain(|&core| node(core) == near);
    }
    Some(cores)
}

/// The NUMA node of a core, by its name; `None` where the system does not say.
fn node(core: usize) -> Option<OsString> {
    let entries = std::fs::read_dir(format!("/sys/devices/system/cpu/cpu{core}")).ok()?;
    let mut names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    names.find(|name| name.as_encoded_bytes().starts_with(b"node"))
}

/// Where a worker sits.
struct Seats {
    /// The cores that its threads had.
    all: CpuSet,
    /// The one that is its own, or those that it has in turn because others share them. All workers
    /// go on at the same times, so that each core has as many at any time, and each worker has been
    /// on fast cores as long as on slow ones.
    cores: Vec<usize>,
}

impl Seats {
    /// Does `work` while the threads sit here; they have all their cores again then.
    fn work<T>(&self, threads: &[Pid], work: impl FnOnce() -> T) -> T {
        let done = thread::scope(|scope| {
            let (_working, ended) = channel();
            bind(threads, &self.seat(clock::now()));
            if self.cores.len() > 1 {
                // Where there is no such thread they stay where they are.
                _ = thread::Builder::new()
                    .name("turns".into())
                    .spawn_scoped(scope, || self.take_turns(threads, ended));
            }
            work()
        });
        bind(threads, &self.all);
        done
    }

    /// Goes from core to core until the work has `ended`.
    fn take_turns(&self, threads: &[Pid], ended: Receiver<()>) {
        // Not only on the core of whoever started this thread: where that one is busy it would come
        // late.
        bind(&[gettid()], &self.all);
        let left = || Duration::from_nanos((TURN - clock::now() % TURN) as u64);
        while ended.recv_timeout(left()) == Err(RecvTimeoutError::Timeout) {
            bind(threads, &self.seat(clock::now()));
        }
    }

    /// The core at a time by the clock that all processes of a machine share.
    fn seat(&self, now: i64) -> CpuSet {
        let mut seat = CpuSet::new();
        seat.set(in_turn(&self.cores, now));
        seat
    }
}

/// Which of the cores of a worker it has at a time.
fn in_turn(cores: &[usize], now: i64) -> usize {
    cores[(now / TURN) as usize % cores.len()]
}

/// Lets the threads run on these cores only. Where the system refuses, it is left to itself.
fn bind(threads: &[Pid], cores: &CpuSet) {
    threads
        .iter()
        .for_each(|&thread| _ = sched_setaffinity(Some(thread), cores));
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rustix::thread::sched_getcpu;

    use super::*;

    fn here(rank: usize, ranks: usize) -> Neighbours {
        Neighbours {
            rank: Some(rank),
            ranks,
        }
    }

    /// The cores of all workers of a machine whose nodes have so many cores each.
    fn all(cores: usize, in_node: usize, ranks: usize, workers: usize) -> Option<Vec<Vec<usize>>> {
        let everybody = (0..ranks).flat_map(|rank| (0..workers).map(move |worker| (rank, worker)));
        let seats = |(rank, worker)| {
            seats(
                (0..cores).collect(),
                |core| core / in_node,
                here(rank, ranks),
                worker,
                workers,
            )
        };
        everybody.map(seats).collect()
    }

    #[test]
    fn every_core_has_as_many_workers_at_any_time() {
        let cases = [
            (2, 2, 4, 1),
            (8, 8, 4, 2),
            (6, 6, 3, 4),
            (5, 5, 7, 3),
            (8, 4, 9, 1),
            (8, 4, 20, 3),
            (4, 2, 1, 4),
        ];
        for (cores, in_node, ranks, workers) in cases {
            let all = all(cores, in_node, ranks, workers).expect("there is no room to spare");
            for turn in 0..9 {
                let mut load = vec![0; cores];
                all.iter()
                    .for_each(|seats| load[in_turn(seats, turn * TURN + TURN / 2)] += 1);
                assert!(
                    load.iter().max().unwrap() - load.iter().min().unwrap() <= 1,
                    "{load:?}"
                );
            }
        }
        assert_eq!(all(8, 8, 7, 1), None, "there is room");
        assert_eq!(all(1, 1, 7, 1), None, "there is no choice");
        let unknown = Neighbours {
            rank: None,
            ranks: 4,
        };
        assert_eq!(
            seats(vec![0, 1], |_| 0, unknown, 0, 1),
            None,
            "nobody says who this is"
        );
    }

    #[test]
    fn workers_that_share_cores_have_each_of_a_node_in_turn() {
        let of = |cores, rank, ranks| seats(cores, |core| core / 4, here(rank, ranks), 0, 1);
        assert_eq!(of((0..8).collect(), 6, 9), Some(vec![6, 7, 4, 5]));
        assert_eq!(of(vec![1, 3, 5], 4, 5), Some(vec![3, 1]));
        assert_eq!(
            of((0..8).collect(), 6, 8),
            Some(vec![6]),
            "there is a core for each"
        );
    }

    #[test]
    fn a_worker_goes_from_core_to_core_and_has_all_back() {
        let before = sched_getaffinity(None).expect("the system tells");
        let cores: Vec<usize> = (0..CpuSet::MAX_CPU)
            .filter(|&core| before.is_set(core))
            .collect();
        let mut seen = HashSet::new();
        let done = Seats {
            all: before,
            cores: cores.clone(),
        }
        .work(&[gettid()], || {
            while seen.len() < cores.len() {
                seen.insert(sched_getcpu());
                thread::yield_now();
            }
            7
        });
        assert_eq!(done, 7);
        assert_eq!(sched_getaffinity(None).expect("the system tells"), before);
    }
}
