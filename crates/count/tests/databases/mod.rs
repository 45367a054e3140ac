//! Random databases and the maps that they were made of.
// Each test file takes what it needs, and a helper of a test is a test.
#![allow(dead_code, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use gyrase_kmer::{BINS, Key, Kmer, Shape, bin_of, mix};
use gyrase_table::gyk::{Cutoffs, Database, Metadata, Writer};

/// The lengths at which a k-mer takes another word, and some between.
pub const EDGES: [usize; 13] = [1, 2, 5, 21, 31, 32, 33, 63, 64, 65, 96, 97, 127];

pub type Counts<const W: usize> = BTreeMap<Kmer<W>, u32>;

/// `n` k-mers in their counted form, drawn from `pool` many, with small, middling and huge counts.
pub fn random<const W: usize>(shape: Shape, n: usize, pool: u64, seed: u64) -> Counts<W> {
    let mut state = seed;
    let mut next = || {
        state = mix(state.wrapping_add(0x1234_5678_9abc_def1));
        state
    };
    (0..n)
        .map(|_| {
            let which = next() % pool;
            let kmer = Kmer(std::array::from_fn(|word| mix(which * 8 + word as u64)));
            let count = match next() % 40 {
                0 => (next() >> 32) as u32 | 1,
                1 => 253 + (next() % 5) as u32,
                _ => 1 + (next() % 5) as u32,
            };
            (kmer.masked(shape.k()).form(shape), count)
        })
        .collect()
}

/// Writes a database.
pub fn write<const W: usize>(path: &Path, shape: Shape, kmers: &Counts<W>) {
    let mut bins = vec![BTreeMap::new(); BINS];
    for (&kmer, &count) in kmers {
        bins[bin_of(kmer, shape)].insert(Key::from(kmer).0, count);
    }
    let writer = Writer::create(path, shape, Cutoffs::default()).unwrap();
    for (bin, rows) in bins.iter().enumerate() {
        let keys: Vec<u64> = rows.keys().flatten().copied().collect();
        let counts: Vec<u32> = rows.values().copied().collect();
        writer.write_bin(bin, &keys, &counts).unwrap();
    }
    let name = path.file_name().unwrap().to_string_lossy();
    let metadata = Metadata {
        inputs: vec![name.into_owned()],
        operation: "count".into(),
        reads: 2,
        bases: 300,
    };
    writer.finish(&metadata).unwrap();
}

/// All that a database holds, once it is verified.
pub fn read<const W: usize>(path: &Path) -> Counts<W> {
    let database = Database::open(path).unwrap();
    database.verify().unwrap();
    (0..BINS)
        .flat_map(|bin| {
            database
                .bin(bin)
                .rows::<W>()
                .iter()
                .zip(database.bin(bin).counts())
                .collect::<Vec<_>>()
        })
        .map(|(&row, count)| (Kmer::from(Key(row)), count))
        .collect()
}
