//! Which k-mers are in which files: a whole application on the trunk.
//!
//! `cargo run --release -p gyrase-tabulate --example kmer_files -- K FILE...` prints every
//! canonical k-mer (K at most 32) with the numbers of the files that it is in, in the order of
//! keys. The k-mers go to the partitions of their minimizers; each partition is reduced alone.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use gyrase_fabric::{Alone, LocalFabric, Sender, SpillFolder};
use gyrase_fastx::{Inputs, Options};
use gyrase_kmer::{BINS, Cutter, Key, Kmer, Shape};
use gyrase_seq::Batch;
use gyrase_tabulate::{Cut, Partition, Reading, TabulateError, Worker, reduce, scatter};
use gyrase_work::Progress;

/// Bytes of a record: a key and the number of a file.
const RECORD: usize = 12;

/// Sends every k-mer with the file that it is in.
struct KmersOfFiles {
    shape: Shape,
    cutter: Cutter<1>,
}

impl Cut<Batch, TabulateError> for KmersOfFiles {
    fn cut(&mut self, batch: &Batch, sender: &mut impl Sender) -> Result<(), TabulateError> {
        let shape = self.shape;
        for letters in batch.letters() {
            self.cutter.cut(letters, &mut |bin, super_kmer| {
                let mut sent = Ok(());
                super_kmer.for_each_key(shape, |Key([key])| {
                    let record = record(key, batch.input);
                    if sent.is_ok() {
                        sent = sender.send(bin, &record, RECORD);
                    }
                });
                sent
            })?;
        }
        Ok(())
    }
}

fn record(key: u64, file: usize) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    record[..8].copy_from_slice(&key.to_le_bytes());
    record[8..].copy_from_slice(&(file as u32).to_le_bytes());
    record
}

fn read(record: [u8; RECORD]) -> (u64, u32) {
    let (key, file) = record.split_at(8);
    let key = u64::from_le_bytes(key.try_into().expect("eight bytes"));
    (
        key,
        u32::from_le_bytes(file.try_into().expect("four bytes")),
    )
}

/// Collects the files of every k-mer.
#[derive(Default)]
struct FilesOfKmers(BTreeMap<u64, BTreeSet<u32>>);

impl Worker<TabulateError> for FilesOfKmers {
    fn takes(&self) -> u64 {
        1 << 20
    }

    fn reduce(&mut self, partitions: &[Partition]) -> Result<(), TabulateError> {
        partitions.iter().try_for_each(|partition| {
            partition.drain(|bytes, used| {
                for &bytes in bytes[..used].as_chunks().0 {
                    let (key, file) = read(bytes);
                    self.0.entry(key).or_default().insert(file);
                }
                Ok(())
            })
        })
    }

    fn abandon(&self) {}
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "Give k and the files: kmer_files 21 a.fa b.fa.";
    let shape = Shape::new(arguments.next().ok_or(usage)?.parse()?, false)?;
    if shape.k() > 32 {
        return Err("K is at most 32.".into());
    }
    let files: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let found = files_of_kmers(&files, shape, 2)?;
    let mut out = std::io::stdout().lock();
    for (key, files) in found {
        let letters = Kmer::from(Key([key])).letters(shape.k());
        writeln!(out, "{}\t{files:?}", String::from_utf8_lossy(&letters))?;
    }
    Ok(())
}

/// The files of every k-mer, by key.
fn files_of_kmers(
    files: &[PathBuf],
    shape: Shape,
    threads: usize,
) -> Result<BTreeMap<u64, BTreeSet<u32>>, Box<dyn Error>> {
    let progress = Progress::default();
    let inputs = Inputs::open(files, Options::for_kmers(shape.k()))?;
    let spills = std::env::temp_dir().join(format!("kmer-files-{}", std::process::id()));
    let folder = Arc::new(SpillFolder::new(spills, None, false));
    let fabric = LocalFabric::new(BINS, 1 << 30, folder);

    let reading = Reading::agree(&inputs, &Alone, None, threads)?;
    let cut = || KmersOfFiles {
        shape,
        cutter: Cutter::new(shape),
    };
    let cuts = (0..threads).map(|_| cut()).collect();
    let (partitions, _) = scatter::<_, _, _, TabulateError>(&reading, cuts, fabric, &progress)?;

    let mut tables: Vec<FilesOfKmers> = (0..threads).map(|_| FilesOfKmers::default()).collect();
    let workers = tables
        .iter_mut()
        .map(|table| table as &mut dyn Worker<_>)
        .collect();
    reduce(&partitions, 0, workers, &progress)?;
    // A k-mer is in one partition only, so no two tables have the same.
    Ok(tables.into_iter().flat_map(|table| table.0).collect())
}
