//! The end of a database: what each process wrote, the directory, the header, the name.

use gyrase_fabric::FabricError;
use gyrase_files::OrderedError;
use gyrase_files::container::u64_at;
use gyrase_kmer::BINS;

use super::error::GykError;
use super::layout::{
    BinEntry, DIRECTORY_BYTES, ENTRY_BYTES, HEADER_BYTES, Header, Metadata, Summary,
};
use super::writer::{Totals, Writer, entry};

/// Bytes of a share before its entries: total, unique, largest.
const TOTALS_BYTES: usize = 24;

/// Bytes of the number of a bin, before its entry.
const NUMBER_BYTES: usize = 8;

/// Why bins were not laid out: something of this process, or what the caller says.
enum Failed<E> {
    Here(GykError),
    Elsewhere(E),
}

impl<E> From<OrderedError<FabricError>> for Failed<E> {
    fn from(error: OrderedError<FabricError>) -> Failed<E> {
        Failed::Here(error.into())
    }
}

impl Writer {
    /// What the thread of every process does that gives the bins of all processes their places, as
    /// they are finished, and writes those of this one there: [`OrderedFile::lay_out`] has the
    /// rest.
    ///
    /// [`OrderedFile::lay_out`]: gyrase_files::OrderedFile::lay_out
    ///
    /// # Errors
    /// Those of `sum` and `all_to_all`, or when the file cannot be opened or a bin cannot be
    /// written: [`Writer::abandon`] was called then. [`GykError::Abandoned`] when another thread
    /// did.
    pub fn lay_out<E: From<GykError>>(
        &self,
        ranks: usize,
        sum: impl Fn(&[u64]) -> Result<Vec<u64>, E>,
        all_to_all: impl Fn(Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, E>,
    ) -> Result<(), E> {
        let laid_out = self.file.lay_out(
            ranks,
            |numbers| sum(numbers).map_err(Failed::Elsewhere),
            |bytes| all_to_all(bytes).map_err(Failed::Elsewhere),
        );
        laid_out.map_err(|failed| match failed {
            Failed::Here(error) => error.into(),
            Failed::Elsewhere(error) => error,
        })
    }

    /// Reads back a part of what all processes wrote: of `ranks` parts, that of `rank`.
    ///
    /// # Errors
    /// The file system lost something of it.
    pub fn check(&self, rank: usize, ranks: usize) -> Result<(), GykError> {
        Ok(self.file.check(rank, ranks)?)
    }

    /// Waits until the bins of this process are on the disk, where the file is another process's.
    /// What is returned is for [`Writer::finish_all`].
    ///
    /// # Errors
    /// When they cannot be written.
    ///
    /// # Panics
    /// When a bin was not handed over.
    pub fn settle(&self) -> Result<Vec<u8>, GykError> {
        let placed = self.file.settle()?;
        let mut totals = Totals::default();
        placed.iter().for_each(|bin| totals.add(bin.note.totals));
        let Totals {
            total,
            unique,
            largest,
        } = totals;
        let mut share: Vec<u8> = [total, unique, u64::from(largest)]
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .collect();
        for (number, bin) in self.file.own().iter().zip(&placed) {
            share.extend((*number as u64).to_le_bytes());
            entry(bin).encode(&mut share);
        }
        Ok(share)
    }

    /// Writes directory, metadata and header, syncs, and gives the file its name.
    ///
    /// # Panics
    /// When a bin was not written.
    pub fn finish(self, metadata: &Metadata) -> Result<Summary, GykError> {
        let share = self.settle()?;
        self.finish_all(&[share], metadata)
    }

    /// As [`Writer::finish`] where several processes wrote: `shares` is what [`Writer::settle`]
    /// returned to each, in their order.
    ///
    /// # Panics
    /// When this process did not create the file, or the shares do not make all bins, one behind
    /// the other.
    pub fn finish_all(self, shares: &[Vec<u8>], metadata: &Metadata) -> Result<Summary, GykError> {
        let (entries, totals) = all(shares);
        let end = end_of(&entries, self.shape.words());
        let mut directory = Vec::with_capacity(DIRECTORY_BYTES);
        entries
            .iter()
            .for_each(|entry| entry.encode(&mut directory));
        let metadata = serde_json::to_vec(metadata).expect("strings and numbers are valid JSON");
        let mut header = Header {
            shape: self.shape,
            cutoffs: self.cutoffs,
            saturated: totals.largest == u32::MAX,
            distinct: entries.iter().map(|entry| entry.kmers).sum(),
            total: totals.total,
            unique: totals.unique,
            largest: totals.largest,
            directory: end,
            metadata: end + directory.len() as u64,
            metadata_bytes: metadata.len() as u64,
            file_bytes: 0,
            directory_crc: crc32fast::hash(&directory),
            metadata_crc: crc32fast::hash(&metadata),
        };
        directory.extend(metadata);
        directory.resize(directory.len().next_multiple_of(8), 0);
        header.file_bytes = end + directory.len() as u64;
        self.file.finish(&header.encode(), &directory)?;
        Ok(header.summary())
    }
}

/// The sum of all counts, where `shares` is what [`Writer::settle`] returned to all processes;
/// `None` where that is nothing, or a count stands for its value *or more*.
pub fn total_of(shares: &[Vec<u8>]) -> Option<u64> {
    let (_, totals) = (!shares.is_empty()).then(|| all(shares))?;
    (totals.largest < u32::MAX).then_some(totals.total)
}

/// The entries of all bins, and the totals.
fn all(shares: &[Vec<u8>]) -> (Vec<BinEntry>, Totals) {
    let (mut entries, mut totals) = (vec![None; BINS], Totals::default());
    for share in shares {
        let (head, rest) = share.split_at(TOTALS_BYTES);
        let &[total, unique, largest] = &head.as_chunks::<8>().0 else {
            panic!("three numbers of eight bytes")
        };
        let largest = u64::from_le_bytes(*largest) as u32;
        totals.add(Totals {
            total: u64::from_le_bytes(*total),
            unique: u64::from_le_bytes(*unique),
            largest,
        });
        for bin in rest.chunks(NUMBER_BYTES + ENTRY_BYTES) {
            let (number, entry) = bin.split_at(NUMBER_BYTES);
            entries[u64_at(number, 0) as usize] = BinEntry::decode(entry);
        }
    }
    let entries = entries
        .into_iter()
        .map(|entry| entry.expect("every bin is written before the end"));
    (entries.collect(), totals)
}

/// Where the bins end.
fn end_of(entries: &[BinEntry], words: usize) -> u64 {
    entries.iter().fold(HEADER_BYTES as u64, |end, entry| {
        assert_eq!(entry.offset, end, "bins stand one behind the other");
        entry.end(words).expect("a file is shorter than 2^64 bytes")
    })
}
