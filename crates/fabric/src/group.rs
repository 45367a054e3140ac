//! A job of some of the processes of another.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::carrier::carry;
use crate::mailbox::{Channel, Switch};
use crate::schedule::OwnNumbers;
use crate::{
    ExchangeFabric, FabricError, FabricOptions, Mailbox, Place, Schedule, Steal, Stealing, World,
};

/// Some processes of a job, which work together without the others: those of one machine, say.
///
/// What they agree on goes through one of them by messages, so that a group is for hundreds of
/// processes and not for all of a large job. Its schedules give every process its own chunks: none
/// takes those of others.
pub struct Group<'w> {
    world: &'w dyn World,
    rank: usize,
    ranks: usize,
    switch: Arc<Switch>,
    /// Collectives so far: the same number everywhere.
    begun: AtomicU64,
}

impl<'w> Group<'w> {
    /// Collective in `world`. The group of the processes that give the same `color`, in the order
    /// of their ranks.
    ///
    /// # Errors
    /// Another process failed.
    pub fn split(world: &'w dyn World, color: u64) -> Result<Group<'w>, FabricError> {
        let mailbox = world.mailbox()?;
        let colors = world.all_gather(&color.to_le_bytes())?;
        let own = |&rank: &usize| colors[rank] == color.to_le_bytes();
        let members: Vec<usize> = (0..world.ranks()).filter(own).collect();
        let rank = members.iter().take_while(|&&rank| rank < world.rank());
        Ok(Group {
            world,
            rank: rank.count(),
            ranks: members.len(),
            switch: Switch::new(mailbox, members),
            begun: AtomicU64::new(0),
        })
    }

    fn channel(&self) -> Arc<Channel> {
        self.switch.channel(self.begun.fetch_add(1, Relaxed))
    }

    /// What every process gives, for every process: by way of the first.
    fn all(&self, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, FabricError> {
        let channel = self.channel();
        channel.send(0, self.rank as u64, bytes)?;
        if self.rank == 0 {
            let mut all = vec![Vec::new(); self.ranks];
            for _ in 0..self.ranks {
                let (rank, bytes) = channel.wait()?;
                all[rank as usize] = bytes;
            }
            let pack = pack(&all);
            (1..self.ranks).try_for_each(|rank| channel.send(rank, 0, pack.clone()))?;
            return Ok(all);
        }
        Ok(unpack(&channel.wait()?.1))
    }

    fn fold(&self, numbers: &[u64], with: fn(u64, u64) -> u64) -> Result<Vec<u64>, FabricError> {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        let all = self.all(bytes.collect())?;
        Ok(fold(&all, numbers.len(), with))
    }
}

/// The numbers of some processes, eight bytes each: those at the same place are made one.
pub(crate) fn fold(all: &[Vec<u8>], numbers: usize, with: fn(u64, u64) -> u64) -> Vec<u64> {
    let of_process = |at: usize, bytes: &Vec<u8>| u64::from_le_bytes(bytes.as_chunks().0[at]);
    let of = |at: usize| all.iter().map(|bytes| of_process(at, bytes)).reduce(with);
    (0..numbers).map(|at| of(at).unwrap_or(0)).collect()
}

/// Each behind its length.
fn pack(all: &[Vec<u8>]) -> Vec<u8> {
    let mut packed = Vec::new();
    for bytes in all {
        packed.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        packed.extend_from_slice(bytes);
    }
    packed
}

fn unpack(packed: &[u8]) -> Vec<Vec<u8>> {
    let (mut rest, mut all) = (packed, Vec::new());
    while let Some((length, others)) = rest.split_first_chunk() {
        let (bytes, others) = others.split_at(u64::from_le_bytes(*length) as usize);
        all.push(bytes.to_vec());
        rest = others;
    }
    all
}

impl World for Group<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn fabric(
        &self,
        partitions: usize,
        mut options: FabricOptions,
    ) -> Result<ExchangeFabric, FabricError> {
        let place =
            Place::among(partitions, self.peer()).owned_by(std::mem::take(&mut options.owners));
        Ok(carry(self.channel(), place, options))
    }

    fn schedule(&self, chunks: usize) -> Result<Box<dyn Schedule + '_>, FabricError> {
        let window = OwnNumbers::new(self.peer(), chunks);
        let mailbox: Arc<dyn Mailbox> = self.channel();
        let schedule = Stealing::new(window, mailbox, self.peer(), chunks, Steal::Off);
        Ok(Box::new(schedule))
    }

    fn mailbox(&self) -> Result<Arc<dyn Mailbox>, FabricError> {
        Ok(self.channel())
    }

    fn sum(&self, numbers: &[u64]) -> Result<Vec<u64>, FabricError> {
        self.fold(numbers, u64::wrapping_add)
    }

    fn max(&self, numbers: &[u64]) -> Result<Vec<u64>, FabricError> {
        self.fold(numbers, u64::max)
    }

    fn broadcast(&self, from: usize, bytes: Vec<u8>) -> Result<Vec<u8>, FabricError> {
        let given = if self.rank == from { bytes } else { Vec::new() };
        Ok(self.all(given)?.swap_remove(from))
    }

    fn gather(&self, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, FabricError> {
        let all = self.all(bytes)?;
        Ok(if self.rank == 0 { all } else { Vec::new() })
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, FabricError> {
        self.all(bytes.to_vec())
    }

    fn give_up(&self) {
        self.world.give_up();
    }
}
