//! One partition, as a worker sees it.

use gyrase_fabric::{Drain, FabricError};

/// The records of one partition, wherever they are.
#[derive(Clone, Copy)]
pub struct Partition<'p> {
    partitions: &'p dyn AnyDrain,
    number: usize,
}

impl<'p> Partition<'p> {
    /// Partition `number` of what a fabric left.
    pub fn new(partitions: &'p impl Drain, number: usize) -> Partition<'p> {
        Partition { partitions, number }
    }

    /// Which partition it is.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Bytes of its records.
    pub fn bytes(&self) -> u64 {
        self.partitions.bytes(self.number)
    }

    /// Hands its records to `each`, as [`Drain::drain`] does. May be called again.
    ///
    /// # Errors
    /// A spill file cannot be read or was damaged, or the first error of `each`.
    pub fn drain<E: From<FabricError>>(
        &self,
        mut each: impl FnMut(&[u8], usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut failure = None;
        let drained = self.partitions.drain(self.number, &mut |bytes, used| {
            failure = each(bytes, used).err();
            failure.is_none()
        });
        match failure {
            Some(failure) => Err(failure),
            None => Ok(drained?),
        }
    }
}

impl std::fmt::Debug for Partition<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Partition({}, {} bytes)", self.number, self.bytes())
    }
}

/// [`Drain`] without a type parameter, so that a worker need not know which fabric it was.
trait AnyDrain: Sync {
    fn bytes(&self, partition: usize) -> u64;

    /// Ends early when `each` returns false.
    fn drain(
        &self,
        partition: usize,
        each: &mut dyn FnMut(&[u8], usize) -> bool,
    ) -> Result<(), FabricError>;
}

/// Why a drain ended early.
enum Ended {
    Failed(FabricError),
    Enough,
}

impl From<FabricError> for Ended {
    fn from(error: FabricError) -> Ended {
        Ended::Failed(error)
    }
}

impl<D: Drain> AnyDrain for D {
    fn bytes(&self, partition: usize) -> u64 {
        Drain::bytes(self, partition)
    }

    fn drain(
        &self,
        partition: usize,
        each: &mut dyn FnMut(&[u8], usize) -> bool,
    ) -> Result<(), FabricError> {
        let drained = Drain::drain(self, partition, &mut |bytes, used| {
            if each(bytes, used) {
                Ok(())
            } else {
                Err(Ended::Enough)
            }
        });
        match drained {
            Ok(()) | Err(Ended::Enough) => Ok(()),
            Err(Ended::Failed(error)) => Err(error),
        }
    }
}
