//! Two files of mates in step, read by many threads.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, TryLockError};

use gyrase_seq::Batch;

use crate::error::Error;
use crate::paired::PairedReader;
use crate::stream::Asked;

/// A pair of inputs. Checking that they are in step cannot be split: the thread that holds the pair
/// reads both and leaves the second mates for the next.
pub(crate) struct Pair {
    /// Index of the first mates among the inputs; the second mates follow.
    pub index: usize,
    held: Mutex<Held>,
    ended: AtomicBool,
    /// This process has it as a chunk.
    pub taken: AtomicBool,
}

struct Held {
    reader: PairedReader,
    /// Second mates, until somebody takes them.
    second: Batch,
}

impl Pair {
    pub(crate) fn new(index: usize, reader: PairedReader) -> Pair {
        let held = Mutex::new(Held {
            reader,
            second: Batch::default(),
        });
        Pair {
            index,
            held,
            ended: AtomicBool::new(false),
            taken: AtomicBool::new(false),
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Relaxed)
    }

    /// Fills the batch with first or second mates; waits for other threads only if `wait`.
    pub(crate) fn ask(&self, batch: &mut Batch, wait: bool) -> Result<Asked, Error> {
        let mut held = match self.held.try_lock() {
            Ok(held) => held,
            Err(TryLockError::WouldBlock) if !wait => return Ok(Asked::Busy),
            Err(_) => self
                .held
                .lock()
                .expect("no thread panics while it reads mates"),
        };
        if self.has_ended() {
            return Ok(Asked::Ended);
        }
        let Held { reader, second } = &mut *held;
        if !second.records.is_empty() {
            std::mem::swap(batch, second);
            second.clear();
            batch.input = self.index + 1;
            return Ok(Asked::Batch);
        }
        // Until both are read: who comes after an error finds the end.
        self.ended.store(true, Relaxed);
        if !reader.next_batches(batch, second)? {
            return Ok(Asked::Ended);
        }
        self.ended.store(false, Relaxed);
        batch.input = self.index;
        Ok(Asked::Batch)
    }
}
