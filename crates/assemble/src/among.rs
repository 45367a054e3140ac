//! The threads and processes that make a graph together.

use std::sync::Arc;

use gyrase_fabric::{
    ExchangeFabric, FabricError, FabricOptions, Owners, Place, SpillFolder, World, look_up, tell,
};
use gyrase_work::{Progress, in_threads};

use crate::plan::{shared_bytes, whole_bytes};

/// The threads and processes that make a graph together, and who has which bins.
pub struct Among<'a> {
    pub world: &'a dyn World,
    /// The bins of the graph.
    pub place: Place,
    /// Those of this process, ascending.
    pub bins: Vec<usize>,
    /// Threads of this process.
    pub threads: usize,
    /// Bytes for what travels, the same in all processes.
    pub memory: u64,
    /// Bytes for a graph and what is looked up in it, the same in all processes.
    pub room: u64,
    /// Where more than that goes.
    pub folder: Arc<SpillFolder>,
    /// Bases of the reads of a process, on average; 0 where there are none.
    pub bases: u64,
    pub progress: &'a Progress,
}

#[cfg(test)]
impl<'a> Among<'a> {
    /// Two threads in each process of a test.
    pub fn of_test(world: &'a dyn World, progress: &'a Progress) -> Among<'a> {
        let place = Place::among(16, world.peer());
        Among {
            world,
            bins: place.owned().collect(),
            place,
            threads: 2,
            memory: 16 << 20,
            room: u64::MAX,
            folder: Arc::default(),
            bases: 0,
            progress,
        }
    }

    /// The same with a folder for what waits on a disk.
    pub fn of_test_in(
        folder: &std::path::Path,
        world: &'a dyn World,
        progress: &'a Progress,
    ) -> Among<'a> {
        let own = folder.join(format!("rank-{}", world.rank()));
        Among {
            folder: Arc::new(SpillFolder::new(own, None, false)),
            ..Among::of_test(world, progress)
        }
    }
}

impl Among<'_> {
    /// A fabric to the owners of the bins.
    ///
    /// Collective.
    pub fn fabric_of_bins(&self) -> Result<ExchangeFabric, FabricError> {
        self.fabric(self.place.partitions, self.place.owners().clone())
    }

    /// A fabric to so many partitions.
    ///
    /// Collective.
    pub fn fabric(&self, partitions: usize, owners: Owners) -> Result<ExchangeFabric, FabricError> {
        let options = FabricOptions {
            memory: self.memory,
            spill: Some(Arc::clone(&self.folder)),
            combining: None,
            owners,
        };
        self.world.fabric(partitions, options)
    }

    /// A fabric with a partition for each process.
    ///
    /// Collective.
    pub fn fabric_to_processes(&self) -> Result<ExchangeFabric, FabricError> {
        self.fabric(self.world.ranks(), Owners::default())
    }

    /// Whether each process has all of a graph of so many k-mers, with an index of it, and asks no
    /// others: where that is sooner and fits, or where nothing else fits.
    pub fn has_whole(&self, kmers: u64, is_sooner: bool) -> bool {
        let shared = shared_bytes(kmers, self.world.ranks());
        whole_bytes(kmers) <= self.room && (is_sooner || shared > self.room)
    }

    /// The sum of a number over all processes.
    ///
    /// Collective.
    pub fn sum(&self, number: usize) -> Result<u64, FabricError> {
        Ok(self.world.sum(&[number as u64])?[0])
    }

    /// The greatest of a number of all processes.
    ///
    /// Collective.
    pub fn most(&self, number: usize) -> Result<u64, FabricError> {
        Ok(self.world.max(&[number as u64])?[0])
    }

    /// Asks the processes that know: for each of `all` one by `question`, which gives its rank and
    /// the key. The answers, in this order.
    ///
    /// Collective.
    pub fn ask<T: Copy, const K: usize, const A: usize>(
        &self,
        all: &[T],
        question: impl Fn(T) -> (usize, [u8; K]),
        answer: impl FnMut([u8; K]) -> [u8; A],
    ) -> Result<Vec<[u8; A]>, FabricError> {
        let mut answers = Vec::with_capacity(all.len());
        let questions = all.iter().map(|&one| question(one));
        look_up(self.world, questions, answer, |answer| answers.push(answer))?;
        Ok(answers)
    }

    /// Asks every process something, and gives what each says, in the order of ranks; threads
    /// answer what processes asked this one.
    ///
    /// Collective.
    pub fn ask_all(
        &self,
        questions: Vec<Vec<u8>>,
        answer: impl Fn(&[u8]) -> Vec<u8> + Sync,
    ) -> Result<Vec<Vec<u8>>, FabricError> {
        gyrase_fabric::ask(self.world, questions, |told| {
            let shares = told.chunks(told.len().div_ceil(self.threads));
            let answers = in_threads(shares.collect(), |some: &[Vec<u8>]| {
                some.iter().map(|one| answer(one)).collect::<Vec<_>>()
            });
            answers.concat()
        })
    }

    /// Tells processes something: for each of `all` what `word` gives, to a rank.
    ///
    /// Collective.
    pub fn tell<T: Copy, const K: usize>(
        &self,
        all: &[T],
        word: impl Fn(T) -> (usize, [u8; K]),
        hear: impl FnMut([u8; K]),
    ) -> Result<(), FabricError> {
        tell(self.world, all.iter().map(|&one| word(one)), hear)
    }
}
