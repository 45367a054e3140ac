//! The records of a build on a GPU: features that stay there until all are sorted.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use gyrase_kmer::SketchShape;
use gyrase_table::gydb::PARTITIONS;

use crate::arch::{OpenReader, OpenRecords, OpenSketcher, Sequence};
use crate::error::GpuError;
use crate::library::GpuShare;

/// Letters of a window, at most: so many have room in what a warp keeps.
pub(crate) const MOST_WINDOW: usize = 256;

/// Refuses windows that are too long.
pub(crate) fn keep_window(shape: SketchShape) -> Result<(), GpuError> {
    let (window, most) = (shape.window(), MOST_WINDOW);
    match window > most {
        true => Err(GpuError::Window { window, most }),
        false => Ok(()),
    }
}

/// Records on a GPU. A record is the place of a feature and a window that has it. Those of a lower
/// half of the partitions stay where all are too many, and of that a half again: others are for
/// other records, that begin with another partition.
#[derive(Debug)]
pub struct GpuRecords {
    shape: SketchShape,
    records: Arc<OpenRecords>,
    first_partition: usize,
    /// The number of the next window that comes.
    next_window: AtomicU32,
}

impl GpuShare<'_> {
    /// Refuses windows of `shape` that a GPU does not sketch.
    ///
    /// # Errors
    /// [`GpuError::Window`].
    pub fn sketches(&self, shape: SketchShape) -> Result<(), GpuError> {
        keep_window(shape)
    }

    /// No records yet of windows of `shape`, with this share of a GPU: of features whose partition
    /// is that of a number, or behind it.
    ///
    /// # Errors
    /// [`GpuError::Window`] where windows are too long. See [`GpuError`] for others.
    ///
    /// # Panics
    /// When there is no such partition.
    pub fn records(
        &self,
        shape: SketchShape,
        first_partition: usize,
    ) -> Result<GpuRecords, GpuError> {
        assert!(first_partition < PARTITIONS, "there is such a partition");
        keep_window(shape)?;
        let (functions, number, bytes) = (&self.library.functions, self.gpu.number, self.memory);
        let records = OpenRecords::new(functions, number, bytes, first_partition as u32)?;
        Ok(GpuRecords {
            shape,
            records: Arc::new(records),
            first_partition,
            next_window: AtomicU32::new(0),
        })
    }
}

impl GpuRecords {
    /// What sketches for them in one thread, with up to so many bytes of the GPU and of this
    /// machine's memory.
    ///
    /// # Errors
    /// See [`GpuError`].
    pub fn sketcher(&self, bytes: u64, host: u64) -> Result<GpuSketcher<'_>, GpuError> {
        Ok(GpuSketcher {
            of: self,
            sketcher: OpenSketcher::new(&self.records, self.shape, (bytes, host))?,
        })
    }

    /// Sorts them. Windows from the first of each pair on, which [`GpuSketcher::sketch`] gave, are
    /// windows of the database from the second on; each reader takes up to `host` bytes of this
    /// machine's memory.
    ///
    /// # Errors
    /// See [`GpuError`].
    pub fn sort(self, mut windows: Vec<(u32, u32)>, host: u64) -> Result<GpuSorted, GpuError> {
        windows.sort_unstable();
        let (came, numbers): (Vec<u32>, Vec<u32>) = windows.into_iter().unzip();
        let mut records = Arc::into_inner(self.records).expect("nobody sketches any more");
        let (begins, end) = records.sort(&came, &numbers)?;
        Ok(GpuSorted {
            records: Arc::new(records),
            partitions: self.first_partition..end as usize,
            begins,
            host,
            readers: Mutex::default(),
        })
    }
}

/// What sketches sequences for records, in one thread.
#[derive(Debug)]
pub struct GpuSketcher<'r> {
    of: &'r GpuRecords,
    sketcher: OpenSketcher,
}

impl GpuSketcher<'_> {
    /// Keeps records of the features of sequences, as [`gyrase_kmer::Sketcher`] finds them. The
    /// number of their first window; those of the others follow.
    ///
    /// # Errors
    /// [`GpuError::Declined`] where they are too many at once. See [`GpuError`] for others. Records
    /// of some of them may be there then.
    pub fn sketch<'b>(
        &mut self,
        sequences: impl IntoIterator<Item = &'b [u8]>,
    ) -> Result<u32, GpuError> {
        let shape = self.of.shape;
        let mut windows = 0u32;
        let raw = |letters: &'b [u8]| {
            let own = shape.windows(letters.len());
            windows = windows.checked_add(own)?;
            Sequence::new(letters, own, 0)
        };
        let sequences: Option<Vec<Sequence<'b>>> = sequences.into_iter().map(raw).collect();
        let sequences = sequences.ok_or(GpuError::Declined)?;
        let advance = |next: u32| next.checked_add(windows);
        let first = self.of.next_window.fetch_update(Relaxed, Relaxed, advance);
        let first = first.map_err(|_| GpuError::Declined)?;
        self.sketcher.sketch(&sequences, first)?;
        Ok(first)
    }
}

/// Sorted records on a GPU. Threads share them.
#[derive(Debug)]
pub struct GpuSorted {
    records: Arc<OpenRecords>,
    partitions: Range<usize>,
    /// Where the records of each partition begin, and where those of the last end.
    begins: Vec<u32>,
    host: u64,
    /// Those that nobody reads with.
    readers: Mutex<Vec<OpenReader>>,
}

impl GpuSorted {
    /// The partitions whose records are here.
    pub fn partitions(&self) -> Range<usize> {
        self.partitions.clone()
    }

    /// How many records a partition has.
    ///
    /// # Panics
    /// When there is no such partition.
    pub fn count(&self, partition: usize) -> usize {
        (self.begins[partition + 1] - self.begins[partition]) as usize
    }

    /// Calls `each` with the records of a partition, in their order, many at a time: so many, and
    /// 128 bytes behind them. A record has the place of a feature within the partition in its upper
    /// 20 bits, and a window below.
    ///
    /// # Errors
    /// See [`GpuError`]; or that of `each`, which is called no more.
    ///
    /// # Panics
    /// When there is no such partition.
    pub fn each<E: From<GpuError>>(
        &self,
        partition: usize,
        mut each: impl FnMut(&[u64], usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let free = self.free().pop();
        let mut reader = free.map_or_else(|| OpenReader::new(&self.records, self.host), Ok)?;
        let all = self.begins[partition]..self.begins[partition + 1];
        for first in all.clone().step_by(OpenReader::MOST as usize) {
            let count = (all.end - first).min(OpenReader::MOST);
            each(reader.read(first.into(), count)?, count as usize)?;
        }
        self.free().push(reader);
        Ok(())
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<OpenReader>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
