//! Reading in chunks, in any order and by any workers, is reading from front to end.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gyrase_fastx::{Border, Chunk, Chunks, Error, Inputs, Options};
use gyrase_seq::Batch;

use crate::harness::{Summary, compressed};
use crate::oracle;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// Workers that take chunks in any order, go on in the next chunk or not, and join borders when
/// they like.
struct Workers<'c> {
    chunks: &'c Chunks<'c>,
    k: usize,
    random: Random,
    /// In which chunks are taken, from the back.
    order: Vec<usize>,
    taken: Vec<bool>,
    letters: BTreeMap<usize, Vec<u8>>,
    borders: BTreeMap<usize, Border>,
    /// Borders with their letters.
    ready: Vec<usize>,
    batch: Batch,
    found: Summary,
}

impl<'c> Workers<'c> {
    fn read_all(&mut self) -> Result<(), Error> {
        while let Some(number) = self.take() {
            let chunk = self.chunks.read(number);
            self.read(chunk)?;
            while self.random.below(3) > 0 && self.join()? {}
        }
        while self.join()? {}
        assert!(
            self.borders.is_empty() && self.letters.is_empty(),
            "what is sent back comes to a border"
        );
        Ok(())
    }

    fn take(&mut self) -> Option<usize> {
        let number = std::iter::from_fn(|| self.order.pop()).find(|&chunk| !self.taken[chunk])?;
        self.taken[number] = true;
        Some(number)
    }

    fn read(&mut self, mut chunk: Chunk<'c>) -> Result<(), Error> {
        loop {
            loop {
                let more = chunk.next_batch(&mut self.batch)?;
                if let Some((before, bytes)) = chunk.send_back() {
                    self.send(before, bytes);
                }
                if !more {
                    break;
                }
                self.found.add(&self.batch, self.k);
            }
            match chunk.next_chunk() {
                Some(next) if !self.taken[next] && self.random.below(2) == 0 => {
                    self.taken[next] = true
                }
                _ => break,
            }
            chunk.go_on();
        }
        if let Some(border) = chunk.into_border()? {
            self.ready.extend(
                self.letters
                    .contains_key(&border.chunk())
                    .then_some(border.chunk()),
            );
            self.borders.insert(border.chunk(), border);
        }
        Ok(())
    }

    fn send(&mut self, chunk: usize, bytes: Vec<u8>) {
        assert!(
            self.letters.insert(chunk, bytes).is_none(),
            "one letter to each chunk"
        );
        self.ready
            .extend(self.borders.contains_key(&chunk).then_some(chunk));
    }

    /// Joins one border that can be joined, if there is one.
    fn join(&mut self) -> Result<bool, Error> {
        let Some(ready) = self.ready.pop() else {
            return Ok(false);
        };
        let (border, letter) = (
            self.borders.remove(&ready).unwrap(),
            self.letters.remove(&ready).unwrap(),
        );
        match self.chunks.join(border, &letter, &mut self.batch)? {
            Some((before, bytes)) => self.send(before, bytes),
            None => self.found.add(&self.batch, self.k),
        }
        Ok(true)
    }
}

fn attempt(
    paths: &[PathBuf],
    k: usize,
    options: &Options,
    bytes: u64,
    seed: u64,
) -> Result<Summary, Error> {
    let inputs = Inputs::open(paths, options.clone())?;
    let chunks = inputs.chunks(bytes, 1 + seed as usize % 3);
    let mut random = Random(seed);
    let mut order: Vec<usize> = (0..chunks.count()).collect();
    (1..order.len()).for_each(|at| order.swap(at, random.below(at + 1)));
    let mut workers = Workers {
        chunks: &chunks,
        k,
        random,
        order,
        taken: vec![false; chunks.count()],
        letters: BTreeMap::new(),
        borders: BTreeMap::new(),
        ready: Vec::new(),
        batch: Batch::default(),
        found: Summary::default(),
    };
    let done = workers.read_all();
    done.map(|()| workers.found)
        .map_err(|error| inputs.explain(error))
}

/// Reads files in chunks of `bytes` bytes, serially if it must be.
pub fn read_in_chunks(
    paths: &[PathBuf],
    k: usize,
    batch_bytes: usize,
    bytes: u64,
    seed: u64,
) -> Result<Summary, Error> {
    let options = Options {
        batch_bytes,
        ..Options::for_kmers(k)
    };
    match attempt(paths, k, &options, bytes, seed) {
        Err(error) if error.needs_serial() => attempt(
            paths,
            k,
            &Options {
                serial: true,
                ..options
            },
            bytes,
            seed,
        ),
        done => done,
    }
}

/// FASTQ of records of many lengths.
fn reads(count: usize, longest: usize) -> String {
    let mut random = Random(count as u64);
    let mut read = |number: usize| {
        let length = random.below(longest);
        let letters: String = (0..length)
            .map(|_| ['A', 'C', 'G', 'T'][random.below(4)])
            .collect();
        let qualities: String = (0..length)
            .map(|_| ['@', '+', 'I', '>'][random.below(4)])
            .collect();
        format!("@r{number} x\n{letters}\n+\n{qualities}\n")
    };
    (0..count).map(&mut read).collect()
}

#[test]
fn chunks_span_files_of_every_size_and_kind() {
    let folder = tempfile::tempdir().unwrap();
    let (mut paths, mut want) = (Vec::new(), Vec::new());
    let fasta = format!(
        ">a\n{}\n>b\n{}",
        "ACGTTGCA".repeat(40),
        "GATTACA\n".repeat(9)
    );
    let texts = [
        reads(40, 90),
        String::new(),
        "@a\nC\n+\nI".into(),
        fasta,
        ">".into(),
        reads(3, 2000),
        "\n\n".into(),
    ];
    for (number, text) in texts.iter().enumerate() {
        want.extend(oracle::parse(text.as_bytes()).unwrap());
        let packed = compressed(text.as_bytes())
            .into_iter()
            .take(if number < 3 { 2 } else { 1 });
        for (name, bytes) in packed {
            want.extend(if name == "plain" {
                Vec::new()
            } else {
                oracle::parse(text.as_bytes()).unwrap()
            });
            paths.push(folder.path().join(format!("{number}.{name}")));
            std::fs::write(&paths[paths.len() - 1], bytes).unwrap();
        }
    }
    let want = Summary::of(&want, 7);
    for bytes in [1, 10, 100, 500, 1000, 3000, 1 << 20] {
        for seed in 0..5 {
            let options = Options {
                batch_bytes: [64, 1000][seed as usize % 2],
                ..Options::for_kmers(7)
            };
            // Not serially: nothing about these needs it.
            let found = attempt(&paths, 7, &options, bytes, seed).unwrap();
            assert!(found == want, "chunks of {bytes}, seed {seed}");
        }
    }
}

#[test]
fn records_longer_than_chunks_go_back_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.fq");
    let text = reads(20, 5000);
    std::fs::write(&path, &text).unwrap();
    let want = Summary::of(&oracle::parse(text.as_bytes()).unwrap(), 5);
    for bytes in [50, 300, 2000, 9000] {
        for seed in 0..4 {
            let options = Options {
                batch_bytes: 128,
                ..Options::for_kmers(5)
            };
            assert!(
                attempt(std::slice::from_ref(&path), 5, &options, bytes, seed).unwrap() == want,
                "chunks of {bytes}"
            );
        }
    }
}

#[test]
fn lines_too_long_to_be_searched_are_sequences_or_read_serially() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.fa");
    let long = |length: usize| "GATTACA".repeat(length / 7);
    let texts = [
        (
            format!(">a\n{}\n>b\n{}", long(3_500_000), long(2_500_000)),
            true,
        ),
        (
            format!(">a\nACGT\n>{}\n{}\n", long(3_500_000), long(2000)),
            false,
        ),
        (
            format!(">a\nACGT\n;{}\n{}\n", long(2_500_000), long(2_500_000)),
            false,
        ),
        (
            format!(">a\nACGT{}{}\nTTT", " ".repeat(3_500_000), long(1_500_000)),
            false,
        ),
    ];
    for (text, in_chunks) in texts {
        std::fs::write(&path, &text).unwrap();
        let options = Options {
            batch_bytes: 300_000,
            ..Options::for_kmers(5)
        };
        let serial = Options {
            serial: true,
            ..options.clone()
        };
        let want = attempt(std::slice::from_ref(&path), 5, &serial, 1, 0).unwrap();
        for bytes in [90_000, 400_000, 1_000_000, 1_700_000] {
            match attempt(std::slice::from_ref(&path), 5, &options, bytes, bytes) {
                Ok(found) => assert!(found == want, "chunks of {bytes}"),
                Err(error) => assert!(
                    error.needs_serial() && !in_chunks,
                    "chunks of {bytes}: {error}"
                ),
            }
        }
    }
}

#[test]
fn a_record_without_room_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.fq");
    let long = format!("@long\n{}\n+\n{}\n", "A".repeat(30_000), "I".repeat(30_000));
    std::fs::write(&path, reads(30, 100) + &long + &reads(10, 100)).unwrap();
    for bytes in [100, 1000, 25_000, 1 << 20] {
        let options = Options {
            batch_bytes: 1000,
            longest_record: 10_000,
            ..Options::for_kmers(5)
        };
        let error = attempt(std::slice::from_ref(&path), 5, &options, bytes, bytes).unwrap_err();
        assert!(error.is_memory(), "{error}");
        assert!(
            error.to_string().contains("record 31 (\"long\"), line 121"),
            "{error}"
        );
    }
}

#[test]
fn others_help_with_what_cannot_be_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reads.gz");
    let (_, packed) = compressed(reads(500, 200).as_bytes()).swap_remove(1);
    std::fs::write(&path, packed).unwrap();
    let one = Options {
        batch_bytes: 1000,
        ..Options::for_kmers(5)
    };
    let pair = Options {
        paired: true,
        ..one.clone()
    };
    for (options, paths, all) in [
        (one, vec![path.clone()], 500),
        (pair, vec![path.clone(), path], 1000),
    ] {
        let inputs = Inputs::open(&paths, options).unwrap();
        let (mut batch, mut counts) = (Batch::default(), [0; 2]);
        assert!(!inputs.help(&mut batch).unwrap(), "nobody has taken it");
        let chunks = inputs.chunks(1 << 20, 1);
        assert_eq!(chunks.count(), 1);
        let mut chunk = chunks.read(0);
        while chunk.next_batch(&mut batch).unwrap() {
            counts[0] += batch.records.len();
            counts[1] += if inputs.help(&mut batch).unwrap() {
                batch.records.len()
            } else {
                0
            };
        }
        assert!(
            counts[0] + counts[1] == all && counts[1] > all / 3,
            "{counts:?}"
        );
    }
}

#[test]
fn a_pipe_is_left_for_the_process_that_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let [pipe, file] = ["pipe", "file.fa"].map(|name| folder.path().join(name));
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    std::fs::write(&file, ">b\nGATTACA\n").unwrap();
    let options = Options {
        shared: true,
        ..Options::for_kmers(5)
    };
    for (name, bytes) in compressed(">a\nACGTACGT\n".repeat(1000).as_bytes()) {
        // Nobody writes yet: were it looked at, this would wait for ever.
        let inputs = Inputs::open(&[file.clone(), pipe.clone()], options.clone()).unwrap();
        let chunks = inputs.chunks(100, 1);
        assert_eq!(
            chunks.count(),
            2,
            "serial, as the pipe cannot be read again"
        );
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::write(pipe, bytes).unwrap()
        });
        let (mut batch, mut records) = (Batch::default(), 0);
        for number in 0..2 {
            let mut chunk = chunks.read(number);
            while chunk.next_batch(&mut batch).unwrap() {
                records += batch.records.len();
            }
        }
        writer.join().unwrap();
        assert_eq!(records, 1001, "{name}");
    }
    assert!(Inputs::open(&["-".into()], options).unwrap_err().is_usage());
}

#[test]
fn all_processes_see_the_same_chunks_or_notice() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.fq", "b.fq"].map(|name| folder.path().join(name));
    let print = |texts: [String; 2]| {
        paths
            .iter()
            .zip(texts)
            .for_each(|(path, text)| std::fs::write(path, text).unwrap());
        let inputs = Inputs::open(&paths, Options::default()).unwrap();
        inputs.chunks(1000, 4).fingerprint()
    };
    let one = print([reads(20, 100), reads(10, 100)]);
    assert_eq!(one, print([reads(20, 100), reads(10, 100)]));
    assert_ne!(one, print([reads(20, 100), reads(11, 100)]));
    assert_ne!(one, print([reads(10, 100), reads(20, 100)]));
}

#[test]
fn chunks_are_as_many_as_keep_workers_busy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reads.fq");
    std::fs::write(&path, "@a\nACGT\n+\nIIII\n").unwrap();
    // What is not written takes no room on the disk.
    std::fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(4 << 30)
        .unwrap();
    let inputs = Inputs::open(&[path], Options::default()).unwrap();
    assert_eq!(
        [1, 4, 16, 256, 512, 100_000].map(|workers| inputs.chunk_bytes(workers) >> 20),
        [64, 32, 8, 1, 1, 1]
    );
    for workers in [1, 3, 7, 48, 100, 125] {
        let count = inputs.chunks(inputs.chunk_bytes(workers), 1).count();
        assert!(
            count.is_multiple_of(workers) && count >= 32 * workers,
            "{count} chunks for {workers}"
        );
    }
}
