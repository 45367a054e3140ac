//! Random, deep and low-complexity data at the word edges of k, with every cut-off.

use crate::naive::{self, Random};
use crate::runs::{Place, check, done, fasta, least, letters};

const EDGES: [usize; 13] = [1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97, 126, 127];

/// Reads of a small genome, many times on both strands, and all that is hard about sequences.
fn hard_reads(random: &mut Random) -> Vec<Vec<u8>> {
    let genome = random.bases(3000);
    let mut reads = vec![
        b"A".repeat(900),
        b"T".repeat(700),
        b"AC".repeat(400),
        b"GT".repeat(300),
        b"CG".repeat(200),
    ];
    reads.extend([
        b"ACG".repeat(150),
        b"N".repeat(300),
        b"".to_vec(),
        b"A".to_vec(),
        b"acgtu".repeat(60),
    ]);
    for number in 0..150 {
        let start = random.below(genome.len() - 300);
        let mut read = genome[start..start + 1 + random.below(299)].to_vec();
        if number % 2 == 1 {
            read = naive::reverse_complement(&read);
        }
        match number % 10 {
            0 => read.make_ascii_lowercase(),
            1 => read
                .iter_mut()
                .filter(|base| **base == b'T')
                .for_each(|base| *base = b'U'),
            2 => {
                let at = random.below(read.len());
                read[at] = b"NRYKMSWBDHVX-"[random.below(13)];
            }
            3 => read.splice(0..0, b"N".repeat(70)).for_each(drop),
            _ => {}
        }
        // The same read again, in the same or the other direction: whole super-k-mers come again.
        if number % 3 == 0 {
            let upper: Vec<u8> = read.to_ascii_uppercase();
            if upper.iter().all(|base| b"ACGT".contains(base)) {
                reads.push(naive::reverse_complement(&upper));
            }
            reads.extend([read.clone(), read.clone()]);
        }
        reads.push(read);
    }
    reads.push(genome);
    reads
}

#[test]
fn hard_data_at_every_edge_with_every_cut_off() {
    let mut random = Random(1);
    let cutoffs = [
        (1, u32::MAX),
        (2, u32::MAX),
        (3, u32::MAX),
        (1, 1),
        (2, 4),
        (5, 200),
        (1, 254),
        (300, 255),
    ];
    for (number, k) in EDGES.into_iter().enumerate() {
        for stranded in [false, true] {
            let reads = hard_reads(&mut random);
            let place = Place::new();
            let input = place.input("reads.fa", &fasta(&reads));
            for turn in 0..4 {
                let mut config = place.config(std::slice::from_ref(&input), k, stranded);
                (config.min_count, config.max_count) = match turn {
                    0..3 => cutoffs[turn],
                    _ => cutoffs[3 + number % (cutoffs.len() - 3)],
                };
                config.threads = 1 + turn % 3;
                check(
                    &config,
                    &reads,
                    letters(&reads),
                    &format!("k={k} {stranded} turn {turn}"),
                );
            }
        }
    }
}

/// Bins with many k-mers: the estimates of their number, the Bloom filter and growing tables
/// matter.
#[test]
fn full_bins_are_exact() {
    let mut random = Random(2);
    for (k, copies, min) in [
        (31, 1, 1),
        (31, 2, 2),
        (5, 1, 1),
        (12, 1, 2),
        (64, 3, 3),
        (127, 2, 2),
    ] {
        let (core, reads) = narrow_reads(&mut random, k, 60_000 / k, copies);
        let place = Place::new();
        let input = place.input("reads.fa", &fasta(&reads));
        let mut config = place.config(&[input], k, false);
        config.min_count = min;
        check(
            &config,
            &reads,
            letters(&reads),
            &format!("k={k} {copies} times around {core:?}"),
        );
    }
}

/// Reads whose k-mers all hold one minimizer: every k-mer is in one bin.
fn narrow_reads(
    random: &mut Random,
    k: usize,
    reads: usize,
    copies: usize,
) -> (String, Vec<Vec<u8>>) {
    let core = smallest_core();
    let flank = k.saturating_sub(core.len());
    let mut all = Vec::new();
    for _ in 0..reads {
        let read = [random.bases(flank), core.clone(), random.bases(flank)].concat();
        for copy in 0..copies {
            all.push(if copy % 2 == 0 {
                read.clone()
            } else {
                naive::reverse_complement(&read)
            });
        }
    }
    (String::from_utf8(core).unwrap(), all)
}

/// The canonical 11-mer with the smallest hash: no k-mer that holds it has another minimizer.
fn smallest_core() -> Vec<u8> {
    let letters = |value: u32| {
        (0..11)
            .rev()
            .map(|i| b"ACGT"[(value >> (2 * i) & 3) as usize])
            .collect::<Vec<u8>>()
    };
    let hash = |value: u32| (value ^ 0x5bd1_e995).wrapping_mul(0x9e37_79b1);
    // Few are as small as this: only they are looked at as text.
    let small = (0..1 << 22).filter(|&value| hash(value) < 1 << 16);
    let canonical = small.filter(|&value| naive::form(letters(value), false) == letters(value));
    letters(canonical.min_by_key(|&value| hash(value)).unwrap())
}

/// A bin with more k-mers than the tables of a thread may hold with the least memory is counted in
/// passes.
#[test]
fn a_partition_too_large_for_memory_is_counted_in_passes() {
    let mut random = Random(3);
    for (k, number, copies, min, max) in [
        (31, 6_000, 3, 1, u32::MAX),
        (31, 13_000, 1, 1, u32::MAX),
        (33, 6_000, 2, 2, 2),
        (127, 600, 2, 1, 9),
    ] {
        let (_, reads) = narrow_reads(&mut random, k, number, copies);
        let place = Place::new();
        let input = place.input("reads.fa", &fasta(&reads));
        let mut config = least(place.config(&[input], k, false));
        (config.min_count, config.max_count) = (min, max);
        check(
            &config,
            &reads,
            letters(&reads),
            &format!("k={k}, {number} reads {copies} times"),
        );
        let in_passes = place.take();
        config.memory = 8 << 30;
        done(&config);
        assert!(in_passes == place.take(), "k={k}: other bytes at once");
    }
}

#[test]
fn bases_of_low_quality_are_no_bases() {
    let mut random = Random(4);
    let genome = random.bases(2000);
    let record = |random: &mut Random| {
        let start = random.below(genome.len() - 200);
        let letters = genome[start..start + random.below(200)].to_vec();
        let qualities: Vec<u8> = letters
            .iter()
            .map(|_| b'!' + (93 - random.below(94) / (1 + random.below(30))) as u8)
            .collect();
        (letters, qualities)
    };
    let records: Vec<_> = (0..400).map(|_| record(&mut random)).collect();
    let text: Vec<u8> = records
        .iter()
        .flat_map(|(letters, qualities)| {
            [b"@r\n", letters.as_slice(), b"\n+\n", qualities, b"\n"].concat()
        })
        .collect();
    let place = Place::new();
    let input = place.input("reads.fq", &text);
    for least in [0, 1, 2, 20, 60, 92, 93] {
        for k in [1, 15, 31, 65] {
            let reads: Vec<_> = records
                .iter()
                .map(|(letters, qualities)| naive::masked(letters, qualities, least))
                .collect();
            let mut config = place.config(std::slice::from_ref(&input), k, k == 15);
            config.min_base_quality = Some(least);
            check(
                &config,
                &reads,
                letters(&reads),
                &format!("k={k} quality {least}"),
            );
        }
    }
}
