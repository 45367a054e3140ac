//! What processes send each other as they sort suffixes together: each about as much as the others.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use gyrase_fabric::{Steal, testing};
use gyrase_suffix::build_in;
use gyrase_work::Progress;

/// Letters of the text for each process.
const OF_EACH: usize = 60_000;
/// Bytes of the file for each letter: of the letter, its position, and what is shared. Rank 0
/// writes them, and is sent those of all others.
const WRITTEN: usize = 9;

fn random(length: usize) -> Vec<u8> {
    let mut state = 7u64;
    let letter = |_| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        b"ACGT"[(state >> 62) as usize]
    };
    (0..length).map(letter).collect()
}

/// Bytes that each process sends to others as it sorts.
fn sent(text: &[u8], ranks: usize) -> Vec<f64> {
    let folder = tempfile::tempdir().unwrap();
    let [input, target] = ["a.fa", "a.gysa"].map(|name| folder.path().join(name));
    std::fs::write(&input, [b">t\n", text, b"\n"].concat()).unwrap();
    let done = testing::run(ranks, Steal::Off, |world| {
        let (inputs, progress) = (std::slice::from_ref(&input), Progress::default());
        build_in(world, inputs, None, (&target, false), 1 << 30, &progress).map(|_| world.sent())
    });
    let written = WRITTEN * text.len() / ranks;
    let sorted =
        |(rank, sent): (usize, u64)| sent as f64 - if rank > 0 { written as f64 } else { 0.0 };
    done.into_iter()
        .map(Result::unwrap)
        .enumerate()
        .map(sorted)
        .collect()
}

fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / all.len() as f64
}

fn check_even(all: &[f64]) {
    let mean = mean(all);
    let within = 0.9 * mean..1.1 * mean;
    assert!(all.iter().all(|sent| within.contains(sent)), "{all:?}");
}

#[test]
fn more_processes_with_more_letters_send_as_much_each() {
    let put = [2, 4, 8].map(|ranks| {
        let all = sent(&random(ranks * OF_EACH), ranks);
        check_even(&all);
        // What stays in the process is no part of it, and is a smaller share among more of them.
        mean(&all) * ranks as f64 / (ranks - 1) as f64
    });
    check_even(&put);
}

#[test]
fn what_repeats_burdens_nobody_more_than_others() {
    let ranks = 4;
    let mut text = random(ranks * OF_EACH);
    // Two blocks of the text are equal; nothing in the others is.
    text.copy_within(..OF_EACH, OF_EACH);
    let all = sent(&text, ranks);
    check_even(&all);
    assert!(mean(&all) > 1.5 * mean(&sent(&random(ranks * OF_EACH), ranks)));
}
