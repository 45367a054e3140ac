//! How many k-mers have which count.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use gyrase_kmer::BINS;
use gyrase_table::gyk::{Cutoffs, Database};
use gyrase_work::Progress;

use crate::bins::share_out;
use crate::ops::OperationError;

/// The full histogram: every count that some k-mer has and how many have it. Nothing is cut off or
/// pooled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    rows: BTreeMap<u32, u64>,
}

/// How a histogram is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As GenomeScope and Smudgeplot read it: `count SPACE k-mers`, ascending, no zeros, no end.
    GenomeScope,
    /// As `kmc_tools transform .. histogram -ci -cx`: `count TAB k-mers` for every count within the
    /// range, zeros included; what is outside is dropped.
    Kmc(Cutoffs),
    /// As `jellyfish histo -l -h`: `count SPACE k-mers`; counts below `low` are pooled in the row
    /// `low - 1`, those above `high` in the row `high + 1`.
    Jellyfish {
        /// Smallest count with a row of its own; 1 pools nothing.
        low: u32,
        /// Largest count with a row of its own; `u32::MAX` pools nothing.
        high: u32,
        /// Every row, zeros too, as with `-f`.
        full: bool,
    },
}

/// Reads the histogram of a database.
pub fn run(
    database: &Path,
    threads: usize,
    progress: &Progress,
) -> Result<Histogram, OperationError> {
    Histogram::of(&Database::open(database)?, threads, progress)
}

/// What one thread has seen: counts below the overflow by their value, the others by search.
pub(crate) struct Lane {
    small: [u64; 256],
    large: BTreeMap<u32, u64>,
}

impl Default for Lane {
    fn default() -> Lane {
        Lane {
            small: [0; 256],
            large: BTreeMap::new(),
        }
    }
}

impl Lane {
    fn add(&mut self, database: &Database, bin: usize) -> Result<(), OperationError> {
        let view = database.sound_bin(bin)?;
        for &count in view.small_counts() {
            self.small[usize::from(count)] += 1;
        }
        for &[_, count] in view.overflow() {
            *self.large.entry(count).or_default() += 1;
        }
        Ok(())
    }

    /// Notes one more k-mer of that count.
    pub(crate) fn count(&mut self, count: u32) {
        match self.small[..SMALL].get_mut(count as usize) {
            Some(kmers) => *kmers += 1,
            None => *self.large.entry(count).or_default() += 1,
        }
    }
}

/// Counts below this are found by their value; in a database it points to larger ones.
const SMALL: usize = 255;

impl Histogram {
    /// What all threads have seen.
    pub(crate) fn of_lanes(lanes: impl IntoIterator<Item = Lane>) -> Histogram {
        let mut histogram = Histogram::default();
        for lane in lanes {
            for (count, &kmers) in lane.small[..SMALL].iter().enumerate() {
                histogram.add(count as u32, kmers);
            }
            let large = lane.large.into_iter();
            large.for_each(|(count, kmers)| histogram.add(count, kmers));
        }
        histogram
    }

    /// The histogram of a database.
    pub fn of(
        database: &Database,
        threads: usize,
        progress: &Progress,
    ) -> Result<Histogram, OperationError> {
        progress.start("histogram", BINS as u64);
        let work = |lane: &mut Lane, bin| lane.add(database, bin);
        let lanes = share_out(threads, BINS, progress, Lane::default, work, || {})?;
        Ok(Histogram::of_lanes(lanes))
    }

    /// Notes `kmers` more k-mers of that count.
    pub fn add(&mut self, count: u32, kmers: u64) {
        if kmers > 0 {
            *self.rows.entry(count).or_default() += kmers;
        }
    }

    /// (count, k-mers that have it), ascending by count, no zeros.
    pub fn rows(&self) -> impl Iterator<Item = (u32, u64)> {
        self.rows.iter().map(|(&count, &kmers)| (count, kmers))
    }

    /// How many k-mers have `count`.
    pub fn kmers(&self, count: u32) -> u64 {
        self.rows.get(&count).copied().unwrap_or(0)
    }

    /// k-mers, each once.
    pub fn distinct(&self) -> u64 {
        self.rows.values().sum()
    }

    /// Sum of the counts of all k-mers.
    pub fn total(&self) -> u64 {
        self.rows().fold(0, |sum, (count, kmers)| {
            sum.saturating_add(u64::from(count).saturating_mul(kmers))
        })
    }

    /// The largest count, 0 without k-mers.
    pub fn largest(&self) -> u32 {
        self.rows.last_key_value().map_or(0, |(&count, _)| count)
    }

    /// Writes the histogram as text.
    pub fn write(&self, style: Style, out: &mut dyn Write) -> io::Result<()> {
        match style {
            Style::GenomeScope => write_rows(self.rows(), ' ', out),
            Style::Kmc(range) => write_rows(
                (range.min..=range.max).map(|count| (count, self.kmers(count))),
                '\t',
                out,
            ),
            Style::Jellyfish { low, high, full } => {
                let first = low.saturating_sub(1).max(1);
                let last = high.saturating_add(1).max(first);
                let pooled: Histogram = self
                    .rows()
                    .map(|(count, kmers)| (count.clamp(first, last), kmers))
                    .collect();
                match full {
                    true => write_rows(
                        (first..=last).map(|count| (count, pooled.kmers(count))),
                        ' ',
                        out,
                    ),
                    false => write_rows(pooled.rows(), ' ', out),
                }
            }
        }
    }
}

impl FromIterator<(u32, u64)> for Histogram {
    fn from_iter<I: IntoIterator<Item = (u32, u64)>>(rows: I) -> Histogram {
        let mut histogram = Histogram::default();
        rows.into_iter()
            .for_each(|(count, kmers)| histogram.add(count, kmers));
        histogram
    }
}

fn write_rows(
    rows: impl Iterator<Item = (u32, u64)>,
    separator: char,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    for (count, kmers) in rows {
        writeln!(out, "{count}{separator}{kmers}")?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(style: Style) -> String {
        let histogram: Histogram = [(1, 10), (2, 4), (5, 3), (6, 0), (300, 2), (u32::MAX, 1)]
            .into_iter()
            .collect();
        assert_eq!((histogram.distinct(), histogram.largest()), (20, u32::MAX));
        assert_eq!(histogram.total(), 10 + 8 + 15 + 600 + u64::from(u32::MAX));
        let mut text = Vec::new();
        histogram.write(style, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn writes_each_style() {
        assert_eq!(
            written(Style::GenomeScope),
            "1 10\n2 4\n5 3\n300 2\n4294967295 1\n"
        );
        assert_eq!(
            written(Style::Kmc(Cutoffs { min: 2, max: 6 })),
            "2\t4\n3\t0\n4\t0\n5\t3\n6\t0\n"
        );
        let jellyfish = |low, high, full| written(Style::Jellyfish { low, high, full });
        assert_eq!(jellyfish(1, 5, false), "1 10\n2 4\n5 3\n6 3\n");
        assert_eq!(jellyfish(2, 5, true), "1 10\n2 4\n3 0\n4 0\n5 3\n6 3\n");
        assert_eq!(jellyfish(4, 5, true), "3 14\n4 0\n5 3\n6 3\n");
        assert_eq!(jellyfish(400, u32::MAX, false), "399 19\n4294967295 1\n");
        assert_eq!(jellyfish(1, u32::MAX, false), written(Style::GenomeScope));
    }

    #[test]
    fn nothing_is_valid_text() {
        let mut text = Vec::new();
        Histogram::default()
            .write(Style::GenomeScope, &mut text)
            .unwrap();
        assert!(text.is_empty());
    }
}
