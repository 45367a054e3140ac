//! Whose turn it is to call MPI.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::Duration;

use gyrase_fabric::FabricError;

use crate::awake::Awake;

/// How often a thread with little patience looks whether it is its turn.
const LOOK: Duration = Duration::from_millis(1);

/// The threads of this process that call MPI, one at a time.
#[derive(Default)]
pub(crate) struct Turns {
    turn: Mutex<()>,
    /// The rank, from 1, that the call under way waits for; 0 where there is none.
    waits_for: AtomicUsize,
}

/// A turn, until it is dropped.
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    _taken: MutexGuard<'a, ()>,
}

impl Turns {
    /// Waits until no other thread calls; for ever where no patience is said.
    ///
    /// # Errors
    /// [`FabricError::Elsewhere`]: a call of the other thread has not returned within the patience
    /// of this one, since another process does not do its part.
    pub(crate) fn take(&self, patience: Option<Duration>) -> Result<Turn<'_>, FabricError> {
        let taken = match patience {
            Some(patience) => self.take_within(patience)?,
            None => self.turn.lock().expect("no call panics"),
        };
        Ok(Turn {
            turns: self,
            _taken: taken,
        })
    }

    /// The same, for a call that waits for a rank.
    pub(crate) fn take_for(
        &self,
        rank: usize,
        patience: Option<Duration>,
    ) -> Result<Turn<'_>, FabricError> {
        let turn = self.take(patience)?;
        self.waits_for.store(rank + 1, Relaxed);
        Ok(turn)
    }

    /// The rank that the call under way waits for.
    pub(crate) fn waits_for(&self) -> Option<usize> {
        self.waits_for.load(Relaxed).checked_sub(1)
    }

    fn take_within(&self, patience: Duration) -> Result<MutexGuard<'_, ()>, FabricError> {
        let mut waited = Awake::new();
        loop {
            match self.turn.try_lock() {
                Ok(taken) => return Ok(taken),
                Err(TryLockError::WouldBlock) if waited.passed() < patience => thread::sleep(LOOK),
                Err(_) => return Err(FabricError::Elsewhere),
            }
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.waits_for.store(0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_gets_no_turn_learns_for_whom_the_other_waits() {
        let turns = Turns::default();
        let turn = turns.take_for(3, None).unwrap();
        let patience = Some(Duration::from_millis(5));
        assert!(turns.take(patience).is_err());
        assert_eq!(turns.waits_for(), Some(3));
        drop(turn);
        assert!(turns.take(patience).is_ok());
        assert_eq!(turns.waits_for(), None);
    }
}
