//! A scatter whose source is what was drained: the next round of something iterative.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use crate::{Drain, Fabric, FabricError};

/// Drains every owned partition of `from`, on `threads` threads, and sends what `cut` makes of it
/// through `to`; then closes that. `cut` is given records as [`Drain::drain`] hands them out, and
/// the thread's sender.
///
/// Of several processes each drains what it owns: collective where closing `to` is.
///
/// # Errors
/// Those of `cut` and of the fabrics.
///
/// # Panics
/// When `cut` does.
pub fn scatter_again<D: Drain, F: Fabric, E: From<FabricError> + Send>(
    from: &D,
    to: F,
    threads: usize,
    cut: impl Fn(&[u8], usize, &mut F::Sender) -> Result<(), E> + Sync,
) -> Result<F::Partitions, E> {
    let (owned, next) = (from.owned(), AtomicUsize::new(0));
    let work = |mut sender: F::Sender| {
        while let Some(&partition) = owned.get(next.fetch_add(1, Relaxed)) {
            from.drain::<E>(partition, &mut |bytes, used| cut(bytes, used, &mut sender))?;
        }
        Ok(sender)
    };
    let senders: Vec<F::Sender> = (0..threads).map(|_| to.sender()).collect();
    let sent: Result<Vec<F::Sender>, E> = thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = senders
            .into_iter()
            .map(|sender| scope.spawn(move || work(sender)))
            .collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined
            .map(|sent| sent.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    Ok(to.close(sent?)?)
}
