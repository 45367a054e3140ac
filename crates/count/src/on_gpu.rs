//! A GPU that counts beside the threads: how much it may take, and what it did.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gyrase_fastx::Inputs;
use gyrase_gpu::{Gpu, GpuError, GpuShare, GpuSuperKmers, MOST_BASES};
use gyrase_kmer::Shape;

use crate::plan::{Plan, least_memory, plan};
use crate::reading::windows;
use crate::{Config, Error};

/// Why a GPU does not count.
#[derive(Debug, thiserror::Error)]
pub enum CountRefusal {
    /// The k-mers are too long.
    #[error("a GPU counts k-mers of up to {MOST_BASES} bases, and these have {0}")]
    Long(usize),
    /// The memory of the host is too little for what goes to the GPU and comes back.
    #[error("with a GPU it takes {least} bytes of memory, and --memory is {memory}")]
    HostMemory {
        /// Bytes that are enough.
        least: u64,
        /// Bytes that the run may take.
        memory: u64,
    },
    /// The GPU does not.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

/// Threads that bring partitions to the GPU: one copies and writes while the GPU counts for the
/// other.
const FEEDERS: usize = 2;

/// Bytes of the host that each of them takes, at least and at most: for super-k-mers and rows, or
/// for the tables of what the GPU has left.
const LEAST_HOST: u64 = 32 << 20;
const MOST_HOST: u64 = 1 << 30;
/// The share of the memory of a run that they take together, where that is not more or less.
const SHARE: u64 = 16;

/// Bytes of stored super-k-mers that a feeder takes at a time: enough to keep a GPU busy, and
/// little enough that finished bins of the threads do not wait long for those before them.
const LAUNCH: u64 = 8 << 20;

/// A GPU that counts beside the threads of a run, and what it did.
#[derive(Debug)]
pub struct CountOnGpu<'g> {
    share: GpuShare<'g>,
    host: u64,
    counted: AtomicU64,
    left: AtomicU64,
    refusal: OnceLock<CountRefusal>,
}

impl<'g> CountOnGpu<'g> {
    /// One for a run, with a share of a GPU.
    ///
    /// # Errors
    /// [`CountRefusal::Long`], or [`CountRefusal::HostMemory`].
    pub fn new(share: GpuShare<'g>, config: &Config) -> Result<CountOnGpu<'g>, CountRefusal> {
        let (k, memory) = (config.shape.k(), config.memory);
        if k > MOST_BASES {
            return Err(CountRefusal::Long(k));
        }
        let host = (memory / SHARE / FEEDERS as u64).clamp(LEAST_HOST, MOST_HOST);
        let least = least_memory(config.threads, 1, 0) + FEEDERS as u64 * host;
        if memory < least {
            return Err(CountRefusal::HostMemory { least, memory });
        }
        Ok(CountOnGpu {
            share,
            host,
            counted: AtomicU64::new(0),
            left: AtomicU64::new(0),
            refusal: OnceLock::new(),
        })
    }

    /// The GPU.
    pub fn gpu(&self) -> &Gpu {
        self.share.gpu
    }

    /// Bytes of the host's memory that it takes.
    pub fn host_memory(&self) -> u64 {
        self.host * FEEDERS as u64
    }

    /// What is left of the memory of a run for all else.
    pub fn beside(&self, config: &Config) -> Config {
        Config {
            memory: config.memory - self.host_memory(),
            ..config.clone()
        }
    }

    /// Predicts what the count will take with it.
    ///
    /// # Errors
    /// When an input cannot be opened.
    pub fn plan(&self, config: &Config) -> Result<Plan, Error> {
        let beside = plan(&self.beside(config))?;
        let host = self.host_memory();
        Ok(Plan {
            memory: beside.memory + host,
            memory_of_repeats: beside.memory_of_repeats + host,
            ..beside
        })
    }

    /// Partitions (bins, or parts of them) that it has counted, and those that it has left to the
    /// processor.
    pub fn partitions(&self) -> (u64, u64) {
        (self.counted.load(Relaxed), self.left.load(Relaxed))
    }

    /// Why it counted no more, where it did not.
    pub fn refusal(&self) -> Option<&CountRefusal> {
        self.refusal.get()
    }

    /// It does not count: what decompresses the inputs leaves too little memory.
    pub(crate) fn refuse_for_memory(&self, config: &Config, inputs: &Inputs) {
        let windows = windows(inputs, config.threads);
        self.refuse(CountRefusal::HostMemory {
            least: least_memory(config.threads, 1, windows) + self.host_memory(),
            memory: config.memory,
        });
    }

    /// It counts no more.
    pub(crate) fn refuse(&self, why: impl Into<CountRefusal>) {
        // Another thread may have come first, with what is as good a reason.
        let _ = self.refusal.set(why.into());
    }

    pub(crate) fn note_counted(&self) {
        self.counted.fetch_add(1, Relaxed);
    }

    pub(crate) fn note_left(&self) {
        self.left.fetch_add(1, Relaxed);
    }

    /// The share of each feeder.
    pub(crate) fn shares(&self) -> impl Iterator<Item = FeederShare<'_>> {
        let share = GpuShare {
            memory: self.share.memory / FEEDERS as u64,
            ..self.share
        };
        (0..FEEDERS).map(move |_| FeederShare {
            of: self,
            share,
            host: self.host as usize,
        })
    }
}

/// What one of the feeders may take.
#[derive(Clone, Copy)]
pub(crate) struct FeederShare<'g> {
    pub(crate) of: &'g CountOnGpu<'g>,
    pub(crate) share: GpuShare<'g>,
    /// Bytes of the host.
    pub(crate) host: usize,
}

impl FeederShare<'_> {
    /// Bytes of the host for super-k-mers.
    pub(crate) fn for_super_kmers(&self) -> usize {
        self.host / 4 * 3
    }

    /// Rows that the host has room for at a time.
    pub(crate) fn rows(&self) -> usize {
        self.host / 4 / (size_of::<u64>() + size_of::<u32>())
    }

    /// Bytes of stored super-k-mers to take at a time.
    pub(crate) fn takes(&self, shape: Shape) -> u64 {
        let within = GpuSuperKmers::stored_within(shape, self.for_super_kmers());
        LAUNCH.min(within).min(self.share.stored_at_once(shape))
    }
}
