//! What came from other processes: buffers kept as they came, and a spill file when they outgrow
//! the memory.

use std::sync::Arc;

use crate::arch::prefetch;
use crate::blocks::{FETCHED, LINE};
use crate::contract::Each;
use crate::memory::Pool;
use crate::spill::{Gathered, SpillFile};
use crate::{FabricError, Pages, Place, SLACK, SpillFolder};

/// Bytes before the records of a piece: its partition and how many bytes of records follow.
pub(crate) const HEAD: usize = 8;
/// What the last of its pages is rounded to.
const PAGE: usize = 4096;
/// Bytes to note where a piece is, with what a growing list takes in advance.
const NOTE: u64 = 16;

/// What a piece of `bytes` bytes of records begins with.
pub(crate) fn head(partition: usize, bytes: usize) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..4].copy_from_slice(&(partition as u32).to_le_bytes());
    head[4..].copy_from_slice(&(bytes as u32).to_le_bytes());
    head
}

fn number(bytes: &[u8]) -> usize {
    u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")) as usize
}

/// Buffers as they came, and where the pieces of each partition are in them.
pub(crate) struct Received {
    place: Place,
    buffers: Vec<Pages>,
    /// Per owned partition: buffer and byte of each piece's records.
    pieces: Vec<Vec<(u32, u32)>>,
}

impl Received {
    pub(crate) fn new(place: Place) -> Received {
        Received {
            buffers: Vec::new(),
            pieces: vec![Vec::new(); place.count()],
            place,
        }
    }

    /// Takes a buffer in; how many pieces it holds.
    fn add(&mut self, buffer: Pages) -> Result<u64, FabricError> {
        let (number_of_buffer, mut at, mut pieces) = (self.buffers.len() as u32, 0, 0);
        while at < buffer.len() {
            let head = buffer.get(at..at + HEAD).ok_or_else(malformed)?;
            let (partition, bytes) = (number(head), number(&head[4..]));
            if !self.place.owns(partition) || buffer.len() - at - HEAD < bytes {
                return Err(malformed());
            }
            self.pieces[self.place.number(partition)].push((number_of_buffer, (at + HEAD) as u32));
            at += HEAD + bytes;
            pieces += 1;
        }
        self.buffers.push(buffer);
        Ok(pieces)
    }

    /// A piece's records and all behind them in its buffer, and how many bytes of it are records.
    fn piece(&self, (buffer, at): (u32, u32)) -> (&[u8], usize) {
        let (buffer, at) = (&self.buffers[buffer as usize], at as usize);
        (&buffer[at..], number(&buffer[at - 4..]))
    }

    /// Bytes of records of owned partition `number`.
    pub(crate) fn bytes(&self, number: usize) -> u64 {
        self.pieces[number]
            .iter()
            .map(|&piece| self.piece(piece).1 as u64)
            .sum()
    }

    /// Hands out the pieces of owned partition `number`, in the order in which they came.
    pub(crate) fn try_for_each<E>(&self, number: usize, each: &mut Each<E>) -> Result<(), E> {
        let pieces = &self.pieces[number];
        for (i, &piece) in pieces.iter().enumerate() {
            if let Some(&next) = pieces.get(i + 1) {
                (0..FETCHED)
                    .filter_map(|line| self.piece(next).0.get(LINE * line))
                    .for_each(prefetch);
            }
            let (bytes, used) = self.piece(piece);
            match bytes.get(..used + SLACK) {
                Some(slack) => each(slack, used)?,
                // The last piece of a buffer.
                None => each(&[&bytes[..used], &[0; SLACK]].concat(), used)?,
            }
        }
        Ok(())
    }
}

fn malformed() -> FabricError {
    FabricError::Mpi {
        call: "MPI_Ialltoallv",
        what: "bytes came that nobody sent".to_string(),
    }
}

/// Receives for the partitions of one process.
pub(crate) struct Inbox {
    pool: Arc<Pool>,
    folder: Arc<SpillFolder>,
    number: usize,
    received: Received,
    /// Bytes of the pool in use.
    held: u64,
    /// While all is being spilled: the owned partition and piece that are next.
    spilling: Option<(usize, usize)>,
    spill: Option<SpillFile>,
}

impl Inbox {
    /// An inbox that counts what it keeps in `pool` and spills to file `number` of `folder`.
    pub(crate) fn new(
        place: Place,
        pool: Arc<Pool>,
        folder: Arc<SpillFolder>,
        number: usize,
    ) -> Inbox {
        Inbox {
            pool,
            folder,
            number,
            received: Received::new(place),
            held: 0,
            spilling: None,
            spill: None,
        }
    }

    /// Takes a buffer in. When there is no memory left for it all that is kept is going to be
    /// spilled.
    pub(crate) fn add(&mut self, buffer: Pages) -> Result<(), FabricError> {
        let taken = buffer.len().next_multiple_of(PAGE) as u64;
        let bytes = taken + NOTE * self.received.add(buffer)?;
        if self.pool.reserve(bytes) {
            self.held += bytes;
        } else {
            self.spilling = Some((0, 0));
        }
        Ok(())
    }

    /// True while [`Inbox::spill_some`] is to be called before more is added.
    pub(crate) fn is_spilling(&self) -> bool {
        self.spilling.is_some()
    }

    /// Writes one more portion of what is being spilled.
    pub(crate) fn spill_some(&mut self) -> Result<(), FabricError> {
        let Some((mut number, mut next)) = self.spilling else {
            return Ok(());
        };
        if self.spill.is_none() {
            self.spill = Some(SpillFile::create(&self.folder, self.number)?);
        }
        let mut gathered = Gathered::new(&self.folder, self.spill.as_mut().expect("just made"));
        while let Some(pieces) = self.received.pieces.get(number) {
            let Some(&piece) = pieces.get(next) else {
                (number, next) = (number + 1, 0);
                continue;
            };
            let (bytes, used) = self.received.piece(piece);
            if gathered.is_full(used) {
                break;
            }
            gathered.add(self.received.place.partition(number), &bytes[..used])?;
            next += 1;
        }
        gathered.write()?;
        self.spilling = Some((number, next));
        if number == self.received.pieces.len() {
            self.release();
        }
        Ok(())
    }

    fn release(&mut self) {
        self.spilling = None;
        self.received = Received::new(self.received.place);
        self.pool.give_back(std::mem::take(&mut self.held));
    }

    /// What was kept, and what was spilled before.
    pub(crate) fn finish(self) -> (Received, Option<SpillFile>) {
        (self.received, self.spill)
    }
}
