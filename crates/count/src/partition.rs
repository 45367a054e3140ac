//! Counting one partition: the worker.

use gyrase_fabric::{Drain, FabricError};
use gyrase_kmer::{Key, Shape, SuperKmer};
use gyrase_table::gyk::Writer;
use gyrase_table::{Bloom, Cardinality, CountTable, TableKey};
use gyrase_tabulate::{Partition, Worker};

use crate::Error;

/// Counts the k-mers of partitions and hands the sorted bins to a [`Writer`].
///
/// Reads of deep, accurate data repeat whole super-k-mers. They are counted first, and each distinct one is expanded once, with
/// its count as weight; where a sample shows few repeats (genomes) all are expanded as they come. The keys go into a table
/// of the size that HyperLogLog estimates, small enough to stay in the cache, and leave it sorted.
pub(crate) struct Counter<'w, const W: usize> {
    shape: Shape,
    counted: std::ops::RangeInclusive<u32>,
    /// Bytes that the tables of this worker may take.
    memory: usize,
    writer: &'w Writer,
    logged: &'w (dyn Fn() -> Result<(), Error> + Sync),
    /// Distinct super-k-mers over all, in the last bin where it was measured.
    distinct_share: f64,
    repeats: CountTable<SuperKmer<W>>,
    keys: Vec<Key<W>>,
    runs: Vec<Run>,
    table: CountTable<Key<W>>,
    bloom: Bloom,
    cardinality: Cardinality,
    sorted_keys: Vec<[u64; W]>,
    sorted_counts: Vec<u32>,
}

/// Keys of one super-k-mer: how many, and how often it came.
#[derive(Clone, Copy)]
struct Run {
    keys: u32,
    weight: u32,
}

impl<'w, const W: usize> Counter<'w, W> {
    pub(crate) fn new(
        shape: Shape,
        counted: std::ops::RangeInclusive<u32>,
        memory: usize,
        writer: &'w Writer,
        logged: &'w (dyn Fn() -> Result<(), Error> + Sync),
    ) -> Counter<'w, W> {
        Counter {
            shape,
            counted,
            memory,
            writer,
            logged,
            distinct_share: 0.0,
            repeats: CountTable::default(),
            keys: Vec::new(),
            runs: Vec::new(),
            table: CountTable::default(),
            bloom: Bloom::default(),
            cardinality: Cardinality::default(),
            sorted_keys: Vec::new(),
            sorted_counts: Vec::new(),
        }
    }
}

/// With fewer distinct super-k-mers than this share of all, counting them first pays.
const FEW_REPEATS: f64 = 0.85;
/// Every so many bins the share is measured again.
const REMEASURE: usize = 32;
/// Bytes of a table that a core's own cache holds: below, keeping single k-mers out costs more than it saves.
const CACHE: usize = 1 << 20;
/// Fewer keys than this are not worth an estimate.
const SMALL: usize = 2048;

impl<D: Drain, const W: usize> Worker<D, W> for Counter<'_, W> {
    type Error = Error;

    fn reduce(&mut self, partition: &Partition<D, W>) -> Result<(), Error> {
        self.sorted_keys.clear();
        self.sorted_counts.clear();
        // A byte holds four bases, and so begins four k-mers at the most.
        let most_keys = 4 * partition.bytes() as usize;
        if most_keys * size_of::<Key<W>>() <= self.memory / 2 {
            self.count_at_once(partition)?;
        } else {
            self.count_in_passes(partition)?;
        }
        self.writer.write_bin(partition.number(), self.sorted_keys.as_flattened(), &self.sorted_counts)?;
        (self.logged)()
    }

    fn abandon(&self) {
        self.writer.abandon();
    }
}

impl<const W: usize> Counter<'_, W> {
    fn count_at_once<D: Drain>(&mut self, partition: &Partition<D, W>) -> Result<(), FabricError> {
        let (mut keys, mut runs) = (std::mem::take(&mut self.keys), std::mem::take(&mut self.runs));
        keys.clear();
        runs.clear();
        let shape = self.shape;
        self.for_each_distinct(partition, |super_kmer, weight| {
            super_kmer.for_each_key(shape, |key| keys.push(key));
            runs.push(Run { keys: super_kmer.kmers() as u32, weight });
        })?;
        (self.keys, self.runs) = (keys, runs);
        let distinct = self.estimate_distinct();
        let crowded = CountTable::<Key<W>>::bytes_for(distinct) > CACHE;
        if crowded && *self.counted.start() >= 2 && self.total_weight() < u64::from(u32::MAX) {
            self.count_repeated(distinct);
        } else {
            self.count_all(distinct);
        }
        Ok(())
    }

    /// Calls `each` with every super-k-mer and its weight: how often it came, where that is worth knowing.
    fn for_each_distinct<D: Drain>(
        &mut self,
        partition: &Partition<D, W>,
        mut each: impl FnMut(SuperKmer<W>, u32),
    ) -> Result<(), FabricError> {
        if self.distinct_share > FEW_REPEATS && !partition.number().is_multiple_of(REMEASURE) {
            return partition.for_each(each);
        }
        let records = partition.bytes() as usize / SuperKmer::<W>::stored_bytes(1, self.shape);
        let most = self.memory / 4 / CountTable::<SuperKmer<W>>::bytes_for(1024) * 1024;
        self.repeats.clear(((records as f64 * self.distinct_share) as usize).min(most), 0);
        let (repeats, mut came, mut distinct) = (&mut self.repeats, 0u64, 0usize);
        partition.for_each(|super_kmer, weight| {
            came += 1;
            repeats.add(super_kmer, weight);
            if repeats.len() >= most {
                distinct += repeats.len();
                repeats.iter().for_each(|(super_kmer, weight)| each(super_kmer, weight));
                repeats.clear(most, 0);
            }
        })?;
        distinct += repeats.len();
        repeats.iter().for_each(|(super_kmer, weight)| each(super_kmer, weight));
        if came > 0 {
            self.distinct_share = distinct as f64 / came as f64;
        }
        Ok(())
    }

    fn total_weight(&self) -> u64 {
        self.runs.iter().map(|run| u64::from(run.keys) * u64::from(run.weight)).sum()
    }

    fn estimate_distinct(&mut self) -> usize {
        if self.keys.len() <= SMALL {
            return self.keys.len();
        }
        self.cardinality.clear();
        self.keys.iter().for_each(|key| self.cardinality.see(key.place()));
        self.cardinality.estimate().min(self.keys.len())
    }

    fn count_all(&mut self, distinct: usize) {
        self.table.clear(distinct, 0);
        for_each_weighted(&self.keys, &self.runs, |key, weight| {
            self.table.add(key, weight);
            self.table.relieve();
        });
        self.table.append_sorted(0, self.counted.clone(), &mut self.sorted_keys, &mut self.sorted_counts);
    }

    /// Keeps k-mers that come once out of the table: the first pass notes every key in a Bloom filter and makes room in
    /// the table for those that the filter has seen before; the second counts just these, from nothing. A false positive is a key
    /// of count 1 in the table, which is then dropped like any other count below the least wanted (2 or more).
    fn count_repeated(&mut self, distinct: usize) {
        self.bloom.clear(distinct);
        self.table.clear(distinct / 4, 0);
        for_each_weighted(&self.keys, &self.runs, |key, weight| {
            if self.bloom.note(key.place()) || weight > 1 {
                self.table.make_present(key);
                self.table.relieve();
            }
        });
        for_each_weighted(&self.keys, &self.runs, |key, weight| self.table.add_to_present(key, weight));
        self.table.append_sorted(1, self.counted.clone(), &mut self.sorted_keys, &mut self.sorted_counts);
    }

    /// Counts a partition whose table would not fit, in passes over ranges of keys: the ranges come out in order.
    fn count_in_passes<D: Drain>(&mut self, partition: &Partition<D, W>) -> Result<(), FabricError> {
        let shape = self.shape;
        let mut cardinality = Cardinality::default();
        self.for_each_distinct(partition, |super_kmer, _| {
            super_kmer.for_each_key(shape, |key| cardinality.see(key.place()));
        })?;
        let distinct = cardinality.estimate();
        let passes =
            (CountTable::<Key<W>>::bytes_for(distinct + distinct / 8) * 4 / self.memory.max(1) + 1).next_power_of_two();
        let bits = passes.trailing_zeros();
        for pass in 0..passes as u64 {
            let mut table = std::mem::take(&mut self.table);
            table.clear(distinct / passes, bits);
            self.for_each_distinct(partition, |super_kmer, weight| {
                super_kmer.for_each_key(shape, |key| {
                    if key.place().checked_shr(64 - bits).unwrap_or(0) == pass {
                        table.add(key, weight);
                    }
                });
                table.relieve();
            })?;
            table.append_sorted(0, self.counted.clone(), &mut self.sorted_keys, &mut self.sorted_counts);
            self.table = table;
        }
        Ok(())
    }
}

#[inline(always)]
fn for_each_weighted<const W: usize>(keys: &[Key<W>], runs: &[Run], mut each: impl FnMut(Key<W>, u32)) {
    let mut keys = keys;
    for run in runs {
        let (these, rest) = keys.split_at(run.keys as usize);
        these.iter().for_each(|&key| each(key, run.weight));
        keys = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gyrase_table::gyk::Cutoffs;

    #[test]
    fn keeping_single_kmers_out_changes_no_count() {
        let folder = std::env::temp_dir().join(format!("gyrase-partition-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let shape = Shape::new(31, false).unwrap();
        let writer = Writer::create(&folder.join("x.gyk"), shape, Cutoffs { min: 2, max: 9 }).unwrap();
        let logged = || Ok(());
        let mut counter = Counter::<1>::new(shape, 2..=9, 1 << 20, &writer, &logged);
        for distinct in [1, 10, 1000, 60_000] {
            counter.keys = (0..100_000u64).map(|i| Key([gyrase_kmer::mix(gyrase_kmer::mix(i) % distinct)])).collect();
            counter.runs = (0..10_000).map(|i| Run { keys: 10, weight: 1 + (i % 7 == 0) as u32 }).collect();
            let mut answers = Vec::new();
            for count in [Counter::count_all, Counter::count_repeated] {
                counter.sorted_keys.clear();
                counter.sorted_counts.clear();
                count(&mut counter, distinct as usize);
                answers.push((counter.sorted_keys.clone(), counter.sorted_counts.clone()));
            }
            assert_eq!(answers[0], answers[1], "{distinct} distinct");
            assert!(distinct < 60_000 || !answers[0].0.is_empty());
        }
        drop(counter);
        drop(writer);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
