//! The partitions of one process, ready to be drained.

use std::sync::Arc;

use crate::blocks::Blocks;
use crate::contract::Each;
use crate::inbox::{Inbox, Received};
use crate::spill::{Gathered, SpillFile};
use crate::traffic::Traffic;
use crate::{Drain, FabricError, Nth, Place, SpillFolder};

/// The partitions that one process owns: what its own senders kept of them, and what came from
/// other processes.
pub struct LocalPartitions {
    /// Each with its files, until this is dropped.
    folders: Vec<Arc<SpillFolder>>,
    place: Place,
    /// An earlier process spilled them.
    reopened: bool,
    senders: Vec<(Vec<u32>, Blocks)>,
    received: Received,
    files: Vec<SpillFile>,
    traffic: Traffic,
    pub(crate) kept: u64,
    /// Bytes of records of each owned partition.
    bytes: Vec<u64>,
}

/// What a sender kept of the partitions of its own process.
pub(crate) struct Kept {
    /// The last block of each.
    pub(crate) lasts: Vec<u32>,
    /// All blocks.
    pub(crate) blocks: Blocks,
    /// What was spilled before.
    pub(crate) file: Option<SpillFile>,
}

impl LocalPartitions {
    pub(crate) fn of(
        place: Place,
        folder: Arc<SpillFolder>,
        senders: Vec<Kept>,
        came: Option<(Inbox, Traffic)>,
    ) -> Result<LocalPartitions, FabricError> {
        let mut this = LocalPartitions::empty(place, vec![folder]);
        this.reopened = false;
        for Kept {
            lasts,
            blocks,
            file,
        } in senders
        {
            this.senders.push((lasts, blocks));
            this.files.extend(file);
        }
        if let Some((inbox, traffic)) = came {
            let (received, file) = inbox.finish();
            (this.received, this.traffic) = (received, traffic);
            this.files.extend(file);
        }
        if this.spilled() {
            this.spill()?;
        }
        this.index();
        Ok(this)
    }

    fn empty(place: Place, folders: Vec<Arc<SpillFolder>>) -> LocalPartitions {
        LocalPartitions {
            folders,
            reopened: true,
            senders: Vec::new(),
            received: Received::new(place.clone()),
            files: Vec::new(),
            traffic: Traffic::default(),
            kept: 0,
            bytes: Vec::new(),
            place,
        }
    }

    /// The partitions that an earlier process spilled for the same `job`, if it finished scattering
    /// and was alone.
    pub fn reopen(
        partitions: usize,
        folder: Arc<SpillFolder>,
        job: &str,
    ) -> Option<LocalPartitions> {
        LocalPartitions::reopen_job(Place::alone(partitions), &[folder], job)
    }

    /// The partitions of this process, as it spilled them in an earlier run of the same `job` by as
    /// many processes; if it finished scattering.
    pub fn reopen_own(
        place: Place,
        folder: Arc<SpillFolder>,
        job: &str,
    ) -> Option<LocalPartitions> {
        if folder.noted(job)? != (place.rank, place.ranks) {
            return None;
        }
        let files = folder.reopen(job, &place)?;
        let mut this = LocalPartitions::empty(place, vec![folder]);
        this.files = files;
        this.index();
        Some(this)
    }

    /// The partitions of this process, of those that the processes of an earlier run of the same
    /// `job` spilled, each to one of `folders`; if all of them finished scattering and all their
    /// folders are there, in whatever order. How many there were is known from one
    /// ([`SpillFolder::noted`]).
    pub fn reopen_job(
        place: Place,
        folders: &[Arc<SpillFolder>],
        job: &str,
    ) -> Option<LocalPartitions> {
        let mut this = LocalPartitions::empty(place, folders.to_vec());
        let mut there = vec![false; folders.len()];
        for folder in folders {
            let (rank, ranks) = folder.noted(job)?;
            if ranks != folders.len() || std::mem::replace(there.get_mut(rank)?, true) {
                return None;
            }
            this.files.extend(folder.reopen(job, &this.place)?);
        }
        this.index();
        (!folders.is_empty()).then_some(this)
    }

    /// Notes on disk what was spilled for `job`, so that [`LocalPartitions::reopen_job`] finds it;
    /// nothing when all is in memory.
    ///
    /// # Errors
    /// The note cannot be written.
    pub fn note(&self, job: &str) -> Result<(), FabricError> {
        match &self.folders[..] {
            [folder] if self.spilled() && !self.reopened => {
                folder.write_manifest(job, &self.place, &self.files)
            }
            _ => Ok(()),
        }
    }

    /// Moves what is in memory to the disk, where it outlives this process: a run can be resumed
    /// only when everything is there, in all processes.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn spill(&mut self) -> Result<(), FabricError> {
        if self.reopened {
            return Ok(());
        }
        let (folder, place) = (&self.folders[0], self.place.clone());
        let number = self
            .files
            .iter()
            .map(|file| file.number + 1)
            .max()
            .unwrap_or(0);
        let mut file = SpillFile::create(folder, number)?;
        let mut gathered = Gathered::new(folder, &mut file);
        for (number, partition) in place.owned().enumerate() {
            self.drain_memory(Nth(number), &mut |bytes, used| {
                gathered.add(partition, &bytes[..used])
            })?;
        }
        gathered.write()?;
        self.files.push(file);
        self.senders.clear();
        self.received = Received::new(place);
        self.index();
        Ok(())
    }

    fn drain_memory<E>(&self, Nth(number): Nth, each: &mut Each<E>) -> Result<(), E> {
        self.senders
            .iter()
            .try_for_each(|(lasts, blocks)| blocks.try_for_each(lasts[number], each))?;
        self.received.try_for_each(number, each)
    }

    /// True when the partitions are on disk.
    pub fn spilled(&self) -> bool {
        self.reopened || !self.files.is_empty()
    }

    /// What moved between processes.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// The most bytes of memory that held records at a time, while they were sent.
    pub fn kept(&self) -> u64 {
        self.kept
    }

    fn index(&mut self) {
        let sum = |(number, partition): (usize, usize)| {
            let spilled: u64 = self.files.iter().map(|file| file.bytes(partition)).sum();
            let kept: u64 = self
                .senders
                .iter()
                .map(|(lasts, blocks)| blocks.bytes(lasts[number]))
                .sum();
            spilled + kept + self.received.bytes(number)
        };
        self.bytes = self.place.owned().enumerate().map(sum).collect();
    }
}

impl Drain for LocalPartitions {
    fn owned(&self) -> Vec<usize> {
        self.place.owned().collect()
    }

    fn bytes(&self, partition: usize) -> u64 {
        self.bytes[self.place.nth(partition).0]
    }

    fn drain<E: From<FabricError>>(&self, partition: usize, each: &mut Each<E>) -> Result<(), E> {
        self.files
            .iter()
            .try_for_each(|file| file.drain(partition, each))?;
        self.drain_memory(self.place.nth(partition), each)
    }
}
