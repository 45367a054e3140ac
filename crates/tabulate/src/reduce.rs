//! The second half of the trunk: workers reduce partitions.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use gyrase_fabric::Drain;
use gyrase_work::{Progress, in_parallel};
use tracing::info_span;

use crate::{Part, Partition, TabulateError};

/// What is made of partitions, on whatever device. Workers of several kinds can share the
/// partitions of a run.
pub trait Worker<E>: Send {
    /// Bytes of records that it wants at a time. It is given neighbouring partitions of so many
    /// bytes together at most, but one at least.
    fn takes(&self) -> u64 {
        0
    }

    /// True for a worker that can reduce a range of the keys of a partition by itself. Where all
    /// workers can, several of them share a partition that would keep one of them busy while the
    /// others have nothing left to do.
    fn divides(&self) -> bool {
        false
    }

    /// Reduces some partitions. They come in ascending order, each, or
    /// each part of one, to one worker.
    ///
    /// # Errors
    /// Why they cannot be reduced; the run is over then.
    fn reduce(&mut self, partitions: &[Partition]) -> Result<(), E>;

    /// Called when this worker failed or panicked: end the waits of the others for it.
    fn abandon(&self);
}

/// Lets `workers`, a thread of this process each, reduce the owned partitions from number `from`
/// on, lowest first. The progress is in partitions.
///
/// # Errors
/// The first error of any worker; the others stop at their next partitions.
pub fn reduce<D: Drain, E: From<TabulateError> + Send>(
    partitions: &D,
    from: usize,
    workers: Vec<&mut dyn Worker<E>>,
    progress: &Progress,
) -> Result<(), E> {
    let divides = workers.iter().all(|worker| worker.divides());
    let shares = if divides {
        PARTS * workers.len() as u64
    } else {
        1
    };
    let queue = Queue::new(partitions, from, shares, progress);
    // Whoever fails because of another has nothing to say.
    let first_error = Mutex::new(None);
    let reduce_all = |worker: &mut dyn Worker<E>| {
        queue.reduce_all(worker, &mut |error| {
            first_error.lock().expect(NO_PANIC).get_or_insert(error);
        });
        Ok::<(), E>(())
    };
    in_parallel(workers, reduce_all)?;
    first_error
        .into_inner()
        .expect(NO_PANIC)
        .map_or(Ok(()), Err)
}

const NO_PANIC: &str = "no thread panics while it holds the error";

/// So many parts of the work of one worker are as small as the largest thing that it takes at a
/// time should be: at the end the others wait for no more than that.
const PARTS: u64 = 16;

/// What a worker takes: a partition, or a part of one.
#[derive(Clone, Copy)]
struct Task {
    partition: usize,
    part: Part,
    bytes: u64,
}

/// The tasks that no worker has taken.
struct Queue<'p, D> {
    partitions: &'p D,
    tasks: Vec<Task>,
    next: AtomicUsize,
    failed: AtomicBool,
    progress: &'p Progress,
}

impl<'p, D: Drain> Queue<'p, D> {
    /// The owned partitions from number `from` on, those divided that are more than one of so many
    /// `shares` of all.
    fn new(partitions: &'p D, from: usize, shares: u64, progress: &'p Progress) -> Queue<'p, D> {
        let owned: Vec<usize> = partitions.owned();
        let all: u64 = owned.iter().map(|&number| partitions.bytes(number)).sum();
        let most = all.div_ceil(shares).max(1);
        let tasks = |&partition: &usize| {
            let bytes = partitions.bytes(partition);
            let parts = bytes.div_ceil(most).max(1);
            (0..parts).map(move |number| Task {
                partition,
                part: Part { number, parts },
                bytes: bytes / parts,
            })
        };
        Queue {
            partitions,
            tasks: owned
                .iter()
                .filter(|&&number| number >= from)
                .flat_map(tasks)
                .collect(),
            next: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            progress,
        }
    }

    /// Takes the next tasks for a worker that wants so many bytes.
    fn take(&self, bytes: u64) -> &[Task] {
        let run_from = |from: usize| {
            let rest = self.tasks.get(from..).unwrap_or_default();
            let mut sum = 0;
            let fits = |task: &&Task| {
                sum += task.bytes;
                sum <= bytes
            };
            rest.iter().take_while(fits).count().max(rest.len().min(1))
        };
        let advance = |from| Some(from + run_from(from));
        let from = self
            .next
            .fetch_update(Relaxed, Relaxed, advance)
            .unwrap_or_else(|from| from);
        self.tasks
            .get(from..from + run_from(from))
            .unwrap_or_default()
    }

    /// Lets a worker reduce the next partitions; false when there are no more.
    fn reduce_next<E: From<TabulateError>>(&self, worker: &mut dyn Worker<E>) -> Result<bool, E> {
        let tasks = self.take(worker.takes());
        if tasks.is_empty() {
            return Ok(false);
        }
        self.progress.go_on().map_err(TabulateError::from)?;
        let partition =
            |task: &Task| Partition::new(self.partitions, task.partition).in_part(task.part);
        let taken: Vec<Partition> = tasks.iter().map(partition).collect();
        let bytes: u64 = tasks.iter().map(|task| task.bytes).sum();
        info_span!(target: "gyrase::trace", "reduce", bytes).in_scope(|| worker.reduce(&taken))?;
        let ended = |task: &&Task| task.part.number + 1 == task.part.parts;
        self.progress
            .advance(tasks.iter().filter(ended).count() as u64);
        Ok(true)
    }

    /// Tells of an error before the waits of other workers end.
    fn reduce_all<E: From<TabulateError>>(
        &self,
        worker: &mut dyn Worker<E>,
        tell: &mut dyn FnMut(E),
    ) {
        while !self.failed.load(Relaxed) {
            let fail = |worker: &mut dyn Worker<E>| {
                self.failed.store(true, Relaxed);
                worker.abandon();
            };
            match catch_unwind(AssertUnwindSafe(|| self.reduce_next(worker))) {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => return,
                Ok(Err(error)) => {
                    tell(error);
                    fail(worker);
                }
                Err(panic) => {
                    fail(worker);
                    resume_unwind(panic);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Condvar, Mutex};

    use gyrase_fabric::{Each, FabricError};

    use super::*;

    /// Empty partitions of so many bytes.
    struct Sizes(Vec<u64>);

    impl Drain for Sizes {
        fn owned(&self) -> Vec<usize> {
            (0..self.0.len()).collect()
        }
        fn bytes(&self, partition: usize) -> u64 {
            self.0[partition]
        }
        fn drain<E: From<FabricError>>(&self, _: usize, _: &mut Each<E>) -> Result<(), E> {
            Ok(())
        }
    }

    /// Panics over the first partition; waits for it with the second, as a writer in order does.
    struct Waiting<'a>(&'a (Mutex<bool>, Condvar));

    impl Worker<TabulateError> for Waiting<'_> {
        fn reduce(&mut self, partitions: &[Partition]) -> Result<(), TabulateError> {
            assert!(partitions[0].number() > 0, "broken");
            let (abandoned, changed) = self.0;
            let waiting = |abandoned: &mut bool| !*abandoned;
            drop(
                changed
                    .wait_while(abandoned.lock().unwrap(), waiting)
                    .unwrap(),
            );
            Err(TabulateError::Cancelled)
        }

        fn abandon(&self) {
            *self.0.0.lock().unwrap() = true;
            self.0.1.notify_all();
        }
    }

    #[test]
    #[should_panic(expected = "broken")]
    fn a_panic_reaches_the_caller_and_leaves_nobody_waiting() {
        let wait = (Mutex::new(false), Condvar::new());
        let (mut one, mut two) = (Waiting(&wait), Waiting(&wait));
        let _ = reduce(
            &Sizes(vec![0, 0]),
            0,
            vec![&mut one, &mut two],
            &Progress::default(),
        );
    }

    /// Notes what it is given.
    struct Noting(u64, Vec<Vec<usize>>);

    impl Worker<TabulateError> for Noting {
        fn takes(&self) -> u64 {
            self.0
        }
        fn reduce(&mut self, partitions: &[Partition]) -> Result<(), TabulateError> {
            self.1
                .push(partitions.iter().map(Partition::number).collect());
            Ok(())
        }
        fn abandon(&self) {}
    }

    #[test]
    fn a_worker_is_given_what_it_takes() {
        let given = |bytes, from| {
            let mut worker = Noting(bytes, Vec::new());
            let sizes = Sizes(vec![3, 4, 20, 1, 1, 1, 9]);
            reduce(&sizes, from, vec![&mut worker], &Progress::default()).unwrap();
            worker.1
        };
        assert_eq!(given(0, 0), [[0], [1], [2], [3], [4], [5], [6]]);
        assert_eq!(given(8, 0), [vec![0, 1], vec![2], vec![3, 4, 5], vec![6]]);
        assert_eq!(given(100, 3), [vec![3, 4, 5, 6]]);
        assert_eq!(given(100, 7), Vec::<Vec<usize>>::new());
    }

    /// Notes what it is given of each partition.
    struct Dividing(Vec<(usize, Part)>);

    impl Worker<TabulateError> for Dividing {
        fn divides(&self) -> bool {
            true
        }
        fn reduce(&mut self, partitions: &[Partition]) -> Result<(), TabulateError> {
            let given = partitions
                .iter()
                .map(|given| (given.number(), given.part()));
            self.0.extend(given);
            Ok(())
        }
        fn abandon(&self) {}
    }

    #[test]
    fn heavy_partitions_are_divided_where_all_workers_can() {
        let sizes = Sizes(vec![10, 0, 1000, 3, 590]);
        let parts = |other: &mut dyn Worker<TabulateError>| {
            let mut worker = Dividing(Vec::new());
            let workers: Vec<&mut dyn Worker<_>> = vec![&mut worker, other];
            reduce(&sizes, 1, workers, &Progress::default()).unwrap();
            worker.0
        };
        let (mut other, mut none) = (Dividing(Vec::new()), Noting(0, Vec::new()));
        let mut given = parts(&mut other);
        given.extend(other.0);
        given.sort_unstable_by_key(|&(number, part)| (number, part.number));
        // 1603 bytes are 32 shares of 51.
        let part = |of, parts| (0..parts).map(move |number| (of, Part { number, parts }));
        let expected = part(1, 1)
            .chain(part(2, 20))
            .chain(part(3, 1))
            .chain(part(4, 12));
        assert!(given.into_iter().eq(expected));
        assert!(parts(&mut none).iter().all(|given| given.1 == Part::WHOLE));
    }

    #[test]
    fn kinds_of_workers_share_the_partitions() {
        let (mut small, mut large) = (Noting(0, Vec::new()), Noting(50, Vec::new()));
        let sizes = Sizes((0..200).map(|size| size % 7).collect());
        let workers: Vec<&mut dyn Worker<_>> = vec![&mut small, &mut large];
        reduce(&sizes, 0, workers, &Progress::default()).unwrap();
        let mut all: Vec<usize> = [small.1, large.1].into_iter().flatten().flatten().collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..200));
    }
}
