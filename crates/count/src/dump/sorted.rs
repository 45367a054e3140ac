//! A dump in the order of the letters within bounded memory.
//!
//! The k-mers are cut into ranges that each fit a thread's share of the memory. A thread reads the
//! whole database for its range, sorts what it finds and passes it on when the ranges before are
//! out. So the database is read once a range and nothing is written to temporary files.

use std::io::Write;
use std::mem::size_of;
use std::sync::Mutex;

use gyrase_kmer::BINS;
use gyrase_table::gyk::Database;
use gyrase_work::Progress;

use super::config::Config;
use super::letters::{Line, kmers, left_aligned, right_aligned};
use crate::bins::share_out;
use crate::ops::OperationError;
use crate::ordered::write_ordered;

const HELD: &str = "no thread panics while it holds the rows";
/// Bits of a digit of a k-mer: ranges are made of whole digits.
const DIGIT_BITS: u32 = 16;
/// Ranges a thread should have, so that threads end at about the same time.
const RANGES_PER_THREAD: u64 = 4;
/// k-mers below which a range is not worth a pass of its own.
const SMALL: u64 = 1 << 16;
/// Numbers that tell how many k-mers have which digit, as k-mers that take as much.
pub(super) const COUNTED: u64 = 1 << 16;

/// First and last k-mer, left-aligned, and how many the database has between them.
#[derive(Clone, Copy, Debug)]
struct Range<const W: usize> {
    first: [u64; W],
    last: [u64; W],
    kmers: u64,
}

/// A k-mer and its count.
pub(super) type Counted<const W: usize> = ([u64; W], u32);

/// K-mers that a thread sorts at a time, where their digits allow.
pub(super) fn most_rows<const W: usize>(distinct: u64, memory: u64, threads: u64) -> u64 {
    let share = memory / (threads * size_of::<Counted<W>>() as u64);
    let even = distinct / (threads * RANGES_PER_THREAD);
    share.min(even.max(SMALL)).max(1)
}

pub(super) fn run<const W: usize>(
    config: &Config,
    database: &Database,
    memory: u64,
    sink: &mut dyn Write,
    progress: &Progress,
) -> Result<u64, OperationError> {
    let k = database.shape().k();
    let threads = config.threads.max(1) as u64;
    let limit = most_rows::<W>(database.header().distinct, memory, threads);
    progress.start("plan", BINS as u64);
    let mut ranges = Vec::new();
    Planner {
        config,
        database,
        limit,
        progress,
    }
    .split::<W>([0; W], 0, &mut ranges)?;
    progress.start("dump", ranges.len() as u64);
    let line = Line::<W>::new(k, config.style);
    // Rows are used again: what is freed is not always given back.
    let most = ranges.iter().map(|range| range.kmers).max().unwrap_or(0);
    let spare = Mutex::<Vec<Vec<Counted<W>>>>::default();
    write_ordered(config.threads, ranges.len(), progress, sink, |task, out| {
        let range = &ranges[task];
        let used = spare.lock().expect(HELD).pop();
        let mut rows = used.unwrap_or_else(|| Vec::with_capacity(most as usize));
        for bin in 0..BINS {
            let all = kmers::<W>(database, bin, config.cutoffs)?
                .map(|(kmer, count)| (left_aligned(kmer, k), count));
            rows.extend(all.filter(|(kmer, _)| (&range.first..=&range.last).contains(&kmer)));
        }
        rows.sort_unstable_by_key(|row| row.0);
        for &(kmer, count) in &rows {
            line.append(&mut out.text, right_aligned(kmer, k), count);
            out.pass()?;
        }
        let listed = rows.len() as u64;
        rows.clear();
        spare.lock().expect(HELD).push(rows);
        Ok(listed)
    })
}

/// Cuts the k-mers into ranges.
struct Planner<'a> {
    config: &'a Config,
    database: &'a Database,
    /// k-mers that a range may have, where its digits allow.
    limit: u64,
    progress: &'a Progress,
}

impl Planner<'_> {
    /// Appends the ranges of the k-mers that share the first `depth` digits with `prefix`.
    fn split<const W: usize>(
        &self,
        prefix: [u64; W],
        depth: usize,
        ranges: &mut Vec<Range<W>>,
    ) -> Result<(), OperationError> {
        let mut open: Option<Range<W>> = None;
        for (digit, &kmers) in self
            .count_digits(&prefix, depth)?
            .iter()
            .enumerate()
            .filter(|&(_, &kmers)| kmers > 0)
        {
            let first = with_digit(prefix, depth, digit);
            let fits = open.is_some_and(|range| range.kmers + kmers <= self.limit);
            if !fits {
                ranges.extend(open.take());
            }
            if kmers > self.limit && depth + 1 < digits::<W>() {
                self.split(first, depth + 1, ranges)?;
                continue;
            }
            let range = open.get_or_insert(Range {
                first,
                last: first,
                kmers: 0,
            });
            range.last = fill_after(first, depth);
            range.kmers += kmers;
        }
        ranges.extend(open);
        Ok(())
    }

    /// How many k-mers that share the first `depth` digits with `prefix` have which digit there.
    fn count_digits<const W: usize>(
        &self,
        prefix: &[u64; W],
        depth: usize,
    ) -> Result<Vec<u64>, OperationError> {
        let k = self.database.shape().k();
        let last = if depth == 0 {
            [u64::MAX; W]
        } else {
            fill_after(*prefix, depth - 1)
        };
        let work = |counts: &mut Vec<u64>, bin| {
            for (kmer, _) in kmers::<W>(self.database, bin, self.config.cutoffs)? {
                let kmer = left_aligned(kmer, k);
                if (prefix..=&last).contains(&&kmer) {
                    counts[digit(&kmer, depth)] += 1;
                }
            }
            Ok::<_, OperationError>(())
        };
        let start = || vec![0u64; 1 << DIGIT_BITS];
        let lanes = share_out(self.config.threads, BINS, self.progress, start, work, || {})?;
        Ok((0..1 << DIGIT_BITS)
            .map(|digit| lanes.iter().map(|lane| lane[digit]).sum())
            .collect())
    }
}

/// Digits of a k-mer of `W` words.
const fn digits<const W: usize>() -> usize {
    W * (u64::BITS / DIGIT_BITS) as usize
}

fn digit_shift(depth: usize) -> u32 {
    u64::BITS - DIGIT_BITS - DIGIT_BITS * (depth % 4) as u32
}

fn digit<const W: usize>(kmer: &[u64; W], depth: usize) -> usize {
    (kmer[depth / 4] >> digit_shift(depth)) as usize & ((1 << DIGIT_BITS) - 1)
}

fn with_digit<const W: usize>(mut prefix: [u64; W], depth: usize, digit: usize) -> [u64; W] {
    prefix[depth / 4] |= (digit as u64) << digit_shift(depth);
    prefix
}

/// The last of the k-mers that share the digits up to and with `depth`.
fn fill_after<const W: usize>(mut prefix: [u64; W], depth: usize) -> [u64; W] {
    prefix[depth / 4] |= (1 << digit_shift(depth)) - 1;
    prefix[depth / 4 + 1..].fill(u64::MAX);
    prefix
}
