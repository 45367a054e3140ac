//! What travels: super-k-mers, with a weight once repeats are combined.
//!
//! A record is the stored bytes of a super-k-mer, or a zero byte (which no super-k-mer begins
//! with), its weight in four bytes, little-endian, and then those.

use gyrase_fabric::Combiner;
use gyrase_kmer::{Shape, SuperKmer};
use gyrase_table::CountTable;

/// Bytes before the super-k-mer of a record with a weight.
const WEIGHT_BYTES: usize = 5;

/// The super-k-mers and the weights of the records of `bytes[..used]`.
pub struct Records<'b, const W: usize> {
    bytes: &'b [u8],
    used: usize,
    shape: Shape,
    at: usize,
}

impl<'b, const W: usize> Records<'b, W> {
    pub(crate) fn new(bytes: &'b [u8], used: usize, shape: Shape) -> Records<'b, W> {
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
pub struct Repeats<const W: usize> {
    shape: Shape,
    table: CountTable<SuperKmer<W>>,
}

/// Super-k-mers that a table is first made for: those of a partition that begins to be large.
const FIRST_ROOM: usize = 2048;

impl<const W: usize> Repeats<W> {
    /// A combiner of the super-k-mers of k-mers of `shape`.
    pub fn new(shape: Shape) -> Repeats<W> {
        let mut table = CountTable::default();
        table.clear(FIRST_ROOM, 0);
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
            .clear(self.table.len() + self.table.len() / 4 + 16, 0);
    }
}
