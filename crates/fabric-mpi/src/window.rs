//! Numbers and messages of a job, as the schedule of chunks uses them.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::sync_channel;

use gyrase_fabric::{FabricError, Mailbox, Message, Window};
use tracing::info_span;

use crate::Job;
use crate::messages::Outgoing;
use crate::shim::Fetch;
use crate::tasks::{Reply, Shared, Task};

/// Numbers of every process that all can change without its help.
pub struct OneSided<'a> {
    job: &'a Job,
    window: usize,
}

/// A mailbox of a job: messages between its processes, apart from all others.
pub(crate) struct JobMailbox {
    shared: Arc<Shared>,
    rank: usize,
    number: u64,
}

impl Job {
    /// Collective. So many numbers in every process, all 0. Once all processes have dropped theirs
    /// the next ones take their place.
    ///
    /// # Errors
    /// Another process failed.
    pub fn window(&self, numbers: usize) -> Result<OneSided<'_>, FabricError> {
        let window = self.collective("window", |reply| Task::Window(numbers, reply))?;
        Ok(OneSided { job: self, window })
    }

    /// Collective. Messages to one another, apart from all others.
    pub(crate) fn new_mailbox(&self) -> JobMailbox {
        JobMailbox {
            shared: Arc::clone(&self.shared),
            rank: self.rank,
            number: self.mailboxes.fetch_add(1, Relaxed),
        }
    }
}

impl Drop for OneSided<'_> {
    fn drop(&mut self) {
        // A job that is over needs no windows.
        let _ = self.job.shared.give(Task::Leave(self.window));
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

impl Mailbox for JobMailbox {
    fn send(&self, rank: usize, number: u64, bytes: Vec<u8>) -> Result<(), FabricError> {
        let mailbox = self.number;
        if rank == self.rank {
            self.shared.inbox.put(mailbox, number, bytes);
            return Ok(());
        }
        self.shared.give(Task::Send(Outgoing {
            rank,
            mailbox,
            number,
            bytes,
        }))
    }

    fn receive(&self) -> Result<Option<Message>, FabricError> {
        match self.shared.inbox.take(self.number) {
            Some(message) => Ok(Some(message)),
            None => self.shared.goes_on().map(|()| None),
        }
    }
}

impl Drop for JobMailbox {
    fn drop(&mut self) {
        self.shared.inbox.close(self.number);
    }
}
