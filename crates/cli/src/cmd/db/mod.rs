//! `gyrase db`: databases of references.

mod add;
mod build;
mod fetch;
pub mod gpu;
mod info;
mod inspect;
mod list;
mod merge;
mod plan;
mod remove;

use clap::{Args, Subcommand};

pub use plan::PlanDb;

use crate::failure::Result;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase db fetch assembly_summary.txt --category reference -o files.txt
  gyrase db build refs/ --taxonomy taxdump/ --map acc2taxid.gz -o refs.gydb
  gyrase db info refs.gydb
  gyrase db taxa refs.gydb | grep Escherichia
  gyrase db add refs.gydb new.fna.gz --taxonomy taxdump/
  gyrase db merge bacteria.gydb viruses.gydb -o both.gydb
  gyrase db verify refs.gydb";

/// Build databases of references for `classify`, change them, and look into them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Db {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Build a database of references
    Build(build::Build),
    /// List the files to download of NCBI's assemblies, and check what arrived
    Fetch(Box<fetch::Fetch>),
    /// Add references to a database
    Add(add::Add),
    /// Remove references from a database
    Remove(remove::Remove),
    /// Merge databases into one
    Merge(merge::Merge),
    /// Say what a database holds
    Info(info::Info),
    /// List the references: name, taxid, letters, windows (stretches), number of its file
    Targets(list::Targets),
    /// List the taxa: taxid, rank, name, and the references at and below each
    Taxa(list::Taxa),
    /// Print the features (k-mers kept) of every taxon, as `kraken2-inspect` prints minimizers
    Inspect(inspect::Inspect),
    /// Read all of a database and check it
    Verify(info::Verify),
}

impl Db {
    /// True where several processes share the work.
    pub fn is_shared(&self) -> bool {
        matches!(
            self.what,
            What::Build(_) | What::Add(_) | What::Remove(_) | What::Merge(_)
        )
    }

    /// Does it.
    pub fn run(self, session: &Session) -> Result<()> {
        match self.what {
            What::Build(verb) => verb.run(session),
            What::Fetch(verb) => verb.run(session),
            What::Add(verb) => verb.run(session),
            What::Remove(verb) => verb.run(session),
            What::Merge(verb) => verb.run(session),
            What::Info(verb) => verb.run(session),
            What::Targets(verb) => verb.run(session),
            What::Taxa(verb) => verb.run(session),
            What::Inspect(verb) => verb.run(session),
            What::Verify(verb) => verb.run(session),
        }
    }
}
