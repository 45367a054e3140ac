//! What travels when k-mers are counted: super-k-mers, with a weight once repeats are combined.
//!
//! A record is the stored bytes of a super-k-mer, or a zero byte (which no super-k-mer begins
//! with), its weight in four bytes, little-endian, and then those.

use std::ops::Range;

use gyrase_fabric::{Combiner, FabricError, KeyRange, Partitioning, Sender};
use gyrase_kmer::{Cutter, Shape, SuperKmer};
use gyrase_seq::Batch;
use gyrase_table::CountTable;
use gyrase_tabulate::{Cut, Partition, TabulateError};

/// Bytes before the super-k-mer of a record with a weight.
const WEIGHT_BYTES: usize = 5;

/// What was read and sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scattered {
    /// Reads, or sequences.
    pub reads: u64,
    /// Their letters.
    pub bases: u64,
    /// k-mers in them that are over bases only.
    pub kmers: u64,
    /// Super-k-mers that they were sent as.
    pub super_kmers: u64,
    /// Bytes of the inputs that they were read from, as they are stored.
    pub bytes: u64,
}

gyrase_fabric::numbers!(Scattered {
    reads,
    bases,
    kmers,
    super_kmers,
    bytes,
});

impl Scattered {
    /// Adds what another worker or process read and sent.
    pub fn add(&mut self, other: Scattered) {
        self.reads += other.reads;
        self.bases += other.bases;
        self.kmers += other.kmers;
        self.super_kmers += other.super_kmers;
        self.bytes += other.bytes;
    }
}

/// Cuts reads into super-k-mers and sends them to the bins of their minimizers.
pub(crate) struct SuperKmers<'p, const W: usize> {
    shape: Shape,
    cutter: Cutter<W>,
    partitioning: &'p Partitioning,
    /// What was read and sent, but for the bytes of the inputs.
    pub(crate) scattered: Scattered,
}

impl<'p, const W: usize> SuperKmers<'p, W> {
    /// One that sends to the partitions of the bins.
    pub(crate) fn new(shape: Shape, partitioning: &'p Partitioning) -> SuperKmers<'p, W> {
        SuperKmers {
            shape,
            cutter: Cutter::new(shape),
            partitioning,
            scattered: Scattered::default(),
        }
    }
}

impl<const W: usize, E: From<TabulateError>> Cut<Batch, E> for SuperKmers<'_, W> {
    fn cut(&mut self, batch: &Batch, sender: &mut impl Sender) -> Result<(), E> {
        let SuperKmers {
            shape,
            cutter,
            partitioning,
            scattered,
        } = self;
        let mut outgoing = Outgoing::new(sender, *shape, partitioning);
        for record in &batch.records {
            let mut send = |bin, super_kmer| outgoing.push(bin, super_kmer);
            let kmers = cutter.cut(batch.bytes(record.letters), &mut send);
            scattered.kmers += kmers.map_err(TabulateError::from)?;
            scattered.bases += record.letters.len() as u64 - u64::from(record.overlap);
            scattered.reads += u64::from(!record.continues);
        }
        outgoing.flush().map_err(TabulateError::from)?;
        scattered.super_kmers += outgoing.sent;
        Ok(())
    }
}

/// Super-k-mers on their way to a sender, which is told of several before it takes them.
struct Outgoing<'s, S, const W: usize> {
    sender: &'s mut S,
    shape: Shape,
    /// Where some bin is not a partition of the same number.
    partitioning: Option<&'s Partitioning>,
    waiting: [(usize, SuperKmer<W>); AHEAD],
    len: usize,
    sent: u64,
}

/// Super-k-mers that are sent together.
const AHEAD: usize = 32;

impl<'s, S: Sender, const W: usize> Outgoing<'s, S, W> {
    fn new(sender: &'s mut S, shape: Shape, partitioning: &'s Partitioning) -> Outgoing<'s, S, W> {
        let waiting = [(0, SuperKmer([0; W])); AHEAD];
        Outgoing {
            sender,
            shape,
            partitioning: Some(partitioning).filter(|partitioning| !partitioning.is_of_bins()),
            waiting,
            len: 0,
            sent: 0,
        }
    }

    #[inline(always)]
    fn push(&mut self, bin: usize, super_kmer: SuperKmer<W>) -> Result<(), FabricError> {
        self.waiting[self.len] = (bin, super_kmer);
        self.len += 1;
        if self.len == AHEAD {
            self.flush()
        } else {
            Ok(())
        }
    }

    #[inline(never)]
    fn flush(&mut self) -> Result<(), FabricError> {
        let waiting = std::mem::take(&mut self.len);
        self.sent += waiting as u64;
        match self.partitioning {
            None => self.send(waiting, |bin| bin..bin + 1),
            Some(partitioning) => self.send(waiting, |bin| partitioning.of_bin(bin)),
        }
    }

    #[inline(always)]
    fn send(
        &mut self,
        waiting: usize,
        partitions_of: impl Fn(usize) -> Range<usize>,
    ) -> Result<(), FabricError> {
        let waiting = &self.waiting[..waiting];
        for &(bin, _) in waiting {
            partitions_of(bin).for_each(|partition| self.sender.expect(partition));
        }
        waiting.iter().try_for_each(|&(bin, super_kmer)| {
            let stored = SuperKmer::<W>::stored_bytes(super_kmer.kmers(), self.shape);
            let bytes = super_kmer.to_bytes();
            partitions_of(bin)
                .try_for_each(|partition| self.sender.send(partition, bytes.as_flattened(), stored))
        })
    }
}

/// What is counted at a time: the k-mers of a partition with keys in a range.
pub(crate) struct BinPart<'p, const W: usize> {
    partition: &'p Partition<'p>,
    shape: Shape,
    /// The bin that they are of.
    pub(crate) bin: usize,
    /// Their keys; super-k-mers of the partition have others too.
    pub(crate) keys: KeyRange,
}

impl<'p, const W: usize> BinPart<'p, W> {
    /// The part that a partition is of what [`SuperKmers`] sent.
    pub(crate) fn new(
        partition: &'p Partition<'p>,
        shape: Shape,
        partitioning: &Partitioning,
    ) -> BinPart<'p, W> {
        let (number, part) = (partition.number(), partition.part());
        BinPart {
            partition,
            shape,
            bin: partitioning.bin(number),
            keys: partitioning.keys(number).part(part.number, part.parts),
        }
    }

    /// True for all k-mers of a bin.
    pub(crate) fn is_whole(&self) -> bool {
        self.keys == KeyRange::ALL
    }

    /// Which partition.
    pub(crate) fn number(&self) -> usize {
        self.partition.number()
    }

    /// Bytes of its records.
    pub(crate) fn bytes(&self) -> u64 {
        self.partition.bytes()
    }

    /// Calls `each` with super-k-mers and weights: how often this one came. The same one may come
    /// again, with a weight of its own. May be called again.
    #[inline]
    pub(crate) fn for_each(
        &self,
        mut each: impl FnMut(SuperKmer<W>, u32),
    ) -> Result<(), FabricError> {
        self.drain(|records| records.for_each(|(super_kmer, weight)| each(super_kmer, weight)))
    }

    /// Calls `each` with many super-k-mers and weights at a time; otherwise as
    /// [`BinPart::for_each`].
    #[inline]
    pub(crate) fn drain(&self, mut each: impl FnMut(Records<W>)) -> Result<(), FabricError> {
        self.partition.drain(|bytes, used| {
            each(Records::new(bytes, used, self.shape));
            Ok(())
        })
    }
}

/// The super-k-mers and the weights of the records of `bytes[..used]`.
pub(crate) struct Records<'b, const W: usize> {
    bytes: &'b [u8],
    used: usize,
    shape: Shape,
    at: usize,
}

impl<'b, const W: usize> Records<'b, W> {
    fn new(bytes: &'b [u8], used: usize, shape: Shape) -> Records<'b, W> {
        Records {
            bytes,
            used,
            shape,
            at: 0,
        }
    }
}

impl<const W: usize> Iterator for Records<'_, W> {
    type Item = (SuperKmer<W>, u32);

    #[inline(always)]
    fn next(&mut self) -> Option<(SuperKmer<W>, u32)> {
        if self.at >= self.used {
            return None;
        }
        let mut weight = 1;
        if self.bytes[self.at] == 0 {
            let four = &self.bytes[self.at + 1..self.at + WEIGHT_BYTES];
            weight = u32::from_le_bytes(four.try_into().expect("four bytes"));
            self.at += WEIGHT_BYTES;
        }
        let super_kmer = SuperKmer::<W>::from_bytes(&self.bytes[self.at..], self.shape);
        let super_kmer = super_kmer.expect("checksums hold: only whole super-k-mers are drained");
        self.at += SuperKmer::<W>::stored_bytes(super_kmer.kmers(), self.shape);
        Some((super_kmer, weight))
    }
}

/// Combines equal super-k-mers of a partition.
pub(crate) struct Repeats<const W: usize> {
    shape: Shape,
    table: CountTable<SuperKmer<W>>,
}

/// Super-k-mers that a table is first made for: those of a partition that begins to be large.
const FIRST_ROOM: usize = 2048;

impl<const W: usize> Repeats<W> {
    /// A combiner of the super-k-mers of k-mers of `shape`.
    pub(crate) fn new(shape: Shape) -> Repeats<W> {
        let mut table = CountTable::default();
        table.clear(FIRST_ROOM, KeyRange::ALL);
        Repeats { shape, table }
    }
}

impl<const W: usize> Combiner for Repeats<W> {
    fn add(&mut self, bytes: &[u8], used: usize) {
        self.table.add_all(Records::new(bytes, used, self.shape));
    }

    fn finish(&mut self, emit: &mut dyn FnMut(&[u8], usize)) {
        let mut record = [0; WEIGHT_BYTES + 64];
        self.table.for_each(|super_kmer, weight| {
            let stored = SuperKmer::<W>::stored_bytes(super_kmer.kmers(), self.shape);
            record[1..WEIGHT_BYTES].copy_from_slice(&weight.to_le_bytes());
            record[WEIGHT_BYTES..WEIGHT_BYTES + 16 * W]
                .copy_from_slice(super_kmer.to_bytes().as_flattened());
            if weight as usize * stored < WEIGHT_BYTES + stored {
                (0..weight)
                    .for_each(|_| emit(&record[WEIGHT_BYTES..WEIGHT_BYTES + 16 * W], stored));
            } else {
                emit(&record[..WEIGHT_BYTES + 16 * W], WEIGHT_BYTES + stored);
            }
        });
        // Bins are alike: the next one will want about as much room.
        self.table
            .clear(self.table.len() + self.table.len() / 4 + 16, KeyRange::ALL);
    }
}
