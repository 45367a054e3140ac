//! The heartbeat: what all processes tell one another a few times a second, whatever else they do.
//!
//! Each puts a few numbers in and all get the largest of each. So all learn at the same heartbeat
//! that one failed, and which: the number of the lowest rank that failed is the largest.

use std::time::{Duration, Instant};

use gyrase_fabric::FabricError;

use crate::counters::add;
use crate::mpi::Mpi;
use crate::shim::{Operation, Pair, Reduce};

/// Between two heartbeats while records are exchanged.
const QUICK: Duration = Duration::from_millis(10);
/// Between two heartbeats otherwise.
const SLOW: Duration = Duration::from_millis(50);

/// A rank that failed, and the exit code that its failure asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) rank: usize,
    pub(crate) code: u8,
}

/// How far an exchange of records is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// Which exchange of the job it is, from 1.
    pub(crate) exchange: u64,
    /// How many of its rounds were started.
    pub(crate) started: u64,
}

/// Bits of the rounds of an exchange, below those of its number.
const STARTED: u32 = 40;

impl Rounds {
    /// More of a later exchange.
    fn encode(self) -> u64 {
        self.exchange << STARTED | self.started
    }

    fn decode(number: u64) -> Rounds {
        Rounds {
            exchange: number >> STARTED,
            started: number & ((1 << STARTED) - 1),
        }
    }

    /// Rounds of `exchange` that one has started at least. Who has begun a later one has seen the
    /// last round of this one, and so have all started it.
    pub(crate) fn of(self, exchange: u64) -> u64 {
        if self.exchange == exchange {
            self.started
        } else {
            0
        }
    }
}

/// What a process tells, and what all told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beat {
    /// The lowest rank that failed.
    pub(crate) failed: Option<Failed>,
    /// The most rounds that one has started of the last exchange that one has begun.
    pub(crate) rounds: Rounds,
    /// Whether one has not left yet.
    pub(crate) stays: bool,
}

impl Beat {
    /// Numbers of which the largest are what all told.
    fn encode(&self, ranks: usize) -> Vec<u64> {
        let failed = |failed: Failed| ((ranks - failed.rank) as u64) << 8 | u64::from(failed.code);
        vec![
            self.failed.map_or(0, failed),
            self.rounds.encode(),
            self.stays.into(),
        ]
    }

    fn decode(numbers: &[u64], ranks: usize) -> Beat {
        let failed = |number: u64| Failed {
            rank: ranks - (number >> 8) as usize,
            code: number as u8,
        };
        Beat {
            failed: (numbers[0] > 0).then(|| failed(numbers[0])),
            rounds: Rounds::decode(numbers[1]),
            stays: numbers[2] > 0,
        }
    }
}

/// One heartbeat after the other.
pub(crate) struct Heartbeat {
    under_way: Option<Operation<Pair<u64>>>,
    last: Option<Instant>,
}

impl Heartbeat {
    /// None so far.
    pub(crate) fn new() -> Heartbeat {
        Heartbeat {
            under_way: None,
            last: None,
        }
    }

    /// What all told, if a heartbeat ended now; else begins the next one when it is time.
    pub(crate) fn step(
        &mut self,
        mpi: &Mpi,
        quick: bool,
        mine: Beat,
    ) -> Result<Option<Beat>, FabricError> {
        let Some(operation) = &mut self.under_way else {
            if self
                .last
                .is_none_or(|last| last.elapsed() >= if quick { QUICK } else { SLOW })
            {
                self.under_way = Some(mpi.shim.reduce(Reduce::Heartbeat, mine.encode(mpi.ranks))?);
            }
            return Ok(None);
        };
        if !mpi.shim.has_ended(operation)? {
            return Ok(None);
        }
        self.last = Some(Instant::now());
        add(&mpi.counting.heartbeats, 1);
        let told = self.under_way.take().map(Operation::held);
        Ok(told.map(|(_, largest)| Beat::decode(&largest, mpi.ranks)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_numbers_are_what_all_told() {
        let rounds = |exchange, started| Rounds { exchange, started };
        let fine = Beat {
            failed: None,
            rounds: rounds(2, 7),
            stays: false,
        };
        let failed = |rank, code| Beat {
            failed: Some(Failed { rank, code }),
            rounds: rounds(1, 9),
            stays: true,
        };
        let told = |beats: &[Beat]| {
            let numbers: Vec<_> = beats.iter().map(|beat| beat.encode(100)).collect();
            let largest: Vec<_> = (0..3)
                .map(|i| numbers.iter().map(|of_one| of_one[i]).max().expect("one"))
                .collect();
            Beat::decode(&largest, 100)
        };
        assert_eq!(told(&[fine, fine]), fine);
        let three = told(&[fine, failed(99, 143), failed(3, 7), failed(4, 8)]);
        assert_eq!(
            three,
            Beat {
                failed: Some(Failed { rank: 3, code: 7 }),
                rounds: rounds(2, 7),
                stays: true
            }
        );
        // A process that is still in the first exchange has started all its rounds.
        assert_eq!(
            [1, 2, 3].map(|exchange| three.rounds.of(exchange)),
            [0, 7, 0]
        );
        assert_eq!(
            told(&[failed(0, 0), failed(1, 255)]).failed,
            Some(Failed { rank: 0, code: 0 })
        );
    }
}
