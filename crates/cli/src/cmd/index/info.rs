//! `gyrase index info` and `gyrase index verify`.

use std::path::PathBuf;

use clap::Args;
use gyrase_picture::words::{bytes, grouped, things};
use gyrase_seqdb::gysd::{SeqDb, Summary};
use gyrase_taxonomy::Rank;
use serde_json::{Value, json};

use crate::failure::Result;
use crate::places;
use crate::session::Session;
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase index info refs.gysd
  gyrase index info refs.gysd --json | jq .letters";

/// Say what a database holds.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Info {
    /// The database
    #[arg(value_name = "DATABASE.gysd")]
    database: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Read all of a database and check every checksum and every value.
#[derive(Debug, Args)]
pub struct Verify {
    /// The databases
    #[arg(value_name = "DATABASE.gysd", required = true)]
    databases: Vec<PathBuf>,
}

/// What a database holds, in numbers.
pub(super) fn facts(summary: &Summary) -> Value {
    json!({
        "molecule": summary.molecule.to_string(),
        "sequences": summary.sequences,
        "letters": summary.letters,
        "longest": summary.longest,
        "file_bytes": summary.bytes,
    })
}

impl Info {
    /// Prints the facts.
    pub fn run(self, session: &Session) -> Result<()> {
        session.keep_apart([&self.database], [places::standard_output()])?;
        let database = SeqDb::open(&self.database)?;
        let taxonomy = database.taxonomy()?;
        let [taxa, species] = taxonomy.as_ref().map_or([0; 2], |taxonomy| {
            let is_species = |taxon: &_| taxonomy.rank(*taxon) == Some(Rank::Species);
            let species = taxonomy.taxa().filter(is_species).count();
            [taxonomy.len() as u64, species as u64]
        });
        let (summary, taxids) = (database.summary(), database.taxids_of_all());
        let masked = database.masked_letters()?;
        let mut all = facts(&summary);
        all["masks"] = json!(database.has_masks());
        all["masked_letters"] = json!(masked);
        all["taxids"] = json!(taxids);
        all["taxa"] = json!(taxa);
        all["species"] = json!(species);
        session.note("inputs", self.database.display().to_string());
        session.note("counts", all.clone());
        if self.json {
            return sink::write_all(None, format!("{all:#}\n").as_bytes());
        }
        let mean = summary.letters as f64 / summary.sequences.max(1) as f64;
        let rows = [
            ("database", self.database.display().to_string()),
            ("sequences", grouped(summary.sequences)),
            (
                "letters",
                format!("{} of {}", grouped(summary.letters), summary.molecule),
            ),
            ("longest", grouped(summary.longest)),
            ("mean", format!("{mean:.1}")),
            (
                "masks",
                match database.has_masks() {
                    true => format!("{} letters, in lower case", grouped(masked)),
                    false => "none were kept".into(),
                },
            ),
            ("taxids", format!("{} of all sequences", grouped(taxids))),
            (
                "taxa",
                format!("{}, {} of them species", grouped(taxa), grouped(species)),
            ),
            ("size", bytes(summary.bytes)),
        ];
        let row = |(name, value): &(&str, String)| format!("{name:<14}{value}\n");
        sink::write_all(None, rows.iter().map(row).collect::<String>().as_bytes())
    }
}

impl Verify {
    /// Checks; an error names the first thing that is wrong.
    pub fn run(self, session: &Session) -> Result<()> {
        session.keep_apart(&self.databases, [])?;
        let names = self.databases.iter().map(|path| path.display().to_string());
        session.note("inputs", names.collect::<Vec<_>>());
        for path in &self.databases {
            let database = SeqDb::open(path)?;
            database.verify()?;
            let summary = database.summary();
            tracing::info!(
                "{}: whole, {}, {}",
                path.display(),
                things(summary.sequences, "sequence"),
                things(summary.letters, "letter")
            );
        }
        Ok(())
    }
}
