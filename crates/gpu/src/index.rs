//! Databases on a GPU, and the pipelines that batches of reads go through.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use gyrase_kmer::SketchShape;

use crate::arch::{Answers, Batch, GpuRegion, OnDevice, Pipeline, Sequence, Wanted};
use crate::database::{GpuDatabase, bytes_beside};
use crate::error::GpuError;
use crate::library::GpuShare;
use crate::records::keep_window;

/// Bytes of a device that a pipeline takes at least: those of a batch of 1 MiB of letters.
const LEAST_PIPELINE: u64 = 128 << 20;

/// Bytes of a device that a pipeline takes at most: those of the batches that have the most hits.
const MOST_PIPELINE: u64 = 4 << 30;

/// A sequence of a read.
#[derive(Clone, Copy, Debug)]
pub struct GpuSequence<'b> {
    /// Its letters.
    pub letters: &'b [u8],
    /// The number of its read in the batch. Those of a read follow each other, and numbers ascend.
    pub read: u32,
}

/// A database on a GPU, or slices of several. Threads share it.
#[derive(Debug)]
pub struct GpuIndex {
    shape: SketchShape,
    /// Pipelines that no batch is in.
    free: Mutex<Vec<Pipeline>>,
    freed: Condvar,
}

impl GpuIndex {
    /// Brings a database to a GPU, with pipelines for up to so many batches at a time, where it
    /// fits the share. Each pipeline takes up to `host` bytes of this machine's memory.
    ///
    /// # Errors
    /// See [`GpuError`].
    ///
    /// # Panics
    /// Without a pipeline.
    pub fn open(
        share: &GpuShare<'_>,
        database: &GpuDatabase<'_>,
        pipelines: usize,
        host: u64,
    ) -> Result<GpuIndex, GpuError> {
        let GpuShare {
            library,
            gpu,
            memory,
        } = *share;
        assert!(pipelines > 0, "a batch goes through a pipeline");
        keep_window(database.shape)?;
        let least = database.bytes() + LEAST_PIPELINE;
        if memory < least {
            let room = memory;
            return Err(GpuError::Memory { least, room });
        }
        let room = memory - database.bytes();
        let pipelines = pipelines.min(usize::try_from(room / LEAST_PIPELINE).unwrap_or(pipelines));
        let each = (room / pipelines as u64).min(MOST_PIPELINE);
        let device = Arc::new(OnDevice::open(&library.functions, gpu.number, database)?);
        let pipelines: Result<_, _> = (0..pipelines)
            .map(|_| Pipeline::new(&device, (each, host)))
            .collect();
        Ok(GpuIndex {
            shape: database.shape,
            free: Mutex::new(pipelines?),
            freed: Condvar::new(),
        })
    }

    /// Bytes that are taken of a GPU beside the words of a database: by so many slices with so many
    /// targets, and by one pipeline.
    pub fn bytes_beside(slices: usize, targets: usize) -> u64 {
        bytes_beside(slices, targets) + LEAST_PIPELINE
    }

    /// Looks reads up: the features of each, and the best region of every target that it hits: of
    /// the stretches of up to as many windows as `spans` has for the read (at least 1), the one
    /// with the most hits, the first of equals. Waits for a pipeline while others have all.
    ///
    /// # Errors
    /// [`GpuError::Declined`] where the batch is too large, or a read too long: the processor can
    /// answer them. See [`GpuError`] for others.
    ///
    /// # Panics
    /// When a sequence is of a read without a span, or of one before that of the sequence before.
    pub fn ask(
        &self,
        sequences: &[GpuSequence<'_>],
        spans: &[u32],
    ) -> Result<GpuAnswers<'_>, GpuError> {
        self.take_through(sequences, Wanted::Regions { spans })
    }

    /// Looks so many reads up: the features of each, and all of their hits, in whatever target. The
    /// rest is as with [`GpuIndex::ask`].
    ///
    /// # Errors
    /// As those of [`GpuIndex::ask`].
    ///
    /// # Panics
    /// When a sequence is of none of these reads, or of one before that of the sequence before.
    pub fn ask_hits(
        &self,
        sequences: &[GpuSequence<'_>],
        reads: usize,
    ) -> Result<GpuHits<'_>, GpuError> {
        self.take_through(sequences, Wanted::Hits { reads })
            .map(GpuHits)
    }

    fn take_through(
        &self,
        sequences: &[GpuSequence<'_>],
        wanted: Wanted<'_>,
    ) -> Result<GpuAnswers<'_>, GpuError> {
        let in_order = sequences.is_sorted_by_key(|sequence| sequence.read);
        let last = sequences.last().map(|sequence| sequence.read as usize);
        assert!(in_order && last.is_none_or(|last| last < wanted.reads()));
        let raw = sequences.iter().map(|sequence| self.raw(sequence));
        let sequences: Vec<Sequence<'_>> = raw.collect::<Option<_>>().ok_or(GpuError::Declined)?;
        let batch = Batch::new(&sequences, wanted).ok_or(GpuError::Declined)?;
        match Answers::of(self.take(), &batch) {
            Ok(answers) => Ok(GpuAnswers {
                index: self,
                answers: Some(answers),
            }),
            Err((pipeline, error)) => {
                self.give_back(pipeline);
                Err(error)
            }
        }
    }

    fn raw<'b>(&self, sequence: &GpuSequence<'b>) -> Option<Sequence<'b>> {
        let windows = self.shape.windows(sequence.letters.len());
        Sequence::new(sequence.letters, windows, sequence.read)
    }

    fn pipelines(&self) -> MutexGuard<'_, Vec<Pipeline>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Pipeline {
        let mut free = self.pipelines();
        loop {
            if let Some(pipeline) = free.pop() {
                return pipeline;
            }
            let freed = self.freed.wait(free);
            free = freed.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn give_back(&self, pipeline: Pipeline) {
        self.pipelines().push(pipeline);
        self.freed.notify_one();
    }
}

/// What was found of the reads of a batch. It has a pipeline of the index until it is dropped.
pub struct GpuAnswers<'i> {
    index: &'i GpuIndex,
    /// There until it is dropped.
    answers: Option<Answers>,
}

impl GpuAnswers<'_> {
    /// Calls `each` for every read in order with its number, its features, the best region of every
    /// target that it hits, by the numbers of the targets, and the hits of these regions, one
    /// behind the other: in the upper 16 bits the window, counted from the first of the region, in
    /// the lower the number of the feature. Those of a region ascend.
    ///
    /// # Errors
    /// That of `each`, which is called no more.
    pub fn each<E>(
        &self,
        mut each: impl FnMut(usize, &[u32], &[GpuRegion], &[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(answers) = &self.answers else {
            return Ok(());
        };
        let (features, mut hits) = (answers.features(), answers.hits());
        let of_features = ranges(answers.feature_begins());
        let of_regions = ranges(answers.region_begins());
        for (read, (own, regions)) in of_features.zip(of_regions).enumerate() {
            let regions = &answers.regions()[regions];
            let all: usize = regions.iter().map(|region| region.hits as usize).sum();
            let (of_read, others) = hits.split_at(all);
            each(read, &features[own], regions, of_read)?;
            hits = others;
        }
        Ok(())
    }
}

/// All hits of the reads of a batch. They have a pipeline of the index until they are dropped.
#[derive(Debug)]
pub struct GpuHits<'i>(GpuAnswers<'i>);

impl GpuHits<'_> {
    /// Calls `each` for every read in order with its number, its features, and all of its hits,
    /// which ascend: in the upper half the window, in the lower the number of the feature.
    ///
    /// # Errors
    /// That of `each`, which is called no more.
    pub fn each<E>(
        &self,
        mut each: impl FnMut(usize, &[u32], &[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(answers) = &self.0.answers else {
            return Ok(());
        };
        let of_features = ranges(answers.feature_begins());
        let of_hits = ranges(answers.hit_begins());
        for (read, (features, hits)) in of_features.zip(of_hits).enumerate() {
            each(
                read,
                &answers.features()[features],
                &answers.all_hits()[hits],
            )?;
        }
        Ok(())
    }
}

/// The ranges that begin where these numbers say, each up to the next.
fn ranges(begins: &[u32]) -> impl Iterator<Item = Range<usize>> {
    let ends = begins.iter().skip(1);
    let both = begins.iter().zip(ends);
    both.map(|(&begin, &end)| begin as usize..end as usize)
}

impl Drop for GpuAnswers<'_> {
    fn drop(&mut self) {
        if let Some(answers) = self.answers.take() {
            self.index.give_back(answers.into_pipeline());
        }
    }
}

impl fmt::Debug for GpuAnswers<'_> {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_struct("GpuAnswers")
            .field("answers", &self.answers)
            .finish()
    }
}
