//! k-mers counted by the host twin, against the keys of the processor in a map.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

mod twin;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

use gyrase_gpu::{Gpu, GpuCounter, GpuError, GpuLibrary, GpuShare, GpuSuperKmers};
use gyrase_kmer::{Cutter, Shape, SuperKmer, mix};

const ALL: RangeInclusive<u64> = 0..=u64::MAX;
const ANY: RangeInclusive<u32> = 1..=u32::MAX;

/// A part: the keys that are wanted, and super-k-mers with weights.
type Part = (RangeInclusive<u64>, Vec<(SuperKmer<1>, u32)>);

fn with_library(test: impl FnOnce(&GpuLibrary)) {
    if let Some(path) = twin::twin(Path::new(env!("CARGO_TARGET_TMPDIR"))) {
        test(&GpuLibrary::load(path).unwrap());
    }
}

fn counter(library: &GpuLibrary, memory: u64) -> GpuCounter {
    let gpu: &Gpu = &library.gpu(None).unwrap();
    let share = GpuShare {
        library,
        gpu,
        memory,
    };
    share.counter().unwrap()
}

fn letters(count: usize, seed: u64) -> Vec<u8> {
    let letter = |i| b"ACGT"[(mix(i ^ seed << 40) >> 62) as usize];
    (0..count as u64).map(letter).collect()
}

/// The super-k-mers of letters, whatever their bins.
fn cut(letters: &[u8], shape: Shape, weight: impl Fn(usize) -> u32) -> Vec<(SuperKmer<1>, u32)> {
    let mut all = Vec::new();
    let mut emit = |_, super_kmer| {
        all.push((super_kmer, weight(all.len())));
        Ok::<(), ()>(())
    };
    Cutter::new(shape).cut(letters, &mut emit).unwrap();
    all
}

/// The rows of a part by the definition.
fn expected(shape: Shape, (keys, part): &Part, counted: &RangeInclusive<u32>) -> Vec<(u64, u32)> {
    let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
    for (super_kmer, weight) in part {
        super_kmer.for_each_key(shape, |key| {
            let count = counts.entry(key.0[0]).or_default();
            *count = count.saturating_add(*weight);
        });
    }
    let wanted = |&(key, count): &(u64, u32)| keys.contains(&key) && counted.contains(&count);
    counts.into_iter().filter(wanted).collect()
}

fn given(shape: Shape, parts: &[Part]) -> GpuSuperKmers {
    let mut given = GpuSuperKmers::new(shape, 1 << 20);
    for (keys, part) in parts {
        given.begin(keys.clone());
        let all = part
            .iter()
            .all(|&(super_kmer, weight)| given.push(super_kmer, weight));
        assert!(all);
    }
    given
}

fn check(counter: &mut GpuCounter, shape: Shape, parts: &[Part], counted: RangeInclusive<u32>) {
    let mut given = given(shape, parts);
    let mut rows = counter.count(&mut given, &counted).unwrap();
    for (number, part) in parts.iter().enumerate() {
        let own = rows.of(number);
        let (mut keys, mut counts) = (vec![0; own.len()], vec![0; own.len()]);
        rows.read(own.start, &mut keys, &mut counts).unwrap();
        let found: Vec<(u64, u32)> = keys.into_iter().zip(counts).collect();
        assert!(
            found == expected(shape, part, &counted),
            "{shape:?}, part {number} of {}, {counted:?}",
            parts.len()
        );
    }
}

#[test]
fn kmers_of_parts_are_counted() {
    with_library(|library| {
        let counter = &mut counter(library, 1 << 28);
        for k in [1, 2, 15, 21, 31, 32] {
            for stranded in [false, true] {
                let shape = Shape::new(k, stranded).unwrap();
                let one = |_| 1;
                let random = cut(&letters(4000, k as u64), shape, one);
                let half = 1..=u64::MAX / 2;
                let (head, tail) = (0..=0, u64::MAX / 2 + 1..=u64::MAX);
                let parts = [
                    (ALL, random.clone()),
                    (ALL, Vec::new()),
                    // The same k-mers again: a row is of one part.
                    (head, random.clone()),
                    (half, random.clone()),
                    (tail, random),
                    (ALL, cut(&[b'A'; 900], shape, |at| at as u32 % 7 + 1)),
                    // Palindromes, and a k-mer beside its reverse complement.
                    (ALL, cut(&b"ACGT".repeat(70), shape, one)),
                    (ALL, cut(&b"AT".repeat(50), shape, one)),
                    (7..=7, cut(b"GATTACA", shape, one)),
                    (ALL, Vec::new()),
                ];
                check(counter, shape, &parts, ANY);
                check(counter, shape, &parts, 2..=5);
            }
        }
    });
}

#[test]
fn counts_end_where_they_cannot_be_told() {
    with_library(|library| {
        let counter = &mut counter(library, 1 << 28);
        let shape = Shape::new(31, false).unwrap();
        let most = |at: usize| [u32::MAX, 1, u32::MAX - 1, 3][at % 4];
        let heavy = cut(&letters(500, 3), shape, most);
        let parts = [
            (ALL, heavy.clone()),
            (ALL, [&heavy[..], &heavy[..], &heavy[..1]].concat()),
            (ALL, cut(&[b'C'; 3000], shape, |_| u32::MAX / 2)),
        ];
        check(counter, shape, &parts, ANY);
        check(counter, shape, &parts, u32::MAX..=u32::MAX);
        check(counter, shape, &parts, 4..=u32::MAX - 1);
        check(counter, shape, &[], ANY);
    });
}

#[test]
fn what_takes_too_much_memory_is_declined() {
    with_library(|library| {
        let shape = Shape::new(21, false).unwrap();
        let parts = [(ALL, cut(&letters(9000, 5), shape, |_| 1))];
        let counter = &mut counter(library, 100_000);
        let declined = counter.count(&mut given(shape, &parts), &ANY);
        assert!(matches!(declined, Err(GpuError::Declined)));
        // It goes on with less.
        let parts = [(ALL, cut(&letters(900, 5), shape, |_| 1))];
        check(counter, shape, &parts, ANY);
        let mut given = given(shape, &parts);
        let mut rows = counter.count(&mut given, &ANY).unwrap();
        let beyond = rows.read(rows.of(0).end, &mut [0], &mut [0]);
        assert!(matches!(beyond, Err(GpuError::Failed { .. })));
    });
}

#[test]
fn there_is_as_much_room_as_is_said() {
    let shape = Shape::new(31, false).unwrap();
    let some = cut(&letters(9000, 7), shape, |_| 1);
    let stored = |of: &[(SuperKmer<1>, u32)]| {
        let each = of
            .iter()
            .map(|(super_kmer, _)| SuperKmer::<1>::stored_bytes(super_kmer.kmers(), shape));
        each.sum::<usize>() as u64
    };
    for bytes in [1, 1000, 3000, 10_000] {
        let mut given = GpuSuperKmers::new(shape, bytes);
        given.begin(ALL);
        let taken = some
            .iter()
            .take_while(|&&(super_kmer, weight)| given.push(super_kmer, weight))
            .count();
        assert!(taken < some.len() && taken % 32 == 0);
        assert!(!given.has_room(1), "{bytes}");
        given.drop_last();
        let enough = (0..=taken)
            .rev()
            .find(|&taken| given.has_room(stored(&some[..taken])));
        given.begin(ALL);
        let fits = some[..enough.unwrap()]
            .iter()
            .all(|&(super_kmer, weight)| given.push(super_kmer, weight));
        assert!(fits && (bytes < 3000 || enough > Some(20)), "{bytes}");
    }
}
