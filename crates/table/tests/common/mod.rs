//! Random k-mers and the databases made of them.
// Each test file takes what it needs, and a helper of a test is a test.
#![allow(dead_code, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_kmer::{BINS, Key, Kmer, Shape, bin_of, mix};
use gyrase_table::gyk::{Cutoffs, GykError, Metadata, Summary, Writer};

/// The lengths at which a k-mer takes another word, and some between.
pub const EDGES: [usize; 13] = [1, 2, 5, 21, 31, 32, 33, 63, 64, 65, 96, 97, 127];

/// Random k-mers of `shape` in their counted form, with counts from 1 to beyond the overflow.
pub fn kmers<const W: usize>(shape: Shape, n: usize, seed: u64) -> BTreeMap<Kmer<W>, u32> {
    let mut state = seed;
    let mut next = || {
        state = mix(state.wrapping_add(0x1234_5678_9abc_def1));
        state
    };
    (0..n)
        .map(|_| {
            let mut words = [0; W];
            words.fill_with(&mut next);
            let count = match next() % 50 {
                0 => (next() >> 32) as u32 | 1,
                1 => 253 + (next() % 5) as u32,
                _ => 1 + (next() % 9) as u32,
            };
            (Kmer(words).masked(shape.k()).form(shape), count)
        })
        .collect()
}

/// Bins of (key, count), as a database has them.
pub fn bins<const W: usize>(
    shape: Shape,
    kmers: &BTreeMap<Kmer<W>, u32>,
) -> Vec<BTreeMap<[u64; W], u32>> {
    let mut bins = vec![BTreeMap::new(); BINS];
    for (&kmer, &count) in kmers {
        bins[bin_of(kmer, shape)].insert(Key::from(kmer).0, count);
    }
    bins
}

/// Hands one bin over.
pub fn write_bin<const W: usize>(
    writer: &Writer,
    bin: usize,
    rows: &BTreeMap<[u64; W], u32>,
) -> Result<(), GykError> {
    let keys: Vec<u64> = rows.keys().flatten().copied().collect();
    let counts: Vec<u32> = rows.values().copied().collect();
    writer.write_bin(bin, &keys, &counts)
}

pub fn metadata() -> Metadata {
    Metadata {
        inputs: vec!["a.fq".into(), "b.fq.gz".into()],
        operation: "count".into(),
        reads: 12,
        bases: 3456,
    }
}

/// Writes a database from `threads` threads.
pub fn write<const W: usize>(
    path: &Path,
    shape: Shape,
    kmers: &BTreeMap<Kmer<W>, u32>,
    threads: usize,
) -> Summary {
    let bins = bins(shape, kmers);
    let writer = Writer::create(path, shape, Cutoffs::default()).unwrap();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let bin = next.fetch_add(1, Relaxed);
                    let Some(rows) = bins.get(bin) else { break };
                    write_bin(&writer, bin, rows).unwrap();
                }
            });
        }
    });
    writer.finish(&metadata()).unwrap()
}
