//! Databases of features against an ordered map, under many threads, and after damage.
// A helper of a test is a test.
#![allow(clippy::unwrap_used)]

use std::ops::Range;
use std::path::Path;

use crate::features::{
    Places, Random, add_sections, check, features, in_memory, odd_places, pieces, sections, write,
};
use gyrase_files::container::ContainerError;
use gyrase_table::gydb::{
    Database, GydbError, Location, MAX_COUNT, PARTITIONS, Writer, feature_at, partition_of,
};

fn file(path: &Path, places: &Places, threads: usize) -> Vec<u8> {
    let writer = Writer::create(path, MAX_COUNT).unwrap();
    write(&writer, places, threads).unwrap();
    add_sections(&writer);
    let summary = writer.finish().unwrap();
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(summary.bytes, bytes.len() as u64);
    assert_eq!(summary.features, places.len() as u64);
    assert_eq!(
        summary.locations,
        places
            .values()
            .map(|locations| locations.len() as u64)
            .sum::<u64>()
    );
    let windows = places
        .values()
        .flatten()
        .max()
        .map_or(0, |largest| u64::from(largest.0) + 1);
    assert_eq!((summary.windows, summary.cap), (windows, MAX_COUNT));
    assert_eq!(Database::open(path).unwrap().summary(), summary);
    bytes
}

#[test]
fn holds_what_was_written_for_any_number_of_features() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gydb");
    // Without features, with fewer than partitions, and around the size from which partitions take
    // more than the fewest buckets.
    for (n, seed) in [(0, 1), (1, 2), (1000, 3), (70_000, 4), (1_000_000, 5)] {
        let places = features(n, seed);
        let bytes = file(&path, &places, 3);
        check(&Database::open(&path).unwrap(), &places);
        check(&in_memory(&places), &places);
        assert!(
            bytes == file(&path, &places, 1),
            "{n} features depend on threads"
        );
    }
}

#[test]
fn holds_places_that_are_not_uniform() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gydb");
    let places = odd_places();
    file(&path, &places, 2);
    check(&Database::open(&path).unwrap(), &places);
}

#[test]
fn partitions_out_of_order_wait_and_sections_are_sorted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gydb");
    let places = features(5000, 9);
    let ordered = file(&path, &places, 1);
    let writer = Writer::create(&path, MAX_COUNT).unwrap();
    sections()
        .iter()
        .rev()
        .for_each(|(name, bytes)| writer.section(name, bytes));
    for (partition, piece) in pieces(&places).iter().enumerate().rev() {
        writer
            .piece(partition, &piece.0, &piece.1, &piece.2)
            .unwrap();
    }
    check(&writer.into_database(2).unwrap(), &places);
    assert!(ordered == std::fs::read(&path).unwrap());
}

#[test]
fn a_partition_of_the_features_can_be_listed_alone() {
    let places = features(20_000, 21);
    let database = in_memory(&places);
    for range in [0..0, 0..1, 100..300, 4000..PARTITIONS] {
        let found: Vec<u32> = database
            .features_of(range.clone())
            .map(|feature| feature.unwrap().0)
            .collect();
        let listed = places.keys().map(|&place| feature_at(place));
        let expected: Vec<u32> = listed
            .filter(|&feature| range.contains(&partition_of(feature)))
            .collect();
        assert_eq!(found, expected);
    }
}

/// KiB of a file that this process has mapped into its memory.
#[cfg(target_os = "linux")]
fn resident(path: &Path) -> u64 {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let name = path.to_str().unwrap();
    let mut of_file = maps.lines().skip_while(|line| !line.ends_with(name));
    let line = of_file
        .find_map(|line| line.strip_prefix("Rss:"))
        .expect("the file is mapped");
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn memory_is_given_back_and_the_bytes_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given back.gydb");
    let places = features(300_000, 23);
    let size = file(&path, &places, 2).len() as u64 >> 10;
    let database = Database::open(&path).unwrap();
    check(&database, &places);
    assert!(
        resident(&path) > size / 2,
        "{} of {size} KiB",
        resident(&path)
    );
    database.let_go(0..PARTITIONS / 2);
    database.let_go(7..7);
    let half = resident(&path);
    assert!(
        half > size / 4 && half < 3 * size / 4,
        "{half} of {size} KiB"
    );
    database.let_go(0..PARTITIONS);
    assert!(
        resident(&path) < size / 4,
        "{} of {size} KiB",
        resident(&path)
    );
    check(&database, &places);
    for partition in 0..PARTITIONS {
        assert!(
            database
                .features_of(partition..partition + 1)
                .all(|feature| feature.is_ok())
        );
        database.let_go(partition..partition + 1);
    }
    assert!(
        resident(&path) < size / 4,
        "{} of {size} KiB",
        resident(&path)
    );
    let in_memory = in_memory(&places);
    in_memory.let_go(0..PARTITIONS);
    check(&in_memory, &places);
}

#[test]
fn a_file_that_was_replaced_is_not_current() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gydb");
    let bytes = file(&path, &features(100, 24), 1);
    let database = Database::open(&path).unwrap();
    assert!(database.is_current() && Database::from_bytes(&path, &bytes).unwrap().is_current());
    file(&path, &features(100, 24), 1);
    assert!(!database.is_current() && Database::open(&path).unwrap().is_current());
    std::fs::remove_file(&path).unwrap();
    assert!(!database.is_current());
}

#[test]
fn sections_are_found_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gydb");
    file(&path, &features(10, 1), 1);
    let database = Database::open(&path).unwrap();
    let mut expected = sections();
    expected.sort();
    assert!(
        database
            .sections()
            .eq(expected.iter().map(|(name, _)| name.as_str()))
    );
    for (name, bytes) in &expected {
        assert_eq!(database.section(name).unwrap(), bytes);
    }
    let error = database.section("targets").unwrap_err();
    assert!(matches!(error, GydbError::NoSection { .. }));
    assert!(
        error.to_string().contains("x.gydb") && error.to_string().contains("taxonomy"),
        "{error}"
    );
}

#[test]
fn a_thread_that_waits_hears_of_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::create(&folder.path().join("x.gydb"), 1).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            (1..40).try_for_each(|partition: u32| {
                let places: Vec<u32> = (0..1 << 20).map(|i| (partition << 20) + i).collect();
                let locations: Vec<_> = places.iter().copied().map(Location).collect();
                writer.piece(
                    partition as usize,
                    &places,
                    &vec![1; places.len()],
                    &locations,
                )
            })
        });
        writer.abandon();
        assert!(matches!(
            waiting.join().unwrap(),
            Err(GydbError::Abandoned { .. })
        ));
    });
    drop(writer);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn pieces_that_contradict_themselves_are_refused() {
    let refused = |partition: usize, places: &[u32], counts: &[u8], locations: &[u32]| {
        let writer = Writer::in_memory(3);
        let locations: Vec<_> = locations.iter().copied().map(Location).collect();
        let piece = || writer.piece(partition, places, counts, &locations);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(piece)).is_err()
    };
    assert!(!refused(0, &[1, 2], &[1, 3], &[5, 6, 7, 8]));
    assert!(
        refused(1, &[1, 2], &[1, 3], &[5, 6, 7, 8]),
        "of another partition"
    );
    assert!(refused(0, &[2, 1], &[1, 3], &[5, 6, 7, 8]), "descending");
    assert!(refused(0, &[2, 2], &[1, 3], &[5, 6, 7, 8]), "twice");
    assert!(refused(0, &[1, 2], &[1, 0], &[5]), "without a location");
    assert!(refused(0, &[1], &[4], &[5, 6, 7, 8]), "beyond the cap");
    assert!(
        refused(0, &[1, 2], &[1, 3], &[5, 6, 7]),
        "too few locations"
    );
    assert!(
        refused(0, &[1, 2], &[1, 3], &[5, 6, 7, 8, 9]),
        "too many locations"
    );
    assert!(refused(0, &[], &[], &[5]), "locations of nothing");
    assert!(refused(PARTITIONS, &[], &[], &[]), "no such partition");
}

/// A small database as bytes, and what is in it.
fn small() -> (Vec<u8>, Places) {
    let folder = tempfile::tempdir().unwrap();
    let mut places = features(3, 31);
    places.extend((0..45).map(|i| ((9 << 20) + 3 * i, vec![Location(i), Location(i + 1)])));
    (file(&folder.path().join("x.gydb"), &places, 1), places)
}

/// Where the directory of a database with four sections is.
fn directory(whole: &[u8]) -> Range<usize> {
    let end = whole.len() - 4 * 64;
    end - PARTITIONS * 24..end
}

#[test]
fn every_flipped_bit_is_detected() {
    let (whole, places) = small();
    let (path, mut bytes) = (Path::new("x.gydb"), whole.clone());
    Database::from_bytes(path, &bytes)
        .unwrap()
        .verify()
        .unwrap();
    let mut random = Random(1);
    let directory = directory(&whole);
    for at in 0..whole.len() {
        // The reserved bytes of the header and the entries of empty partitions are alike: one bit
        // of each will do.
        let bits = match at {
            96..4092 => at % 8..at % 8 + 1,
            _ if directory.contains(&at) && at % 24 != (at / 24) % 24 => 0..0,
            _ if directory.contains(&at) => random.below(8)..8,
            _ => 0..8,
        };
        for bit in bits {
            bytes[at] ^= 1 << bit;
            let found = Database::from_bytes(path, &bytes).and_then(|database| database.verify());
            let error = found.expect_err(&format!("bit {bit} of byte {at}"));
            assert!(error.to_string().contains("x.gydb"), "{error}");
            bytes[at] ^= 1 << bit;
        }
    }
    assert!(bytes == whole);
    check(&Database::from_bytes(path, &bytes).unwrap(), &places);
}

/// A look-up in a database with a flipped bit gives an error or the right answer.
#[test]
fn no_look_up_gives_a_wrong_answer() {
    let (whole, places) = small();
    let (path, mut bytes) = (Path::new("x.gydb"), whole.clone());
    let asked: Vec<u32> = places
        .keys()
        .flat_map(|&place| [place, place ^ 1])
        .map(feature_at)
        .collect();
    let sound = Database::from_bytes(path, &whole).unwrap();
    let mut errors = 0;
    let table = 4096..directory(&whole).start;
    for at in table.clone() {
        bytes[at] ^= 0x11;
        let damaged = Database::from_bytes(path, &bytes).unwrap();
        for &feature in &asked {
            match damaged.locations(feature) {
                Ok(found) => assert_eq!(found, sound.locations(feature).unwrap()),
                Err(error) => {
                    assert!(matches!(
                        error,
                        GydbError::Container(ContainerError::Corrupt { .. })
                    ));
                    errors += 1;
                }
            }
        }
        let batch = damaged.locations_of(&asked, |at, found| {
            assert_eq!(found, sound.locations(asked[at]).unwrap())
        });
        let listed = damaged
            .features()
            .try_fold(0, |n, feature| feature.map(|_| n + 1));
        assert!(batch.is_ok() || listed.is_err(), "byte {at}");
        bytes[at] ^= 0x11;
    }
    assert!(errors > table.len(), "{errors}");
}

/// A large partition is checked block by block: what lies elsewhere stays readable.
#[test]
fn damage_to_one_block_leaves_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let places: Places = (0..33_000)
        .map(|i| ((4095 << 20) + 31 * i, vec![Location(i)]))
        .collect();
    let whole = file(&folder.path().join("x.gydb"), &places, 1);
    let table = 4096..directory(&whole).start - 1024;
    let asked: Vec<u32> = places.keys().map(|&place| feature_at(place)).collect();
    let mut random = Random(8);
    for _ in 0..20 {
        let mut bytes = whole.clone();
        bytes[table.start + random.below(table.len() - 4096)] ^= 1;
        let damaged = Database::from_bytes(Path::new("x.gydb"), &bytes).unwrap();
        let mut errors = 0;
        for (i, &feature) in asked.iter().enumerate() {
            match damaged.locations(feature) {
                Ok(found) => assert_eq!(found, [Location(i as u32)]),
                Err(_) => errors += 1,
            }
        }
        // A block has 4 KiB: the lines of less than a thousand features, or the locations of about
        // as many.
        assert!((100..3000).contains(&errors), "{errors}");
        assert!(
            damaged
                .locations_of(&asked, |at, found| assert_eq!(found, [Location(at as u32)]))
                .is_err()
        );
        assert!(damaged.verify().is_err());
    }
}

#[test]
fn every_truncation_is_refused() {
    let (whole, _) = small();
    for length in 0..whole.len() {
        let error = Database::from_bytes(Path::new("x.gydb"), &whole[..length]).unwrap_err();
        match error {
            GydbError::Container(ContainerError::Foreign { .. }) => assert!(length < 8),
            GydbError::Container(ContainerError::Length { found, .. }) => {
                assert!(length >= 8 && found == length as u64)
            }
            other => panic!("{length} bytes: {other}"),
        }
    }
    let longer = [&whole[..], &[0; 64]].concat();
    let error = Database::from_bytes(Path::new("x.gydb"), &longer).unwrap_err();
    assert!(matches!(
        error,
        GydbError::Container(ContainerError::Length { .. })
    ));
}

/// Whoever can compute a checksum can write any value into the header and the directory.
#[test]
fn forged_numbers_give_errors_and_no_panic() {
    let (whole, _) = small();
    let path = Path::new("x.gydb");
    let directory = directory(&whole).start;
    let values = [0, 1, 3, 64, 4096, 0x7fff_ffc0, u32::MAX];
    let seal = |bytes: &mut [u8]| {
        let crc = crc32fast::hash(&bytes[directory..directory + PARTITIONS * 24]);
        bytes[76..80].copy_from_slice(&crc.to_le_bytes());
        let crc = crc32fast::hash(&bytes[whole.len() - 4 * 64..]);
        bytes[80..84].copy_from_slice(&crc.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..4092]);
        bytes[4092..4096].copy_from_slice(&crc.to_le_bytes());
    };
    let header = (8..76).chain(84..96).step_by(4);
    let entries = (directory..directory + 12 * 24)
        .chain(whole.len() - 4 * 64..whole.len())
        .step_by(4);
    for at in header.chain(entries) {
        let here = u32::from_le_bytes(whole[at..at + 4].try_into().unwrap());
        for value in values.into_iter().chain([here ^ 64, here.wrapping_add(4)]) {
            let mut bytes = whole.clone();
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            seal(&mut bytes);
            let Ok(database) = Database::from_bytes(path, &bytes) else {
                continue;
            };
            // The cap could have been larger, and the name of a section another one.
            let possible = bytes == whole || at == 20 || at >= whole.len() - 4 * 64;
            assert!(possible || database.verify().is_err(), "{value} at {at}");
            let _ = database.features().count();
            (0..5000).for_each(|feature| drop(database.locations(feature)));
        }
    }
}

#[test]
fn what_is_no_database_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let open = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        Database::open(&path).unwrap_err()
    };
    assert!(matches!(
        Database::open(&path),
        Err(GydbError::Container(ContainerError::Open { .. }))
    ));
    assert!(matches!(
        Database::open(folder.path()),
        Err(GydbError::Container(ContainerError::Open { .. }))
    ));
    for bytes in [
        &b""[..],
        b">seq\nACGT\n",
        b"\x1f\x8b\x08\0",
        b"GYRASEK\n\x01\0\0\0",
        b"GYRASE",
    ] {
        let error = open(bytes);
        assert!(
            matches!(error, GydbError::Container(ContainerError::Foreign { .. })),
            "{error}"
        );
    }
    assert!(matches!(
        open(b"GYRASED\n\x02\0\0\0"),
        GydbError::Container(ContainerError::Length { .. })
    ));
    let mut later = b"GYRASED\n\x02\0\0\0".to_vec();
    later.resize(5000, 0);
    let error = open(&later);
    assert!(matches!(
        error,
        GydbError::Container(ContainerError::Version { found: 2, .. })
    ));
    assert!(error.to_string().contains("version 2"), "{error}");
}
