//! k-mers counted on a GPU.

use std::ops::{Range, RangeInclusive};

use gyrase_kmer::{Shape, SuperKmer};

use crate::arch::{LANES, OpenCounter, RawPart, RawSuperKmer, Tasks};
use crate::error::GpuError;
use crate::library::GpuShare;

/// The longest k-mers that a GPU counts.
pub const MOST_BASES: usize = 32;

/// Bytes of the host for a super-k-mer, with its weight and its share of a task.
const HELD: usize = size_of::<RawSuperKmer>() + size_of::<u32>() + 1;
/// Bytes of the device for a super-k-mer, and for each of its k-mers: twice a key and a weight, to
/// sort them, and a row.
const OF_SUPER_KMER: usize = HELD + 4;
const OF_KMER: usize = 2 * (8 + 4) + (8 + 4);

/// Super-k-mers of some parts whose k-mers are counted at once.
#[derive(Debug)]
pub struct GpuSuperKmers {
    shape: Shape,
    /// How many there can be, in full tasks.
    room: usize,
    super_kmers: Vec<RawSuperKmer>,
    weights: Vec<u32>,
    parts_of_tasks: Vec<u32>,
    parts: Vec<RawPart>,
}

impl GpuSuperKmers {
    /// None yet, of k-mers of `shape`, with room for so many bytes of them.
    ///
    /// # Panics
    /// When a k-mer has more than [`MOST_BASES`] bases.
    pub fn new(shape: Shape, bytes: usize) -> GpuSuperKmers {
        assert!(shape.k() <= MOST_BASES, "a k-mer is a word");
        let tasks = bytes / HELD / LANES;
        GpuSuperKmers {
            shape,
            room: tasks * LANES,
            super_kmers: Vec::with_capacity(tasks * LANES),
            weights: Vec::with_capacity(tasks * LANES),
            parts_of_tasks: Vec::with_capacity(tasks),
            parts: Vec::new(),
        }
    }

    /// Bytes of stored super-k-mers of k-mers of `shape` for which so much room is enough, whatever
    /// they are.
    pub fn stored_within(shape: Shape, bytes: usize) -> u64 {
        let shortest = SuperKmer::<1>::stored_bytes(1, shape);
        (bytes / HELD * shortest) as u64
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.super_kmers.clear();
        self.weights.clear();
        self.parts_of_tasks.clear();
        self.parts.clear();
    }

    /// True where so many bytes of stored super-k-mers fit, whatever they are.
    pub fn has_room(&self, stored: u64) -> bool {
        let left = (self.room - self.super_kmers.len()).saturating_sub(LANES);
        stored <= GpuSuperKmers::stored_within(self.shape, left * HELD)
    }

    /// Begins a part, of which these keys are wanted.
    pub fn begin(&mut self, keys: RangeInclusive<u64>) {
        self.fill_task();
        self.parts.push(RawPart {
            first: *keys.start(),
            last: *keys.end(),
            first_task: self.parts_of_tasks.len() as u32,
            unused: 0,
        });
    }

    /// Adds a super-k-mer that came so often to the part that was begun; false where there is no
    /// room.
    ///
    /// # Panics
    /// When no part was begun, or the super-k-mer is none of the shape.
    pub fn push(&mut self, super_kmer: SuperKmer<1>, weight: u32) -> bool {
        let most = SuperKmer::<1>::capacity(self.shape);
        let kmers = super_kmer.kmers();
        assert!(kmers > 0 && kmers <= most, "a super-k-mer has k-mers");
        if self.super_kmers.len() == self.room {
            return false;
        }
        if self.super_kmers.len().is_multiple_of(LANES) {
            let part = self.parts.len().checked_sub(1);
            self.parts_of_tasks
                .push(part.expect("a part was begun") as u32);
        }
        let [word] = super_kmer.0;
        self.super_kmers.push([word as u64, (word >> 64) as u64]);
        self.weights.push(weight);
        true
    }

    /// Forgets the part that was begun.
    pub fn drop_last(&mut self) {
        if let Some(part) = self.parts.pop() {
            let tasks = part.first_task as usize;
            self.parts_of_tasks.truncate(tasks);
            self.super_kmers.truncate(tasks * LANES);
            self.weights.truncate(tasks * LANES);
        }
    }

    /// Fills the last task with none: the next one is of another part.
    fn fill_task(&mut self) {
        let full = self.super_kmers.len().next_multiple_of(LANES);
        self.super_kmers.resize(full, [0; 2]);
        self.weights.resize(full, 0);
    }
}

/// What counts k-mers on a GPU.
#[derive(Debug)]
pub struct GpuCounter {
    counter: OpenCounter,
}

/// The rows of a launch. They stay on the GPU until the next.
#[derive(Debug)]
pub struct GpuRows<'c> {
    counter: &'c mut OpenCounter,
    begins: Vec<u32>,
}

impl GpuShare<'_> {
    /// What counts k-mers with this share of a GPU.
    ///
    /// # Errors
    /// See [`GpuError`].
    pub fn counter(&self) -> Result<GpuCounter, GpuError> {
        let functions = &self.library.functions;
        let counter = OpenCounter::new(functions, self.gpu.number, self.memory);
        Ok(GpuCounter { counter: counter? })
    }

    /// Bytes of stored super-k-mers of k-mers of `shape` that can be counted at once, whatever they
    /// are.
    pub fn stored_at_once(&self, shape: Shape) -> u64 {
        let kmers = SuperKmer::<1>::capacity(shape);
        let stored = SuperKmer::<1>::stored_bytes(kmers, shape);
        // A quarter is for what buffers have more than is needed, and for what sorting takes beside
        // them.
        self.memory / 4 * 3 / (OF_SUPER_KMER + OF_KMER * kmers) as u64 * stored as u64
    }
}

impl GpuCounter {
    /// Counts the k-mers with wanted keys, each part by itself: those whose count is within
    /// `counted`.
    ///
    /// # Errors
    /// [`GpuError::Declined`] where they take more than the share of the GPU's memory. See
    /// [`GpuError`] for others.
    pub fn count(
        &mut self,
        given: &mut GpuSuperKmers,
        counted: &RangeInclusive<u32>,
    ) -> Result<GpuRows<'_>, GpuError> {
        given.fill_task();
        let tasks = Tasks {
            super_kmers: &given.super_kmers,
            weights: &given.weights,
            parts_of_tasks: &given.parts_of_tasks,
            parts: &given.parts,
        };
        let begins = self.counter.count(tasks, given.shape, counted)?;
        Ok(GpuRows {
            counter: &mut self.counter,
            begins,
        })
    }
}

impl GpuRows<'_> {
    /// The rows of a part, by their numbers.
    ///
    /// # Panics
    /// When there is no such part.
    pub fn of(&self, part: usize) -> Range<usize> {
        self.begins[part] as usize..self.begins[part + 1] as usize
    }

    /// As many rows from the first on as both slices have room for: keys, which ascend within a
    /// part, and their counts.
    ///
    /// # Errors
    /// [`GpuError::Failed`], also where there are not as many.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn read(
        &mut self,
        first: usize,
        keys: &mut [u64],
        counts: &mut [u32],
    ) -> Result<(), GpuError> {
        self.counter.rows(first, keys, counts)
    }
}
