//! A job as the trunk sees it: a [`World`].

use std::sync::Arc;

use gyrase_fabric::{
    ExchangeFabric, FabricError, FabricOptions, Mailbox, Peer, Place, Schedule, Stealing, World,
    exchange, window_numbers,
};

use crate::Job;
use crate::shim::Reduce;
use crate::tasks::Task;

/// What makes numbers signed ones in the same order, and back.
const SIGN: u64 = 1 << 63;

impl World for Job {
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
        let shared = Arc::clone(&self.shared);
        let (fabric, exchange) = exchange(place, options, move || shared.ring());
        self.shared.give(Task::Exchange(Box::new(exchange)))?;
        Ok(fabric)
    }

    fn schedule(&self, chunks: usize) -> Result<Box<dyn Schedule + '_>, FabricError> {
        let numbers = (0..self.ranks)
            .map(|rank| Peer {
                rank,
                ..self.peer()
            })
            .map(|peer| window_numbers(peer, chunks))
            .max()
            .unwrap_or_default();
        let (window, mailbox) = (self.window(numbers)?, self.new_mailbox());
        Ok(Box::new(Stealing::new(
            window,
            mailbox,
            self.peer(),
            chunks,
            self.steal,
        )))
    }

    fn mailbox(&self) -> Result<Arc<dyn Mailbox>, FabricError> {
        Ok(Arc::new(self.new_mailbox()))
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

    /// A sum to which the others add nothing.
    fn broadcast(&self, from: usize, mut bytes: Vec<u8>) -> Result<Vec<u8>, FabricError> {
        if self.rank != from {
            bytes.clear();
        }
        let length = self.sum(&[bytes.len() as u64])?[0] as usize;
        bytes.resize(length.next_multiple_of(8), 0);
        let words = bytes.as_chunks().0.iter();
        let words: Vec<u64> = words.map(|&bytes| u64::from_le_bytes(bytes)).collect();
        let sums = self.sum(&words)?;
        let mut all: Vec<u8> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
        all.truncate(length);
        Ok(all)
    }

    /// By way of rank 0.
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, FabricError> {
        let all = self.gather(bytes.to_vec())?;
        let sizes = all.iter().map(|bytes| bytes.len() as u64);
        let sizes: Vec<u8> = sizes.flat_map(u64::to_le_bytes).collect();
        let sizes = self.broadcast(0, sizes)?;
        let sizes = sizes.as_chunks().0.iter();
        let sizes: Vec<u64> = sizes.map(|&bytes| u64::from_le_bytes(bytes)).collect();
        Ok(cut(&self.broadcast(0, all.concat())?, &sizes))
    }

    fn give_up(&self) {
        self.shared.over(FabricError::Elsewhere);
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
