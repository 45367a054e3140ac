//! Messages between processes: sent without waiting, received as they come, kept until they are
//! asked for.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

use gyrase_fabric::{FabricError, Message};
use tracing::info_span;

use crate::counters::add;
use crate::mpi::Mpi;
use crate::shim::{Channel, Operation};

/// The tag of all messages: MPI has too few to tell mailboxes by.
const TAG: i32 = 0;
/// Bytes behind what is in a message: its number and that of its mailbox.
const TAIL: usize = 16;

/// A message on its way: who gets it, to which mailbox, the number on it, and what is in it.
pub(crate) struct Outgoing {
    pub(crate) rank: usize,
    pub(crate) mailbox: u64,
    pub(crate) number: u64,
    pub(crate) bytes: Vec<u8>,
}

/// Messages that came, by mailbox.
#[derive(Default)]
pub(crate) struct Inbox(Mutex<Mailboxes>);

#[derive(Default)]
struct Mailboxes {
    /// Messages may come before their mailbox is made here.
    kept: HashMap<u64, VecDeque<Message>>,
    /// Mailboxes below this number are closed.
    closed: u64,
    /// Those above it that are.
    others_closed: BTreeSet<u64>,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Mailboxes> {
        self.0
            .lock()
            .expect("no thread panics while it holds the messages")
    }

    /// Keeps a message, unless its mailbox is closed.
    pub(crate) fn put(&self, mailbox: u64, number: u64, bytes: Vec<u8>) {
        let mut inbox = self.lock();
        if mailbox >= inbox.closed && !inbox.others_closed.contains(&mailbox) {
            let kept = inbox.kept.entry(mailbox).or_default();
            kept.push_back((number, bytes));
        }
    }

    /// The first message of a mailbox.
    pub(crate) fn take(&self, mailbox: u64) -> Option<Message> {
        self.lock().kept.get_mut(&mailbox)?.pop_front()
    }

    /// Forgets a mailbox. Each is closed once.
    pub(crate) fn close(&self, mailbox: u64) {
        let mut inbox = self.lock();
        inbox.kept.remove(&mailbox);
        inbox.others_closed.insert(mailbox);
        while inbox.others_closed.first() == Some(&inbox.closed) {
            inbox.others_closed.pop_first();
            inbox.closed += 1;
        }
    }
}

/// Messages under way.
#[derive(Default)]
pub(crate) struct Messages {
    out: VecDeque<Operation<Vec<u8>>>,
    inward: VecDeque<Operation<Vec<u8>>>,
}

impl Messages {
    /// Sends a message.
    pub(crate) fn send(&mut self, mpi: &Mpi, message: Outgoing) -> Result<(), FabricError> {
        let Outgoing {
            rank,
            mailbox,
            number,
            mut bytes,
        } = message;
        let _send = info_span!(target: "gyrase::trace", "send", bytes = bytes.len()).entered();
        add(&mpi.counting.messages, 1);
        add(&mpi.counting.bytes_sent, bytes.len() as u64);
        // The numbers are behind what is in the message, so that neither side moves that.
        bytes.extend_from_slice(&number.to_le_bytes());
        bytes.extend_from_slice(&mailbox.to_le_bytes());
        let sent = mpi.shim.send(Channel::Messages, rank, TAG, bytes)?;
        self.out.push_back(sent);
        Ok(())
    }

    /// Lets messages arrive; whether one came or is sent. They are put in the inbox in the order in
    /// which they were sent, a short one not before a long one.
    pub(crate) fn step(&mut self, mpi: &Mpi, inbox: &Inbox) -> Result<bool, FabricError> {
        let mut moved = false;
        while mpi.first_ended(&mut self.out)?.is_some() {
            moved = true;
        }
        while let Some(arrived) = mpi.shim.arrived(Channel::Messages)? {
            self.inward.push_back(mpi.shim.receive(arrived)?);
            moved = true;
        }
        while let Some(mut bytes) = mpi.first_ended(&mut self.inward)? {
            let (number, mailbox) = numbers(&mut bytes).ok_or_else(unnumbered)?;
            add(&mpi.counting.bytes_received, bytes.len() as u64);
            inbox.put(mailbox, number, bytes);
            moved = true;
        }
        Ok(moved)
    }

    /// Whether all that were sent are received elsewhere, and all that arrived are here.
    pub(crate) fn is_idle(&self) -> bool {
        self.out.is_empty() && self.inward.is_empty()
    }
}

/// Takes off the number of a message and that of its mailbox.
fn numbers(bytes: &mut Vec<u8>) -> Option<(u64, u64)> {
    let tail = bytes.split_off(bytes.len().checked_sub(TAIL)?);
    let [number, mailbox] = tail.as_chunks().0 else {
        return None;
    };
    Some((u64::from_le_bytes(*number), u64::from_le_bytes(*mailbox)))
}

fn unnumbered() -> FabricError {
    FabricError::Mpi {
        call: "MPI_Imrecv",
        what: "a message came without a number on it".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_wait_by_mailbox_in_order() {
        let inbox = Inbox::default();
        for (mailbox, number) in [(1, 10), (2, 20), (1, 11)] {
            inbox.put(mailbox, number, vec![number as u8]);
        }
        let taken: Vec<_> = [1, 1, 1, 2, 3]
            .map(|mailbox| inbox.take(mailbox).map(|message| message.0))
            .into();
        assert_eq!(taken, [Some(10), Some(11), None, Some(20), None]);
    }

    #[test]
    fn nothing_is_kept_of_a_closed_mailbox() {
        let inbox = Inbox::default();
        for mailbox in [1, 0, 3, 100_000] {
            inbox.put(mailbox, 7, Vec::new());
            inbox.close(mailbox);
            inbox.put(mailbox, 8, Vec::new());
            assert_eq!(inbox.take(mailbox), None);
        }
        inbox.put(2, 9, Vec::new());
        assert_eq!(inbox.take(2), Some((9, Vec::new())));
        (4..100_000)
            .chain([2])
            .for_each(|mailbox| inbox.close(mailbox));
        let Mailboxes {
            kept,
            closed,
            others_closed,
        } = inbox.0.into_inner().expect("no panic");
        assert_eq!((kept.len(), closed, others_closed.len()), (0, 100_001, 0));
    }
}
