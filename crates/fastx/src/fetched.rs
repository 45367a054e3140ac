//! The chunks of one input that threads fetch before it is their turn to be parsed.
//!
//! One thread at a time asks a [`Reader`](crate::Reader) for records, and it would read and
//! decompress alone. Others fetch chunks for it meanwhile, in any number: it parses them in their
//! order, and fetches by itself where there is none.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use gyrase_seq::Batch;

use crate::error::Error;
use crate::look::Looked;
use crate::stream::{Asked, Chunk, Reading, Stream};

/// Chunks of an input that wait, at most: parsing a chunk takes less time than reading one.
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
    /// Chunks that wait, by their number, each in the text of a batch.
    chunks: BTreeMap<u64, (Chunk, Batch)>,
    /// The number of the chunk that is parsed next.
    next: u64,
    /// Threads that fetch.
    fetching: usize,
    /// Nothing more is to be fetched.
    ended: bool,
    /// Why the input cannot be opened.
    error: Option<Error>,
    /// Batches whose text is free.
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

    /// Fetches the next chunk, unless enough are there.
    pub(crate) fn fetch(&self) {
        let state = self.lock();
        if !state.ended && state.fetching + state.chunks.len() < MOST {
            self.fetch_one(state);
        }
    }

    /// Fills the batch with the records of the next chunk.
    pub(crate) fn ask(&self, batch: &mut Batch) -> Result<Asked, Error> {
        let mut state = self.lock();
        loop {
            let next = state.next;
            if let Some((chunk, mut fetched)) = state.chunks.remove(&next) {
                state.next += 1;
                std::mem::swap(&mut batch.text, &mut fetched.text);
                state.spare.push(fetched);
                drop(state);
                return self.stream.parse(&self.reading, batch, chunk);
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
        let fetched = self.stream.fetch(&self.reading, &mut batch);
        let mut state = self.lock();
        match fetched {
            Ok(Some(chunk)) => {
                state.chunks.insert(chunk.number(), (chunk, batch));
            }
            Ok(None) => state.ended = true,
            Err(error) => (state.ended, state.error) = (true, Some(error)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
