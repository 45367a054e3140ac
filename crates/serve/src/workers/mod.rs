//! Processes that search for a service, each with memory of its own.
//!
//! ```text
//!               ┌ scheduler: which workers a job gets (RMAP), and which have its database (PLARD)
//!  store ──▶ dispatcher ── queries, share i of n ──▶ worker: fragments in its memory
//!               │  ▲                                    │
//!               │  └───────── what it found ────────────┘
//!               └── merge, metadata ──▶ store
//! ```
//!
//! A worker is a program that is started by a command, here or, by `ssh`, anywhere, and speaks over
//! its standard input and output. One that ends is started again; the jobs that it ran begin anew.
//! Scheduling is that of Lin H., *High Performance Parallel and Distributed Genomic Sequence
//! Search*, North Carolina State University, 2009, chapter 5.

mod dispatch;
mod event;
mod process;
mod wire;
mod worker;

use gyrase_schedule::{PartitionSizes, power_below};

use crate::ServeError;
use crate::config::Workers;

pub use worker::{WorkerConfig, work};

pub use dispatch::Dispatcher;
pub use event::Event;

/// How many workers may share a job in a database that takes so many bytes of their memory: so many
/// at least that they hold it.
///
/// # Errors
/// All of them do not.
pub fn partition_sizes(
    workers: &Workers,
    name: &str,
    bytes: u64,
) -> Result<PartitionSizes, ServeError> {
    let most = power_below(workers.commands.len());
    let least = bytes.div_ceil(workers.memory.max(1)).max(1);
    let least = least.next_power_of_two();
    if least > most as u64 || workers.memory == 0 {
        return Err(ServeError::Workers {
            name: name.into(),
            bytes,
            workers: most,
            memory: workers.memory * most as u64,
        });
    }
    Ok(PartitionSizes {
        least: least as usize,
        medium: 1 << ((least.ilog2() + most.ilog2()) / 2),
        most,
    })
}
