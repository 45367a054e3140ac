//! Counting partitions on a GPU: the worker that brings them there.

use gyrase_gpu::{GpuCounter, GpuError, GpuSuperKmers};
use gyrase_kmer::SuperKmer;
use gyrase_tabulate::{Partition, Worker};

use super::Counter;
use crate::Error;
use crate::counted::Counted;
use crate::on_gpu::FeederShare;
use crate::super_kmers::BinPart;

/// Brings partitions to a GPU, as many at once as fit its share, and hands what it counted to a
/// [`Destination`](crate::counted::Destination). What the GPU does not count, it counts itself.
pub(crate) struct Feeder<'c, const W: usize> {
    /// What is counted and where it goes; it holds nothing while the GPU counts.
    counter: Counter<'c, W>,
    share: FeederShare<'c>,
    /// Bytes of stored super-k-mers to take at a time.
    takes: u64,
    on_gpu: Option<GpuCounter>,
    given: Option<GpuSuperKmers>,
    keys: Vec<u64>,
    counts: Vec<u32>,
}

/// Why a launch is not counted to its end.
enum Stopped {
    Gpu(GpuError),
    Run(Error),
}

impl From<GpuError> for Stopped {
    fn from(error: GpuError) -> Stopped {
        Stopped::Gpu(error)
    }
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Stopped {
        Stopped::Run(error)
    }
}

impl<'c, const W: usize> Feeder<'c, W> {
    /// One with that share, which counts as `counter` does.
    pub(crate) fn new(counter: Counter<'c, W>, share: FeederShare<'c>) -> Feeder<'c, W> {
        assert_eq!(W, 1, "a GPU counts k-mers of a word");
        Feeder {
            takes: share.takes(counter.shape),
            counter,
            share,
            on_gpu: None,
            given: None,
            keys: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// Reads the first of these parts, as many as there is room for.
    fn fill(&mut self, parts: &[BinPart<W>]) -> Result<usize, Error> {
        if self.share.of.refusal().is_some() {
            return Ok(0);
        }
        let (shape, room) = (self.counter.shape, self.share.for_super_kmers());
        let given = self
            .given
            .get_or_insert_with(|| GpuSuperKmers::new(shape, room));
        given.clear();
        for (number, part) in parts.iter().enumerate() {
            // The first is tried, since nobody knows how many super-k-mers so many bytes are.
            if number > 0 && !given.has_room(part.bytes()) {
                return Ok(number);
            }
            given.begin(part.keys.first..=part.keys.last);
            let mut fits = true;
            part.for_each(|super_kmer, weight| {
                fits = fits && given.push(SuperKmer([super_kmer.0[0]]), weight);
            })?;
            if !fits {
                given.drop_last();
                return Ok(number);
            }
        }
        Ok(parts.len())
    }

    /// Lets the GPU count the parts that were read; how many it has counted. Of the next one some
    /// keys may be counted: then those are left that are not.
    fn count(&mut self, parts: &mut [BinPart<W>]) -> Result<usize, Error> {
        let mut counted = 0;
        if parts.is_empty() {
            return Ok(0);
        }
        match self.bring(parts, &mut counted) {
            Ok(()) | Err(Stopped::Gpu(GpuError::Declined)) => {}
            Err(Stopped::Gpu(error)) => self.share.of.refuse(error),
            Err(Stopped::Run(error)) => return Err(error),
        }
        Ok(counted)
    }

    fn bring(&mut self, parts: &mut [BinPart<W>], counted: &mut usize) -> Result<(), Stopped> {
        let Some(given) = &mut self.given else {
            return Ok(());
        };
        let on_gpu = match &mut self.on_gpu {
            Some(open) => open,
            none => none.insert(self.share.share.counter()?),
        };
        let mut rows = on_gpu.count(given, &self.counter.counted)?;
        let (to, most) = (self.counter.to, self.share.rows());
        for (number, part) in parts.iter_mut().enumerate() {
            let own = rows.of(number);
            let is_at_once = part.is_whole() && own.len() <= most;
            let mut start = own.start;
            loop {
                let end = own.end.min(start + most);
                // The first key of the next says where these end.
                let read = end - start + usize::from(end < own.end);
                grow(&mut self.keys, read);
                grow(&mut self.counts, read);
                let (keys, counts) = (&mut self.keys[..read], &mut self.counts[..read]);
                rows.read(start, keys, counts)?;
                let (keys, next) = keys.split_at(end - start);
                let mut range = part.keys;
                if let [next] = next {
                    range.last = next - 1;
                }
                let some = Counted {
                    range,
                    keys,
                    counts: &counts[..keys.len()],
                };
                match is_at_once {
                    true => to.put_bin(part.bin, some)?,
                    false => to.put(part.bin, some)?,
                }
                if end == own.end {
                    break;
                }
                part.keys.first = range.last + 1;
                start = end;
            }
            (self.counter.logged)()?;
            self.share.of.note_counted();
            *counted += 1;
        }
        Ok(())
    }

    /// Counts without the GPU, whose buffers make room.
    fn count_here(&mut self, parts: &[BinPart<W>]) -> Result<(), Error> {
        if parts.is_empty() {
            return Ok(());
        }
        self.given = None;
        (self.keys, self.counts) = (Vec::new(), Vec::new());
        for part in parts {
            self.counter.count(part)?;
            (self.counter.logged)()?;
            self.share.of.note_left();
        }
        self.counter.release_all();
        Ok(())
    }
}

fn grow<T: Default + Clone>(all: &mut Vec<T>, len: usize) {
    if all.len() < len {
        all.reserve_exact(len - all.len());
        all.resize(len, T::default());
    }
}

impl<const W: usize> Worker<Error> for Feeder<'_, W> {
    fn takes(&self) -> u64 {
        match self.share.of.refusal() {
            None => self.takes,
            Some(_) => 0,
        }
    }

    fn divides(&self) -> bool {
        true
    }

    fn reduce(&mut self, partitions: &[Partition]) -> Result<(), Error> {
        let (shape, partitioning) = (self.counter.shape, self.counter.partitioning);
        let part = |partition| BinPart::new(partition, shape, partitioning);
        let mut parts: Vec<BinPart<W>> = partitions.iter().map(part).collect();
        let mut rest = &mut parts[..];
        while !rest.is_empty() {
            let read = self.fill(rest)?;
            let counted = self.count(&mut rest[..read])?;
            let end = read.max(1);
            self.count_here(&rest[counted..end])?;
            rest = &mut rest[end..];
        }
        Ok(())
    }

    fn abandon(&self) {
        self.counter.to.abandon();
    }
}

#[cfg(test)]
#[path = "../../../gpu/tests/twin/mod.rs"]
mod twin;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};
    use std::sync::{Arc, Mutex};

    use gyrase_fabric::{
        Fabric, KeyRange, LocalFabric, LocalPartitions, Partitioning, Sender, SpillFolder,
    };
    use gyrase_gpu::{GpuLibrary, GpuShare};
    use gyrase_kmer::{Cutter, Shape, mix};
    use gyrase_tabulate::reduce;
    use gyrase_work::Progress;

    use super::*;
    use crate::Config;
    use crate::counted::Destination;
    use crate::on_gpu::{CountOnGpu, CountRefusal};

    const PARTITIONS: usize = 64;

    /// Keeps what it is given, by bin and the first key of the range.
    #[derive(Default)]
    struct Kept(Mutex<BTreeMap<(usize, u64), (u64, Rows)>>);

    type Rows = Vec<(u64, u32)>;

    impl Destination for Kept {
        fn put_bin(&self, bin: usize, rows: Counted) -> Result<(), Error> {
            assert_eq!(rows.range, KeyRange::ALL);
            self.put(bin, rows)
        }

        fn put(&self, bin: usize, rows: Counted) -> Result<(), Error> {
            let all = rows.keys.iter().copied().zip(rows.counts.iter().copied());
            let range = (rows.range.last, all.collect());
            let before = self
                .0
                .lock()
                .unwrap()
                .insert((bin, rows.range.first), range);
            assert!(before.is_none(), "a range is put once");
            Ok(())
        }

        fn abandon(&self) {}
    }

    impl Kept {
        /// The rows of each bin, whose ranges have to be all keys, and those of a range within it.
        fn bins(self) -> Vec<Rows> {
            let mut bins = vec![Vec::new(); PARTITIONS];
            let mut next = [0; PARTITIONS];
            for ((bin, first), (last, rows)) in self.0.into_inner().unwrap() {
                assert!(
                    first == next[bin] && rows.iter().all(|row| (first..=last).contains(&row.0))
                );
                next[bin] = last.wrapping_add(1);
                bins[bin].extend(rows);
            }
            assert_eq!(next, [0; PARTITIONS]);
            bins
        }
    }

    /// Super-k-mers of letters, some with weights, by their bins; one is far heavier than others.
    fn partitions(shape: Shape) -> LocalPartitions {
        let letters: Vec<u8> = (0..40_000u64)
            .map(|i| b"ACGT"[(mix(i) >> 62) as usize])
            .collect();
        let fabric = LocalFabric::new(PARTITIONS, 1 << 28, Arc::new(SpillFolder::default()));
        let (mut sender, mut sent) = (fabric.sender(), 0u32);
        let mut send = |bin: usize, super_kmer: SuperKmer<1>| {
            let (partition, bytes) = (bin % PARTITIONS, super_kmer.to_bytes());
            let stored = SuperKmer::<1>::stored_bytes(super_kmer.kmers(), shape);
            sent += 1;
            if sent % 5 > 0 {
                return sender.send(partition, bytes.as_flattened(), stored);
            }
            let weight = [u32::MAX - 1, 1, 7][sent as usize % 3].to_le_bytes();
            let record = [&[0], &weight[..], bytes.as_flattened()].concat();
            sender.send(partition, &record, 5 + stored)
        };
        let mut cutter = Cutter::new(shape);
        for letters in [&letters[..], &letters[5000..20_000], &b"AC".repeat(30_000)] {
            cutter.cut(letters, &mut send).unwrap();
        }
        fabric.close(vec![sender]).unwrap()
    }

    fn config(shape: Shape) -> Config {
        Config {
            inputs: Vec::new(),
            output: PathBuf::new(),
            shape,
            min_count: 1,
            max_count: u32::MAX,
            min_base_quality: None,
            paired: false,
            threads: 1,
            memory: 1 << 30,
            tmp: PathBuf::new(),
            max_tmp: None,
            resume: false,
            chunk: None,
        }
    }

    /// What a worker makes of all partitions, which is given what it counts with.
    fn counted(
        partitions: &LocalPartitions,
        shape: Shape,
        work: impl FnOnce(Counter<1>, &mut dyn FnMut(&mut dyn Worker<Error>)),
    ) -> Vec<Rows> {
        let (to, partitioning) = (Kept::default(), Partitioning::of_bins(PARTITIONS));
        let logged = || Ok(());
        let counter = Counter::new(shape, 2..=u32::MAX, 1 << 20, &partitioning, &to, &logged);
        work(counter, &mut |worker| {
            reduce(partitions, 0, vec![worker], &Progress::default()).unwrap();
        });
        to.bins()
    }

    /// How many parts a GPU counted, and how many it left, with so many bytes of it and of the
    /// host; and why it counted no more. The rows are those of the processor.
    fn parts(
        library: &GpuLibrary,
        shape: Shape,
        (memory, host): (u64, usize),
    ) -> ((u64, u64), Option<String>) {
        let gpu = library.gpu(None).unwrap();
        let share = GpuShare {
            library,
            gpu: &gpu,
            memory,
        };
        let of = CountOnGpu::new(share, &config(shape)).unwrap();
        let partitions = partitions(shape);
        let by_feeder = counted(&partitions, shape, |counter, reduce| {
            let of = &of;
            reduce(&mut Feeder::new(counter, FeederShare { of, share, host }));
        });
        let expected = counted(&partitions, shape, |mut counter, reduce| {
            reduce(&mut counter)
        });
        assert!(
            by_feeder == expected,
            "{shape:?}, {memory} and {host} bytes"
        );
        assert!(expected.iter().flatten().any(|row| row.1 == u32::MAX));
        (of.partitions(), of.refusal().map(ToString::to_string))
    }

    /// Where libraries are made: beside this program.
    fn folder() -> PathBuf {
        let program = std::env::current_exe().unwrap();
        program.parent().unwrap().to_path_buf()
    }

    #[test]
    fn a_gpu_counts_what_the_processor_does() {
        let Some(path) = twin::twin(&folder()) else {
            return;
        };
        let library = GpuLibrary::load(path).unwrap();
        for (k, stranded) in [(31, false), (32, true), (14, false)] {
            let shape = Shape::new(k, stranded).unwrap();
            let ((all, none), refusal) = parts(&library, shape, (1 << 28, 4 << 20));
            assert!(all > PARTITIONS as u64 && none == 0 && refusal.is_none());
            // Rows in many pieces, and super-k-mers in many launches, some of which are too many.
            let ((most, some), refusal) = parts(&library, shape, (1 << 28, 12 << 10));
            assert!(most > some && some > 0 && most + some == all && refusal.is_none());
            let ((none, left), refusal) = parts(&library, shape, (1 << 10, 4 << 20));
            assert!(none == 0 && left == all && refusal.is_none());
        }
    }

    #[test]
    fn the_processor_goes_on_where_a_gpu_breaks() {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu/tests/twin");
        let broken = twin::make(&folder(), &tests.join("broken.cu"), "gyrase_gpu_broken");
        let Some(path) = broken else { return };
        let library = GpuLibrary::load(&path).unwrap();
        let shape = Shape::new(21, false).unwrap();
        let ((some, others), refusal) = parts(&library, shape, (1 << 28, 12 << 10));
        assert!((1..=7).contains(&some) && others > 50);
        assert_eq!(refusal.unwrap(), "the GPU failed: it broke");
    }

    #[test]
    fn a_gpu_is_refused_what_it_cannot_do() {
        let Some(path) = twin::twin(&folder()) else {
            return;
        };
        let library = &GpuLibrary::load(path).unwrap();
        let gpu = &library.gpu(None).unwrap();
        let refused = |k, memory| {
            let shape = Shape::new(k, false).unwrap();
            let config = Config {
                memory,
                ..config(shape)
            };
            let share = GpuShare {
                library,
                gpu,
                memory: 1 << 30,
            };
            CountOnGpu::new(share, &config).err()
        };
        assert!(refused(32, 1 << 30).is_none());
        assert!(matches!(refused(33, 1 << 30), Some(CountRefusal::Long(33))));
        let Some(CountRefusal::HostMemory { least, .. }) = refused(31, 1 << 20) else {
            panic!("a mebibyte is too little");
        };
        assert!(refused(31, least).is_none() && refused(31, least - 1).is_some());
    }
}
