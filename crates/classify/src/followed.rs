//! The reads of a lane, and how far they are read.

use gyrase_seq::Batch;
use gyrase_tabulate::{Source, TabulateError, longest_record};
use gyrase_work::{Checking, Feed, Fetching, Progress};

use crate::lane::Lane;

/// The reads of a lane; the progress is told how many bytes of its files are read.
pub(crate) struct Followed<'p> {
    source: Source,
    told: u64,
    progress: &'p Progress,
}

impl<'p> Followed<'p> {
    /// Opens the lane, to be read in batches of so many bytes by a run of so much memory.
    ///
    /// # Errors
    /// A file cannot be opened or is of no known format.
    pub(crate) fn open(
        lane: &Lane,
        (batch, memory): (usize, u64),
        progress: &'p Progress,
    ) -> Result<Followed<'p>, gyrase_fastx::Error> {
        Ok(Followed {
            source: lane.open(batch, longest_record(memory))?,
            told: 0,
            progress,
        })
    }
}

impl Feed for Followed<'_> {
    type Task = [Batch; 2];
    type Error = TabulateError;

    fn next(&mut self, task: &mut [Batch; 2]) -> Result<bool, TabulateError> {
        let more = self.source.next(task)?;
        let read = self.source.read_bytes();
        self.progress.advance(read - self.told);
        self.told = read;
        Ok(more)
    }

    fn fetching(&self) -> Option<Fetching> {
        self.source.fetching()
    }

    fn checking(&self) -> Option<Checking<[Batch; 2], TabulateError>> {
        self.source.checking()
    }
}
