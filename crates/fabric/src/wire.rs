//! What the exchange of records between processes asks of a message library.

use crate::{FabricError, Pages};

/// What an exchange of bytes came to.
#[derive(Debug)]
pub struct Exchanged {
    /// What was sent: its buffer is free again.
    pub sent: Vec<u8>,
    /// What came, in the order of processes.
    pub came: Pages,
}

/// The collectives of the shuffle, as one thread of each process calls them. Operations own their
/// buffers while they are under way: a call starts one, [`Wire::counts`] and [`Wire::bytes`] give
/// its result once it is there.
///
/// Operations of one kind are started in the same order by every process, each kind on a
/// communicator of its own, and end in the order in which they were started.
pub trait Wire {
    /// Which process this is.
    fn rank(&self) -> usize;

    /// How many there are.
    fn ranks(&self) -> usize;

    /// Starts to send number `i` of `numbers` to process `i` (an all-to-all).
    ///
    /// # Errors
    /// The library failed.
    fn start_counts(&mut self, numbers: Vec<u32>) -> Result<(), FabricError>;

    /// The numbers that came by the first [`Wire::start_counts`] that has not ended, by process;
    /// `None` while it is under way.
    ///
    /// # Errors
    /// The library failed.
    fn counts(&mut self) -> Result<Option<Vec<u32>>, FabricError>;

    /// Starts to send the first `sent[0]` bytes of `bytes` to process 0, the next `sent[1]` to
    /// process 1, and so on, and to receive `received[i]` bytes of process `i`, in that order, into
    /// `came`, which has as many. Either sum is below 2^31.
    ///
    /// # Errors
    /// The library failed.
    fn start_bytes(
        &mut self,
        bytes: Vec<u8>,
        sent: &[u32],
        came: Pages,
        received: &[u32],
    ) -> Result<(), FabricError>;

    /// What the first [`Wire::start_bytes`] that has not ended came to; `None` while it is under
    /// way.
    ///
    /// # Errors
    /// The library failed.
    fn bytes(&mut self) -> Result<Option<Exchanged>, FabricError>;
}
