//! What a run over many samples keeps of each: how it was made and what was found, so that `--resume` need not make it again.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use gyrase_classify::Summary;
use gyrase_classify::tally::Tally;
use gyrase_classify::taxonomy::Taxonomy;
use serde_json::{Value, json};

use super::lane::Lane;
use super::outputs::Places;
use super::sheet::Sample;
use crate::failure::Result;
use crate::sink;

/// The folder of records in the folder of outputs.
const FOLDER: &str = ".gyrase";

/// The record of a sample.
pub struct Record<'a> {
    path: PathBuf,
    places: &'a Places,
    /// What the outputs depend on.
    made_by: Value,
}

impl<'a> Record<'a> {
    /// The record of `sample` in `folder`, where `what` says what the outputs of all samples depend on.
    pub fn new(folder: &Path, sample: &Sample, places: &'a Places, what: &Value) -> Record<'a> {
        let lane = |lane: &Lane| json!([lane.interleaved, lane.files().map(stamp).collect::<Vec<_>>()]);
        let made_by = json!({
            "gyrase": env!("CARGO_PKG_VERSION"),
            "what": what,
            "lanes": sample.lanes.iter().map(lane).collect::<Vec<_>>(),
        });
        Record { path: folder.join(FOLDER).join(format!("{}.json", sample.name)), places, made_by }
    }

    /// What an earlier run found, where it made the same outputs of the same reads and they are still what it made.
    pub fn found(&self, taxonomy: &Taxonomy) -> Option<Summary> {
        let record: Value = serde_json::from_slice(&std::fs::read(&self.path).ok()?).ok()?;
        let is_there = |output: &PathBuf| size(output).is_some_and(|size| record["outputs"][name(output)] == size);
        if record["made_by"] != self.made_by || !self.places.files().all(is_there) {
            return None;
        }
        let mut tally = Tally::new();
        tally.leave(record["unclassified"].as_u64()?);
        for taxon in record["taxa"].as_array()? {
            let (taxid, reads) = (u32::try_from(taxon[0].as_u64()?).ok()?, taxon[1].as_u64()?);
            tally.assign(taxonomy.taxon_of(taxid)?, reads);
        }
        Some(Summary { tally, letters: record["letters"].as_u64()?, ..Summary::default() })
    }

    /// From now on the outputs are no longer those of the record.
    pub fn forget(&self) {
        // One that cannot be removed will not fit the outputs that are made next, or they are the same.
        let _ = std::fs::remove_file(&self.path);
    }

    /// Keeps what was found, once the outputs are there.
    pub fn keep(&self, taxonomy: &Taxonomy, summary: &Summary) -> Result<()> {
        let taxa = summary.tally.taxa().map(|(taxon, reads)| json!([taxonomy.taxid(taxon), reads]));
        let sizes = self.places.files().map(|output| (name(output), size(output).into()));
        let record = json!({
            "made_by": self.made_by,
            "outputs": sizes.collect::<serde_json::Map<_, _>>(),
            "letters": summary.letters,
            "unclassified": summary.tally.unclassified(),
            "taxa": taxa.collect::<Vec<_>>(),
        });
        sink::write_all(Some(&self.path), format!("{record}\n").as_bytes())
    }
}

/// Makes the folder of records.
pub fn make_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder.join(FOLDER))
}

fn name(output: &Path) -> String {
    output.file_name().unwrap_or_default().to_string_lossy().into_owned()
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
