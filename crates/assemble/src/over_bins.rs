//! Threads that take bins.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use gyrase_work::{Cancelled, Progress, in_parallel};

/// Runs `work` on every one of `bins`, taken in this order, by a thread for each of `states`;
/// returns these. The first error ends the run.
pub fn over_bins<S: Send, E: From<Cancelled> + Send>(
    states: Vec<S>,
    bins: &[usize],
    progress: &Progress,
    work: impl Fn(&mut S, usize) -> Result<(), E> + Sync,
) -> Result<Vec<S>, E> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    in_parallel(states, |mut state| {
        while !failed.load(Relaxed) {
            let Some(&bin) = bins.get(next.fetch_add(1, Relaxed)) else {
                break;
            };
            let done = progress
                .go_on()
                .map_err(E::from)
                .and_then(|()| work(&mut state, bin));
            if let Err(error) = done {
                failed.store(true, Relaxed);
                return Err(error);
            }
            progress.advance(1);
        }
        Ok(state)
    })
}
