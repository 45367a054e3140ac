//! What travels: super-k-mers, with a weight once repeats are combined.
//!
//! A record is the stored bytes of a super-k-mer, or a zero byte (which no super-k-mer begins with), its weight in four bytes,
//! little-endian, and then those.

use gyrase_fabric::Combiner;
use gyrase_kmer::{Shape, SuperKmer};
use gyrase_table::CountTable;

/// Bytes before the super-k-mer of a record with a weight.
const WEIGHT_BYTES: usize = 5;

/// Calls `each` with the super-k-mer and the weight of every record of `bytes[..used]`.
#[inline(always)]
pub(crate) fn for_each<const W: usize>(
    bytes: &[u8],
    used: usize,
    shape: Shape,
    each: &mut impl FnMut(SuperKmer<W>, u32),
) {
    let mut at = 0;
    while at < used {
        let mut weight = 1;
        if bytes[at] == 0 {
            weight = u32::from_le_bytes(bytes[at + 1..at + WEIGHT_BYTES].try_into().expect("four bytes"));
            at += WEIGHT_BYTES;
        }
        let super_kmer = SuperKmer::<W>::from_bytes(&bytes[at..], shape);
        let super_kmer = super_kmer.expect("checksums hold: only whole super-k-mers are drained");
        at += SuperKmer::<W>::stored_bytes(super_kmer.kmers(), shape);
        each(super_kmer, weight);
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
        let table = &mut self.table;
        for_each(bytes, used, self.shape, &mut |super_kmer: SuperKmer<W>, weight| {
            table.add(super_kmer, weight);
            table.relieve();
        });
    }

    fn finish(&mut self, emit: &mut dyn FnMut(&[u8], usize)) {
        let mut record = [0; WEIGHT_BYTES + 64];
        for (super_kmer, weight) in self.table.iter() {
            let stored = SuperKmer::<W>::stored_bytes(super_kmer.kmers(), self.shape);
            record[1..WEIGHT_BYTES].copy_from_slice(&weight.to_le_bytes());
            record[WEIGHT_BYTES..WEIGHT_BYTES + 16 * W].copy_from_slice(super_kmer.to_bytes().as_flattened());
            if weight as usize * stored < WEIGHT_BYTES + stored {
                (0..weight).for_each(|_| emit(&record[WEIGHT_BYTES..WEIGHT_BYTES + 16 * W], stored));
            } else {
                emit(&record[..WEIGHT_BYTES + 16 * W], WEIGHT_BYTES + stored);
            }
        }
        // Bins are alike: the next one will want about as much room.
        self.table.clear(self.table.len() + self.table.len() / 4 + 16, 0);
    }
}
