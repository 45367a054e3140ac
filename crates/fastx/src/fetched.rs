//! The batches of one input that threads fetch before somebody asks for them.
//!
//! One thread at a time asks a [`Reader`](crate::Reader) for records, and it would read, decompress
//! and parse alone. Others fetch batches for it meanwhile, in any number: it takes them in their
//! order, and fetches by itself where there is none.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use gyrase_seq::Batch;

use crate::error::Error;
use crate::look::Looked;
use crate::stream::{Asked, Reading, Stream};

/// Batches of an input that are fetched or wait, at most: whoever asks takes less time.
const MOST: usize = 4;

/// An input, and what was fetched of it.
pub(crate) struct Fetched {
    pub reading: Reading,
    stream: Stream,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Batches that wait, by the number of their chunk.
    batches: BTreeMap<u64, (Result<Asked, Error>, Batch)>,
    /// The chunk that is taken next.
    next: u64,
    /// Threads that fetch.
    fetching: usize,
    /// Nothing more is to be fetched.
    ended: bool,
    /// Why the input cannot be opened.
    error: Option<Error>,
    /// Batches that are free.
    spare: Vec<Batch>,
}

/// A thread that fetches: should it panic, nobody waits for it for ever.
struct Fetching<'f>(&'f Fetched);

impl Drop for Fetching<'_> {
    fn drop(&mut self) {
        self.0.lock().fetching -= 1;
        self.0.changed.notify_all();
    }
}

impl Fetched {
    pub(crate) fn new(looked: Looked, reading: Reading) -> Fetched {
        Fetched {
            reading,
            state: Mutex::new(State {
                ended: looked.empty,
                ..State::default()
            }),
            stream: Stream::new(0, looked.origin),
            changed: Condvar::new(),
        }
    }

    /// Fetches batches until enough are there or on their way: those who wait for theirs fetch
    /// none, so that it is too little for each who asks to fetch one.
    pub(crate) fn fetch(&self) {
        loop {
            let state = self.lock();
            if state.ended || state.fetching + state.batches.len() >= MOST {
                return;
            }
            self.fetch_one(state);
        }
    }

    /// Fills the batch with the next records.
    pub(crate) fn ask(&self, batch: &mut Batch) -> Result<Asked, Error> {
        let mut state = self.lock();
        loop {
            let next = state.next;
            if let Some((asked, fetched)) = state.batches.remove(&next) {
                state.next += 1;
                state.spare.push(std::mem::replace(batch, fetched));
                return asked;
            }
            if state.fetching > 0 {
                let changed = self.changed.wait(state);
                state = changed.unwrap_or_else(PoisonError::into_inner);
            } else if state.ended {
                return state.error.take().map_or(Ok(Asked::Ended), Err);
            } else {
                self.fetch_one(state);
                state = self.lock();
            }
        }
    }

    fn fetch_one(&self, mut state: MutexGuard<'_, State>) {
        state.fetching += 1;
        let mut batch = state.spare.pop().unwrap_or_default();
        drop(state);
        let _fetching = Fetching(self);
        let chunk = self.stream.fetch(&self.reading, &mut batch);
        let parsed = chunk.map(|chunk| {
            let chunk = chunk?;
            let number = chunk.number();
            Some((number, self.stream.parse(&self.reading, &mut batch, chunk)))
        });
        let mut state = self.lock();
        match parsed {
            Ok(Some((number, asked))) => {
                state.batches.insert(number, (asked, batch));
            }
            Ok(None) => state.ended = true,
            Err(error) => (state.ended, state.error) = (true, Some(error)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
