//! The second half of the trunk: workers reduce partitions.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use gyrase_fabric::{Drain, World};
use gyrase_work::{Progress, in_parallel};
use tracing::info_span;

use crate::{Partition, TabulateError};

/// What is made of partitions, on whatever device. Workers of several kinds can share the
/// partitions of a run.
pub trait Worker<E>: Send {
    /// Bytes of records that it wants at a time. It is given neighbouring partitions of so many
    /// bytes together at most, but one at least.
    fn takes(&self) -> u64 {
        0
    }

    /// Reduces some partitions. They come in ascending order, each to one worker.
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
    world: &impl World,
    from: usize,
    workers: Vec<&mut dyn Worker<E>>,
    progress: &Progress,
) -> Result<(), E> {
    let queue = Queue::new(partitions, from, progress);
    let threads = workers.len();
    let workers = workers.into_iter().enumerate().collect();
    // Whoever fails because of another has nothing to say.
    let first_error = Mutex::new(None);
    let reduce_all = |worker: &mut dyn Worker<E>| {
        queue.reduce_all(worker, &mut |error| {
            first_error.lock().expect(NO_PANIC).get_or_insert(error);
        });
        Ok::<(), E>(())
    };
    in_parallel(workers, |(number, worker)| {
        world.on_core(number, threads, || reduce_all(worker))
    })?;
    first_error
        .into_inner()
        .expect(NO_PANIC)
        .map_or(Ok(()), Err)
}

const NO_PANIC: &str = "no thread panics while it holds the error";

/// The partitions that no worker has taken.
struct Queue<'p, D> {
    partitions: &'p D,
    owned: Vec<usize>,
    next: AtomicUsize,
    failed: AtomicBool,
    progress: &'p Progress,
}

impl<'p, D: Drain> Queue<'p, D> {
    fn new(partitions: &'p D, from: usize, progress: &'p Progress) -> Queue<'p, D> {
        let owned = partitions.owned();
        let next = AtomicUsize::new(owned.partition_point(|&number| number < from));
        Queue {
            partitions,
            owned,
            next,
            failed: AtomicBool::new(false),
            progress,
        }
    }

    /// Takes the next partitions for a worker that wants so many bytes.
    fn take(&self, bytes: u64) -> &[usize] {
        let run_from = |from: usize| {
            let rest = self.owned.get(from..).unwrap_or_default();
            let mut sum = 0;
            let fits = |&&number: &&usize| {
                sum += self.partitions.bytes(number);
                sum <= bytes
            };
            rest.iter().take_while(fits).count().max(rest.len().min(1))
        };
        let advance = |from| Some(from + run_from(from));
        let from = self
            .next
            .fetch_update(Relaxed, Relaxed, advance)
            .unwrap_or_else(|from| from);
        self.owned
            .get(from..from + run_from(from))
            .unwrap_or_default()
    }

    /// Lets a worker reduce the next partitions; false when there are no more.
    fn reduce_next<E: From<TabulateError>>(&self, worker: &mut dyn Worker<E>) -> Result<bool, E> {
        let numbers = self.take(worker.takes());
        if numbers.is_empty() {
            return Ok(false);
        }
        self.progress.go_on().map_err(TabulateError::from)?;
        let partition = |&number| Partition::new(self.partitions, number);
        let taken: Vec<Partition> = numbers.iter().map(partition).collect();
        let bytes: u64 = taken.iter().map(Partition::bytes).sum();
        info_span!(target: "gyrase::trace", "reduce", bytes).in_scope(|| worker.reduce(&taken))?;
        self.progress.advance(numbers.len() as u64);
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

    use gyrase_fabric::{Alone, Each, FabricError};

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
            &Alone,
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
            reduce(
                &sizes,
                &Alone,
                from,
                vec![&mut worker],
                &Progress::default(),
            )
            .unwrap();
            worker.1
        };
        assert_eq!(given(0, 0), [[0], [1], [2], [3], [4], [5], [6]]);
        assert_eq!(given(8, 0), [vec![0, 1], vec![2], vec![3, 4, 5], vec![6]]);
        assert_eq!(given(100, 3), [vec![3, 4, 5, 6]]);
        assert_eq!(given(100, 7), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn kinds_of_workers_share_the_partitions() {
        let (mut small, mut large) = (Noting(0, Vec::new()), Noting(50, Vec::new()));
        let sizes = Sizes((0..200).map(|size| size % 7).collect());
        let workers: Vec<&mut dyn Worker<_>> = vec![&mut small, &mut large];
        reduce(&sizes, &Alone, 0, workers, &Progress::default()).unwrap();
        let mut all: Vec<usize> = [small.1, large.1].into_iter().flatten().flatten().collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..200));
    }
}
