//! The fabric of one process: memory first, spill files when it is full.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use memmap2::MmapMut;

use crate::arch::prefetch;
use crate::contract::Each;
use crate::memory::{Pool, SLAB};
use crate::spill::{Extent, SpillFile};
use crate::{Combiner, Drain, Fabric, FabricError, SLACK, Sender, SpillFolder};

/// Bytes of a block: what a partition takes at a time from its sender's slabs.
const BLOCK: usize = 4096;
const BLOCKS_PER_SLAB: usize = SLAB / BLOCK;
/// The last block of a slab is left empty: it is the slack behind the one before.
const USED_PER_SLAB: usize = BLOCKS_PER_SLAB - 1;
const NO_BLOCK: u32 = u32::MAX;

/// Bytes of a cache line.
const LINE: usize = 64;
/// Lines of a block that are fetched while the one before it is drained; the processor sees to those behind them.
const FETCHED: usize = 4;

/// Bytes of all senders below which none looks for repeats: whoever drains them finds them as fast.
const AMPLE: u64 = 512 << 20;
/// Blocks of a sender (48 MiB) that are full before it looks for repeats.
const FIRST_ROOM: usize = 24 * BLOCKS_PER_SLAB;
/// Partitions by which a sender judges whether combining pays.
const SAMPLE: usize = 64;

/// Bytes gathered before a spill is written.
const SPILL_WRITE: usize = 8 << 20;

/// Partitions in the memory and on the disk of one process.
///
/// Every sender fills blocks of its own and takes a slab of them from the common memory when it has none left; when the memory
/// is used up it writes all it has to its spill file, in order of partition, and starts over. No sender waits for another.
pub struct LocalFabric {
    partitions: usize,
    combiner: Option<Box<dyn Fn() -> Box<dyn Combiner> + Sync>>,
    portion: usize,
    pool: Arc<Pool>,
    folder: Arc<SpillFolder>,
    senders: AtomicUsize,
}

impl LocalFabric {
    /// A fabric of `partitions` partitions in up to `memory` bytes, spilling to `folder`. Every sender holds at least one block
    /// of each partition that it sends to; see [`LocalFabric::least_memory`].
    pub fn new(partitions: usize, memory: u64, folder: Arc<SpillFolder>) -> LocalFabric {
        LocalFabric {
            partitions,
            combiner: None,
            portion: 1,
            pool: Arc::new(Pool::new(memory)),
            folder,
            senders: AtomicUsize::new(0),
        }
    }

    /// Lets every sender combine its records, with a combiner of its own, before it takes more than some memory or spills. A combiner
    /// is given about `portion` bytes of records at a time, so that what it takes is bounded however large a partition is.
    pub fn combining(mut self, combiner: impl Fn() -> Box<dyn Combiner> + Sync + 'static, portion: u64) -> LocalFabric {
        self.combiner = Some(Box::new(combiner));
        self.portion = (portion as usize / BLOCK).max(1);
        self
    }

    /// The memory without which `senders` senders to `partitions` partitions cannot work.
    pub fn least_memory(partitions: usize, senders: usize) -> u64 {
        (senders * partitions.div_ceil(USED_PER_SLAB) * SLAB) as u64
    }
}

impl Fabric for LocalFabric {
    type Sender = LocalSender;
    type Partitions = LocalPartitions;

    fn sender(&self) -> LocalSender {
        let mut blocks = Blocks { slabs: Vec::new(), used: Vec::new(), before: Vec::new(), free: Vec::new() };
        // Its least share at once, so that no faster sender takes it.
        while blocks.free.len() < self.partitions && blocks.grow(&self.pool) {}
        LocalSender {
            pool: Arc::clone(&self.pool),
            folder: Arc::clone(&self.folder),
            number: self.senders.fetch_add(1, Relaxed),
            ends: vec![0; self.partitions],
            blocks,
            room: FIRST_ROOM,
            combiner: self.combiner.as_ref().map(|combiner| combiner()),
            portion: self.portion,
            spill: None,
        }
    }

    fn close(self, senders: Vec<LocalSender>) -> Result<LocalPartitions, FabricError> {
        LocalPartitions::of(self.partitions, self.folder, senders)
    }
}

/// A sender of [`LocalFabric`].
pub struct LocalSender {
    pool: Arc<Pool>,
    folder: Arc<SpillFolder>,
    number: usize,
    /// Per partition: where the next record goes (slab, block and byte in one number); a multiple of `BLOCK` means "in no
    /// block yet", since a block in use is never at its start.
    ends: Vec<u64>,
    blocks: Blocks,
    /// Blocks to fill before records are combined.
    room: usize,
    combiner: Option<Box<dyn Combiner>>,
    /// Blocks whose records are combined together.
    portion: usize,
    spill: Option<SpillFile>,
}

/// The blocks of one sender. Blocks of a partition are chained from the last to the first.
#[derive(Debug)]
struct Blocks {
    slabs: Vec<MmapMut>,
    used: Vec<u16>,
    before: Vec<u32>,
    free: Vec<u32>,
}

/// The first two bytes of a block stay empty, so that no position in use is a multiple of `BLOCK`.
const FIRST: u64 = 2;

impl Sender for LocalSender {
    #[inline(always)]
    fn expect(&self, partition: usize) {
        let end = self.ends[partition] as usize;
        // A sender that found no memory has no slab; sending says so.
        if let Some(slab) = self.blocks.slabs.get(end / SLAB) {
            prefetch(&slab[end % SLAB]);
        }
    }

    #[inline(always)]
    fn send(&mut self, partition: usize, record: &[u8], used: usize) -> Result<(), FabricError> {
        debug_assert!(record.len() <= SLACK && used <= record.len() && used > 0);
        let mut end = self.ends[partition] as usize;
        let within = end % BLOCK;
        if within == 0 || within + record.len() >= BLOCK {
            end = self.next_block(partition)?;
        }
        let slab = &mut self.blocks.slabs[end / SLAB];
        slab[end % SLAB..][..record.len()].copy_from_slice(record);
        // Thousands of records to other partitions come before the next to this one: time to fetch its next line.
        prefetch(&slab[(end + used) % SLAB + LINE]);
        self.ends[partition] = (end + used) as u64;
        Ok(())
    }
}

impl LocalSender {
    #[cold]
    #[inline(never)]
    fn next_block(&mut self, partition: usize) -> Result<usize, FabricError> {
        if self.blocks.free.is_empty() {
            self.make_room()?;
        }
        let block = self.blocks.free.pop().expect("room was made");
        let full = self.ends[partition];
        self.blocks.before[block as usize] = self.blocks.close(full);
        Ok(block as usize * BLOCK + FIRST as usize)
    }

    /// Frees blocks: of the common memory while there is little in use, by combining, by spilling.
    fn make_room(&mut self) -> Result<(), FabricError> {
        let ample = self.blocks.used.len() < self.room || self.pool.taken() < AMPLE;
        if ample && self.blocks.grow(&self.pool) {
            return Ok(());
        }
        self.combine()?;
        if self.blocks.free.len() * 2 > self.blocks.in_use_at_most() {
            return Ok(());
        }
        self.room = 2 * self.blocks.used.len();
        if self.blocks.grow(&self.pool) {
            return Ok(());
        }
        if self.blocks.in_use_at_most() < self.ends.len() {
            return Err(FabricError::Memory);
        }
        self.spill()
    }

    /// Combines the records of each partition, unless the first partitions show that it does not pay. No more bytes come out
    /// than went in, but they may fill one block more, and so spill.
    fn combine(&mut self) -> Result<(), FabricError> {
        let Some(mut combiner) = self.combiner.take() else { return Ok(()) };
        let (mut before, mut after) = (0u64, 0u64);
        for partition in 0..self.ends.len() {
            self.combine_partition(partition, &mut *combiner, &mut before, &mut after)?;
            if partition == SAMPLE && after * 8 > before * 7 {
                break;
            }
        }
        self.combiner = Some(combiner);
        Ok(())
    }

    /// Combines the records of one partition, a portion of its blocks after the other, and sends what comes of them behind the rest.
    fn combine_partition(
        &mut self,
        partition: usize,
        combiner: &mut dyn Combiner,
        before: &mut u64,
        after: &mut u64,
    ) -> Result<(), FabricError> {
        let last = self.blocks.close(self.ends[partition]);
        let chain = self.blocks.chain(last);
        for (number, portion) in chain.chunks(self.portion).enumerate() {
            // What the portions before became may have gone on in a block of this one.
            self.blocks.close(self.ends[partition]);
            self.blocks.read(portion, |bytes, used| {
                *before += used as u64;
                combiner.add(bytes, used);
            });
            self.take_off(partition, portion, chain.get(number * self.portion + portion.len()));
            let (spills, mut sent) = (self.spills(), Ok(()));
            combiner.finish(&mut |record, used| {
                *after += used as u64;
                if sent.is_ok() {
                    sent = self.send(partition, record, used);
                }
            });
            sent?;
            if self.spills() > spills {
                // There was too little room, so the rest of the partition is on disk already.
                break;
            }
        }
        Ok(())
    }

    /// Frees the first blocks of a partition; the block behind them is `next`, unless they were the last before what was sent since.
    fn take_off(&mut self, partition: usize, blocks: &[u32], next: Option<&u32>) {
        let (end, last) = ((self.ends[partition] / BLOCK as u64) as u32, blocks.last().copied());
        let next = next
            .copied()
            .or_else(|| self.blocks.chain(end).into_iter().skip_while(|&block| Some(block) != last).nth(1));
        match next {
            Some(next) => self.blocks.before[next as usize] = NO_BLOCK,
            None => self.ends[partition] = 0,
        }
        self.blocks.free.extend(blocks.iter().rev());
    }

    /// How many extents were spilled.
    fn spills(&self) -> usize {
        self.spill.as_ref().map_or(0, |spill| spill.extents.len())
    }

    /// Writes every block to the spill file and frees it.
    fn spill(&mut self) -> Result<(), FabricError> {
        if self.spill.is_none() {
            self.spill = Some(SpillFile::create(&self.folder, self.number)?);
        }
        let spill = self.spill.as_mut().expect("just made");
        let (mut buffer, mut gathered) = (Vec::with_capacity(SPILL_WRITE), Vec::new());
        for (partition, end) in self.ends.iter_mut().enumerate() {
            let (partition, mut gathering) = (partition as u32, 0);
            let last = self.blocks.close(std::mem::take(end));
            self.blocks.try_for_each(last, &mut |bytes, used| {
                // Between blocks, however large the partition: what a spill takes besides the blocks stays bounded.
                if buffer.len() + used > SPILL_WRITE {
                    gathered.push((partition, std::mem::take(&mut gathering)));
                    spill.append(&self.folder, &buffer, &gathered)?;
                    buffer.clear();
                    gathered.clear();
                }
                buffer.extend_from_slice(&bytes[..used]);
                gathering += used;
                Ok::<_, FabricError>(())
            })?;
            gathered.push((partition, gathering));
        }
        self.blocks.release_all();
        spill.append(&self.folder, &buffer, &gathered)
    }
}

impl Blocks {
    fn grow(&mut self, pool: &Pool) -> bool {
        let Some(slab) = pool.take() else { return false };
        let first = self.used.len();
        self.slabs.push(slab);
        self.used.resize(first + BLOCKS_PER_SLAB, 0);
        self.before.resize(first + BLOCKS_PER_SLAB, NO_BLOCK);
        self.free.extend((first as u32..(first + USED_PER_SLAB) as u32).rev());
        true
    }

    fn in_use_at_most(&self) -> usize {
        self.slabs.len() * USED_PER_SLAB
    }

    fn release_all(&mut self) {
        let blocks = (0..self.used.len() as u32).rev();
        self.free = blocks.filter(|block| *block as usize % BLOCKS_PER_SLAB != USED_PER_SLAB).collect();
    }

    /// Notes how far the block that ends at `end` is used; the block, or none.
    fn close(&mut self, end: u64) -> u32 {
        if end.is_multiple_of(BLOCK as u64) {
            return NO_BLOCK;
        }
        let block = (end / BLOCK as u64) as usize;
        self.used[block] = (end % BLOCK as u64 - FIRST) as u16;
        block as u32
    }

    /// The blocks chained to `last`, first to last; each with what follows it in the slab, at least [`SLACK`] bytes.
    fn for_each(&self, last: u32, each: impl FnMut(&[u8], usize)) {
        self.read(&self.chain(last), each);
    }

    fn try_for_each<E>(&self, last: u32, each: &mut Each<E>) -> Result<(), E> {
        self.try_read(&self.chain(last), each)
    }

    /// The blocks chained to `last`, first to last.
    fn chain(&self, last: u32) -> Vec<u32> {
        let some = |block: u32| (block != NO_BLOCK).then_some(block);
        let mut chain: Vec<u32> =
            std::iter::successors(some(last), |&block| some(self.before[block as usize])).collect();
        chain.reverse();
        chain
    }

    /// Some blocks, one after the other; each with what follows it in the slab, at least [`SLACK`] bytes.
    fn read(&self, blocks: &[u32], mut each: impl FnMut(&[u8], usize)) {
        let ok = self.try_read(blocks, &mut |bytes, used| {
            each(bytes, used);
            Ok::<(), std::convert::Infallible>(())
        });
        ok.unwrap_or_else(|never| match never {});
    }

    fn try_read<E>(&self, blocks: &[u32], each: &mut Each<E>) -> Result<(), E> {
        let start_of = |block: u32| block as usize % BLOCKS_PER_SLAB * BLOCK + FIRST as usize;
        let slab_of = |block: u32| &self.slabs[block as usize / BLOCKS_PER_SLAB];
        for (i, &block) in blocks.iter().enumerate() {
            if let Some(&next) = blocks.get(i + 1) {
                (0..FETCHED).for_each(|line| prefetch(&slab_of(next)[start_of(next) + LINE * line]));
            }
            let from = &slab_of(block)[start_of(block)..];
            each(&from[..BLOCK + SLACK], usize::from(self.used[block as usize]))?;
        }
        Ok(())
    }
}

/// The partitions of [`LocalFabric`], ready to be drained.
pub struct LocalPartitions {
    folder: Arc<SpillFolder>,
    senders: Vec<(Vec<u32>, Blocks)>,
    files: Vec<SpillFile>,
    extents: Vec<Vec<(u32, Extent)>>,
    bytes: Vec<u64>,
}

impl LocalPartitions {
    fn of(
        partitions: usize,
        folder: Arc<SpillFolder>,
        senders: Vec<LocalSender>,
    ) -> Result<LocalPartitions, FabricError> {
        let mut this = LocalPartitions {
            folder,
            senders: Vec::new(),
            files: Vec::new(),
            extents: vec![Vec::new(); partitions],
            bytes: vec![0; partitions],
        };
        let spilled = senders.iter().any(|sender| sender.spill.is_some());
        for mut sender in senders {
            if spilled {
                // What is on disk outlives this process: everything must be there for a run to be resumed.
                sender.spill()?;
                this.files.extend(sender.spill);
            } else {
                let lasts = sender.ends.iter().map(|&end| sender.blocks.close(end)).collect();
                this.senders.push((lasts, sender.blocks));
            }
        }
        this.index();
        Ok(this)
    }

    /// The partitions that an earlier process spilled for the same `job`, if it finished scattering.
    pub fn reopen(partitions: usize, folder: Arc<SpillFolder>, job: &str) -> Option<LocalPartitions> {
        let files = folder.reopen(job)?;
        if files.iter().any(|file| file.extents.iter().any(|extent| extent.partition as usize >= partitions)) {
            return None;
        }
        let (extents, bytes) = (vec![Vec::new(); partitions], vec![0; partitions]);
        let mut this = LocalPartitions { folder, senders: Vec::new(), files, extents, bytes };
        this.index();
        Some(this)
    }

    /// Notes on disk what was spilled for `job`, so that [`LocalPartitions::reopen`] finds it; nothing when all is in memory.
    pub fn note(&self, job: &str) -> Result<(), FabricError> {
        if self.files.is_empty() { Ok(()) } else { self.folder.write_manifest(job, &self.files) }
    }

    /// True when the partitions are on disk.
    pub fn spilled(&self) -> bool {
        !self.files.is_empty()
    }

    fn index(&mut self) {
        for (number, file) in self.files.iter().enumerate() {
            for extent in &file.extents {
                self.extents[extent.partition as usize].push((number as u32, *extent));
                self.bytes[extent.partition as usize] += extent.bytes;
            }
        }
        for (lasts, blocks) in &self.senders {
            for (bytes, &last) in self.bytes.iter_mut().zip(lasts) {
                blocks.for_each(last, |_, used| *bytes += used as u64);
            }
        }
    }
}

impl Drain for LocalPartitions {
    fn owned(&self) -> Vec<usize> {
        (0..self.bytes.len()).collect()
    }

    fn bytes(&self, partition: usize) -> u64 {
        self.bytes[partition]
    }

    fn drain<E: From<FabricError>>(&self, partition: usize, each: &mut Each<E>) -> Result<(), E> {
        for (file, extent) in &self.extents[partition] {
            let records = self.files[*file as usize].read(extent)?;
            each(&records, extent.bytes as usize)?;
        }
        self.senders.iter().try_for_each(|(lasts, blocks)| blocks.try_for_each(lasts[partition], each))
    }
}
