//! From reads to hits: the features of every read and the windows that have them.

use gyrase_kmer::Sketcher;
use gyrase_seq::Batch;
use gyrase_table::gydb::GydbError;

use crate::candidates::{Hit, hit};
use crate::index::Index;

/// Looks reads up, a batch at a time. Make one for each thread: what it needs is kept from batch to batch.
pub(super) struct Lookup<'i> {
    index: &'i Index,
    sketcher: Sketcher,
    features: Vec<u32>,
    /// Where the features of each read end.
    ends: Vec<usize>,
    hits: Vec<Hit>,
}

impl<'i> Lookup<'i> {
    pub(super) fn new(index: &'i Index) -> Lookup<'i> {
        let sketcher = Sketcher::new(index.parameters.sketch);
        Lookup { index, sketcher, features: Vec::new(), ends: Vec::new(), hits: Vec::new() }
    }

    /// Calls `each` for every read or pair in order, with its number in the batch, its features (those of all windows of both mates),
    /// and its hits, in any order.
    pub(super) fn each(
        &mut self,
        batches: &[Batch; 2],
        mut each: impl FnMut(usize, &[u32], &mut [Hit]),
    ) -> Result<(), GydbError> {
        self.sketch(batches);
        let Lookup { index, features, ends, hits, .. } = self;
        let of_read = |read: usize| read.checked_sub(1).map_or(0, |before| ends[before])..ends[read];
        let mut read = 0;
        hits.clear();
        index.features.locations_of(features, |feature, locations| {
            while feature >= ends[read] {
                each(read, &features[of_read(read)], hits);
                hits.clear();
                read += 1;
            }
            let number = (feature - of_read(read).start) as u32;
            hits.extend(locations.iter().map(|&window| hit(window, number)));
        })?;
        for read in read..ends.len() {
            each(read, &features[of_read(read)], hits);
            hits.clear();
        }
        Ok(())
    }

    fn sketch(&mut self, [first, second]: &[Batch; 2]) {
        let Lookup { sketcher, features, ends, .. } = self;
        features.clear();
        ends.clear();
        for (read, record) in first.records.iter().enumerate() {
            let mut collect = |_, sketch: &[u32]| features.extend_from_slice(sketch);
            sketcher.sketch(first.bytes(record.letters), &mut collect);
            if let Some(mate) = second.records.get(read) {
                sketcher.sketch(second.bytes(mate.letters), &mut collect);
            }
            ends.push(features.len());
        }
    }
}
