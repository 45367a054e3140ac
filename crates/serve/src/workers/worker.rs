//! What a worker does: searches in shares of databases, for the service at its standard input.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use gyrase_search::{
    Config as SearchConfig, DividedDatabase, FragmentCache, FragmentShare, SearchError, WaitingText,
};
use gyrase_work::Progress;

use super::wire::{Order, Search, Word, hear, say};
use crate::ServeError;
use crate::config::{NamedDatabase, SearchOptions};
use crate::databases::divided;

/// A worker.
pub struct WorkerConfig {
    /// The databases of the service, by the same names.
    pub databases: Vec<NamedDatabase>,
    /// Into how many fragments each is divided.
    pub fragments: usize,
    /// Bytes that fragments may take.
    pub cache: u64,
    /// Bytes beside them, for a search.
    pub memory: u64,
    /// Threads that search.
    pub threads: usize,
    /// Where files of a search may be for a while.
    pub scratch: PathBuf,
    /// What the words of a search mean.
    pub search_options: SearchOptions,
}

/// A search that was asked for, its queries, and what is cancelled with it.
type Asked = (Search, Vec<u8>, Arc<Progress>);

/// Does what the service at `input` says, until it says no more, and tells it at `output`.
///
/// # Errors
/// A database cannot be opened; the system has no threads.
pub fn work(
    config: WorkerConfig,
    input: impl Read + Send + 'static,
    mut output: impl Write,
) -> Result<(), ServeError> {
    let mut databases = Vec::new();
    for named in &config.databases {
        databases.push(divided(named, config.fragments, config.threads)?);
    }
    let digest = |(named, divided): (&NamedDatabase, &DividedDatabase)| {
        (named.name.clone(), divided.digest())
    };
    let ready = Word::Ready {
        version: env!("CARGO_PKG_VERSION").into(),
        digests: config
            .databases
            .iter()
            .zip(&databases)
            .map(digest)
            .collect(),
    };
    if say(&mut output, &ready, b"").is_err() {
        // The service is gone already.
        return Ok(());
    }
    let (to, asked) = channel();
    thread::Builder::new()
        .name("orders".into())
        .spawn(move || take(input, &to))?;
    let mut worker = Worker {
        cache: FragmentCache::new(config.cache),
        config,
        databases,
        output,
    };
    worker.run(&asked);
    Ok(())
}

/// Takes what the service says, and stops what it no longer wants.
fn take(mut input: impl Read, to: &Sender<Asked>) {
    let mut current: Option<(u64, Arc<Progress>)> = None;
    while let Ok(Some((order, body))) = hear::<Order>(&mut input) {
        match order {
            Order::Search(search) => {
                let progress = Arc::new(Progress::default());
                current = Some((search.task, Arc::clone(&progress)));
                if to.send((search, body, progress)).is_err() {
                    return;
                }
            }
            Order::Cancel { task } => {
                let own = current.iter().filter(|(own, _)| *own == task);
                own.for_each(|(_, progress)| progress.cancel());
            }
        }
    }
    current.iter().for_each(|(_, progress)| progress.cancel());
}

struct Worker<W> {
    config: WorkerConfig,
    databases: Vec<DividedDatabase>,
    cache: FragmentCache,
    output: W,
}

/// Why a share was not searched.
enum Unsearched {
    /// The service is gone.
    Unheard,
    Failed(SearchError),
    Refused(String),
}

impl From<io::Error> for Unsearched {
    fn from(_: io::Error) -> Unsearched {
        Unsearched::Unheard
    }
}

impl From<SearchError> for Unsearched {
    fn from(error: SearchError) -> Unsearched {
        Unsearched::Failed(error)
    }
}

impl<W: Write> Worker<W> {
    /// Searches until the service is gone.
    fn run(&mut self, asked: &Receiver<Asked>) {
        for (search, queries, progress) in asked {
            let task = search.task;
            let (before, failed) = (self.cache.read(), |problem, cancelled| Word::Failed {
                task,
                problem,
                cancelled,
            });
            let word = match self.search(&search, &queries, &progress) {
                Ok(()) => Word::Done {
                    task,
                    read: self.cache.read() - before,
                },
                Err(Unsearched::Unheard) => return,
                Err(Unsearched::Failed(SearchError::Cancelled)) => failed(String::new(), true),
                Err(Unsearched::Failed(error)) => failed(error.to_string(), false),
                Err(Unsearched::Refused(problem)) => failed(problem, false),
            };
            if say(&mut self.output, &word, b"").is_err() {
                return;
            }
            self.cache.index_words(self.config.threads);
        }
    }

    fn search(
        &mut self,
        search: &Search,
        queries: &[u8],
        progress: &Progress,
    ) -> Result<(), Unsearched> {
        let mut names = self.config.databases.iter().map(|named| &named.name);
        let number = names.position(|name| *name == search.database);
        let number = number.ok_or_else(|| Unsearched::Refused("no such database".into()))?;
        let config = self.search_config(search, queries)?;
        let [number_of_share, of] = search.share;
        let share = FragmentShare {
            number: number_of_share,
            of,
        };
        let (task, output) = (search.task, &mut self.output);
        self.databases[number].search_share(&config, share, &mut self.cache, progress, |found| {
            Ok::<_, Unsearched>(say(output, &Word::Found { task }, &found)?)
        })
    }

    /// The search, with its queries.
    fn search_config(&self, search: &Search, queries: &[u8]) -> Result<SearchConfig, Unsearched> {
        let config = (self.config.search_options)(&search.options);
        let config = config.map_err(Unsearched::Refused)?;
        let (mut rest, mut texts) = (queries, Vec::new());
        for &bytes in &search.files {
            let (own, behind) = rest
                .split_at_checked(bytes)
                .ok_or_else(|| Unsearched::Refused("queries are missing".into()))?;
            texts.push(("the queries of a job".into(), own.into()));
            rest = behind;
        }
        Ok(SearchConfig {
            queries: Vec::new(),
            query_texts: texts,
            subjects: Vec::new(),
            waiting: WaitingText::new(self.config.scratch.clone()),
            memory: self.config.memory,
            threads: self.config.threads,
            ..config
        })
    }
}
