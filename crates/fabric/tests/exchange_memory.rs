//! An exchange keeps within the memory that it was given, whatever goes through it.

#![cfg(target_os = "linux")]

#[path = "exchange/mail.rs"]
mod mail;

use std::sync::Arc;

use gyrase_fabric::{Drain, Fabric, Sender, SpillFolder};
use mail::{Job, run};

/// Most memory that this process had so far.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("Linux tells");
    line.trim()
        .trim_end_matches(" kB")
        .parse::<u64>()
        .expect("a number")
        << 10
}

#[test]
fn keeps_within_its_memory() {
    const MEMORY: u64 = 48 << 20;
    const RECORDS: u64 = 2_500_000;
    const LENGTH: usize = 100;
    /// Per process: what two spills that are being written take, and the mailbox of this test.
    const BESIDE: u64 = 36 << 20;
    let (tmp, job) = (tempfile::tempdir().expect("a folder"), Job::new(2));
    let folder = |rank: usize| {
        Arc::new(SpillFolder::new(
            tmp.path().join(rank.to_string()),
            None,
            false,
        ))
    };
    let before = peak();
    let done = run(&job, 500, MEMORY, folder, |rank, fabric| {
        let (mut sender, mut record) = (fabric.sender(), [0; LENGTH]);
        for number in 0..RECORDS {
            record[..8].copy_from_slice(
                &(number * 2 + rank as u64)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    .to_le_bytes(),
            );
            sender.send(number as usize % 500, &record, LENGTH)?;
        }
        let partitions = fabric.close(vec![sender])?;
        assert!(partitions.spilled());
        Ok(partitions
            .owned()
            .into_iter()
            .map(|partition| partitions.bytes(partition))
            .sum::<u64>())
    });
    let bytes: u64 = done
        .into_iter()
        .map(|(bytes, _)| bytes.expect("a disk with room"))
        .sum();
    assert_eq!(bytes, 2 * RECORDS * LENGTH as u64);
    let took = peak() - before;
    assert!(
        took < 2 * (MEMORY + BESIDE) && bytes > 2 * took,
        "{took} bytes of memory for {bytes}"
    );
}
