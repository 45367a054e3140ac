//! `gyrase db build`.

use std::path::PathBuf;

use clap::Args;
use gyrase_classify::BuildSummary;
use serde_json::{Value, json};

use crate::cmd::references::{self, Taxa};
use crate::failure::Result;
use crate::session::Session;
use crate::words::{self, bytes, grouped, things};
use crate::{machine, places};

const EXAMPLES: &str = "\
Examples:
  gyrase db build refs/*.fna.gz --taxonomy taxdump/ \\
      --map nucl_gb.accession2taxid.gz -o refs.gydb        NCBI's files
  gyrase db build refs/ --taxonomy taxdump.tar.gz -o refs.gydb
      a folder; headers that say their taxid: >id|kraken:taxid|562
  gyrase db build @genomes.txt --taxonomy gtdb_taxonomy.tsv -o gtdb.gydb
      a list of files; a table of lineages

The taxid of a reference comes from its header (kraken:taxid|N), else from the
table of lineages or --map: by accession, with or without version, or by the
name of its file. References without a taxon stay in the database, are counted
and named. The database has the same bytes for any threads and memory.";

/// Build a database of references.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Build {
    /// FASTA or FASTQ, plain or compressed, known by content; a folder of such (.fna, .fa, .fasta and so on); `@list` for a list of files
    #[arg(value_name = "REFS", required = true)]
    references: Vec<PathBuf>,

    /// Folder or archive of an NCBI dump, or a table of lineages (GTDB's, or one whose first line names its ranks)
    #[arg(long, value_name = "PATH")]
    taxonomy: PathBuf,

    /// Table of taxids by accession or file: NCBI's accession2taxid, assembly_summary.txt, or two columns; may be given again
    #[arg(long, value_name = "FILE")]
    map: Vec<PathBuf>,

    /// Database to make
    #[arg(long, short, value_name = "FILE.gydb")]
    output: PathBuf,
}

impl Build {
    /// Builds, and says what was built.
    pub fn run(self, session: &Session) -> Result<()> {
        places::keep_databases_only(&self.output, places::Kind::Gydb)?;
        let files = references::files(&self.references)?;
        session.keep_apart(files.iter().chain(&self.map).chain([&self.taxonomy]), [&self.output])?;
        let taxa = Taxa::read(&self.taxonomy, &self.map, &files)?;
        let (summary, _) = taxa.build(files.clone(), Some(self.output.clone()), session)?;
        self.note(session, &files, &summary);
        self.say(session, &summary);
        Ok(())
    }

    fn say(&self, session: &Session, summary: &BuildSummary) {
        let (targets, table) = (summary.targets as u64, &summary.table);
        tracing::info!("{}, {}", things(targets, "reference"), things(summary.letters, "letter"));
        tracing::info!(
            "{} at {} in {}, {}",
            things(table.features, "feature"),
            things(table.locations, "location"),
            self.output.display(),
            bytes(table.bytes)
        );
        if summary.without_taxon == 0 {
            tracing::info!("every reference has a taxon");
        } else {
            tracing::info!(
                "{} of {} references have no taxon",
                grouped(summary.without_taxon as u64),
                grouped(targets)
            );
        }
        tracing::info!("{}, peak memory {}", words::time(session.elapsed()), bytes(machine::peak_memory()));
    }

    fn note(&self, session: &Session, files: &[PathBuf], summary: &BuildSummary) {
        let paths: Vec<Value> = files.iter().map(|path| path.display().to_string().into()).collect();
        session.note("inputs", paths);
        session.note("output", self.output.display().to_string());
        let maps: Vec<String> = self.map.iter().map(|path| path.display().to_string()).collect();
        let taxonomy = self.taxonomy.display().to_string();
        let (threads, memory) = (session.threads, session.memory);
        session
            .note("parameters", json!({"taxonomy": taxonomy, "map": maps, "threads": threads, "memory_bytes": memory}));
        session.note("counts", counts(summary));
        session.note("bytes", json!({"output": summary.table.bytes}));
    }
}

/// What was built, for the report.
pub fn counts(summary: &BuildSummary) -> Value {
    json!({
        "targets": summary.targets,
        "without_taxon": summary.without_taxon,
        "letters": summary.letters,
        "windows": summary.windows,
        "features": summary.table.features,
        "locations": summary.table.locations,
    })
}
