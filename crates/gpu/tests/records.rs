//! Records and lists of features by the host twin, against those that the processor makes.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

mod twin;
mod with;

use std::collections::{BTreeMap, BTreeSet};

use gyrase_gpu::{GpuError, GpuLibrary, GpuSorted, GpuTargets};
use gyrase_kmer::{SketchShape, Sketcher, mix};
use gyrase_table::gydb::{Location, PARTITIONS, place_of};

use with::{Chance, HOST, MEMORY, made, with_share};

/// Bytes of a device that a batch of ten thousand letters takes more than.
const SKETCHING: u64 = 120_000;

/// Records of all sequences, by partition: of several threads, of which the last comes first in the
/// database, behind a window that is not of them. A thread sketches with so little memory that some
/// of what it has is too much at once.
fn check_records(library: &GpuLibrary, shape: SketchShape, reads: &[Vec<Vec<u8>>], memory: u64) {
    const THREADS: usize = 4;
    let shares: Vec<_> = reads.chunks(reads.len().div_ceil(THREADS)).collect();
    let mut expected = BTreeSet::new();
    let mut window = 1;
    for letters in shares.iter().rev().copied().flatten().flatten() {
        Sketcher::new(shape).sketch(letters, &mut |_, features| {
            let record = |feature: &u32| (place_of(*feature), window);
            expected.extend(features.iter().map(record));
            window += 1;
        });
    }
    let (mut found, mut passes, mut first) = (BTreeSet::new(), 0, 0);
    while first < PARTITIONS {
        let records = with_share(library, memory, |share| share.records(shape, first)).unwrap();
        let sketched = |reads: &[Vec<Vec<u8>>]| {
            let mut sketcher = records.sketcher(SKETCHING, HOST).unwrap();
            let batch = |batch: &[Vec<Vec<u8>>]| {
                let letters = || batch.iter().flatten();
                let windows: u32 = letters().map(|letters| shape.windows(letters.len())).sum();
                (
                    sketcher.sketch(letters().map(Vec::as_slice)).unwrap(),
                    windows,
                )
            };
            reads.chunks(5).map(batch).collect::<Vec<_>>()
        };
        let came: Vec<Vec<(u32, u32)>> = std::thread::scope(|scope| {
            let threads: Vec<_> = shares
                .iter()
                .map(|&share| scope.spawn(move || sketched(share)))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        let mut next = 1;
        let batches = came.iter().rev().flatten().filter(|batch| batch.1 > 0);
        let number = |&(first, windows): &(u32, u32)| {
            next += windows;
            (first, next - windows)
        };
        let numbers: Vec<(u32, u32)> = batches.map(number).collect();
        let mut sorted = records.sort(numbers, HOST).unwrap();
        assert_eq!(sorted.partitions().start, first);
        for partition in sorted.partitions() {
            let mut last = None;
            let each = |records: &[u64], count: usize| {
                assert!(records.len() >= count + 16);
                for &record in &records[..count] {
                    assert!(last < Some(record), "they ascend");
                    last = Some(record);
                    let place = (partition as u32) << 20 | (record >> 44) as u32;
                    assert!(found.insert((place, record as u32)), "each comes once");
                }
                Ok::<_, GpuError>(())
            };
            sorted.each(partition, each).unwrap();
        }
        check_lists(&mut sorted, &expected, window);
        (first, passes) = (sorted.partitions().end, passes + 1);
    }
    assert!(found == expected, "{shape:?}");
    assert_eq!(
        passes > 1,
        memory < MEMORY,
        "{passes} passes with {memory} bytes"
    );
}

/// The lists of records, with targets of which some have no window, or no taxon, or one name.
fn check_lists(sorted: &mut GpuSorted, records: &BTreeSet<(u32, u32)>, windows: u32) {
    const TAXA: usize = 3;
    let first_windows: Vec<Location> = (0..=windows)
        .filter(|window| window % 7 == 0 || window % 11 == 3)
        .flat_map(|window| [window].repeat(1 + usize::from(window % 5 == 4)))
        .map(Location)
        .collect();
    let numbers = 0..first_windows.len() as u64;
    let names: Vec<u64> = numbers.clone().map(|number| mix(number / 20)).collect();
    let taxa: Vec<u32> = numbers.map(|number| (mix(number) % 4) as u32).collect();
    let brought = sorted.bring_targets(&GpuTargets {
        first_windows: &first_windows,
        names: &names,
        taxa: &taxa,
        all_taxa: TAXA,
        windows,
    });
    brought.unwrap();
    let target = |window| first_windows.partition_point(|first| first.0 <= window) - 1;
    let rank = |window| {
        let target = target(window);
        (
            mix(names[target] ^ u64::from(window - first_windows[target].0)),
            window,
        )
    };
    let mut all: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let here = sorted.partitions();
    let of_here = |place: u32| here.contains(&((place >> 20) as usize));
    for &(place, window) in records.iter().filter(|record| of_here(record.0)) {
        all.entry(place).or_default().push(window);
    }
    for most in [1, 3, 254] {
        let mut lister = sorted.lister(most, MEMORY, HOST).unwrap();
        let (mut distinct, mut full, mut found) = (vec![0; TAXA + 1], 0, 0);
        for partition in here.clone() {
            let lists = lister.lists(partition).unwrap();
            let mut locations = lists.locations.iter().map(|location| location.0);
            for (&place, &count) in lists.places.iter().zip(lists.counts) {
                assert_eq!((place >> 20) as usize, partition);
                let mut list = all[&place].clone();
                list.sort_unstable_by_key(|&window| rank(window));
                list.truncate(most.into());
                list.sort_unstable();
                let own: Vec<u32> = locations.by_ref().take(count.into()).collect();
                assert_eq!(own, list, "up to {most}");
                let of_list: BTreeSet<u32> = list.iter().map(|&at| taxa[target(at)]).collect();
                of_list
                    .iter()
                    .for_each(|&taxon| distinct[taxon as usize] += 1);
                full += u32::from(count == most);
                found += 1;
            }
            assert_eq!(locations.next(), None);
            full -= lists.full;
        }
        assert_eq!((found, full), (all.len(), 0));
        assert_eq!(lister.distinct().unwrap(), distinct);
    }
}

#[test]
fn features_of_any_shape_become_records() {
    let Some(path) = made() else { return };
    let library = GpuLibrary::load(path).unwrap();
    let sampled =
        |k, window, stride, one_in| SketchShape::sampled(k, window, stride, one_in).unwrap();
    let smallest = |k, window, stride, most| SketchShape::new(k, window, stride, most).unwrap();
    let mut chance = Chance(3);
    for shape in [
        SketchShape::default(),
        sampled(32, 256, 225, 1),
        sampled(8, 33, 20, 3),
        smallest(16, 256, 100, 64),
        smallest(9, 12, 1, 1),
    ] {
        let lengths = (0..60).map(|number| [0, 5, 40, 300, 1000][number % 5]);
        let reads: Vec<_> = lengths.map(|length| vec![chance.letters(length)]).collect();
        check_records(&library, shape, &reads, MEMORY);
    }
}

#[test]
fn what_does_not_fit_is_declined() {
    let Some(path) = made() else { return };
    let library = GpuLibrary::load(path).unwrap();
    let (shape, mut chance) = (SketchShape::default(), Chance(9));
    let read = chance.letters(150);
    for (memory, host) in [(MEMORY, 10), (10, HOST)] {
        let records = with_share(&library, MEMORY, |share| share.records(shape, 0)).unwrap();
        let mut sketcher = records.sketcher(memory, host).unwrap();
        let declined = sketcher.sketch([&read[..]]);
        assert!(matches!(declined, Err(GpuError::Declined)));
    }
    // Room for a record or two, where a partition has more.
    let records = with_share(&library, 40, |share| share.records(shape, PARTITIONS - 1)).unwrap();
    let mut sketcher = records.sketcher(MEMORY, HOST).unwrap();
    let many = chance.letters(1 << 20);
    assert!(matches!(
        sketcher.sketch([&many[..]]),
        Err(GpuError::Declined)
    ));
}

#[test]
fn records_that_are_too_many_at_once_are_made_in_passes() {
    let Some(path) = made() else { return };
    let library = GpuLibrary::load(path).unwrap();
    let (shape, mut chance) = (SketchShape::default(), Chance(17));
    let same = chance.letters(2000);
    let read = |number: usize| vec![chance.letters(4000), same.clone()].split_off(number % 2);
    let mut reads: Vec<Vec<Vec<u8>>> = (0..40).map(read).collect();
    // One has more windows than are sketched at once.
    reads.push(vec![chance.letters(40_000)]);
    for memory in [MEMORY, 900_000, 600_000, 450_000] {
        check_records(&library, shape, &reads, memory);
    }
}
