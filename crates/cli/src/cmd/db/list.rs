//! `gyrase db targets` and `gyrase db taxa`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use gyrase_classify::Index;

use crate::failure::Result;
use crate::places;
use crate::session::Session;
use crate::sink::Sink;

/// List the references: name, taxid (0 for none), letters, windows (stretches that hits are located
/// to), number of its file; tab-separated, in the order of the database.
#[derive(Debug, Args)]
pub struct Targets {
    /// The database
    #[arg(value_name = "DATABASE.gydb")]
    database: PathBuf,
}

/// List the taxa: taxid, rank, name, references and letters at and below each; tab-separated,
/// parents before children.
#[derive(Debug, Args)]
pub struct Taxa {
    /// The database
    #[arg(value_name = "DATABASE.gydb")]
    database: PathBuf,
}

impl Targets {
    /// Prints the table.
    pub fn run(self, session: &Session) -> Result<()> {
        print(&self.database, session, |index, out| {
            writeln!(out, "name\ttaxid\tletters\twindows\tfile")?;
            index.targets.iter().try_for_each(|target| {
                let taxid = target.taxon.map_or(0, |taxon| index.taxonomy.taxid(taxon));
                writeln!(
                    out,
                    "{}\t{taxid}\t{}\t{}\t{}",
                    target.name, target.letters, target.windows, target.source
                )
            })
        })
    }
}

impl Taxa {
    /// Prints the table.
    pub fn run(self, session: &Session) -> Result<()> {
        print(&self.database, session, |index, out| {
            let taxonomy = &index.taxonomy;
            writeln!(out, "taxid\trank\tname\ttargets\tletters")?;
            taxonomy
                .taxa()
                .zip(sums(index))
                .try_for_each(|(taxon, (targets, letters))| {
                    let (taxid, rank) = (taxonomy.taxid(taxon), taxonomy.rank_name(taxon));
                    let name = taxonomy.name(taxon).replace(char::is_control, " ");
                    writeln!(out, "{taxid}\t{rank}\t{name}\t{targets}\t{letters}")
                })
        })
    }
}

fn print(
    database: &Path,
    session: &Session,
    write: impl FnOnce(&Index, &mut Sink) -> io::Result<()>,
) -> Result<()> {
    let path = database.to_path_buf();
    session.keep_apart([&path], [places::standard_output()])?;
    session.note("inputs", database.display().to_string());
    let index = Index::open(database)?;
    let mut sink = Sink::open(None)?;
    write(&index, &mut sink).map_err(|source| sink.error(source))?;
    sink.finish()
}

/// References and their letters at and below every taxon.
fn sums(index: &Index) -> Vec<(u64, u64)> {
    let taxonomy = &index.taxonomy;
    let mut sums = vec![(0, 0); taxonomy.len()];
    for target in index.targets.iter() {
        for above in target
            .taxon
            .into_iter()
            .flat_map(|taxon| taxonomy.path(taxon))
        {
            let sum = &mut sums[above.index()];
            *sum = (sum.0 + 1, sum.1 + target.letters);
        }
    }
    sums
}
