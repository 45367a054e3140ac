//! The processes of a job: who this one is, and what all of them agree on.

use std::sync::Arc;

use crate::numbers::{from_bytes, made, of, to_bytes};
use crate::{
    Combining, ExchangeFabric, FabricError, FabricOptions, LocalFabric, LocalSchedule, Mailbox,
    Numbers, Peer, Place, Schedule,
};

/// One process among those of a job. The processes run the same program (SPMD); rank 0 is no
/// master.
///
/// What is *collective* is called by every process, in the same order, by one thread of each. It
/// waits for the others, and returns [`FabricError::Elsewhere`] when one of them failed: then this
/// process cleans up and ends too.
///
/// [`Alone`] is a job of one process, [`testing::Process`](crate::testing::Process) a thread among
/// several, [`Group`](crate::Group) makes a job of some processes of another; processes over MPI
/// are another crate's.
pub trait World: Sync {
    /// Which process this is, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn ranks(&self) -> usize;

    /// Both.
    fn peer(&self) -> Peer {
        Peer {
            rank: self.rank(),
            ranks: self.ranks(),
        }
    }

    /// Collective. A fabric of `partitions` partitions, of which this process keeps its own. A job
    /// may have one after the other, each closed before the next one is made.
    ///
    /// # Errors
    /// Another process failed.
    fn fabric(
        &self,
        partitions: usize,
        options: FabricOptions,
    ) -> Result<ExchangeFabric, FabricError>;

    /// Collective. A schedule of chunks `0..chunks` for the workers of all processes.
    ///
    /// # Errors
    /// Another process failed.
    fn schedule(&self, chunks: usize) -> Result<Box<dyn Schedule + '_>, FabricError>;

    /// Collective. Messages between the processes.
    ///
    /// # Errors
    /// Another process failed.
    fn mailbox(&self) -> Result<Arc<dyn Mailbox>, FabricError>;

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

    /// Collective. What process `from` gives, everywhere; what others give does not matter.
    ///
    /// # Errors
    /// Another process failed.
    fn broadcast(&self, from: usize, bytes: Vec<u8>) -> Result<Vec<u8>, FabricError>;

    /// Collective. Rank 0 gets what every process gave, in the order of ranks; the others get
    /// nothing.
    ///
    /// # Errors
    /// Another process failed.
    fn gather(&self, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, FabricError>;

    /// Collective. What every process gave, in the order of ranks, everywhere.
    ///
    /// # Errors
    /// Another process failed.
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, FabricError>;

    /// Says that this process failed and is about to end: a thread of it that waits in a
    /// collective, or comes to one later, gets [`FabricError::Elsewhere`]. The others hear of it
    /// when this process ends, if not before.
    fn give_up(&self);

    /// Collective. The smallest of each of the numbers over all processes.
    ///
    /// # Errors
    /// Another process failed.
    fn min(&self, numbers: &[u64]) -> Result<Vec<u64>, FabricError> {
        Ok(self
            .bounds(numbers)?
            .into_iter()
            .map(|both| both.least)
            .collect())
    }

    /// Collective. The smallest and the largest of each of the numbers over all processes.
    ///
    /// # Errors
    /// Another process failed.
    fn bounds(&self, numbers: &[u64]) -> Result<Vec<Bounds>, FabricError> {
        // The smallest is the largest of the complements, so that one collective finds both.
        let both: Vec<u64> = numbers
            .iter()
            .flat_map(|&number| [!number, number])
            .collect();
        let found = self.max(&both)?;
        let bounds = |&[least, most]: &[u64; 2]| Bounds {
            least: !least,
            most,
        };
        Ok(found.as_chunks().0.iter().map(bounds).collect())
    }

    /// Collective. Whether all processes gave equal numbers.
    ///
    /// # Errors
    /// Another process failed.
    fn all_equal(&self, numbers: &[u64]) -> Result<bool, FabricError> {
        Ok(self
            .bounds(numbers)?
            .iter()
            .all(|both| both.least == both.most))
    }
}

impl dyn World + '_ {
    /// Collective. What this process has, if all processes have something.
    ///
    /// # Errors
    /// Another process failed.
    pub fn if_all_have<T>(&self, own: Option<T>) -> Result<Option<T>, FabricError> {
        let all_have = self.min(&[own.is_some().into()])? == [1];
        Ok(own.filter(|_| all_have))
    }

    /// Collective. The sums of all numbers of a struct over all processes.
    ///
    /// # Errors
    /// Another process failed.
    pub fn sum_of<T: Numbers>(&self, numbers: &T) -> Result<T, FabricError> {
        self.sum(&of(numbers)).map(made)
    }

    /// Collective. The structs of all processes, in their order, everywhere.
    ///
    /// # Errors
    /// Another process failed.
    pub fn all_gather_of<T: Numbers>(&self, numbers: &T) -> Result<Vec<T>, FabricError> {
        let all = self.all_gather(&to_bytes(numbers))?;
        Ok(all.iter().map(|bytes| from_bytes(bytes)).collect())
    }

    /// Collective. The struct of process `from`, everywhere.
    ///
    /// # Errors
    /// Another process failed.
    pub fn broadcast_of<T: Numbers>(&self, from: usize, numbers: &T) -> Result<T, FabricError> {
        let bytes = self.broadcast(from, to_bytes(numbers))?;
        Ok(from_bytes(&bytes))
    }
}

/// The smallest and the largest of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The smallest.
    pub least: u64,
    /// The largest.
    pub most: u64,
}

/// A job of one process.
#[derive(Debug, Default)]
pub struct Alone;

impl World for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn ranks(&self) -> usize {
        1
    }

    fn fabric(
        &self,
        partitions: usize,
        options: FabricOptions,
    ) -> Result<ExchangeFabric, FabricError> {
        let place = Place::alone(partitions).owned_by(options.owners);
        let folder = options.spill.unwrap_or_default();
        let fabric = LocalFabric::at(place, options.memory, folder);
        let fabric = match options.combining {
            Some(Combining { make, portion }) => fabric.combining(make, portion),
            None => fabric,
        };
        Ok(fabric.into())
    }

    fn schedule(&self, chunks: usize) -> Result<Box<dyn Schedule + '_>, FabricError> {
        Ok(Box::new(LocalSchedule::new(chunks)))
    }

    fn mailbox(&self) -> Result<Arc<dyn Mailbox>, FabricError> {
        Ok(Arc::new(crate::mailbox::Own::default()))
    }

    fn sum(&self, numbers: &[u64]) -> Result<Vec<u64>, FabricError> {
        Ok(numbers.to_vec())
    }

    fn max(&self, numbers: &[u64]) -> Result<Vec<u64>, FabricError> {
        Ok(numbers.to_vec())
    }

    fn broadcast(&self, _: usize, bytes: Vec<u8>) -> Result<Vec<u8>, FabricError> {
        Ok(bytes)
    }

    fn gather(&self, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, FabricError> {
        Ok(vec![bytes])
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, FabricError> {
        Ok(vec![bytes.to_vec()])
    }

    fn give_up(&self) {}
}
