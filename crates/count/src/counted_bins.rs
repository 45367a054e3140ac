//! Counted k-mers that another stage of the same process takes, without a database.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard};

use bytemuck::{cast_slice, cast_slice_mut};
use gyrase_fabric::{
    Alone, FabricError, LocalPartitions, Owners, Partitioning, Place, SpillFolder, World,
};
use gyrase_fastx::{Inputs, Options};
use gyrase_kmer::{BINS, Shape, with_words};
use gyrase_tabulate::{Reading, TabulateError, Worker, census, reduce, scatter};
use gyrase_work::Progress;

use crate::agree;
use crate::bins::share_out;
use crate::counted::{Counted, Destination};
use crate::histogram::{Histogram, Lane};
use crate::partition::Counter;
use crate::plan::Budget;
use crate::reading::options;
use crate::run::{UNEQUAL, fabric_options, root_of, settle};
use crate::super_kmers::SuperKmers;
use crate::{Config, Error, Scattered};

/// The counted k-mers of the bins of a process: in memory, and in a file without a name where that
/// is full.
pub struct CountedBins {
    shape: Shape,
    place: Place,
    folder: Arc<SpillFolder>,
    bins: Vec<Mutex<Vec<Rows>>>,
    state: Mutex<State>,
}

/// What is shared by the threads that bring rows.
struct State {
    /// Bytes that may still be held.
    room: u64,
    held: u64,
    distinct: u64,
    file: Option<(Arc<File>, u64)>,
}

/// k-mers of a bin with keys in a range.
struct Rows {
    /// The first key of the range.
    first: u64,
    kmers: usize,
    kept: Kept,
}

enum Kept {
    Memory(Vec<u64>, Vec<u32>),
    /// Where they begin.
    File(Arc<File>, u64),
}

const NO_PANIC: &str = "no thread panics while it keeps rows";

impl CountedBins {
    /// None yet; `room` bytes of them will be held in memory, the others go to `folder`.
    fn new(shape: Shape, place: Place, room: u64, folder: Arc<SpillFolder>) -> CountedBins {
        CountedBins {
            shape,
            place,
            folder,
            bins: (0..BINS).map(|_| Mutex::default()).collect(),
            state: Mutex::new(State {
                room,
                held: 0,
                distinct: 0,
                file: None,
            }),
        }
    }

    /// Length of the k-mers, which are canonical unless stranded.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Which bins are here, and who has the others.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// How many different k-mers there are here.
    pub fn distinct(&self) -> u64 {
        self.state().distinct
    }

    /// Bytes of memory that they take.
    pub fn held(&self) -> u64 {
        self.state().held
    }

    /// The folder for temporary files, which goes with this.
    pub fn folder(&self) -> &Arc<SpillFolder> {
        &self.folder
    }

    /// k-mers of a bin.
    ///
    /// # Panics
    /// When `bin` is not below [`BINS`].
    pub fn bin_len(&self, bin: usize) -> usize {
        self.rows(bin).iter().map(|rows| rows.kmers).sum()
    }

    /// Appends the keys of a bin, ascending, and their counts.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    ///
    /// # Panics
    /// When `bin` is not below [`BINS`], or `W` is not the number of words of the shape.
    pub fn read<const W: usize>(
        &self,
        bin: usize,
        keys: &mut Vec<[u64; W]>,
        counts: &mut Vec<u32>,
    ) -> Result<(), Error> {
        assert_eq!(
            W,
            self.shape.words(),
            "keys are as wide as those of the shape"
        );
        let mut rows = self.rows(bin);
        rows.sort_unstable_by_key(|rows| rows.first);
        for rows in rows.iter() {
            match &rows.kept {
                Kept::Memory(held_keys, held_counts) => {
                    keys.extend_from_slice(held_keys.as_chunks().0);
                    counts.extend_from_slice(held_counts);
                }
                Kept::File(file, at) => {
                    let (first, number) = (keys.len(), counts.len());
                    keys.resize(first + rows.kmers, [0; W]);
                    counts.resize(number + rows.kmers, 0);
                    let keys = keys[first..].as_flattened_mut();
                    self.read_at(file, cast_slice_mut(keys), *at)?;
                    let at = at + size_of_val(keys) as u64;
                    self.read_at(file, cast_slice_mut(&mut counts[number..]), at)?;
                }
            }
        }
        Ok(())
    }

    /// How many k-mers here have which count.
    ///
    /// # Errors
    /// A temporary file cannot be read, or somebody cancelled.
    pub fn histogram(&self, threads: usize, progress: &Progress) -> Result<Histogram, Error> {
        progress.start("histogram", BINS as u64);
        let start = || (Lane::default(), Vec::new());
        let work = |(lane, read): &mut (Lane, Vec<u32>), bin| {
            self.for_each_count(bin, read, |count| lane.count(count))
        };
        let lanes = share_out(threads, BINS, progress, start, work, || {})?;
        Ok(Histogram::of_lanes(lanes.into_iter().map(|(lane, _)| lane)))
    }

    /// The counts of a bin, in any order; `read` is room for those of a file.
    fn for_each_count(
        &self,
        bin: usize,
        read: &mut Vec<u32>,
        mut each: impl FnMut(u32),
    ) -> Result<(), Error> {
        for rows in self.rows(bin).iter() {
            let counts = match &rows.kept {
                Kept::Memory(_, held) => held,
                Kept::File(file, at) => {
                    read.resize(rows.kmers, 0);
                    let keys = rows.kmers * size_of::<u64>() * self.shape.words();
                    self.read_at(file, cast_slice_mut(read), at + keys as u64)?;
                    &*read
                }
            };
            counts.iter().for_each(|&count| each(count));
        }
        Ok(())
    }

    fn read_at(&self, file: &File, bytes: &mut [u8], at: u64) -> Result<(), FabricError> {
        let read = file.read_exact_at(bytes, at);
        read.map_err(|source| self.folder.error(source))
    }

    /// Forgets the k-mers of a bin.
    pub fn forget(&self, bin: usize) {
        let rows = std::mem::take(&mut *self.rows(bin));
        let held = rows
            .iter()
            .filter(|rows| matches!(rows.kept, Kept::Memory(..)));
        let bytes: u64 = held.map(|rows| self.bytes(rows.kmers)).sum();
        self.state().held -= bytes;
    }

    fn bytes(&self, kmers: usize) -> u64 {
        (kmers * (size_of::<u64>() * self.shape.words() + size_of::<u32>())) as u64
    }

    fn rows(&self, bin: usize) -> MutexGuard<'_, Vec<Rows>> {
        self.bins[bin].lock().expect(NO_PANIC)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect(NO_PANIC)
    }

    /// Where in a file so many bytes go, or `None` where there is room in memory.
    fn find_place(&self, rows: Counted) -> Result<Option<(Arc<File>, u64)>, FabricError> {
        let bytes = self.bytes(rows.counts.len());
        let mut state = self.state();
        state.distinct += rows.counts.len() as u64;
        if bytes <= state.room {
            state.room -= bytes;
            state.held += bytes;
            return Ok(None);
        }
        self.folder.allow(bytes)?;
        if state.file.is_none() {
            state.file = Some((Arc::new(self.folder.nameless()?), 0));
        }
        let (file, end) = state.file.as_mut().expect("it was just made");
        let at = *end;
        *end += bytes;
        Ok(Some((Arc::clone(file), at)))
    }
}

impl Destination for CountedBins {
    fn put_bin(&self, bin: usize, rows: Counted) -> Result<(), Error> {
        self.put(bin, rows)
    }

    fn put(&self, bin: usize, rows: Counted) -> Result<(), Error> {
        let kmers = rows.counts.len();
        if kmers == 0 {
            return Ok(());
        }
        let kept = match self.find_place(rows)? {
            None => Kept::Memory(rows.keys.to_vec(), rows.counts.to_vec()),
            Some((file, at)) => {
                let keys: &[u8] = cast_slice(rows.keys);
                let behind = at + keys.len() as u64;
                let written = file.write_all_at(keys, at);
                written
                    .and_then(|()| file.write_all_at(cast_slice(rows.counts), behind))
                    .map_err(|source| self.folder.error(source))?;
                Kept::File(file, at)
            }
        };
        let first = rows.range.first;
        self.rows(bin).push(Rows { first, kmers, kept });
        Ok(())
    }

    // Nobody waits here for another.
    fn abandon(&self) {}
}

/// Counts the k-mers of the inputs as [`crate::run`] does, in this process alone, and keeps them.
/// The output of `config` names the folder for temporary files and is not written; nothing is
/// resumed.
///
/// # Errors
/// See [`Error`].
pub fn count_reads(
    config: &Config,
    progress: &Progress,
) -> Result<(CountedBins, Scattered), Error> {
    count_reads_in(config, &Alone, progress)
}

/// As [`count_reads`], in all processes of a job: each calls it with an equal `config`, but for
/// threads and memory, and keeps the bins that it owns. What is told of the inputs is told of all
/// that was read.
///
/// Collective.
///
/// # Errors
/// See [`Error`]; where another process failed this one's is [`FabricError::Elsewhere`].
pub fn count_reads_in(
    config: &Config,
    world: &dyn World,
    progress: &Progress,
) -> Result<(CountedBins, Scattered), Error> {
    match count_inputs(config, world, progress, false) {
        Err(Error::Tabulate(TabulateError::Input(error))) if error.needs_serial() => {
            count_inputs(config, world, progress, true)
        }
        done => done,
    }
}

fn count_inputs(
    config: &Config,
    world: &dyn World,
    progress: &Progress,
    serial: bool,
) -> Result<(CountedBins, Scattered), Error> {
    let options = Options {
        shared: world.ranks() > 1,
        ..options(config, serial)
    };
    let inputs = Inputs::open(&config.inputs, options)?;
    agree::on_question(world, config, &inputs)?;
    let budget = Budget::of(config, &inputs, world.ranks())?;
    let budget = settle(config, budget, &inputs, world, true)?;
    let (bins, read) = with_words!(config.shape, W => {
        count::<W>(config, budget, &inputs, world, progress)
    })?;
    Ok((bins, agree::on_sums(world, read, [])?.0))
}

/// Which process counts which bins: whole ones, as nearly equal shares as these make.
///
/// Collective.
fn owners<const W: usize>(
    config: &Config,
    inputs: &Inputs,
    world: &dyn World,
) -> Result<Owners, Error> {
    if config.shape.window() == 1 {
        // Junctions of so few bases have no minimizer, and there are so few k-mers that one process
        // joins them.
        return Ok(Owners::table(&[0; BINS], world.ranks()));
    }
    if world.ranks() < UNEQUAL {
        return Ok(Owners::default());
    }
    let partitioning = Partitioning::of_bins(BINS);
    let cut = SuperKmers::<W>::new(config.shape, &partitioning);
    let sizes = census::<Error>(inputs, &options(config, false), world, cut, BINS, 0)?;
    Ok(Owners::weighted(&sizes, world.ranks()))
}

fn count<const W: usize>(
    config: &Config,
    budget: Budget,
    inputs: &Inputs,
    world: &dyn World,
    progress: &Progress,
) -> Result<(CountedBins, Scattered), Error> {
    let partitioning = Partitioning::of_bins(BINS);
    let owners = owners::<W>(config, inputs, world)?;
    let place = Place::among(BINS, world.peer()).owned_by(owners.clone());
    let folder = own_folder(config, world);
    let options = fabric_options::<W>(config.shape, budget, Arc::clone(&folder), owners);
    let fabric = world.fabric(BINS, options)?;
    let share = inputs.total_bytes().unwrap_or(0) / world.ranks() as u64;
    progress.start("read", share);
    let workers = world.sum(&[config.threads as u64])?[0] as usize;
    let reading = Reading::agree(inputs, world, config.chunk, workers)?;
    let cut = |_| SuperKmers::<W>::new(config.shape, &partitioning);
    let cuts = (0..config.threads).map(cut).collect();
    let (partitions, cuts) = scatter::<_, _, _, Error>(&reading, cuts, fabric, progress)?;
    let mut read = Scattered::default();
    cuts.iter().for_each(|cut| read.add(cut.scattered));
    read.bytes = inputs.read_bytes();
    let (room, tables) = room(budget, &partitions, config.threads);
    let bins = CountedBins::new(config.shape, place, room, folder);
    progress.start("count", bins.place.count() as u64);
    let counted = config.min_count.max(1)..=config.max_count;
    let logged = || Ok(());
    let counter = |_| {
        let counted = counted.clone();
        Counter::<W>::new(config.shape, counted, tables, &partitioning, &bins, &logged)
    };
    let mut counters: Vec<_> = (0..config.threads).map(counter).collect();
    let workers = counters
        .iter_mut()
        .map(|counter| counter as &mut dyn Worker<_>)
        .collect();
    reduce(&partitions, 0, workers, progress)?;
    drop(counters);
    Ok((bins, read))
}

/// The folder for the spills of this process.
fn own_folder(config: &Config, world: &dyn World) -> Arc<SpillFolder> {
    let root = root_of(config);
    // Nobody spills before all have agreed on the reading.
    let _ = std::fs::remove_dir_all(&root);
    let folder = SpillFolder::of_process(&root, world.peer(), config.max_tmp, false);
    Arc::new(folder)
}

/// Bytes of counted k-mers that are held, and of the tables of a thread. What holds them next finds
/// as much memory free.
fn room(budget: Budget, partitions: &LocalPartitions, threads: usize) -> (u64, usize) {
    let half = budget.fabric / 2;
    if partitions.spilled() {
        // Out of core the buffers are gone.
        return (half, budget.tables.max(half / threads as u64) as usize);
    }
    let left = budget.fabric.saturating_sub(partitions.kept());
    (half.min(left), budget.tables as usize)
}

#[cfg(test)]
mod tests {
    use gyrase_fabric::KeyRange;
    use gyrase_kmer::{Key, Kmer, mix};

    use super::*;

    fn shape() -> Shape {
        Shape::new(31, false).unwrap()
    }

    #[test]
    fn ranges_come_in_any_order_and_are_held_or_not() {
        let keys: Vec<u64> = (0..5000u64).map(|i| i * (u64::MAX / 5000)).collect();
        let counts: Vec<u32> = (0..5000).map(|i| 1 + i % 400).collect();
        let folder = tempfile::tempdir().unwrap();
        for room in [0, 20_000, 1 << 20] {
            let spills = SpillFolder::new(folder.path().join("spills"), None, false);
            let bins = CountedBins::new(shape(), Place::alone(BINS), room, Arc::new(spills));
            for number in [3, 6, 0, 5, 1, 4, 2] {
                let rows = Counted::within(KeyRange::ALL.part(number, 7), &keys, &counts);
                bins.put(7, rows).unwrap();
            }
            assert!(bins.held() <= room && bins.distinct() == 5000 && bins.bin_len(7) == 5000);
            let (mut read_keys, mut read_counts) = (Vec::<[u64; 1]>::new(), Vec::new());
            bins.read(7, &mut read_keys, &mut read_counts).unwrap();
            assert!(read_keys.as_flattened() == keys && read_counts == counts);
            let histogram = bins.histogram(3, &Progress::default()).unwrap();
            let rows = (1..=400).map(|count| (count, if count <= 200 { 13 } else { 12 }));
            assert!(histogram.rows().eq(rows));
            bins.forget(7);
            assert_eq!((bins.held(), bins.bin_len(7)), (0, 0));
        }
    }

    #[test]
    fn reads_are_counted_in_all() {
        let base = |at: u64| b"ACGT"[(mix(at + 1) >> 62) as usize];
        let text: Vec<u8> = (0..3000).map(base).collect();
        // The last has no k-mer.
        let reads = [(0..2000, 1), (1000..3000, 7), (500..600, 300), (0..30, 5)];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("reads.fa");
        let fasta: Vec<u8> = reads
            .into_iter()
            .flat_map(|(range, times)| [b">r\n", &text[range], b"\n"].concat().repeat(times))
            .collect();
        std::fs::write(&path, fasta).unwrap();
        let config = Config {
            inputs: vec![path],
            output: folder.path().join("o"),
            shape: shape(),
            min_count: 2,
            max_count: u32::MAX,
            min_base_quality: None,
            paired: false,
            threads: 2,
            memory: 1 << 30,
            tmp: folder.path().into(),
            max_tmp: None,
            resume: false,
            chunk: None,
        };
        let (bins, read) = count_reads(&config, &Progress::default()).unwrap();
        assert_eq!(read.kmers, 1970 + 7 * 1970 + 300 * 70);
        let mut found = std::collections::BTreeMap::new();
        for bin in 0..BINS {
            let (mut keys, mut counts) = (Vec::new(), Vec::new());
            bins.read(bin, &mut keys, &mut counts).unwrap();
            let kmers = keys.into_iter().map(|key| Kmer::<1>::from(Key(key)));
            found.extend(kmers.zip(counts));
        }
        let expected = |at: usize| {
            let within = |from: usize, to: usize| u32::from(from <= at && at + 31 <= to);
            within(0, 2000) + 7 * within(1000, 3000) + 300 * within(500, 600)
        };
        let wanted = (0..=3000 - 31).filter(|&at| expected(at) >= 2).map(|at| {
            let kmer = Kmer::<1>::from_letters(&text[at..at + 31]).unwrap();
            (kmer.canonical(31), expected(at))
        });
        assert_eq!(found, wanted.collect());
    }
}
