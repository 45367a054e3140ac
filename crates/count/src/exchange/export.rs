//! From our database to a foreign one.
//!
//! A table is in the order of its bins and keys, other programs want the order of the letters. The
//! k-mers go over the fabric once more, now to partitions by their first bases; these are put in
//! order one after the other.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_fabric::{Drain, LocalFabric, Sender};
use gyrase_fastx::Output;
use gyrase_kmer::{BINS, Key, Kmer, with_words};
use gyrase_table::gyk::{Cutoffs, Database, Header};
use gyrase_tabulate::{Cut, EachBatch, Partition, State, Supply, TabulateError, scatter};
use gyrase_work::{Progress, in_parallel};

use super::error::{ExchangeError, Result};
use super::scatter::{Counted, Shares, for_each, record_bytes, send, sort_and_sum, spill_folder};
use super::sink::{Plan, Sink};
use super::{kff, kmc};
use crate::dump;

/// Bases by which k-mers are parted: as many partitions as there are bins.
const BASES: usize = 6;

/// What other programs read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A pair `.kmc_pre` and `.kmc_suf` of KMC, sorted.
    Kmc,
    /// KFF 1.0, sorted.
    Kff,
    /// A text, sorted, as [`dump`] writes it.
    Text(dump::Style),
}

/// What to export, and how.
#[derive(Clone, Debug)]
pub struct ExportConfig {
    /// The `.gyk` file.
    pub input: PathBuf,
    /// The file that will appear; for KMC the name of the pair, with or without an ending; for a
    /// text `-` is the standard output, and an ending says how it is compressed.
    pub output: PathBuf,
    /// What to write.
    pub format: Format,
    /// Which counts are kept.
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

/// What an export did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// K-mers of the database.
    pub read: u64,
    /// K-mers written.
    pub written: u64,
}

/// Writes a database in a format of other programs, in the order of the letters.
///
/// # Errors
/// When the database cannot be read, when the output or the temporary files cannot be written, when
/// the memory is too small, or when `progress` is cancelled.
pub fn export(config: &ExportConfig, progress: &Progress) -> Result<Exported> {
    let database = Database::open(&config.input)?;
    let shares = Shares::of(config.memory, config.threads)?;
    let (path, plan) = (&config.output, plan_of(database.header(), config.cutoffs));
    let sink = match config.format {
        Format::Kmc => Sink::Kmc(kmc::Writer::create(path, plan, shares.prefixes)?),
        Format::Kff => Sink::Kff(kff::Writer::create(path, plan)?),
        Format::Text(style) => return export_text(config, style, progress),
    };
    with_words!(database.shape(), W => export_words::<W>(&database, config, shares, sink, progress))
}

/// How a text is listed.
pub(super) fn listing(config: &ExportConfig, style: dump::Style) -> dump::Config {
    dump::Config {
        database: config.input.clone(),
        style,
        cutoffs: config.cutoffs,
        sorted_within: Some(config.memory),
        threads: config.threads,
    }
}

fn export_text(config: &ExportConfig, style: dump::Style, progress: &Progress) -> Result<Exported> {
    let listing = listing(config, style);
    let mut output = Output::open(&config.output)?;
    let listed = dump::run(&listing, &mut output, progress)?;
    output.finish()?;
    Ok(Exported {
        read: listed.distinct,
        written: listed.listed,
    })
}

fn export_words<const W: usize>(
    database: &Database,
    config: &ExportConfig,
    shares: Shares,
    mut sink: Sink,
    progress: &Progress,
) -> Result<Exported> {
    let folder = spill_folder(&config.tmp, &config.output, config.max_tmp);
    let parts = Parts {
        k: database.shape().k(),
    };
    let fabric = LocalFabric::new(parts.count(), shares.fabric, folder.into());
    progress.start("read", BINS as u64);
    let to_parts = |_| ToParts::<W> {
        database,
        cutoffs: config.cutoffs,
        parts,
    };
    let cuts = (0..shares.threads).map(to_parts).collect();
    let (partitions, _) = scatter(&Bins(AtomicUsize::new(0)), cuts, fabric, progress)?;
    progress.start("write", parts.count() as u64);
    let sizes: Vec<u64> = (0..parts.count())
        .map(|partition| partitions.bytes(partition))
        .collect();
    for group in groups(&sizes, shares.sort) {
        if sizes[group.clone()].iter().sum::<u64>() <= shares.sort {
            write::<W>(
                &partitions,
                &sizes,
                group.clone(),
                shares.threads,
                &mut sink,
            )?;
        } else {
            let partition = Partition::new(&partitions, group.start);
            write_in_passes::<W>(&partition, parts, shares.sort, &mut sink)?;
        }
        progress.advance(group.len() as u64);
        if progress.is_cancelled() {
            return Err(ExchangeError::Cancelled);
        }
    }
    Ok(Exported {
        read: database.header().distinct,
        written: sink.finish()?,
    })
}

pub(super) fn plan_of(header: &Header, cutoffs: Cutoffs) -> Plan {
    let limits = (
        header.cutoffs.min.max(cutoffs.min),
        header.cutoffs.max.min(cutoffs.max),
    );
    Plan {
        k: header.shape.k(),
        stranded: header.shape.stranded(),
        most_kmers: header.distinct,
        largest_count: header.largest.min(limits.1),
        limits,
    }
}

/// Partitions of k-mers of that length.
pub(super) fn parts_of(k: usize) -> usize {
    Parts { k }.count()
}

/// Partitions by the first bases, or by the bases after those.
#[derive(Clone, Copy, Debug)]
struct Parts {
    k: usize,
}

impl Parts {
    fn count(self) -> usize {
        1 << (2 * self.k.min(BASES))
    }

    fn of<const W: usize>(self, kmer: Kmer<W>) -> usize {
        self.digits(kmer, 0)
    }

    /// The value of the [`BASES`] bases (or fewer, where the k-mer ends) from `start` on.
    fn digits<const W: usize>(self, kmer: Kmer<W>, start: usize) -> usize {
        let bases = start..(start + BASES).min(self.k);
        bases.fold(0, |value, i| {
            value << 2 | usize::from(kmer.base(self.k - 1 - i))
        })
    }
}

/// The bins of a database, each taken by one worker.
struct Bins(AtomicUsize);

impl Supply<ExchangeError> for Bins {
    type Batch = usize;

    fn give(&self, state: &State, each: EachBatch<usize, ExchangeError>) -> Result<()> {
        while state.goes_on().map_err(TabulateError::from)? {
            let number = self.0.fetch_add(1, Relaxed);
            if number >= BINS {
                break;
            }
            each(&number)?;
            state.progress().advance(1);
        }
        Ok(())
    }
}

/// Sends the k-mers of a bin to the partitions of their first bases.
struct ToParts<'d, const W: usize> {
    database: &'d Database,
    cutoffs: Cutoffs,
    parts: Parts,
}

impl<const W: usize> Cut<usize, ExchangeError> for ToParts<'_, W> {
    fn cut(&mut self, number: &usize, sender: &mut impl Sender) -> Result<()> {
        let bin = self.database.sound_bin(*number)?;
        for (&row, count) in bin.rows::<W>().iter().zip(bin.counts()) {
            if self.cutoffs.keep(count) {
                let kmer = Kmer::from(Key(row));
                if kmer != kmer.masked(self.parts.k) {
                    let what =
                        format!("bin {number} has a key of more than {} bases", self.parts.k);
                    return Err(self.database.corrupt(what).into());
                }
                send(sender, self.parts.of(kmer), (kmer.0, count))?;
            }
        }
        Ok(())
    }
}

/// Sorts a group of partitions, a part of it on each thread, and writes them in order.
fn write<const W: usize>(
    partitions: &impl Drain,
    sizes: &[u64],
    group: Range<usize>,
    threads: usize,
    sink: &mut Sink,
) -> Result<()> {
    let sizes = &sizes[group.clone()];
    let share = sizes.iter().sum::<u64>().div_ceil(threads as u64);
    let sort = |part: Range<usize>| -> Result<Vec<Counted<W>>> {
        let bytes: u64 = sizes[part.clone()].iter().sum();
        let mut entries = Vec::with_capacity(bytes as usize / record_bytes(W));
        for partition in part {
            let partition = Partition::new(partitions, group.start + partition);
            for_each::<W>(&partition, |counted| entries.push(counted))?;
        }
        sort_and_sum(&mut entries);
        Ok(entries)
    };
    let sorted = in_parallel(groups(sizes, share), sort)?;
    sorted
        .into_iter()
        .try_for_each(|entries| add(&entries, sink))
}

fn add<const W: usize>(entries: &[Counted<W>], sink: &mut Sink) -> Result<()> {
    entries
        .iter()
        .try_for_each(|&(words, count)| sink.add(Kmer(words), count))
}

/// Puts a partition in order that may not be held as a whole: drains it again and again, each time
/// for as many of the values of the next bases as the budget allows.
fn write_in_passes<const W: usize>(
    partition: &Partition,
    parts: Parts,
    budget: u64,
    sink: &mut Sink,
) -> Result<()> {
    let digits = |words| parts.digits(Kmer::<W>(words), BASES);
    let mut sizes = vec![0u64; 1 << (2 * BASES)];
    for_each::<W>(partition, |(words, _)| {
        sizes[digits(words)] += record_bytes(W) as u64
    })?;
    let mut entries = Vec::new();
    for range in groups(&sizes, budget) {
        entries.clear();
        for_each::<W>(partition, |counted| {
            if range.contains(&digits(counted.0)) {
                entries.push(counted);
            }
        })?;
        sort_and_sum(&mut entries);
        add(&entries, sink)?;
    }
    Ok(())
}

/// Cuts what has these sizes into ranges: each of at most `budget` together, or of one that is
/// larger.
fn groups(sizes: &[u64], budget: u64) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut room = 0;
    for (value, &size) in sizes.iter().enumerate().filter(|&(_, &size)| size > 0) {
        match ranges.last_mut().filter(|_| size <= room) {
            Some(range) => range.end = value + 1,
            None => {
                ranges.push(value..value + 1);
                room = budget;
            }
        }
        room = room.saturating_sub(size);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_in_the_order_of_the_letters() {
        let parts = |k, letters: &[u8]| Parts { k }.of(Kmer::<2>::from_letters(letters).unwrap());
        assert_eq!(parts(3, b"CGT"), 0b01_10_11);
        assert_eq!(parts(8, b"ACGTACGG"), 0b00_01_10_11_00_01);
        let kmer = Kmer::<2>::from_letters(b"ACGTACGG").unwrap();
        assert_eq!(Parts { k: 8 }.digits(kmer, BASES), 0b10_10);
        assert_eq!(
            (Parts { k: 2 }.count(), Parts { k: 127 }.count()),
            (16, 4096)
        );
    }

    #[test]
    fn groups_keep_to_the_budget() {
        assert_eq!(
            groups(&[0, 3, 3, 0, 3, 9, 1, 0], 6),
            [1..3, 4..5, 5..6, 6..7]
        );
        assert_eq!(groups(&[1, 1, 1, 98], 100), [0..3, 3..4]);
        assert_eq!(groups(&[0, 0], 100), []);
    }
}
