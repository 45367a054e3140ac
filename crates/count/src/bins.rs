//! Threads that share out the bins of k-mers, in ascending order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use gyrase_tabulate::TabulateError;
use gyrase_work::Progress;

/// Runs `work` on every task from 0 to `tasks - 1`, taken in ascending order, by `threads` threads
/// that each have a state made by `start`. Returns the states, in no particular order.
///
/// The first error ends the run: `stop` is called once a thread fails (or panics), so that threads
/// that wait for it can be woken, and no task is started any more.
pub(crate) fn share_out<S: Send, E: Send + From<TabulateError>>(
    threads: usize,
    tasks: usize,
    progress: &Progress,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<(), E> + Sync,
    stop: impl Fn() + Sync,
) -> Result<Vec<S>, E> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let first = Mutex::new(None);
    let fail = |error: E| {
        let mut first = first
            .lock()
            .expect("no thread panics while it holds the error");
        first.get_or_insert(error);
    };
    let lane = || {
        let guard = Guard {
            failed: &failed,
            stop: &stop,
        };
        let mut state = start();
        while !failed.load(Relaxed) {
            let task = next.fetch_add(1, Relaxed);
            if task >= tasks {
                break;
            }
            let cancelled = if progress.is_cancelled() {
                Err(TabulateError::Cancelled.into())
            } else {
                Ok(())
            };
            if let Err(error) = cancelled.and_then(|()| work(&mut state, task)) {
                fail(error);
                return None;
            }
            progress.advance(1);
        }
        std::mem::forget(guard);
        Some(state)
    };
    let states: Vec<Option<S>> = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(lane)).collect();
        lanes
            .into_iter()
            .map(|lane| {
                lane.join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    match first
        .into_inner()
        .expect("no thread panics while it holds the error")
    {
        Some(error) => Err(error),
        None => Ok(states.into_iter().flatten().collect()),
    }
}

/// Stops the others when a thread leaves early, be it by an error or by a panic.
struct Guard<'a, F: Fn()> {
    failed: &'a AtomicBool,
    stop: &'a F,
}

impl<F: Fn()> Drop for Guard<'_, F> {
    fn drop(&mut self) {
        self.failed.store(true, Relaxed);
        (self.stop)();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::OperationError;

    #[test]
    fn does_every_task_once() {
        for threads in [0, 1, 4] {
            let done = |state: &mut Vec<usize>, task| {
                state.push(task);
                Ok::<_, OperationError>(())
            };
            let states =
                share_out(threads, 1000, &Progress::default(), Vec::new, done, || {}).unwrap();
            assert_eq!(states.len(), threads.max(1));
            let mut tasks = states.concat();
            tasks.sort_unstable();
            assert!(tasks.into_iter().eq(0..1000));
        }
    }

    #[test]
    fn stops_at_the_first_error_and_when_cancelled() {
        let stopped = AtomicUsize::new(0);
        let stop = || {
            stopped.fetch_add(1, Relaxed);
        };
        let work = |_: &mut (), task| {
            if task == 3 {
                Err(OperationError::NoInput)
            } else {
                Ok(())
            }
        };
        let error = share_out(1, 1000, &Progress::default(), || (), work, stop).unwrap_err();
        assert!(matches!(error, OperationError::NoInput));
        assert_eq!(stopped.load(Relaxed), 1);
        let progress = Progress::default();
        progress.cancel();
        let error = share_out(2, 1000, &progress, || (), |_, _| Ok(()), || {}).unwrap_err();
        assert!(matches!(error, OperationError::Cancelled));
    }

    #[test]
    #[should_panic(expected = "task 5")]
    fn a_panic_reaches_the_caller() {
        let work = |_: &mut (), task| if task == 5 { panic!("task 5") } else { Ok(()) };
        let _: Result<_, OperationError> =
            share_out(2, 1000, &Progress::default(), || (), work, || {});
    }
}
