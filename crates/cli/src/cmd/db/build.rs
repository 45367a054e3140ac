//! `gyrase db build`.

use std::path::{Path, PathBuf};

use clap::Args;
use gyrase_classify::{BuildSummary, Earlier, Parameters};
use gyrase_kmer::{Choice, SketchShape, SketchShapeError};
use gyrase_picture::words::{bytes, grouped, things};
use serde_json::{Value, json};

use crate::cmd::folders::{self, Wanted};
use crate::cmd::references::Taxa;
use crate::failure::{Failure, Result};
use crate::gpu::GpuArgs;
use crate::places;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase db build refs/*.fna.gz --taxonomy taxdump/ \\
      --map nucl_gb.accession2taxid.gz -o refs.gydb        NCBI's files
  gyrase db build refs/ --taxonomy taxdump.tar.gz -o refs.gydb
      a folder; headers that say their taxid: >id|kraken:taxid|562
  gyrase db build @genomes.txt --taxonomy gtdb_taxonomy.tsv -o gtdb.gydb
      a list of files; a table of lineages

References are cut into windows, overlapping stretches; the database keeps some
k-mers of each, and a hit of a read is located to a window.

The taxid of a reference comes from its header (kraken:taxid|N), else from the
table of lineages or --map: by accession, with or without version, or by the
name of its file. References without a taxon stay in the database, are counted
and named. The database has the same bytes for any threads and memory.";

/// Build a database of references.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Build {
    /// FASTA or FASTQ, plain or compressed, known by content; a folder of such (.fna, .fa, .fasta
    /// and so on); `@list` for a list of files
    #[arg(value_name = "REFS", required = true)]
    pub(super) references: Vec<PathBuf>,

    /// Folder or archive of an NCBI dump, or a table of lineages (GTDB's, or one whose first line
    /// names its ranks)
    #[arg(long, value_name = "PATH")]
    pub(super) taxonomy: PathBuf,

    /// Table of taxids by accession or file: NCBI's accession2taxid, assembly_summary.txt, or two
    /// columns; may be given again
    #[arg(long, value_name = "FILE")]
    pub(super) map: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) sketching: Sketching,

    /// Go on where an earlier run for the same database was stopped after it had read everything,
    /// and keep what is needed for that
    #[arg(long)]
    resume: bool,

    #[command(flatten)]
    pub(super) gpu: GpuArgs,

    /// Database to make
    // `gyrase plan db build` does without.
    #[arg(long, short, value_name = "FILE.gydb", required = true)]
    output: Option<PathBuf>,
}

/// How references are sketched. Reads are sketched in the same way, since the database says how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sketches")]
pub struct Sketching {
    /// Length of the k-mers, 1 to 32 [default: 22]
    #[arg(short, value_name = "K")]
    k: Option<usize>,

    /// Letters of a window (below), up to 4096 [default: 111 + K]
    #[arg(long, value_name = "LETTERS")]
    window: Option<usize>,

    /// Letters from one window's start to the next [default: as many as make every k-mer part of
    /// one window]
    #[arg(long, value_name = "LETTERS")]
    stride: Option<usize>,

    /// Keep one k-mer in so many, by itself alone, 1 to 1000 [default: 5]
    #[arg(long, value_name = "N", conflicts_with = "smallest")]
    one_in: Option<usize>,

    /// Keep the k-mers with the so many smallest hashes of each window instead, 1 to 64; K is 16 at
    /// most
    #[arg(long, value_name = "N")]
    smallest: Option<usize>,

    /// The most windows to keep of a k-mer, 1 to 254 [default: 254]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=254))]
    locations: Option<u8>,
}

impl Sketching {
    /// As the library takes them.
    pub fn parameters(&self) -> Result<Parameters> {
        let default = Parameters::default();
        let k = self.k.unwrap_or(default.sketch.k());
        let window = self
            .window
            .unwrap_or((default.sketch.stride() + k).saturating_sub(1));
        let stride = self.stride.unwrap_or((window + 1).saturating_sub(k));
        let choice = match (self.one_in, self.smallest) {
            (Some(one_in), _) => Choice::OneIn(one_in),
            (None, Some(smallest)) => Choice::Smallest(smallest),
            (None, None) => default.sketch.choice(),
        };
        let sketch = match choice {
            Choice::OneIn(one_in) => SketchShape::sampled(k, window, stride, one_in),
            Choice::Smallest(smallest) => SketchShape::new(k, window, stride, smallest),
        };
        let locations = self.locations.unwrap_or(default.locations);
        let wrong = |error| match (error, choice) {
            // Who asks for sketches of one size need not have asked for a k.
            (SketchShapeError::K { k, most }, Choice::Smallest(_)) if k > most => {
                Failure::usage(format!("k is {k}; give -k {most} or less with --smallest"))
            }
            (error, _) => Failure::usage(error),
        };
        Ok(Parameters {
            sketch: sketch.map_err(wrong)?,
            locations,
        })
    }
}

impl Build {
    /// Builds, and says what was built.
    pub fn run(self, session: &Session) -> Result<()> {
        let parameters = self.sketching.parameters()?;
        let output = self.output.clone().unwrap_or_default();
        places::keep_databases_only(&output, places::Kind::Gydb)?;
        let files = folders::files(&self.references, Wanted::References, session)?;
        session.keep_apart(
            files.iter().chain(&self.map).chain([&self.taxonomy]),
            [&output],
        )?;
        let taxonomy = gyrase_taxonomy::files(&self.taxonomy);
        session.same_files(taxonomy.into_iter().chain(self.map.iter().cloned()))?;
        let taxa = Taxa::read(&self.taxonomy, &self.map, &files, session)?;
        let found = self.gpu.find_named(session)?;
        let (summary, _) = taxa.build(
            files.clone(),
            Some(output.clone()),
            parameters,
            self.resumable(),
            found.as_ref().map(|found| (&self.gpu, found)),
            session,
        )?;
        if session.is_first() {
            self.note(session, &files, &output, &parameters, &summary);
            self.say(session, &output, &summary);
        }
        Ok(())
    }

    /// What the taxa of the references depend on, for a later run to compare.
    fn resumable(&self) -> Option<String> {
        let known = |path: &PathBuf| {
            let there = path.metadata().ok();
            format!(
                "{path:?} {:?}",
                there.map(|there| (there.len(), there.modified().ok()))
            )
        };
        let files: Vec<String> = [&self.taxonomy]
            .into_iter()
            .chain(&self.map)
            .map(known)
            .collect();
        self.resume.then(|| files.join(" "))
    }

    fn say(&self, session: &Session, output: &Path, summary: &BuildSummary) {
        let (targets, table) = (summary.targets as u64, &summary.table);
        match summary.earlier {
            Earlier::Nothing => {}
            Earlier::TakenUp => tracing::info!("went on from what an earlier run had read"),
            Earlier::OfAnother => tracing::warn!(
                "what an earlier run had read was of other references or parameters, or in other \
                 processes; this run has read everything itself"
            ),
        }
        tracing::info!(
            references = targets,
            letters = summary.letters,
            "{}, {}",
            things(targets, "reference"),
            things(summary.letters, "letter")
        );
        tracing::info!(
            "{} at {} in {}, {}",
            things(table.features, "feature"),
            things(table.locations, "location"),
            output.display(),
            bytes(table.bytes)
        );
        if summary.targets == 0 {
            tracing::warn!(
                "there is no reference in any of the files, so no read will get a taxon"
            );
        } else if summary.without_taxon == 0 {
            tracing::info!("every reference has a taxon");
        } else {
            tracing::info!(
                "{} of {} references have no taxon",
                grouped(summary.without_taxon as u64),
                grouped(targets)
            );
        }
        session.say_end();
    }

    fn note(
        &self,
        session: &Session,
        files: &[PathBuf],
        output: &Path,
        parameters: &Parameters,
        summary: &BuildSummary,
    ) {
        let paths: Vec<Value> = files
            .iter()
            .map(|path| path.display().to_string().into())
            .collect();
        session.note("inputs", paths);
        session.note("output", output.display().to_string());
        let maps: Vec<String> = self
            .map
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let taxonomy = self.taxonomy.display().to_string();
        let (threads, memory) = (session.threads, session.memory);
        let run =
            json!({"taxonomy": taxonomy, "map": maps, "threads": threads, "memory_bytes": memory});
        session.note("parameters", merged(sketching(parameters), &run));
        session.note("counts", counts(summary));
        session.note("bytes", json!({"output": summary.table.bytes}));
    }
}

/// How references were sketched, for the report and for `info`.
pub fn sketching(parameters: &Parameters) -> Value {
    let sketch = &parameters.sketch;
    let (one_in, smallest) = match sketch.choice() {
        Choice::OneIn(one_in) => (Some(one_in), None),
        Choice::Smallest(smallest) => (None, Some(smallest)),
    };
    json!({
        "k": sketch.k(),
        "window": sketch.window(),
        "stride": sketch.stride(),
        "one_in": one_in,
        "smallest": smallest,
        "most_locations": parameters.locations,
    })
}

/// An object with the entries of another beside its own.
pub fn merged(mut object: Value, more: &Value) -> Value {
    if let (Some(object), Some(more)) = (object.as_object_mut(), more.as_object()) {
        object.extend(more.clone());
    }
    object
}

/// What was built, for the report.
pub fn counts(summary: &BuildSummary) -> Value {
    json!({
        "targets": summary.targets,
        "resumed": summary.earlier == Earlier::TakenUp,
        "without_taxon": summary.without_taxon,
        "letters": summary.letters,
        "windows": summary.windows,
        "features": summary.table.features,
        "locations": summary.table.locations,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_tells_the_defaults() {
        let Parameters { sketch, locations } = Parameters::default();
        let Choice::OneIn(one_in) = sketch.choice() else {
            panic!("the help says that k-mers are chosen one by one")
        };
        let help = Sketching::augment_args(clap::Command::new("x"))
            .render_help()
            .to_string();
        let window = format!("{} + K", sketch.window() - sketch.k());
        for default in [
            sketch.k().to_string(),
            window,
            one_in.to_string(),
            locations.to_string(),
        ] {
            assert!(
                help.contains(&format!("[default: {default}]")),
                "{default}: {help}"
            );
        }
    }
}
