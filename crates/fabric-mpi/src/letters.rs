//! Letters between processes: sent without waiting, received as they come, kept until they are
//! asked for.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use gyrase_fabric::FabricError;

use crate::counters::add;
use crate::mpi::Mpi;
use crate::shim::Operation;

/// Marks of letters are below this, whatever the MPI.
pub(crate) const MARKS: usize = 1 << 15;

/// A letter on its way: who gets it, what it is marked with, the number on it, and what is in it.
pub(crate) struct Letter {
    pub(crate) rank: usize,
    pub(crate) mark: usize,
    pub(crate) number: u64,
    pub(crate) bytes: Vec<u8>,
}

/// Letters that came, by mark.
#[derive(Default)]
pub(crate) struct Inbox(Mutex<HashMap<usize, Kept>>);

/// Letters of one mark: the number on each, and what is in it.
type Kept = VecDeque<(u64, Vec<u8>)>;

impl Inbox {
    /// Keeps a letter.
    pub(crate) fn put(&self, mark: usize, number: u64, bytes: Vec<u8>) {
        let mut inbox = self
            .0
            .lock()
            .expect("no thread panics while it holds the letters");
        inbox.entry(mark).or_default().push_back((number, bytes));
    }

    /// The first letter of a mark.
    pub(crate) fn take(&self, mark: usize) -> Option<(u64, Vec<u8>)> {
        self.0
            .lock()
            .expect("no thread panics while it holds the letters")
            .get_mut(&mark)?
            .pop_front()
    }
}

/// Letters under way.
#[derive(Default)]
pub(crate) struct Letters {
    out: VecDeque<Operation<Vec<u8>>>,
    inward: VecDeque<Operation<Vec<u8>>>,
    /// Marks of those in `inward`.
    marks: VecDeque<usize>,
}

impl Letters {
    /// Sends a letter.
    pub(crate) fn send(&mut self, mpi: &Mpi, letter: Letter) -> Result<(), FabricError> {
        let Letter {
            rank,
            mark,
            number,
            mut bytes,
        } = letter;
        add(&mpi.counting.messages, 1);
        add(&mpi.counting.bytes_sent, bytes.len() as u64);
        // The number is behind what is in the letter, so that neither side moves that.
        bytes.extend_from_slice(&number.to_le_bytes());
        self.out.push_back(mpi.shim.send(rank, mark as i32, bytes)?);
        Ok(())
    }

    /// Lets letters arrive; whether one came or is sent. They are put in the inbox in the order in
    /// which they were sent, a short one not before a long one.
    pub(crate) fn step(&mut self, mpi: &Mpi, inbox: &Inbox) -> Result<bool, FabricError> {
        let mut moved = false;
        while mpi.first_ended(&mut self.out)?.is_some() {
            moved = true;
        }
        while let Some(letter) = mpi.shim.arrived()? {
            self.marks.push_back(letter.tag as usize);
            self.inward.push_back(mpi.shim.receive(letter)?);
            moved = true;
        }
        while let Some(mut bytes) = mpi.first_ended(&mut self.inward)? {
            let mark = self.marks.pop_front().expect("a mark for each letter");
            let number = bytes.split_off(bytes.len().saturating_sub(8));
            let number = u64::from_le_bytes(number.try_into().map_err(|_| unnumbered())?);
            add(&mpi.counting.bytes_received, bytes.len() as u64);
            inbox.put(mark, number, bytes);
            moved = true;
        }
        Ok(moved)
    }

    /// Whether all that were sent are received elsewhere, and all that arrived are here.
    pub(crate) fn is_idle(&self) -> bool {
        self.out.is_empty() && self.inward.is_empty()
    }
}

fn unnumbered() -> FabricError {
    FabricError::Mpi {
        call: "MPI_Imrecv",
        what: "a letter came without a number on it".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_wait_by_mark_in_order() {
        let inbox = Inbox::default();
        for (mark, number) in [(1, 10), (2, 20), (1, 11)] {
            inbox.put(mark, number, vec![number as u8]);
        }
        let taken: Vec<_> = [1, 1, 1, 2, 3]
            .map(|mark| inbox.take(mark).map(|letter| letter.0))
            .into();
        assert_eq!(taken, [Some(10), Some(11), None, Some(20), None]);
    }
}
