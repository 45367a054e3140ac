//! What any implementation of the contract must pass.
//!
//! Records of many lengths are sent and drained again. A record says who sent it, which of its
//! sender's records it is, and how long it is; one of a single byte says who sent it.

use std::collections::HashMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::blocks::{BLOCK, ROOM};
use crate::memory::SLAB;
use crate::{Combiner, Drain, Fabric, FabricError, LONGEST, SLACK, Sender};

/// Bytes of a record before its filling: a mark, the worker (u16), the number (u64), the length
/// (u32).
const HEAD: usize = 15;
/// With the worker, the only byte of a record of one.
const ONE_BYTE: u8 = 0x80;

/// Short records, so that some are kept to their last byte.
pub const SHORT: &[usize] = &[15, 16, 17, 21, 26, 32, 33, 40, 47, 52];

/// One byte to ten blocks and 40 KB, on both sides of all borders in between.
pub const ALL: &[usize] = &[
    1,
    1,
    1,
    20,
    35,
    50,
    SLACK - 1,
    SLACK,
    SLACK + 1,
    BLOCK / 2,
    ROOM - 1,
    ROOM,
    ROOM + 1,
    BLOCK - 1,
    BLOCK,
    BLOCK + 1,
    2 * ROOM - 1,
    2 * ROOM,
    2 * ROOM + 1,
    2 * BLOCK - 2,
    10 * BLOCK,
    40_000,
];

/// Records longer than what memory is handed out in, than a send buffer, and than a write to the
/// disk, and short ones.
pub const LONG: &[usize] = &[1, 30, SLAB - BLOCK, SLAB - 1, SLAB, SLAB + 1, 9 << 20, 40];

/// What is sent.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    /// Partitions of the fabric.
    pub partitions: usize,
    /// The workers of this process among all.
    pub workers: Range<usize>,
    /// Workers of all processes: up to 65,536, or 128 where a record has one byte.
    pub all_workers: usize,
    /// Records of each worker.
    pub records: u64,
    /// Lengths that occur: 1, or 15 and more.
    pub lengths: &'a [usize],
    /// Whether the records of a sender keep their order: not where a combiner takes some.
    pub ordered: bool,
}

/// Sends `case.records` numbered records from each worker, then drains every owned partition twice,
/// on several threads, and checks delivery, order per sender and slack.
///
/// Every process of a job calls it, each with the numbers of its own workers; a process may have
/// none.
///
/// # Errors
/// Those of the fabric.
///
/// # Panics
/// When the contract is broken; the message says which promise.
pub fn check<F: Fabric + Sync>(fabric: F, case: &Case) -> Result<(), FabricError>
where
    F::Partitions: Send,
{
    let senders: Vec<_> = case.workers.clone().map(|_| fabric.sender()).collect();
    let sent: Vec<Result<_, FabricError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = case
            .workers
            .clone()
            .zip(senders)
            .map(|(worker, sender)| scope.spawn(move || case.scatter(worker, sender)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a worker does not panic"))
            .collect()
    });
    let drained = fabric.close(sent.into_iter().collect::<Result<_, _>>()?)?;
    let owned = drained.owned();
    for _ in 0..2 {
        std::thread::scope(|scope| {
            for part in owned.chunks(owned.len().div_ceil(3).max(1)) {
                let drained = &drained;
                scope.spawn(move || {
                    part.iter()
                        .for_each(|&partition| case.check_partition(drained, partition));
                });
            }
        });
    }
    Ok(())
}

/// Checks that what no fabric carries is refused by an error or a panic, and not lost.
///
/// # Panics
/// When it is taken.
pub fn check_refusals<F: Fabric>(fabric: impl Fn() -> F) {
    let send = |bytes: usize, used: usize| {
        let mut sender = fabric().sender();
        // Pages that nobody wrote to take no memory.
        let record = vec![0; bytes];
        catch_unwind(AssertUnwindSafe(|| sender.send(0, &record, used)))
    };
    for (bytes, used) in [(0, 0), (5, 0), (5, 6), (BLOCK, BLOCK + 1), (0, usize::MAX)] {
        assert!(
            send(bytes, used).is_err(),
            "a record of {bytes} bytes of which {used} are used is taken"
        );
    }
    let sent = send(LONGEST + 1, LONGEST + 1).expect("an error is no panic");
    assert!(
        matches!(sent, Err(FabricError::TooLong { .. })),
        "a record of {} bytes: {sent:?}",
        LONGEST + 1
    );
}

impl Case<'_> {
    fn scatter<S: Sender>(&self, worker: usize, mut sender: S) -> Result<S, FabricError> {
        let mut record = Vec::new();
        for number in 0..self.records {
            let used = self.encode(worker, number, &mut record);
            sender.send(self.partition_of(worker, number), &record, used)?;
        }
        Ok(sender)
    }

    fn check_partition(&self, drained: &impl Drain, partition: usize) {
        let mut seen: HashMap<usize, Vec<Option<u64>>> = HashMap::new();
        let mut bytes_seen = 0;
        let drain = drained.drain::<FabricError>(partition, &mut |bytes, used| {
            assert!(
                bytes.len() >= used + SLACK,
                "slack: {SLACK} readable bytes behind the records"
            );
            bytes_seen += used as u64;
            let mut rest = &bytes[..used];
            while !rest.is_empty() {
                let (record, others) = rest
                    .split_at_checked(length_of(rest))
                    .expect("a record is whole");
                let (worker, number) = (worker_of(record), number_of(record));
                self.check_record(record, worker, number);
                seen.entry(worker).or_default().push(number);
                rest = others;
            }
            Ok(())
        });
        drain.expect("a drain of what was sent");
        let bytes = drained.bytes(partition);
        assert_eq!(bytes_seen, bytes, "bytes of partition {partition}");
        for worker in 0..self.all_workers {
            let seen = seen.remove(&worker).unwrap_or_default();
            self.check_numbers(seen, worker, partition);
        }
    }

    fn check_record(&self, record: &[u8], worker: usize, number: Option<u64>) {
        let Some(number) = number else { return };
        let mut expected = Vec::new();
        let used = self.encode(worker, number, &mut expected);
        assert!(
            record == &expected[..used],
            "record {number} of worker {worker} is whole"
        );
    }

    /// Checks that what came of a worker to a partition is what it sent; `None` stands for a record
    /// of one byte.
    fn check_numbers(&self, mut seen: Vec<Option<u64>>, worker: usize, partition: usize) {
        let sent = (0..self.records).filter(|&it| self.partition_of(worker, it) == partition);
        let mut sent: Vec<_> = sent
            .map(|number| (self.length(number) > 1).then_some(number))
            .collect();
        if !self.ordered {
            sent.sort_unstable();
            seen.sort_unstable();
        }
        let wrong = sent.iter().zip(&seen).position(|(sent, seen)| sent != seen);
        assert!(
            wrong.is_none() && sent.len() == seen.len(),
            "order and delivery: of {} records of worker {worker} to partition {partition} came \
             {}; \
             at {wrong:?} another one",
            sent.len(),
            seen.len(),
        );
    }

    fn length(&self, number: u64) -> usize {
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        self.lengths[mixed as usize % self.lengths.len()]
    }

    /// Makes a record, with some bytes behind it that are not used; its length.
    fn encode(&self, worker: usize, number: u64, record: &mut Vec<u8>) -> usize {
        let length = self.length(number);
        record.clear();
        if length == 1 {
            record.push(ONE_BYTE | worker as u8);
        } else {
            record.push(0);
            record.extend_from_slice(&(worker as u16).to_le_bytes());
            record.extend_from_slice(&number.to_le_bytes());
            record.extend_from_slice(&(length as u32).to_le_bytes());
            // Blocks that change places are noticed.
            record.extend((HEAD..length).map(|at| (at ^ at >> 8 ^ at >> 16) as u8));
        }
        record.resize(length + number as usize % 4 * 11, 0xee);
        length
    }

    /// Skewed on purpose: half of all records go to partition 0.
    fn partition_of(&self, worker: usize, number: u64) -> usize {
        if number.is_multiple_of(2) {
            0
        } else {
            (number / 2 * 7 + worker as u64) as usize % self.partitions
        }
    }
}

fn worker_of(records: &[u8]) -> usize {
    match records[0] & ONE_BYTE {
        0 => usize::from(u16::from_le_bytes([records[1], records[2]])),
        _ => usize::from(records[0] & !ONE_BYTE),
    }
}

fn number_of(record: &[u8]) -> Option<u64> {
    match record[0] & ONE_BYTE {
        0 => Some(u64::from_le_bytes(
            record[3..11].try_into().expect("eight bytes"),
        )),
        _ => None,
    }
}

/// Bytes of the first of `records`.
fn length_of(records: &[u8]) -> usize {
    match records[0] & ONE_BYTE {
        0 => u32::from_le_bytes(records[HEAD - 4..HEAD].try_into().expect("four bytes")) as usize,
        _ => 1,
    }
}

/// A combiner of the records of a [`Case`] that makes no fewer of them.
#[derive(Debug, Default)]
pub struct Same(Vec<u8>);

impl Combiner for Same {
    fn add(&mut self, bytes: &[u8], used: usize) {
        self.0.extend_from_slice(&bytes[..used]);
    }

    fn finish(&mut self, emit: &mut dyn FnMut(&[u8], usize)) {
        let mut rest = &std::mem::take(&mut self.0)[..];
        while !rest.is_empty() {
            let (record, others) = rest.split_at(length_of(rest));
            emit(record, record.len());
            rest = others;
        }
    }
}
