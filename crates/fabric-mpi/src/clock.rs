//! What rank 0's clock says: ping-pongs along a binomial tree.
//!
//! Rank 0 compares clocks with ranks 1, 2, 4, 8 ..., these with theirs, and so on: every rank is
//! asked by the one that its number without the lowest bit names. A rank's offset is the sum along
//! the way, and its error at most the sum of half the shortest round trips.

use std::thread;

use gyrase_fabric::FabricError;
use rustix::time::{ClockId, clock_gettime};

use crate::mpi::Mpi;
use crate::shim::{Channel, Operation};

/// Ping-pongs with each rank; the one that took the shortest time counts.
const TRIALS: usize = 12;

/// Nanoseconds of this machine's monotonic clock, as all of its processes see it.
pub fn now() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// This rank's clock minus rank 0's in nanoseconds. Collective, before any other message.
pub(crate) fn offset(mpi: &Mpi) -> Result<i64, FabricError> {
    let above = parent(mpi.rank);
    let own = match above {
        Some(above) => {
            for _ in 0..TRIALS {
                receive(mpi)?;
                send(mpi, above, now())?;
            }
            receive(mpi)?
        }
        None => 0,
    };
    for below in children(mpi.rank, mpi.ranks) {
        let ahead = compare(mpi, below)?;
        send(mpi, below, own + ahead)?;
    }
    Ok(own)
}

/// Who asks a rank.
fn parent(rank: usize) -> Option<usize> {
    (rank > 0).then(|| rank & (rank - 1))
}

/// Whom a rank asks; those with more below them first.
fn children(rank: usize, ranks: usize) -> Vec<usize> {
    let bits = if rank == 0 {
        usize::BITS - 1
    } else {
        rank.trailing_zeros()
    };
    (0..bits)
        .rev()
        .map(|bit| rank | 1 << bit)
        .filter(|&child| child < ranks)
        .collect()
}

/// How far the clock of a rank is ahead of this one's.
fn compare(mpi: &Mpi, below: usize) -> Result<i64, FabricError> {
    let mut best = (i64::MAX, 0);
    for _ in 0..TRIALS {
        let asked = now();
        send(mpi, below, 0)?;
        let theirs = receive(mpi)?;
        let answered = now();
        best = best.min((answered - asked, theirs - asked - (answered - asked) / 2));
    }
    Ok(best.1)
}

fn send(mpi: &Mpi, rank: usize, number: i64) -> Result<(), FabricError> {
    wait(
        mpi,
        mpi.shim
            .send(Channel::Messages, rank, 0, number.to_le_bytes().to_vec())?,
    )
    .map(drop)
}

/// The number that is next to arrive: only one rank at a time has reason to send one.
fn receive(mpi: &Mpi) -> Result<i64, FabricError> {
    loop {
        if let Some(message) = mpi.shim.arrived(Channel::Messages)? {
            let bytes = wait(mpi, mpi.shim.receive(message)?)?;
            let bytes = bytes.try_into().map_err(|_| FabricError::Mpi {
                call: "MPI_Imrecv",
                what: "a message that is no time came while clocks were compared".into(),
            })?;
            return Ok(i64::from_le_bytes(bytes));
        }
        thread::yield_now();
    }
}

fn wait<B>(mpi: &Mpi, mut operation: Operation<B>) -> Result<B, FabricError> {
    while !mpi.shim.has_ended(&mut operation)? {
        thread::yield_now();
    }
    Ok(operation.held())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_is_asked_once_by_its_parent() {
        for ranks in [1, 2, 3, 4, 7, 8, 9, 100] {
            let mut asked = vec![None; ranks];
            for rank in 0..ranks {
                for child in children(rank, ranks) {
                    assert_eq!(asked[child].replace(rank), None, "{child} of {ranks}");
                }
            }
            assert!(
                asked
                    .iter()
                    .enumerate()
                    .all(|(rank, &by)| by == parent(rank)),
                "{ranks} ranks"
            );
        }
    }
}
