//! From reads to hits: the features of every read and the windows that have them.

use std::ops::Range;

use gyrase_kmer::Sketcher;
use gyrase_seq::Batch;
use gyrase_table::gydb::{GydbError, Location, partition_of};

use super::error::QueryError;
use super::hits::Hits;
use crate::candidates::Hit;
use crate::cap::Cap;
use crate::slice::Slice;
use crate::stored::{Cursor, Row};

/// Features that are looked up together, about: enough for the waits for memory to overlap, few
/// enough for what was found to stay near.
const TOGETHER: usize = 4096;

/// Looks reads up, a batch at a time. Make one for each thread: what it needs is kept from batch to
/// batch.
pub(super) struct Lookup<'c> {
    slices: &'c [Slice<'c>],
    cap: Option<Cap<'c>>,
    stored: Vec<Cursor<'c>>,
    sketcher: Sketcher,
    features: Vec<u32>,
    /// Where the features of each read end.
    ends: Vec<usize>,
    /// Features of a slice, and their places among all.
    asked: (Vec<u32>, Vec<usize>),
    /// Features that were found, by their place, their locations, and what these are counted from.
    found: Vec<(usize, u32, &'c [Location])>,
    /// The hits of a read.
    row: Row,
}

impl<'c> Lookup<'c> {
    pub(super) fn new(sources: &'c Hits<'c>) -> Lookup<'c> {
        let windows = sources.collection.catalogue.targets.all();
        Lookup {
            slices: &sources.slices,
            cap: sources.collection.cap(),
            stored: sources
                .stored
                .iter()
                .map(|stored| Cursor::new(stored, windows.clone()))
                .collect(),
            sketcher: Sketcher::new(sources.collection.catalogue.parameters.sketch),
            features: Vec::new(),
            ends: Vec::new(),
            asked: (Vec::new(), Vec::new()),
            found: Vec::new(),
            row: Row::default(),
        }
    }

    /// Calls `each` for every read or pair in order, with its number in the batch, its features
    /// (those of all windows of both mates), and its hits, in any order. The first read of the
    /// batch has the number `first` among all.
    pub(super) fn each(
        &mut self,
        first: u64,
        batches: &[Batch; 2],
        mut each: impl FnMut(usize, &[u32], &mut [Hit]) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        self.sketch(batches);
        if !self.ends.is_empty() {
            self.seek(first)?;
        }
        let mut read = 0;
        while read < self.ends.len() {
            let start = self.of_read(read).start;
            let reads = self.ends[read..]
                .partition_point(|&end| end - start <= TOGETHER)
                .max(1);
            self.find(start..self.ends[read + reads - 1])?;
            let mut found = 0;
            for read in read..read + reads {
                found = self.gather(read, found)?;
                each(read, &self.features[self.of_read(read)], &mut self.row.hits)?;
            }
            read += reads;
        }
        Ok(())
    }

    /// Gathers the hits of a read, of features found from place `found` on; where those of the next
    /// read begin.
    fn gather(&mut self, read: usize, mut found: usize) -> Result<usize, QueryError> {
        let features = self.of_read(read);
        let row = &mut self.row;
        row.hits.clear();
        while let Some(&(feature, first_window, locations)) =
            self.found.get(found).filter(|found| found.0 < features.end)
        {
            let number = (feature - features.start) as u32;
            row.hits.extend(
                locations
                    .iter()
                    .map(|location| Hit::new(location.behind(first_window), number)),
            );
            found += 1;
        }
        self.complete(features.len())?;
        Ok(found)
    }

    /// Goes to what is stored of the read of this number among all.
    pub(super) fn seek(&mut self, read: u64) -> Result<(), QueryError> {
        let mut stored = self.stored.iter_mut();
        Ok(stored.try_for_each(|stored| stored.seek(read))?)
    }

    /// All hits of the next read, by those of its features that others have found in the slices.
    pub(super) fn completed(
        &mut self,
        features: usize,
        found: impl Iterator<Item = Hit>,
    ) -> Result<&mut [Hit], QueryError> {
        self.row.hits.clear();
        self.row.hits.extend(found);
        self.complete(features)?;
        Ok(&mut self.row.hits)
    }

    /// Adds what is stored of the next read to its hits, and keeps its features to the cap.
    fn complete(&mut self, features: usize) -> Result<(), QueryError> {
        let Lookup {
            row, stored, cap, ..
        } = self;
        stored.iter_mut().try_for_each(|stored| stored.next(row))?;
        if let Some(cap) = cap {
            keep_to_cap(&mut row.hits, features, cap);
        }
        Ok(())
    }

    /// Looks features up in all slices.
    fn find(&mut self, features: Range<usize>) -> Result<(), GydbError> {
        let Lookup {
            slices,
            asked,
            found,
            ..
        } = self;
        found.clear();
        for slice in *slices {
            let (start, first_window) = (features.start, slice.first_window);
            let wanted = &self.features[features.clone()];
            if slice.is_whole() {
                let found = |at, locations| found.push((start + at, first_window, locations));
                slice.features.locations_of(wanted, found)?;
            } else {
                let (chosen, places) = asked;
                chosen.clear();
                places.clear();
                for (place, &feature) in wanted.iter().enumerate() {
                    if slice.partitions.contains(&partition_of(feature)) {
                        chosen.push(feature);
                        places.push(start + place);
                    }
                }
                slice.features.locations_of(chosen, |at, locations| {
                    found.push((places[at], first_window, locations))
                })?;
            }
        }
        if slices.len() > 1 {
            found.sort_by_key(|found| found.0);
        }
        Ok(())
    }

    /// Where the features of a read are.
    fn of_read(&self, read: usize) -> Range<usize> {
        read.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[read]
    }

    fn sketch(&mut self, [first, second]: &[Batch; 2]) {
        let Lookup {
            sketcher,
            features,
            ends,
            ..
        } = self;
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

/// Leaves every feature of a read as many hits as a feature may have locations in one database:
/// those that it would keep there.
pub(super) fn keep_to_cap(hits: &mut Vec<Hit>, features: usize, cap: &Cap<'_>) {
    if hits.len() <= cap.most() {
        return;
    }
    let mut counts = vec![0; features];
    hits.iter().for_each(|&hit| counts[hit.feature()] += 1);
    if counts.iter().all(|&count| count <= cap.most()) {
        return;
    }
    hits.sort_unstable_by_key(|hit| (hit.feature(), hit.location()));
    let (mut kept, mut locations) = (Vec::with_capacity(hits.len()), Vec::new());
    for of_feature in hits.chunk_by(|one, other| one.feature() == other.feature()) {
        locations.clear();
        locations.extend(of_feature.iter().map(|hit| hit.location()));
        cap.keep(&mut locations);
        let number = of_feature[0].feature() as u32;
        kept.extend(locations.iter().map(|&location| Hit::new(location, number)));
    }
    *hits = kept;
}
