//! Builds a database from bins that many threads finish in about the right order.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use gyrase_fabric::Finished;
use gyrase_files::{OrderedFile, OutputError, OutputFile, Placed, Segment, read_through};
use gyrase_kmer::{BINS, Shape};

use super::error::GykError;
use super::layout::{BinEntry, Cutoffs, HEADER_BYTES, OVERFLOW};
use crate::share::WriterShare;

/// A database under construction.
///
/// Threads hand over bins with [`Writer::write_bin`], or piece by piece ([`Writer::pieces`]). The
/// bytes are laid out in the order of the bins whatever the order of the calls, as [`OrderedFile`]
/// says. So take bins in ascending order (from a shared counter, say), write every one of them, and
/// call [`Writer::abandon`] when a thread gives up.
///
/// Several processes write one database, each its own bins: [`Writer::first`] says how.
#[derive(Debug)]
pub struct Writer {
    pub(super) file: OrderedFile<Bin, Finished>,
    pub(super) shape: Shape,
    pub(super) cutoffs: Cutoffs,
}

/// What is known of a bin beside its bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bin {
    pub(super) kmers: u64,
    pub(super) overflows: u64,
    pub(super) totals: Totals,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) total: u64,
    pub(super) unique: u64,
    pub(super) largest: u32,
}

impl Totals {
    pub(super) fn of(counts: impl Iterator<Item = u32>) -> Totals {
        counts.fold(Totals::default(), |sum, count| Totals {
            total: sum.total + u64::from(count),
            unique: sum.unique + u64::from(count == 1),
            largest: sum.largest.max(count),
        })
    }

    pub(super) fn add(&mut self, other: Totals) {
        self.total += other.total;
        self.unique += other.unique;
        self.largest = self.largest.max(other.largest);
    }
}

impl Writer {
    /// Starts the database that will appear at `target`, with k-mers of `shape` whose counts are
    /// within `cutoffs`.
    pub fn create(target: &Path, shape: Shape, cutoffs: Cutoffs) -> Result<Writer, GykError> {
        Writer::alone(OutputFile::create(target)?, shape, cutoffs)
    }

    fn alone(output: OutputFile, shape: Shape, cutoffs: Cutoffs) -> Result<Writer, GykError> {
        Ok(Writer {
            file: OrderedFile::alone(output, HEADER_BYTES as u64, BINS)?,
            shape,
            cutoffs,
        })
    }

    /// Goes on with a database of which bins `0..finished.len()` were written, as
    /// [`Writer::finished`] told.
    ///
    /// The bins are checked against their checksums, since a machine that lost power may have
    /// logged more than its disk got; [`Writer::next_bin`] says where to go on.
    pub fn resume(
        target: &Path,
        shape: Shape,
        cutoffs: Cutoffs,
        finished: &[BinEntry],
    ) -> Result<Writer, GykError> {
        let end = finished
            .last()
            .and_then(|entry| entry.end(shape.words()))
            .unwrap_or(HEADER_BYTES as u64);
        let output = OutputFile::resume(target, end)?;
        let earlier = output
            .file()
            .try_clone()
            .map_err(|source| output.error(source))?;
        let writer = Writer::alone(output, shape, cutoffs)?;
        writer.take_over(&earlier, finished)?;
        Ok(writer)
    }

    /// Starts a database that several processes write. This one began the file `output`, and gives
    /// it its name at the end; the others [`Writer::join`] with the token that
    /// [`OutputFile::invite`] returned.
    ///
    /// While they hand over their bins, each has a thread in [`Writer::lay_out`]. Then each calls
    /// [`Writer::settle`] and, once all have, [`Writer::check`]; with what the former returned to
    /// all of them this process calls [`Writer::finish_all`].
    ///
    /// # Errors
    /// The system has no more file numbers.
    pub fn first(
        output: OutputFile,
        shape: Shape,
        cutoffs: Cutoffs,
        share: WriterShare,
    ) -> Result<Writer, GykError> {
        Ok(Writer {
            file: OrderedFile::first(output, HEADER_BYTES as u64, share.into())?,
            shape,
            cutoffs,
        })
    }

    /// Writes some bins of the database at `target`, which another process has begun
    /// ([`Writer::first`]). The file need not be there before [`Writer::open`] or
    /// [`Writer::lay_out`].
    pub fn join(
        target: &Path,
        token: u64,
        shape: Shape,
        cutoffs: Cutoffs,
        share: WriterShare,
    ) -> Writer {
        Writer {
            file: OrderedFile::join(target, token, HEADER_BYTES as u64, share.into()),
            shape,
            cutoffs,
        }
    }

    /// Opens the file that another process has begun, where this one joined it, now and not when it
    /// is first written: so that nothing is done in vain where it cannot be opened here.
    ///
    /// # Errors
    /// It is not to be seen here, or cannot be written.
    pub fn open(&self) -> Result<(), GykError> {
        Ok(self.file.open()?)
    }

    /// Takes the first bins as an earlier run left them in `file`, as far as they are whole.
    fn take_over(&self, file: &File, finished: &[BinEntry]) -> Result<(), GykError> {
        let mut offset = HEADER_BYTES as u64;
        for entry in finished.iter().take(BINS) {
            let reread = self
                .reread(file, entry, offset)
                .map_err(|source| OutputError {
                    path: self.file.target().to_path_buf(),
                    source,
                })?;
            let Some((range, totals)) = reread else { break };
            let bin = Bin {
                kmers: entry.kmers,
                overflows: entry.overflows,
                totals,
            };
            offset = range.end;
            self.file
                .take_over(range.end - range.start, entry.crc, bin)?;
        }
        Ok(())
    }

    /// Lets no more than so many bytes of finished bins wait for an earlier one, instead of 64 MiB.
    pub fn waiting(self, bytes: usize) -> Writer {
        Writer {
            file: self.file.waiting(bytes),
            ..self
        }
    }

    /// Where a bin is that an earlier run wrote at `offset`, and its totals, or `None` when it is
    /// not whole.
    fn reread(
        &self,
        file: &File,
        entry: &BinEntry,
        offset: u64,
    ) -> io::Result<Option<(Range<u64>, Totals)>> {
        let length = file.metadata()?.len();
        let words = self.shape.words();
        let end = entry.end(words).filter(|&end| end <= length);
        let Some(end) = end.filter(|_| entry.offset == offset) else {
            return Ok(None);
        };
        let counts = offset + 8 * words as u64 * entry.kmers;
        let overflow = counts + entry.kmers.next_multiple_of(8);
        let (mut crc, mut totals) = (crc32fast::Hasher::new(), Totals::default());
        let mut read = |range, counts_in: fn(&[u8]) -> Totals| {
            read_through(file, range, |bytes| {
                crc.update(bytes);
                totals.add(counts_in(bytes));
                Ok(())
            })
        };
        read(offset..counts, |_| Totals::default())?;
        read(counts..overflow, small_counts)?;
        read(overflow..end, large_counts)?;
        Ok((crc.finalize() == entry.crc).then_some((offset..end, totals)))
    }

    /// Hands over a bin: its keys, row by row (as many words a row as the shape has), strictly
    /// ascending, and as many counts. Every bin must be written once, an empty one with empty
    /// slices.
    ///
    /// # Errors
    /// When the file cannot be written, or when another thread called [`Writer::abandon`].
    ///
    /// # Panics
    /// When keys and counts do not fit each other, or the bin was written before.
    pub fn write_bin(&self, bin: usize, keys: &[u64], counts: &[u32]) -> Result<(), GykError> {
        debug_assert!(
            keys.chunks(self.shape.words())
                .zip(keys.chunks(self.shape.words()).skip(1))
                .all(|(a, b)| a < b),
            "the keys of bin {bin} ascend"
        );
        let (segment, note) = self.encode(keys, counts);
        Ok(self.file.put(bin, segment, note)?)
    }

    /// What its k-mers are.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Lays a bin out as it will stand in the file.
    fn encode(&self, keys: &[u64], counts: &[u32]) -> (Segment, Bin) {
        assert_eq!(
            keys.len(),
            counts.len() * self.shape.words(),
            "every k-mer has a key and a count"
        );
        assert!(
            u32::try_from(counts.len()).is_ok(),
            "a bin holds fewer than 2^32 k-mers"
        );
        let mut bytes = self.file.spare_buffer();
        bytes.reserve(size_of_val(keys) + counts.len().next_multiple_of(8));
        bytes.extend_from_slice(bytemuck::cast_slice(keys));
        bytes.extend(
            counts
                .iter()
                .map(|&count| count.min(u32::from(OVERFLOW)) as u8),
        );
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let body = bytes.len();
        for (index, &count) in counts.iter().enumerate() {
            if count >= u32::from(OVERFLOW) {
                bytes.extend((index as u32).to_le_bytes());
                bytes.extend(count.to_le_bytes());
            }
        }
        let bin = Bin {
            kmers: counts.len() as u64,
            overflows: (bytes.len() - body) as u64 / 8,
            totals: Totals::of(counts.iter().copied()),
        };
        (Segment::new(bytes), bin)
    }

    /// The bin to write next: the first of this process where nothing was taken over.
    pub fn next_bin(&self) -> usize {
        self.file.next_segment()
    }

    /// How many bins this process writes.
    pub fn own_bins(&self) -> usize {
        self.file.own().len()
    }

    /// The entries of bins `from..` up to the first bin that is not yet in the file: log them, in
    /// order, for [`Writer::resume`]. None where several processes write.
    pub fn finished(&self, from: usize) -> Vec<BinEntry> {
        self.file.finished(from).iter().map(entry).collect()
    }

    /// From now on a drop without [`Writer::finish`] leaves the partial file for
    /// [`Writer::resume`].
    pub fn keep_partial(&mut self) {
        self.file.keep_partial();
    }

    /// Gives up: every thread that waits or comes later gets [`GykError::Abandoned`].
    pub fn abandon(&self) {
        self.file.abandon();
    }
}

/// The entry of a bin in the directory.
pub(super) fn entry(placed: &Placed<Bin>) -> BinEntry {
    BinEntry {
        offset: placed.offset,
        kmers: placed.note.kmers,
        overflows: placed.note.overflows,
        crc: placed.crc,
    }
}

/// What a part of the count bytes adds; the zeros at their end count nothing, the others of 255 are
/// in the overflow list.
fn small_counts(bytes: &[u8]) -> Totals {
    Totals::of(
        bytes
            .iter()
            .filter(|&&byte| byte != 0 && byte != OVERFLOW)
            .map(|&byte| u32::from(byte)),
    )
}

/// What a part of the overflow list adds.
fn large_counts(bytes: &[u8]) -> Totals {
    let (pairs, _) = bytes.as_chunks::<8>();
    Totals::of(
        pairs
            .iter()
            .map(|&[_, _, _, _, a, b, c, d]| u32::from_le_bytes([a, b, c, d])),
    )
}
