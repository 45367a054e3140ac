//! One partition, as a worker sees it.

use gyrase_fabric::{Drain, FabricError};

/// The records of one partition, wherever they are, and the part of their keys that is wanted.
#[derive(Clone, Copy)]
pub struct Partition<'p> {
    partitions: &'p dyn AnyDrain,
    number: usize,
    part: Part,
}

/// One of the parts of about equal length into which the range of all keys of a partition is
/// divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which, from 0.
    pub number: u64,
    /// How many there are.
    pub parts: u64,
}

impl Part {
    /// All keys.
    pub const WHOLE: Part = Part {
        number: 0,
        parts: 1,
    };
}

impl<'p> Partition<'p> {
    /// Partition `number` of what a fabric left.
    pub fn new(partitions: &'p impl Drain, number: usize) -> Partition<'p> {
        let part = Part::WHOLE;
        Partition {
            partitions,
            number,
            part,
        }
    }

    /// The same records where a part of the keys is wanted.
    pub(crate) fn in_part(self, part: Part) -> Partition<'p> {
        Partition { part, ..self }
    }

    /// Which partition it is.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Which of its keys are wanted: all, unless the worker divides partitions
    /// ([`Worker::divides`](crate::Worker::divides)).
    pub fn part(&self) -> Part {
        self.part
    }

    /// Bytes of its records, whatever their keys.
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
