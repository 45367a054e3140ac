//! A database that several processes write, each its own partitions.

use std::path::Path;

use gyrase_fabric::{FabricError, Finished, Peer, Place};
use gyrase_files::{OrderedError, OrderedFile, OutputFile};

use super::error::GydbError;
use super::layout::{ENTRY_BYTES, Entry, HEADER_BYTES, PARTITIONS, Summary};
use super::writer::{Target, Writer};
use crate::share::WriterShare;

/// Why partitions were not laid out: something of this process, or what the caller says.
enum Failed<E> {
    Here(GydbError),
    Elsewhere(E),
}

impl<E> From<OrderedError<FabricError>> for Failed<E> {
    fn from(error: OrderedError<FabricError>) -> Failed<E> {
        Failed::Here(error.into())
    }
}

impl Writer {
    /// Begins a database that several processes write, in the one that created the file. Each hands
    /// over its own partitions while a thread of it is in [`Writer::lay_out`]; then all call
    /// [`Writer::settle`], wait for each other, and call [`Writer::check`]; where all found their
    /// part whole, this one calls [`Writer::finish_all`].
    ///
    /// # Errors
    /// The system has no more file numbers.
    ///
    /// # Panics
    /// When `cap` is not 1 to [`MAX_COUNT`](super::MAX_COUNT).
    pub fn first(output: OutputFile, cap: u8, share: WriterShare) -> Result<Writer, GydbError> {
        let file = OrderedFile::first(output, HEADER_BYTES as u64, share.into())?;
        Ok(Writer::start(Target::Shared(Box::new(file)), cap))
    }

    /// The same in another process, with the token that [`OutputFile::invite`] returned to the
    /// first.
    ///
    /// # Panics
    /// When `cap` is not 1 to [`MAX_COUNT`](super::MAX_COUNT).
    pub fn join(target: &Path, token: u64, cap: u8, share: WriterShare) -> Writer {
        let file = OrderedFile::join(target, token, HEADER_BYTES as u64, share.into());
        Writer::start(Target::Shared(Box::new(file)), cap)
    }

    fn shared(&self) -> &OrderedFile<(Entry, u64), Finished> {
        match &self.target {
            Target::Shared(file) => file,
            _ => panic!("several processes write this database"),
        }
    }

    /// What the thread of every process does that gives the partitions of all processes their
    /// places: [`OrderedFile::lay_out`] has the rest.
    ///
    /// # Errors
    /// Those of `sum` and `all_to_all`, or when the file cannot be written: [`Writer::abandon`] was
    /// called then. [`GydbError::Abandoned`] when another thread did.
    pub fn lay_out<E: From<GydbError>>(
        &self,
        ranks: usize,
        sum: impl Fn(&[u64]) -> Result<Vec<u64>, E>,
        all_to_all: impl Fn(Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, E>,
    ) -> Result<(), E> {
        let laid_out = self.shared().lay_out(
            ranks,
            |numbers| sum(numbers).map_err(Failed::Elsewhere),
            |bytes| all_to_all(bytes).map_err(Failed::Elsewhere),
        );
        laid_out.map_err(|failed| match failed {
            Failed::Here(error) => error.into(),
            Failed::Elsewhere(error) => error,
        })
    }

    /// Waits until the partitions of this process are on the disk. What is returned is for
    /// [`Writer::finish_all`].
    ///
    /// # Errors
    /// When they cannot be written.
    ///
    /// # Panics
    /// When a partition was not handed over.
    pub fn settle(&self) -> Result<Vec<u8>, GydbError> {
        let placed = self.shared().settle()?;
        let windows = placed.iter().map(|partition| partition.note.1).max();
        let mut share = windows.unwrap_or(0).to_le_bytes().to_vec();
        for partition in &placed {
            let entry = Entry {
                offset: partition.offset,
                ..partition.note.0
            };
            entry.encode(&mut share);
        }
        Ok(share)
    }

    /// Reads back a part of what all processes wrote: of `ranks` parts, that of `rank`.
    ///
    /// # Errors
    /// The file system lost something of it.
    pub fn check(&self, rank: usize, ranks: usize) -> Result<(), GydbError> {
        Ok(self.shared().check(rank, ranks)?)
    }

    /// Writes sections, directory and header; the file is synced and gets its name. `shares` is
    /// what [`Writer::settle`] returned to each process, in their order.
    ///
    /// # Errors
    /// When the file cannot be written.
    ///
    /// # Panics
    /// When this process did not create the file, or the shares do not make all partitions.
    pub fn finish_all(self, shares: &[Vec<u8>]) -> Result<Summary, GydbError> {
        let (mut entries, mut windows) = (vec![Entry::default(); PARTITIONS], 0);
        for (rank, share) in shares.iter().enumerate() {
            let (largest, rest) = share.split_first_chunk().expect("a number comes first");
            windows = windows.max(u64::from_le_bytes(*largest));
            let ranks = shares.len();
            let place = Place::among(PARTITIONS, Peer { rank, ranks });
            for (partition, bytes) in place.owned().zip(rest.chunks(ENTRY_BYTES)) {
                entries[partition] = Entry::decode(bytes);
            }
        }
        let end = entries.iter().fold(HEADER_BYTES as u64, |end, entry| {
            assert_eq!(entry.offset, end, "partitions stand one behind the other");
            entry.end()
        });
        let (header, tail) = self.ending(&entries, windows, end);
        let Target::Shared(file) = self.target else {
            panic!("several processes wrote")
        };
        file.finish(&header.encode(), &tail)?;
        Ok(header.summary)
    }
}
