//! The records of a build on a GPU: features that stay there until all are sorted.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gyrase_kmer::SketchShape;
use gyrase_table::gydb::PARTITIONS;

use crate::arch::{OpenLister, OpenReader, OpenRecords, OpenSketcher, Sequence};
use crate::error::GpuError;
use crate::library::GpuShare;
use crate::lists::{GpuLists, GpuTargets};

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
    ///
    /// # Panics
    /// When some window has no number, or they are more than 2^32 - 1.
    pub fn sort(self, mut windows: Vec<(u32, u32)>, host: u64) -> Result<GpuSorted, GpuError> {
        windows.sort_unstable();
        let first = windows
            .first()
            .map_or(self.next_window.load(Relaxed), |first| first.0);
        assert_eq!(first, 0, "each window that came has a number");
        let behind = windows.iter().skip(1).map(|next| next.0);
        let ends = behind.chain([self.next_window.into_inner()]);
        let ends = ends
            .zip(&windows)
            .map(|(end, (came, number))| number.checked_add(end - came));
        let ends = ends.map(|end| end.expect("windows have numbers"));
        let end_window = ends.max().unwrap_or(0);
        let (came, numbers): (Vec<u32>, Vec<u32>) = windows.into_iter().unzip();
        let mut records = Arc::into_inner(self.records).expect("nobody sketches any more");
        let (begins, end) = records.sort(&came, &numbers)?;
        Ok(GpuSorted {
            records: Arc::new(records),
            partitions: self.first_partition..end as usize,
            begins,
            end_window,
            taxa: None,
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
    /// [`GpuError::Declined`] where a window takes more memory than there is, or those of a
    /// partition do. See [`GpuError`] for others. Records of some of them may be there then.
    pub fn sketch<'b>(
        &mut self,
        sequences: impl IntoIterator<Item = &'b [u8]>,
    ) -> Result<u32, GpuError> {
        let shape = self.of.shape;
        let part = |letters: &'b [u8]| (letters, shape.windows(letters.len()));
        let parts: Vec<SketchPart<'b>> = sequences.into_iter().map(part).collect();
        let windows = parts.iter().map(|part| part.1);
        let advance = |next: u32| windows.clone().try_fold(next, u32::checked_add);
        let first = self.of.next_window.fetch_update(Relaxed, Relaxed, advance);
        let first = first.map_err(|_| GpuError::Declined)?;
        self.keep(&parts, first)?;
        Ok(first)
    }

    /// Keeps records of parts; those of half of the windows, and then of the others, where they are
    /// too many at once.
    fn keep(&mut self, parts: &[SketchPart<'_>], first: u32) -> Result<(), GpuError> {
        let raw = parts
            .iter()
            .map(|&(letters, windows)| Sequence::new(letters, windows, 0));
        let raw: Option<Vec<Sequence<'_>>> = raw.collect();
        let half = parts.iter().map(|part| part.1).sum::<u32>() / 2;
        match self.sketcher.sketch(&raw.ok_or(GpuError::Declined)?, first) {
            Err(GpuError::Declined) if half > 0 => {
                let [one, other] = divided(parts, half, self.of.shape);
                self.keep(&one, first)?;
                self.keep(&other, first + half)
            }
            kept => kept,
        }
    }
}

/// Letters, and how many windows begin in them.
type SketchPart<'b> = (&'b [u8], u32);

/// Parts with so many windows, and those with the others.
fn divided<'b>(
    parts: &[SketchPart<'b>],
    mut windows: u32,
    shape: SketchShape,
) -> [Vec<SketchPart<'b>>; 2] {
    let [mut one, mut other] = [Vec::new(), Vec::new()];
    for &(letters, all) in parts {
        let here = windows.min(all);
        windows -= here;
        let begin = here as usize * shape.stride();
        if here > 0 {
            let end = begin - shape.stride() + shape.window();
            one.push((&letters[..end.min(letters.len())], here));
        }
        if here < all {
            other.push((&letters[begin..], all - here));
        }
    }
    [one, other]
}

/// Sorted records on a GPU. Threads share them.
#[derive(Debug)]
pub struct GpuSorted {
    records: Arc<OpenRecords>,
    partitions: Range<usize>,
    /// Where the records of each partition begin, and where those of the last end.
    begins: Vec<u32>,
    /// More than any window of them.
    end_window: u32,
    /// How many there are, where targets were brought.
    taxa: Option<usize>,
    host: u64,
    /// Those that nobody reads with.
    readers: Mutex<Vec<OpenReader>>,
}

impl GpuSorted {
    /// Records behind those that are read which may be read too.
    pub const SLACK: usize = OpenReader::SLACK;

    /// The partitions whose records are here.
    pub fn partitions(&self) -> Range<usize> {
        self.partitions.clone()
    }

    /// How many records there are.
    pub fn all(&self) -> u64 {
        self.begins[PARTITIONS].into()
    }

    /// How many records a partition has.
    ///
    /// # Panics
    /// When there is no such partition.
    pub fn count(&self, partition: usize) -> usize {
        (self.begins[partition + 1] - self.begins[partition]) as usize
    }

    /// Brings what lists are made by.
    ///
    /// # Errors
    /// See [`GpuError`].
    ///
    /// # Panics
    /// When a window is in no target, a target has no such taxon, or somebody makes lists already.
    pub fn bring_targets(&mut self, targets: &GpuTargets<'_>) -> Result<(), GpuError> {
        let first = targets.first_windows.first().map_or(0, |first| first.0);
        let last = targets.first_windows.last().map_or(0, |last| last.0);
        let ascend = targets.first_windows.is_sorted() && last <= targets.windows;
        assert!(
            ascend && first == 0 && self.end_window <= targets.windows,
            "all have a target"
        );
        let mut numbers = targets.taxa.iter().map(|&taxon| taxon as usize);
        assert!(
            numbers.all(|taxon| taxon <= targets.all_taxa),
            "there are such taxa"
        );
        self.readers = Mutex::default();
        let records = Arc::get_mut(&mut self.records).expect("nobody makes lists yet");
        records.bring_targets(targets)?;
        self.taxa = Some(targets.all_taxa);
        Ok(())
    }

    /// What makes lists in one thread, of up to `most` locations each, with up to so many bytes of
    /// the GPU and of this machine's memory.
    ///
    /// # Errors
    /// See [`GpuError`].
    ///
    /// # Panics
    /// When no targets were brought, or `most` is 0.
    pub fn lister(&self, most: u8, bytes: u64, host: u64) -> Result<GpuLister<'_>, GpuError> {
        let taxa = self.taxa.expect("targets were brought");
        assert!(most > 0, "a list has a location");
        Ok(GpuLister {
            of: self,
            lister: OpenLister::new(&self.records, (taxa, most), (bytes, host))?,
        })
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

    fn free(&self) -> MutexGuard<'_, Vec<OpenReader>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What makes lists of sorted records, in one thread.
#[derive(Debug)]
pub struct GpuLister<'s> {
    of: &'s GpuSorted,
    lister: OpenLister,
}

impl GpuLister<'_> {
    /// The lists of a partition.
    ///
    /// # Errors
    /// [`GpuError::Declined`] where its records are too many for this share: who reads them can
    /// make the lists. See [`GpuError`] for others.
    ///
    /// # Panics
    /// When there is no such partition.
    pub fn lists(&mut self, partition: usize) -> Result<GpuLists<'_>, GpuError> {
        let first = self.of.begins[partition].into();
        let count = self.of.count(partition) as u32;
        self.lister.list(partition as u32, first, count)
    }

    /// Of each taxon, and at last of none, how many features of all lists so far have locations in
    /// its targets.
    ///
    /// # Errors
    /// See [`GpuError`].
    pub fn distinct(&self) -> Result<Vec<u64>, GpuError> {
        self.lister.distinct()
    }
}
