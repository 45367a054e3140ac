//! A thread for each item.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Runs `work` on a thread for each item; the results in order, or the error that came first. Where
/// the system has no more threads the one that called does what is left, so workers must not wait
/// for each other's start.
///
/// # Errors
/// That error; the other threads end their work first.
pub fn in_parallel<I: Send, T: Send, E: Send>(
    items: Vec<I>,
    work: impl Fn(I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let first_error = Mutex::new(None);
    let items: Vec<Mutex<Option<I>>> = items
        .into_iter()
        .map(|item| Mutex::new(Some(item)))
        .collect();
    let run = |item: &Mutex<Option<I>>| {
        let item = item
            .lock()
            .expect("nobody panics while it takes an item")
            .take()
            .expect("an item is taken once");
        let error = match work(item) {
            Ok(done) => return Some(done),
            Err(error) => error,
        };
        first_error
            .lock()
            .expect("no thread panics while it holds the error")
            .get_or_insert(error);
        None
    };
    let done: Vec<Option<T>> = std::thread::scope(|scope| {
        let run = &run;
        let spawn =
            |(number, item)| spawn_worker(scope, number, move || run(item)).map_err(|_| item);
        let threads: Vec<_> = items.iter().enumerate().map(spawn).collect();
        let join = |thread: ScopedJoinHandle<Option<T>>| {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        threads
            .into_iter()
            .map(|thread| thread.map_or_else(run, join))
            .collect()
    });
    match first_error
        .into_inner()
        .expect("no thread panics while it holds the error")
    {
        Some(error) => Err(error),
        None => Ok(done.into_iter().flatten().collect()),
    }
}

/// Starts a worker; traces name its thread.
pub(crate) fn spawn_worker<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    number: usize,
    work: impl FnOnce() -> T + Send + 'scope,
) -> std::io::Result<ScopedJoinHandle<'scope, T>> {
    Builder::new()
        .name(format!("worker {number}"))
        .spawn_scoped(scope, work)
}
