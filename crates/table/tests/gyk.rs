//! Databases against maps in memory: written, read, resumed, damaged.
// A helper of a test is a test.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::common::{EDGES, bins, kmers, metadata, write, write_bin};
use gyrase_files::container::ContainerError;
use gyrase_kmer::{BINS, Key, Kmer, Shape, with_words};
use gyrase_table::gyk::{Cutoffs, Database, GykError, Writer};

fn shape(k: usize) -> Shape {
    Shape::new(k, false).unwrap()
}

fn check_round_trip<const W: usize>(folder: &Path, shape: Shape) {
    let expected = kmers::<W>(shape, 3000, shape.k() as u64);
    let path = folder.join("x.gyk");
    let summary = write(&path, shape, &expected, 4);
    assert_eq!(summary.distinct, expected.len() as u64);
    assert_eq!(
        summary.total,
        expected
            .values()
            .map(|&count| u64::from(count))
            .sum::<u64>()
    );
    assert_eq!(
        summary.unique,
        expected.values().filter(|&&count| count == 1).count() as u64
    );
    assert_eq!(Some(&summary.largest), expected.values().max());
    let parallel = std::fs::read(&path).unwrap();
    write(&path, shape, &expected, 1);
    assert!(
        parallel == std::fs::read(&path).unwrap(),
        "k={} depends on threads",
        shape.k()
    );

    let database = Database::open(&path).unwrap();
    database.verify().unwrap();
    assert_eq!(
        (database.shape(), database.header().summary()),
        (shape, summary)
    );
    assert_eq!(database.metadata(), &metadata());
    let mut found = BTreeMap::new();
    for bin in 0..BINS {
        let view = database.bin(bin);
        let mut counts = Vec::new();
        view.append_counts(&mut counts);
        assert!(view.counts().eq(counts.iter().copied()));
        for (at, (&row, count)) in view.rows::<W>().iter().zip(counts).enumerate() {
            assert_eq!(view.count(at), count);
            assert_eq!(view.find(&row), Some(at));
            found.insert(Kmer::from(Key(row)), count);
        }
    }
    assert!(found == expected, "k={}", shape.k());
    for (&kmer, &count) in &expected {
        assert_eq!(database.get(kmer).unwrap(), Some(count));
    }
    for &kmer in kmers::<W>(shape, 3000, 99).keys() {
        assert_eq!(database.get(kmer).unwrap(), expected.get(&kmer).copied());
    }
}

#[test]
fn holds_what_was_written_at_every_word_edge() {
    let folder = tempfile::tempdir().unwrap();
    for k in EDGES {
        for stranded in [false, true] {
            let shape = Shape::new(k, stranded).unwrap();
            with_words!(shape, W => check_round_trip::<W>(folder.path(), shape));
        }
    }
}

#[test]
fn finds_keys_that_are_not_uniform() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gyk");
    let writer = Writer::create(&path, shape(64), Cutoffs::default()).unwrap();
    let rows: Vec<[u64; 2]> = (0..5000)
        .map(|i| [if i < 2500 { 7 } else { u64::MAX - 9 }, 2 * i])
        .collect();
    writer
        .write_bin(0, rows.as_flattened(), &vec![300; rows.len()])
        .unwrap();
    (1..BINS).for_each(|bin| writer.write_bin(bin, &[], &[]).unwrap());
    writer.finish(&metadata()).unwrap();
    let database = Database::open(&path).unwrap();
    let view = database.bin(0);
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(view.find(row), Some(at));
        assert_eq!(view.find(&[row[0], row[1] + 1]), None);
        assert_eq!(view.find(&[row[0] + 1, row[1]]), None);
    }
    assert!(matches!(
        database.verify(),
        Err(GykError::Container(ContainerError::Corrupt { .. }))
    ));
}

#[test]
fn an_empty_database_is_valid() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gyk");
    let summary = write::<1>(&path, shape(31), &BTreeMap::new(), 2);
    assert_eq!(
        (summary.distinct, summary.largest, summary.saturated),
        (0, 0, false)
    );
    let database = Database::open(&path).unwrap();
    database.verify().unwrap();
    assert_eq!(database.get(Kmer([5])).unwrap(), None);
}

#[test]
fn bins_out_of_order_wait_and_the_largest_count_is_flagged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gyk");
    let mut expected = kmers::<1>(shape(31), 2000, 3);
    expected.insert(Kmer([17]).form(shape(31)), u32::MAX);
    assert!(write(&path, shape(31), &expected, 2).saturated);
    let ordered = std::fs::read(&path).unwrap();
    let writer = Writer::create(&path, shape(31), Cutoffs::default()).unwrap();
    for (bin, rows) in bins(shape(31), &expected).iter().enumerate().rev() {
        assert!(writer.finished(0).is_empty());
        write_bin(&writer, bin, rows).unwrap();
    }
    assert_eq!(writer.finished(0).len(), BINS);
    writer.finish(&metadata()).unwrap();
    assert!(ordered == std::fs::read(&path).unwrap());
    assert!(Database::open(&path).unwrap().header().saturated);
}

/// Writes bins piece by piece, with more or less memory for the pieces and for bins that wait.
fn write_pieces<const W: usize>(
    path: &Path,
    rows: &[BTreeMap<[u64; W], u32>],
    memory: usize,
    threads: usize,
) {
    let writer = Writer::create(path, shape(32 * W - 1), Cutoffs::default())
        .unwrap()
        .waiting(memory);
    let next = AtomicUsize::new(0);
    let write_bin = |bin: usize, rows: &BTreeMap<[u64; W], u32>| {
        let mut pieces = writer.pieces(bin, memory);
        let (keys, counts): (Vec<[u64; W]>, Vec<u32>) = rows.iter().unzip();
        let mut at = 0;
        for size in [1, 0, 7, 9000, 300].into_iter().cycle() {
            let end = rows.len().min(at + size);
            pieces
                .add(keys[at..end].as_flattened(), &counts[at..end])
                .unwrap();
            at = end;
            if at == rows.len() {
                return pieces.finish().unwrap();
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((bin, rows)) =
                    Some(next.fetch_add(1, Relaxed)).and_then(|bin| Some((bin, rows.get(bin)?)))
                {
                    write_bin(bin, rows);
                }
            });
        }
    });
    writer.finish(&metadata()).unwrap();
}

fn check_pieces<const W: usize>(folder: &Path) {
    let shape = shape(32 * W - 1);
    let (whole, pieces) = (folder.join("whole.gyk"), folder.join("pieces.gyk"));
    let mut rows = bins(shape, &kmers::<W>(shape, 40_000, 6));
    // One bin has nearly all of them, so that it comes in many pieces.
    for bin in (0..BINS).filter(|bin| bin % 7 > 0 && *bin != 1000) {
        let moved = std::mem::take(&mut rows[bin]);
        rows[1000].extend(moved);
    }
    let writer = Writer::create(&whole, shape, Cutoffs::default()).unwrap();
    rows.iter()
        .enumerate()
        .for_each(|(bin, rows)| write_bin(&writer, bin, rows).unwrap());
    writer.finish(&metadata()).unwrap();
    let whole = std::fs::read(&whole).unwrap();
    for (memory, threads) in [(0, 1), (0, 3), (100, 2), (100_000, 3), (16 << 20, 2)] {
        write_pieces::<W>(&pieces, &rows, memory, threads);
        assert!(
            whole == std::fs::read(&pieces).unwrap(),
            "{memory} bytes of memory, {threads} threads"
        );
    }
}

#[test]
fn a_bin_in_pieces_is_a_whole_bin() {
    let folder = tempfile::tempdir().unwrap();
    check_pieces::<1>(folder.path());
    check_pieces::<4>(folder.path());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_thread_that_waits_hears_of_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let writer =
        Writer::create(&folder.path().join("x.gyk"), shape(31), Cutoffs::default()).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let keys: Vec<u64> = (0..5 << 20).collect();
            (1..4).try_for_each(|bin| writer.write_bin(bin, &keys, &vec![1; keys.len()]))
        });
        writer.abandon();
        assert!(matches!(
            waiting.join().unwrap(),
            Err(GykError::Abandoned { .. })
        ));
    });
    drop(writer);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_resumed_run_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gyk");
    let expected = kmers::<2>(shape(33), 20_000, 4);
    write(&path, shape(33), &expected, 2);
    let whole = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let bins = bins(shape(33), &expected);
    for (stop, lost) in [
        (0, 0),
        (1, 0),
        (2000, 0),
        (2000, 300),
        (BINS, 0),
        (BINS, BINS),
    ] {
        let mut writer = Writer::create(&path, shape(33), Cutoffs::default()).unwrap();
        writer.keep_partial();
        (0..stop).for_each(|bin| write_bin(&writer, bin, &bins[bin]).unwrap());
        let finished = writer.finished(0);
        assert_eq!(finished.len(), stop);
        drop(writer);
        let partial = folder.path().join("x.gyk.partial");
        if lost > 0 {
            // What was logged did not reach the disk.
            let file = std::fs::File::options().write(true).open(&partial).unwrap();
            file.set_len(finished[stop - lost].offset).unwrap();
        }
        let writer = Writer::resume(&path, shape(33), Cutoffs::default(), &finished).unwrap();
        let next = writer.next_bin();
        assert!(
            next <= stop && next + lost >= stop,
            "{next} of {stop}, {lost} lost"
        );
        (next..BINS).for_each(|bin| write_bin(&writer, bin, &bins[bin]).unwrap());
        writer.finish(&metadata()).unwrap();
        assert!(whole == std::fs::read(&path).unwrap(), "stopped at {stop}");
        assert!(!partial.exists());
    }
}

/// Opens bytes as a database; when that works, checks all of it.
fn examine(path: &Path, bytes: &[u8]) -> Result<(), GykError> {
    std::fs::write(path, bytes).unwrap();
    let database = Database::open(path)?;
    let verified = database.verify();
    // Reading on in spite of a bad checksum may give nonsense, but no panic.
    for bin in 0..BINS {
        let view = database.bin(bin);
        assert_eq!(view.counts().count(), view.len());
        (0..view.len()).for_each(|at| {
            view.count(at);
        });
        view.append_counts(&mut Vec::new());
        view.find(&[42]);
    }
    verified
}

#[test]
fn damage_gives_errors_that_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gyk");
    write(&path, shape(31), &kmers::<1>(shape(31), 500, 5), 1);
    let whole = std::fs::read(&path).unwrap();
    let damaged = folder.path().join("damaged.gyk");
    examine(&damaged, &whole).unwrap();
    for length in (0..132).chain((132..whole.len()).step_by(997)) {
        let error = examine(&damaged, &whole[..length]).unwrap_err();
        assert!(error.to_string().contains("damaged.gyk"), "{error}");
    }
    let mut longer = whole.clone();
    longer.push(0);
    assert!(matches!(
        examine(&damaged, &longer),
        Err(GykError::Container(ContainerError::Length { .. }))
    ));
    let padding = whole.len() - 8..whole.len();
    for at in (0..132)
        .chain((132..whole.len()).step_by(97))
        .filter(|at| !padding.contains(at))
    {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        examine(&damaged, &bytes).expect_err(&format!("byte {at}"));
    }
}

#[test]
fn a_forged_header_gives_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gyk");
    write(&path, shape(31), &kmers::<1>(shape(31), 500, 5), 1);
    let whole = std::fs::read(&path).unwrap();
    let forged = folder.path().join("forged.gyk");
    // Whoever can compute a checksum can write any value.
    for at in (8..136).step_by(4) {
        for value in [
            0,
            1,
            3,
            7,
            0x7fff_fff8,
            u32::MAX,
            u32::from_le_bytes(whole[at..at + 4].try_into().unwrap()) ^ 8,
        ] {
            let mut bytes = whole.clone();
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            let crc = crc32fast::hash(&bytes[..4092]);
            bytes[4092..4096].copy_from_slice(&crc.to_le_bytes());
            // Cut-offs could be any, and what is canonical could be stranded.
            let possible = (72..88).contains(&at) || (at, value) == (28, 1);
            assert!(
                bytes == whole || possible || examine(&forged, &bytes).is_err(),
                "{value} at {at}"
            );
        }
    }
}

#[test]
fn what_is_no_database_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    assert!(matches!(
        Database::open(&path),
        Err(GykError::Container(ContainerError::Open { .. }))
    ));
    assert!(matches!(
        Database::open(folder.path()),
        Err(GykError::Container(ContainerError::Open { .. }))
    ));
    assert!(matches!(
        examine(&path, b""),
        Err(GykError::Container(ContainerError::Foreign { .. }))
    ));
    assert!(matches!(
        examine(&path, b">seq\nACGT\n"),
        Err(GykError::Container(ContainerError::Foreign { .. }))
    ));
    assert!(matches!(
        examine(&path, b"GYRASEK\n\x02\0\0\0"),
        Err(GykError::Container(ContainerError::Length { .. }))
    ));
    let mut later = b"GYRASEK\n\x02\0\0\0".to_vec();
    later.resize(5000, 0);
    assert!(matches!(
        examine(&path, &later),
        Err(GykError::Container(ContainerError::Version {
            found: 2,
            ..
        }))
    ));
}
