//! From a foreign database to ours.
//!
//! Foreign k-mers come in any order, so they go the road of all records: a scatter by bin over the
//! fabric (in memory, or spilled when that is full), then every bin is sorted by key on its own and
//! written where it belongs.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gyrase_fabric::{KeyRange, LocalFabric, Sender};
use gyrase_kmer::{BINS, Key, Shape, bin_of, with_words};
use gyrase_table::gyk::{Cutoffs, Metadata, Pieces, Writer};
use gyrase_table::{Cardinality, TableKey};
use gyrase_tabulate::{
    Cut, EachBatch, Partition, State, Supply, TabulateError, Worker, reduce, scatter,
};
use gyrase_work::Progress;

use super::error::{ExchangeError, FilePosition, Result};
use super::open::open;
use super::scatter::{Counted, Shares, for_each, record_bytes, send, sort_and_sum, spill_folder};
use super::source::{KmerSource, WideKmer, resize};
use crate::{counted, passes};

/// K-mers that a worker takes or hands on at a time.
const BATCH: usize = 4096;

/// What to import, and how.
#[derive(Clone, Debug)]
pub struct ImportConfig {
    /// The foreign database: a KMC pair (either file, or the name without ending), a KFF file or a
    /// text, known by its content; `-` for a KFF file or a text on the standard input.
    pub input: PathBuf,
    /// The `.gyk` file that will appear.
    pub output: PathBuf,
    /// Bases of a k-mer, 1 to 127: needed where the input is empty and does not say; otherwise what
    /// the input must have.
    pub k: Option<usize>,
    /// True keeps k-mer and reverse complement apart. A source that says so itself is kept so
    /// anyway.
    pub stranded: bool,
    /// Which summed counts are kept.
    pub cutoffs: Cutoffs,
    /// Bytes of memory to use.
    pub memory: u64,
    /// The folder for what does not fit.
    pub tmp: PathBuf,
    /// The most bytes to put there.
    pub max_tmp: Option<u64>,
    /// Threads to use, at least 1.
    pub threads: usize,
}

/// What an import did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// K-mers with counts that were read, repeats included.
    pub read: u64,
    /// How many of them had a count of 0 and were left out.
    pub zeros: u64,
    /// What the new database holds.
    pub table: gyrase_table::gyk::Summary,
}

/// Reads a foreign database and writes it as `.gyk`. The order of the source does not matter; the
/// counts of equal k-mers are summed, up to 2^32 - 1.
///
/// # Errors
/// When the source cannot be read or is malformed, when its k is not `config.k`, when the output or
/// the temporary files cannot be written, when the memory is too small, or when `progress` is
/// cancelled.
pub fn import(config: &ImportConfig, progress: &Progress) -> Result<Imported> {
    let source = open(&config.input)?;
    let shape = shape_of(&*source, config)?;
    with_words!(shape, W => import_words::<W>(source, shape, config, progress))
}

/// The shape of the k-mers of a source.
pub(super) fn shape_of(source: &dyn KmerSource, config: &ImportConfig) -> Result<Shape> {
    let k = match (source.k(), config.k) {
        (Some(found), Some(asked)) if found != asked => {
            let what = format!("its k-mers have {found} letters, expected {asked} (-k)");
            return Err(ExchangeError::malformed(
                &config.input,
                FilePosition::Header,
                what,
            ));
        }
        (None, None) => {
            return Err(ExchangeError::unsupported(
                &config.input,
                "it holds no k-mer, so give the length with -k",
            ));
        }
        (found, asked) => found.or(asked).expect("one of them is there"),
    };
    Ok(Shape::new(k, config.stranded || source.stranded())?)
}

fn import_words<const W: usize>(
    mut source: Box<dyn KmerSource>,
    shape: Shape,
    config: &ImportConfig,
    progress: &Progress,
) -> Result<Imported> {
    let shares = Shares::of(config.memory, config.threads)?;
    // First, since it keeps other runs from the same target and so from the same spill folder.
    let cutoffs = both(config.cutoffs, source.limits());
    let writer = Writer::create(&config.output, shape, cutoffs)?.waiting(shares.waiting as usize);
    let folder = spill_folder(&config.tmp, &config.output, config.max_tmp);
    let fabric = LocalFabric::new(BINS, shares.fabric, folder.into());
    progress.start("read", source.kmers());
    let foreign = Foreign {
        source: Mutex::new(&mut *source),
        read: AtomicU64::new(0),
        zeros: AtomicU64::new(0),
    };
    let cuts = (0..shares.threads).map(|_| ToBins::<W>(shape)).collect();
    let (partitions, _) = scatter(&foreign, cuts, fabric, progress)?;
    let (read, zeros) = (foreign.read.into_inner(), foreign.zeros.into_inner());
    progress.start("write", BINS as u64);
    let sorter = |_| Sorter::<W> {
        writer: &writer,
        cutoffs: config.cutoffs,
        memory: shares.bin as usize,
        entries: Vec::new(),
    };
    let mut sorters: Vec<_> = (0..shares.threads).map(sorter).collect();
    let workers = sorters
        .iter_mut()
        .map(|sorter| sorter as &mut dyn Worker<_>)
        .collect();
    reduce(&partitions, 0, workers, progress)?;
    let name = config
        .input
        .file_name()
        .map_or("-".into(), |name| name.to_string_lossy().into_owned());
    let metadata = Metadata {
        inputs: vec![name],
        operation: "import".into(),
        ..Metadata::default()
    };
    Ok(Imported {
        read,
        zeros,
        table: writer.finish(&metadata)?,
    })
}

/// What passes both; what passes the first where nothing passes both.
fn both(first: Cutoffs, second: Cutoffs) -> Cutoffs {
    let (min, max) = (first.min.max(second.min), first.max.min(second.max));
    if min <= max {
        Cutoffs { min, max }
    } else {
        first
    }
}

type Batch = Vec<(WideKmer, u32)>;

/// What is read of the source, by one thread at a time.
struct Foreign<'s> {
    source: Mutex<&'s mut dyn KmerSource>,
    read: AtomicU64,
    zeros: AtomicU64,
}

impl Supply<ExchangeError> for Foreign<'_> {
    type Batch = Batch;

    fn give(&self, state: &State, each: EachBatch<Batch, ExchangeError>) -> Result<()> {
        let mut batch = Vec::with_capacity(BATCH);
        while state.goes_on().map_err(TabulateError::from)? && self.fill(&mut batch, state)? {
            each(&batch)?;
        }
        Ok(())
    }
}

impl Foreign<'_> {
    /// Fills a batch; false when the source has no more.
    fn fill(&self, batch: &mut Batch, state: &State) -> Result<bool> {
        let mut source = self.source.lock().expect("no thread panics while it reads");
        batch.clear();
        let (mut read, mut ended) = (0, false);
        while batch.len() < BATCH && !ended {
            match source.next()? {
                Some((kmer, count)) => {
                    read += 1;
                    let count = u32::try_from(count).unwrap_or(u32::MAX);
                    batch.extend((count > 0).then_some((kmer, count)));
                }
                None => ended = true,
            }
        }
        self.read.fetch_add(read, Relaxed);
        self.zeros.fetch_add(read - batch.len() as u64, Relaxed);
        state.progress().advance(read);
        Ok(!ended || !batch.is_empty())
    }
}

/// Sends k-mers to their bins.
struct ToBins<const W: usize>(Shape);

impl<const W: usize> Cut<Batch, ExchangeError> for ToBins<W> {
    fn cut(&mut self, batch: &Batch, sender: &mut impl Sender) -> Result<()> {
        let shape = self.0;
        batch.iter().try_for_each(|&(kmer, count)| {
            let kmer = resize::<4, W>(kmer).form(shape);
            send(sender, bin_of(kmer, shape), (Key::from(kmer).0, count))
        })
    }
}

/// Puts the k-mers of a partition in the order of keys and writes them as a bin.
struct Sorter<'a, const W: usize> {
    writer: &'a Writer,
    cutoffs: Cutoffs,
    /// Bytes that it may take.
    memory: usize,
    entries: Vec<Counted<W>>,
}

impl<const W: usize> Worker<ExchangeError> for Sorter<'_, W> {
    fn reduce(&mut self, partitions: &[Partition]) -> Result<()> {
        partitions
            .iter()
            .try_for_each(|partition| self.write_bin(partition))
    }

    fn abandon(&self) {
        self.writer.abandon();
    }
}

impl<const W: usize> Sorter<'_, W> {
    fn write_bin(&mut self, partition: &Partition) -> Result<()> {
        let pieces = self.writer.pieces(partition.number(), self.memory / 4);
        let records = partition.bytes() as usize / record_bytes(W);
        if records * size_of::<Counted<W>>() <= self.memory / 2 {
            self.write_sorted(partition, records, pieces)
        } else {
            self.write_in_passes(partition, pieces)
        }
    }

    fn write_sorted(
        &mut self,
        partition: &Partition,
        records: usize,
        mut pieces: Pieces,
    ) -> Result<()> {
        let entries = &mut self.entries;
        entries.clear();
        entries.reserve_exact(records);
        for_each::<W>(partition, |counted| entries.push(counted))?;
        sort_and_sum(entries);
        entries.retain(|entry| self.cutoffs.keep(entry.1));
        let (mut keys, mut counts) = (Vec::new(), Vec::new());
        for entries in entries.chunks(BATCH) {
            keys.clear();
            keys.extend(entries.iter().flat_map(|entry| entry.0));
            counts.clear();
            counts.extend(entries.iter().map(|entry| entry.1));
            pieces.add(&keys, &counts)?;
        }
        Ok(pieces.finish()?)
    }

    /// Counts the k-mers of a partition that may not be held as a whole.
    fn write_in_passes(&mut self, partition: &Partition, mut pieces: Pieces) -> Result<()> {
        self.entries = Vec::new();
        let mut cardinality = Cardinality::default();
        for_each::<W>(partition, |(words, _)| cardinality.see(Key(words).place()))?;
        let counted = self.cutoffs.min..=self.cutoffs.max;
        let memory = self.memory / 8 * 5;
        let add = |passed: counted::Counted| Ok(pieces.add(passed.keys, passed.counts)?);
        let distinct = cardinality.estimate();
        passes::count(KeyRange::ALL, distinct, memory, &counted, add, |pass| {
            for_each::<W>(partition, |(words, count)| {
                pass.add(Key(words), count);
                pass.relieve();
            })
        })?;
        Ok(pieces.finish()?)
    }
}
