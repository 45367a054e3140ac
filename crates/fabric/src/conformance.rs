//! What any implementation of the contract must pass.

use std::collections::HashMap;
use std::ops::Range;

use crate::{Drain, Fabric, FabricError, SLACK, Sender};

/// Sends `records` numbered records from each of `workers` threads to `partitions` partitions, then
/// drains every owned partition twice, on several threads, and checks delivery, order per sender
/// and slack.
///
/// Every process of a job calls it, each with the numbers of its own workers among `all_workers`; a
/// process may have none.
///
/// # Errors
/// Those of the fabric.
///
/// # Panics
/// When the contract is broken; the message says which promise.
pub fn check<F: Fabric + Sync>(
    fabric: F,
    partitions: usize,
    workers: Range<usize>,
    all_workers: usize,
    records: u64,
) -> Result<(), FabricError>
where
    F::Partitions: Send,
{
    let senders: Vec<_> = workers.clone().map(|_| fabric.sender()).collect();
    let sent: Vec<Result<_, FabricError>> = std::thread::scope(|scope| {
        let scatter = |(worker, mut sender): (usize, F::Sender)| {
            scope.spawn(move || {
                for number in 0..records {
                    let (record, used) = encode(worker, number);
                    sender.send(partition_of(worker, number, partitions), &record, used)?;
                }
                Ok(sender)
            })
        };
        let threads: Vec<_> = workers.zip(senders).map(scatter).collect();
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
                    for &partition in part {
                        check_partition(drained, partition, partitions, all_workers, records);
                    }
                });
            }
        });
    }
    Ok(())
}

fn check_partition(
    drained: &impl Drain,
    partition: usize,
    partitions: usize,
    workers: usize,
    records: u64,
) {
    let mut next: HashMap<usize, u64> = HashMap::new();
    let mut bytes_seen = 0;
    let drain = drained.drain::<FabricError>(partition, &mut |bytes, used| {
        assert!(
            bytes.len() >= used + SLACK,
            "slack: {SLACK} readable bytes behind the records"
        );
        let mut rest = &bytes[..used];
        bytes_seen += used as u64;
        while !rest.is_empty() {
            let (worker, number, length) = decode(rest);
            let expected = next_for(
                worker,
                *next.get(&worker).unwrap_or(&0),
                partition,
                partitions,
            );
            assert_eq!(
                number, expected,
                "order and delivery: worker {worker} to partition {partition}"
            );
            next.insert(worker, number + 1);
            rest = &rest[length..];
        }
        Ok(())
    });
    drain.expect("a drain of what was sent");
    assert_eq!(
        bytes_seen,
        drained.bytes(partition),
        "bytes of partition {partition}"
    );
    for worker in 0..workers {
        let after = next_for(
            worker,
            *next.get(&worker).unwrap_or(&0),
            partition,
            partitions,
        );
        assert!(
            after >= records,
            "delivery: record {after} of worker {worker} to partition {partition} is missing"
        );
    }
}

/// Records of 1 + 2 + 8 bytes and 0 to 37 bytes of filling, so that some are kept to their last
/// byte.
fn encode(worker: usize, number: u64) -> ([u8; 48], usize) {
    let filling = (number % 38) as usize;
    let mut record = [0xee; 48];
    record[0] = filling as u8;
    record[1..3].copy_from_slice(&(worker as u16).to_le_bytes());
    record[3..11].copy_from_slice(&number.to_le_bytes());
    record[11..11 + filling].fill(number as u8);
    (record, 11 + filling)
}

fn decode(bytes: &[u8]) -> (usize, u64, usize) {
    let filling = usize::from(bytes[0]);
    let worker = u16::from_le_bytes([bytes[1], bytes[2]]);
    let number = u64::from_le_bytes(bytes[3..11].try_into().expect("eight bytes"));
    assert!(
        bytes[11..11 + filling]
            .iter()
            .all(|&byte| byte == number as u8),
        "a record is whole"
    );
    (usize::from(worker), number, 11 + filling)
}

/// Skewed on purpose: half of all records go to partition 0.
fn partition_of(worker: usize, number: u64, partitions: usize) -> usize {
    if number.is_multiple_of(2) {
        0
    } else {
        (number / 2 * 7 + worker as u64) as usize % partitions
    }
}

fn next_for(worker: usize, from: u64, partition: usize, partitions: usize) -> u64 {
    let period = 2 * partitions as u64 + 2;
    let mut candidates = from..from + period;
    candidates
        .find(|&number| partition_of(worker, number, partitions) == partition)
        .unwrap_or(u64::MAX)
}
