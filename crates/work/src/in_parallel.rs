//! A thread for each item.

use std::convert::Infallible;
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
    let done: Vec<Mutex<Option<T>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let taken = "nobody panics while it holds an item, a result or the error";
    run_each(items.len(), &|number| {
        let item = items[number].lock().expect(taken).take();
        match work(item.expect("an item is taken once")) {
            Ok(result) => *done[number].lock().expect(taken) = Some(result),
            Err(error) => {
                first_error.lock().expect(taken).get_or_insert(error);
            }
        }
    });
    match first_error.into_inner().expect(taken) {
        Some(error) => Err(error),
        None => {
            let results = done.into_iter();
            Ok(results
                .filter_map(|done| done.into_inner().expect(taken))
                .collect())
        }
    }
}

/// What is made of each item by what cannot fail, in order: by a thread for each, where there are
/// several.
pub fn in_threads<I: Send, T: Send>(items: Vec<I>, make: impl Fn(I) -> T + Sync) -> Vec<T> {
    if items.len() < 2 {
        return items.into_iter().map(make).collect();
    }
    let Ok(made) = in_parallel(items, |item| Ok::<_, Infallible>(make(item)));
    made
}

/// Runs `work` on a thread for each number below `count`. Threads are started here alone, which
/// keeps the program small: `in_parallel` is compiled for every use.
fn run_each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    std::thread::scope(|scope| {
        let spawn = |number| spawn_worker(scope, number, move || work(number)).map_err(|_| number);
        let threads: Vec<_> = (0..count).map(spawn).collect();
        for thread in threads {
            match thread.map(ScopedJoinHandle::join) {
                Ok(ended) => ended.unwrap_or_else(|panic| resume_unwind(panic)),
                Err(number) => work(number),
            }
        }
    });
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
