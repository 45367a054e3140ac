//! `gyrase serve-worker`, and how `gyrase serve` starts it.

use std::ffi::OsString;
use std::io::{stdin, stdout};
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

use clap::Args;
use gyrase_schedule::Policy;
use gyrase_serve::{JobKind, NamedDatabase, WorkerConfig, Workers, work};

use super::words::{named, search_options};
use crate::failure::{Code, Failure, Result};
use crate::session::Session;
use crate::size::Size;

/// Bytes that a search needs beside fragments, at least.
const SEARCH: u64 = 64 << 20;

/// Processes that search.
#[derive(Debug, Args)]
#[command(next_help_heading = "Workers")]
pub struct WorkerOptions {
    /// Processes that search here, each with fragments of databases in memory of its own
    #[arg(long, value_name = "N", default_value_t = 0)]
    workers: usize,

    /// One more worker, started by a command such as `ssh node2`: on a machine that has gyrase in
    /// its PATH, and the databases in the same places
    #[arg(long, value_name = "COMMAND")]
    worker_on: Vec<String>,

    /// Memory of each worker [default: its share of three quarters of --memory]
    #[arg(long, value_name = "SIZE")]
    worker_memory: Option<Size>,

    /// Threads of each worker [default: its share of --threads]
    #[arg(long, value_name = "N")]
    worker_threads: Option<usize>,

    /// How many workers a job gets, and which: fix-s, fix-m, fix-l or rmap, alone or with -plard
    /// [default: rmap where workers hold all databases together, or else rmap-plard]
    #[arg(long, value_name = "POLICY")]
    policy: Option<Policy>,
}

impl WorkerOptions {
    /// The workers that were asked for, and the memory that is left for the service.
    pub fn workers(
        &self,
        databases: &[NamedDatabase],
        session: &Session,
    ) -> Result<(Option<Workers>, u64)> {
        let all = self.workers + self.worker_on.len();
        if all == 0 {
            return Ok((None, session.memory));
        }
        let own = session.memory / 4;
        let share = (session.memory - own) / all as u64;
        let memory = self
            .worker_memory
            .map_or(share, |size| size.of(session.memory));
        let threads = self.worker_threads;
        let threads = threads.unwrap_or_else(|| (session.threads / self.workers.max(1)).max(1));
        let mut workers = Workers {
            commands: vec![Vec::new(); all],
            policy: self.policy,
            memory: cache_of(memory),
        };
        let mut words: Vec<OsString> = vec!["serve-worker".into(), "--quiet".into()];
        for (option, value) in [
            ("--fragments", workers.fragments() as u64),
            ("--memory", memory),
            ("--threads", threads as u64),
        ] {
            words.extend([option.into(), value.to_string().into()]);
        }
        let searched = |database: &&NamedDatabase| database.kind() == JobKind::Search;
        for database in databases.iter().filter(searched) {
            words.extend(["--db".into(), with_files(database)?]);
        }
        let program = std::env::current_exe();
        let program = program.map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
        for (number, command) in workers.commands.iter_mut().enumerate() {
            match self.worker_on.get(number.wrapping_sub(self.workers)) {
                Some(on) => {
                    command.extend(on.split_whitespace().map(OsString::from));
                    command.push("gyrase".into());
                    refuse_for_shells(&words)?;
                }
                None => command.push(program.clone().into()),
            }
            command.extend(words.iter().cloned());
        }
        Ok((Some(workers), own))
    }
}

/// Of the memory of a worker, what is for fragments: what a search does not need.
fn cache_of(memory: u64) -> u64 {
    memory.saturating_sub((memory / 4).max(SEARCH))
}

/// A database as a worker is told of it, wherever it is started.
fn with_files(database: &NamedDatabase) -> Result<OsString> {
    let mut word = OsString::from(&database.name);
    for (number, file) in database.files.iter().enumerate() {
        word.push(if number == 0 { "=" } else { "," });
        word.push(absolute_path(file)?);
    }
    Ok(word)
}

fn absolute_path(path: &Path) -> Result<PathBuf> {
    absolute(path).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

/// Refuses words that a shell would change: `ssh` hands them to one.
fn refuse_for_shells(words: &[OsString]) -> Result<()> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./,=+:@%".contains(byte);
    match words
        .iter()
        .find(|word| !word.as_encoded_bytes().iter().all(is_plain))
    {
        None => Ok(()),
        Some(word) => Err(Failure::usage(format!(
            "--worker-on: a shell would change the word {}: rename that file",
            word.display()
        ))),
    }
}

/// Search for a `gyrase serve` that starts this and speaks to it over standard input and output.
#[derive(Debug, Args)]
pub struct ServeWorker {
    /// A database of the service
    #[arg(long, value_name = "NAME=FILE,...", required = true, value_parser = named)]
    db: Vec<NamedDatabase>,

    /// Into how many fragments each database is divided
    #[arg(long, value_name = "N")]
    fragments: usize,
}

impl ServeWorker {
    /// Searches until the service is gone.
    pub fn run(self, session: &Session) -> Result<()> {
        // From now on a signal to all processes of a terminal leaves it to the service to end this.
        session.progress.start("serve", 0);
        let cache = cache_of(session.memory);
        let config = WorkerConfig {
            databases: self.db,
            fragments: self.fragments,
            cache,
            memory: session.memory - cache,
            threads: session.threads,
            scratch: session.tmp.clone(),
            search_options: Arc::new(search_options),
        };
        Ok(work(config, stdin(), stdout().lock())?)
    }
}
