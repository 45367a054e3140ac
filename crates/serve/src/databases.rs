//! Databases that are open for all jobs.

use std::sync::Arc;

use gyrase_search::{
    DatabaseMemory, DatabaseSize, DividedDatabase, Molecule, OpenDatabase, SearchError, TaxidFilter,
};
use gyrase_work::Progress;

use crate::ServeError;
use crate::config::{Config, NamedDatabase, Workers};
use crate::reads::ReadDatabase;
use crate::workers::Sharing;

/// Bytes that jobs need beside databases.
const LEAST: u64 = 64 << 20;

/// A database that is open.
pub struct Served {
    /// As people know it.
    pub named: NamedDatabase,
    /// Its sequences.
    pub searched: Searched,
}

/// A database, and who has it in memory.
pub enum Searched {
    /// The service.
    Open(OpenDatabase),
    /// Workers.
    Divided(DividedDatabase),
}

impl Searched {
    /// What its sequences are.
    pub fn molecule(&self) -> Molecule {
        match self {
            Searched::Open(open) => open.molecule(),
            Searched::Divided(divided) => divided.molecule(),
        }
    }

    /// Its sequences and their letters.
    pub fn size(&self) -> DatabaseSize {
        match self {
            Searched::Open(open) => open.size(),
            Searched::Divided(divided) => divided.size(),
        }
    }

    /// Refuses taxa that it does not know.
    ///
    /// # Errors
    /// It has no taxids, or its taxonomy lacks one.
    pub fn check(&self, taxids: &TaxidFilter) -> Result<(), SearchError> {
        match self {
            Searched::Open(open) => open.check(taxids),
            Searched::Divided(divided) => divided.check(taxids),
        }
    }

    /// About how many fragments workers search in.
    pub fn fragments(&self) -> usize {
        match self {
            Searched::Open(_) => 0,
            Searched::Divided(divided) => divided.fragments(),
        }
    }

    /// What its fragments are known by.
    pub fn digest(&self) -> [u64; 4] {
        match self {
            Searched::Open(_) => [0; 4],
            Searched::Divided(divided) => divided.digest(),
        }
    }
}

impl Served {
    /// Its molecule as one word.
    pub fn molecule(&self) -> &'static str {
        match self.searched.molecule() {
            Molecule::Protein => "protein",
            Molecule::Nucleotide => "nucleotide",
        }
    }
}

/// All databases.
pub struct Databases {
    all: Vec<Served>,
    of_reads: Vec<ReadDatabase>,
    memory: Arc<DatabaseMemory>,
}

impl Databases {
    /// Opens what is served. Three quarters of the memory are for databases.
    ///
    /// # Errors
    /// One cannot be opened, or the memory is not enough.
    pub fn open(config: &Config, progress: &Progress) -> Result<Databases, ServeError> {
        let (searched, of_reads) = config.by_use();
        let of_reads = of_reads.map(|named| opened(named, config.threads));
        let of_reads: Vec<ReadDatabase> = of_reads.collect::<Result<_, _>>()?;
        let bytes_of_reads: u64 = of_reads.iter().map(ReadDatabase::bytes).sum();
        let memory = DatabaseMemory::new(config.memory / 4 * 3, bytes_of_reads);
        let mut all: Vec<Served> = Vec::new();
        for named in searched {
            let searched = match &config.workers {
                Some(workers) => {
                    Searched::Divided(divided(named, workers.fragments(), config.threads)?)
                }
                None => {
                    let files = named.files.clone();
                    let open = OpenDatabase::open(files, &memory, config.threads, progress);
                    Searched::Open(open.map_err(|source| failed(named, beside(source)))?)
                }
            };
            let named = named.clone();
            all.push(Served { named, searched });
        }
        keep_indexes(&mut all);
        let databases = Databases {
            all,
            of_reads,
            memory,
        };
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

    /// How jobs are given to workers.
    ///
    /// # Errors
    /// All workers do not hold a database.
    pub fn sharing(&self, workers: &Workers) -> Result<Sharing, ServeError> {
        let divided = self.all.iter().filter_map(|served| match &served.searched {
            Searched::Open(_) => None,
            Searched::Divided(divided) => Some((&served.named.name[..], divided)),
        });
        Sharing::of(workers, &divided.collect::<Vec<_>>())
    }

    /// Those that are searched, in the order in which people see them.
    pub fn all(&self) -> &[Served] {
        &self.all
    }

    /// Those that reads are compared with, and those whose k-mers are looked up.
    pub fn of_reads(&self) -> &[ReadDatabase] {
        &self.of_reads
    }

    /// The one of a name that is searched.
    pub fn named(&self, name: &str) -> Option<&Served> {
        self.all.iter().find(|served| served.named.name == name)
    }

    /// The one of a name for reads.
    pub fn of_reads_named(&self, name: &str) -> Option<&ReadDatabase> {
        self.of_reads
            .iter()
            .find(|database| database.named.name == name)
    }

    /// Bytes that they take now.
    pub fn bytes(&self) -> u64 {
        self.memory.taken()
    }
}

/// A database of which workers have fragments.
///
/// # Errors
/// It cannot be opened.
pub fn divided(
    named: &NamedDatabase,
    fragments: usize,
    threads: usize,
) -> Result<DividedDatabase, ServeError> {
    let (files, progress) = (named.files.clone(), Progress::default());
    let divided = DividedDatabase::open(files, fragments, threads, &progress);
    divided.map_err(|error| failed(named, error))
}

/// A database for reads.
///
/// # Errors
/// It cannot be opened.
pub fn opened(named: &NamedDatabase, threads: usize) -> Result<ReadDatabase, ServeError> {
    ReadDatabase::open(named, threads).map_err(|problem| ServeError::Database {
        name: named.name.clone(),
        problem,
    })
}

/// Keeps indexes of databases, now that each is open, where memory for their other forms is left.
fn keep_indexes(all: &mut [Served]) {
    let open = all
        .iter_mut()
        .filter_map(|served| match &mut served.searched {
            Searched::Open(open) => Some((&served.named.name, open)),
            Searched::Divided(_) => None,
        });
    let open: Vec<(&String, &mut OpenDatabase)> = open.collect();
    let beside = open.iter().map(|(_, open)| open.bytes_of_forms()).sum();
    for (name, open) in open {
        if !open.keep_indexes(beside) {
            tracing::info!(
                "no index of {name} is kept: see \"with its indexes\" in `gyrase plan serve`"
            );
        }
    }
}

fn failed(named: &NamedDatabase, error: SearchError) -> ServeError {
    ServeError::Database {
        name: named.name.clone(),
        problem: error.to_string(),
    }
}

/// Memory of a service whose databases take so many bytes, at least: they have three quarters.
pub fn least_memory(databases: u64) -> u64 {
    (databases / 3 * 4 + 4).max(databases + LEAST)
}

/// The same error, of a service.
fn beside(error: SearchError) -> SearchError {
    match error {
        SearchError::Memory { least } => SearchError::Memory {
            least: least_memory(least),
        },
        other => other,
    }
}
