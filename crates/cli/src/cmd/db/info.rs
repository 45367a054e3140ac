//! `gyrase db info` and `gyrase db verify`.

use std::path::{Path, PathBuf};

use clap::Args;
use gyrase_classify::{Genomes, Index, Parameters};
use gyrase_kmer::Choice;
use gyrase_picture::words::{bytes, grouped, things};
use gyrase_taxonomy::Rank;
use serde_json::{Value, json};

use super::build::{merged, sketching};
use crate::failure::Result;
use crate::places;
use crate::session::Session;
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase db info refs.gydb
  gyrase db info refs.gydb --json | jq .targets";

/// Say what a database holds.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Info {
    /// The database
    #[arg(value_name = "DATABASE.gydb")]
    database: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Read all of a database and check every checksum, every list of locations and every section.
#[derive(Debug, Args)]
pub struct Verify {
    /// The databases
    #[arg(value_name = "DATABASE.gydb", required = true)]
    databases: Vec<PathBuf>,
}

impl Info {
    /// Prints the facts.
    pub fn run(self, session: &Session) -> Result<()> {
        session.keep_apart([&self.database], [places::standard_output()])?;
        let facts = Facts::of(&Index::open(&self.database)?);
        session.note("inputs", self.database.display().to_string());
        session.note("counts", facts.json());
        let text = if self.json {
            format!("{:#}\n", facts.json())
        } else {
            facts.table(&self.database)
        };
        sink::write_all(None, text.as_bytes())
    }
}

impl Verify {
    /// Checks; an error names the first thing that is wrong.
    pub fn run(self, session: &Session) -> Result<()> {
        session.keep_apart(&self.databases, [])?;
        let names: Vec<_> = self
            .databases
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        session.note("inputs", names);
        for path in &self.databases {
            let index = Index::open(path)?;
            index.features.verify()?;
            let (targets, features) = (
                index.targets.len() as u64,
                index.features.summary().features,
            );
            tracing::info!(
                "{}: whole, {}, {}",
                path.display(),
                things(targets, "reference"),
                things(features, "feature")
            );
        }
        Ok(())
    }
}

/// What a database holds, in numbers.
struct Facts {
    targets: u64,
    genomes: u64,
    files: u64,
    without_taxon: u64,
    letters: u64,
    windows: u64,
    taxa: u64,
    species: u64,
    parameters: Parameters,
    table: gyrase_table::gydb::Summary,
    checksum: u64,
    /// Features with as many locations as a feature may have.
    full: u64,
}

impl Facts {
    fn of(index: &Index) -> Facts {
        let (targets, taxonomy) = (&index.targets, &index.taxonomy);
        let species = taxonomy
            .taxa()
            .filter(|&taxon| taxonomy.rank(taxon) == Some(Rank::Species));
        Facts {
            targets: targets.len() as u64,
            genomes: Genomes::new(targets).iter().len() as u64,
            files: u64::from(targets.sources()),
            without_taxon: targets
                .iter()
                .filter(|target| target.taxon.is_none())
                .count() as u64,
            letters: targets.iter().map(|target| target.letters).sum(),
            windows: u64::from(targets.all_windows()),
            taxa: taxonomy.len() as u64,
            species: species.count() as u64,
            parameters: index.parameters,
            table: index.features.summary(),
            checksum: index.features.checksum(),
            full: index.full_features(),
        }
    }

    fn json(&self) -> Value {
        let facts = json!({
            "targets": self.targets,
            "genomes": self.genomes,
            "files": self.files,
            "without_taxon": self.without_taxon,
            "letters": self.letters,
            "windows": self.windows,
            "taxa": self.taxa,
            "species": self.species,
            "features": self.table.features,
            "locations": self.table.locations,
            "features_at_cap": self.full,
            "file_bytes": self.table.bytes,
            "checksum": format!("{:016x}", self.checksum),
        });
        merged(facts, &sketching(&self.parameters))
    }

    /// How many features may have had more locations.
    fn at_cap(&self) -> String {
        match self.full {
            0 => "none has so many".to_owned(),
            full => format!("{} with so many, perhaps of more", things(full, "feature")),
        }
    }

    fn table(&self, path: &Path) -> String {
        let sketch = &self.parameters.sketch;
        let (k, window, stride) = (sketch.k(), sketch.window(), sketch.stride());
        let chosen = match sketch.choice() {
            Choice::OneIn(one_in) => format!("one {k}-mer in {one_in}"),
            Choice::Smallest(smallest) => format!("the {smallest} smallest {k}-mers of a window"),
        };
        let rows = [
            ("database", path.display().to_string()),
            (
                "references",
                format!(
                    "{}, in {}",
                    grouped(self.targets),
                    things(self.files, "file")
                ),
            ),
            (
                "genomes",
                format!("{} (a taxon in a file)", grouped(self.genomes)),
            ),
            ("no taxon", grouped(self.without_taxon)),
            ("letters", grouped(self.letters)),
            (
                "windows",
                format!(
                    "{} of {window} letters, one every {stride}",
                    grouped(self.windows)
                ),
            ),
            (
                "taxa",
                format!(
                    "{}, {} of them species",
                    grouped(self.taxa),
                    grouped(self.species)
                ),
            ),
            (
                "features",
                format!("{}: {chosen}", grouped(self.table.features)),
            ),
            (
                "locations",
                format!(
                    "{}, up to {} a feature: {}",
                    grouped(self.table.locations),
                    self.table.cap,
                    self.at_cap()
                ),
            ),
            ("size", bytes(self.table.bytes)),
            ("checksum", format!("{:016x}", self.checksum)),
        ];
        rows.iter()
            .map(|(name, value)| format!("{name:<14}{value}\n"))
            .collect()
    }
}
