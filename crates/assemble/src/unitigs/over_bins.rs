//! Threads that take bins.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use gyrase_work::{Progress, in_parallel};

use crate::Error;

/// Runs `work` on every one of `bins`, taken in this order, by a thread for each of `states`;
/// returns these. The first error ends the run.
pub(super) fn over_bins<S: Send>(
    states: Vec<S>,
    bins: &[usize],
    progress: &Progress,
    work: impl Fn(&mut S, usize) -> Result<(), Error> + Sync,
) -> Result<Vec<S>, Error> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    in_parallel(states, |mut state| {
        while !failed.load(Relaxed) {
            let Some(&bin) = bins.get(next.fetch_add(1, Relaxed)) else {
                break;
            };
            let done = progress
                .go_on()
                .map_err(Error::from)
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
