//! Numbers and letters of a job, as the schedule of chunks uses them.

use std::sync::mpsc::sync_channel;

use gyrase_fabric::{FabricError, Post, Window};
use tracing::info_span;

use crate::Job;
use crate::letters::{Letter, MARKS};
use crate::shim::Fetch;
use crate::tasks::{Reply, Task};

/// Numbers of every process that all can change without its help.
pub struct OneSided<'a> {
    job: &'a Job,
    window: usize,
}

/// Letters between processes that belong to one window.
pub struct Letters<'a> {
    job: &'a Job,
    mark: usize,
}

impl Job {
    /// Collective. So many numbers in every process, all 0, and letters of their own. The numbers
    /// stay until the job ends.
    ///
    /// # Errors
    /// Another process failed.
    pub fn window(&self, numbers: usize) -> Result<(OneSided<'_>, Letters<'_>), FabricError> {
        let window = self.collective("window", |reply| Task::Window(numbers, reply))?;
        Ok((
            OneSided { job: self, window },
            Letters {
                job: self,
                mark: window % MARKS,
            },
        ))
    }
}

impl OneSided<'_> {
    fn ask(&self, task: impl FnOnce(Reply<u64>) -> Task) -> Result<u64, FabricError> {
        let _wait = info_span!(target: "gyrase::trace", "wait", at = "chunk").entered();
        self.job.shared.ask(task)
    }

    fn fetch(&self, what: Fetch, place: (usize, usize), number: u64) -> Result<u64, FabricError> {
        let window = self.window;
        self.ask(|reply| Task::Fetch {
            window,
            what,
            place,
            number,
            reply,
        })
    }
}

impl Window for OneSided<'_> {
    fn add(&self, rank: usize, at: usize, number: u64) -> Result<u64, FabricError> {
        self.fetch(Fetch::Add, (rank, at), number)
    }

    fn get(&self, rank: usize, at: usize) -> Result<u64, FabricError> {
        self.fetch(Fetch::Get, (rank, at), 0)
    }

    fn put(&self, rank: usize, at: usize, number: u64) -> Result<(), FabricError> {
        // What it was before is of no interest, so that nobody waits for it.
        let (reply, _) = sync_channel(1);
        self.job.shared.give(Task::Fetch {
            window: self.window,
            what: Fetch::Put,
            place: (rank, at),
            number,
            reply,
        })
    }

    fn compare_and_swap(
        &self,
        rank: usize,
        at: usize,
        expected: u64,
        new: u64,
    ) -> Result<u64, FabricError> {
        let (window, place) = (self.window, (rank, at));
        self.ask(|reply| Task::Swap {
            window,
            place,
            expected,
            new,
            reply,
        })
    }
}

impl Post for Letters<'_> {
    fn send(&self, rank: usize, number: u64, bytes: Vec<u8>) -> Result<(), FabricError> {
        if rank == self.job.rank {
            self.job.shared.inbox.put(self.mark, number, bytes);
            return Ok(());
        }
        self.job.shared.give(Task::Send(Letter {
            rank,
            mark: self.mark,
            number,
            bytes,
        }))
    }

    fn receive(&self) -> Result<Option<(u64, Vec<u8>)>, FabricError> {
        match self.job.shared.inbox.take(self.mark) {
            Some(letter) => Ok(Some(letter)),
            None => self.job.shared.goes_on().map(|()| None),
        }
    }
}
