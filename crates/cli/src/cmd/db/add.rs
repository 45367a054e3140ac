//! `gyrase db add`.

use std::path::PathBuf;
use std::slice;

use clap::Args;
use gyrase_classify::Index;
use gyrase_picture::words::things;
use serde_json::json;

use super::build::{merged, sketching};
use super::merge::{admit, keep_apart, say, warn_of_repeated};
use crate::cmd::folders::{self, Wanted};
use crate::cmd::references::{self, Taxa};
use crate::failure::Result;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase db add refs.gydb new.fna.gz --taxonomy taxdump/ --map acc2taxid.gz
  gyrase db add refs.gydb strains/ --map strains.tsv -o more.gydb
      of taxa that refs.gydb has: its own taxonomy is enough

The result has the same bytes as a database built of the old references and then
the new ones. k-mers, windows and so on are those of the database. With
--taxonomy name the dump that the database was built with; where another one
contradicts it in the lineage of a new reference, nothing is changed.";

/// Add references to a database.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Add {
    /// The database
    #[arg(value_name = "DATABASE.gydb")]
    pub(super) database: PathBuf,

    /// FASTA or FASTQ, plain or compressed, known by content; a folder of such (.fna, .fa, .fasta
    /// and so on); `@list` for a list of files
    #[arg(value_name = "REFS", required = true)]
    pub(super) references: Vec<PathBuf>,

    /// Folder or archive of an NCBI dump, or a table of lineages [default: the taxa that the
    /// database has]
    #[arg(long, value_name = "PATH")]
    pub(super) taxonomy: Option<PathBuf>,

    /// Table of taxids by accession or file, as `db build` takes it; may be given again
    #[arg(long, value_name = "FILE")]
    pub(super) map: Vec<PathBuf>,

    /// Database to make [default: the database is replaced]
    #[arg(long, short, value_name = "FILE.gydb")]
    output: Option<PathBuf>,
}

impl Add {
    /// Adds, and says what came of it.
    pub fn run(self, session: &Session) -> Result<()> {
        let output = self.output.as_ref().unwrap_or(&self.database);
        let files = folders::files(&self.references, Wanted::References, session)?;
        let read: Vec<PathBuf> = files
            .iter()
            .chain(&self.map)
            .chain(&self.taxonomy)
            .cloned()
            .collect();
        keep_apart(session, slice::from_ref(&self.database), &read, output)?;
        let base = Index::open(&self.database)?;
        admit(session, slice::from_ref(&base), references::SHARES)?;
        let taxa = match &self.taxonomy {
            Some(taxonomy) => Taxa::read(taxonomy, &self.map, &files, session)?,
            None => Taxa::of_database(&base, &self.map, &files, session)?,
        };
        let whole = taxa.add(
            &base,
            files.clone(),
            output.clone(),
            self.taxonomy.is_none(),
            session,
        )?;
        if !session.is_first() {
            return Ok(());
        }
        self.note(session, &files, &base);
        warn_of_repeated(&whole);
        let added = whole.database.targets - base.targets.len();
        tracing::info!("added {}", things(added as u64, "reference"));
        say(session, output, &whole);
        Ok(())
    }

    fn note(&self, session: &Session, files: &[PathBuf], base: &Index) {
        let inputs = [&self.database]
            .into_iter()
            .chain(files)
            .map(|path| path.display().to_string());
        session.note("inputs", inputs.collect::<Vec<_>>());
        let taxonomy = self
            .taxonomy
            .as_ref()
            .map(|path| path.display().to_string());
        let maps: Vec<String> = self
            .map
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let (threads, memory) = (session.threads, session.memory);
        let run =
            json!({"taxonomy": taxonomy, "map": maps, "threads": threads, "memory_bytes": memory});
        session.note("parameters", merged(sketching(&base.parameters), &run));
    }
}
