//! An input that is read from front to end, by many threads.
//!
//! Decompression and parsing cannot be split, but they can follow each other like stations of a
//! line. A thread holds the *source* while it fills its batch with the next chunk of text (for
//! BGZF: takes the next blocks as they are stored; for a plain file: its place), and draws a
//! ticket. It lets go of the source, decompresses its BGZF blocks or reads its place, finds the
//! records of FASTQ from a guess on ([`Ahead`]), and waits for its *turn*: chunks are parsed in the
//! order of their tickets, because only who knows where the last record of a chunk ends knows where
//! the first of the next begins. So one thread at a time decompresses, or parses FASTA, and there
//! is never more than one chunk per thread in memory.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

use gyrase_seq::Batch;
use tracing::field::Empty;
use tracing::info_span;

use crate::ahead::Ahead;
use crate::bgzf::Blocks;
use crate::error::Error;
use crate::letters::{Rules, mask};
use crate::options::{Format, Input, Options};
use crate::parser::Parser;
use crate::source::{Filled, Origin, Source};

/// Room before a chunk, for the tail of the chunk before. More is made when that is longer.
pub(crate) const HEADROOM: usize = 16 << 10;

/// Chunks of a stream that wait for their turn, at most, while others may be read.
const MOST_IN_TURN: usize = 1;

/// Blocks that the threads of all streams use in turn.
pub(crate) type Spare = Mutex<Vec<Blocks>>;

pub(crate) struct Stream {
    /// Which input it is.
    pub index: usize,
    feed: Mutex<Feed>,
    turn: Mutex<Turn>,
    turned: Condvar,
    /// Chunks that wait for their turn.
    in_turn: AtomicUsize,
    /// Nothing more is to be had from the source.
    ended: AtomicBool,
    /// This process has it as a chunk.
    pub taken: AtomicBool,
}

enum Feed {
    Closed(Origin),
    Open { source: Source, tickets: u64 },
    Ended,
}

#[derive(Default)]
struct Turn {
    next: u64,
    parser: Parser,
    failed: bool,
    /// The last chunk was parsed, and nothing was wrong.
    ended_well: bool,
}

/// What came of asking a stream.
pub(crate) enum Asked {
    /// Records.
    Batch,
    /// A chunk without a record's end; ask again.
    Again,
    /// Another thread holds the source, or chunks of it wait.
    Busy,
    /// The stream is over.
    Ended,
}

/// A chunk between the source and its turn, in the text of a batch.
pub(crate) struct Chunk {
    /// Its ticket.
    number: u64,
    filled: Filled,
    at: u64,
    /// Where its text is.
    text: Range<usize>,
}

impl Chunk {
    /// Which one it is, from 0.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Brings its text, if it is not there: reads it, or decompresses the blocks.
    fn bring(&mut self, batch: &mut Batch, blocks: &Blocks) {
        if let Some(stretch) = self.filled.stretch.take() {
            let read = stretch.read(&mut batch.text[self.text.clone()]);
            return self.heed(read.err());
        }
        if blocks.length == 0 {
            return;
        }
        let text = HEADROOM..HEADROOM + blocks.length;
        batch.text.resize(text.end.max(batch.text.len()), 0);
        let _read = info_span!(target: "gyrase::trace", "read").entered();
        self.text = text.clone();
        self.heed(blocks.expand(&mut batch.text[text]).err());
    }

    /// Has no text where it cannot be brought.
    fn heed(&mut self, error: Option<io::Error>) {
        if error.is_some() {
            self.filled.error = error;
            self.text = HEADROOM..HEADROOM;
        }
    }
}

/// Held by a thread that has a ticket: should it panic, those that wait for it do not wait for
/// ever.
struct Promise<'a>(&'a Stream);

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0
                .turn
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .failed = true;
            self.0.turned.notify_all();
        }
    }
}

impl Stream {
    pub(crate) fn new(index: usize, origin: Origin) -> Stream {
        Stream {
            index,
            feed: Mutex::new(Feed::Closed(origin)),
            turn: Mutex::default(),
            turned: Condvar::new(),
            in_turn: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            taken: AtomicBool::new(false),
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Relaxed)
    }

    /// True when all of it was read and nothing was wrong.
    pub(crate) fn has_ended_well(&self) -> bool {
        self.turn.lock().is_ok_and(|turn| turn.ended_well)
    }

    /// Reads what is left for an error in it.
    pub(crate) fn read_through(&self, reading: &Reading, batch: &mut Batch) -> Result<(), Error> {
        while !matches!(self.ask(reading, batch, true)?, Asked::Ended) {}
        Ok(())
    }

    /// Fills the batch with the next records; waits for other threads only if `wait`.
    pub(crate) fn ask(
        &self,
        reading: &Reading,
        batch: &mut Batch,
        wait: bool,
    ) -> Result<Asked, Error> {
        if !wait && self.in_turn.load(Relaxed) > MOST_IN_TURN {
            return Ok(Asked::Busy);
        }
        let feed = match self.feed.try_lock() {
            Ok(feed) => feed,
            Err(TryLockError::WouldBlock) if !wait => return Ok(Asked::Busy),
            Err(_) => self.wait_for_feed(),
        };
        let Some(chunk) = self.take(reading, batch, feed)? else {
            return Ok(Asked::Ended);
        };
        self.parse(reading, batch, chunk)
    }

    /// The next chunk in the text of the batch, decompressed; nothing at the end. It is to be
    /// parsed.
    pub(crate) fn fetch(
        &self,
        reading: &Reading,
        batch: &mut Batch,
    ) -> Result<Option<Chunk>, Error> {
        self.take(reading, batch, self.wait_for_feed())
    }

    fn take(
        &self,
        reading: &Reading,
        batch: &mut Batch,
        feed: MutexGuard<Feed>,
    ) -> Result<Option<Chunk>, Error> {
        let spare = || reading.spare.lock().expect("no thread panics here");
        let mut blocks = spare().pop().unwrap_or_default();
        let mut taken = self.draw(reading, batch, feed, &mut blocks);
        if let Ok(Some(chunk)) = &mut taken {
            let _promise = Promise(self);
            chunk.bring(batch, &blocks);
        }
        spare().push(blocks);
        taken
    }

    /// Fills the batch with the records of a chunk, when it is its turn.
    pub(crate) fn parse(
        &self,
        reading: &Reading,
        batch: &mut Batch,
        chunk: Chunk,
    ) -> Result<Asked, Error> {
        let input = &reading.inputs[self.index];
        batch.input = self.index;
        let _promise = Promise(self);
        let ahead = self.parse_ahead(reading, batch, &chunk);
        self.in_turn.fetch_add(1, Relaxed);
        let mut turn = self.wait_for(chunk.number);
        self.in_turn.fetch_sub(1, Relaxed);
        if turn.failed {
            return Ok(Asked::Ended);
        }
        let Chunk {
            filled, text, at, ..
        } = chunk;
        let last = filled.last && filled.error.is_none();
        let bytes = text.len() - ahead.as_ref().map_or(0, Ahead::length);
        let parse = info_span!(target: "gyrase::trace", "parse", bytes).entered();
        let parsed = turn.parser.parse(batch, (text, ahead), last, reading.rules);
        drop(parse);
        let result = match (parsed, filled.error) {
            (Err(fault), _) => Err(fault.of(&input.name)),
            (Ok(()), Some(error)) => {
                Err(Source::explain(input.compression, &input.name, at, error))
            }
            (Ok(()), None) => Ok(()),
        };
        turn.ended_well = last && result.is_ok();
        self.pass_on(turn, result.is_err());
        result?;
        reading.mask(batch);
        Ok(if batch.records.is_empty() {
            Asked::Again
        } else {
            Asked::Batch
        })
    }

    /// What can be found of a chunk while others before it have their turn.
    fn parse_ahead(&self, reading: &Reading, batch: &mut Batch, chunk: &Chunk) -> Option<Ahead> {
        let is_fastq = reading.inputs[self.index].format == Some(Format::Fastq);
        if !is_fastq || chunk.number == 0 {
            return None;
        }
        let parse = info_span!(target: "gyrase::trace", "parse", bytes = Empty).entered();
        let ahead = Ahead::find(batch, chunk.text.clone(), reading.rules);
        parse.record("bytes", ahead.as_ref().map_or(0, Ahead::length));
        ahead
    }

    /// Draws the next chunk from the source.
    fn draw(
        &self,
        reading: &Reading,
        batch: &mut Batch,
        mut feed: MutexGuard<Feed>,
        blocks: &mut Blocks,
    ) -> Result<Option<Chunk>, Error> {
        if matches!(*feed, Feed::Closed(_))
            && let Feed::Closed(origin) = std::mem::replace(&mut *feed, Feed::Ended)
        {
            let source = Source::open(
                &reading.inputs[self.index],
                origin,
                reading.most_window,
                &reading.read,
            );
            self.ended.store(source.is_err(), Relaxed);
            *feed = Feed::Open {
                source: source?,
                tickets: 0,
            };
        }
        let Feed::Open { source, tickets } = &mut *feed else {
            return Ok(None);
        };
        batch.text.resize(HEADROOM + reading.batch_bytes, 0);
        let filled = source.fill(&mut batch.text[HEADROOM..], blocks);
        let chunk = Chunk {
            number: *tickets,
            at: source.count(),
            text: HEADROOM..HEADROOM + filled.length,
            filled,
        };
        *tickets += 1;
        if chunk.filled.last || self.has_ended() {
            self.ended.store(true, Relaxed);
            *feed = Feed::Ended;
        }
        Ok(Some(chunk))
    }

    fn wait_for_feed(&self) -> MutexGuard<'_, Feed> {
        let _wait = info_span!(target: "gyrase::trace", "wait", at = "turn").entered();
        let feed = self.feed.lock();
        feed.expect("no thread panics while it holds a source")
    }

    fn wait_for(&self, ticket: u64) -> MutexGuard<'_, Turn> {
        let _wait = info_span!(target: "gyrase::trace", "wait", at = "turn").entered();
        let turn = self.turn.lock().expect("no thread panics while it parses");
        self.turned
            .wait_while(turn, |turn| turn.next != ticket && !turn.failed)
            .expect("no thread panics while it parses")
    }

    fn pass_on(&self, mut turn: MutexGuard<Turn>, failed: bool) {
        turn.next += 1;
        turn.failed |= failed;
        if failed {
            self.ended.store(true, Relaxed);
        }
        drop(turn);
        self.turned.notify_all();
    }
}

/// What all streams of a run share.
pub(crate) struct Reading {
    pub inputs: Vec<Input>,
    pub rules: Rules,
    pub batch_bytes: usize,
    pub min_base_quality: Option<u8>,
    pub most_window: u64,
    pub spare: Spare,
    /// Bytes read from all inputs, as they are stored.
    pub read: Arc<AtomicU64>,
}

impl Reading {
    pub(crate) fn new(inputs: Vec<Input>, options: &Options) -> Reading {
        Reading {
            inputs,
            rules: Rules::of(options),
            batch_bytes: options.batch(),
            min_base_quality: options.min_base_quality,
            most_window: options.most_window,
            spare: Mutex::default(),
            read: Arc::default(),
        }
    }

    /// Writes `N` over the bases of low quality.
    pub(crate) fn mask(&self, batch: &mut Batch) {
        let Some(least) = self.min_base_quality else {
            return;
        };
        for record in batch
            .records
            .iter()
            .filter(|record| !record.qualities.is_empty())
        {
            let (front, back) = batch.text.split_at_mut(record.qualities.start as usize);
            mask(
                &mut front[record.letters.range()],
                &back[..record.qualities.len()],
                least,
            );
        }
    }
}
