//! One database written by several processes, here with a writer for each in one: the same bytes as
//! from one writer.
// A helper of a test is a test.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Barrier, Mutex};

use crate::common::{EDGES, bins, kmers, metadata, write, write_bin};
use gyrase_fabric::{FabricError, Peer, Place, SpillFolder};
use gyrase_files::OutputFile;
use gyrase_kmer::{BINS, Shape, with_words};
use gyrase_table::WriterShare;
use gyrase_table::gyk::{Cutoffs, Database, GykError, Writer};

type Rows<const W: usize> = Vec<BTreeMap<[u64; W], u32>>;

/// Bytes of memory for what processes send each other.
const SENT: usize = 16 << 20;

/// A job of several processes in one.
struct Job<'a> {
    path: &'a Path,
    shape: Shape,
    ranks: usize,
    /// Bytes of finished bins in memory.
    memory: usize,
}

impl Job<'_> {
    fn place(&self, rank: usize) -> Place {
        let ranks = self.ranks;
        Place::among(BINS, Peer { rank, ranks })
    }

    fn share(&self, rank: usize, limit: Option<u64>) -> WriterShare {
        let folder = Arc::new(SpillFolder::new(
            self.path.with_extension(rank.to_string()),
            limit,
            false,
        ));
        WriterShare {
            partitions: self.place(rank),
            memory: self.memory,
            folder,
        }
    }

    fn first(&self) -> (Writer, u64) {
        let output = OutputFile::create(self.path).unwrap();
        let token = output.invite().unwrap();
        (
            Writer::first(output, self.shape, Cutoffs::default(), self.share(0, None)).unwrap(),
            token,
        )
    }

    fn join(&self, rank: usize, token: u64, limit: Option<u64>) -> Writer {
        Writer::join(
            self.path,
            token,
            self.shape,
            Cutoffs::default(),
            self.share(rank, limit),
        )
    }

    /// The writers of all ranks, the first one first.
    fn start(&self) -> Vec<Writer> {
        let (first, token) = self.first();
        let others = (1..self.ranks).map(|rank| self.join(rank, token, None));
        [first].into_iter().chain(others).collect()
    }
}

/// Sums lists of numbers of all ranks, and hands bytes over.
struct Together {
    all: Barrier,
    sum: Mutex<Vec<u64>>,
    messages: Mutex<Vec<Vec<Vec<u8>>>>,
}

impl Together {
    fn all_to_all(&self, rank: usize, bytes: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, GykError> {
        self.messages.lock().unwrap()[rank] = bytes;
        self.all.wait();
        let to_this = |all: &Vec<Vec<u8>>| all[rank].clone();
        let came = self.messages.lock().unwrap().iter().map(to_this).collect();
        self.all.wait();
        Ok(came)
    }

    fn sum(&self, numbers: &[u64]) -> Result<Vec<u64>, GykError> {
        let leads = self.all.wait().is_leader();
        if leads {
            *self.sum.lock().unwrap() = vec![0; numbers.len()];
        }
        self.all.wait();
        self.sum
            .lock()
            .unwrap()
            .iter_mut()
            .zip(numbers)
            .for_each(|(sum, number)| *sum += number);
        self.all.wait();
        let sum = self.sum.lock().unwrap().clone();
        self.all.wait();
        Ok(sum)
    }
}

/// The sums of one rank.
fn alone(numbers: &[u64]) -> Result<Vec<u64>, GykError> {
    Ok(numbers.to_vec())
}

/// Every rank hands its bins over while it lays them out; the first one ends the file.
fn write_all<const W: usize>(mut writers: Vec<Writer>, rows: &Rows<W>, job: &Job) {
    let together = Together {
        all: Barrier::new(job.ranks),
        sum: Mutex::default(),
        messages: Mutex::new(vec![Vec::new(); job.ranks]),
    };
    std::thread::scope(|scope| {
        for (rank, writer) in writers.iter().enumerate() {
            let together = &together;
            let all_to_all = move |bytes| together.all_to_all(rank, bytes);
            scope.spawn(move || {
                writer
                    .lay_out(job.ranks, |numbers| together.sum(numbers), all_to_all)
                    .unwrap()
            });
            scope.spawn(move || write_bins(writer, rows, job.place(rank)));
        }
    });
    let shares: Vec<Vec<u8>> = writers
        .iter()
        .map(|writer| writer.settle().unwrap())
        .collect();
    for (rank, writer) in writers.iter().enumerate() {
        writer.check(rank, job.ranks).unwrap();
    }
    writers.remove(0).finish_all(&shares, &metadata()).unwrap();
}

/// Hands some bins over from two threads, some of them in pieces.
fn write_bins<const W: usize>(writer: &Writer, rows: &Rows<W>, bins: Place) {
    let write = |bin: usize| {
        if !bin.is_multiple_of(50) {
            return write_bin(writer, bin, &rows[bin]).unwrap();
        }
        let mut pieces = writer.pieces(bin, 64);
        rows[bin]
            .iter()
            .for_each(|(key, &count)| pieces.add(key, &[count]).unwrap());
        pieces.finish().unwrap();
    };
    let (even, odd): (Vec<usize>, Vec<usize>) = bins
        .owned()
        .partition(|bin| (bin / bins.ranks).is_multiple_of(2));
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
    write_all(job.start(), &rows, job);
    let (one, shared) = (
        std::fs::read(&one).unwrap(),
        std::fs::read(job.path).unwrap(),
    );
    assert!(
        one == shared,
        "k={}, {} ranks, {} bytes of memory",
        shape.k(),
        job.ranks,
        job.memory
    );
    Database::open(job.path).unwrap().verify().unwrap();
    assert_eq!(
        std::fs::read_dir(folder).unwrap().count(),
        2,
        "nothing is left beside the databases"
    );
}

#[test]
fn several_processes_write_the_file_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("shared.gyk");
    let shape = Shape::new(31, false).unwrap();
    for (ranks, memory) in (1..=7).zip([0, SENT + 10_000, 1 << 30].into_iter().cycle()) {
        check::<1>(
            folder.path(),
            shape,
            &Job {
                path,
                shape,
                ranks,
                memory,
            },
        );
    }
}

#[test]
fn at_every_word_edge() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("shared.gyk");
    for (k, ranks) in EDGES.into_iter().zip([3, 5].into_iter().cycle()) {
        let shape = Shape::new(k, k % 2 == 0).unwrap();
        let job = Job {
            path,
            shape,
            ranks,
            memory: SENT + 5000,
        };
        with_words!(shape, W => check::<W>(folder.path(), shape, &job));
    }
}

#[test]
fn what_the_file_system_garbled_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("x.gyk");
    let shape = Shape::new(31, false).unwrap();
    let job = Job {
        path,
        shape,
        ranks: 1,
        memory: 0,
    };
    let (writer, _) = job.first();
    write_bins(
        &writer,
        &bins(shape, &kmers::<1>(shape, 20_000, 5)),
        job.place(0),
    );
    writer.lay_out(1, alone, Ok).unwrap();
    writer.settle().unwrap();
    let partial = OutputFile::partial(path).unwrap();
    let mut bytes = std::fs::read(&partial).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&partial, bytes).unwrap();
    let checked: Vec<bool> = (0..4).map(|part| writer.check(part, 4).is_ok()).collect();
    assert_eq!(checked.iter().filter(|&&whole| !whole).count(), 1);
    let error = writer.check(0, 1).unwrap_err();
    let GykError::Garbled(garbled) = &error else {
        panic!("{error}")
    };
    assert!(garbled.range.contains(&(middle as u64)), "{garbled}");
    assert!(error.to_string().contains("file system garbled"), "{error}");
}

#[test]
fn nothing_appears_when_one_of_them_fails() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("x.gyk");
    let shape = Shape::new(31, false).unwrap();
    let job = Job {
        path,
        shape,
        ranks: 2,
        memory: 0,
    };
    let rows = bins(shape, &kmers::<1>(shape, 20_000, 5));
    let (first, token) = job.first();
    let second = job.join(1, token, Some(1000));
    let outcome = job
        .place(1)
        .owned()
        .try_for_each(|bin| write_bin(&second, bin, &rows[bin]));
    assert!(
        matches!(
            outcome,
            Err(GykError::Spill(FabricError::TooMuchSpill { limit: 1000 }))
        ),
        "{outcome:?}"
    );
    second.abandon();
    let laid_out = second.lay_out(2, alone, Ok);
    assert!(
        matches!(laid_out, Err(GykError::Abandoned { .. })),
        "{laid_out:?}"
    );
    drop(second);
    // It may happen that the first one gives up first.
    let late = job.join(1, token, None);
    late.open().unwrap();
    drop(first);
    write_bins(&late, &rows, job.place(1));
    late.lay_out(2, alone, Ok).unwrap();
    late.settle().unwrap();
    drop(late);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn who_counts_for_one_that_cannot_lay_out_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let shape = Shape::new(31, false).unwrap();
    let job = Job {
        path: &folder.path().join("x.gyk"),
        shape,
        ranks: 2,
        memory: 1 << 20,
    };
    let (first, _) = job.first();
    let rows = bins(shape, &kmers::<1>(shape, 20_000, 5));
    let (half, rest): (Vec<usize>, Vec<usize>) =
        job.place(0).owned().partition(|&bin| bin < BINS / 2);
    half.into_iter()
        .for_each(|bin| write_bin(&first, bin, &rows[bin]).unwrap());
    let elsewhere = |_: &[u64]| Err(GykError::Spill(FabricError::Elsewhere));
    assert!(matches!(
        first.lay_out(2, elsewhere, Ok),
        Err(GykError::Spill(FabricError::Elsewhere))
    ));
    assert!(matches!(
        write_bin(&first, rest[0], &rows[rest[0]]),
        Err(GykError::Abandoned { .. })
    ));
}

#[test]
fn who_does_not_see_the_file_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("x.gyk");
    let job = Job {
        path,
        shape: Shape::new(31, false).unwrap(),
        ranks: 2,
        memory: 0,
    };
    let (first, token) = job.first();
    job.join(1, token, None).open().unwrap();
    let error = job.join(1, token ^ 2, None).open().unwrap_err().to_string();
    assert!(
        error.contains("x.gyk") && error.contains("all machines of the job share"),
        "{error}"
    );
    drop(first);
    let late = job.join(1, token, None);
    job.place(1)
        .owned()
        .for_each(|bin| late.write_bin(bin, &[], &[]).unwrap());
    // Gone with a process that failed, of which the others hear in the same call.
    let failed = late.lay_out(2, |_| Err(GykError::Spill(FabricError::Elsewhere)), Ok);
    assert!(
        matches!(failed, Err(GykError::Spill(FabricError::Elsewhere))),
        "{failed:?}"
    );
    let late = job.join(1, token, None);
    job.place(1)
        .owned()
        .for_each(|bin| late.write_bin(bin, &[], &[]).unwrap());
    let missing = late.lay_out(2, alone, Ok).unwrap_err().to_string();
    assert!(
        missing.contains("all machines of the job share"),
        "{missing}"
    );
}
