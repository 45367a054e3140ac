//! Where workers hand send buffers to whoever sends them, and wait for free ones.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use tracing::info_span;

use crate::FabricError;
use crate::blocks::BLOCK;
use crate::inbox::Inbox;
use crate::memory::Pool;
use crate::piece::HEAD;
use crate::traffic::Traffic;

/// Send buffers from the start.
pub(crate) const FIRST_BUFFERS: usize = 2;
/// Send buffers at most.
pub(crate) const MOST_BUFFERS: usize = 5;

/// Bytes of a send buffer at least: what a few blocks take.
const LEAST_BUFFER: u64 = 64 << 10;
/// The part of the memory that a send buffer may take up to some bytes of it.
const PART: u64 = 32;
const USUAL_BUFFER: u64 = 2 << 20;
/// The same where there is so much memory that many threads will fill it: fewer rounds, of fewer
/// and longer messages.
const PART_OF_MUCH: u64 = 2048;
const MOST_BUFFER: u64 = 24 << 20;

/// Between the workers of a process and the one thread that moves what they send.
pub(crate) struct Handover {
    pub sizes: Sizes,
    ranks: usize,
    pool: Arc<Pool>,
    wake: Box<dyn Fn() + Send + Sync>,
    state: Mutex<State>,
    changed: Condvar,
}

/// How much goes through an exchange at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Bytes of a send buffer; a process receives as many in a round at most.
    pub buffer: usize,
    /// Bytes that one process sends another in a round at most: one block at least.
    pub share: usize,
    /// Classes of processes, of which each round serves one.
    pub classes: usize,
}

/// Pieces for other processes of one class, in order of process: a [`Head`](crate::piece::Head),
/// then records, each.
#[derive(Default)]
pub(crate) struct Buffer {
    pub bytes: Vec<u8>,
    /// Bytes per process.
    pub lengths: Vec<u32>,
    pub pieces: u64,
    pub class: usize,
}

#[derive(Default)]
struct State {
    free: Vec<Buffer>,
    full: VecDeque<Buffer>,
    /// The classes of the buffers that workers fill.
    filling: Vec<usize>,
    /// Rounds that were started while workers sent.
    rounds: u64,
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
    /// Why this process cannot go on.
    Failed(FabricError),
}

/// What there is to send.
pub(crate) enum Next {
    /// A buffer; true when it is the last one.
    Full(Buffer, bool),
    /// Nothing for this round's class.
    Empty,
    /// Nothing yet.
    Nothing,
    /// Nothing, ever.
    Closed,
}

impl Sizes {
    /// Those of a job of `ranks` processes with `memory` bytes each.
    pub(crate) fn of(memory: u64, ranks: usize) -> Sizes {
        let others = (ranks - 1).max(1);
        let usual = (memory / PART).clamp(LEAST_BUFFER, USUAL_BUFFER);
        let buffer = usual.max((memory / PART_OF_MUCH).min(MOST_BUFFER)) as usize;
        let classes = others.div_ceil(buffer / (BLOCK + HEAD));
        let at_once = others.div_ceil(classes);
        let share = buffer / at_once;
        Sizes {
            buffer: share * at_once,
            share,
            classes,
        }
    }

    /// The class that round number `round` serves.
    fn class(self, round: u64) -> usize {
        (round % self.classes as u64) as usize
    }
}

impl Handover {
    pub(crate) fn new(
        sizes: Sizes,
        ranks: usize,
        pool: Arc<Pool>,
        wake: Box<dyn Fn() + Send + Sync>,
    ) -> Handover {
        Handover {
            sizes,
            ranks,
            pool,
            wake,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("no thread panics while it holds the buffers")
    }

    /// An empty send buffer, for that class which comes first among those that the worker `holds`
    /// something for; waits until there is one. It is to be handed over without waiting for
    /// anything.
    pub(crate) fn buffer(&self, holds: impl Fn(usize) -> bool) -> Result<Buffer, FabricError> {
        let mut state = self.lock();
        if let Some(buffer) = state.buffer(self, &holds)? {
            return Ok(buffer);
        }
        let _wait = info_span!(target: "gyrase::trace", "wait", at = "buffer").entered();
        loop {
            state = self
                .changed
                .wait(state)
                .expect("no thread panics while it holds the buffers");
            if let Some(buffer) = state.buffer(self, &holds)? {
                return Ok(buffer);
            }
        }
    }

    /// Hands over a send buffer that is full, or the last.
    pub(crate) fn hand_over(&self, buffer: Buffer) -> Result<(), FabricError> {
        let mut state = self.lock();
        state.go_on()?;
        if let Some(at) = state
            .filling
            .iter()
            .position(|&class| class == buffer.class)
        {
            state.filling.swap_remove(at);
        }
        state.full.push_back(buffer);
        drop(state);
        (self.wake)();
        Ok(())
    }

    /// Says that no worker sends any more and waits for what other processes send.
    pub(crate) fn close(&self) -> Result<(Inbox, Traffic), FabricError> {
        self.lock().closed = true;
        (self.wake)();
        let _wait = info_span!(
            target: "gyrase::trace", "wait", at = "collective", call = "exchange", instance = 0u64,
        )
        .entered();
        let mut state = self.lock();
        loop {
            state.go_on()?;
            if matches!(state.end, End::Over(_))
                && let End::Over(all) = std::mem::take(&mut state.end)
            {
                return Ok(*all);
            }
            state = self
                .changed
                .wait(state)
                .expect("no thread panics while it holds the buffers");
        }
    }

    /// What to send in round number `round`, which is started unless there is nothing; `late` where
    /// others wait for it, whatever it carries.
    pub(crate) fn next(&self, round: u64, late: bool) -> Next {
        let (mut state, class) = (self.lock(), self.sizes.class(round));
        let fitting = state.full.iter().position(|buffer| buffer.class == class);
        let next = match fitting.and_then(|at| state.full.remove(at)) {
            Some(buffer) => Next::Full(buffer, state.closed && state.full.is_empty()),
            None if state.closed && state.full.is_empty() => return Next::Closed,
            // It is full soon, and would then wait for its class to come again.
            None if self.sizes.classes > 1 && state.filling.contains(&class) => {
                return Next::Nothing;
            }
            None if late || !state.full.is_empty() => Next::Empty,
            None => return Next::Nothing,
        };
        state.rounds = round + 1;
        next
    }

    /// True when there is nothing to send, or nothing ever.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().full.is_empty()
    }

    /// True when no worker sends any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// True when this process cannot go on.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.lock().end, End::Failed(_))
    }

    /// Why this process cannot go on, if it cannot.
    pub(crate) fn failure(&self) -> Option<FabricError> {
        self.lock().go_on().err()
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

    /// Lets nobody wait any more, for the first reason given.
    pub(crate) fn fail(&self, why: FabricError) {
        let mut state = self.lock();
        if !matches!(state.end, End::Failed(_)) {
            state.end = End::Failed(why);
        }
        self.changed.notify_all();
    }
}

impl State {
    fn go_on(&self) -> Result<(), FabricError> {
        match &self.end {
            End::Failed(why) => Err(why.clone()),
            _ => Ok(()),
        }
    }

    /// A free buffer for a class that the worker `holds` something for, if there is one.
    fn buffer(
        &mut self,
        of: &Handover,
        holds: &impl Fn(usize) -> bool,
    ) -> Result<Option<Buffer>, FabricError> {
        let Some(mut buffer) = self.free_buffer(of)? else {
            return Ok(None);
        };
        buffer.class = self.first_class(of.sizes, holds);
        self.filling.push(buffer.class);
        Ok(Some(buffer))
    }

    /// The class of the first round that no buffer is meant for, of classes that the worker `holds`
    /// something for.
    fn first_class(&self, sizes: Sizes, holds: &impl Fn(usize) -> bool) -> usize {
        let classes = || {
            self.full
                .iter()
                .map(|buffer| buffer.class)
                .chain(self.filling.iter().copied())
        };
        let given = |class| classes().filter(|&other| other == class).count();
        let ahead = 0..(MOST_BUFFERS + 1) * sizes.classes;
        let mut rounds = ahead.map(|ahead| {
            (
                ahead / sizes.classes,
                sizes.class(self.rounds + ahead as u64),
            )
        });
        rounds
            .find(|&(before, class)| given(class) <= before && holds(class))
            .map_or(0, |(_, class)| class)
    }

    /// A free buffer, or one more if there may be.
    fn free_buffer(&mut self, of: &Handover) -> Result<Option<Buffer>, FabricError> {
        self.go_on()?;
        if let Some(buffer) = self.free.pop() {
            return Ok(Some(buffer));
        }
        // What the first ones take was set aside.
        let another = || self.buffers < FIRST_BUFFERS || of.pool.reserve(of.sizes.buffer as u64);
        if self.buffers == MOST_BUFFERS || !another() {
            return Ok(None);
        }
        self.buffers += 1;
        let bytes = Vec::with_capacity(of.sizes.buffer);
        Ok(Some(Buffer {
            bytes,
            lengths: vec![0; of.ranks],
            ..Buffer::default()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handover(ranks: usize) -> Handover {
        Handover::new(
            Sizes::of(0, ranks),
            ranks,
            Arc::new(Pool::new(0)),
            Box::new(|| ()),
        )
    }

    #[test]
    fn buffers_are_as_large_for_few_processes_as_for_many() {
        for (ranks, classes) in [
            (2, 1),
            (3, 1),
            (16, 1),
            (512, 1),
            (513, 2),
            (3072, 7),
            (100_000, 196),
        ] {
            for (memory, most) in [
                (4 << 30, 2 << 20),
                (16 << 20, 512 << 10),
                (0, 64 << 10),
                (1 << 40, 24 << 20),
            ] {
                let sizes = Sizes::of(memory, ranks);
                let at_once = (ranks - 1).div_ceil(sizes.classes);
                assert_eq!(sizes.buffer, at_once * sizes.share, "{ranks} {sizes:?}");
                assert!(
                    sizes.buffer <= most && sizes.buffer > most * 9 / 10,
                    "{ranks} {sizes:?}"
                );
                assert!(sizes.share >= BLOCK + HEAD, "{ranks} {sizes:?}");
                assert!(
                    memory != 4 << 30 || sizes.classes == classes,
                    "{ranks} {sizes:?}"
                );
            }
        }
    }

    #[test]
    fn a_round_carries_buffers_of_its_class_only() {
        let handover = handover(40);
        assert_eq!(handover.sizes.classes, 3);
        let first = handover.buffer(|_| true).unwrap();
        let second = handover.buffer(|class| class == 2).unwrap();
        assert_eq!((first.class, second.class), (0, 2));
        handover.hand_over(second).unwrap();
        // The worker will soon have filled it: nobody waits for long.
        assert!(matches!(handover.next(0, true), Next::Nothing));
        handover.hand_over(first).unwrap();
        handover.lock().closed = true;
        assert!(matches!(
            handover.next(0, false),
            Next::Full(Buffer { class: 0, .. }, false)
        ));
        assert!(matches!(handover.next(1, false), Next::Empty));
        assert!(matches!(
            handover.next(2, false),
            Next::Full(Buffer { class: 2, .. }, true)
        ));
        assert!(matches!(handover.next(3, false), Next::Closed));
    }

    #[test]
    fn a_buffer_is_for_the_first_round_without_one() {
        let handover = handover(40);
        for round in 0..4 {
            assert!(matches!(handover.next(round, false), Next::Nothing));
            assert!(matches!(handover.next(round, true), Next::Empty));
        }
        let filled = |holds: fn(usize) -> bool| {
            let buffer = handover.buffer(holds).unwrap();
            let class = buffer.class;
            handover.hand_over(buffer).unwrap();
            class
        };
        handover.lock().buffers = 0;
        assert_eq!([filled(|class| class != 1), filled(|_| true)], [2, 1]);
        handover.lock().buffers = 0;
        assert_eq!([filled(|_| true), filled(|class| class == 0)], [0, 0]);
        let next = |round| match handover.next(round, false) {
            Next::Full(buffer, false) => Some(buffer.class),
            _ => None,
        };
        assert_eq!(
            [4, 5, 6, 7, 8, 9].map(next),
            [Some(1), Some(2), Some(0), None, None, Some(0)]
        );
    }
}
