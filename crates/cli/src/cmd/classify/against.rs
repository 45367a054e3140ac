//! What the reads of `gyrase classify` are compared with.

use std::path::PathBuf;
use std::slice;

use clap::Args;
use gyrase_classify::report::Origin;
use gyrase_classify::{Collection, Index, Parameters};
use gyrase_picture::words::{self, bytes, things};

use super::origin;
use crate::cmd::folders::{self, Wanted};
use crate::cmd::references::Taxa;
use crate::failure::{Code, Failure, Result};
use crate::gpu::GpuArgs;
use crate::places;
use crate::report;
use crate::session::Session;

/// A database, or references.
#[derive(Debug, Args)]
pub struct Against {
    /// Database of references, as `gyrase db build` makes it; given again, the answers are those of
    /// all together
    #[arg(
        long, value_name = "FILE.gydb", required_unless_present_any = ["refs", "merge"],
        conflicts_with = "refs",
    )]
    db: Vec<PathBuf>,

    /// Instead of a database: references, a folder of them, or `@list`; may be given again
    #[arg(long, value_name = "REFS", requires = "taxonomy")]
    refs: Vec<PathBuf>,

    /// With --refs: the taxonomy, as for `gyrase db build`
    #[arg(long, value_name = "PATH", requires = "refs")]
    taxonomy: Option<PathBuf>,

    /// With --refs: table of taxids, as for `gyrase db build`; may be given again
    #[arg(long, value_name = "FILE", requires = "refs")]
    map: Vec<PathBuf>,
}

impl Against {
    /// The files that are named.
    pub fn inputs(&self) -> impl Iterator<Item = &PathBuf> {
        self.db
            .iter()
            .chain(&self.taxonomy)
            .chain(&self.map)
            .chain(&self.refs)
    }

    /// The files that are read: databases, or taxonomy and tables, and `references`.
    pub fn files(&self, references: &[PathBuf]) -> Vec<PathBuf> {
        let taxonomy = self.taxonomy.iter();
        let taxonomy = taxonomy.flat_map(|path| gyrase_taxonomy::files(path));
        let others = self.db.iter().chain(&self.map).chain(references);
        taxonomy.chain(others.cloned()).collect()
    }

    /// The files of references, those of folders and lists.
    pub fn references(&self, session: &Session) -> Result<Vec<PathBuf>> {
        folders::files(&self.refs, Wanted::References, session)
    }

    /// True where a database is built in memory.
    pub fn is_on_the_fly(&self) -> bool {
        !self.refs.is_empty()
    }

    /// True where databases are opened.
    pub fn is_of_databases(&self) -> bool {
        !self.db.is_empty()
    }

    /// What pages say of it.
    pub fn origin(&self, collection: &Collection) -> Result<Origin> {
        let mut sources: Vec<(&str, String)> = Vec::new();
        let references = self.refs.iter();
        sources.extend(references.map(|path| ("References", origin::name(path))));
        let names = self.db.iter().map(|path| origin::name(path));
        let names = names.chain(self.is_on_the_fly().then(|| "in memory".to_string()));
        sources.extend(collection.sources(names));
        origin::of(sources)
    }

    /// Opens the database, or builds it in memory of `references`, on a GPU where one is named.
    pub fn index(
        &self,
        references: Vec<PathBuf>,
        gpu: &GpuArgs,
        session: &Session,
    ) -> Result<Collection> {
        match &self.taxonomy {
            _ if !self.db.is_empty() => {
                places::keep_different(&self.db)?;
                let indexes = self
                    .db
                    .iter()
                    .map(|path| Index::open(path))
                    .collect::<std::result::Result<Vec<Index>, _>>()?;
                note(&indexes, session);
                Ok(Collection::new(indexes)?)
            }
            Some(taxonomy) => {
                let taxa = Taxa::read(taxonomy, &self.map, &references, session)?;
                let found = gpu.find_named(session)?;
                let found = found.as_ref().map(|found| (gpu, found));
                let (summary, database) = taxa.build(
                    references,
                    None,
                    Parameters::default(),
                    None,
                    found,
                    session,
                )?;
                let (targets, size) = (
                    things(summary.targets as u64, "reference"),
                    bytes(summary.table.bytes),
                );
                tracing::info!(
                    "{targets} in memory, {size}, {}",
                    words::time(session.elapsed())
                );
                let database = database
                    .ok_or_else(|| Failure::new(Code::Internal, "the database was not kept"))?;
                let index = Index::of(database)?;
                note(slice::from_ref(&index), session);
                Ok(index.into())
            }
            None => Err(Failure::usage(
                "name a database with --db, or references with --refs and --taxonomy",
            )),
        }
    }
}

/// Notes for the report which databases are read, by what is in them.
fn note(indexes: &[Index], session: &Session) {
    let features = indexes.iter().map(|index| &index.features);
    let sums = features.map(|features| (features.path(), features.checksum()));
    session.note("databases", report::identified(sums));
}
