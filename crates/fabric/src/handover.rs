//! Where workers hand send buffers to whoever sends them, and wait for free ones.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use tracing::info_span;

use crate::FabricError;
use crate::blocks::BLOCK;
use crate::exchange::Traffic;
use crate::inbox::{HEAD, Inbox};
use crate::memory::Pool;

/// Send buffers from the start.
pub(crate) const FIRST_BUFFERS: usize = 2;
/// Send buffers at most.
pub(crate) const MOST_BUFFERS: usize = 5;

/// Bytes of a send buffer for each other process, where there is memory enough, and of a buffer for few and for many.
const BYTES_EACH: u64 = 1 << 20;
const FOR_FEW: u64 = 2 << 20;
const FOR_MANY: u64 = 24 << 20;
/// Bytes of a send buffer at least: what a few blocks take.
const LEAST_BUFFER: u64 = 64 << 10;
/// The part of the memory that a send buffer may take.
const PART: u64 = 32;

/// Between the workers of a process and the one thread that moves what they send.
pub(crate) struct Handover {
    /// Bytes of a send buffer; a process receives as many in a round at most.
    pub buffer: usize,
    /// Bytes that one process sends another in a round at most: one block at least.
    pub share: usize,
    ranks: usize,
    pool: Arc<Pool>,
    wake: Box<dyn Fn() + Send + Sync>,
    state: Mutex<State>,
    changed: Condvar,
}

/// Pieces for other processes, in order of process: partition and bytes (u32 each, little-endian), then records.
#[derive(Default)]
pub(crate) struct Buffer {
    pub bytes: Vec<u8>,
    /// Bytes per process.
    pub lengths: Vec<u32>,
    pub pieces: u64,
}

#[derive(Default)]
struct State {
    free: Vec<Buffer>,
    full: VecDeque<Buffer>,
    /// Buffers that there are.
    buffers: usize,
    /// No worker sends any more.
    closed: bool,
    end: End,
}

/// How it went.
#[derive(Default)]
enum End {
    #[default]
    Open,
    /// Everything came.
    Over(Box<(Inbox, Traffic)>),
    /// Why this process failed, until somebody was told.
    Failed(Option<FabricError>),
}

/// What there is to send.
pub(crate) enum Next {
    /// A buffer; true when it is the last one.
    Full(Buffer, bool),
    /// Nothing yet.
    Nothing,
    /// Nothing, ever.
    Closed,
}

/// Bytes of a send buffer, and how many of them go to one process at most, in a job of `ranks` processes with `memory` bytes
/// each.
pub(crate) fn sizes(memory: u64, ranks: usize) -> (usize, usize) {
    let others = (ranks - 1).max(1);
    let most = (others as u64 * BYTES_EACH).clamp(FOR_FEW, FOR_MANY);
    let share = ((memory / PART).clamp(LEAST_BUFFER, most) as usize / others).max(BLOCK + HEAD);
    (share * others, share)
}

impl Handover {
    pub(crate) fn new(
        (buffer, share): (usize, usize),
        ranks: usize,
        pool: Arc<Pool>,
        wake: Box<dyn Fn() + Send + Sync>,
    ) -> Handover {
        Handover { buffer, share, ranks, pool, wake, state: Mutex::default(), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics while it holds the buffers")
    }

    /// An empty send buffer; waits until there is one.
    pub(crate) fn buffer(&self) -> Result<Buffer, FabricError> {
        let mut state = self.lock();
        if let Some(buffer) = state.buffer(self)? {
            return Ok(buffer);
        }
        let _wait = info_span!(target: "gyrase::trace", "wait", at = "buffer").entered();
        loop {
            state = self.changed.wait(state).expect("no thread panics while it holds the buffers");
            if let Some(buffer) = state.buffer(self)? {
                return Ok(buffer);
            }
        }
    }

    /// Hands over a send buffer that is full, or the last.
    pub(crate) fn hand_over(&self, buffer: Buffer) -> Result<(), FabricError> {
        let mut state = self.lock();
        state.go_on()?;
        state.full.push_back(buffer);
        drop(state);
        (self.wake)();
        Ok(())
    }

    /// Says that no worker sends any more and waits for what other processes send.
    pub(crate) fn close(&self) -> Result<(Inbox, Traffic), FabricError> {
        self.lock().closed = true;
        (self.wake)();
        let _wait = info_span!(target: "gyrase::trace", "wait", at = "collective", call = "exchange", instance = 0u64)
            .entered();
        let mut state = self.lock();
        loop {
            state.go_on()?;
            if matches!(state.end, End::Over(_))
                && let End::Over(all) = std::mem::take(&mut state.end)
            {
                return Ok(*all);
            }
            state = self.changed.wait(state).expect("no thread panics while it holds the buffers");
        }
    }

    /// What to send next.
    pub(crate) fn next(&self) -> Next {
        let mut state = self.lock();
        match state.full.pop_front() {
            Some(buffer) => Next::Full(buffer, state.closed && state.full.is_empty()),
            None if state.closed => Next::Closed,
            None => Next::Nothing,
        }
    }

    /// True when there is nothing to send, or nothing ever.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().full.is_empty()
    }

    /// True when no worker sends any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// True when this process or another failed.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.lock().end, End::Failed(_))
    }

    /// Send buffers that there are.
    pub(crate) fn buffers(&self) -> usize {
        self.lock().buffers
    }

    /// Takes a send buffer back.
    pub(crate) fn give_back(&self, mut buffer: Buffer) {
        buffer.bytes.clear();
        buffer.lengths.fill(0);
        buffer.pieces = 0;
        self.lock().free.push(buffer);
        self.changed.notify_one();
    }

    /// Everything came.
    pub(crate) fn finish(&self, inbox: Inbox, traffic: Traffic) {
        let mut state = self.lock();
        if matches!(state.end, End::Open) {
            state.end = End::Over(Box::new((inbox, traffic)));
        }
        self.changed.notify_all();
    }

    /// Lets nobody wait any more. The first who is told gets `why`, the others hear that it failed elsewhere.
    pub(crate) fn fail(&self, why: Option<FabricError>) {
        let mut state = self.lock();
        if !matches!(state.end, End::Failed(_)) {
            state.end = End::Failed(why);
        }
        self.changed.notify_all();
    }
}

impl State {
    fn go_on(&mut self) -> Result<(), FabricError> {
        match &mut self.end {
            End::Failed(why) => Err(why.take().unwrap_or(FabricError::Elsewhere)),
            _ => Ok(()),
        }
    }

    /// A free buffer, or one more if there may be.
    fn buffer(&mut self, of: &Handover) -> Result<Option<Buffer>, FabricError> {
        self.go_on()?;
        if let Some(buffer) = self.free.pop() {
            return Ok(Some(buffer));
        }
        // What the first ones take was set aside.
        let another = || self.buffers < FIRST_BUFFERS || of.pool.reserve(of.buffer as u64);
        if self.buffers == MOST_BUFFERS || !another() {
            return Ok(None);
        }
        self.buffers += 1;
        Ok(Some(Buffer { bytes: Vec::with_capacity(of.buffer), lengths: vec![0; of.ranks], pieces: 0 }))
    }
}
