//! The end of a database: what each process wrote, the directory, the header, the name.

use std::os::unix::fs::FileExt;

use gyrase_kmer::BINS;

use super::destination::Destination;
use super::error::GykError;
use super::layout::{BinEntry, DIRECTORY_BYTES, ENTRY_BYTES, HEADER_BYTES, Header, Metadata, Summary};
use super::writer::{Totals, Writer};

/// Bytes of a share before its entries: total, unique, largest.
const TOTALS_BYTES: usize = 24;

impl Writer {
    /// Bytes of the bins of this process, once all of them were handed over.
    pub fn bytes(&self) -> u64 {
        self.lock().offset - self.to.start()
    }

    /// Puts the bins of this process where they belong, behind `before` bytes of the bins of others, and has them on the disk where
    /// the file is another process's. What is returned is for [`Writer::finish_all`].
    ///
    /// # Errors
    /// When they cannot be written.
    ///
    /// # Panics
    /// When a bin was not handed over.
    pub fn settle(&self, before: u64) -> Result<Vec<u8>, GykError> {
        let state = self.lock();
        assert_eq!(state.prefix, self.bins.len(), "every bin is written before the end");
        let start = HEADER_BYTES as u64 + before;
        self.to.settle(&state.entries, self.shape.words(), start)?;
        let Totals { total, unique, largest } = state.totals;
        let mut share: Vec<u8> = [total, unique, u64::from(largest)].into_iter().flat_map(u64::to_le_bytes).collect();
        for entry in &state.entries {
            let offset = entry.offset - self.to.start() + start;
            BinEntry { offset, ..*entry }.encode(&mut share);
        }
        Ok(share)
    }

    /// Writes directory, metadata and header, syncs, and gives the file its name.
    ///
    /// # Panics
    /// When a bin was not written.
    pub fn finish(self, metadata: &Metadata) -> Result<Summary, GykError> {
        let share = self.settle(0)?;
        self.finish_all(&[share], metadata)
    }

    /// As [`Writer::finish`] where several processes wrote: `shares` is what [`Writer::settle`] returned to each, in their order.
    ///
    /// # Panics
    /// When this process did not create the file, or the shares are not all bins, one behind the other.
    pub fn finish_all(self, shares: &[Vec<u8>], metadata: &Metadata) -> Result<Summary, GykError> {
        let (entries, totals) = all(shares);
        let end = end_of(&entries, self.shape.words());
        let mut directory = Vec::with_capacity(DIRECTORY_BYTES);
        entries.iter().for_each(|entry| entry.encode(&mut directory));
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
        let Destination::File { write_back, output } = self.to else { panic!("rank 0 created the file and ends it") };
        let mut write_back = write_back.into_inner().expect("no thread panics while it holds the write-back");
        let file = output.file();
        let written = file
            .write_all_at(&directory, end)
            .and_then(|()| write_back.join())
            .and_then(|()| file.write_all_at(&header.encode(), 0));
        written.map_err(|source| output.error(source))?;
        output.commit()?;
        Ok(header.summary())
    }
}

/// The entries of all bins, and the totals.
fn all(shares: &[Vec<u8>]) -> (Vec<BinEntry>, Totals) {
    let (mut entries, mut totals) = (Vec::with_capacity(BINS), Totals::default());
    for share in shares {
        let (head, rest) = share.split_at(TOTALS_BYTES);
        let &[total, unique, largest] = &head.as_chunks::<8>().0 else { panic!("three numbers of eight bytes") };
        let largest = u64::from_le_bytes(*largest) as u32;
        totals.add(Totals { total: u64::from_le_bytes(*total), unique: u64::from_le_bytes(*unique), largest });
        let decoded = rest.chunks(ENTRY_BYTES).map(|bytes| BinEntry::decode(bytes).expect("as it was encoded"));
        entries.extend(decoded);
    }
    assert_eq!(entries.len(), BINS, "every bin is written before the end");
    (entries, totals)
}

/// Where the bins end.
fn end_of(entries: &[BinEntry], words: usize) -> u64 {
    entries.iter().fold(HEADER_BYTES as u64, |end, entry| {
        assert_eq!(entry.offset, end, "bins stand one behind the other");
        entry.end(words).expect("a file is shorter than 2^64 bytes")
    })
}
