//! Counting more k-mers than memory holds: in passes over ranges of keys, each of which is a piece
//! of the bin.

use std::ops::RangeInclusive;

use gyrase_fabric::KeyRange;
use gyrase_kmer::Key;
use gyrase_table::{CountTable, TableKey};

use crate::counted::Counted;

/// What a pass sees of the k-mers: those whose keys are in its range.
pub(crate) struct Pass<const W: usize> {
    table: CountTable<Key<W>>,
    keys: KeyRange,
}

impl<const W: usize> Pass<W> {
    /// Counts a key `weight` times, if this is its pass.
    #[inline(always)]
    pub(crate) fn add(&mut self, key: Key<W>, weight: u32) {
        if self.keys.contains(key.place()) {
            self.table.add(key, weight);
        }
    }

    /// Keeps the table fast; call it now and then.
    #[inline]
    pub(crate) fn relieve(&mut self) {
        self.table.relieve();
    }
}

/// How many passes there are, so that the table and the rows of one are within `memory` bytes.
fn passes_for<const W: usize>(distinct: usize, memory: usize) -> usize {
    // What the sketch may have missed.
    let distinct = distinct + distinct / 8;
    let row = size_of::<[u64; W]>() + size_of::<u32>();
    let bytes = CountTable::<Key<W>>::bytes_for(distinct) + distinct * row;
    bytes.div_ceil(memory.max(1)).next_power_of_two()
}

/// Counts about `distinct` different k-mers with keys in a range within `memory` bytes and gives
/// `each` those with a count that is `counted`, in order. `drain` shows all k-mers to a pass, in
/// any order, as often as it is called.
pub(crate) fn count<const W: usize, E>(
    range: KeyRange,
    distinct: usize,
    memory: usize,
    counted: &RangeInclusive<u32>,
    mut each: impl FnMut(Counted) -> Result<(), E>,
    mut drain: impl FnMut(&mut Pass<W>) -> Result<(), E>,
) -> Result<(), E> {
    let passes = passes_for::<W>(distinct, memory);
    let mut pass = Pass {
        table: CountTable::default(),
        keys: range,
    };
    let (mut keys, mut counts) = (Vec::new(), Vec::new());
    for number in 0..passes {
        pass.keys = range.part(number as u64, passes as u64);
        pass.table.clear(distinct / passes, pass.keys);
        drain(&mut pass)?;
        keys.clear();
        counts.clear();
        pass.table
            .append_sorted(0, counted.clone(), &mut keys, &mut counts);
        each(Counted {
            range: pass.keys,
            keys: keys.as_flattened(),
            counts: &counts,
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_is_within_its_memory() {
        assert_eq!(passes_for::<1>(0, 8 << 20), 1);
        for distinct in [1000, 100_000, 100_000_000] {
            let passes = passes_for::<4>(distinct, 8 << 20);
            let part = distinct / passes;
            let bytes = |part| CountTable::<Key<4>>::bytes_for(part) + part * 36;
            assert!(bytes(part) <= 8 << 20, "{distinct}");
            assert!(
                passes == 1 || bytes(2 * part) > 6 << 20,
                "{distinct}: more passes than needed"
            );
        }
    }
}
