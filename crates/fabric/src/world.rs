//! The processes of a job: who this one is, and what all of them agree on.

use std::ops::Range;
use std::sync::Arc;

use crate::{
    Combiner, Fabric, FabricError, LocalFabric, LocalPartitions, LocalSchedule, Schedule,
    SpillFolder,
};

/// What makes a [`Combiner`] for each sender, and about how many bytes of records it is given at a
/// time ([`LocalFabric::combining`]).
pub struct Combining {
    /// Makes one.
    pub make: Box<dyn Fn() -> Box<dyn Combiner> + Sync>,
    /// Bytes of records.
    pub portion: u64,
}

/// One process among those of a job. The processes run the same program (SPMD); rank 0 is no
/// master.
///
/// What is *collective* is called by every process, in the same order, by one thread of each. It
/// waits for the others, and returns [`FabricError::Elsewhere`] when one of them failed: then this
/// process cleans up and ends too.
pub trait World: Sync {
    /// How records travel between the processes.
    type Fabric: Fabric<Partitions = LocalPartitions> + Sync;

    /// Which process this is, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn ranks(&self) -> usize;

    /// Collective. A fabric of `partitions` partitions, of which this process keeps its own
    /// ([`Place`]) in up to `memory` bytes and in `folder`.
    ///
    /// # Errors
    /// Another process failed.
    fn fabric(
        &self,
        partitions: usize,
        memory: u64,
        folder: Arc<SpillFolder>,
        combining: Combining,
    ) -> Result<Self::Fabric, FabricError>;

    /// Collective. A schedule of chunks `0..chunks` for the workers of all processes.
    ///
    /// # Errors
    /// Another process failed.
    fn schedule(&self, chunks: usize) -> Result<Box<dyn Schedule + '_>, FabricError>;

    /// Collective. The sums of each of the numbers over all processes, wrapping around; the same
    /// numbers everywhere.
    ///
    /// # Errors
    /// Another process failed.
    fn sum(&self, numbers: &[u64]) -> Result<Vec<u64>, FabricError>;

    /// Collective. The largest of each of the numbers over all processes.
    ///
    /// # Errors
    /// Another process failed.
    fn max(&self, numbers: &[u64]) -> Result<Vec<u64>, FabricError>;

    /// Collective. Rank 0 gets what every process gave, in the order of ranks; the others get
    /// nothing.
    ///
    /// # Errors
    /// Another process failed.
    fn gather(&self, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, FabricError>;

    /// Collective. What every process gave, in the order of ranks; the same everywhere.
    ///
    /// # Errors
    /// Another process failed.
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, FabricError> {
        let mut sizes = vec![0; self.ranks()];
        sizes[self.rank()] = bytes.len() as u64;
        let sizes: Vec<usize> = self
            .sum(&sizes)?
            .iter()
            .map(|&size| size as usize)
            .collect();
        let words = |ranks: Range<usize>| sizes[ranks].iter().map(|size| size.div_ceil(8)).sum();
        let mut all: Vec<u64> = vec![0; words(0..self.ranks())];
        let place: usize = words(0..self.rank());
        for (word, bytes) in all[place..].iter_mut().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(whole);
        }
        let all = self.sum(&all)?;
        let of_rank = |rank: usize| {
            let place: usize = words(0..rank);
            let bytes = all[place..].iter().flat_map(|word| word.to_le_bytes());
            bytes.take(sizes[rank]).collect()
        };
        Ok((0..self.ranks()).map(of_rank).collect())
    }

    /// Says that this process failed and is about to end: a thread of it that waits in a
    /// collective, or comes to one later, gets [`FabricError::Elsewhere`]. The others hear of it
    /// when this process ends, if not before.
    fn give_up(&self);

    /// Does the work of one of the `workers` threads of this process: on a core of its own where
    /// those of all processes on a machine need each core, on each core in turn where they are more
    /// than cores. Then those that do the same get as much done.
    fn on_core<T>(&self, worker: usize, workers: usize, work: impl FnOnce() -> T) -> T {
        let _ = (worker, workers);
        work()
    }
}

/// Where a process stands among those that partitions are spread over.
///
/// Partition `p` falls to process `p` mod `ranks`: processes that go through their partitions in
/// order go through all of them side by side, so that what they make of them can be put in order as
/// they go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// How many partitions there are, in all processes together.
    pub partitions: usize,
    /// Which process this is, from 0.
    pub rank: usize,
    /// How many processes there are.
    pub ranks: usize,
}

impl Place {
    /// The only process.
    pub fn alone(partitions: usize) -> Place {
        Place {
            partitions,
            rank: 0,
            ranks: 1,
        }
    }

    /// The partitions of this process, ascending.
    pub fn owned(&self) -> impl Iterator<Item = usize> + use<> {
        (self.rank..self.partitions).step_by(self.ranks)
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.partitions
            .saturating_sub(self.rank)
            .div_ceil(self.ranks)
    }

    /// True for a partition of this process.
    pub fn owns(&self, partition: usize) -> bool {
        partition % self.ranks == self.rank && partition < self.partitions
    }

    /// Which of its partitions one is.
    pub fn number(&self, partition: usize) -> usize {
        partition / self.ranks
    }

    /// Its partition of that number.
    pub fn partition(&self, number: usize) -> usize {
        self.rank + number * self.ranks
    }

    /// Where the process `rank` stands.
    pub fn of(&self, rank: usize) -> Place {
        Place { rank, ..*self }
    }
}

/// A job of one process.
#[derive(Debug, Default)]
pub struct Alone;

impl World for Alone {
    type Fabric = LocalFabric;

    fn rank(&self) -> usize {
        0
    }

    fn ranks(&self) -> usize {
        1
    }

    fn fabric(
        &self,
        partitions: usize,
        memory: u64,
        folder: Arc<SpillFolder>,
        combining: Combining,
    ) -> Result<LocalFabric, FabricError> {
        Ok(LocalFabric::new(partitions, memory, folder)
            .combining(combining.make, combining.portion))
    }

    fn schedule(&self, chunks: usize) -> Result<Box<dyn Schedule + '_>, FabricError> {
        Ok(Box::new(LocalSchedule::new(chunks)))
    }

    fn sum(&self, numbers: &[u64]) -> Result<Vec<u64>, FabricError> {
        Ok(numbers.to_vec())
    }

    fn max(&self, numbers: &[u64]) -> Result<Vec<u64>, FabricError> {
        Ok(numbers.to_vec())
    }

    fn gather(&self, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, FabricError> {
        Ok(vec![bytes])
    }

    fn give_up(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_partition_has_one_owner() {
        for (partitions, ranks) in [
            (1, 1),
            (4, 4),
            (7, 3),
            (4096, 1),
            (4096, 7),
            (4096, 3072),
            (3, 5),
        ] {
            let places = || {
                (0..ranks).map(|rank| Place {
                    partitions,
                    rank,
                    ranks,
                })
            };
            let mut owners = vec![Vec::new(); partitions];
            for place in places() {
                assert_eq!(place.count(), place.owned().count());
                for (number, partition) in place.owned().enumerate() {
                    assert_eq!(
                        (place.number(partition), place.partition(number)),
                        (number, partition)
                    );
                    owners[partition].push(place);
                }
            }
            for (partition, owners) in owners.into_iter().enumerate() {
                assert_eq!(
                    owners,
                    places()
                        .filter(|place| place.owns(partition))
                        .collect::<Vec<_>>()
                );
                assert_eq!(
                    owners.len(),
                    1,
                    "{partition} of {partitions}, {ranks} ranks"
                );
            }
        }
    }
}
