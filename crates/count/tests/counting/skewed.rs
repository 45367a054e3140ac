//! One minimizer for all k-mers, and so one bin: counted at once, or in as many passes as the
//! memory asks for.

use gyrase_count::Config;
use gyrase_kmer::minimizer_hash;

use crate::naive::{Random, reverse_complement};
use crate::runs::{Place, check, done, fasta, least, letters};

/// Length of minimizers from k = 25 on.
const M: usize = 11;

/// The word that is the minimizer of every k-mer that has it.
fn least_word() -> Vec<u8> {
    let letters = |value: u32| {
        (0..M)
            .rev()
            .map(|i| b"ACGT"[(value >> (2 * i) & 3) as usize])
            .collect::<Vec<u8>>()
    };
    let canonical = |value: &u32| letters(*value) <= reverse_complement(&letters(*value));
    // The hash is cheap, the naive complement is not.
    let mut words: Vec<u32> = (0..1 << (2 * M)).collect();
    words.sort_unstable_by_key(|&value| minimizer_hash(value));
    letters(words.into_iter().find(canonical).unwrap())
}

/// Reads around the least word, so that every k-mer has it; every third comes twice.
fn reads(number: usize, k: usize, seed: u64) -> Vec<Vec<u8>> {
    let (word, mut random) = (least_word(), Random(seed));
    let mut read = || [random.bases(k - M), word.clone(), random.bases(k - M)].concat();
    (0..number)
        .flat_map(|i| vec![read(); if i % 3 == 0 { 2 } else { 1 }])
        .collect()
}

#[test]
fn any_memory_gives_the_same_bytes() {
    for (k, number) in [(31, 12_000), (33, 6000), (127, 1500)] {
        let place = Place::new();
        let reads = reads(number, k, k as u64);
        let input = place.input("skewed.fa", &fasta(&reads));
        let plenty = Config {
            min_count: 1 + (k == 33) as u32,
            ..place.config(&[input], k, false)
        };
        check(&plenty, &reads, letters(&reads), &format!("k={k}"));
        let expected = place.take();
        for threads in [1, 3] {
            let fewest = least(Config {
                threads,
                ..plenty.clone()
            });
            for memory in [fewest.memory, 400 << 20] {
                done(&Config {
                    memory,
                    ..fewest.clone()
                });
                assert!(
                    expected == place.take(),
                    "k={k}, {threads} threads, {memory} bytes of memory"
                );
            }
        }
    }
}
