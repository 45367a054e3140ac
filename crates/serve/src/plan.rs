//! What a service will take, before it opens a database.

use gyrase_search::DatabaseSize;

use crate::ServeError;
use crate::config::Config;
use crate::databases::{self, LEAST, divided};
use crate::workers::partition_sizes;

/// What a service takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServePlan {
    /// Of each database.
    pub databases: Vec<DatabasePlan>,
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
    /// Bytes in memory: without the seeds of its proteins, and with them.
    pub bytes: [u64; 2],
    /// Workers that share a job, at least and at most; none where the service searches by itself.
    pub workers: Option<[usize; 2]>,
}

/// Says what a service will take, and refuses what it would refuse for want of memory.
///
/// # Errors
/// See [`ServeError`].
pub fn plan(config: &Config) -> Result<ServePlan, ServeError> {
    let mut plans = Vec::new();
    for named in &config.databases {
        let divided = divided(named, 1, config.threads)?;
        plans.push(DatabasePlan {
            name: named.name.clone(),
            size: divided.size(),
            bytes: [divided.least_bytes(), divided.bytes()],
            workers: None,
        });
    }
    let Some(pool) = &config.workers else {
        let taken: u64 = plans.iter().map(|plan| plan.bytes[0]).sum();
        let least_memory = databases::least_memory(taken);
        if least_memory > config.memory {
            return Err(ServeError::Memory {
                databases: taken,
                left: config.memory.saturating_sub(taken),
                least: least_memory - taken,
            });
        }
        return Ok(ServePlan {
            databases: plans,
            least_memory,
        });
    };
    for (plan, named) in plans.iter_mut().zip(&config.databases) {
        let bytes = divided(named, pool.fragments(), config.threads)?.bytes();
        let sizes = partition_sizes(pool, &named.name, bytes)?;
        plan.workers = Some([sizes.least, sizes.most]);
    }
    Ok(ServePlan {
        databases: plans,
        least_memory: LEAST,
    })
}
