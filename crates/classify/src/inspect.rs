//! What the features of a database say of its taxa.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_table::gydb::{GydbError, Location, PARTITIONS};
use gyrase_tabulate::TabulateError;
use gyrase_work::Progress;
use gyrase_work::in_parallel;

use crate::edit::EditError;
use crate::index::Index;
use crate::tally::Tally;
use crate::targets::TargetOf;
use gyrase_taxonomy::Taxon;

/// The features of a database by taxon, and by how many locations they have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// Features in the place of reads: each is of the lowest taxon that all targets with it have in
    /// common, those that have a taxon. Without one are the features of targets without a taxon
    /// alone.
    pub tally: Tally,
    /// How many features have 0, 1, 2 and so on locations, up to the most that one has.
    pub histogram: Vec<u64>,
}

/// Counts the features of a database, on so many threads.
///
/// # Errors
/// When the database is damaged, or the run was cancelled.
pub fn inspect(index: &Index, threads: usize, progress: &Progress) -> Result<Contents, EditError> {
    progress.start("inspect", PARTITIONS as u64);
    let (next, target_of) = (AtomicUsize::new(0), index.targets.finder());
    let work = |mut contents: Contents| -> Result<Contents, EditError> {
        loop {
            let partition = next.fetch_add(1, Relaxed);
            if partition >= PARTITIONS {
                return Ok(contents);
            }
            if progress.is_cancelled() {
                return Err(TabulateError::Cancelled.into());
            }
            // Whoever comes after an error shall find nothing left to do.
            contents
                .add(index, &target_of, partition)
                .inspect_err(|_| next.store(PARTITIONS, Relaxed))?;
            progress.advance(1);
        }
    };
    let parts = in_parallel(vec![Contents::default(); threads], work)?;
    let mut all = Contents::default();
    parts.iter().for_each(|part| all.merge(part));
    Ok(all)
}

impl Contents {
    fn add(
        &mut self,
        index: &Index,
        target_of: &TargetOf,
        partition: usize,
    ) -> Result<(), GydbError> {
        for feature in index.features.features_of(partition..partition + 1) {
            let (_, locations) = feature?;
            match common_taxon(index, target_of, locations) {
                Some(taxon) => self.tally.assign(taxon, 1),
                None => self.tally.leave(1),
            }
            self.count(locations.len(), 1);
        }
        index.features.let_go(partition..partition + 1);
        Ok(())
    }

    fn count(&mut self, locations: usize, features: u64) {
        if locations >= self.histogram.len() {
            self.histogram.resize(locations + 1, 0);
        }
        self.histogram[locations] += features;
    }

    fn merge(&mut self, other: &Contents) {
        self.tally.merge(&other.tally);
        for (locations, &features) in other.histogram.iter().enumerate() {
            self.count(locations, features);
        }
    }
}

/// The lowest taxon that all targets of ascending locations have in common, without those that have
/// none.
fn common_taxon(index: &Index, target_of: &TargetOf, locations: &[Location]) -> Option<Taxon> {
    let (mut common, mut end) = (None, Location(0));
    for &location in locations {
        // Further windows of the same target say nothing new.
        if location < end {
            continue;
        }
        let target = target_of.at(location);
        end = index.targets.windows(target).end;
        if let Some(taxon) = index.targets.get(target).taxon {
            common = Some(common.map_or(taxon, |other| index.taxonomy.lca(other, taxon)));
        }
    }
    common
}
