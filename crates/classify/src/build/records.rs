//! What was read of references, before lists are made of it.

use std::sync::Arc;

use gyrase_fabric::{Drain, LocalPartitions, SpillFolder};

use super::budget::{Budget, Room};
use super::config::Config;
use super::earlier::Earlier;
use super::error::BuildError;
use crate::parts::Part;
use crate::references::Numbers;
use crate::targets::Targets;

/// What was read: the features of this process's partitions, and what all processes know of the
/// references.
pub(super) type Read = (LocalPartitions, Targets, Numbers);

/// The features of references that were read, by partition.
pub(crate) struct Records<D> {
    pub(super) partitions: D,
    pub(super) numbers: Numbers,
    /// The memory for what is made of them; no limit where there are none.
    pub(super) budget: Option<Budget>,
    pub(super) spilled: bool,
    pub(super) earlier: Earlier,
    /// Where they are, if they are spilled.
    pub(super) folder: Option<Arc<SpillFolder>>,
}

impl<D: Drain> Records<D> {
    /// No records: all that is drained of `partitions` is nothing.
    pub fn none(partitions: D) -> Records<D> {
        Records {
            partitions,
            numbers: Numbers::default(),
            budget: None,
            spilled: false,
            earlier: Earlier::Nothing,
            folder: None,
        }
    }

    /// What lists have, where so many records were listed before.
    pub(super) fn room(
        &self,
        config: &Config,
        targets: usize,
        parts: &[Part],
        listed: u64,
    ) -> Result<Room, BuildError> {
        let unlimited = Room {
            threads: config.threads,
            rows: usize::MAX,
        };
        let room = |budget: Budget| {
            budget.for_lists(
                &self.partitions,
                parts,
                self.spilled,
                targets,
                config.output.is_none().then_some(listed),
            )
        };
        self.budget.map_or(Ok(unlimited), room)
    }
}
