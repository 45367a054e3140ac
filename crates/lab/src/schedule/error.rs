//! What can go wrong in a simulation of schedules.

use std::path::PathBuf;

use gyrase_work::Cancelled;

/// A simulation that cannot be done, and why.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    /// The description of a cluster is no JSON, or has other fields.
    #[error("{} describes no cluster", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
    /// A cluster cannot be as it is described.
    #[error("the cluster has {found}, but it must have {expected}")]
    Cluster {
        /// What it has.
        found: String,
        /// What it must have.
        expected: String,
    },
    /// A line of a workload is not understood.
    #[error("{}, line {line}: expected {expected}, but found {found:?}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What there should be.
        expected: String,
        /// What there is.
        found: String,
    },
    /// Somebody cancelled the run.
    #[error("the simulation was stopped before its end; no output was written")]
    Cancelled,
}

impl From<Cancelled> for ScheduleError {
    fn from(_: Cancelled) -> ScheduleError {
        ScheduleError::Cancelled
    }
}

/// `Ok` where `holds`, else what the cluster has and must have.
pub(super) fn check(
    holds: bool,
    found: impl FnOnce() -> String,
    expected: impl FnOnce() -> String,
) -> Result<(), ScheduleError> {
    if holds {
        return Ok(());
    }
    let (found, expected) = (found(), expected());
    Err(ScheduleError::Cluster { found, expected })
}
