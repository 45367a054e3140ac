//! Counted k-mers as records of the fabric: how they are sent, and how a partition of them is put
//! in order.

use std::path::Path;

use gyrase_fabric::{LocalFabric, SLACK, Sender, SpillFolder};
use gyrase_kmer::BINS;
use gyrase_tabulate::{Partition, spill_path};

use super::error::{ExchangeError, Result};

/// Bytes for what lies beside the shares: batches on their way, buffers of files and of spills,
/// stacks.
const BESIDE: u64 = 32 << 20;

/// How the memory of a run is divided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    /// Bytes for the fabric.
    pub fabric: u64,
    /// Bytes of records that are sorted at a time; they take a third more, since words are aligned.
    pub sort: u64,
    /// Bytes for the prefixes of KMC.
    pub prefixes: u64,
    /// Bytes of a thread that makes bins.
    pub bin: u64,
    /// Bytes of finished bins that may wait for an earlier one; a quarter more is kept for the
    /// next.
    pub waiting: u64,
    /// Threads, so many that each has its buffers.
    pub threads: usize,
}

impl Shares {
    /// Divides `memory` bytes, for at most `threads` threads.
    pub fn of(memory: u64, threads: usize) -> Result<Shares> {
        let needed = |threads| 2 * LocalFabric::least_memory(BINS, threads) + BESIDE;
        let affordable = (1..=threads.max(1))
            .rev()
            .find(|&threads| needed(threads) <= memory);
        let Some(threads) = affordable else {
            return Err(ExchangeError::Memory {
                granted: memory,
                needed: needed(1),
            });
        };
        let rest = memory - BESIDE;
        let (bin, waiting) = (rest / 8 * 3 / threads as u64, rest / 10);
        Ok(Shares {
            fabric: rest / 2,
            sort: rest / 4,
            prefixes: rest / 8,
            bin,
            waiting,
            threads,
        })
    }
}

/// The words of a k-mer or a key, and its count.
pub(crate) type Counted<const W: usize> = ([u64; W], u32);

/// Bytes of a record with `words` words.
pub(crate) const fn record_bytes(words: usize) -> usize {
    8 * words + 4
}

/// Sends one record.
pub(crate) fn send<const W: usize>(
    sender: &mut impl Sender,
    partition: usize,
    counted: Counted<W>,
) -> Result<()> {
    let mut record = [0; SLACK];
    for (bytes, word) in record.chunks_exact_mut(8).zip(counted.0) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    record[8 * W..record_bytes(W)].copy_from_slice(&counted.1.to_le_bytes());
    Ok(sender.send(partition, &record[..record_bytes(W)], record_bytes(W))?)
}

fn decode<const W: usize>(record: &[u8]) -> Counted<W> {
    let mut words = [0; W];
    for (word, bytes) in words.iter_mut().zip(record.chunks_exact(8)) {
        *word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    }
    (
        words,
        u32::from_le_bytes(record[8 * W..].try_into().expect("four bytes")),
    )
}

/// Hands every record of a partition to `each`.
pub(crate) fn for_each<const W: usize>(
    partition: &Partition,
    mut each: impl FnMut(Counted<W>),
) -> Result<()> {
    partition.drain(|bytes, used| {
        let records = bytes[..used].chunks_exact(record_bytes(W));
        records.for_each(|record| each(decode(record)));
        Ok(())
    })
}

/// Sorts by the words and sums the counts of equal ones, up to 2^32 - 1.
pub(crate) fn sort_and_sum<const W: usize>(entries: &mut Vec<Counted<W>>) {
    entries.sort_unstable_by_key(|entry| entry.0);
    entries.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 = kept.1.saturating_add(later.1);
        }
        same
    });
}

/// The folder for the spills of a run that makes `target`: the same for every run that does, so
/// that the next one removes what a killed one left.
pub(crate) fn spill_folder(tmp: &Path, target: &Path, limit: Option<u64>) -> SpillFolder {
    SpillFolder::new(spill_path(tmp, "gyrase-exchange", target), limit, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_stop_at_the_largest_count() {
        let mut entries = vec![
            ([5, 1], 3),
            ([2, 9], u32::MAX),
            ([5, 1], 4),
            ([2, 9], 7),
            ([2, 8], 1),
        ];
        sort_and_sum(&mut entries);
        assert_eq!(entries, [([2, 8], 1), ([2, 9], u32::MAX), ([5, 1], 7)]);
    }

    #[test]
    fn records_come_back() {
        let mut record = [0; 20];
        record[..8].copy_from_slice(&7u64.to_le_bytes());
        record[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
        record[16..].copy_from_slice(&9u32.to_le_bytes());
        assert_eq!(decode::<2>(&record), ([7, u64::MAX], 9));
    }
}
