//! Work stealing between processes (Gao et al., Bloomfish, III.B.2).
//!
//! The chunks are shared out in runs of equal length, one for each process, its *owner*. Every
//! process keeps three things in a [`Window`] that all others read and change without its help:
//!
//! - the *next chunk* of its run that nobody has. Whoever wants one of them, the owner too, fetches
//!   the number and adds one.
//! - its *steal offset* `o`: once its own run is used up it takes chunks of the process `o` behind
//!   it, and runs of the processes from it to before that one are used up. Who comes to it to steal
//!   goes on there at once.
//! - the *workers* of its chunks: who took each (0: nobody yet; otherwise the process + 1). What is
//!   sent back to a chunk is sent to its worker.
//!
//! A chunk is taken first and its worker noted then, so that a worker may be unknown for a moment
//! though the chunk is taken; a chunk that is not taken has none for long. Either way a message for
//! it is kept, and its worker looked up again when the next chunk is taken, and at the end.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard};

use gyrase_work::{run_of, runner};

use super::{Schedule, Window};
use crate::{FabricError, Mailbox, Peer};

/// Where the next chunk is in the window.
const NEXT: usize = 0;
/// Where the steal offset is.
const OFFSET: usize = 1;
/// Where the worker of the first chunk is.
const WORKERS: usize = 2;

/// The number of a message that says that all is void. Chunks have lower ones.
const GIVEN_UP: u64 = u64::MAX;

/// Whose chunks a process takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Steal {
    /// Its own, then those of others.
    #[default]
    On,
    /// Only its own.
    Off,
    /// Those of others first: for tests, so that borders between processes are everywhere.
    Forced,
}

/// How many numbers the [`Window`] of a process has for the [`Stealing`] of so many chunks.
pub fn window_numbers(peer: Peer, chunks: usize) -> usize {
    WORKERS + run_of(chunks, peer.rank, peer.ranks).len()
}

/// The schedule of several processes.
#[derive(Debug)]
pub struct Stealing<W, M> {
    window: W,
    mailbox: M,
    rank: usize,
    ranks: usize,
    chunks: usize,
    steal: Steal,
    /// No chunk of this process's own run is left.
    used_up: AtomicBool,
    /// How many processes, from this one on, have no chunk left: the steal offset.
    finished: Mutex<usize>,
    /// What is to be sent back to chunks that nobody works yet.
    kept: Mutex<Vec<Message>>,
    /// What was sent back to chunks that this process works.
    arrived: Mutex<HashMap<usize, Vec<u8>>>,
    given_up: AtomicBool,
}

/// The chunk that bytes are sent back to, and the bytes.
type Message = (usize, Vec<u8>);

impl<W: Window, M: Mailbox> Stealing<W, M> {
    /// The schedule of chunks `0..chunks` for process `rank` of `ranks`. All of them make one, with
    /// equal `chunks` and `steal`, and with a window of [`window_numbers`] numbers each, before any
    /// of them takes a chunk.
    pub fn new(window: W, mailbox: M, peer: Peer, chunks: usize, steal: Steal) -> Stealing<W, M> {
        Stealing {
            window,
            mailbox,
            rank: peer.rank,
            ranks: peer.ranks,
            chunks,
            steal,
            used_up: AtomicBool::new(false),
            // This process itself, as others are asked only when it has finished; forced, it is the
            // last.
            finished: Mutex::new(1),
            kept: Mutex::default(),
            arrived: Mutex::default(),
            given_up: AtomicBool::new(false),
        }
    }

    /// Takes the next chunk of the run of process `victim`.
    fn take_of(&self, victim: usize) -> Result<Option<usize>, FabricError> {
        let run = run_of(self.chunks, victim, self.ranks);
        if run.is_empty() {
            return Ok(None);
        }
        let index = self.window.add(victim, NEXT, 1)?;
        if index >= run.len() as u64 {
            return Ok(None);
        }
        self.note_worker(victim, index as usize)?;
        Ok(Some(run.start + index as usize))
    }

    fn note_worker(&self, owner: usize, index: usize) -> Result<(), FabricError> {
        self.window
            .put(owner, WORKERS + index, self.rank as u64 + 1)
    }

    fn take_own(&self) -> Result<Option<usize>, FabricError> {
        if self.used_up.load(Relaxed) {
            return Ok(None);
        }
        let taken = self.take_of(self.rank)?;
        self.used_up.fetch_or(taken.is_none(), Relaxed);
        Ok(taken)
    }

    /// Takes a chunk of another process. One thread of a process at a time, or all would ask the
    /// same victims.
    fn take_of_others(&self) -> Result<Option<usize>, FabricError> {
        let mut finished = self
            .finished
            .lock()
            .expect("no thread panics while it steals");
        let known = *finished;
        let taken = self.search(&mut finished)?;
        if self.steal == Steal::On && (known == 1 || *finished > known) {
            self.window.put(self.rank, OFFSET, *finished as u64)?;
        }
        Ok(taken)
    }

    fn search(&self, finished: &mut usize) -> Result<Option<usize>, FabricError> {
        let all = if self.steal == Steal::Forced {
            self.ranks + 1
        } else {
            self.ranks
        };
        while *finished < all {
            let victim = (self.rank + *finished) % self.ranks;
            // Who steals itself has finished, and knows others that have.
            let skipped = self.window.get(victim, OFFSET)? as usize;
            if skipped == 0
                && let Some(chunk) = self.take_of(victim)?
            {
                return Ok(Some(chunk));
            }
            *finished = all.min(*finished + skipped.max(1));
        }
        Ok(None)
    }

    /// Which process works a chunk, once that is known.
    fn worker(&self, chunk: usize) -> Result<Option<usize>, FabricError> {
        let (owner, index) = self.place(chunk);
        if self.steal == Steal::Off {
            return Ok(Some(owner));
        }
        let worker = self.window.get(owner, WORKERS + index)?;
        Ok((worker > 0).then(|| worker as usize - 1))
    }

    /// The owner of a chunk, and which of its chunks it is.
    fn place(&self, chunk: usize) -> (usize, usize) {
        let owner = runner(chunk, self.chunks, self.ranks);
        (owner, chunk - run_of(self.chunks, owner, self.ranks).start)
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Message>> {
        self.kept.lock().expect("no thread panics while it sends")
    }

    /// Sends what was kept and can be sent now; returns what is still kept.
    fn send_kept(&self) -> Result<MutexGuard<'_, Vec<Message>>, FabricError> {
        let mut kept = self.kept();
        for message in std::mem::take(&mut *kept) {
            kept.extend(self.try_to_send(message)?);
        }
        Ok(kept)
    }

    /// Sends a message, or gives it back where the worker of its chunk is not known.
    fn try_to_send(&self, (chunk, bytes): Message) -> Result<Option<Message>, FabricError> {
        match self.worker(chunk)? {
            None => return Ok(Some((chunk, bytes))),
            Some(worker) if worker == self.rank => self.put_by(chunk, bytes),
            Some(worker) => self.mailbox.send(worker, chunk as u64, bytes)?,
        }
        Ok(None)
    }

    fn put_by(&self, chunk: usize, bytes: Vec<u8>) {
        self.arrived
            .lock()
            .expect("no thread panics while it holds messages")
            .insert(chunk, bytes);
    }

    fn receive(&self) -> Result<(), FabricError> {
        while let Some((number, bytes)) = self.mailbox.receive()? {
            match number {
                GIVEN_UP => self.given_up.store(true, Relaxed),
                chunk => self.put_by(chunk as usize, bytes),
            }
        }
        Ok(())
    }
}

impl<W: Window, M: Mailbox> Schedule for Stealing<W, M> {
    fn take(&self) -> Result<Option<usize>, FabricError> {
        drop(self.send_kept()?);
        match self.steal {
            Steal::Off => self.take_own(),
            Steal::Forced => self.take_of_others(),
            Steal::On => match self.take_own()? {
                Some(chunk) => Ok(Some(chunk)),
                None => self.take_of_others(),
            },
        }
    }

    fn take_this(&self, chunk: usize) -> Result<bool, FabricError> {
        if chunk >= self.chunks {
            return Ok(false);
        }
        let (owner, index) = self.place(chunk);
        if self.steal == Steal::Off && owner != self.rank {
            return Ok(false);
        }
        let next = self
            .window
            .compare_and_swap(owner, NEXT, index as u64, index as u64 + 1)?;
        if next != index as u64 {
            return Ok(false);
        }
        self.note_worker(owner, index)?;
        Ok(true)
    }

    fn send_back(&self, chunk: usize, bytes: Vec<u8>) -> Result<(), FabricError> {
        if let Some(message) = self.try_to_send((chunk, bytes))? {
            self.kept().push(message);
        }
        Ok(())
    }

    fn sent_back(&self, chunk: usize) -> Result<Option<Vec<u8>>, FabricError> {
        self.receive()?;
        Ok(self
            .arrived
            .lock()
            .expect("no thread panics while it holds messages")
            .remove(&chunk))
    }

    fn all_sent(&self) -> Result<bool, FabricError> {
        Ok(self.send_kept()?.is_empty())
    }

    fn give_up(&self) -> Result<(), FabricError> {
        self.given_up.store(true, Relaxed);
        let others = (0..self.ranks).filter(|&rank| rank != self.rank);
        others
            .into_iter()
            .try_for_each(|rank| self.mailbox.send(rank, GIVEN_UP, Vec::new()))
    }

    fn given_up(&self) -> Result<bool, FabricError> {
        self.receive()?;
        Ok(self.given_up.load(Relaxed))
    }
}

/// The window of one process where nobody steals: each reads and changes its own numbers only.
#[derive(Debug)]
pub(crate) struct OwnNumbers(Vec<AtomicU64>);

impl OwnNumbers {
    pub(crate) fn new(peer: Peer, chunks: usize) -> OwnNumbers {
        let numbers = 0..window_numbers(peer, chunks);
        OwnNumbers(numbers.map(|_| AtomicU64::new(0)).collect())
    }
}

impl Window for OwnNumbers {
    fn add(&self, _: usize, at: usize, number: u64) -> Result<u64, FabricError> {
        Ok(self.0[at].fetch_add(number, SeqCst))
    }

    fn get(&self, _: usize, at: usize) -> Result<u64, FabricError> {
        Ok(self.0[at].load(SeqCst))
    }

    fn put(&self, _: usize, at: usize, number: u64) -> Result<(), FabricError> {
        self.0[at].store(number, SeqCst);
        Ok(())
    }

    fn compare_and_swap(
        &self,
        _: usize,
        at: usize,
        expected: u64,
        new: u64,
    ) -> Result<u64, FabricError> {
        let swapped = self.0[at].compare_exchange(expected, new, SeqCst, SeqCst);
        Ok(swapped.unwrap_or_else(|found| found))
    }
}
