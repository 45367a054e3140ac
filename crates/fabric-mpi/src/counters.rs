//! What a job moved: for the report, and for the table that says how work grows with ranks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What this process did through MPI so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Messages to other processes: pieces of an exchange of bytes that are not empty, and those of
    /// mailboxes.
    pub messages: u64,
    /// Bytes in them.
    pub bytes_sent: u64,
    /// Bytes that came from other processes, in exchanges and those of mailboxes.
    pub bytes_received: u64,
    /// Rounds of the exchange of records: an all-to-all of counts and one of bytes each.
    pub rounds: u64,
    /// Collectives outside of the exchange: sums, gatherings, windows.
    pub collectives: u64,
    /// One-sided operations, on this process's own numbers too.
    pub one_sided: u64,
    /// Times that the processes asked one another whether all is well.
    pub heartbeats: u64,
}

/// The same while it is counted.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    pub(crate) messages: AtomicU64,
    pub(crate) bytes_sent: AtomicU64,
    pub(crate) bytes_received: AtomicU64,
    pub(crate) rounds: AtomicU64,
    pub(crate) collectives: AtomicU64,
    pub(crate) one_sided: AtomicU64,
    pub(crate) heartbeats: AtomicU64,
}

impl Counting {
    /// The counts now.
    pub(crate) fn now(&self) -> Counters {
        Counters {
            messages: self.messages.load(Relaxed),
            bytes_sent: self.bytes_sent.load(Relaxed),
            bytes_received: self.bytes_received.load(Relaxed),
            rounds: self.rounds.load(Relaxed),
            collectives: self.collectives.load(Relaxed),
            one_sided: self.one_sided.load(Relaxed),
            heartbeats: self.heartbeats.load(Relaxed),
        }
    }
}

/// Counts.
pub(crate) fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Relaxed);
}
