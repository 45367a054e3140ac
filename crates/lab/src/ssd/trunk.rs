//! Reads to a profile, by the trunk of Gyrase: the reading, the cutting, the sketch, the filter and
//! the table that count k-mers.

use std::path::PathBuf;
use std::sync::Arc;

use gyrase_fabric::{Alone, KeyRange, LocalFabric, Sender, SpillFolder};
use gyrase_fastx::{Inputs, Options};
use gyrase_kmer::{
    BINS, Cutter, Kernels, Key, Kmer, Shape, SuperKmer, bin_of_hash, minimizer_hash, with_words,
};
use gyrase_seq::Batch;
use gyrase_table::{Bloom, Cardinality, CountTable};
use gyrase_tabulate::{Cut, Partition, Reading, TabulateError, Worker, reduce, scatter};
use gyrase_work::Progress;

use super::error::SsdError;
use super::profile::{MinimizerPartition, StorageProfile};
use super::scratch::scratch;

/// Which reads, and how their k-mers are divided.
#[derive(Clone, Debug)]
pub struct ProfileConfig {
    /// FASTA and FASTQ files, of any compression.
    pub inputs: Vec<PathBuf>,
    /// Length and strandedness of the k-mers.
    pub shape: Shape,
    /// Bases of a minimizer, 1 to [`MOST_M`], at most k.
    pub m: usize,
    /// Threads, at least 1.
    pub threads: usize,
    /// Bytes of memory.
    pub memory: u64,
    /// Folder for spill files.
    pub tmp: PathBuf,
}

/// More than so many bases of a minimizer would be more partitions than a device has rows for.
pub const MOST_M: usize = 11;

/// Bytes of a minimizer before its super-k-mer in a record.
const PREFIX: usize = 3;
/// What a run takes beside records and tables: code, batches, and those of each thread.
const BESIDE: u64 = 64 << 20;
const OF_THREAD: u64 = 24 << 20;
/// So few k-mers need no sketch.
const FEW: usize = 32;
/// The least for the tables of a thread.
const LEAST_TABLES: u64 = 32 << 20;

/// The profile of reads. It depends on reads, shape and m alone.
///
/// # Errors
/// The reads cannot be read, there is too little memory, a spill fails, or the run was cancelled.
pub fn profile(config: &ProfileConfig, progress: &Progress) -> Result<StorageProfile, SsdError> {
    match attempt(config, false, progress) {
        Err(SsdError::Tabulate(TabulateError::Input(error))) if error.needs_serial() => {
            attempt(config, true, progress)
        }
        done => done,
    }
}

fn attempt(
    config: &ProfileConfig,
    serial: bool,
    progress: &Progress,
) -> Result<StorageProfile, SsdError> {
    let options = Options {
        serial,
        batch_bytes: 256 << 10,
        ..Options::for_kmers(config.shape.k())
    };
    let inputs = Inputs::open(&config.inputs, options).map_err(TabulateError::from)?;
    with_words!(config.shape, W => count::<W>(config, &inputs, progress))
}

fn count<const W: usize>(
    config: &ProfileConfig,
    inputs: &Inputs,
    progress: &Progress,
) -> Result<StorageProfile, SsdError> {
    let &ProfileConfig {
        shape,
        m,
        threads,
        memory,
        ..
    } = config;
    let room = Room::of(threads, memory)?;
    let scratch = scratch(&config.tmp)?;
    let spills = SpillFolder::new(scratch.path().join("spills"), None, false);
    let fabric = LocalFabric::new(BINS, room.fabric, Arc::new(spills));
    progress.start("read", inputs.total_bytes().unwrap_or(0));
    let reading = Reading::agree(inputs, &Alone, None, threads)?;
    let cuts = (0..threads)
        .map(|_| ByMinimizer::<W>::new(shape, m))
        .collect();
    let (partitions, cuts) = scatter::<_, _, _, SsdError>(&reading, cuts, fabric, progress)?;
    progress.start("count", BINS as u64);
    let mut workers: Vec<Tallying<W>> = (0..threads)
        .map(|_| Tallying::new(shape, m, room))
        .collect();
    let all = workers
        .iter_mut()
        .map(|worker| worker as &mut dyn Worker<SsdError>)
        .collect();
    reduce::<_, SsdError>(&partitions, 0, all, progress)?;
    let mut found: Vec<MinimizerPartition> = workers
        .into_iter()
        .flat_map(|worker| worker.found)
        .collect();
    found.sort_unstable_by_key(|partition| partition.minimizer);
    let sum = |field: fn(&ByMinimizer<W>) -> u64| cuts.iter().map(field).sum();
    Ok(StorageProfile {
        k: shape.k(),
        m,
        stranded: shape.stranded(),
        text_bytes: sum(|cut| cut.text),
        reads: sum(|cut| cut.reads),
        bases: sum(|cut| cut.bases),
        partitions: found,
    })
}

/// How memory is shared out.
#[derive(Clone, Copy)]
struct Room {
    fabric: u64,
    /// For the records and tables of one thread.
    tables: u64,
    given: u64,
}

impl Room {
    fn of(threads: usize, memory: u64) -> Result<Room, SsdError> {
        let count = threads as u64;
        let least_fabric = LocalFabric::least_memory(BINS, threads);
        let least = BESIDE + count * (OF_THREAD + LEAST_TABLES) + least_fabric;
        if memory < least {
            return Err(SsdError::Memory {
                needed: least,
                given: memory,
            });
        }
        let free = memory - BESIDE - count * OF_THREAD - least_fabric;
        // Records go to the disk where they must; tables cannot.
        let tables = (free / 2 / count).max(LEAST_TABLES);
        Ok(Room {
            fabric: memory - BESIDE - count * (OF_THREAD + tables),
            tables,
            given: memory,
        })
    }
}

/// Cuts reads into super-k-mers by the letters of their minimizers, which go along.
struct ByMinimizer<const W: usize> {
    shape: Shape,
    cutter: Cutter<W>,
    reads: u64,
    bases: u64,
    text: u64,
}

impl<const W: usize> ByMinimizer<W> {
    fn new(shape: Shape, m: usize) -> ByMinimizer<W> {
        let cutter = Cutter::by_letters(shape, m);
        ByMinimizer {
            shape,
            cutter,
            reads: 0,
            bases: 0,
            text: 0,
        }
    }
}

impl<const W: usize> Cut<Batch, SsdError> for ByMinimizer<W> {
    fn cut(&mut self, batch: &Batch, sender: &mut impl Sender) -> Result<(), SsdError> {
        let ByMinimizer {
            shape,
            cutter,
            reads,
            bases,
            text,
        } = self;
        let mut record = [0; PREFIX + 64];
        for read in &batch.records {
            let mut send = |minimizer: usize, super_kmer: SuperKmer<W>| {
                let stored = SuperKmer::<W>::stored_bytes(super_kmer.kmers(), *shape);
                record[..PREFIX].copy_from_slice(&(minimizer as u32).to_le_bytes()[..PREFIX]);
                record[PREFIX..PREFIX + 16 * W]
                    .copy_from_slice(super_kmer.to_bytes().as_flattened());
                let bin = bin_of_hash(minimizer_hash(minimizer as u32));
                sender.send(bin, &record[..PREFIX + 16 * W], PREFIX + stored)
            };
            cutter
                .cut(batch.bytes(read.letters), &mut send)
                .map_err(TabulateError::from)?;
            let letters = read.letters.len() as u64 - u64::from(read.overlap);
            *bases += letters;
            *reads += u64::from(!read.continues);
            *text += letters + text_beside(read, letters);
        }
        Ok(())
    }
}

/// Bytes of the text of a record beside its letters: marks, name, ends of lines, qualities.
fn text_beside(read: &gyrase_seq::Record, letters: u64) -> u64 {
    let header = if read.continues {
        0
    } else {
        2 + read.name.len() as u64 + 1
    };
    let qualities = read.qualities.len() as u64;
    match qualities {
        0 => header,
        _ => header + letters.min(qualities) + 3,
    }
}

/// Counts the k-mers of each minimizer as a device would: sketch, filter, table.
struct Tallying<const W: usize> {
    shape: Shape,
    m: usize,
    room: Room,
    kernels: Kernels,
    super_kmers: Vec<(u32, SuperKmer<W>)>,
    /// Room for the keys of one.
    some: Vec<[u64; W]>,
    keys: Vec<Key<W>>,
    table: CountTable<Key<W>>,
    cardinality: Cardinality,
    bloom: Bloom,
    found: Vec<MinimizerPartition>,
}

impl<const W: usize> Tallying<W> {
    fn new(shape: Shape, m: usize, room: Room) -> Tallying<W> {
        Tallying {
            shape,
            m,
            room,
            kernels: Kernels::detect(),
            super_kmers: Vec::new(),
            some: vec![[0; W]; SuperKmer::<W>::MOST_KEYS],
            keys: Vec::new(),
            table: CountTable::default(),
            cardinality: Cardinality::default(),
            bloom: Bloom::default(),
            found: Vec::new(),
        }
    }

    /// Takes the records of a bin, in an order that depends on them alone.
    fn load(&mut self, partition: &Partition) -> Result<(), SsdError> {
        let Tallying {
            shape, super_kmers, ..
        } = self;
        super_kmers.clear();
        partition.drain::<SsdError>(|bytes, used| {
            let mut at = 0;
            while at < used {
                let minimizer = bytes[at..at + PREFIX].iter().rev();
                let minimizer = minimizer.fold(0, |value, &byte| value << 8 | u32::from(byte));
                let super_kmer = SuperKmer::<W>::from_bytes(&bytes[at + PREFIX..], *shape)
                    .expect("only whole super-k-mers are drained");
                at += PREFIX + SuperKmer::<W>::stored_bytes(super_kmer.kmers(), *shape);
                super_kmers.push((minimizer, super_kmer));
            }
            Ok(())
        })?;
        super_kmers.sort_unstable_by_key(|(minimizer, super_kmer)| (*minimizer, super_kmer.0));
        Ok(())
    }

    /// Refuses what would not fit: a device has no such choice, but its model has.
    fn check(&self, minimizer: u32, needed: u64) -> Result<(), SsdError> {
        if needed <= self.room.tables {
            return Ok(());
        }
        let letters = Kmer::<1>([u64::from(minimizer)]).letters(self.m);
        Err(SsdError::LargePartition {
            minimizer: String::from_utf8_lossy(&letters).into_owned(),
            needed: needed - self.room.tables + self.room.given,
            given: self.room.given,
        })
    }

    fn tally(&mut self, range: std::ops::Range<usize>) -> Result<(), SsdError> {
        let super_kmers = &self.super_kmers[range];
        let (minimizer, _) = super_kmers[0];
        let stored = |(_, one): &(u32, SuperKmer<W>)| {
            SuperKmer::<W>::stored_bytes(one.kmers(), self.shape) as u64
        };
        let bytes = super_kmers.iter().map(stored).sum();
        let kmers: u64 = super_kmers.iter().map(|(_, one)| one.kmers() as u64).sum();
        let count = super_kmers.len() as u64;
        let held = size_of_val(&self.super_kmers[..]) as u64;
        self.check(minimizer, held + kmers * size_of::<Key<W>>() as u64)?;
        self.keys.clear();
        for (_, super_kmer) in super_kmers {
            let count = super_kmer.keys(self.shape, self.kernels, &mut self.some);
            self.keys
                .extend(self.some[..count].iter().map(|&words| Key(words)));
        }
        let estimate = self.estimate();
        let table = CountTable::<Key<W>>::bytes_for(2 * estimate) as u64;
        self.check(
            minimizer,
            held + kmers * (size_of::<Key<W>>() as u64) + table,
        )?;
        let (distinct, unique) = self.count(estimate);
        let (passed, kept) = self.filter(estimate);
        self.found.push(MinimizerPartition {
            minimizer,
            super_kmers: count,
            bytes,
            kmers,
            distinct,
            unique,
            estimate: estimate as u64,
            passed,
            kept,
        });
        Ok(())
    }

    /// How many different k-mers a sketch takes them for. Few ones hardly meet in its registers,
    /// and are sooner counted.
    fn estimate(&mut self) -> usize {
        if self.keys.len() < FEW {
            self.keys.sort_unstable();
            return self.keys.chunk_by(|one, other| one == other).count();
        }
        self.cardinality.clear();
        self.keys
            .iter()
            .for_each(|key| self.cardinality.see(key.0[0]));
        self.cardinality.estimate()
    }

    /// Different k-mers, and those that occur once.
    fn count(&mut self, estimate: usize) -> (u64, u64) {
        self.table.clear(estimate, KeyRange::ALL);
        self.table.add_all(self.keys.iter().map(|&key| (key, 1)));
        let mut unique = 0;
        self.table
            .for_each(|_, count| unique += u64::from(count == 1));
        (self.table.len() as u64, unique)
    }

    /// What a filter lets pass, and the different k-mers among that.
    fn filter(&mut self, estimate: usize) -> (u64, u64) {
        self.bloom.clear(estimate);
        self.table.clear(estimate / 4 + 16, KeyRange::ALL);
        let Tallying {
            keys, bloom, table, ..
        } = self;
        let seen = keys
            .iter()
            .filter(|key| bloom.note(key.0[0]))
            .map(|&key| (key, 1));
        let passed = table.add_all(seen) as u64;
        (passed, table.len() as u64)
    }
}

impl<const W: usize> Worker<SsdError> for Tallying<W> {
    fn reduce(&mut self, partitions: &[Partition]) -> Result<(), SsdError> {
        for partition in partitions {
            self.load(partition)?;
            let mut start = 0;
            while start < self.super_kmers.len() {
                let minimizer = self.super_kmers[start].0;
                let rest = &self.super_kmers[start..];
                let len = rest.partition_point(|(other, _)| *other == minimizer);
                self.tally(start..start + len)?;
                start += len;
            }
        }
        Ok(())
    }

    fn abandon(&self) {}
}
