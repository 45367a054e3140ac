//! What a service will take, before it opens a database.

use gyrase_schedule::Policy;
use gyrase_search::{DatabaseSize, DividedDatabase};

use crate::ServeError;
use crate::config::{Config, NamedDatabase, Workers};
use crate::databases::{self, divided};
use crate::workers::Sharing;

/// What a service takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServePlan {
    /// How many workers a job gets, and which; none where the service searches by itself.
    pub policy: Option<Policy>,
    /// Of each database that is searched.
    pub databases: Vec<DatabasePlan>,
    /// Of each database for reads.
    pub of_reads: Vec<ReadDatabasePlan>,
    /// Bytes of memory without which the service does not start; those of workers are apart.
    pub least_memory: u64,
}

/// What a database takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabasePlan {
    /// Its name.
    pub name: String,
    /// Its sequences and their letters.
    pub size: DatabaseSize,
    /// Bytes in memory: without indexes, and with them.
    pub bytes: [u64; 2],
    /// Workers that share a job, at least and at most; none where the service searches by itself.
    pub workers: Option<[usize; 2]>,
}

/// What a database for reads takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadDatabasePlan {
    /// Its name.
    pub name: String,
    /// How many things it holds, and what one of them is.
    pub holds: (u64, &'static str),
    /// Bytes in memory.
    pub bytes: u64,
}

/// Says what a service will take, and refuses what it would refuse for want of memory.
///
/// # Errors
/// See [`ServeError`].
pub fn plan(config: &Config) -> Result<ServePlan, ServeError> {
    let pool = config.workers.as_ref();
    let fragments = pool.map_or(1, Workers::fragments);
    let (searched, of_reads) = config.by_use();
    let open = |named: &NamedDatabase| {
        let divided = divided(named, fragments, config.threads)?;
        Ok((named.name.clone(), divided))
    };
    let searched: Vec<_> = searched.map(open).collect::<Result<_, ServeError>>()?;
    let divided: Vec<_> = searched
        .iter()
        .map(|(name, divided)| (&name[..], divided))
        .collect();
    let sharing = pool.map(|pool| Sharing::of(pool, &divided)).transpose()?;
    let of = |(number, &(name, divided)): (usize, &(&str, &DividedDatabase))| {
        let sizes = sharing.as_ref().map(|sharing| sharing.sizes[number]);
        let with_indexes = match pool {
            Some(_) => divided.bytes()[1],
            None => divided.bytes_with_indexes(),
        };
        DatabasePlan {
            name: name.into(),
            size: divided.size(),
            bytes: [divided.least_bytes(), with_indexes],
            workers: sizes.map(|sizes| [sizes.least, sizes.most]),
        }
    };
    let databases: Vec<DatabasePlan> = divided.iter().enumerate().map(of).collect();
    let of_reads = of_reads.map(|named| {
        let database = databases::opened(named, config.threads)?;
        Ok(ReadDatabasePlan {
            name: named.name.clone(),
            holds: database.size(),
            bytes: database.bytes(),
        })
    });
    let of_reads: Vec<_> = of_reads.collect::<Result<_, ServeError>>()?;
    let of_searches = match pool {
        Some(_) => 0,
        None => databases.iter().map(|plan| plan.bytes[0]).sum(),
    };
    let taken: u64 = of_searches + of_reads.iter().map(|plan| plan.bytes).sum::<u64>();
    let least_memory = databases::least_memory(taken);
    if least_memory > config.memory {
        return Err(ServeError::Memory {
            databases: taken,
            left: config.memory.saturating_sub(taken),
            least: least_memory - taken,
        });
    }
    Ok(ServePlan {
        policy: sharing.map(|sharing| sharing.policy),
        databases,
        of_reads,
        least_memory,
    })
}
