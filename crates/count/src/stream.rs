//! Batches of reads through many threads and out again in the order of their files.

use std::sync::Mutex;
use std::sync::mpsc::sync_channel;

use gyrase_fabric::Progress;
use gyrase_fastx::{Options, PairedReader, Reader};
use gyrase_seq::Batch;

use crate::ops::OperationError;
use crate::ordered::Turn;

/// Results on their way to the thread that called.
const ON_THE_WAY: usize = 4;

/// Reads or pairs of reads in the order of their files.
pub(crate) enum Source {
    Single(Box<Reader>),
    Paired(Box<PairedReader>),
}

impl Source {
    /// Reads are whole, so that what is known of a read is known at once.
    pub(crate) fn options() -> Options {
        Options { whole_records: true, ..Options::default() }
    }

    /// Fills the batch, or those of first and second mates; false when there is no more.
    pub(crate) fn next(&mut self, batches: &mut [Batch; 2]) -> Result<bool, OperationError> {
        let [first, second] = batches;
        Ok(match self {
            Source::Single(reader) => reader.next_batch(first)?,
            Source::Paired(reader) => reader.next_batches(first, second)?,
        })
    }
}

/// What the threads share: where batches come from, how many came, and whether more may.
struct Shared {
    source: Source,
    taken: usize,
    ended: bool,
    spare: Vec<[Batch; 2]>,
}

/// Reads batches, lets `threads` threads make something of each (with a state from `start`), and calls `emit` with the
/// batches and what was made of them, on the calling thread, in the order of the files.
pub(crate) fn in_order<S, R: Send>(
    threads: usize,
    source: Source,
    progress: &Progress,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &[Batch; 2]) -> R + Sync,
    mut emit: impl FnMut(&[Batch; 2], R) -> Result<(), OperationError>,
) -> Result<(), OperationError> {
    let shared = Mutex::new(Shared { source, taken: 0, ended: false, spare: Vec::new() });
    let turn = Turn::default();
    let (results, received) = sync_channel(ON_THE_WAY);
    let lane = |results: std::sync::mpsc::SyncSender<([Batch; 2], R)>| -> Result<(), OperationError> {
        let guard = Guard(&turn);
        let mut state = start();
        while let Some((number, batches)) = take(&shared, progress)? {
            let made = work(&mut state, &batches);
            if !turn.wait(number) {
                return Err(OperationError::Stopped);
            }
            results.send((batches, made)).map_err(|_| OperationError::Stopped)?;
            turn.pass();
        }
        std::mem::forget(guard);
        Ok(())
    };
    std::thread::scope(|scope| {
        let lane = &lane;
        let lanes: Vec<_> = (0..threads.max(1))
            .map(|_| {
                let results = results.clone();
                scope.spawn(move || lane(results))
            })
            .collect();
        drop(results);
        let mut outcome = Ok(());
        for (batches, made) in received {
            outcome = emit(&batches, made);
            if outcome.is_err() {
                turn.fail();
                break;
            }
            lock(&shared).spare.push(batches);
        }
        for lane in lanes {
            let done = lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            // Whoever was stopped was stopped by somebody with a better error.
            if matches!(outcome, Ok(()) | Err(OperationError::Stopped)) && done.is_err() {
                outcome = done;
            }
        }
        outcome
    })
}

/// The next batches and their number, or `None` at the end.
fn take(shared: &Mutex<Shared>, progress: &Progress) -> Result<Option<(usize, [Batch; 2])>, OperationError> {
    let mut shared = lock(shared);
    if progress.is_cancelled() {
        shared.ended = true;
        return Err(OperationError::Cancelled);
    }
    if shared.ended {
        return Ok(None);
    }
    let mut batches = shared.spare.pop().unwrap_or_default();
    // Until the batches are full: whoever comes after an error finds the end.
    shared.ended = true;
    if !shared.source.next(&mut batches)? {
        return Ok(None);
    }
    shared.ended = false;
    shared.taken += 1;
    Ok(Some((shared.taken - 1, batches)))
}

fn lock(shared: &Mutex<Shared>) -> std::sync::MutexGuard<'_, Shared> {
    shared.lock().expect("no thread panics while it reads")
}

/// Wakes the others when a thread leaves early, be it by an error or by a panic.
struct Guard<'a>(&'a Turn);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.fail();
    }
}
