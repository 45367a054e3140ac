//! The fabric of one process: memory first, spill files when it is full.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_work::prefetch;

use crate::blocks::{BLOCK, BLOCKS_PER_SLAB, Blocks, LINE, ROOM, USED_PER_SLAB};
use crate::inbox::Inbox;
use crate::memory::{Pool, SLAB};
use crate::outbox::Outbox;
use crate::partitions::Kept;
use crate::spill::{Gathered, SpillFile};
use crate::traffic::Traffic;
use crate::{Combiner, Fabric, FabricError, LONGEST, LocalPartitions, Place, Sender, SpillFolder};

/// Blocks of a sender (48 MiB) that are full before it looks for repeats.
const FIRST_ROOM: usize = 24 * BLOCKS_PER_SLAB;
/// Partitions by which a sender judges whether combining pays.
const SAMPLE: usize = 64;

/// Partitions in the memory and on the disk of one process.
///
/// Every sender fills blocks of its own and takes a slab of them from the common memory when it has
/// none left; when the memory is used up it writes all it has to its spill file, in order of
/// partition, and starts over. No sender waits for another, and none takes more than it uses.
pub struct LocalFabric {
    place: Place,
    combiner: Option<Box<dyn Fn() -> Box<dyn Combiner> + Sync>>,
    portion: usize,
    pool: Arc<Pool>,
    folder: Arc<SpillFolder>,
    senders: AtomicUsize,
}

impl LocalFabric {
    /// Bytes of all senders below which none looks for repeats: whoever drains them finds them as
    /// fast.
    pub const AMPLE: u64 = 512 << 20;

    /// A fabric of `partitions` partitions in up to `memory` bytes, spilling to `folder`. Every
    /// sender is promised one block of each partition; see [`LocalFabric::least_memory`].
    pub fn new(partitions: usize, memory: u64, folder: Arc<SpillFolder>) -> LocalFabric {
        LocalFabric::at(Place::alone(partitions), memory, folder)
    }

    /// The same where `place`, of a process that is alone, says who owns what.
    pub(crate) fn at(place: Place, memory: u64, folder: Arc<SpillFolder>) -> LocalFabric {
        LocalFabric::among(place, Arc::new(Pool::new(memory)), folder)
    }

    /// Whose partitions stay in this process.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// The share of one process in a fabric of many.
    pub(crate) fn among(place: Place, pool: Arc<Pool>, folder: Arc<SpillFolder>) -> LocalFabric {
        LocalFabric {
            place,
            combiner: None,
            portion: 1,
            pool,
            folder,
            senders: AtomicUsize::new(0),
        }
    }

    /// A number for one more spill file.
    pub(crate) fn number(&self) -> usize {
        self.senders.fetch_add(1, Relaxed)
    }

    /// A sender for one more worker, which sends records for partitions of other processes by what
    /// `outbox` makes of its number.
    pub(crate) fn sender_with(&self, outbox: Option<&dyn Fn(u16) -> Outbox>) -> LocalSender {
        let number = self.number();
        let outbox = outbox.map(|outbox| {
            outbox(u16::try_from(number).expect("fewer than 65,536 senders of a process"))
        });
        let mut blocks = Blocks::default();
        // Its least share is promised at once, so that no faster sender takes it.
        blocks.promise(&self.pool, self.place.partitions);
        LocalSender {
            pool: Arc::clone(&self.pool),
            folder: Arc::clone(&self.folder),
            number,
            ends: vec![0; self.place.partitions],
            blocks,
            place: self.place.clone(),
            room: FIRST_ROOM,
            combiner: self.combiner.as_ref().map(|combiner| combiner()),
            portion: self.portion,
            spill: None,
            outbox,
        }
    }

    /// Lets every sender combine its records, with a combiner of its own, before it takes more than
    /// some memory or spills. A combiner is given about `portion` bytes of records at a time, so
    /// that what it takes is bounded however large a partition is.
    pub fn combining(
        mut self,
        combiner: impl Fn() -> Box<dyn Combiner> + Sync + 'static,
        portion: u64,
    ) -> LocalFabric {
        self.combiner = Some(Box::new(combiner));
        self.portion = (portion as usize / BLOCK).max(1);
        self
    }

    /// The memory without which `senders` senders to `partitions` partitions cannot work.
    pub fn least_memory(partitions: usize, senders: usize) -> u64 {
        (senders * partitions.div_ceil(USED_PER_SLAB) * SLAB) as u64
    }

    /// Bytes of memory that `records` records of `bytes` bytes in all take in the blocks of
    /// `senders` senders, from above, where the sizes of the `partitions` partitions are as unequal
    /// as those of bins: exponential.
    pub fn expected_memory(partitions: usize, senders: usize, records: u64, bytes: u64) -> u64 {
        if records == 0 {
            return 0;
        }
        let (each, senders) = (partitions as f64, senders as f64);
        // Blocks of a partition, of which the last is not full, where sizes are exponential.
        let mean = bytes as f64 / senders / each / ROOM as f64;
        let blocks = (each / -(-1.0 / mean.max(f64::MIN_POSITIVE)).exp_m1()).ceil();
        let slabs = |blocks: f64| (blocks / USED_PER_SLAB as f64).ceil();
        // Few records leave some partitions empty.
        let few = records.div_ceil(senders as u64) as f64 + 1.0;
        let begun = each * -(-few / each).exp_m1();
        (senders * slabs(blocks.min(begun + mean * each))) as u64 * SLAB as u64
    }

    /// The same where the bytes of each partition are about known, of records of about `record`
    /// bytes.
    pub fn expected_memory_of(
        sizes: impl IntoIterator<Item = f64>,
        senders: usize,
        record: f64,
    ) -> u64 {
        let senders = senders as f64;
        let blocks = |bytes: f64| {
            let bytes = bytes / senders;
            // Few records leave some partitions empty.
            (bytes / record).min(1.0) * (bytes / ROOM as f64).ceil()
        };
        let slabs: f64 = sizes.into_iter().map(blocks).sum::<f64>() / USED_PER_SLAB as f64;
        (senders * slabs.ceil()) as u64 * SLAB as u64
    }

    /// The partitions of this process, with what came from others.
    pub(crate) fn close_with(
        self,
        senders: Vec<LocalSender>,
        came: Option<(Inbox, Traffic)>,
    ) -> Result<LocalPartitions, FabricError> {
        let kept = senders.into_iter().map(LocalSender::finish).collect();
        let mut partitions = LocalPartitions::of(self.place, self.folder, kept, came)?;
        partitions.kept = self.pool.most();
        Ok(partitions)
    }
}

impl Fabric for LocalFabric {
    type Sender = LocalSender;
    type Partitions = LocalPartitions;

    fn sender(&self) -> LocalSender {
        self.sender_with(None)
    }

    fn close(self, senders: Vec<LocalSender>) -> Result<LocalPartitions, FabricError> {
        self.close_with(senders, None)
    }
}

/// A sender of [`LocalFabric`], and of [`ExchangeFabric`](crate::ExchangeFabric).
pub struct LocalSender {
    pool: Arc<Pool>,
    folder: Arc<SpillFolder>,
    number: usize,
    /// Per partition: where the next record goes (slab, block and byte in one number); a multiple
    /// of `BLOCK` means "in no block yet", since a block in use is never at its start.
    ends: Vec<u64>,
    blocks: Blocks,
    /// Whose partitions stay in this process.
    place: Place,
    /// Blocks to fill before records are combined.
    room: usize,
    combiner: Option<Box<dyn Combiner>>,
    /// Blocks whose records are combined together.
    portion: usize,
    spill: Option<SpillFile>,
    /// Where the other partitions go.
    outbox: Option<Outbox>,
}

impl Sender for LocalSender {
    #[inline(always)]
    fn expect(&self, partition: usize) {
        let end = self.ends[partition] as usize;
        // A sender that found no memory has no slab; sending says so.
        if let Some(slab) = self.blocks.slabs.get(end / SLAB) {
            prefetch(slab, end % SLAB);
        }
    }

    #[inline(always)]
    fn send(&mut self, partition: usize, record: &[u8], used: usize) -> Result<(), FabricError> {
        assert!(
            used.wrapping_sub(1) < record.len(),
            "a record has one byte at least, and all that are used"
        );
        let mut end = self.ends[partition] as usize;
        let within = end % BLOCK;
        if within == 0 || within + record.len() >= BLOCK {
            if record.len() > ROOM {
                return self.send_long(partition, &record[..used]);
            }
            end = self.next_block(partition)?;
        }
        let slab = &mut self.blocks.slabs[end / SLAB];
        slab[end % SLAB..][..record.len()].copy_from_slice(record);
        // Thousands of records to other partitions come before the next to this one: time to fetch
        // its next line.
        prefetch(slab, (end + used) % SLAB + LINE);
        self.ends[partition] = (end + used) as u64;
        Ok(())
    }
}

impl LocalSender {
    #[cold]
    #[inline(never)]
    fn next_block(&mut self, partition: usize) -> Result<usize, FabricError> {
        let foreign = !self.place.owns(partition);
        if foreign && self.outbox.as_ref().is_some_and(Outbox::is_full) {
            self.send_off()?;
        }
        if self.blocks.free.is_empty() {
            self.make_room()?;
        }
        let block = self.blocks.free.pop().expect("room was made");
        if foreign && let Some(outbox) = &mut self.outbox {
            outbox.blocks += 1;
        }
        Ok(self.blocks.begin(block, self.ends[partition]) as usize)
    }

    /// Sends a record that may be longer than a block takes.
    #[cold]
    #[inline(never)]
    fn send_long(&mut self, partition: usize, record: &[u8]) -> Result<(), FabricError> {
        let blocks = record.len().div_ceil(ROOM);
        if blocks == 1 {
            return self.send(partition, record, record.len());
        }
        let too_long = |most: usize| FabricError::TooLong {
            bytes: record.len() as u64,
            most: most as u64,
        };
        if record.len() > LONGEST {
            return Err(too_long(LONGEST));
        }
        if !self.make_room_for(blocks)? {
            return Err(too_long(self.blocks.in_use_at_most() * ROOM));
        }
        let foreign = !self.place.owns(partition);
        if foreign && let Some(outbox) = &mut self.outbox {
            outbox.blocks += blocks;
        }
        self.ends[partition] = self.blocks.put_long(record, self.ends[partition]);
        Ok(())
    }

    /// Frees so many blocks; false when all the memory has fewer.
    fn make_room_for(&mut self, blocks: usize) -> Result<bool, FabricError> {
        if self.outbox.as_ref().is_some_and(Outbox::is_full) {
            self.send_off()?;
        }
        while self.blocks.free.len() < blocks {
            let free = self.blocks.free.len();
            self.make_room()?;
            // Where half of the blocks are free it made none.
            if self.blocks.free.len() > free || self.blocks.grow(&self.pool) {
                continue;
            }
            if self.outbox.as_ref().is_some_and(|outbox| outbox.blocks > 0) {
                self.send_off()?;
            } else if self.blocks.free.len() < self.blocks.in_use_at_most() {
                self.spill()?;
            } else {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sends as many records for other processes as one send buffer takes.
    fn send_off(&mut self) -> Result<(), FabricError> {
        self.outbox.as_mut().map_or(Ok(()), |outbox| {
            outbox.send_off(&mut self.ends, &mut self.blocks)
        })
    }

    /// Sends all records for other processes.
    pub(crate) fn send_all_off(&mut self) -> Result<(), FabricError> {
        while self.outbox.as_ref().is_some_and(|outbox| outbox.blocks > 0) {
            self.send_off()?;
        }
        Ok(())
    }

    /// Frees blocks: of the common memory while there is little in use, by sending off, by
    /// combining, by spilling.
    fn make_room(&mut self) -> Result<(), FabricError> {
        if self.blocks.grow_as_promised(&self.pool) {
            return Ok(());
        }
        let ample = self.blocks.len() < self.room || self.pool.taken() < LocalFabric::AMPLE;
        if ample && self.blocks.grow(&self.pool) {
            return Ok(());
        }
        if self
            .outbox
            .as_ref()
            .is_some_and(|outbox| outbox.blocks * 4 > self.blocks.in_use_at_most())
        {
            return self.send_off();
        }
        self.combine()?;
        if self.blocks.free.len() * 2 > self.blocks.in_use_at_most() {
            return Ok(());
        }
        self.room = 2 * self.blocks.len();
        if self.blocks.grow(&self.pool) {
            return Ok(());
        }
        if self.blocks.in_use_at_most() < self.ends.len() {
            return Err(FabricError::Memory);
        }
        self.spill()
    }

    /// Combines the records of each partition, unless the first partitions show that it does not
    /// pay. No more bytes come out than went in, but they may fill one block more, and so spill.
    fn combine(&mut self) -> Result<(), FabricError> {
        let Some(mut combiner) = self.combiner.take() else {
            return Ok(());
        };
        let (mut before, mut after) = (0u64, 0u64);
        for (number, partition) in self.place.owned().enumerate() {
            self.combine_partition(partition, &mut *combiner, &mut before, &mut after)?;
            if number == SAMPLE && after * 8 > before * 7 {
                break;
            }
        }
        self.combiner = Some(combiner);
        Ok(())
    }

    /// Combines the records of one partition, a portion of its blocks after the other, and sends
    /// what comes of them behind the rest.
    fn combine_partition(
        &mut self,
        partition: usize,
        combiner: &mut dyn Combiner,
        before: &mut u64,
        after: &mut u64,
    ) -> Result<(), FabricError> {
        let last = self.blocks.close(self.ends[partition]);
        let chain = self.blocks.chain(last);
        let mut rest = &chain[..];
        while !rest.is_empty() {
            let (portion, others) = rest.split_at(self.blocks.whole_runs(rest, self.portion));
            // What the portions before became may have gone on in a block of this one.
            self.blocks.close(self.ends[partition]);
            self.blocks.read(portion, |bytes, used| {
                *before += used as u64;
                combiner.add(bytes, used);
            });
            self.take_off(partition, portion, others.first());
            let (spilled, mut sent) = (self.spilled(), Ok(()));
            combiner.finish(&mut |record, used| {
                *after += used as u64;
                if sent.is_ok() {
                    sent = self.send(partition, record, used);
                }
            });
            sent?;
            if self.spilled() > spilled {
                // There was too little room, so the rest of the partition is on disk already.
                break;
            }
            rest = others;
        }
        Ok(())
    }

    /// Frees the first blocks of a partition; the block behind them is `next`, unless they were the
    /// last before what was sent since.
    fn take_off(&mut self, partition: usize, blocks: &[u32], next: Option<&u32>) {
        let (end, last) = (
            (self.ends[partition] / BLOCK as u64) as u32,
            blocks.last().copied(),
        );
        let next = next.copied().or_else(|| {
            self.blocks
                .chain(end)
                .into_iter()
                .skip_while(|&block| Some(block) != last)
                .nth(1)
        });
        match next {
            Some(next) => self.blocks.cut_before(next),
            None => self.ends[partition] = 0,
        }
        self.blocks.free.extend(blocks.iter().rev());
    }

    /// Bytes that were spilled.
    fn spilled(&self) -> u64 {
        self.spill.as_ref().map_or(0, SpillFile::end)
    }

    /// Writes every block of the own partitions to the spill file and frees it.
    fn spill(&mut self) -> Result<(), FabricError> {
        if self.spill.is_none() {
            self.spill = Some(SpillFile::create(&self.folder, self.number)?);
        }
        let mut gathered = Gathered::new(&self.folder, self.spill.as_mut().expect("just made"));
        for partition in self.place.owned() {
            let last = self.blocks.close(std::mem::take(&mut self.ends[partition]));
            self.blocks.try_for_each(last, &mut |bytes, used| {
                gathered.add(partition, &bytes[..used])
            })?;
        }
        gathered.write()?;
        let foreign: Vec<u32> = self
            .ends
            .iter()
            .map(|&end| self.blocks.close(end))
            .collect();
        self.blocks.release_all_but(foreign.into_iter());
        Ok(())
    }

    fn finish(mut self) -> Kept {
        let ends = self.place.owned().map(|partition| self.ends[partition]);
        Kept {
            lasts: ends.map(|end| self.blocks.close(end)).collect(),
            blocks: self.blocks,
            file: self.spill,
        }
    }
}
