//! An exchange of records over messages, with a thread that drives it: for processes that have no
//! collectives of their own.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::{
    Exchange, ExchangeFabric, Exchanged, FabricError, FabricOptions, Mailbox, Pages, Place, Wire,
    exchange,
};

/// The longest sleep of the thread: others may have sent something.
const PAUSE: Duration = Duration::from_micros(200);

/// Collective. The fabric of the process at `place`, which sends by `mailbox`.
pub(crate) fn carry(
    mailbox: Arc<dyn Mailbox>,
    place: Place,
    options: FabricOptions,
) -> ExchangeFabric {
    let driver: Arc<Mutex<Option<Thread>>> = Arc::default();
    let woken = Arc::clone(&driver);
    let wake = move || {
        let woken = woken.lock().expect("nobody panics here");
        woken.iter().for_each(Thread::unpark);
    };
    let carrier = Carrier::new(mailbox, &place);
    let (fabric, exchange) = exchange(place, options, wake);
    let thread = thread::spawn(move || carrier.drive(exchange));
    *driver.lock().expect("nobody panics here") = Some(thread.thread().clone());
    fabric
}

/// What a message is of.
const COUNTS: u64 = 0;
const BYTES: u64 = 1;

/// Moves what one process exchanges.
struct Carrier {
    mailbox: Arc<dyn Mailbox>,
    rank: usize,
    ranks: usize,
    counts: Operations,
    bytes: Operations,
    /// Buffers of operations under way.
    own: VecDeque<(Vec<u8>, Pages)>,
}

/// Operations of one kind.
#[derive(Default)]
struct Operations {
    started: u64,
    ended: u64,
    /// The most that any process started.
    most: u64,
    /// What came, by operation and process.
    came: HashMap<u64, Vec<Option<Vec<u8>>>>,
}

impl Operations {
    fn put(&mut self, operation: u64, rank: usize, ranks: usize, bytes: Vec<u8>) {
        self.most = self.most.max(operation + 1);
        let came = self.came.entry(operation);
        came.or_insert_with(|| vec![None; ranks])[rank] = Some(bytes);
    }

    /// What all processes sent for the operation that ends next, if it is all there.
    fn next(&mut self) -> Option<Vec<Vec<u8>>> {
        let all = self.came.get(&self.ended)?.iter().all(Option::is_some);
        let came = all.then(|| self.came.remove(&self.ended))??;
        self.ended += 1;
        Some(came.into_iter().flatten().collect())
    }
}

impl Carrier {
    fn new(mailbox: Arc<dyn Mailbox>, place: &Place) -> Carrier {
        Carrier {
            mailbox,
            rank: place.rank,
            ranks: place.ranks,
            counts: Operations::default(),
            bytes: Operations::default(),
            own: VecDeque::new(),
        }
    }

    fn drive(mut self, mut exchange: Exchange) {
        // Whoever waits for what is dropped hears that the job failed.
        while !exchange.is_over() && self.step(&mut exchange).is_ok() {}
    }

    fn step(&mut self, exchange: &mut Exchange) -> Result<(), FabricError> {
        while let Some((number, bytes)) = self.mailbox.receive()? {
            let (kind, rank) = (number & 1, (number >> 1) as u32 as usize);
            let operation = number >> 33;
            let of_kind = [&mut self.counts, &mut self.bytes];
            of_kind[kind as usize].put(operation, rank, self.ranks, bytes);
        }
        let busiest = self.counts.most;
        if !exchange.step(self, busiest)? {
            thread::park_timeout(PAUSE);
        }
        Ok(())
    }

    fn send(
        &self,
        kind: u64,
        operation: u64,
        to: usize,
        bytes: Vec<u8>,
    ) -> Result<(), FabricError> {
        let number = operation << 33 | (self.rank as u64) << 1 | kind;
        self.mailbox.send(to, number, bytes)
    }
}

impl Wire for Carrier {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn start_counts(&mut self, numbers: Vec<u32>) -> Result<(), FabricError> {
        for (to, number) in numbers.into_iter().enumerate() {
            self.send(COUNTS, self.counts.started, to, number.to_le_bytes().into())?;
        }
        self.counts.started += 1;
        Ok(())
    }

    fn counts(&mut self) -> Result<Option<Vec<u32>>, FabricError> {
        let number = |bytes: Vec<u8>| bytes.try_into().map(u32::from_le_bytes);
        let came = self.counts.next();
        Ok(came.map(|came| {
            let numbers = came.into_iter().map(number).collect::<Result<_, _>>();
            numbers.expect("a number of four bytes, as it was sent")
        }))
    }

    fn start_bytes(
        &mut self,
        bytes: Vec<u8>,
        sent: &[u32],
        came: Pages,
        _: &[u32],
    ) -> Result<(), FabricError> {
        let mut rest = &bytes[..];
        for (to, &length) in sent.iter().enumerate() {
            let (these, others) = rest.split_at(length as usize);
            self.send(BYTES, self.bytes.started, to, these.to_vec())?;
            rest = others;
        }
        self.bytes.started += 1;
        self.own.push_back((bytes, came));
        Ok(())
    }

    fn bytes(&mut self) -> Result<Option<Exchanged>, FabricError> {
        let Some(all) = self.bytes.next() else {
            return Ok(None);
        };
        let (sent, mut came) = self.own.pop_front().expect("an operation is under way");
        let mut rest = &mut came[..];
        for bytes in all {
            let (these, others) = rest.split_at_mut(bytes.len());
            these.copy_from_slice(&bytes);
            rest = others;
        }
        Ok(Some(Exchanged { sent, came }))
    }
}
