//! What a change will take, before its first byte.

use gyrase_table::gydb::{self, PARTITIONS};
use gyrase_tabulate::Estimate;

use super::error::EditError;
use super::{PER_LOCATION, Unwanted};
use crate::index::Index;

/// Bytes that a process takes that has changed next to nothing, as measured: databases are read
/// and written by parts.
const STARTED: u64 = 22 << 20;
/// Bytes that a target takes, with its name and its copies.
const TARGET: u64 = 300;
/// Bytes of the database are so exact, as one part in so many.
const WITHIN: u64 = 32;

/// What a change will take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangePlan {
    /// Bytes of memory that it is expected to take.
    pub memory: u64,
    /// Targets of the new database.
    pub targets: usize,
    /// Bytes of the new database.
    pub output: Estimate,
}

/// Predicts a merge.
pub fn plan_merge(parts: &[Index], threads: usize) -> ChangePlan {
    let summaries = || parts.iter().map(|part| part.features.summary());
    let all: u64 = summaries().map(|summary| summary.features).sum();
    let largest = summaries().map(|summary| summary.features).max();
    let locations = summaries().map(|summary| summary.locations).sum();
    let features = Estimate {
        least: largest.unwrap_or(0),
        most: Some(all),
    };
    let bytes = summaries().map(|summary| summary.bytes).sum();
    let targets = parts.iter().map(|part| part.targets.len()).sum();
    plan(parts, threads, targets, features, locations, bytes)
}

/// Predicts a removal: how many locations go by how many letters do.
///
/// # Errors
/// As those of [`remove`](super::remove).
pub fn plan_remove(
    base: &Index,
    unwanted: &Unwanted,
    threads: usize,
) -> Result<ChangePlan, EditError> {
    let kept = unwanted.kept(base)?;
    let all: u64 = base.targets.iter().map(|target| target.letters).sum();
    let stay = || base.targets.iter().zip(&kept).filter(|(_, kept)| **kept);
    let letters: u64 = stay().map(|(target, _)| target.letters).sum();
    let before = base.features.summary();
    let share = letters as f64 / all.max(1) as f64;
    let locations = (before.locations as f64 * share) as u64;
    let gone = before.locations - locations;
    let features = Estimate {
        least: before.features.saturating_sub(gone),
        most: Some(before.features.min(locations)),
    };
    let parts = std::slice::from_ref(base);
    let targets = stay().count();
    Ok(plan(
        parts,
        threads,
        targets,
        features,
        locations,
        before.bytes,
    ))
}

/// `bytes`: no more than so many.
fn plan(
    parts: &[Index],
    threads: usize,
    targets: usize,
    features: Estimate,
    locations: u64,
    bytes: u64,
) -> ChangePlan {
    let before: u64 = parts
        .iter()
        .map(|part| part.features.summary().locations)
        .sum();
    let held = threads.max(2) as u64 * PER_LOCATION * before / PARTITIONS as u64;
    let named: usize = parts.iter().map(|part| part.targets.len()).sum();
    let of = |features| gydb::bytes_for(features, locations) + TARGET / 2 * targets as u64;
    let least = of(features.least.min(locations));
    ChangePlan {
        memory: STARTED + held + TARGET * named as u64,
        targets,
        output: Estimate {
            least: (least - least / 8).min(bytes),
            most: features.most.map(|most| {
                let most = of(most);
                (most + most / WITHIN).min(bytes)
            }),
        },
    }
}
