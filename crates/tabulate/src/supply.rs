//! What gives the workers of a scatter what they cut.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use gyrase_work::{Cancelled, Progress};

/// Where a scatter gets its batches: reads ([`Reading`](crate::Reading)), a table, a file of
/// another program.
pub trait Supply<E>: Sync {
    /// What is cut at a time: a batch of reads, a bin, a block of lines.
    type Batch;

    /// Gives one worker batches until there are no more for it. Every worker of this process calls
    /// it once, on a thread of its own. A batch says by itself where it stands (its input, its
    /// first record).
    ///
    /// # Errors
    /// What it gives cannot be read, the run was cancelled, or the first error of `each`.
    fn give(&self, state: &State, each: EachBatch<Self::Batch, E>) -> Result<(), E>;

    /// Collective, after all workers of all processes: an error where what was given is void.
    ///
    /// # Errors
    /// Why it is.
    fn settle(&self) -> Result<(), E> {
        Ok(())
    }
}

/// What is done with a batch.
pub type EachBatch<'a, B, E> = &'a mut dyn FnMut(&B) -> Result<(), E>;

/// How the workers of one process are doing.
#[derive(Debug)]
pub struct State<'a> {
    progress: &'a Progress,
    failed: AtomicBool,
}

impl<'a> State<'a> {
    pub(crate) fn new(progress: &'a Progress) -> State<'a> {
        State {
            progress,
            failed: AtomicBool::new(false),
        }
    }

    /// True while no worker of this process has failed.
    ///
    /// # Errors
    /// The run was cancelled.
    pub fn goes_on(&self) -> Result<bool, Cancelled> {
        self.progress.go_on()?;
        Ok(!self.failed.load(Relaxed))
    }

    /// What is told how far the run is.
    pub fn progress(&self) -> &'a Progress {
        self.progress
    }

    pub(crate) fn fail(&self) {
        self.failed.store(true, Relaxed);
    }
}
