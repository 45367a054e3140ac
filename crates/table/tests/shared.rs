//! One database written by several processes, here with a writer for each in one: the same bytes as from one writer.
// A helper of a test is a test.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use common::{EDGES, bins, kmers, metadata, write, write_bin};
use gyrase_fabric::{FabricError, SpillFolder, owned};
use gyrase_kmer::{BINS, Shape, with_words};
use gyrase_table::gyk::{BinEntry, Cutoffs, Database, GykError, Share, Writer};

type Rows<const W: usize> = Vec<BTreeMap<[u64; W], u32>>;

/// The bins that each of so many processes owns.
fn shared_out(ranks: usize) -> Vec<Range<usize>> {
    (0..ranks).map(|rank| owned(BINS, rank, ranks)).collect()
}

/// A job of several processes in one.
struct Job<'a> {
    path: &'a Path,
    shape: Shape,
    /// The bins of each rank.
    ranks: Vec<Range<usize>>,
    /// Bytes of finished bins in memory.
    memory: usize,
    /// Keep what was spilled.
    keep: bool,
}

impl Job<'_> {
    fn owned(&self, rank: usize) -> Range<usize> {
        self.ranks[rank].clone()
    }

    fn folder(&self, rank: usize, limit: Option<u64>) -> Arc<SpillFolder> {
        Arc::new(SpillFolder::new(self.path.with_extension(rank.to_string()), limit, self.keep))
    }

    fn first(&self, finished: &[BinEntry]) -> (Writer, u64) {
        let mut writer = match finished {
            [] => Writer::create(self.path, self.shape, Cutoffs::default()).unwrap(),
            _ => Writer::resume(self.path, self.shape, Cutoffs::default(), finished).unwrap(),
        };
        let length = writer.first(self.owned(0).end).unwrap();
        (writer, length)
    }

    fn join(&self, rank: usize, length: u64, folder: Arc<SpillFolder>, finished: &[BinEntry]) -> Writer {
        let share = Share { bins: self.owned(rank), memory: self.memory, folder, finished };
        Writer::join(self.path, length, self.shape, Cutoffs::default(), share).unwrap()
    }

    /// The writers of all ranks, the first one first.
    fn start(&self) -> Vec<Writer> {
        let (first, length) = self.first(&[]);
        let others = (1..self.ranks.len()).map(|rank| self.join(rank, length, self.folder(rank, None), &[]));
        [first].into_iter().chain(others).collect()
    }
}

/// What all do once their bins are handed over.
fn finish(mut writers: Vec<Writer>) {
    let mut before = 0;
    let shares: Vec<Vec<u8>> = writers
        .iter()
        .map(|writer| {
            let share = writer.settle(before).unwrap();
            before += writer.bytes();
            share
        })
        .collect();
    writers.remove(0).finish_all(&shares, &metadata()).unwrap();
}

/// Hands some bins over from two threads, some of them in pieces.
fn write_bins<const W: usize>(writer: &Writer, rows: &Rows<W>, bins: Range<usize>) {
    let write = |bin: usize| {
        if !bin.is_multiple_of(50) {
            return write_bin(writer, bin, &rows[bin]).unwrap();
        }
        let mut pieces = writer.pieces(bin, 64);
        rows[bin].iter().for_each(|(key, &count)| pieces.add(key, &[count]).unwrap());
        pieces.finish().unwrap();
    };
    let (even, odd): (Vec<usize>, Vec<usize>) = bins.partition(|bin| bin % 2 == 0);
    std::thread::scope(|scope| {
        scope.spawn(|| even.into_iter().for_each(write));
        scope.spawn(|| odd.into_iter().for_each(write));
    });
}

fn check<const W: usize>(folder: &Path, shape: Shape, job: &Job) {
    let expected = kmers::<W>(shape, 20_000, 5);
    let one = folder.join("one.gyk");
    write(&one, shape, &expected, 1);
    let rows = bins(shape, &expected);
    let writers = job.start();
    writers.iter().enumerate().for_each(|(rank, writer)| write_bins(writer, &rows, job.owned(rank)));
    finish(writers);
    let (one, shared) = (std::fs::read(&one).unwrap(), std::fs::read(job.path).unwrap());
    assert!(one == shared, "k={}, {} ranks, {} bytes of memory", shape.k(), job.ranks.len(), job.memory);
    Database::open(job.path).unwrap().verify().unwrap();
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 2, "nothing is left beside the databases");
}

#[test]
fn several_processes_write_the_file_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("shared.gyk");
    let shape = Shape::new(31, false).unwrap();
    for (ranks, memory) in (1..=7).zip([0, 10_000, 1 << 30].into_iter().cycle()) {
        check::<1>(folder.path(), shape, &Job { path, shape, ranks: shared_out(ranks), memory, keep: false });
    }
    // As where there are more processes than bins.
    let ranks = vec![0..0, 0..BINS, BINS..BINS];
    check::<1>(folder.path(), shape, &Job { path, shape, ranks, memory: 1000, keep: false });
}

#[test]
fn at_every_word_edge() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("shared.gyk");
    for (k, ranks) in EDGES.into_iter().zip([3, 5].into_iter().cycle()) {
        let shape = Shape::new(k, k % 2 == 0).unwrap();
        let job = Job { path, shape, ranks: shared_out(ranks), memory: 5000, keep: false };
        with_words!(shape, W => check::<W>(folder.path(), shape, &job));
    }
}

#[test]
fn nothing_appears_when_one_of_them_fails() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("x.gyk");
    let shape = Shape::new(31, false).unwrap();
    let job = Job { path, shape, ranks: shared_out(2), memory: 0, keep: false };
    let rows = bins(shape, &kmers::<1>(shape, 20_000, 5));
    let (first, length) = job.first(&[]);
    let second = job.join(1, length, job.folder(1, Some(1000)), &[]);
    let outcome = job.owned(1).try_for_each(|bin| write_bin(&second, bin, &rows[bin]));
    assert!(matches!(outcome, Err(GykError::Spill(FabricError::TooMuchSpill { limit: 1000 }))), "{outcome:?}");
    drop(second);
    // It may happen that the first one gives up first.
    let late = job.join(1, length, job.folder(1, None), &[]);
    job.owned(1).for_each(|bin| write_bin(&late, bin, &rows[bin]).unwrap());
    drop(first);
    late.settle(0).unwrap();
    drop(late);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn who_does_not_see_the_file_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("x.gyk");
    let shape = Shape::new(31, false).unwrap();
    let job = Job { path, shape, ranks: shared_out(2), memory: 0, keep: false };
    let (_first, length) = job.first(&[]);
    let join = |length| {
        let share = Share { bins: job.owned(1), memory: 0, folder: job.folder(1, None), finished: &[] };
        Writer::join(path, length, shape, Cutoffs::default(), share)
    };
    join(length).unwrap();
    let error = join(length - 1).unwrap_err().to_string();
    assert!(error.contains("x.gyk") && error.contains("all machines of the job share"), "{error}");
}

#[test]
fn a_resumed_job_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (path, one) = (&folder.path().join("x.gyk"), folder.path().join("one.gyk"));
    let shape = Shape::new(33, false).unwrap();
    let expected = kmers::<2>(shape, 20_000, 4);
    write(&one, shape, &expected, 1);
    let rows = bins(shape, &expected);
    let job = Job { path, shape, ranks: shared_out(3), memory: 0, keep: true };
    for stop in [0, 1, 600, 1365] {
        let folders: Vec<_> = (0..3).map(|rank| job.folder(rank, None)).collect();
        let (mut first, length) = job.first(&[]);
        first.keep_partial();
        let mut writers = vec![first];
        writers.extend((1..3).map(|rank| job.join(rank, length, Arc::clone(&folders[rank]), &[])));
        let until = |rank: usize| job.owned(rank).start..job.owned(rank).start + stop;
        writers.iter().enumerate().for_each(|(rank, writer)| write_bins(writer, &rows, until(rank)));
        let finished: Vec<Vec<BinEntry>> = writers.iter().map(|writer| writer.finished(0)).collect();
        assert!(finished.iter().all(|finished| finished.len() == stop));
        drop(writers);

        let (first, length) = job.first(&finished[0]);
        let mut writers = vec![first];
        writers.extend((1..3).map(|rank| job.join(rank, length, Arc::clone(&folders[rank]), &finished[rank])));
        for (rank, writer) in writers.iter().enumerate() {
            assert_eq!(writer.next_bin(), until(rank).end);
            write_bins(writer, &rows, until(rank).end..job.owned(rank).end);
        }
        finish(writers);
        assert!(std::fs::read(&one).unwrap() == std::fs::read(path).unwrap(), "stopped at {stop}");
    }
}
