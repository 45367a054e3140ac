//! Several processes, each with several threads, scatter what one thread does, whoever takes which
//! chunk.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gyrase_fabric::{
    Alone, Combiner, Combining, Drain, ExchangeFabric, FabricError, FabricOptions, Sender,
    SpillFolder, Steal, World, testing,
};
use gyrase_fastx::{Compression, Error, Format, Inputs, Options, Reader, Writer};
use gyrase_kmer::{BINS, Cutter, Shape};
use gyrase_seq::Batch;
use gyrase_tabulate::{Cut, Partition, Reading, TabulateError, scatter};
use gyrase_work::Progress;

const K: usize = 21;

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Scattered {
    reads: u64,
    bases: u64,
    kmers: u64,
    bytes: u64,
}

/// Sends every k-mer as a record of its own.
struct Keyed(Cutter<1>, Scattered);

impl Cut<Batch, TabulateError> for Keyed {
    fn cut(&mut self, batch: &Batch, sender: &mut impl Sender) -> Result<(), TabulateError> {
        let Keyed(cutter, read) = self;
        for record in &batch.records {
            read.kmers += cutter.cut(batch.bytes(record.letters), &mut |bin, super_kmer| {
                let mut sent = Ok(());
                super_kmer.for_each_key(shape(), |key| {
                    if sent.is_ok() {
                        sent = sender.send(bin, &key.0[0].to_le_bytes(), 8);
                    }
                });
                sent
            })?;
            read.bases += record.letters.len() as u64 - u64::from(record.overlap);
            read.reads += u64::from(!record.continues);
        }
        Ok(())
    }
}

/// Leaves records as they are.
struct Same(Vec<u8>);

impl Combiner for Same {
    fn add(&mut self, bytes: &[u8], used: usize) {
        self.0.extend_from_slice(&bytes[..used]);
    }

    fn finish(&mut self, emit: &mut dyn FnMut(&[u8], usize)) {
        std::mem::take(&mut self.0)
            .chunks(8)
            .for_each(|record| emit(record, 8));
    }
}

/// Keys and how often they came.
type Keys = BTreeMap<[u64; 1], u64>;

fn shape() -> Shape {
    Shape::new(K, false).unwrap()
}

fn options() -> Options {
    Options {
        batch_bytes: 500,
        ..Options::for_kmers(K)
    }
}

/// What a process of a job reads and what it owns.
struct Job<'a> {
    inputs: &'a [PathBuf],
    options: Options,
    chunk: Option<u64>,
    threads: usize,
    progress: &'a Progress,
}

impl Job<'_> {
    fn open(&self) -> Inputs {
        Inputs::open(self.inputs, self.options.clone()).unwrap()
    }

    fn start<'a>(
        &self,
        inputs: &'a Inputs,
        world: &'a dyn World,
    ) -> Result<(Reading<'a>, ExchangeFabric), TabulateError> {
        let folder = tempfile::tempdir().unwrap();
        let folder = Arc::new(SpillFolder::new(folder.path().join("spill"), None, false));
        let combining = Combining {
            make: Box::new(|| Box::new(Same(Vec::new()))),
            portion: 1 << 20,
        };
        let fabric = world.fabric(
            BINS,
            FabricOptions {
                memory: 256 << 20,
                spill: Some(folder),
                combining: Some(combining),
                ..FabricOptions::default()
            },
        )?;
        let workers = world.sum(&[self.threads as u64])?[0] as usize;
        Ok((Reading::agree(inputs, world, self.chunk, workers)?, fabric))
    }

    fn run(&self, world: &dyn World) -> Result<(Keys, Scattered), TabulateError> {
        let inputs = self.open();
        let (reading, fabric) = self.start(&inputs, world)?;
        let cuts = (0..self.threads)
            .map(|_| Keyed(Cutter::new(shape()), Scattered::default()))
            .collect();
        let (partitions, cuts) =
            scatter::<_, _, _, TabulateError>(&reading, cuts, fabric, self.progress)?;
        let mut read = Scattered {
            bytes: inputs.read_bytes(),
            ..Scattered::default()
        };
        for Keyed(_, more) in &cuts {
            read.reads += more.reads;
            read.bases += more.bases;
            read.kmers += more.kmers;
        }
        let mut keys = Keys::new();
        for number in partitions.owned() {
            Partition::new(&partitions, number).drain::<FabricError>(|bytes, used| {
                for key in bytes[..used].as_chunks().0 {
                    *keys.entry([u64::from_le_bytes(*key)]).or_default() += 1;
                }
                Ok(())
            })?;
        }
        Ok((keys, read))
    }

    /// Runs as a job of threads; all keys and what was read together.
    fn run_all(&self, ranks: usize, steal: Steal) -> Vec<Result<(Keys, Scattered), TabulateError>> {
        testing::run(ranks, steal, |process| self.run(process))
    }
}

fn together(parts: Vec<Result<(Keys, Scattered), TabulateError>>) -> (Keys, Scattered) {
    let (mut keys, mut all) = (Keys::new(), Scattered::default());
    for (part, read) in parts.into_iter().map(Result::unwrap) {
        assert!(
            part.keys().all(|key| !keys.contains_key(key)),
            "a key has one owner"
        );
        keys.extend(part);
        all.reads += read.reads;
        all.bases += read.bases;
        all.kmers += read.kmers;
        all.bytes += read.bytes;
    }
    (keys, all)
}

fn letters(count: usize, seed: u64) -> String {
    let mut state = seed;
    let mut letter = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ['A', 'C', 'G', 'T'][(state >> 62) as usize]
    };
    (0..count).map(&mut letter).collect()
}

fn reads(count: usize, seed: u64) -> String {
    let read = |number: usize| {
        let letters = letters(30 + number * 7 % 90, seed + number as u64 % 50);
        format!("@r{number}\n{letters}\n+\n{}\n", "@".repeat(letters.len()))
    };
    (0..count).map(read).collect()
}

fn pack(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("reads.fq.gz");
    let mut reader = Reader::from_read(
        "text",
        std::io::Cursor::new(text.to_owned()),
        &Options::default(),
    )
    .unwrap();
    let mut writer = Writer::create(&path, Format::Fastq, Some(Compression::Gzip)).unwrap();
    let mut batch = Batch::default();
    while reader.next_batch(&mut batch).unwrap() {
        (0..batch.records.len()).for_each(|index| writer.write_record(&batch, index).unwrap());
    }
    writer.finish().unwrap();
    path
}

/// Inputs of several kinds and sizes, the most of the bytes in one.
fn inputs(folder: &Path) -> Vec<PathBuf> {
    let genome = letters(9000, 5);
    let wrapped: String = (0..90)
        .map(|line| format!("{}\n", &genome[line * 100..][..100]))
        .collect();
    let texts = [
        reads(300, 1),
        reads(1, 2),
        String::new(),
        format!(">g\n{wrapped}>h\n{genome}"),
        reads(2, 3),
    ];
    let write = |(number, text): (usize, &String)| {
        let path = folder.join(number.to_string());
        std::fs::write(&path, text).unwrap();
        path
    };
    let mut paths: Vec<PathBuf> = texts.iter().enumerate().map(write).collect();
    paths.push(pack(folder, &reads(200, 7)));
    paths
}

#[test]
fn every_job_scatters_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = inputs(folder.path());
    let progress = Progress::default();
    let job = |chunk, threads| Job {
        inputs: &inputs,
        options: options(),
        chunk,
        threads,
        progress: &progress,
    };
    let (keys, read) = job(None, 1).run(&Alone).unwrap();
    assert_eq!((read.reads, keys.values().sum::<u64>()), (505, read.kmers));
    for chunk in [30, 700, 5000, 1 << 30] {
        let (found, alone) = job(Some(chunk), 3).run(&Alone).unwrap();
        assert!(
            found == keys && (alone.reads, alone.bytes) == (read.reads, read.bytes),
            "alone, chunks of {chunk}"
        );
        for steal in [Steal::On, Steal::Off, Steal::Forced] {
            for (ranks, threads) in [(1, 2), (2, 1), (3, 2), (7, 1)] {
                let (found, all) = together(job(Some(chunk), threads).run_all(ranks, steal));
                let at = format!("{ranks} x {threads}, {steal:?}, chunks of {chunk}");
                assert_eq!(
                    (all.reads, all.bases, all.kmers),
                    (read.reads, read.bases, read.kmers),
                    "{at}"
                );
                assert!(found == keys && all.bytes == read.bytes, "{at}");
            }
        }
    }
    let (found, _) = together(job(None, 2).run_all(2, Steal::On));
    assert!(found == keys);
}

#[test]
fn every_process_gets_as_much_whatever_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let write = |(number, reads): (usize, String)| {
        let path = folder.path().join(number.to_string());
        std::fs::write(&path, reads).unwrap();
        path
    };
    // One file with nine tenths of the bytes among many small ones.
    let texts = (0..13).map(|number| reads(if number == 4 { 2160 } else { 20 }, number));
    let inputs: Vec<PathBuf> = texts.enumerate().map(write).collect();
    let progress = Progress::default();
    let job = Job {
        inputs: &inputs,
        options: options(),
        chunk: Some(5000),
        threads: 1,
        progress: &progress,
    };
    let read: Vec<u64> = job
        .run_all(4, Steal::Off)
        .into_iter()
        .map(|part| part.unwrap().1.bytes)
        .collect();
    let (most, all) = (*read.iter().max().unwrap(), read.iter().sum::<u64>());
    assert!(most * 4 * 10 <= all * 11, "{read:?}");
}

#[test]
fn all_processes_hear_that_a_file_is_to_be_read_serially() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrapped.fq");
    // It starts like a file of four lines a record, and goes on with qualities that look like
    // records.
    let odd = "@w\nACGTACGT\nACGTACGT\nACGTACGT\n+\n@AAAAAAA\nCCCCCCCC\n+AAAAAAA\n".repeat(1000);
    std::fs::write(&path, reads(500, 1) + &odd).unwrap();
    let (inputs, progress) = ([path], Progress::default());
    let job = |serial| {
        let options = Options {
            serial,
            ..options()
        };
        Job {
            inputs: &inputs,
            options,
            chunk: Some(300),
            threads: 2,
            progress: &progress,
        }
    };
    // Who takes chunks of others may happen to have no border among the odd records.
    for part in job(false).run_all(3, Steal::Off) {
        let Err(TabulateError::Input(error)) = part else {
            panic!("it cannot be read in chunks")
        };
        assert!(error.needs_serial(), "{error}");
    }
    for steal in [Steal::On, Steal::Off] {
        let (_, read) = together(job(true).run_all(3, steal));
        assert_eq!(read.reads, 1500);
    }
}

#[test]
fn who_cannot_take_part_stops_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let (inputs, progress) = ([folder.path().join("reads.fq")], Progress::default());
    std::fs::write(&inputs[0], reads(2000, 1)).unwrap();
    let job = Job {
        inputs: &inputs,
        options: options(),
        chunk: Some(500),
        threads: 2,
        progress: &progress,
    };
    for (fails, steal) in [(false, Steal::On), (false, Steal::Off), (true, Steal::On)] {
        let parts = testing::run(3, steal, |process| {
            let inputs = job.open();
            match process.rank() {
                0 if fails => job
                    .start(&inputs, process)
                    .and(Err(TabulateError::Cancelled)),
                1 => {
                    let (reading, fabric) = job.start(&inputs, process)?;
                    Err(reading.give_up(fabric, TabulateError::Cancelled))
                }
                _ => job.run(process).map(drop),
            }
        });
        for (rank, part) in parts.into_iter().enumerate() {
            let elsewhere = matches!(part, Err(TabulateError::Fabric(FabricError::Elsewhere)));
            assert_eq!(
                elsewhere,
                rank != if fails { 0 } else { 1 },
                "{rank}, {steal:?}: {:?}",
                part.err()
            );
        }
    }
}

#[test]
fn what_is_wrong_is_said_once_with_its_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.fq");
    std::fs::write(
        &path,
        reads(700, 1) + "@bad\nACGT\n+\nIII\n" + &reads(300, 2),
    )
    .unwrap();
    let (inputs, progress) = ([path], Progress::default());
    for chunk in [50, 5000] {
        let job = Job {
            inputs: &inputs,
            options: options(),
            chunk: Some(chunk),
            threads: 2,
            progress: &progress,
        };
        let mut said = 0;
        for part in job.run_all(4, Steal::On) {
            match part {
                Err(TabulateError::Input(error)) => {
                    assert!(
                        error
                            .to_string()
                            .contains("record 701 (\"bad\"), line 2804"),
                        "{error}"
                    );
                    said += 1;
                }
                Err(TabulateError::Fabric(FabricError::Elsewhere)) => {}
                Err(error) => panic!("{error}"),
                Ok(_) => panic!("a process has not heard of it"),
            }
        }
        assert!(said > 0);
    }
}

#[test]
fn processes_that_see_different_inputs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.fq", "b.fq"].map(|name| folder.path().join(name));
    std::fs::write(&paths[0], reads(10, 1)).unwrap();
    std::fs::write(&paths[1], reads(11, 1)).unwrap();
    let progress = Progress::default();
    let parts = testing::run(2, Steal::On, |process| {
        let inputs = &paths[process.rank()..][..1];
        Job {
            inputs,
            options: options(),
            chunk: None,
            threads: 1,
            progress: &progress,
        }
        .run(process)
    });
    assert!(parts.iter().all(|part| part.is_err()));
    assert!(
        parts
            .iter()
            .any(|part| matches!(part, Err(TabulateError::Input(Error::Arguments(_)))))
    );
}

#[test]
fn the_chunks_of_a_slow_process_are_taken_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let mut inputs = vec![pipe.clone()];
    let mut bytes = 0;
    for number in 0..8 {
        inputs.push(folder.path().join(number.to_string()));
        std::fs::write(&inputs[number + 1], reads(50, number as u64)).unwrap();
        bytes += inputs[number + 1].metadata().unwrap().len();
    }
    let progress = Progress::default();
    let late = reads(3, 9);
    // Whoever waits for the pipe waits until all else is read, by the other: without stealing this
    // would never end.
    let parts = std::thread::scope(|scope| {
        scope.spawn(|| {
            while progress.now().1 < bytes {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::fs::write(&pipe, &late).unwrap();
        });
        let options = Options {
            shared: true,
            ..options()
        };
        Job {
            inputs: &inputs,
            options,
            chunk: None,
            threads: 1,
            progress: &progress,
        }
        .run_all(2, Steal::On)
    });
    let read: Vec<Scattered> = parts.into_iter().map(|part| part.unwrap().1).collect();
    assert_eq!(read.iter().map(|read| read.reads).sum::<u64>(), 403);
    assert_eq!(
        read.iter().map(|read| read.bytes).sum::<u64>(),
        bytes + late.len() as u64
    );
}
