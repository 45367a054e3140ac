//! MPI as the thread that calls it sees it: the wire of the exchange, and the messages.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use gyrase_fabric::{Exchanged, FabricError, Pages, Wire};

use crate::counters::{Counting, add};
use crate::pieces::Pieces;
use crate::shim::{Moved, Operation, Pair, Shim, Started};
use crate::{ExitCodes, StartError};

/// The library, started, with the operations of the exchange that are under way.
pub(crate) struct Mpi {
    /// What is called.
    pub(crate) shim: Shim,
    /// This process.
    pub(crate) rank: usize,
    /// How many there are.
    pub(crate) ranks: usize,
    /// Whether other threads may call beside this one.
    pub(crate) takes_turns: bool,
    /// What was done.
    pub(crate) counting: Arc<Counting>,
    counts: VecDeque<Operation<Pair<u32>>>,
    bytes: VecDeque<Operation<Moved>>,
}

impl Mpi {
    /// Loads the shim at `path` and starts MPI on this thread, which calls it from now on.
    pub(crate) fn start(
        path: &Path,
        codes: ExitCodes,
        counting: Arc<Counting>,
    ) -> Result<Mpi, StartError> {
        let Started {
            shim,
            rank,
            ranks,
            takes_turns,
        } = Shim::start(path, codes)?;
        Ok(Mpi {
            shim,
            rank,
            ranks,
            takes_turns,
            counting,
            counts: VecDeque::new(),
            bytes: VecDeque::new(),
        })
    }

    /// Whether nothing of the exchange is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.counts.is_empty() && self.bytes.is_empty()
    }

    /// What the first operation held, if it ended.
    pub(crate) fn first_ended<B>(
        &self,
        under_way: &mut VecDeque<Operation<B>>,
    ) -> Result<Option<B>, FabricError> {
        first_ended(&self.shim, under_way)
    }
}

fn first_ended<B>(
    shim: &Shim,
    under_way: &mut VecDeque<Operation<B>>,
) -> Result<Option<B>, FabricError> {
    let Some(first) = under_way.front_mut() else {
        return Ok(None);
    };
    Ok(if shim.has_ended(first)? {
        under_way.pop_front().map(Operation::held)
    } else {
        None
    })
}

/// Pieces of an exchange of bytes.
fn pieces(bytes: &[u32]) -> Result<Pieces, FabricError> {
    let all = || bytes.iter().map(|&bytes| u64::from(bytes)).sum::<u64>();
    let too_much = || FabricError::Mpi {
        call: "MPI_Ialltoallv",
        what: format!("{} bytes are too many", all()),
    };
    Pieces::of(bytes.iter().map(|&bytes| bytes.into())).ok_or_else(too_much)
}

/// How many of the pieces go to or come from another process, and their bytes.
fn elsewhere(bytes: &[u32], rank: usize) -> (u64, u64) {
    let others = bytes
        .iter()
        .enumerate()
        .filter(|&(other, &bytes)| other != rank && bytes > 0);
    others.fold((0, 0), |(count, all), (_, &bytes)| {
        (count + 1, all + u64::from(bytes))
    })
}

impl Wire for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn start_counts(&mut self, numbers: Vec<u32>) -> Result<(), FabricError> {
        assert_eq!(numbers.len(), self.ranks, "one number for each process");
        self.counts.push_back(self.shim.alltoall(numbers)?);
        add(&self.counting.rounds, 1);
        Ok(())
    }

    fn counts(&mut self) -> Result<Option<Vec<u32>>, FabricError> {
        Ok(first_ended(&self.shim, &mut self.counts)?.map(|(_, came)| came))
    }

    fn start_bytes(
        &mut self,
        bytes: Vec<u8>,
        sent: &[u32],
        came: Pages,
        received: &[u32],
    ) -> Result<(), FabricError> {
        assert_eq!(
            (sent.len(), received.len()),
            (self.ranks, self.ranks),
            "one piece for each process"
        );
        self.bytes.push_back(
            self.shim
                .alltoallv(bytes, pieces(sent)?, came, pieces(received)?)?,
        );
        let (messages, bytes_sent) = elsewhere(sent, self.rank);
        add(&self.counting.messages, messages);
        add(&self.counting.bytes_sent, bytes_sent);
        add(
            &self.counting.bytes_received,
            elsewhere(received, self.rank).1,
        );
        Ok(())
    }

    fn bytes(&mut self) -> Result<Option<Exchanged>, FabricError> {
        let ended = first_ended(&self.shim, &mut self.bytes)?;
        Ok(ended.map(|Moved { sent, came, .. }| Exchanged { sent, came }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_here_is_no_message() {
        assert_eq!(elsewhere(&[5, 7, 0, 1], 0), (2, 8));
        assert_eq!(elsewhere(&[5], 0), (0, 0));
    }

    #[test]
    fn too_many_bytes_are_refused() {
        let message = pieces(&[1 << 31, 5])
            .err()
            .expect("more than MPI can number")
            .to_string();
        assert!(
            message.contains("MPI_Ialltoallv: 2147483653 bytes"),
            "{message}"
        );
    }
}
