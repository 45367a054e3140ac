//! The contract: scatter, then drain a partition.

use crate::FabricError;

/// Bytes that may be read (their values mean nothing) behind the last byte that [`Drain::drain`]
/// hands out at a time.
pub const SLACK: usize = 128;

/// The longest record, in bytes: 1 GiB. A fabric with less memory refuses what does not fit into
/// it.
pub const LONGEST: usize = 1 << 30;

/// One worker's way to send records to the owners of partitions.
///
/// A worker has its own sender and shares it with nobody. What is guaranteed, and what an
/// implementation must keep ([`crate::conformance`] checks it):
///
/// - **Delivery**: every record sent before [`Fabric::close`] is drained from its partition, whole,
///   once per drain, whatever its length. One that is too long for the fabric is refused by
///   [`FabricError::TooLong`].
/// - **Order**: records of one sender to one partition are drained in the order sent. Nothing is
///   promised between senders or between partitions: what is computed of a partition must not
///   depend on it.
/// - **Back-pressure**: `send` returns at once or blocks until there is room (writing to disk,
///   waiting for the network); it never grows a buffer beyond what the fabric was given at the
///   start.
/// - **Who closes**: the workers hand their senders to [`Fabric::close`]. A sender dropped instead
///   loses its records: that is how a failed run ends.
pub trait Sender: Send {
    /// Sends the first `used` bytes of `record` to the owner of `partition`. Records must tell
    /// their own length: they are drained one behind the other. The bytes beyond `used` are not
    /// kept.
    ///
    /// Records of up to some 4,000 bytes cost least. A longer one takes blocks of its own, and is
    /// copied once more when it is drained.
    ///
    /// # Errors
    /// When a spill fails (disk full, more than allowed), the owner cannot be reached, or the
    /// record is longer than [`LONGEST`] or than what the memory holds at once. The run is over
    /// then.
    ///
    /// # Panics
    /// When there is no such partition, or `used` is 0 or exceeds `record`.
    fn send(&mut self, partition: usize, record: &[u8], used: usize) -> Result<(), FabricError>;

    /// Tells that the next records go to this partition and those named just before. Changes
    /// nothing but time: the memory that they go to can be waited for together.
    ///
    /// # Panics
    /// When there is no such partition.
    fn expect(&self, partition: usize) {
        let _ = partition;
    }
}

/// What is done with many records at a time: the bytes, and how many of them are records.
pub type Each<'a, E> = dyn FnMut(&[u8], usize) -> Result<(), E> + 'a;

/// Where the partitions live once all records are sent.
pub trait Drain: Sync {
    /// The partitions that this process owns, ascending; other processes own the rest.
    fn owned(&self) -> Vec<usize>;

    /// Bytes of records in a partition.
    fn bytes(&self, partition: usize) -> u64;

    /// Hands the records of a partition to `each`, many at a time and never one cut in two:
    /// `each(bytes, used)` finds records in `bytes[..used]`, and at least [`SLACK`] readable bytes
    /// behind them. A long record comes whole, as the first of what is handed out with it. Any
    /// thread may drain any owned partition, several at once, and again: a partition stays until
    /// the fabric is dropped. An error of `each` ends the drain.
    fn drain<E: From<FabricError>>(&self, partition: usize, each: &mut Each<E>) -> Result<(), E>;
}

/// Makes fewer bytes of one partition's records without changing what they mean, as many repeats
/// allow.
///
/// A fabric may combine what a sender sent to a partition before it moves or keeps it; then records
/// are drained as the combiner emits them, and their order and number are its own.
pub trait Combiner: Send {
    /// Takes records in, as [`Drain::drain`] hands them out.
    fn add(&mut self, bytes: &[u8], used: usize);

    /// Emits records (bytes, and how many of them are to be kept) that stand for all added since
    /// the last call.
    fn finish(&mut self, emit: &mut dyn FnMut(&[u8], usize));
}

/// A way to move records to the owners of partitions.
pub trait Fabric {
    /// What a worker sends with.
    type Sender: Sender;
    /// What the owners drain.
    type Partitions: Drain;

    /// A sender for one more worker.
    fn sender(&self) -> Self::Sender;

    /// Ends the scatter. Every sender must be here, or its records are lost.
    fn close(self, senders: Vec<Self::Sender>) -> Result<Self::Partitions, FabricError>;
}
