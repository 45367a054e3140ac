//! The partitions of one process, ready to be drained.

use std::ops::Range;
use std::sync::Arc;

use crate::blocks::Blocks;
use crate::contract::Each;
use crate::exchange::Traffic;
use crate::inbox::{Inbox, Received};
use crate::local::{Finished, LocalSender};
use crate::spill::{Extent, SpillFile};
use crate::{Drain, FabricError, Place, SpillFolder};

/// The partitions that one process owns: what its own senders kept of them, and what came from other processes.
pub struct LocalPartitions {
    /// Each with its files, until this is dropped.
    folders: Vec<Arc<SpillFolder>>,
    /// Who spilled; none where an earlier process did.
    place: Option<Place>,
    owned: Range<usize>,
    senders: Vec<(Vec<u32>, Blocks)>,
    received: Received,
    files: Vec<SpillFile>,
    traffic: Traffic,
    /// Per owned partition.
    extents: Vec<Vec<(u32, Extent)>>,
    /// Per partition.
    bytes: Vec<u64>,
}

impl LocalPartitions {
    pub(crate) fn of(
        place: Place,
        folder: Arc<SpillFolder>,
        senders: Vec<LocalSender>,
        came: Option<(Inbox, Traffic)>,
    ) -> Result<LocalPartitions, FabricError> {
        let mut this = LocalPartitions::empty(place.partitions, place.owned(), vec![folder]);
        this.place = Some(place);
        // What is on disk outlives this process: everything must be there for a run to be resumed.
        let spilled = senders.iter().any(LocalSender::spilled) || came.as_ref().is_some_and(|came| came.0.spilled());
        for sender in senders {
            match sender.finish(spilled)? {
                Finished::InMemory(lasts, blocks) => this.senders.push((lasts, blocks)),
                Finished::Spilled(file) => this.files.push(file),
            }
        }
        if let Some((inbox, traffic)) = came {
            this.traffic = traffic;
            let (received, file) = inbox.finish(spilled)?;
            this.received = received;
            this.files.extend(file);
        }
        this.index();
        Ok(this)
    }

    fn empty(partitions: usize, owned: Range<usize>, folders: Vec<Arc<SpillFolder>>) -> LocalPartitions {
        LocalPartitions {
            folders,
            place: None,
            senders: Vec::new(),
            received: Received::new(owned.clone()),
            files: Vec::new(),
            traffic: Traffic::default(),
            extents: vec![Vec::new(); owned.len()],
            bytes: vec![0; partitions],
            owned,
        }
    }

    /// The partitions that an earlier process spilled for the same `job`, if it finished scattering and was alone.
    pub fn reopen(partitions: usize, folder: Arc<SpillFolder>, job: &str) -> Option<LocalPartitions> {
        LocalPartitions::reopen_job(partitions, 0..partitions, &[folder], job)
    }

    /// The partitions `owned`, of those that the processes of an earlier run of the same `job` spilled, each to one of `folders`; if
    /// all of them finished scattering and all their folders are there, in whatever order. How many there were is known from one
    /// ([`SpillFolder::noted`]).
    pub fn reopen_job(
        partitions: usize,
        owned: Range<usize>,
        folders: &[Arc<SpillFolder>],
        job: &str,
    ) -> Option<LocalPartitions> {
        let mut this = LocalPartitions::empty(partitions, owned.clone(), folders.to_vec());
        let mut there = vec![false; folders.len()];
        for folder in folders {
            let (rank, ranks) = folder.noted(job)?;
            if ranks != folders.len() || std::mem::replace(there.get_mut(rank)?, true) {
                return None;
            }
            this.files.extend(folder.reopen(job, partitions, &owned)?);
        }
        this.index();
        (!folders.is_empty()).then_some(this)
    }

    /// Notes on disk what was spilled for `job`, so that [`LocalPartitions::reopen_job`] finds it; nothing when all is in memory.
    ///
    /// # Errors
    /// The note cannot be written.
    pub fn note(&self, job: &str) -> Result<(), FabricError> {
        match (self.place, &self.folders[..]) {
            (Some(place), [folder]) if self.spilled() => folder.write_manifest(job, place, &self.files),
            _ => Ok(()),
        }
    }

    /// True when the partitions are on disk.
    pub fn spilled(&self) -> bool {
        self.place.is_none() || !self.files.is_empty()
    }

    /// What moved between processes.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    fn index(&mut self) {
        let first = self.owned.start;
        for (number, file) in self.files.iter().enumerate() {
            for extent in &file.extents {
                self.extents[extent.partition as usize - first].push((number as u32, *extent));
                self.bytes[extent.partition as usize] += extent.bytes;
            }
        }
        let bytes = &mut self.bytes[self.owned.clone()];
        for (lasts, blocks) in &self.senders {
            for (bytes, &last) in bytes.iter_mut().zip(lasts) {
                blocks.for_each(last, |_, used| *bytes += used as u64);
            }
        }
        for (number, bytes) in bytes.iter_mut().enumerate() {
            *bytes += self.received.bytes(number);
        }
    }
}

impl Drain for LocalPartitions {
    fn owned(&self) -> Vec<usize> {
        self.owned.clone().collect()
    }

    fn bytes(&self, partition: usize) -> u64 {
        self.bytes[partition]
    }

    fn drain<E: From<FabricError>>(&self, partition: usize, each: &mut Each<E>) -> Result<(), E> {
        let number = partition - self.owned.start;
        for (file, extent) in &self.extents[number] {
            let records = self.files[*file as usize].read(extent)?;
            each(&records, extent.bytes as usize)?;
        }
        self.senders.iter().try_for_each(|(lasts, blocks)| blocks.try_for_each(lasts[number], each))?;
        self.received.try_for_each(number, each)
    }
}
