//! From reads to hits: the features of every read and the windows that have them.

use std::ops::Range;

use gyrase_kmer::Sketcher;
use gyrase_seq::Batch;
use gyrase_table::gydb::GydbError;

use crate::candidates::{Hit, hit};
use crate::index::Index;

/// Features that are looked up together, about: enough for the waits for memory to overlap, few enough for what was found to stay near.
const TOGETHER: usize = 4096;

/// Looks reads up, a batch at a time. Make one for each thread: what it needs is kept from batch to batch.
pub(super) struct Lookup<'i> {
    index: &'i Index,
    sketcher: Sketcher,
    features: Vec<u32>,
    /// Where the features of each read end.
    ends: Vec<usize>,
    /// Features that were found, by their place, and their locations.
    found: Vec<(usize, &'i [u32])>,
    hits: Vec<Hit>,
}

impl<'i> Lookup<'i> {
    pub(super) fn new(index: &'i Index) -> Lookup<'i> {
        let sketcher = Sketcher::new(index.parameters.sketch);
        Lookup { index, sketcher, features: Vec::new(), ends: Vec::new(), found: Vec::new(), hits: Vec::new() }
    }

    /// Calls `each` for every read or pair in order, with its number in the batch, its features (those of all windows of both mates),
    /// and its hits, in any order.
    pub(super) fn each(
        &mut self,
        batches: &[Batch; 2],
        mut each: impl FnMut(usize, &[u32], &mut [Hit]),
    ) -> Result<(), GydbError> {
        self.sketch(batches);
        let mut read = 0;
        while read < self.ends.len() {
            let start = self.of_read(read).start;
            let reads = self.ends[read..].partition_point(|&end| end - start <= TOGETHER).max(1);
            self.find(start..self.ends[read + reads - 1])?;
            let mut found = 0;
            for read in read..read + reads {
                let features = self.of_read(read);
                self.hits.clear();
                while let Some(&(feature, locations)) = self.found.get(found).filter(|found| found.0 < features.end) {
                    let number = (feature - features.start) as u32;
                    self.hits.extend(locations.iter().map(|&window| hit(window, number)));
                    found += 1;
                }
                each(read, &self.features[features], &mut self.hits);
            }
            read += reads;
        }
        Ok(())
    }

    /// Looks features up.
    fn find(&mut self, features: Range<usize>) -> Result<(), GydbError> {
        let Lookup { index, found, .. } = self;
        found.clear();
        let start = features.start;
        index.features.locations_of(&self.features[features], |at, locations| found.push((start + at, locations)))
    }

    /// Where the features of a read are.
    fn of_read(&self, read: usize) -> Range<usize> {
        read.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[read]
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
