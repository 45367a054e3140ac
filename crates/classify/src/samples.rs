//! Many samples, one after the other: a sheet says which there are, and of each is kept how its
//! outputs were made, so that a later run makes only what is missing.

mod record;
mod sheet;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gyrase_fabric::{FabricError, World};
use gyrase_files::OutputError;
use gyrase_taxonomy::Taxonomy;
use serde_json::Value;

use self::record::{Found, Record};
pub use self::sheet::{SampleReads, SheetError, read};
use crate::query::Summary;
use crate::tally::Tally;

/// What the samples of a run have in common.
pub struct Series<'a> {
    /// The folder of outputs, which is there.
    pub folder: &'a Path,
    /// What outputs depend on beside their reads and this version: databases, options.
    pub what: Value,
    /// True where samples are left out whose outputs an earlier run made of the same.
    pub resume: bool,
    /// What the taxa of summaries are numbers of.
    pub taxonomy: &'a Taxonomy,
}

/// A sample whose outputs are there.
pub struct Done {
    /// Its name.
    pub name: String,
    /// Reads by taxon, and letters. The reports of the sample have what speaks for taxa.
    pub summary: Summary,
    /// How long it took, in this run or the earlier one.
    pub time: Duration,
    /// True where an earlier run had done it.
    pub before: bool,
    /// Outputs of an earlier run that this one does not make, by name: they were removed.
    pub removed: Vec<String>,
}

impl<'a> Series<'a> {
    /// Makes the folder of records.
    ///
    /// # Errors
    /// What the system says.
    pub fn prepare(&self) -> io::Result<()> {
        record::make_folder(self.folder)
    }

    /// Makes the outputs of a sample, `files`, by `make`, which publishes them; or finds that an
    /// earlier run has. Of the processes of a job the first keeps the records, and it alone gets
    /// what was found.
    ///
    /// Collective.
    ///
    /// # Errors
    /// What `make` says; or the record of the sample cannot be written.
    pub fn one<E: From<OutputError> + From<FabricError>>(
        &self,
        world: &dyn World,
        sample: &SampleReads,
        files: &[PathBuf],
        make: impl FnOnce() -> Result<Summary, E>,
    ) -> Result<Done, E> {
        let first = world.rank() == 0;
        let record = first.then(|| Record::new(self.folder, sample, files, &self.what));
        let found = record.as_ref().and_then(|record| self.found(record));
        let done = |summary, time, before, removed| Done {
            name: sample.name.clone(),
            summary,
            time,
            before,
            removed,
        };
        if world.max(&[u64::from(found.is_some())])? == [1] {
            let Found { summary, time } = found.unwrap_or_default();
            return Ok(done(summary, time, true, Vec::new()));
        }
        record.as_ref().map_or(Ok(()), Record::forget)?;
        let start = Instant::now();
        let summary = make()?;
        let time = start.elapsed();
        let mut removed = Vec::new();
        if let Some(record) = record {
            removed = record.remove_others();
            record.keep(self.taxonomy, &summary, time)?;
        }
        let summary = Summary {
            tally: bare(&summary.tally),
            letters: summary.letters,
            ..Summary::default()
        };
        Ok(done(summary, time, false, removed))
    }

    fn found(&self, record: &Record<'_>) -> Option<Found> {
        self.resume.then(|| record.found(self.taxonomy)).flatten()
    }
}

/// The numbers of reads alone.
fn bare(tally: &Tally) -> Tally {
    let mut bare = Tally::new();
    tally
        .taxa()
        .for_each(|(taxon, reads)| bare.assign(taxon, reads));
    bare.leave(tally.unclassified());
    bare
}
