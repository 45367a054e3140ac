//! Cores for the workers of the processes on one machine.

use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

use crate::Neighbours;

/// Which of `cores` cores is that of worker `worker` of `workers` in process `rank` of the `ranks` of a machine; `None` where
/// there are more cores than workers, who have room enough then.
fn core(cores: usize, (rank, ranks): (usize, usize), worker: usize, workers: usize) -> Option<usize> {
    (cores > 1 && ranks * workers >= cores).then(|| (rank * workers + worker) % cores)
}

/// Does `work` on the core of a worker, and lets the first worker have the thread that calls MPI there too; where the machine has
/// cores to spare, or its launcher tells nothing, on any.
///
/// Left to itself a system that has as many threads to run as cores may let two of them share one for seconds while another has
/// one to itself.
pub(crate) fn on_core<T>(worker: usize, workers: usize, mpi: Pid, work: impl FnOnce() -> T) -> T {
    let threads = [None, Some(mpi)];
    let threads = if worker == 0 { &threads[..] } else { &threads[..1] };
    let bound = bound(worker, workers);
    // Where the system refuses, it is left to itself.
    let bind = |cores: &CpuSet| threads.iter().for_each(|&thread| _ = sched_setaffinity(thread, cores));
    bound.inspect(|(_, own)| bind(own));
    let done = work();
    bound.inspect(|(all, _)| bind(all));
    done
}

/// The cores of this thread, and the one of them that is to be its own.
fn bound(worker: usize, workers: usize) -> Option<(CpuSet, CpuSet)> {
    let all = sched_getaffinity(None).ok()?;
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&core| all.is_set(core)).collect();
    let Neighbours { rank, ranks } = Neighbours::of_this_process();
    let mut own = CpuSet::new();
    own.set(cores[core(cores.len(), (rank?, ranks), worker, workers)?]);
    Some((all, own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_core_has_as_many_workers() {
        for (cores, ranks, workers) in [(2, 4, 1), (8, 4, 2), (6, 3, 4), (5, 7, 3)] {
            let mut load = vec![0; cores];
            for (rank, worker) in (0..ranks).flat_map(|rank| (0..workers).map(move |worker| (rank, worker))) {
                load[core(cores, (rank, ranks), worker, workers).unwrap()] += 1;
            }
            assert!(load.iter().max().unwrap() - load.iter().min().unwrap() <= 1, "{load:?}");
        }
        assert_eq!(core(8, (0, 7), 0, 1), None, "there is room");
        assert_eq!(core(1, (0, 7), 0, 1), None, "there is no choice");
    }

    #[test]
    fn a_thread_has_its_cores_back() {
        let before = sched_getaffinity(None).unwrap();
        assert_eq!(on_core(0, 1, rustix::thread::gettid(), || 7), 7);
        assert_eq!(sched_getaffinity(None).unwrap(), before);
    }
}
