//! Databases that are open for all jobs.

use gyrase_search::{Molecule, OpenDatabase, SearchError};
use gyrase_work::Progress;

use crate::ServeError;
use crate::config::{Config, NamedDatabase};

/// Bytes that jobs need beside databases.
const LEAST: u64 = 64 << 20;

/// A database that is open.
pub struct Served {
    /// As people know it.
    pub named: NamedDatabase,
    /// Its sequences.
    pub open: OpenDatabase,
}

impl Served {
    /// Its molecule as one word.
    pub fn molecule(&self) -> &'static str {
        match self.open.molecule() {
            Molecule::Protein => "protein",
            Molecule::Nucleotide => "nucleotide",
        }
    }
}

/// All databases.
pub struct Databases {
    all: Vec<Served>,
}

impl Databases {
    /// Opens what is served. Three quarters of the memory are for databases.
    ///
    /// # Errors
    /// One cannot be opened, or the memory is not enough.
    pub fn open(config: &Config, progress: &Progress) -> Result<Databases, ServeError> {
        let mut all: Vec<Served> = Vec::new();
        for named in &config.databases {
            let taken: u64 = all.iter().map(|served| served.open.bytes()).sum();
            let memory = (config.memory / 4 * 3).saturating_sub(taken);
            let files = named.files.clone();
            let open = OpenDatabase::open(files, memory, config.threads, progress);
            let open = open.map_err(|source| ServeError::Database {
                name: named.name.clone(),
                source: Box::new(beside(source, taken)),
            })?;
            let named = named.clone();
            all.push(Served { named, open });
        }
        let databases = Databases { all };
        let left = config.memory.saturating_sub(databases.bytes());
        if left < LEAST {
            return Err(ServeError::Memory {
                databases: databases.bytes(),
                left,
                least: LEAST,
            });
        }
        Ok(databases)
    }

    /// All, in the order in which people see them.
    pub fn all(&self) -> &[Served] {
        &self.all
    }

    /// The one of a name.
    pub fn named(&self, name: &str) -> Option<&Served> {
        self.all.iter().find(|served| served.named.name == name)
    }

    /// Bytes that they take now.
    pub fn bytes(&self) -> u64 {
        self.all.iter().map(|served| served.open.bytes()).sum()
    }
}

/// The same error, of a service that has taken so many bytes already.
fn beside(error: SearchError, taken: u64) -> SearchError {
    match error {
        SearchError::Memory { least } => SearchError::Memory {
            least: (taken + least) / 3 * 4 + 4,
        },
        other => other,
    }
}
