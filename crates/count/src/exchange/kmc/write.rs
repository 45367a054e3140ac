//! Writes a KMC pair of version 0, which every program of KMC reads: one table of prefixes, k-mers
//! in the order of the letters.

use std::io::{BufWriter, Write};
use std::path::Path;

use gyrase_files::OutputFile;
use gyrase_kmer::Kmer;

use super::super::error::Result;
use super::super::sink::Plan;
use super::super::source::to_big_endian;
use super::{PREFIX_MARKER, SUFFIX_MARKER, pair};

/// Bytes of the fixed fields, the version included.
const FIELDS: u32 = 64;
/// The longest prefix that is written: its table takes 128 MiB.
const MAX_PREFIX: usize = 12;

/// Bases of the prefix that makes the pair smallest among those whose table takes at most `memory`
/// bytes (a prefix of at most four bases is always allowed).
fn best_prefix(plan: Plan, memory: u64) -> usize {
    let smallest = if plan.k.is_multiple_of(4) {
        4
    } else {
        plan.k % 4
    };
    let bytes = |&prefix: &usize| {
        let suffixes = plan
            .most_kmers
            .saturating_mul(((plan.k - prefix) / 4) as u64);
        suffixes.saturating_add(8 << (2 * prefix))
    };
    let fits = |&prefix: &usize| prefix <= 4 || 8 << (2 * prefix) <= memory;
    (smallest..=plan.k.min(MAX_PREFIX))
        .step_by(4)
        .filter(fits)
        .min_by_key(bytes)
        .unwrap_or(smallest)
}

/// Bytes of a k-mer, bytes beside all of them, and those of memory that wait until the end: the
/// table of prefixes, which takes at most `memory`.
pub(crate) fn sizes(plan: Plan, memory: u64) -> (u64, u64, u64) {
    let prefix = best_prefix(plan, memory);
    let each = (plan.k - prefix) / 4 + plan.counter_bytes();
    let table = 8 << (2 * prefix);
    let marks = 2 * (PREFIX_MARKER.len() + SUFFIX_MARKER.len());
    (
        each as u64,
        table + u64::from(FIELDS) + 4 + marks as u64,
        table,
    )
}

/// A pair under construction.
pub struct Writer {
    prefixes: OutputFile,
    suffixes: BufWriter<OutputFile>,
    plan: Plan,
    prefix: usize,
    /// K-mers of each prefix.
    table: Vec<u64>,
    kmers: u64,
}

impl Writer {
    /// Starts the pair that `path` names (see [`pair`]); the table of prefixes takes at most
    /// `memory` bytes.
    ///
    /// # Errors
    /// When a file cannot be made.
    pub fn create(path: &Path, plan: Plan, memory: u64) -> Result<Writer> {
        let (prefixes, suffixes) = pair(path);
        let prefix = best_prefix(plan, memory);
        let mut writer = Writer {
            prefixes: OutputFile::create(&prefixes)?,
            suffixes: BufWriter::with_capacity(1 << 20, OutputFile::create(&suffixes)?),
            plan,
            prefix,
            table: vec![0; 1 << (2 * prefix)],
            kmers: 0,
        };
        writer.append(SUFFIX_MARKER)?;
        Ok(writer)
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.suffixes.write_all(bytes);
        Ok(written.map_err(|source| self.suffixes.get_ref().error(source))?)
    }

    /// Adds the next k-mer in the order of the letters.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add<const W: usize>(&mut self, kmer: Kmer<W>, count: u32) -> Result<()> {
        let suffix_bytes = (self.plan.k - self.prefix) / 4;
        let bytes = to_big_endian(kmer);
        let (front, suffix) = bytes.split_at(32 - suffix_bytes);
        let before = front[front.len().saturating_sub(8)..]
            .iter()
            .fold(0, |value, &byte| value << 8 | usize::from(byte));
        self.table[before] += 1;
        self.kmers += 1;
        self.append(suffix)?;
        self.append(&count.to_le_bytes()[..self.plan.counter_bytes()])
    }

    /// Ends both files and gives them their names. Returns the number of k-mers.
    ///
    /// # Errors
    /// When a file cannot be written or named.
    pub fn finish(mut self) -> Result<u64> {
        self.append(SUFFIX_MARKER)?;
        let suffixes = self.suffixes.into_inner().map_err(|error| {
            let (source, writer) = error.into_parts();
            writer.get_ref().error(source)
        })?;
        let mut output = BufWriter::new(&mut self.prefixes);
        let written = write_prefixes(&mut output, &self.table, self.plan, self.prefix, self.kmers);
        drop(output);
        written.map_err(|source| self.prefixes.error(source))?;
        suffixes.commit()?;
        self.prefixes.commit()?;
        Ok(self.kmers)
    }
}

fn write_prefixes(
    output: &mut impl Write,
    table: &[u64],
    plan: Plan,
    prefix: usize,
    kmers: u64,
) -> std::io::Result<()> {
    output.write_all(PREFIX_MARKER)?;
    let mut start = 0u64;
    for kmers in table {
        output.write_all(&start.to_le_bytes())?;
        start += kmers;
    }
    let mut fields = Vec::with_capacity(FIELDS as usize);
    let mode = 0;
    let (min_count, max_count) = plan.limits;
    for field in [
        plan.k as u32,
        mode,
        plan.counter_bytes() as u32,
        prefix as u32,
        min_count,
        max_count,
    ] {
        fields.extend(field.to_le_bytes());
    }
    fields.extend(kmers.to_le_bytes());
    fields.push(u8::from(plan.stranded));
    // The upper half of the largest count, fields to come, and the version are all zero.
    fields.resize(FIELDS as usize, 0);
    output.write_all(&fields)?;
    output.write_all(&FIELDS.to_le_bytes())?;
    output.write_all(PREFIX_MARKER)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_leave_whole_bytes_and_fit_the_memory() {
        let best = |k, most_kmers, memory| {
            best_prefix(
                Plan {
                    k,
                    stranded: false,
                    most_kmers,
                    largest_count: 1,
                    limits: (1, 1),
                },
                memory,
            )
        };
        for k in 1..=127 {
            for kmers in [0, 1000, 1 << 40] {
                let prefix = best(k, kmers, 1 << 30);
                assert!(
                    (1..=MAX_PREFIX).contains(&prefix) && (k - prefix).is_multiple_of(4),
                    "k={k}"
                );
                assert!(best(k, kmers, 0) <= 4);
            }
        }
        assert_eq!(best(31, 1 << 40, 1 << 30), 11);
        assert_eq!(best(31, 100, 1 << 30), 3);
    }
}
