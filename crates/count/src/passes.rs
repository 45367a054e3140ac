//! Counting more k-mers than memory holds: in passes over ranges of keys, each of which is a piece
//! of the bin.

use std::ops::RangeInclusive;

use gyrase_kmer::Key;
use gyrase_table::gyk::{GykError, Pieces};
use gyrase_table::{CountTable, TableKey};

/// What a pass sees of the k-mers: those whose keys begin with the bits of its number.
pub(crate) struct Pass<const W: usize> {
    table: CountTable<Key<W>>,
    bits: u32,
    number: u64,
}

impl<const W: usize> Pass<W> {
    /// Counts a key `weight` times, if this is its pass.
    #[inline(always)]
    pub(crate) fn add(&mut self, key: Key<W>, weight: u32) {
        if key.place().checked_shr(64 - self.bits).unwrap_or(0) == self.number {
            self.table.add(key, weight);
        }
    }

    /// Keeps the table fast; call it now and then.
    #[inline]
    pub(crate) fn relieve(&mut self) {
        self.table.relieve();
    }
}

/// Bits of the key that number the passes, so that the table and the rows of one are within
/// `memory` bytes.
fn bits_for<const W: usize>(distinct: usize, memory: usize) -> u32 {
    // What the sketch may have missed.
    let distinct = distinct + distinct / 8;
    let row = size_of::<[u64; W]>() + size_of::<u32>();
    let bytes = CountTable::<Key<W>>::bytes_for(distinct) + distinct * row;
    bytes
        .div_ceil(memory.max(1))
        .next_power_of_two()
        .trailing_zeros()
}

/// Counts about `distinct` different k-mers within `memory` bytes and writes those with a count
/// that is `counted`. `drain` shows all k-mers to a pass, in any order, as often as it is called.
pub(crate) fn count<const W: usize, E: From<GykError>>(
    distinct: usize,
    memory: usize,
    counted: &RangeInclusive<u32>,
    mut pieces: Pieces,
    mut drain: impl FnMut(&mut Pass<W>) -> Result<(), E>,
) -> Result<(), E> {
    let bits = bits_for::<W>(distinct, memory);
    let mut pass = Pass {
        table: CountTable::default(),
        bits,
        number: 0,
    };
    let (mut keys, mut counts) = (Vec::new(), Vec::new());
    for number in 0..1 << bits {
        pass.number = number;
        pass.table.clear(distinct >> bits, bits);
        drain(&mut pass)?;
        keys.clear();
        counts.clear();
        pass.table
            .append_sorted(0, counted.clone(), &mut keys, &mut counts);
        pieces.add(keys.as_flattened(), &counts)?;
    }
    Ok(pieces.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_is_within_its_memory() {
        assert_eq!(bits_for::<1>(0, 8 << 20), 0);
        for distinct in [1000, 100_000, 100_000_000] {
            let bits = bits_for::<4>(distinct, 8 << 20);
            let part = distinct >> bits;
            let bytes = |part| CountTable::<Key<4>>::bytes_for(part) + part * 36;
            assert!(bytes(part) <= 8 << 20, "{distinct}");
            assert!(
                bits == 0 || bytes(2 * part) > 6 << 20,
                "{distinct}: more passes than needed"
            );
        }
    }
}
