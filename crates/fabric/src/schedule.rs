//! The chunk schedule: which stretch of the input a worker takes next, whoever it was meant for.
//!
//! The input of a job is one stream, cut into chunks of about equal size. A worker takes a chunk,
//! works on it, takes another. Where a record crosses from one chunk into the next, the bytes
//! behind the border (the *repartition bytes*) are sent back to whoever worked the chunk before it
//! (Gao et al., Bloomfish, III.B).

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use crate::FabricError;

mod stealing;

pub(crate) use stealing::OwnNumbers;
pub use stealing::{Steal, Stealing, window_numbers};

/// Hands chunks to the workers of all processes, each once.
pub trait Schedule: Sync {
    /// A chunk that nobody had; `None` when there is no other.
    ///
    /// # Errors
    /// Another process failed.
    fn take(&self) -> Result<Option<usize>, FabricError>;

    /// Takes `chunk`, if nobody had it and it can be had at once: for the worker of the chunk
    /// before, which goes on in it without a border.
    ///
    /// # Errors
    /// Another process failed.
    fn take_this(&self, chunk: usize) -> Result<bool, FabricError>;

    /// Sends the first bytes behind `chunk`, which belong to it, to whoever works it. Does not
    /// wait: where that is not known yet they are kept, and sent with a later call of
    /// [`Schedule::take`] or [`Schedule::all_sent`].
    ///
    /// # Errors
    /// Another process failed.
    fn send_back(&self, chunk: usize, bytes: Vec<u8>) -> Result<(), FabricError>;

    /// What was sent back to `chunk`, which this process works; `None` while it is not there. Given
    /// out once.
    ///
    /// # Errors
    /// Another process failed.
    fn sent_back(&self, chunk: usize) -> Result<Option<Vec<u8>>, FabricError>;

    /// Whether nothing is kept that was to be sent back. A process stays until then, and asks again
    /// and again while it waits for what is sent back to it: others may wait for what it keeps.
    ///
    /// # Errors
    /// Another process failed.
    fn all_sent(&self) -> Result<bool, FabricError>;

    /// Tells all workers of all processes that what was read is void: they need not wait for what
    /// is sent back.
    ///
    /// # Errors
    /// Another process failed.
    fn give_up(&self) -> Result<(), FabricError>;

    /// Whether somebody called [`Schedule::give_up`], as far as is known here.
    ///
    /// # Errors
    /// Another process failed.
    fn given_up(&self) -> Result<bool, FabricError>;
}

/// The schedule of one process: the lowest chunk first.
#[derive(Debug)]
pub struct LocalSchedule {
    chunks: usize,
    next: AtomicUsize,
    sent: Mutex<HashMap<usize, Vec<u8>>>,
    given_up: AtomicBool,
}

impl LocalSchedule {
    /// A schedule of chunks `0..chunks`.
    pub fn new(chunks: usize) -> LocalSchedule {
        LocalSchedule {
            chunks,
            next: AtomicUsize::new(0),
            sent: Mutex::default(),
            given_up: AtomicBool::new(false),
        }
    }
}

impl Schedule for LocalSchedule {
    fn take(&self) -> Result<Option<usize>, FabricError> {
        let chunk = self.next.fetch_add(1, Relaxed);
        Ok((chunk < self.chunks).then_some(chunk))
    }

    fn take_this(&self, chunk: usize) -> Result<bool, FabricError> {
        Ok(chunk < self.chunks
            && self
                .next
                .compare_exchange(chunk, chunk + 1, Relaxed, Relaxed)
                .is_ok())
    }

    fn send_back(&self, chunk: usize, bytes: Vec<u8>) -> Result<(), FabricError> {
        self.sent
            .lock()
            .expect("no thread panics while it holds what was sent")
            .insert(chunk, bytes);
        Ok(())
    }

    fn sent_back(&self, chunk: usize) -> Result<Option<Vec<u8>>, FabricError> {
        Ok(self
            .sent
            .lock()
            .expect("no thread panics while it holds what was sent")
            .remove(&chunk))
    }

    fn all_sent(&self) -> Result<bool, FabricError> {
        Ok(true)
    }

    fn give_up(&self) -> Result<(), FabricError> {
        self.given_up.store(true, Relaxed);
        Ok(())
    }

    fn given_up(&self) -> Result<bool, FabricError> {
        Ok(self.given_up.load(Relaxed))
    }
}

/// Numbers that every process keeps for all, 0 at the start: read and changed one-sided and
/// atomically, without its help.
pub trait Window: Sync {
    /// Adds to number `at` of process `rank`, wrapping around; what it was before (fetch and add).
    ///
    /// # Errors
    /// Another process failed.
    fn add(&self, rank: usize, at: usize, number: u64) -> Result<u64, FabricError>;

    /// Number `at` of process `rank`.
    ///
    /// # Errors
    /// Another process failed.
    fn get(&self, rank: usize, at: usize) -> Result<u64, FabricError>;

    /// Puts a number: before anything that this process asks for later, not always before this
    /// returns.
    ///
    /// # Errors
    /// Another process failed.
    fn put(&self, rank: usize, at: usize, number: u64) -> Result<(), FabricError>;

    /// Puts `new` where `expected` is; what was there (compare and swap).
    ///
    /// # Errors
    /// Another process failed.
    fn compare_and_swap(
        &self,
        rank: usize,
        at: usize,
        expected: u64,
        new: u64,
    ) -> Result<u64, FabricError>;
}
