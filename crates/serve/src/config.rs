//! What a service serves, and within which limits.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gyrase_classify::{Columns, Rule};
use gyrase_schedule::Policy;
use gyrase_taxonomy::Rank;

use crate::job::JobKind;

/// Makes the configuration of a search of words such as `["--evalue", "1e-5"]`: those of the
/// command line, without files. An error says what is wrong with which word.
pub type SearchOptions =
    Arc<dyn Fn(&[String]) -> Result<gyrase_search::Config, String> + Send + Sync>;

/// How reads are classified.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// When a read is classified, and how far down.
    pub rule: Rule,
    /// What the lines of reads tell.
    pub columns: Columns,
    /// Whether mates follow each other in one file.
    pub interleaved: bool,
    /// The rank of estimates.
    pub rank: Rank,
}

/// Says how reads are classified by words such as `["--confidence", "0.1"]`, as [`SearchOptions`]
/// does for searches.
pub type ClassifyOptions = Arc<dyn Fn(&[String]) -> Result<ReadOptions, String> + Send + Sync>;

/// A service.
#[derive(Clone)]
pub struct Config {
    /// What is searched in, in the order in which people see it.
    pub databases: Vec<NamedDatabase>,
    /// Where requests come in.
    pub listen: SocketAddr,
    /// Where health and metrics are asked for; nowhere if none.
    pub metrics: Option<SocketAddr>,
    /// The folder in which jobs are.
    pub jobs: PathBuf,
    /// Bytes of memory for databases and all jobs.
    pub memory: u64,
    /// Threads that search.
    pub threads: usize,
    /// Processes that search; the service itself if there are none.
    pub workers: Option<Workers>,
    /// How much is taken of whom.
    pub limits: ServiceLimits,
    /// How long jobs may go on once the service is asked to stop.
    pub drain: Duration,
    /// The file of the tokens of those who may ask; anybody may if there is none.
    pub tokens: Option<PathBuf>,
    /// PEM files of a certificate chain and its key, for TLS; plain HTTP if there are none.
    pub tls: Option<[PathBuf; 2]>,
    /// Proxies whose word on the address of a client is taken.
    pub trusted_proxies: Vec<IpAddr>,
    /// Origins (`https://name`) whose pages may ask, in browsers of anybody.
    pub origins: Vec<String>,
    /// Origins (`https://name`) to which the ends of jobs may be told.
    pub webhook_origins: Vec<String>,
    /// The file of the secret by which webhooks are signed; they are not if there is none.
    pub webhook_secret: Option<PathBuf>,
    /// What the words of a search mean.
    pub search_options: SearchOptions,
    /// What the words of a classification mean.
    pub classify_options: ClassifyOptions,
}

impl Config {
    /// Databases that are searched, and those for reads.
    pub fn by_use(
        &self,
    ) -> (
        impl Iterator<Item = &NamedDatabase>,
        impl Iterator<Item = &NamedDatabase>,
    ) {
        let of = |is_searched: bool| {
            let all = self.databases.iter();
            all.filter(move |named| (named.kind() == JobKind::Search) == is_searched)
        };
        (of(true), of(false))
    }
}

/// Workers of a service.
#[derive(Clone, Debug)]
pub struct Workers {
    /// The command of each, with its arguments.
    pub commands: Vec<Vec<OsString>>,
    /// How many workers a job gets, and which; as their memory has it where nothing is said.
    pub policy: Option<Policy>,
    /// Bytes that fragments may take in the memory of each.
    pub memory: u64,
}

impl Workers {
    /// Fragments into which a database is divided: as many as there are workers, so that all can
    /// share a job, rounded up to a power of two, so that halves of shares are shares.
    pub fn fragments(&self) -> usize {
        self.commands.len().next_power_of_two()
    }
}

/// Files that are searched together, by a name for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedDatabase {
    /// Letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// What it holds, for people.
    pub description: String,
    /// FASTA files, `.gysd`, BLAST databases; or `.gydb`; or a `.gyk`.
    pub files: Vec<PathBuf>,
}

impl NamedDatabase {
    /// An error without the places of its files, which are for who runs the service.
    pub(crate) fn without_paths(&self, error: impl std::fmt::Display) -> String {
        let paths = self.files.iter().map(|path| path.display().to_string());
        paths.fold(error.to_string(), |text, path| {
            text.replace(&path, &self.name)
        })
    }

    /// What it is for, by the endings of its files.
    pub fn kind(&self) -> JobKind {
        let all = |ending: &str| {
            let has = |path: &PathBuf| path.extension().is_some_and(|own| own == ending);
            self.files.iter().all(has)
        };
        match () {
            () if all("gydb") => JobKind::Classify,
            () if all("gyk") => JobKind::Kmers,
            () => JobKind::Search,
        }
    }
}

/// How much is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceLimits {
    /// Bytes of a request.
    pub body: u64,
    /// Bytes of the files of reads of a job, as they are sent.
    pub reads: u64,
    /// Letters of the queries of a job, once they are decompressed.
    pub letters: u64,
    /// Queries of a job.
    pub queries: u64,
    /// Jobs that wait.
    pub waiting: u64,
    /// Of them, those of one client.
    pub waiting_of_client: u64,
    /// How long a job may run.
    pub time: Duration,
    /// How long a job is kept once it has ended.
    pub keep: Duration,
    /// Connections at a time.
    pub connections: usize,
}

impl Default for ServiceLimits {
    fn default() -> ServiceLimits {
        ServiceLimits {
            body: 32 << 20,
            reads: 4 << 30,
            letters: 10_000_000,
            queries: 10_000,
            waiting: 1_000,
            waiting_of_client: 100,
            time: Duration::from_secs(3600),
            keep: Duration::from_secs(30 * 24 * 3600),
            connections: 1_000,
        }
    }
}
