//! Counting one partition: the worker.

use gyrase_fabric::{FabricError, KeyRange, Partitioning};
use gyrase_kmer::{Kernels, Key, Shape, SuperKmer};
use gyrase_table::{Bloom, Cardinality, CountTable, TableKey};
use gyrase_tabulate::{Partition, Worker};

use crate::counted::{Counted, Destination};
use crate::super_kmers::BinPart;
use crate::{Error, passes};

pub(crate) use feeder::Feeder;

mod feeder;

/// Counts the k-mers of partitions and hands them, sorted, to a [`Destination`].
///
/// Reads of deep, accurate data repeat whole super-k-mers. They are counted first, and each
/// distinct one is expanded once, with its count as weight; where a sample shows few repeats
/// (genomes) all are expanded as they come. The keys go into a table of the size that HyperLogLog
/// estimates, small enough to stay in the cache, and leave it sorted.
pub(crate) struct Counter<'c, const W: usize> {
    shape: Shape,
    counted: std::ops::RangeInclusive<u32>,
    /// Bytes that the tables of this worker may take, and all that it holds beside them.
    memory: usize,
    /// Bytes that the tables may have kept from earlier bins.
    kept: usize,
    partitioning: &'c Partitioning,
    to: &'c dyn Destination,
    logged: &'c (dyn Fn() -> Result<(), Error> + Sync),
    /// Distinct super-k-mers over all, in the last bin where it was measured.
    distinct_share: f64,
    repeats: CountTable<SuperKmer<W>>,
    kernels: Kernels,
    /// The keys of the partition, and behind them room for those of one super-k-mer.
    keys: Vec<[u64; W]>,
    /// How often each came.
    weights: Vec<u32>,
    table: CountTable<Key<W>>,
    bloom: Bloom,
    cardinality: Cardinality,
    sorted_keys: Vec<[u64; W]>,
    sorted_counts: Vec<u32>,
}

impl<'c, const W: usize> Counter<'c, W> {
    pub(crate) fn new(
        shape: Shape,
        counted: std::ops::RangeInclusive<u32>,
        memory: usize,
        partitioning: &'c Partitioning,
        to: &'c dyn Destination,
        logged: &'c (dyn Fn() -> Result<(), Error> + Sync),
    ) -> Counter<'c, W> {
        Counter {
            shape,
            counted,
            memory,
            kept: 0,
            partitioning,
            to,
            logged,
            distinct_share: 0.0,
            repeats: CountTable::default(),
            kernels: Kernels::detect(),
            keys: Vec::new(),
            weights: Vec::new(),
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
/// Bytes of a table that a core's own cache holds: below, keeping single k-mers out costs more than
/// it saves.
const CACHE: usize = 1 << 20;
/// Fewer keys than this are not worth an estimate.
const SMALL: usize = 2048;

impl<const W: usize> Worker<Error> for Counter<'_, W> {
    fn divides(&self) -> bool {
        true
    }

    fn reduce(&mut self, partitions: &[Partition]) -> Result<(), Error> {
        partitions.iter().try_for_each(|partition| {
            self.count(&BinPart::new(partition, self.shape, self.partitioning))?;
            (self.logged)()
        })
    }

    fn abandon(&self) {
        self.to.abandon();
    }
}

/// What came of the attempt to count a partition at once.
enum AtOnce {
    /// The bin is there, sorted.
    Counted,
    /// It would take more than the memory.
    TooMany {
        /// About so many different k-mers.
        distinct: usize,
    },
}

/// What is held.
impl<const W: usize> Counter<'_, W> {
    /// Bytes that the keys of so many bytes of records take at the most.
    fn most_expanded(&self, bytes: usize) -> usize {
        let longest = SuperKmer::<W>::capacity(self.shape);
        let keys = (bytes * longest).div_ceil(SuperKmer::<W>::stored_bytes(longest, self.shape));
        // A buffer that grows is up to half empty.
        keys * 2 * (size_of::<Key<W>>() + size_of::<u32>())
    }

    /// Bytes of the keys that the partition was expanded to.
    fn expanded(&self) -> usize {
        self.weights.len() * (size_of::<Key<W>>() + size_of::<u32>())
    }

    /// Bytes to count so many different k-mers of those that were expanded, in so many tables, and
    /// to write them: the table, the rows that leave it, and their bytes in the file.
    fn to_count(&self, distinct: usize, tables: usize) -> usize {
        // What the sketch may have missed.
        let rows = distinct + distinct / 8;
        let row = 2 * size_of::<Key<W>>() + size_of::<u32>() + 1;
        tables * CountTable::<Key<W>>::bytes_for(rows) + rows * row
    }

    /// True when so many different k-mers of a part can be counted and written within the memory,
    /// with so many tables.
    fn fits(&self, bin: &BinPart<W>, distinct: usize, tables: usize) -> bool {
        // What comes of a part goes on taking memory until its bin is whole.
        let memory = match bin.is_whole() {
            true => self.memory,
            false => self.memory / 8 * 7,
        };
        let needed = self.repeats.bytes() + self.expanded() + self.to_count(distinct, tables);
        let left = memory.saturating_sub(needed) / 8;
        // Each large count takes eight bytes more. How many there can be takes a while to say, and
        // seldom matters.
        needed <= memory
            && (distinct + distinct / 8 <= left || self.total_weight() / 255 <= left as u64)
    }

    /// Gives back what earlier bins left if it would be too much together with so many bytes of
    /// keys and of tables to come.
    fn trim(&mut self, keys: usize, tables: usize) {
        let kept =
            self.keys.capacity() * size_of::<Key<W>>() + self.weights.capacity() * size_of::<u32>();
        if self.repeats.bytes() + kept.max(keys) + self.kept.max(tables) > self.memory {
            self.release_tables();
            self.keys.truncate(self.weights.len());
            self.keys.shrink_to_fit();
            self.weights.shrink_to_fit();
        }
        self.kept = self.kept.max(tables);
    }

    /// Gives back all but the repeats.
    fn release(&mut self) {
        (self.keys, self.weights) = (Vec::new(), Vec::new());
        self.release_tables();
    }

    /// Gives back all.
    fn release_all(&mut self) {
        self.release();
        self.repeats = CountTable::default();
    }

    fn release_tables(&mut self) {
        (self.table, self.bloom) = (CountTable::default(), Bloom::default());
        (self.sorted_keys, self.sorted_counts) = (Vec::new(), Vec::new());
        self.kept = 0;
    }
}

impl<const W: usize> Counter<'_, W> {
    fn count(&mut self, bin: &BinPart<W>) -> Result<(), Error> {
        self.sorted_keys.clear();
        self.sorted_counts.clear();
        self.weights.clear();
        // What is left is for repeats, which are looked for at the same time.
        let expanded = self.most_expanded(bin.bytes() as usize);
        if expanded > self.memory / 8 * 5 {
            let distinct = self.survey(bin)?;
            return self.count_in_passes(bin, distinct);
        }
        self.trim(expanded, 0);
        match self.count_at_once(bin)? {
            AtOnce::TooMany { distinct } => self.count_in_passes(bin, distinct),
            AtOnce::Counted => {
                let rows = Counted {
                    range: bin.keys,
                    keys: self.sorted_keys.as_flattened(),
                    counts: &self.sorted_counts,
                };
                match bin.is_whole() {
                    true => self.to.put_bin(bin.bin, rows),
                    false => self.to.put(bin.bin, rows),
                }
            }
        }
    }

    fn count_at_once(&mut self, bin: &BinPart<W>) -> Result<AtOnce, FabricError> {
        let (mut keys, mut weights) = (
            std::mem::take(&mut self.keys),
            std::mem::take(&mut self.weights),
        );
        weights.clear();
        let (shape, kernels) = (self.shape, self.kernels);
        let (whole, range) = (bin.is_whole(), bin.keys);
        self.for_each_distinct(bin, |super_kmer, weight| {
            let end = weights.len();
            if keys.len() < end + SuperKmer::<W>::MOST_KEYS {
                keys.resize(2 * (end + SuperKmer::<W>::MOST_KEYS), [0; W]);
            }
            let kmers = super_kmer.keys(shape, kernels, &mut keys[end..]);
            let wanted = match whole {
                true => kmers,
                false => keep_within(range, &mut keys[end..end + kmers]),
            };
            weights.resize(end + wanted, weight);
        })?;
        (self.keys, self.weights) = (keys, weights);
        let distinct = self.estimate_distinct();
        if !self.fits(bin, distinct, 1) {
            return Ok(AtOnce::TooMany { distinct });
        }
        self.trim(self.expanded(), self.to_count(distinct, 1));
        // A table that grows is there twice for a moment.
        let crowded =
            CountTable::<Key<W>>::bytes_for(distinct) > CACHE && self.fits(bin, distinct, 2);
        if crowded && *self.counted.start() >= 2 && self.total_weight() < u64::from(u32::MAX) {
            self.count_repeated(distinct, range);
        } else {
            self.count_all(distinct, range);
        }
        Ok(AtOnce::Counted)
    }

    /// Calls `each` with every super-k-mer and its weight: how often it came, where that is worth
    /// knowing.
    fn for_each_distinct(
        &mut self,
        bin: &BinPart<W>,
        mut each: impl FnMut(SuperKmer<W>, u32),
    ) -> Result<(), FabricError> {
        if self.distinct_share > FEW_REPEATS && !bin.number().is_multiple_of(REMEASURE) {
            return bin.for_each(each);
        }
        let records = bin.bytes() as usize / SuperKmer::<W>::stored_bytes(1, self.shape);
        let most = self.most_repeats();
        self.repeats.clear(
            ((records as f64 * self.distinct_share) as usize).min(most),
            KeyRange::ALL,
        );
        let (repeats, mut came, mut distinct) = (&mut self.repeats, 0usize, 0usize);
        bin.drain(|mut records| {
            while let added @ 1.. = repeats.add_all(records.by_ref().take(SMALL)) {
                came += added;
                if repeats.len() >= most {
                    distinct += repeats.len();
                    repeats.for_each(&mut each);
                    repeats.clear(most, KeyRange::ALL);
                }
            }
        })?;
        distinct += repeats.len();
        repeats.for_each(&mut each);
        if came > 0 {
            self.distinct_share = distinct as f64 / came as f64;
        }
        Ok(())
    }

    /// Different super-k-mers that are held at a time: a fifth of the memory, half of it while the
    /// table grows for the last time.
    fn most_repeats(&self) -> usize {
        self.memory / 5 / CountTable::<SuperKmer<W>>::bytes_for(1024) * 1024
    }

    fn total_weight(&self) -> u64 {
        self.weights.iter().map(|&weight| u64::from(weight)).sum()
    }

    fn estimate_distinct(&mut self) -> usize {
        let keys = &self.keys[..self.weights.len()];
        if keys.len() <= SMALL {
            return keys.len();
        }
        self.cardinality.clear();
        keys.iter()
            .for_each(|&key| self.cardinality.see(Key(key).place()));
        self.cardinality.estimate().min(keys.len())
    }

    fn count_all(&mut self, distinct: usize, range: KeyRange) {
        self.table.clear(distinct, range);
        self.table.add_all(weighted(&self.keys, &self.weights));
        self.table.append_sorted(
            0,
            self.counted.clone(),
            &mut self.sorted_keys,
            &mut self.sorted_counts,
        );
    }

    /// Keeps k-mers that come once out of the table: the first pass notes every key in a Bloom
    /// filter and makes room in the table for those that the filter has seen before; the second
    /// counts just these, from nothing. A false positive is a key of count 1 in the table, which is
    /// then dropped like any other count below the least wanted (2 or more).
    fn count_repeated(&mut self, distinct: usize, range: KeyRange) {
        self.bloom.clear(distinct);
        self.table.clear(distinct / 4, range);
        weighted(&self.keys, &self.weights).for_each(|(key, weight)| {
            if self.bloom.note(key.place()) || weight > 1 {
                self.table.make_present(key);
                self.table.relieve();
            }
        });
        weighted(&self.keys, &self.weights)
            .for_each(|(key, weight)| self.table.add_to_present(key, weight));
        self.table.append_sorted(
            1,
            self.counted.clone(),
            &mut self.sorted_keys,
            &mut self.sorted_counts,
        );
    }

    /// About how many different k-mers a partition has, one that is too large to be counted beside
    /// what is kept of others.
    fn survey(&mut self, bin: &BinPart<W>) -> Result<usize, FabricError> {
        self.release();
        let (shape, range) = (self.shape, bin.keys);
        let mut cardinality = Cardinality::default();
        self.for_each_distinct(bin, |super_kmer, _| {
            super_kmer.for_each_key(shape, |key| {
                if range.contains(key.place()) {
                    cardinality.see(key.place());
                }
            });
        })?;
        Ok(cardinality.estimate())
    }

    /// Counts a partition that would not fit, in passes over ranges of keys, and writes each: the
    /// ranges come out in order.
    fn count_in_passes(&mut self, bin: &BinPart<W>, distinct: usize) -> Result<(), Error> {
        self.release();
        let (shape, counted, eighth) = (self.shape, self.counted.clone(), self.memory / 8);
        let to = self.to;
        let put = |passed: Counted| to.put(bin.bin, passed);
        // The rest is for the bin that is put together, and for the repeats.
        passes::count(bin.keys, distinct, 3 * eighth, &counted, put, |pass| {
            let counted = self.for_each_distinct(bin, |super_kmer, weight| {
                super_kmer.for_each_key(shape, |key| pass.add(key, weight));
                pass.relieve();
            });
            Ok(counted?)
        })
    }
}

/// Moves the keys that are in a range to the front; how many they are.
#[inline]
fn keep_within<const W: usize>(range: KeyRange, keys: &mut [[u64; W]]) -> usize {
    let mut wanted = 0;
    for at in 0..keys.len() {
        keys[wanted] = keys[at];
        wanted += usize::from(range.contains(keys[at][0]));
    }
    wanted
}

#[inline(always)]
fn weighted<const W: usize>(
    keys: &[[u64; W]],
    weights: &[u32],
) -> impl Iterator<Item = (Key<W>, u32)> {
    keys.iter()
        .zip(weights)
        .map(|(&key, &weight)| (Key(key), weight))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::assembly::Assembly;
    use gyrase_fabric::{Alone, Fabric, LocalFabric, SpillFolder};
    use gyrase_kmer::BINS;
    use gyrase_table::gyk::{Cutoffs, Writer};
    use gyrase_tabulate::reduce;
    use gyrase_work::Progress;

    /// Calls `test` with a counter that has so many bytes of memory.
    fn with_counter(memory: usize, test: impl FnOnce(Counter<1>)) {
        let folder = tempfile::tempdir().unwrap();
        let shape = Shape::new(31, false).unwrap();
        let cutoffs = Cutoffs { min: 2, max: 9 };
        let writer = Writer::create(&folder.path().join("x.gyk"), shape, cutoffs).unwrap();
        let partitioning = Partitioning::of_bins(BINS);
        let spills = Arc::new(SpillFolder::default());
        let to = Assembly::new(&writer, &partitioning, &Alone, spills, memory / 8).unwrap();
        let logged = || Ok(());
        test(Counter::new(
            shape,
            2..=9,
            memory,
            &partitioning,
            &to,
            &logged,
        ));
    }

    /// Surveys partitions and asserts what is held then.
    struct Surveyor<'c>(Counter<'c, 1>);

    impl Worker<Error> for Surveyor<'_> {
        fn reduce(&mut self, partitions: &[Partition]) -> Result<(), Error> {
            assert_eq!(
                self.0.survey(&BinPart::new(
                    &partitions[0],
                    self.0.shape,
                    self.0.partitioning
                ))?,
                0
            );
            let Counter {
                keys,
                weights,
                table,
                sorted_keys,
                sorted_counts,
                ..
            } = &self.0;
            let kept = [keys.capacity(), weights.capacity(), table.bytes()];
            assert_eq!(
                kept, [0; 3],
                "what an earlier bin left is beside the repeats of this one"
            );
            assert_eq!([sorted_keys.capacity(), sorted_counts.capacity()], [0; 2]);
            Ok(())
        }

        fn abandon(&self) {}
    }

    #[test]
    fn a_survey_holds_nothing_of_earlier_bins() {
        with_counter(1 << 20, |mut counter| {
            counter.keys = vec![[7]; 1000];
            counter.weights = vec![1; 1000];
            counter.count_all(1000, KeyRange::ALL);
            let empty = LocalFabric::new(1, 0, Arc::default())
                .close(Vec::new())
                .unwrap();
            let mut surveyor = Surveyor(counter);
            reduce(&empty, 0, vec![&mut surveyor], &Progress::default()).unwrap();
        });
    }

    #[test]
    fn repeats_take_half_of_the_memory_even_while_their_table_grows() {
        with_counter(8 << 20, |counter| {
            let (most, mut peak) = (counter.most_repeats(), 0);
            for guess in (0..=most).step_by(most / 40) {
                let mut table = CountTable::<SuperKmer<1>>::default();
                table.clear(guess, KeyRange::ALL);
                // As many more as come between two looks at the number.
                for number in 0..(most + SMALL) as u128 {
                    let before = table.bytes();
                    table.add_all([(SuperKmer([number]), 1)]);
                    let grown = table.bytes() > before;
                    peak = peak.max(table.bytes() + if grown { before } else { 0 });
                }
            }
            assert!(peak <= counter.memory / 2, "{peak}");
        });
    }

    #[test]
    fn keeping_single_kmers_out_changes_no_count() {
        let key = |i| [gyrase_kmer::mix(i)];
        with_counter(1 << 20, |mut counter| {
            for distinct in [1, 10, 1000, 60_000] {
                let keys = (0..100_000u64).map(|i| key(gyrase_kmer::mix(i) % distinct));
                counter.keys = keys.collect();
                counter.weights = (0..100_000).map(|i| 1 + (i / 10 % 7 == 0) as u32).collect();
                let mut answers = Vec::new();
                for count in [Counter::count_all, Counter::count_repeated] {
                    counter.sorted_keys.clear();
                    counter.sorted_counts.clear();
                    count(&mut counter, distinct as usize, KeyRange::ALL);
                    answers.push((counter.sorted_keys.clone(), counter.sorted_counts.clone()));
                }
                assert_eq!(answers[0], answers[1], "{distinct} distinct");
                assert!(distinct < 60_000 || !answers[0].0.is_empty());
            }
        });
    }
}
