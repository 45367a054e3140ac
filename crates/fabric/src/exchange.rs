//! The fabric of one process among many, and the exchange of what its workers send to the others.
//!
//! Workers gather records for other processes in blocks and pack them into send buffers
//! ([`crate::outbox`]). One thread sends these in *rounds*, without ever waiting: in a round every
//! process sends every other as many bytes as it said by a number before, perhaps none. Several
//! rounds are under way at a time, in order.
//!
//! - A process starts a round when it has a full buffer, or has fallen behind the one that started
//!   the most rounds: one behind is nothing, its own buffer will soon be full; two behind keeps
//!   others waiting.
//! - Where a send buffer has no room for a block for each other process, these are divided into
//!   *classes*, by how far their rank is ahead. Round i serves class i mod the number of classes. A
//!   buffer is filled for one class: that of the first round which has no buffer yet, of the
//!   classes that the worker has something for. A round waits for a buffer of its class that is
//!   being filled; when only buffers of other classes are full, it is started with nothing, so that
//!   theirs comes.
//! - With its number a process says whether it has nothing more to send, with its last full buffer
//!   at the earliest. The first round in which all say so is the last; as whoever said so starts a
//!   round for others only, nobody starts one behind it.
//! - What a process receives in a round is bounded: as many may send to it as it may send to, each
//!   a part of one buffer. So is what it receives at a time: it takes part in as many rounds as it
//!   set memory aside for, and spills what it kept when the rest is used up.
//!
//! Nobody waits in a circle: a worker waits for a free buffer only, never while it fills one;
//! buffers become free as rounds end, and rounds end without any worker but one that fills a
//! buffer.

use std::collections::VecDeque;
use std::sync::Arc;

use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::handover::{Buffer, FIRST_BUFFERS, Handover, MOST_BUFFERS, Next, Sizes};
use crate::inbox::Inbox;
use crate::memory::Pool;
use crate::outbox::Outbox;
use crate::traffic::Traffic;
use crate::{
    Combining, Fabric, FabricError, FabricOptions, LocalFabric, LocalPartitions, LocalSender,
    Pages, Place, Wire,
};

/// Rounds of a process that are under way at most. Two would do for all to go on.
const MOST_ROUNDS: usize = MOST_BUFFERS;
/// Rounds for whose bytes memory is set aside.
const RECEIVED_AT_ONCE: u64 = 2;
/// Rounds that a process which still works may be behind the one that started the most.
const BEHIND: u64 = 1;

/// A fabric of which this process keeps its own partitions, and what moves the others' records to
/// them: to be driven by the thread that owns the message library.
///
/// `options.memory` bytes are for everything: blocks, send buffers, what comes and what came; it
/// should be the same in all processes, since a process receives by what the others think it can.
/// Beyond it is only what came of long records that are still on their way when it is used up: less
/// than one for each sender of the job, since a sender sends one after the other to each process.
/// `wake` is called, by any thread, when there is something to [`step`](Exchange::step) for. Only
/// what stays in this process is combined.
pub fn exchange(
    place: Place,
    options: FabricOptions,
    wake: impl Fn() + Send + Sync + 'static,
) -> (ExchangeFabric, Exchange) {
    let (memory, ranks) = (options.memory, place.ranks);
    let folder = options.spill.unwrap_or_default();
    let sizes = Sizes::of(memory, ranks);
    let aside = (FIRST_BUFFERS as u64 + RECEIVED_AT_ONCE) * sizes.buffer as u64;
    let pool = Arc::new(Pool::new(memory.saturating_sub(aside)).halved());
    let handover = Arc::new(Handover::new(
        sizes,
        ranks,
        Arc::clone(&pool),
        Box::new(wake),
    ));
    let local = LocalFabric::among(place.clone(), Arc::clone(&pool), Arc::clone(&folder));
    let inbox = Inbox::new(place, pool, folder, local.number());
    let local = match options.combining {
        Some(Combining { make, portion }) => local.combining(make, portion),
        None => local,
    };
    let exchange = Exchange::new(Arc::clone(&handover), inbox, ranks);
    (
        ExchangeFabric {
            local,
            handover: Some(handover),
        },
        exchange,
    )
}

/// Partitions in the memory and on the disk of many processes, seen from one.
pub struct ExchangeFabric {
    local: LocalFabric,
    /// Nothing in a job of one process.
    handover: Option<Arc<Handover>>,
}

impl From<LocalFabric> for ExchangeFabric {
    /// That of a job of one process, which exchanges nothing.
    fn from(local: LocalFabric) -> ExchangeFabric {
        ExchangeFabric {
            local,
            handover: None,
        }
    }
}

impl ExchangeFabric {
    /// The memory without which `senders` senders of one process among `ranks` to `partitions`
    /// partitions cannot work.
    pub fn least_memory(partitions: usize, ranks: usize, senders: usize) -> u64 {
        let blocks = LocalFabric::least_memory(partitions, senders);
        // Buffers grow with the memory, up to an eighth of it.
        let buffers = (FIRST_BUFFERS as u64 + RECEIVED_AT_ONCE) * Sizes::of(0, ranks).buffer as u64;
        (blocks + blocks.div_ceil(7)).max(blocks + buffers)
    }

    /// Bytes that a process receives in a round at most, in a job of `ranks` processes with
    /// `memory` bytes each: what a send buffer takes.
    pub fn most_received(memory: u64, ranks: usize) -> u64 {
        Sizes::of(memory, ranks).buffer as u64
    }
}

impl Fabric for ExchangeFabric {
    type Sender = LocalSender;
    type Partitions = LocalPartitions;

    /// # Panics
    /// When a process takes more than 65,535 senders.
    fn sender(&self) -> LocalSender {
        let Some(handover) = &self.handover else {
            return self.local.sender();
        };
        let outbox = |sender| Outbox::new(Arc::clone(handover), self.local.place().clone(), sender);
        self.local.sender_with(Some(&outbox))
    }

    /// Sends what is left and waits until everything came that the other processes send.
    fn close(self, mut senders: Vec<LocalSender>) -> Result<LocalPartitions, FabricError> {
        let Some(handover) = &self.handover else {
            return self.local.close(senders);
        };
        senders.iter_mut().try_for_each(LocalSender::send_all_off)?;
        let came = handover.close()?;
        self.local.close_with(senders, Some(came))
    }
}

/// Moves what the workers of this process send to other processes, and the reverse. It never waits.
pub struct Exchange {
    handover: Arc<Handover>,
    /// Until the exchange is over.
    inbox: Option<Inbox>,
    /// Rounds of which the numbers are on their way.
    counting: VecDeque<Round>,
    /// Rounds of which the numbers are here.
    counted: VecDeque<Round>,
    /// Rounds of which the bytes are on their way.
    moving: VecDeque<Round>,
    /// What came and is not in the inbox yet, and bytes of each process in it.
    came: VecDeque<(Pages, Vec<u32>)>,
    /// Bytes that are on their way or came since the inbox took some.
    transit: u64,
    /// Of these, bytes that the inbox spills.
    kept: u64,
    most_transit: u64,
    /// This process said that it has nothing more.
    said_last: bool,
    /// All said so.
    heard_last: bool,
    ranks: usize,
    traffic: Traffic,
}

/// A round under way.
struct Round {
    buffer: Buffer,
    /// Bytes to be received.
    bytes: u64,
    /// The same, by process.
    received: Vec<u32>,
    /// From its start to its end.
    span: Span,
}

impl Exchange {
    fn new(handover: Arc<Handover>, inbox: Inbox, ranks: usize) -> Exchange {
        Exchange {
            most_transit: RECEIVED_AT_ONCE * handover.sizes.buffer as u64,
            handover,
            inbox: Some(inbox),
            counting: VecDeque::new(),
            counted: VecDeque::new(),
            moving: VecDeque::new(),
            came: VecDeque::new(),
            transit: 0,
            kept: 0,
            said_last: false,
            heard_last: false,
            ranks,
            traffic: Traffic::default(),
        }
    }

    /// Does what can be done without waiting: starts rounds, sends and receives bytes, keeps or
    /// spills some of what came. `busiest` is how many rounds the process that started the most has
    /// started, as far as is known. True when anything moved.
    ///
    /// What goes wrong with the spill files, or for want of memory, is told to workers that send,
    /// as if they had spilled or kept it. Others may wait for something else: whoever drives the
    /// exchange asks for the [`failure`](Exchange::failure) and tells them.
    ///
    /// # Errors
    /// Those of `wire`. [`Exchange::fail`] is to be called then.
    pub fn step(&mut self, wire: &mut impl Wire, busiest: u64) -> Result<bool, FabricError> {
        if self.inbox.is_none() || self.handover.has_failed() {
            return Ok(false);
        }
        let started = self.start_round(wire, busiest)?;
        let counted = self.receive_counts(wire)?;
        let moving = self.start_bytes(wire)?;
        let moved = self.receive_bytes(wire)?;
        let kept = self.keep().unwrap_or_else(|why| {
            self.handover.fail(why);
            true
        });
        self.end();
        Ok(started || counted || moving || moved || kept)
    }

    /// Rounds that this process started.
    pub fn started(&self) -> u64 {
        self.traffic.rounds
    }

    /// True when nothing is under way in this process and its workers ask for nothing: a step would
    /// only find that another process started a round.
    pub fn is_idle(&self) -> bool {
        let nothing_more = self.said_last || !self.handover.is_closed();
        self.under_way() == 0
            && self.came.is_empty()
            && self.handover.is_empty()
            && nothing_more
            && !self.is_spilling()
    }

    /// True when everything came that any process sent.
    pub fn is_over(&self) -> bool {
        self.inbox.is_none()
    }

    /// Ends the wait of all workers of this process with [`FabricError::Elsewhere`].
    pub fn fail(&self) {
        self.handover.fail(FabricError::Elsewhere);
    }

    /// Why this process takes part no more, once it does not.
    pub fn failure(&self) -> Option<FabricError> {
        self.handover
            .has_failed()
            .then(|| self.handover.failure())?
    }

    /// What was moved so far.
    pub fn traffic(&self) -> Traffic {
        Traffic {
            buffers: self.handover.buffers() as u64,
            ..self.traffic
        }
    }

    fn under_way(&self) -> usize {
        self.counting.len() + self.counted.len() + self.moving.len()
    }

    fn is_spilling(&self) -> bool {
        self.inbox.as_ref().is_some_and(Inbox::is_spilling)
    }

    fn start_round(&mut self, wire: &mut impl Wire, busiest: u64) -> Result<bool, FabricError> {
        if self.under_way() == MOST_ROUNDS {
            return Ok(false);
        }
        let (round, late) = (self.started(), busiest > self.started() + BEHIND);
        let (buffer, last) = match self.handover.next(round, late) {
            Next::Full(buffer, last) => (buffer, last),
            Next::Empty => (self.nothing(), false),
            Next::Closed if !self.said_last || busiest > round => (self.nothing(), true),
            Next::Closed | Next::Nothing => return Ok(false),
        };
        wire.start_counts(
            buffer
                .lengths
                .iter()
                .map(|&length| length << 1 | u32::from(last))
                .collect(),
        )?;
        let bytes = buffer.bytes.len() as u64;
        let span = info_span!(
            target: "gyrase::trace", "round", instance = self.traffic.rounds, bytes,
            received = Empty,
        );
        self.said_last = last;
        self.traffic.rounds += 1;
        self.traffic.sent += bytes;
        self.traffic.pieces += buffer.pieces;
        self.counting.push_back(Round {
            buffer,
            bytes: 0,
            received: Vec::new(),
            span,
        });
        Ok(true)
    }

    fn nothing(&self) -> Buffer {
        Buffer {
            lengths: vec![0; self.ranks],
            ..Buffer::default()
        }
    }

    fn receive_counts(&mut self, wire: &mut impl Wire) -> Result<bool, FabricError> {
        if self.counting.is_empty() {
            return Ok(false);
        }
        let Some(numbers) = wire.counts()? else {
            return Ok(false);
        };
        self.heard_last |= numbers.iter().all(|number| number & 1 == 1);
        let mut round = self.counting.pop_front().expect("a round was counting");
        round.received = numbers.iter().map(|number| number >> 1).collect();
        round.bytes = round.received.iter().map(|&bytes| u64::from(bytes)).sum();
        round.span.record("received", round.bytes);
        self.traffic.received += round.bytes;
        self.traffic.most_received = self.traffic.most_received.max(round.bytes);
        self.counted.push_back(round);
        Ok(true)
    }

    /// Starts the next round's bytes once there is memory for them.
    fn start_bytes(&mut self, wire: &mut impl Wire) -> Result<bool, FabricError> {
        let Some(round) = self.counted.front() else {
            return Ok(false);
        };
        if self.transit > 0 && self.transit + round.bytes > self.most_transit {
            return Ok(false);
        }
        let came = match Pages::new(round.bytes as usize) {
            Ok(came) => came,
            Err(why) => {
                self.handover.fail(why);
                return Ok(true);
            }
        };
        let mut round = self.counted.pop_front().expect("a round was counted");
        wire.start_bytes(
            std::mem::take(&mut round.buffer.bytes),
            &round.buffer.lengths,
            came,
            &round.received,
        )?;
        self.transit += round.bytes;
        self.moving.push_back(round);
        Ok(true)
    }

    fn receive_bytes(&mut self, wire: &mut impl Wire) -> Result<bool, FabricError> {
        if self.moving.is_empty() {
            return Ok(false);
        }
        let Some(exchanged) = wire.bytes()? else {
            return Ok(false);
        };
        let round = self.moving.pop_front().expect("a round was moving");
        let mut buffer = round.buffer;
        buffer.bytes = exchanged.sent;
        if buffer.bytes.capacity() > 0 {
            self.handover.give_back(buffer);
        }
        if !exchanged.came.is_empty() {
            self.came.push_back((exchanged.came, round.received));
        }
        Ok(true)
    }

    /// Gives what came to the inbox, or lets it spill a portion.
    fn keep(&mut self) -> Result<bool, FabricError> {
        let inbox = self.inbox.as_mut().expect("the exchange is not over");
        if inbox.is_spilling() {
            inbox.spill_some()?;
        } else if let Some((came, sent)) = self.came.pop_front() {
            self.kept = came.len() as u64;
            inbox.add(came, &sent)?;
        } else {
            return Ok(false);
        }
        if !inbox.is_spilling() {
            self.transit -= std::mem::take(&mut self.kept);
        }
        Ok(true)
    }

    /// Hands the inbox to whoever closes the fabric, when everything is in it.
    fn end(&mut self) {
        if self.heard_last && self.under_way() == 0 && self.came.is_empty() && !self.is_spilling() {
            let traffic = self.traffic();
            self.inbox
                .take()
                .into_iter()
                .for_each(|inbox| self.handover.finish(inbox, traffic));
        }
    }
}

impl Drop for Exchange {
    /// Nobody waits for what nobody drives any more.
    fn drop(&mut self) {
        if !self.is_over() {
            self.fail();
        }
    }
}
