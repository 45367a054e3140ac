//! A job as the trunk sees it: a [`World`].

use std::sync::Arc;

use gyrase_fabric::{
    Combining, ExchangeFabric, FabricError, Place, Schedule, SpillFolder, Stealing, World,
    exchange, window_numbers,
};

use crate::Job;
use crate::shim::Reduce;
use crate::tasks::{Task, Why};

/// What makes numbers signed ones in the same order, and back.
const SIGN: u64 = 1 << 63;

impl World for Job {
    type Fabric = ExchangeFabric;

    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn fabric(
        &self,
        partitions: usize,
        memory: u64,
        folder: Arc<SpillFolder>,
        combining: Combining,
    ) -> Result<ExchangeFabric, FabricError> {
        let place = Place {
            partitions,
            rank: self.rank,
            ranks: self.ranks,
        };
        let shared = Arc::clone(&self.shared);
        let (fabric, exchange) = exchange(place, memory, folder, Some(combining), move || {
            shared.ring()
        });
        self.shared.give(Task::Exchange(Box::new(exchange)))?;
        Ok(fabric)
    }

    fn schedule(&self, chunks: usize) -> Result<Box<dyn Schedule + '_>, FabricError> {
        let numbers = (0..self.ranks)
            .map(|rank| window_numbers(rank, self.ranks, chunks))
            .max()
            .unwrap_or_default();
        let (window, post) = self.window(numbers)?;
        Ok(Box::new(Stealing::new(
            window, post, self.rank, self.ranks, chunks, self.steal,
        )))
    }

    fn sum(&self, numbers: &[u64]) -> Result<Vec<u64>, FabricError> {
        self.collective("sum", |reply| {
            Task::Reduce(Reduce::Sum, numbers.to_vec(), reply)
        })
    }

    fn max(&self, numbers: &[u64]) -> Result<Vec<u64>, FabricError> {
        let signed = numbers.iter().map(|number| number ^ SIGN).collect();
        let largest = self.collective("max", |reply| Task::Reduce(Reduce::Max, signed, reply))?;
        Ok(largest.into_iter().map(|number| number ^ SIGN).collect())
    }

    fn gather(&self, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, FabricError> {
        let sizes = self.collective("gather", |reply| Task::Sizes(bytes.len() as u64, reply))?;
        let all = self.collective("gather", |reply| Task::Gather(bytes, sizes.clone(), reply))?;
        // Only rank 0 was told sizes that mean something.
        let sizes = if self.rank == 0 { sizes } else { Vec::new() };
        Ok(cut(&all, &sizes))
    }

    fn give_up(&self) {
        self.shared.over(Why::Elsewhere);
    }
}

/// The bytes in pieces, one behind the other.
fn cut(bytes: &[u8], sizes: &[u64]) -> Vec<Vec<u8>> {
    let mut rest = bytes;
    let piece = |&size: &u64| rest.split_off(..size as usize).unwrap_or_default().to_vec();
    sizes.iter().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_gathered_is_cut_again() {
        assert_eq!(cut(b"abcde", &[2, 0, 3]), [&b"ab"[..], b"", b"cde"]);
        assert!(cut(b"", &[]).is_empty());
    }
}
