//! What a worker has for other processes, on its way into a send buffer.

use std::sync::Arc;

use crate::blocks::{BLOCK, Blocks};
use crate::handover::{Buffer, Handover};
use crate::inbox::{HEAD, head};
use crate::{FabricError, Place};

/// Blocks of a piece at most: whoever drains it is given as much at a time.
const PIECE: usize = 64;

/// Empties the blocks of partitions that other processes own.
pub(crate) struct Outbox {
    handover: Arc<Handover>,
    place: Place,
    /// Per process: which of its partitions to begin with, the first for which there was no room the last time.
    next: Vec<u32>,
    /// Blocks in use for other processes.
    pub blocks: usize,
}

impl Outbox {
    pub(crate) fn new(handover: Arc<Handover>, place: Place) -> Outbox {
        Outbox { handover, place, next: vec![0; place.ranks], blocks: 0 }
    }

    /// True when it holds what a send buffer takes. With fewer blocks than that, many of them nearly empty, pieces would be
    /// short.
    pub(crate) fn is_full(&self) -> bool {
        let foreign = self.place.partitions - self.place.count();
        self.blocks >= (self.handover.buffer / BLOCK).max(foreign + foreign / 2)
    }

    /// Moves records from the blocks into a send buffer, up to what a process is sent in a round, and frees their blocks; waits
    /// for a buffer.
    pub(crate) fn send_off(&mut self, ends: &mut [u64], blocks: &mut Blocks) -> Result<(), FabricError> {
        let mut buffer = self.handover.buffer()?;
        let this = self.place.rank;
        for rank in (0..self.place.ranks).filter(|&rank| rank != this) {
            let before = buffer.bytes.len();
            self.pack(rank, ends, blocks, &mut buffer);
            buffer.lengths[rank] = (buffer.bytes.len() - before) as u32;
        }
        self.handover.hand_over(buffer)
    }

    /// Packs what there is for the process `rank`, as far as there is room.
    fn pack(&mut self, rank: usize, ends: &mut [u64], blocks: &mut Blocks, buffer: &mut Buffer) {
        let (to, from) = (self.place.of(rank), self.next[rank] as usize);
        let full = buffer.bytes.len() + self.handover.share;
        for number in (from..to.count()).chain(0..from) {
            let partition = to.partition(number);
            let last = blocks.close(ends[partition]);
            let chain = blocks.chain(last);
            let mut rest = &chain[..];
            while !rest.is_empty() {
                let fit = fitting(&rest[..rest.len().min(PIECE)], blocks, full - buffer.bytes.len());
                if fit == 0 {
                    blocks.cut_before(rest[0]);
                    self.next[rank] = number as u32;
                    return;
                }
                buffer.take(partition, &rest[..fit], blocks);
                self.blocks -= fit;
                rest = &rest[fit..];
            }
            ends[partition] = 0;
        }
    }
}

/// How many of the first blocks of `chain` fit, as one piece, into `room` bytes.
fn fitting(chain: &[u32], blocks: &Blocks, room: usize) -> usize {
    let mut taken = HEAD;
    let fits = |&&block: &&u32| {
        taken += blocks.used(block);
        taken <= room
    };
    chain.iter().take_while(fits).count()
}

impl Buffer {
    /// Takes the records of `chain` as a piece, and frees these blocks.
    fn take(&mut self, partition: usize, chain: &[u32], blocks: &mut Blocks) {
        let bytes: usize = chain.iter().map(|&block| blocks.used(block)).sum();
        self.bytes.extend_from_slice(&head(partition, bytes));
        blocks.read(chain, |bytes, used| self.bytes.extend_from_slice(&bytes[..used]));
        blocks.free.extend(chain.iter().rev());
        self.pieces += 1;
    }
}
