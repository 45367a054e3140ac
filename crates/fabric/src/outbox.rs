//! What a worker has for other processes, on its way into a send buffer.

use std::sync::Arc;

use crate::blocks::{BLOCK, Blocks};
use crate::handover::{Buffer, Handover};
use crate::piece::{HEAD, Head, PART_HEAD};
use crate::{FabricError, Nth, Place};

/// Blocks of a piece at most: whoever drains it is given as much at a time.
const PIECE: usize = 64;

/// Empties the blocks of partitions that other processes own.
pub(crate) struct Outbox {
    handover: Arc<Handover>,
    place: Place,
    /// Which sender of this process it is of.
    sender: u16,
    /// Per process: which of its partitions to begin with, the first for which there was no room
    /// the last time.
    next: Vec<u32>,
    /// Blocks in use for other processes.
    pub blocks: usize,
}

impl Outbox {
    pub(crate) fn new(handover: Arc<Handover>, place: Place, sender: u16) -> Outbox {
        Outbox {
            handover,
            sender,
            next: vec![0; place.ranks],
            blocks: 0,
            place,
        }
    }

    /// True when it holds what a send buffer takes. With fewer blocks than that, many of them
    /// nearly empty, pieces would be short.
    pub(crate) fn is_full(&self) -> bool {
        let foreign = self.place.partitions - self.place.count();
        self.blocks >= (self.handover.sizes.buffer / BLOCK).max(foreign + foreign / 2)
    }

    /// Moves records from the blocks into a send buffer, of those for processes of one class up to
    /// what each is sent in a round, and frees their blocks, one at least; waits for a buffer.
    pub(crate) fn send_off(
        &mut self,
        ends: &mut [u64],
        blocks: &mut Blocks,
    ) -> Result<(), FabricError> {
        let mut buffer = self.handover.buffer(|class| self.holds(class, ends))?;
        let mut ranks: Vec<usize> = self.ranks(buffer.class).collect();
        ranks.sort_unstable();
        for rank in ranks {
            let before = buffer.bytes.len();
            self.pack(rank, ends, blocks, &mut buffer);
            buffer.lengths[rank] = (buffer.bytes.len() - before) as u32;
        }
        debug_assert!(buffer.bytes.len() <= self.handover.sizes.buffer);
        self.handover.hand_over(buffer)
    }

    /// The processes that this one sends to in the rounds of a class. They are told by how far they
    /// are ahead of it, so that none receives from more in a round than it sends to.
    fn ranks(&self, class: usize) -> impl Iterator<Item = usize> {
        let Place { rank, ranks, .. } = self.place;
        let others = (class..ranks - 1)
            .step_by(self.handover.sizes.classes)
            .map(move |ahead| (rank + 1 + ahead) % ranks);
        others.filter(|&rank| self.place.count_of(rank) > 0)
    }

    /// True when there is a record for a process of that class.
    fn holds(&self, class: usize, ends: &[u64]) -> bool {
        self.ranks(class).any(|rank| {
            self.place
                .of(rank)
                .owned()
                .any(|partition| ends[partition] != 0)
        })
    }

    /// Packs what there is for the process `rank`, as far as there is room.
    fn pack(&mut self, rank: usize, ends: &mut [u64], blocks: &mut Blocks, buffer: &mut Buffer) {
        let (to, from) = (self.place.of(rank), self.next[rank] as usize);
        let full = buffer.bytes.len() + self.handover.sizes.share;
        for number in (from..to.count()).chain(0..from) {
            let partition = to.partition(Nth(number));
            let last = blocks.close(ends[partition]);
            let chain = blocks.chain(last);
            let sent = self.pack_chain(partition, &chain, blocks, buffer, full);
            if sent < chain.len() {
                blocks.cut_before(chain[sent]);
                self.next[rank] = number as u32;
                return;
            }
            ends[partition] = 0;
        }
    }

    /// Packs the first blocks of a partition's `chain`, until the buffer is `full`; how many.
    fn pack_chain(
        &mut self,
        partition: usize,
        chain: &[u32],
        blocks: &mut Blocks,
        buffer: &mut Buffer,
        full: usize,
    ) -> usize {
        let mut rest = chain;
        while !rest.is_empty() {
            let (head, fit) = self.next_piece(partition, rest, blocks, full - buffer.bytes.len());
            if fit == 0 {
                break;
            }
            buffer.take(head, &rest[..fit], blocks);
            self.blocks -= fit;
            rest = &rest[fit..];
        }
        chain.len() - rest.len()
    }

    /// What the next piece begins with, and how many of the first blocks it is: whole runs, or a
    /// part of one that no piece takes; none where `room` bytes do not take them.
    fn next_piece(
        &self,
        partition: usize,
        chain: &[u32],
        blocks: &Blocks,
        room: usize,
    ) -> (Head, usize) {
        let run = &chain[..blocks.run(chain)];
        let too_long = || HEAD + blocks.used_of(run) > self.handover.sizes.share;
        if blocks.continues(chain[0]) || run.len() > 1 && too_long() {
            let fit = fitting(run, blocks, room.saturating_sub(PART_HEAD));
            let head = Head {
                partition,
                bytes: blocks.used_of(&run[..fit]),
                part_of: Some(self.sender),
                goes_on: fit < run.len(),
            };
            return (head, fit);
        }
        let most = chain.len().min(PIECE);
        let fit = whole_runs_fitting(chain, most, blocks, room.saturating_sub(HEAD));
        let head = Head {
            partition,
            bytes: blocks.used_of(&chain[..fit]),
            part_of: None,
            goes_on: false,
        };
        (head, fit)
    }
}

/// How many of the first blocks of `chain` fit into `room` bytes.
fn fitting(chain: &[u32], blocks: &Blocks, room: usize) -> usize {
    let mut taken = 0;
    let fits = |&&block: &&u32| {
        taken += blocks.used(block);
        taken <= room
    };
    chain.iter().take_while(fits).count()
}

/// The same for whole runs, up to `most` blocks or one run.
fn whole_runs_fitting(chain: &[u32], most: usize, blocks: &Blocks, room: usize) -> usize {
    let (mut fit, mut taken) = (0, 0);
    while fit < most {
        let run = blocks.run(&chain[fit..]);
        taken += blocks.used_of(&chain[fit..fit + run]);
        if taken > room || fit > 0 && fit + run > most {
            break;
        }
        fit += run;
    }
    fit
}

impl Buffer {
    /// Takes the records of `chain` as a piece, and frees these blocks.
    fn take(&mut self, head: Head, chain: &[u32], blocks: &mut Blocks) {
        head.write(&mut self.bytes);
        blocks
            .pieces(chain)
            .for_each(|piece| self.bytes.extend_from_slice(piece));
        blocks.free.extend(chain.iter().rev());
        self.pieces += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Peer;
    use crate::handover::Sizes;
    use crate::memory::Pool;

    #[test]
    fn nobody_sends_or_receives_more_than_a_buffer_in_a_round() {
        for ranks in [1, 2, 3, 15, 16, 17, 20, 31, 32, 40, 64, 200] {
            let sizes = Sizes::of(0, ranks);
            let handover = Arc::new(Handover::new(
                sizes,
                ranks,
                Arc::new(Pool::new(0)),
                Box::new(|| ()),
            ));
            let outbox = |rank| {
                Outbox::new(
                    Arc::clone(&handover),
                    Place::among(ranks, Peer { rank, ranks }),
                    0,
                )
            };
            let mut sent = vec![0; ranks * ranks];
            for class in 0..sizes.classes {
                let mut received = vec![0; ranks];
                for sender in 0..ranks {
                    let receivers: Vec<usize> = outbox(sender).ranks(class).collect();
                    assert!(receivers.len() * sizes.share <= sizes.buffer, "{ranks}");
                    receivers
                        .iter()
                        .for_each(|&receiver| received[receiver] += sizes.share);
                    receivers
                        .iter()
                        .for_each(|&receiver| sent[sender * ranks + receiver] += 1);
                }
                assert!(
                    received.iter().all(|&received| received <= sizes.buffer),
                    "{ranks}: {received:?}"
                );
            }
            let expected = |at: usize| i32::from(at / ranks != at % ranks);
            assert!(
                sent.into_iter()
                    .enumerate()
                    .all(|(at, times)| times == expected(at)),
                "{ranks}"
            );
        }
    }
}
