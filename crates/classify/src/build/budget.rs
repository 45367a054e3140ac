//! How the memory of a build is shared out.

use gyrase_fabric::{Drain, ExchangeFabric, LocalFabric};
use gyrase_table::gydb::PARTITIONS;

use super::error::{BuildError, MemoryFor};
use crate::parts::Part;
use crate::references::RECORD;

/// Code, stacks and the like.
const BASE: u64 = 16 << 20;
/// What a thread takes to read and sketch: a batch, a chunk, what a decompressor keeps.
const READING: u64 = 12 << 20;
/// What a thread takes to sort a small partition.
const LEAST_SORTING: u64 = 4 << 20;
/// The least for finished partitions that wait for an earlier one; that of each thread, which is
/// not far ahead of another; and the most.
const WAITING: u64 = 8 << 20;
const WAITING_OF_THREAD: u64 = 4 << 20;
pub(super) const MOST_WAITING: u64 = 64 << 20;
/// Records that a thread sorts at a time, at least.
const LEAST_ROWS: u64 = 1 << 16;
/// Bytes that a record may become: its place, count and location, and what the writer makes of
/// them.
const LISTED: u64 = 21;
/// Bytes of a partition that are read from disk at a time, stored and decompressed.
const DRAINED: u64 = 16 << 20;
/// Bytes of a record in the database, about, and from above.
const WRITTEN: u64 = 9;
/// Bytes that a target takes while the database is written, with its name and its copies.
const TARGET: u64 = 300;

/// The shares of a build.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    memory: u64,
    threads: u64,
    /// The fabric takes this much, however little there is to carry.
    least_fabric: u64,
    /// For the buffers of the fabric.
    pub fabric: u64,
    /// For finished partitions that wait.
    pub waiting: usize,
}

/// What the threads that make lists have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    /// Threads at once: no more than the memory suffices for.
    pub threads: usize,
    /// Records that each sorts at a time.
    pub rows: usize,
}

/// The memory without which so many threads, in each of so many processes, cannot build.
pub(super) fn least_memory(threads: usize, ranks: usize) -> u64 {
    BASE + WAITING + WAITING / 4 + threads as u64 * READING + least_fabric(threads, ranks)
}

fn least_fabric(threads: usize, ranks: usize) -> u64 {
    match ranks {
        1 => LocalFabric::least_memory(PARTITIONS, threads),
        _ => ExchangeFabric::least_memory(PARTITIONS, ranks, threads),
    }
}

impl Budget {
    /// Shares out `memory`.
    ///
    /// # Errors
    /// When it is too little for so many threads in each of so many processes.
    pub fn of(memory: u64, threads: usize, ranks: usize) -> Result<Budget, BuildError> {
        let needed = least_memory(threads, ranks);
        if memory < needed {
            return Err(BuildError::Memory {
                what: MemoryFor::Threads,
                needed,
                given: memory,
            });
        }
        let (threads, least_fabric) = (threads as u64, least_fabric(threads, ranks));
        let most = (WAITING_OF_THREAD * threads).min(MOST_WAITING);
        let waiting = (WAITING + (memory - needed) / 16).min(most);
        let fixed = BASE + waiting + waiting / 4;
        // The other half is for the lists, which are made while the records are still there.
        let fabric = ((memory - fixed) / 2).clamp(least_fabric, memory - fixed - threads * READING);
        Ok(Budget {
            memory,
            threads,
            least_fabric,
            fabric,
            waiting: waiting as usize,
        })
    }

    /// What the lists of the partitions have, of so many targets, with the locations of databases;
    /// and with so many records of other partitions where the database is kept in memory.
    ///
    /// # Errors
    /// When there is too little even for one thread, or for the database where that is to be kept
    /// in memory.
    pub fn for_lists(
        self,
        partitions: &impl Drain,
        parts: &[Part],
        spilled: bool,
        targets: usize,
        in_memory: Option<u64>,
    ) -> Result<Room, BuildError> {
        let owned = partitions.owned();
        let sent = |&number: &usize| partitions.bytes(number);
        let stored = |number| {
            let rows = parts.iter().map(|part| part.most_rows(number));
            rows.sum::<u64>() * RECORD as u64
        };
        let all: u64 = owned.iter().map(sent).sum();
        let together = owned.iter().map(|number| sent(number) + stored(*number));
        let largest = together.max().unwrap_or(0);
        let records = |bytes: u64| bytes / RECORD as u64;
        let kept = if spilled {
            0
        } else {
            self.fabric.min(all + self.least_fabric)
        };
        let fixed = BASE + (self.waiting + self.waiting / 4) as u64 + TARGET * targets as u64;
        let listed = LISTED * records(largest) + (2 * largest).min(DRAINED);
        let one = listed + (LEAST_ROWS * RECORD as u64).max(LEAST_SORTING.min(2 * largest));
        let database = in_memory.map_or(0, |before| WRITTEN * (before + records(all)));
        // The parts of a database in memory are copied into one piece at the end.
        let needed = fixed + database + (kept + one).max(database);
        if needed > self.memory {
            let what = match in_memory {
                Some(_) => MemoryFor::Database,
                None => MemoryFor::Sorting,
            };
            return Err(BuildError::Memory {
                what,
                needed,
                given: self.memory,
            });
        }
        let free = self.memory - fixed - database - kept;
        let threads = (free / one).clamp(1, self.threads);
        let rows = (free / threads - listed) / RECORD as u64;
        Ok(Room {
            threads: threads as usize,
            rows: rows.min(records(largest).max(1)) as usize,
        })
    }
}
