//! A trial of all that a run asks of MPI, with a few bytes.

use gyrase_fabric::{FabricError, Mailbox, Window, World};

use crate::Job;
use crate::tasks::Task;

/// Bytes that each rank sends each other one.
const EACH: usize = 1000;
/// Bytes of a message, which no library sends before its receiver has room.
const LONG: usize = 1 << 20;

impl Job {
    /// Collective. Does once what a run does: adds to a number of a window and compares another,
    /// exchanges bytes of all with all, sends a long message to the next rank.
    ///
    /// # Errors
    /// The call that fails, or does not do what it should; another process failed.
    pub fn try_all(&self) -> Result<(), FabricError> {
        let (window, messages) = (self.window(2)?, self.new_mailbox());
        let (ranks, next) = (self.ranks(), (self.rank() + 1) % self.ranks());
        window.add(0, 0, 1)?;
        let swapped = window.compare_and_swap(next, 1, 0, self.rank() as u64 + 1)?;
        expect("MPI_Compare_and_swap", swapped == 0)?;
        messages.send(next, self.rank() as u64, vec![self.rank() as u8; LONG])?;
        self.exchange_bytes()?;
        // All have done the above.
        self.sum(&[1])?;
        expect("MPI_Fetch_and_op", window.get(0, 0)? == ranks as u64)?;
        let before = (self.rank() + ranks - 1) % ranks;
        let own = window.get(self.rank(), 1)?;
        expect("MPI_Compare_and_swap", own == before as u64 + 1)?;
        loop {
            if let Some((number, bytes)) = messages.receive()? {
                let same = bytes.len() == LONG && bytes.iter().all(|&byte| byte == before as u8);
                return expect("MPI_Isend", number == before as u64 && same);
            }
            std::thread::yield_now();
        }
    }

    fn exchange_bytes(&self) -> Result<(), FabricError> {
        let sent = vec![self.rank() as u8; EACH * self.ranks()];
        let came = self.collective("exchange", |reply| Task::Bytes(sent, EACH, reply))?;
        let mut pieces = came.chunks_exact(EACH).enumerate();
        let right = pieces.all(|(rank, piece)| piece.iter().all(|&byte| byte == rank as u8));
        expect("MPI_Ialltoallv", right && came.len() == EACH * self.ranks())
    }
}

fn expect(call: &'static str, right: bool) -> Result<(), FabricError> {
    let wrong = || FabricError::Mpi {
        call,
        what: "it succeeds, and what it brings is wrong".into(),
    };
    if right { Ok(()) } else { Err(wrong()) }
}
