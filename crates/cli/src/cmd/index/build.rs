//! `gyrase index build` and `gyrase index add`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use gyrase_picture::words::{self, bytes, grouped, things};
use gyrase_seqdb::{IndexConfig, Indexed, Molecule, SequenceSource, build, open_all, want};
use gyrase_taxonomy::{TaxonMap, Taxonomy};
use serde_json::json;

use super::info::facts;
use crate::cmd::references::read_tables;
use crate::failure::{Failure, Result};
use crate::places;
use crate::session::Session;

/// Tables of taxids up to this size, in bytes, are kept whole in memory.
const SMALL: u64 = 16 << 20;

/// Taxids that a warning names.
const NAMED: usize = 5;

const EXAMPLES: &str = "\
Examples:
  gyrase index build refs.fa.gz more.fa -o refs.gysd
  gyrase index build @files.txt --taxonomy taxdump.tar.gz --map table.tsv \\
      -o refs.gysd
  gyrase index build nr -o nr.gysd      BLAST's nr.pal and its volumes
  gyrase index build a.gysd b.gysd -o both.gysd

The taxids of a sequence come from its database, else from its title
(kraken:taxid|N in the first word, or UniProt's OX=N), else from --map, by
accession, with or without version, or by the name of its file.
Letters become upper case, U of nucleotides T, gaps are left out. Masks that a
.gysd has stay; --lower-case-masking makes them of files too.
The database has the same bytes for any memory, and is of the same size in any
order.";

/// Build a database of sequences.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Build {
    /// FASTA or FASTQ, plain or compressed, known by content; `.gysd`; BLAST databases, by the name
    /// without endings; `@list` for a list of such; `-` for a pipe
    #[arg(value_name = "REFS", required = true)]
    references: Vec<PathBuf>,

    #[command(flatten)]
    taxa: Taxa,

    /// Keep which letters of files are in lower case, as masks for `search --db-mask`
    #[arg(long)]
    lower_case_masking: bool,

    /// What the letters stand for [default: what they look like]
    #[arg(long, value_name = "KIND")]
    molecule: Option<Kind>,

    /// SeqDb to make
    #[arg(long, short, value_name = "FILE.gysd", required = true)]
    output: Option<PathBuf>,
}

/// Add sequences to a database, behind those that it has.
#[derive(Debug, Args)]
pub struct Add {
    /// The database
    #[arg(value_name = "DATABASE.gysd")]
    database: PathBuf,

    /// What to add: files of sequences and databases, as `index build` takes them
    #[arg(value_name = "REFS", required = true)]
    references: Vec<PathBuf>,

    #[command(flatten)]
    taxa: Taxa,

    /// Keep which letters of files are in lower case, as masks for `search --db-mask`
    #[arg(long)]
    lower_case_masking: bool,

    /// SeqDb to make [default: the database is replaced]
    #[arg(long, short, value_name = "FILE.gysd")]
    output: Option<PathBuf>,
}

/// Where taxids and taxa come from.
#[derive(Debug, Args)]
struct Taxa {
    /// Folder or archive of an NCBI dump, or a table of lineages [default: the taxa that the
    /// databases among REFS have]
    #[arg(long, value_name = "PATH")]
    taxonomy: Option<PathBuf>,

    /// Table of taxids by accession or file: NCBI's accession2taxid, or two columns; may be given
    /// again
    #[arg(long, value_name = "FILE")]
    map: Vec<PathBuf>,
}

/// As it is typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// Residues
    Protein,
    /// Bases, and letters that stand for several
    Nucleotide,
}

impl From<Kind> for Molecule {
    fn from(kind: Kind) -> Molecule {
        match kind {
            Kind::Protein => Molecule::Protein,
            Kind::Nucleotide => Molecule::Nucleotide,
        }
    }
}

impl Build {
    /// Builds, and says what was built.
    pub fn run(self, session: &Session) -> Result<()> {
        let output = self.output.unwrap_or_default();
        let references = self.references.iter();
        session.keep_apart(self.taxa.files().chain(references), [&output])?;
        let work = Work {
            references: &self.references,
            taxa: &self.taxa,
            molecule: self.molecule.map(Molecule::from),
            lower_case_masking: self.lower_case_masking,
            output: &output,
        };
        work.run(session).map(drop)
    }
}

impl Add {
    /// Adds, and says what came of it.
    pub fn run(self, session: &Session) -> Result<()> {
        let output = self.output.as_ref().unwrap_or(&self.database);
        let references = self.references.iter();
        session.keep_apart(self.taxa.files().chain(references), [output])?;
        let before = gyrase_seqdb::gysd::SeqDb::open(&self.database)?.summary();
        let mut references = vec![self.database.clone()];
        references.extend(self.references.iter().cloned());
        let work = Work {
            references: &references,
            taxa: &self.taxa,
            molecule: None,
            lower_case_masking: self.lower_case_masking,
            output,
        };
        let after = work.run(session)?.summary;
        let added = after.sequences - before.sequences;
        tracing::info!("added {}", things(added, "sequence"));
        Ok(())
    }
}

impl Taxa {
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.map.iter().chain(&self.taxonomy)
    }

    /// What the tables say, of these sources if the tables are large, and the taxonomy.
    fn read(
        &self,
        sources: &[SequenceSource],
        session: &Session,
    ) -> Result<(TaxonMap, Option<Taxonomy>)> {
        let size = |path: &PathBuf| path.metadata().map_or(0, |there| there.len());
        let mut map = TaxonMap::keeping_all();
        if self.map.iter().map(size).sum::<u64>() > SMALL {
            map = TaxonMap::default();
            if sources.iter().any(SequenceSource::is_pipe) {
                return Err(Failure::usage(
                    "sequences from a pipe cannot be read twice, as large tables of --map need; \
                     write them to a file first",
                ));
            }
            session.shown(|progress| want(sources, &mut map, progress))?;
        }
        read_tables(&mut map, &self.map, session)?;
        let taxonomy = self.taxonomy.as_ref();
        let taxonomy = taxonomy
            .map(|path| gyrase_taxonomy::read(path))
            .transpose()?;
        Ok((map, taxonomy.map(|source| source.taxonomy)))
    }
}

/// A database to be made.
struct Work<'a> {
    references: &'a [PathBuf],
    taxa: &'a Taxa,
    molecule: Option<Molecule>,
    lower_case_masking: bool,
    output: &'a Path,
}

impl Work<'_> {
    fn run(&self, session: &Session) -> Result<Indexed> {
        places::keep_databases_only(self.output, places::Kind::Gysd)?;
        let sources = open_all(self.references)?;
        let (map, taxonomy) = self.taxa.read(&sources, session)?;
        let has_taxa = taxonomy.is_some() || !self.taxa.map.is_empty();
        let config = IndexConfig {
            sources: &sources,
            output: self.output,
            molecule: self.molecule,
            lower_case_masking: self.lower_case_masking,
            map: &map,
            taxonomy,
        };
        let made = session.shown(|progress| build(&config, progress))?;
        self.note(session, &made);
        self.say(session, &made, has_taxa);
        Ok(made)
    }

    fn say(&self, session: &Session, made: &Indexed, has_taxa: bool) {
        let summary = &made.summary;
        tracing::info!(
            "{} of {}, {}, in {}, {}",
            things(summary.sequences, "sequence"),
            summary.molecule,
            things(summary.letters, "letter"),
            self.output.display(),
            bytes(summary.bytes)
        );
        if summary.sequences == 0 {
            tracing::warn!("there is no sequence in any of the files, so nothing will be found");
        } else if has_taxa && made.without_taxid > 0 {
            tracing::warn!(
                "{} of {} have no taxid",
                grouped(made.without_taxid),
                things(summary.sequences, "sequence")
            );
        }
        if !made.unknown.is_empty() {
            let some: Vec<String> = made
                .unknown
                .iter()
                .take(NAMED)
                .map(u32::to_string)
                .collect();
            tracing::warn!(
                "the taxonomy does not have {}, such as {}; is it older than the sequences?",
                things(made.unknown.len() as u64, "taxid"),
                some.join(", ")
            );
        }
        tracing::info!("{}", words::time(session.elapsed()));
    }

    fn note(&self, session: &Session, made: &Indexed) {
        let names = self
            .references
            .iter()
            .map(|path| path.display().to_string());
        session.note("inputs", names.collect::<Vec<_>>());
        session.note("output", self.output.display().to_string());
        let mut counts = facts(&made.summary);
        counts["without_taxid"] = json!(made.without_taxid);
        counts["unknown_taxids"] = json!(made.unknown.len());
        session.note("counts", counts);
    }
}
