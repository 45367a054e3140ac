//! What can go wrong with a service as a whole.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use gyrase_search::{FormatError, SearchError};

/// Why a service could not start, or had to end.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A database cannot be opened.
    #[error("database {name}: {problem}")]
    Database {
        /// Its name.
        name: String,
        /// Why.
        problem: String,
    },
    /// Jobs would have no memory beside the databases.
    #[error(
        "the databases take {databases} bytes of --memory, and {left} are left for jobs, which \
         need {least} at least"
    )]
    Memory {
        /// Bytes of all databases.
        databases: u64,
        /// Bytes beside them.
        left: u64,
        /// Bytes that jobs need.
        least: u64,
    },
    /// Workers have no memory for a database.
    #[error(
        "the database {name} takes {bytes} bytes in the memory of workers, and {workers} that \
         share a job have {memory} for it: more workers are needed, or more --worker-memory"
    )]
    Workers {
        /// Its name.
        name: String,
        /// Bytes of all fragments.
        bytes: u64,
        /// Workers that can share a job.
        workers: usize,
        /// Bytes that these have for fragments.
        memory: u64,
    },
    /// The folder of jobs cannot be used.
    #[error("{}: {source}", path.display())]
    Folder {
        /// The folder or a file in it.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The store of jobs fails.
    #[error("{}: {source}", path.display())]
    Store {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// The store is of another version of the program.
    #[error(
        "{}: a store of jobs of version {found}; this program knows version {known}",
        path.display()
    )]
    Version {
        /// Its file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The version that is read.
        known: i64,
    },
    /// The tokens of those who may ask cannot be read.
    #[error("{}: {source}", path.display())]
    Tokens {
        /// Their file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no TLS with a certificate and a key.
    #[error("TLS with {} and {}: {problem}", certificate.display(), key.display())]
    Tls {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// Why.
        problem: String,
    },
    /// Webhooks cannot be sent.
    #[error("webhooks: {0}")]
    Webhooks(String),
    /// Another service has the store.
    #[error(
        "{}: another service uses this folder of jobs; name another one with --jobs",
        path.display()
    )]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// The address cannot be listened at.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Threads or the network cannot be had.
    #[error("the service cannot run: {0}")]
    System(#[from] io::Error),
}

/// Why a report cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The job asks what the program no longer understands.
    #[error("{0}")]
    Options(String),
    /// Its database is served no more.
    #[error("the database {0} is served no more")]
    Database(String),
    /// The store fails.
    #[error(transparent)]
    Store(#[from] ServeError),
    /// The format cannot tell what the program finds.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The search fails.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// Nobody takes the report any more, or the disk fails.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Why jobs have no answer.
#[derive(Debug)]
pub enum Unsearched {
    /// Nobody wants it any more, or not now.
    Cancelled,
    /// It cannot be, for people.
    Failed(String),
}

impl From<String> for Unsearched {
    fn from(problem: String) -> Unsearched {
        Unsearched::Failed(problem)
    }
}

impl From<SearchError> for Unsearched {
    fn from(error: SearchError) -> Unsearched {
        match error {
            SearchError::Cancelled => Unsearched::Cancelled,
            other => Unsearched::Failed(other.to_string()),
        }
    }
}

impl From<ReportError> for Unsearched {
    fn from(error: ReportError) -> Unsearched {
        match error {
            ReportError::Search(error) => error.into(),
            other => Unsearched::Failed(other.to_string()),
        }
    }
}

impl From<io::Error> for Unsearched {
    fn from(error: io::Error) -> Unsearched {
        Unsearched::Failed(error.to_string())
    }
}

impl From<ServeError> for Unsearched {
    fn from(error: ServeError) -> Unsearched {
        Unsearched::Failed(error.to_string())
    }
}
