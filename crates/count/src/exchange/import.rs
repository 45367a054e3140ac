//! From a foreign database to ours.
//!
//! Foreign k-mers come in any order, so they go the road of all records: a scatter by bin over the
//! fabric (in memory, or spilled when that is full), then every bin is sorted by key on its own and
//! written where it belongs.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use gyrase_fabric::{Drain, Fabric, LocalFabric, Sender};
use gyrase_kmer::{BINS, Key, Shape, bin_of, with_words};
use gyrase_table::gyk::{Cutoffs, Metadata, Pieces, Writer};
use gyrase_table::{Cardinality, TableKey};
use gyrase_work::Progress;

use super::error::{ExchangeError, Place, Result};
use super::open::open;
use super::scatter::{Counted, Shares, for_each, record_bytes, send, sort_and_sum, spill_folder};
use super::source::{Source, WideKmer, resize};
use crate::passes;

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
    let k = match (source.k(), config.k) {
        (Some(found), Some(asked)) if found != asked => {
            let what = format!("its k-mers have {found} letters, expected {asked} (-k)");
            return Err(ExchangeError::malformed(&config.input, Place::Header, what));
        }
        (None, None) => {
            return Err(ExchangeError::unsupported(
                &config.input,
                "it holds no k-mer, so give the length with -k",
            ));
        }
        (found, asked) => found.or(asked).expect("one of them is there"),
    };
    let shape = Shape::new(k, config.stranded || source.stranded())?;
    with_words!(shape, W => import_words::<W>(source, shape, config, progress))
}

fn import_words<const W: usize>(
    mut source: Box<dyn Source>,
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
    let senders = (0..shares.threads).map(|_| fabric.sender()).collect();
    let (read, zeros, senders) = scatter::<W, _>(&mut *source, shape, senders, progress)?;
    let partitions = fabric.close(senders)?;
    progress.start("write", BINS as u64);
    write::<W>(&partitions, &writer, config.cutoffs, shares, progress)?;
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

/// Reads the source on this thread and sends its k-mers on as many others as there are senders.
fn scatter<const W: usize, S: Sender>(
    source: &mut dyn Source,
    shape: Shape,
    senders: Vec<S>,
    progress: &Progress,
) -> Result<(u64, u64, Vec<S>)> {
    let (batches, received) = sync_channel(2 * senders.len());
    let (received, failed) = (Mutex::new(received), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (received, failed) = (&received, &failed);
        let work =
            |sender| scope.spawn(move || send_batches::<W, S>(received, shape, sender, failed));
        let workers: Vec<_> = senders.into_iter().map(work).collect();
        let read = read_batches(source, &batches, failed, progress);
        drop(batches);
        let joined = workers
            .into_iter()
            .map(|worker| worker.join().expect("workers do not panic"));
        let senders = joined.collect::<Result<Vec<_>>>()?;
        read.map(|(read, zeros)| (read, zeros, senders))
    })
}

/// Returns how many records were read, and how many of them had the count 0.
fn read_batches(
    source: &mut dyn Source,
    batches: &SyncSender<Batch>,
    failed: &AtomicBool,
    progress: &Progress,
) -> Result<(u64, u64)> {
    let (mut read, mut zeros) = (0, 0);
    loop {
        let mut batch = Vec::with_capacity(BATCH);
        let before = read;
        while batch.len() < BATCH {
            let Some((kmer, count)) = source.next()? else {
                break;
            };
            read += 1;
            zeros += u64::from(count == 0);
            if count > 0 {
                batch.push((kmer, u32::try_from(count).unwrap_or(u32::MAX)));
            }
        }
        progress.advance(read - before);
        if progress.is_cancelled() {
            return Err(ExchangeError::Cancelled);
        }
        if batch.is_empty() || failed.load(Relaxed) || batches.send(batch).is_err() {
            return Ok((read, zeros));
        }
    }
}

/// Sends what comes until nothing comes any more. After a failure it goes on receiving, so that the
/// reader does not wait for room.
fn send_batches<const W: usize, S: Sender>(
    received: &Mutex<Receiver<Batch>>,
    shape: Shape,
    mut sender: S,
    failed: &AtomicBool,
) -> Result<S> {
    let mut result = Ok(());
    loop {
        let batch = received
            .lock()
            .expect("no thread panics while it holds the receiver")
            .recv();
        let Ok(batch) = batch else { break };
        if result.is_ok() {
            result = send_batch::<W, S>(&batch, shape, &mut sender);
            failed.fetch_or(result.is_err(), Relaxed);
        }
    }
    result.map(|()| sender)
}

fn send_batch<const W: usize, S: Sender>(
    batch: &Batch,
    shape: Shape,
    sender: &mut S,
) -> Result<()> {
    batch.iter().try_for_each(|&(kmer, count)| {
        let kmer = resize::<4, W>(kmer).form(shape);
        send(sender, bin_of(kmer, shape), (Key::from(kmer).0, count))
    })
}

/// Sorts and writes the bins, each thread taking the next one.
fn write<const W: usize>(
    partitions: &impl Drain,
    writer: &Writer,
    cutoffs: Cutoffs,
    shares: Shares,
    progress: &Progress,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let work = || {
        let lane = Lane {
            partitions,
            writer,
            cutoffs,
            memory: shares.bin as usize,
            entries: Vec::new(),
        };
        let done = write_bins::<W>(lane, &next, progress);
        if done.is_err() {
            writer.abandon();
        }
        done
    };
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..shares.threads).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().expect("workers do not panic"))
            .collect()
    });
    // The cause, and not the word of another thread that it was abandoned.
    let abandoned = |error: &ExchangeError| {
        matches!(
            error,
            ExchangeError::Table(gyrase_table::gyk::GykError::Abandoned { .. })
        )
    };
    let mut errors: Vec<_> = results.into_iter().filter_map(Result::err).collect();
    errors.sort_by_key(abandoned);
    errors.into_iter().next().map_or(Ok(()), Err)
}

fn write_bins<const W: usize>(
    mut lane: Lane<impl Drain, W>,
    next: &AtomicUsize,
    progress: &Progress,
) -> Result<()> {
    loop {
        let bin = next.fetch_add(1, Relaxed);
        if bin >= BINS {
            return Ok(());
        }
        if progress.is_cancelled() {
            return Err(ExchangeError::Cancelled);
        }
        lane.write_bin(bin)?;
        progress.advance(1);
    }
}

/// What a thread has to make bins of partitions.
struct Lane<'a, D, const W: usize> {
    partitions: &'a D,
    writer: &'a Writer,
    cutoffs: Cutoffs,
    /// Bytes that it may take.
    memory: usize,
    entries: Vec<Counted<W>>,
}

impl<D: Drain, const W: usize> Lane<'_, D, W> {
    fn write_bin(&mut self, bin: usize) -> Result<()> {
        let pieces = self.writer.pieces(bin, self.memory / 4);
        let records = self.partitions.bytes(bin) as usize / record_bytes(W);
        if records * size_of::<Counted<W>>() <= self.memory / 2 {
            self.write_sorted(bin, records, pieces)
        } else {
            self.write_in_passes(bin, pieces)
        }
    }

    fn write_sorted(&mut self, bin: usize, records: usize, mut pieces: Pieces) -> Result<()> {
        let entries = &mut self.entries;
        entries.clear();
        entries.reserve_exact(records);
        for_each::<W>(self.partitions, bin, |counted| entries.push(counted))?;
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
    fn write_in_passes(&mut self, bin: usize, pieces: Pieces) -> Result<()> {
        self.entries = Vec::new();
        let mut cardinality = Cardinality::default();
        for_each::<W>(self.partitions, bin, |(words, _)| {
            cardinality.see(Key(words).place())
        })?;
        let counted = self.cutoffs.min..=self.cutoffs.max;
        passes::count(
            cardinality.estimate(),
            self.memory / 8 * 5,
            &counted,
            pieces,
            |pass| {
                for_each::<W>(self.partitions, bin, |(words, count)| {
                    pass.add(Key(words), count);
                    pass.relieve();
                })
            },
        )
    }
}
