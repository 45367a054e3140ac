//! Work that threads share, and that cannot fail.

use std::convert::Infallible;

use gyrase_work::in_parallel;

/// What is made of each item, in order: by a thread for each, where there are several.
pub fn in_threads<I: Send, T: Send>(items: Vec<I>, make: impl Fn(I) -> T + Sync) -> Vec<T> {
    if items.len() < 2 {
        return items.into_iter().map(make).collect();
    }
    let Ok(made) = in_parallel(items, |item| Ok::<_, Infallible>(make(item)));
    made
}
