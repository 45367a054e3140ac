//! What came from other processes: buffers kept as they came, and a spill file when they outgrow
//! the memory.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use gyrase_work::prefetch;

use crate::blocks::{FETCHED, LINE, whole};
use crate::contract::Each;
use crate::memory::Pool;
use crate::piece::{Head, records};
use crate::spill::{Gathered, SpillFile};
use crate::{FabricError, Nth, Pages, Place, SLACK, SpillFolder};

/// What the last of its pages is rounded to.
const PAGE: usize = 4096;
/// Bytes to note where a piece is, with what a growing list takes in advance.
const NOTE: u64 = 16;

/// Buffers as they came, and where the pieces of each partition are in them.
pub(crate) struct Received {
    place: Place,
    buffers: Vec<Pages>,
    /// Per owned partition: where its pieces are. The parts of a record follow one another.
    pieces: Vec<Vec<At>>,
    /// The parts so far of records of which more is to come.
    begun: HashMap<Origin, Vec<At>>,
}

/// Buffer and byte of a piece's records.
type At = (u32, u32);

/// Whose record it is: rank, sender of that process, and partition.
type Origin = (u32, u16, u32);

impl Received {
    pub(crate) fn new(place: Place) -> Received {
        Received {
            buffers: Vec::new(),
            pieces: vec![Vec::new(); place.count()],
            begun: HashMap::new(),
            place,
        }
    }

    /// Takes a buffer in, of which each process in turn sent so many bytes; how many pieces it
    /// holds.
    fn add(&mut self, buffer: Pages, sent: &[u32]) -> Result<u64, FabricError> {
        let (mut at, mut pieces) = (0, 0);
        for (rank, &bytes) in sent.iter().enumerate() {
            let end = at + bytes as usize;
            while at < end {
                let piece = buffer.get(at..end).ok_or_else(malformed)?;
                let (head, length) = Head::read(piece).ok_or_else(malformed)?;
                self.note(rank, head, at + length)?;
                at += length + head.bytes;
                pieces += 1;
            }
        }
        self.buffers.push(buffer);
        Ok(pieces)
    }

    /// Notes where the records of a piece are in the buffer that is being added.
    fn note(&mut self, rank: usize, head: Head, at: usize) -> Result<(), FabricError> {
        if !self.place.owns(head.partition) {
            return Err(malformed());
        }
        let at = (self.buffers.len() as u32, at as u32);
        let pieces = &mut self.pieces[self.place.nth(head.partition).0];
        let Some(sender) = head.part_of else {
            pieces.push(at);
            return Ok(());
        };
        let origin = (rank as u32, sender, head.partition as u32);
        let parts = self.begun.entry(origin).or_default();
        parts.push(at);
        if !head.goes_on {
            pieces.append(parts);
            self.begun.remove(&origin);
        }
        Ok(())
    }

    /// A piece's records and all behind them in its buffer, how many bytes of it are records, and
    /// whether the last goes on in the next piece.
    fn piece(&self, (buffer, at): At) -> (&[u8], usize, bool) {
        let (buffer, at) = (&self.buffers[buffer as usize], at as usize);
        let (used, goes_on) = records(&buffer[..at]).expect("a head before the records");
        (&buffer[at..], used, goes_on)
    }

    /// How many of the first pieces end with a whole record: 1, or as many as a long record has
    /// parts.
    fn parts(&self, pieces: &[At]) -> usize {
        let others = pieces.iter().take_while(|&&piece| self.piece(piece).2);
        (others.count() + 1).min(pieces.len())
    }

    /// The records of such pieces.
    fn records(&self, parts: &[At]) -> Cow<'_, [u8]> {
        let part = |&piece: &At| {
            let (bytes, used, _) = self.piece(piece);
            &bytes[..used]
        };
        match parts {
            [piece] => part(piece).into(),
            _ => parts.iter().map(part).collect::<Vec<_>>().concat().into(),
        }
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
        let mut rest = &self.pieces[number][..];
        while !rest.is_empty() {
            let (parts, after) = rest.split_at(self.parts(rest));
            if let Some(&next) = after.first() {
                (0..FETCHED).for_each(|line| prefetch(self.piece(next).0, LINE * line));
            }
            let (bytes, used, goes_on) = self.piece(parts[0]);
            match bytes.get(..used + SLACK) {
                Some(slack) if !goes_on => each(slack, used)?,
                // The last piece of a buffer, or a record in parts.
                _ => {
                    let records = self.records(parts);
                    each(&whole(std::iter::once(&records[..])), records.len())?;
                }
            }
            rest = after;
        }
        Ok(())
    }

    /// The same, with nothing but what came of records of which more is to come; and the bytes that
    /// it takes.
    fn with_begun_only(&mut self) -> Result<(Received, u64), FabricError> {
        let mut kept = Received::new(self.place.clone());
        let (mut bytes, mut parts) = (Vec::new(), Vec::new());
        for (&origin, begun) in &self.begun {
            let records = self.records(begun);
            let head = Head {
                partition: origin.2 as usize,
                bytes: records.len(),
                part_of: Some(origin.1),
                goes_on: true,
            };
            head.write(&mut bytes);
            parts.push((origin, bytes.len() as u32));
            bytes.extend_from_slice(&records);
        }
        if bytes.is_empty() {
            return Ok((kept, 0));
        }
        let mut buffer = Pages::new(bytes.len())?;
        buffer.copy_from_slice(&bytes);
        kept.buffers.push(buffer);
        kept.begun = parts
            .into_iter()
            .map(|(origin, at)| (origin, vec![(0, at)]))
            .collect();
        Ok((kept, bytes.len().next_multiple_of(PAGE) as u64))
    }
}

fn malformed() -> FabricError {
    FabricError::Mpi {
        call: "all-to-all of bytes",
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

    /// Takes a buffer in, of which each process in turn sent so many bytes. When there is no memory
    /// left for it all that is kept is going to be spilled.
    pub(crate) fn add(&mut self, buffer: Pages, sent: &[u32]) -> Result<(), FabricError> {
        let taken = buffer.len().next_multiple_of(PAGE) as u64;
        let bytes = taken + NOTE * self.received.add(buffer, sent)?;
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
            let rest = &pieces[next..];
            if rest.is_empty() {
                (number, next) = (number + 1, 0);
                continue;
            }
            let parts = &rest[..self.received.parts(rest)];
            let records = self.received.records(parts);
            if gathered.is_full(records.len()) {
                break;
            }
            gathered.add(self.received.place.partition(Nth(number)), &records)?;
            next += parts.len();
        }
        gathered.write()?;
        self.spilling = Some((number, next));
        if number == self.received.pieces.len() {
            self.release()?;
        }
        Ok(())
    }

    /// Forgets what was spilled. What came of records of which more is to come is kept, in memory
    /// that is there in any case.
    fn release(&mut self) -> Result<(), FabricError> {
        self.spilling = None;
        let (begun, bytes) = self.received.with_begun_only()?;
        self.received = begun;
        self.pool
            .give_back(std::mem::replace(&mut self.held, bytes));
        self.pool.note(bytes);
        Ok(())
    }

    /// What was kept, and what was spilled before.
    pub(crate) fn finish(self) -> (Received, Option<SpillFile>) {
        (self.received, self.spill)
    }
}
