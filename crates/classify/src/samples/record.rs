//! What a run over many samples keeps of each: how it was made and what was found, so that a later
//! run need not make it again.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gyrase_files::{OutputError, OutputFile};
use gyrase_taxonomy::Taxonomy;
use serde_json::{Map, Value, json};

use super::sheet::SampleReads;
use crate::lane::Lane;
use crate::query::Summary;
use crate::tally::Tally;

/// The folder of records in the folder of outputs.
const FOLDER: &str = ".gyrase";

/// What an earlier run found in a sample.
#[derive(Default)]
pub(super) struct Found {
    /// The reads of its taxa.
    pub summary: Summary,
    /// How long it took then.
    pub time: Duration,
}

/// The record of a sample.
pub(super) struct Record<'a> {
    path: PathBuf,
    /// The files that the run makes of the sample.
    files: &'a [PathBuf],
    /// What the outputs depend on.
    made_by: Value,
}

impl<'a> Record<'a> {
    /// The record of `sample` in `folder`, where `what` says what the outputs of all samples depend
    /// on.
    pub(super) fn new(
        folder: &Path,
        sample: &SampleReads,
        files: &'a [PathBuf],
        what: &Value,
    ) -> Record<'a> {
        let lane = |lane: &Lane| {
            json!([
                lane.interleaved,
                lane.files().map(stamp).collect::<Vec<_>>()
            ])
        };
        let made_by = json!({
            "gyrase": env!("CARGO_PKG_VERSION"),
            "what": what,
            "lanes": sample.lanes.iter().map(lane).collect::<Vec<_>>(),
        });
        Record {
            path: folder.join(FOLDER).join(format!("{}.json", sample.name)),
            files,
            made_by,
        }
    }

    /// What an earlier run found, where it made the same outputs of the same reads and they are
    /// still what it made.
    pub(super) fn found(&self, taxonomy: &Taxonomy) -> Option<Found> {
        let record = self.read()?;
        let is_there = |output: &PathBuf| {
            size(output).is_some_and(|size| record["outputs"][name(output)] == size)
        };
        if record["made_by"] != self.made_by || !self.files.iter().all(is_there) {
            return None;
        }
        let mut tally = Tally::new();
        tally.leave(record["unclassified"].as_u64()?);
        for taxon in record["taxa"].as_array()? {
            let (taxid, reads) = (u32::try_from(taxon[0].as_u64()?).ok()?, taxon[1].as_u64()?);
            tally.assign(taxonomy.taxon_of(taxid)?, reads);
        }
        let summary = Summary {
            tally,
            letters: record["letters"].as_u64()?,
            ..Summary::default()
        };
        Some(Found {
            summary,
            time: Duration::try_from_secs_f64(record["seconds"].as_f64()?).ok()?,
        })
    }

    fn read(&self) -> Option<Value> {
        serde_json::from_slice(&std::fs::read(&self.path).ok()?).ok()
    }

    /// From now on the outputs are made anew: the record tells only which files there were.
    pub(super) fn forget(&self) -> Result<(), OutputError> {
        match self.read().map(|mut record| record["outputs"].take()) {
            Some(outputs @ Value::Object(_)) => self.write(&json!({ "outputs": outputs })),
            _ => {
                // One that cannot be removed will not fit the outputs that are made next, or they
                // are the same.
                let _ = std::fs::remove_file(&self.path);
                Ok(())
            }
        }
    }

    /// Removes the outputs of earlier runs that this one does not make: they are of another
    /// database, other reads or options, and would lie beside its own. Only files that still are
    /// what was made. Gives the names of those that are gone.
    pub(super) fn remove_others(&self) -> Vec<String> {
        let mut outputs = self
            .read()
            .map_or(Value::Null, |mut record| record["outputs"].take());
        let outputs = outputs
            .as_object_mut()
            .map(std::mem::take)
            .unwrap_or_default();
        let folder = self
            .path
            .parent()
            .and_then(Path::parent)
            .unwrap_or(Path::new(""));
        let is_other = |(file, made): &(String, Value)| {
            let path = folder.join(file);
            Path::new(file).file_name() == Some(file.as_ref())
                && !self.files.contains(&path)
                && size(&path).is_some_and(|size| *made == size)
                && std::fs::remove_file(&path).is_ok()
        };
        outputs
            .into_iter()
            .filter(is_other)
            .map(|(file, _)| file)
            .collect()
    }

    /// Keeps what was found, once the outputs are there.
    pub(super) fn keep(
        &self,
        taxonomy: &Taxonomy,
        summary: &Summary,
        time: Duration,
    ) -> Result<(), OutputError> {
        let taxa = summary
            .tally
            .taxa()
            .map(|(taxon, reads)| json!([taxonomy.taxid(taxon), reads]));
        let sizes = self
            .files
            .iter()
            .map(|output| (name(output), size(output).into()));
        let record = json!({
            "made_by": self.made_by,
            "outputs": sizes.collect::<Map<_, _>>(),
            "seconds": time.as_secs_f64(),
            "letters": summary.letters,
            "unclassified": summary.tally.unclassified(),
            "taxa": taxa.collect::<Vec<_>>(),
        });
        self.write(&record)
    }

    fn write(&self, record: &Value) -> Result<(), OutputError> {
        let mut file = OutputFile::create(&self.path)?;
        file.write_all(format!("{record}\n").as_bytes())
            .map_err(|source| file.error(source))?;
        file.commit()
    }
}

/// Makes the folder of records.
pub(super) fn make_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder.join(FOLDER))
}

fn name(output: &Path) -> String {
    output
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn size(file: &Path) -> Option<u64> {
    file.metadata().ok().map(|there| there.len())
}

/// What tells a file from another, or from what it was before, without reading it.
fn stamp(file: &PathBuf) -> Value {
    let there = file.metadata().ok();
    let stamp = there.map(|there| (there.len(), there.mtime(), there.mtime_nsec()));
    json!([file, stamp])
}
