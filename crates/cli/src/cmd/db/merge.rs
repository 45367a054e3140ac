//! `gyrase db merge`.

use std::path::{Path, PathBuf};

use clap::Args;
use gyrase_classify::Index;
use gyrase_classify::edit::{self, ChangePlan, Changed, Limits};
use gyrase_picture::words::{self, bytes, grouped, things};
use serde_json::json;

use super::build::{counts, sketching};
use crate::cmd::references;
use crate::failure::{Code, Failure, Result};
use crate::places;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase db merge bacteria.gydb viruses.gydb -o refs.gydb
  gyrase db merge parts/*.gydb -o refs.gydb

The result has the same bytes as a database built of all the references in this
order. The parts must have been built with the same -k, --window, --stride,
--one-in or --smallest and --locations, and with one taxonomy. References that
several parts have are kept as often as they are there, with a warning.";

/// Merge databases into one.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Merge {
    /// The databases, in the order that their references shall have
    #[arg(value_name = "DATABASE.gydb", required = true)]
    databases: Vec<PathBuf>,

    /// Database to make; one of those that are merged may be replaced
    // `gyrase plan db merge` does without.
    #[arg(long, short, value_name = "FILE.gydb", required = true)]
    output: Option<PathBuf>,
}

impl Merge {
    /// Merges, and says what came of it.
    pub fn run(self, session: &Session) -> Result<()> {
        let output = &self.output.clone().unwrap_or_default();
        keep_apart(session, &self.databases, &[], output)?;
        let parts = self.open()?;
        admit(session, &parts, 1)?;
        let limits = limits(session);
        let world = session.world();
        let merged =
            session.shown(|progress| edit::merge_in(&parts, output, &limits, world, progress))?;
        if session.is_first() {
            self.tell(session, &parts, (output, &merged));
        }
        Ok(())
    }

    /// What it will take, and the bytes without which it is refused.
    pub fn plan(&self, session: &Session) -> Result<(ChangePlan, u64)> {
        let parts = self.open()?;
        let least = admit(session, &parts, 1)?;
        edit::check(&parts)?;
        Ok((edit::plan_merge(&parts, session.threads), least))
    }

    fn open(&self) -> Result<Vec<Index>> {
        let opened = self.databases.iter().map(|path| Index::open(path));
        Ok(opened.collect::<std::result::Result<Vec<_>, _>>()?)
    }

    fn tell(&self, session: &Session, parts: &[Index], (output, merged): (&Path, &Changed)) {
        let inputs: Vec<_> = self
            .databases
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        session.note("inputs", inputs);
        session.note("parameters", sketching(&parts[0].parameters));
        for (path, part) in self.databases.iter().zip(parts) {
            tracing::info!(
                "{}: {}",
                path.display(),
                things(part.targets.len() as u64, "reference")
            );
        }
        warn_of_repeated(merged);
        say(session, output, merged);
    }
}

/// What a change may take of the machine.
pub fn limits(session: &Session) -> Limits<'_> {
    Limits {
        threads: session.threads,
        tmp: &session.tmp,
        max_tmp: session.max_tmp,
    }
}

/// Refuses outputs over inputs, and inputs that are not the same for all processes of a job. A
/// database may take the place of one that it is made of.
pub fn keep_apart(
    session: &Session,
    databases: &[PathBuf],
    others: &[PathBuf],
    output: &PathBuf,
) -> Result<()> {
    places::keep_databases_only(output, places::Kind::Gydb)?;
    session.keep_apart(others, [output])?;
    session.keep_apart(databases, [])?;
    session.same_files(databases.iter().chain(others).cloned())
}

/// Refuses what cannot keep within its memory, of which lists are one of so many shares; the bytes
/// without which it is refused.
pub fn admit(session: &Session, parts: &[Index], shares: u64) -> Result<u64> {
    let locations = parts
        .iter()
        .map(|part| part.features.summary().locations)
        .sum();
    let least = shares * edit::least_memory(locations, session.threads);
    if session.memory < least {
        let (given, threads) = (
            bytes(session.memory),
            things(session.threads as u64, "thread"),
        );
        let what = format!(
            "changing these databases with {threads} needs at least {}, not {given}",
            bytes(least)
        );
        return Err(Failure::new(
            Code::Memory,
            format!("{what}; raise --memory or lower --threads"),
        ));
    }
    Ok(least)
}

/// Names some references that came twice.
pub fn warn_of_repeated(changed: &Changed) {
    let repeated = &changed.repeated;
    if !repeated.is_empty() {
        let mut names: Vec<&str> = Vec::new();
        for name in repeated {
            if names.len() < references::NAMED && !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let (all, names) = (things(repeated.len() as u64, "reference"), names.join(", "));
        tracing::warn!(
            "{all} came with a name that another has, and all are kept; the first: {names}"
        );
    }
}

/// Says what a database has become, and notes it for the report.
pub fn say(session: &Session, output: &Path, changed: &Changed) {
    let (database, table) = (&changed.database, &changed.database.table);
    session.note("output", output.display().to_string());
    let more = json!({
        "repeated_names": changed.repeated.len(), "incomplete_features": changed.incomplete,
    });
    session.note("counts", super::build::merged(counts(database), &more));
    session.note("bytes", json!({"output": table.bytes}));
    tracing::info!(
        "{}: {}, {} without a taxon; {} at {}, {}",
        output.display(),
        things(database.targets as u64, "reference"),
        grouped(database.without_taxon as u64),
        things(table.features, "feature"),
        things(table.locations, "location"),
        bytes(table.bytes)
    );
    tracing::info!(
        "{}, peak memory {}",
        words::time(session.elapsed()),
        bytes(gyrase_work::machine::peak_memory())
    );
}
