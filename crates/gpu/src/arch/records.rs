//! The records of a build on a device, what sketches for them, and what reads them, by the pointers
//! that the library gives.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use gyrase_kmer::SketchShape;
use gyrase_table::gydb::PARTITIONS;

use super::answers::slice;
use super::functions::Functions;
use super::raw::{RawLists, RawShape, RawTargets, Sequence};
use crate::error::GpuError;
use crate::lists::{GpuLists, GpuTargets};

/// Records on a device. Those who sketch for them or read them share them.
#[derive(Debug)]
pub(crate) struct OpenRecords {
    functions: Arc<Functions>,
    records: NonNull<c_void>,
}

// SAFETY: the library's functions may be called with records by any thread.
unsafe impl Send for OpenRecords {}
// SAFETY: they keep threads apart that write to them.
unsafe impl Sync for OpenRecords {}

impl OpenRecords {
    /// None yet, of features from a partition on, with up to so many bytes of a device.
    pub(crate) fn new(
        functions: &Arc<Functions>,
        number: usize,
        bytes: u64,
        first_partition: u32,
    ) -> Result<OpenRecords, GpuError> {
        // SAFETY: it takes numbers, and gives what is used by its functions alone.
        let records = unsafe { (functions.records)(number as i32, bytes, first_partition) };
        Ok(OpenRecords {
            functions: Arc::clone(functions),
            records: functions.given(records)?,
        })
    }

    /// Sorts them; windows from the first of each pair on, which ascend, become those from the
    /// second on. Where the records of each partition begin, and where those of the last end; and
    /// the partition from which on there are none.
    pub(crate) fn sort(
        &mut self,
        came: &[u32],
        numbers: &[u32],
    ) -> Result<(Vec<u32>, u32), GpuError> {
        assert_eq!(came.len(), numbers.len(), "each batch has a number");
        let batches = u32::try_from(came.len()).map_err(|_| GpuError::Declined)?;
        let (mut begins, mut end) = (vec![0; PARTITIONS + 1], 0);
        let (sort, records) = (self.functions.sort, self.records.as_ptr());
        let (to, end_to) = (begins.as_mut_ptr(), &raw mut end);
        // SAFETY: they are open and nobody reads them yet; there are as many numbers as is said,
        // and room for one more than partitions.
        let code = unsafe {
            sort(
                records,
                came.as_ptr(),
                numbers.as_ptr(),
                batches,
                to,
                end_to,
            )
        };
        self.functions.check(code)?;
        Ok((begins, end))
    }
}

impl OpenRecords {
    /// Brings what lists are made by; nobody makes any yet.
    pub(crate) fn bring_targets(&mut self, targets: &GpuTargets<'_>) -> Result<(), GpuError> {
        let raw = RawTargets::new(targets).ok_or(GpuError::Declined)?;
        // SAFETY: they are open and nobody reads them; the targets outlive the call, which copies
        // them.
        let code = unsafe { (self.functions.targets_of)(self.records.as_ptr(), &raw) };
        self.functions.check(code)
    }
}

impl Drop for OpenRecords {
    fn drop(&mut self) {
        // SAFETY: they are open, and nobody shares them any more.
        unsafe { (self.functions.records_close)(self.records.as_ptr()) }
    }
}

/// What sketches for records, one batch at a time.
#[derive(Debug)]
pub(crate) struct OpenSketcher {
    records: Arc<OpenRecords>,
    sketcher: NonNull<c_void>,
}

// SAFETY: it may be used by one thread after the other.
unsafe impl Send for OpenSketcher {}

impl OpenSketcher {
    /// One that takes up to so many bytes of the device, and of the host.
    pub(crate) fn new(
        records: &Arc<OpenRecords>,
        shape: SketchShape,
        (bytes, host): (u64, u64),
    ) -> Result<OpenSketcher, GpuError> {
        let (functions, shape) = (&records.functions, RawShape::from(shape));
        // SAFETY: the records are open; the shape outlives the call, which copies it.
        let sketcher =
            unsafe { (functions.sketcher)(records.records.as_ptr(), &shape, bytes, host) };
        Ok(OpenSketcher {
            records: Arc::clone(records),
            sketcher: functions.given(sketcher)?,
        })
    }

    /// Keeps records of sequences, whose windows have numbers from one on.
    pub(crate) fn sketch(
        &mut self,
        sequences: &[Sequence<'_>],
        first_window: u32,
    ) -> Result<(), GpuError> {
        let functions = &self.records.functions;
        let count = u32::try_from(sequences.len()).map_err(|_| GpuError::Declined)?;
        let (sketcher, from) = (self.sketcher.as_ptr(), sequences.as_ptr());
        // SAFETY: it is open and in this thread alone; the sequences outlive the call, which copies
        // them.
        functions.check(unsafe { (functions.sketch)(sketcher, from, count, first_window) })
    }
}

impl Drop for OpenSketcher {
    fn drop(&mut self) {
        // SAFETY: it is open, and nobody uses it any more.
        unsafe { (self.records.functions.sketcher_close)(self.sketcher.as_ptr()) }
    }
}

/// What makes lists of sorted records, of one partition at a time.
#[derive(Debug)]
pub(crate) struct OpenLister {
    records: Arc<OpenRecords>,
    lister: NonNull<c_void>,
    taxa: usize,
    /// Of the last partition.
    lists: RawLists,
}

// SAFETY: it may be used by one thread after the other, and the pointers are into its own buffers.
unsafe impl Send for OpenLister {}

impl OpenLister {
    /// One of lists of up to so many windows, with up to so many bytes of the device, and of the
    /// host. Numbers of taxa are below `taxa`, or it.
    pub(crate) fn new(
        records: &Arc<OpenRecords>,
        (taxa, most): (usize, u8),
        (bytes, host): (u64, u64),
    ) -> Result<OpenLister, GpuError> {
        let (functions, count) = (&records.functions, taxa);
        let count = u32::try_from(count).map_err(|_| GpuError::Declined)?;
        // SAFETY: the records are open.
        let lister = unsafe {
            (functions.lister)(records.records.as_ptr(), count, most.into(), bytes, host)
        };
        Ok(OpenLister {
            records: Arc::clone(records),
            lister: functions.given(lister)?,
            taxa,
            lists: RawLists::default(),
        })
    }

    /// Makes the lists of a partition with so many records from one on, all of which are there.
    pub(crate) fn list(
        &mut self,
        partition: u32,
        first: u64,
        count: u32,
    ) -> Result<GpuLists<'_>, GpuError> {
        self.lists = RawLists::default();
        let (functions, lister) = (&self.records.functions, self.lister.as_ptr());
        // SAFETY: it is open and in this thread alone; the place is of the type that is written.
        let code = unsafe { (functions.list)(lister, partition, first, count, &mut self.lists) };
        functions.check(code)?;
        let RawLists {
            places,
            counts,
            windows,
            list_count,
            window_count,
            full,
        } = self.lists;
        let (lists, all) = (list_count as usize, window_count as usize);
        // SAFETY: there are as many as is said, until the next lists are made, for which it is
        // borrowed again.
        let (places, counts, locations) = unsafe {
            (
                slice(places, lists),
                slice(counts, lists),
                slice(windows, all),
            )
        };
        Ok(GpuLists {
            places,
            counts,
            locations,
            full,
        })
    }

    /// Of each taxon, and at last of none, the features of all lists so far.
    pub(crate) fn distinct(&self) -> Result<Vec<u64>, GpuError> {
        let mut distinct = vec![0; self.taxa + 1];
        let functions = &self.records.functions;
        // SAFETY: it is open and in this thread alone; there is room for one more than taxa.
        let code = unsafe { (functions.distinct)(self.lister.as_ptr(), distinct.as_mut_ptr()) };
        functions.check(code)?;
        Ok(distinct)
    }
}

impl Drop for OpenLister {
    fn drop(&mut self) {
        // SAFETY: it is open, and nobody has what it made.
        unsafe { (self.records.functions.lister_close)(self.lister.as_ptr()) }
    }
}

/// What reads sorted records, some at a time.
#[derive(Debug)]
pub(crate) struct OpenReader {
    records: Arc<OpenRecords>,
    reader: NonNull<c_void>,
}

// SAFETY: it may be used by one thread after the other.
unsafe impl Send for OpenReader {}

impl OpenReader {
    /// `GYRASE_GPU_MOST_READ`: records that are read at a time, at most.
    pub(crate) const MOST: u32 = 1 << 19;

    /// `GYRASE_GPU_READ_SLACK`: records behind those that may be read too.
    pub(crate) const SLACK: usize = 16;

    /// One that takes up to so many bytes of the host.
    pub(crate) fn new(records: &Arc<OpenRecords>, host: u64) -> Result<OpenReader, GpuError> {
        let functions = &records.functions;
        // SAFETY: the records are open.
        let reader = unsafe { (functions.reader)(records.records.as_ptr(), host) };
        Ok(OpenReader {
            records: Arc::clone(records),
            reader: functions.given(reader)?,
        })
    }

    /// So many records from one on, all of which are there, and 128 bytes behind them.
    pub(crate) fn read(&mut self, first: u64, count: u32) -> Result<&[u64], GpuError> {
        let (functions, mut to) = (&self.records.functions, ptr::null());
        // SAFETY: it is open and in this thread alone; the place is of the type that is written.
        let code = unsafe { (functions.read)(self.reader.as_ptr(), first, count, &raw mut to) };
        functions.check(code)?;
        // SAFETY: there are as many, and the slack behind them, until the next are read, for which
        // it is borrowed again.
        Ok(unsafe { slice(to, count as usize + Self::SLACK) })
    }
}

impl Drop for OpenReader {
    fn drop(&mut self) {
        // SAFETY: it is open, and nobody has what it read.
        unsafe { (self.records.functions.reader_close)(self.reader.as_ptr()) }
    }
}
