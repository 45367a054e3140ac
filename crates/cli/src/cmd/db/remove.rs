//! `gyrase db remove`.

use std::path::{Path, PathBuf};
use std::slice;

use clap::Args;
use gyrase_classify::Index;
use gyrase_classify::edit::{self, ChangePlan, Changed, Unwanted};
use gyrase_picture::words::things;
use serde_json::json;

use super::merge::{admit, keep_apart, limits, say};
use crate::failure::{Failure, Result};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase db remove refs.gydb --taxid 562         Escherichia coli and all below
  gyrase db remove refs.gydb --taxid 0 -o clean.gydb   what has no taxon
  gyrase db remove refs.gydb --target NC_000913.3 --target NC_002695.2
  gyrase db targets refs.gydb | awk '$3 < 1000 {print $1}' > short.txt
  gyrase db remove refs.gydb --targets-from short.txt

The result is the database of the references that stay, with one exception: a
feature that had as many locations as it may have does not get back those that
were left out for others. It is said how many features that may concern.";

/// Remove references from a database.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Remove {
    /// The database
    #[arg(value_name = "DATABASE.gydb")]
    database: PathBuf,

    #[command(flatten)]
    what: What,

    /// Database to make [default: the database is replaced]
    #[arg(long, short, value_name = "FILE.gydb")]
    output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct What {
    /// Remove all references of this taxon and of those below it; 0 for those without a taxon; may
    /// be given again
    #[arg(long, value_name = "TAXID")]
    taxid: Vec<u32>,

    /// Remove all references of this name; may be given again
    #[arg(long, value_name = "NAME")]
    target: Vec<String>,

    /// Remove the references that a file names: the first word of each line
    #[arg(long, value_name = "FILE")]
    targets_from: Option<PathBuf>,
}

impl Remove {
    /// Removes, and says what is left.
    pub fn run(self, session: &Session) -> Result<()> {
        let output = self.output();
        keep_apart(
            session,
            slice::from_ref(&self.database),
            self.what.targets_from.as_slice(),
            output,
        )?;
        let unwanted = self.what.unwanted()?;
        let base = Index::open(&self.database)?;
        admit(session, slice::from_ref(&base), 1)?;
        let limits = limits(session);
        let world = session.world();
        let left = session.shown(|progress| {
            edit::remove_in(&base, &unwanted, output, &limits, world, progress)
        })?;
        if session.is_first() {
            self.tell(session, &base, (&unwanted, &left));
        }
        Ok(())
    }

    /// What it will take, and the bytes without which it is refused.
    pub fn plan(&self, session: &Session) -> Result<(ChangePlan, u64)> {
        let unwanted = self.what.unwanted()?;
        let base = Index::open(&self.database)?;
        let least = admit(session, slice::from_ref(&base), 1)?;
        let plan = edit::plan_remove(&base, &unwanted, session.threads)?;
        Ok((plan, least))
    }

    fn tell(&self, session: &Session, base: &Index, (unwanted, left): (&Unwanted, &Changed)) {
        session.note("inputs", self.database.display().to_string());
        session.note(
            "parameters",
            json!({"taxids": unwanted.taxids, "targets": unwanted.names}),
        );
        let removed = base.targets.len() - left.database.targets;
        tracing::info!("removed {}", things(removed as u64, "reference"));
        if left.incomplete > 0 {
            let features = things(left.incomplete, "feature");
            tracing::warn!(
                "{features} had reached the most locations of a feature and lost some of them; \
                 those that had been left out are not \
                 back, as a new build would have them"
            );
        }
        say(session, self.output(), left);
    }

    fn output(&self) -> &PathBuf {
        self.output.as_ref().unwrap_or(&self.database)
    }
}

impl What {
    fn unwanted(&self) -> Result<Unwanted> {
        let mut names = self.target.clone();
        if let Some(path) = &self.targets_from {
            names.extend(names_in(path)?);
        }
        Ok(Unwanted {
            taxids: self.taxid.clone(),
            names,
        })
    }
}

fn names_in(path: &Path) -> Result<Vec<String>> {
    let unreadable = |error| Failure::usage(format!("cannot read {}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let names: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect();
    if names.is_empty() {
        return Err(Failure::usage(format!(
            "{} names no reference; expected a name at the start of each line",
            path.display()
        )));
    }
    Ok(names)
}
