//! The end of a database: what each process wrote, the directory, the header, the name.

use std::ops::Range;
use std::os::unix::fs::FileExt;

use gyrase_fabric::Place;
use gyrase_kmer::BINS;

use super::destination::Destination;
use super::error::GykError;
use super::layout::{
    BinEntry, DIRECTORY_BYTES, ENTRY_BYTES, HEADER_BYTES, Header, Metadata, Summary,
};
use super::writer::{State, Totals, Writer};

/// How many times the processes that write a database tell each other how long their bins are.
const WAVES: usize = 16;

/// Bytes of a share before its entries: total, unique, largest.
const TOTALS_BYTES: usize = 24;

impl Writer {
    /// What the thread of every process does that gives the bins of all processes their places, as
    /// they are finished, and writes those of this one there. Bins go by in waves of the same bins
    /// in every process; `all` sums each number of a list over the processes.
    ///
    /// # Errors
    /// Those of `all`, or when the file cannot be opened or a bin cannot be written:
    /// [`Writer::abandon`] was called then. [`GykError::Abandoned`] when another thread did.
    pub fn lay_out<E: From<GykError>>(
        &self,
        all: impl Fn(&[u64]) -> Result<Vec<u64>, E>,
    ) -> Result<(), E> {
        let laid_out = self.lay_out_waves(all);
        if laid_out.is_err() {
            self.abandon();
        }
        laid_out
    }

    fn lay_out_waves<E: From<GykError>>(
        &self,
        all: impl Fn(&[u64]) -> Result<Vec<u64>, E>,
    ) -> Result<(), E> {
        let mut place = HEADER_BYTES as u64;
        let mut opened = self.open();
        for start in (0..BINS).step_by(BINS / WAVES) {
            let wave = start..start + BINS / WAVES;
            let lengths = all(&self.lengths(wave.clone())?)?;
            // Not before: the file may be gone with a process that failed, of which `all` tells.
            std::mem::replace(&mut opened, Ok(()))?;
            for (bin, length) in wave.zip(lengths) {
                if self.bins.owns(bin) {
                    self.put(self.bins.number(bin), place)?;
                }
                place += length;
            }
            self.to.write_back();
        }
        Ok(())
    }

    /// The bytes of each bin of a wave, 0 of those of other processes, once all of this one are
    /// finished.
    fn lengths(&self, wave: Range<usize>) -> Result<Vec<u64>, GykError> {
        let own = wave
            .clone()
            .filter(|&bin| self.bins.owns(bin))
            .map(|bin| self.bins.number(bin))
            .last();
        let waits = |state: &mut State| {
            !state.abandoned && own.is_some_and(|number| state.prefix <= number)
        };
        let state = self
            .turn
            .wait_while(self.lock(), waits)
            .expect("no thread panics while it holds the state");
        if state.abandoned {
            return Err(GykError::Abandoned {
                path: self.to.target().to_path_buf(),
            });
        }
        let bytes = |bin| {
            let entry = &state.entries[self.bins.number(bin)];
            entry
                .bytes(self.shape.words())
                .expect("a file is shorter than 2^64 bytes")
        };
        Ok(wave
            .map(|bin| if self.bins.owns(bin) { bytes(bin) } else { 0 })
            .collect())
    }

    /// Writes a bin that is aside to its place.
    fn put(&self, number: usize, place: u64) -> Result<(), GykError> {
        let Destination::Aside(aside) = &self.to else {
            panic!("the bins of a process alone have places")
        };
        let mut state = self.lock();
        let entry = &mut state.entries[number];
        let range = entry.offset
            ..entry
                .end(self.shape.words())
                .expect("a file is shorter than 2^64 bytes");
        entry.offset = place;
        drop(state);
        let buffer = aside
            .put(range, place)
            .map_err(|source| self.to.error(source))?;
        self.recycle(buffer.unwrap_or_default());
        Ok(())
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
        self.to.sync()?;
        let state = self.lock();
        assert_eq!(
            state.prefix,
            self.bins.count(),
            "every bin is written before the end"
        );
        let Totals {
            total,
            unique,
            largest,
        } = state.totals;
        let mut share: Vec<u8> = [total, unique, u64::from(largest)]
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .collect();
        state
            .entries
            .iter()
            .for_each(|entry| entry.encode(&mut share));
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
        let (output, mut write_back) = self.to.into_output();
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
    let (mut entries, mut totals) = (vec![None; BINS], Totals::default());
    for (rank, share) in shares.iter().enumerate() {
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
        let place = Place {
            partitions: BINS,
            rank,
            ranks: shares.len(),
        };
        for (bin, bytes) in place.owned().zip(rest.chunks(ENTRY_BYTES)) {
            entries[bin] = BinEntry::decode(bytes);
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
