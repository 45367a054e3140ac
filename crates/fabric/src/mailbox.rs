//! Messages between the processes of a job.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::FabricError;

/// How long whoever waits for a message sleeps: at first, and at most.
const PAUSES: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(1)];

/// A number, and what is in the message.
pub type Message = (u64, Vec<u8>);

/// Messages to other processes, each with a number on it. Every mailbox of a process belongs to
/// those that the others made together with it: messages of another one do not get there. Messages
/// of one process to another arrive in the order sent.
pub trait Mailbox: Send + Sync {
    /// Sends a message without waiting; to this process itself too.
    ///
    /// # Errors
    /// Another process failed.
    fn send(&self, rank: usize, number: u64, bytes: Vec<u8>) -> Result<(), FabricError>;

    /// A message that arrived: its number and what is in it.
    ///
    /// # Errors
    /// Another process failed.
    fn receive(&self) -> Result<Option<Message>, FabricError>;

    /// The next message; waits until there is one.
    ///
    /// # Errors
    /// Another process failed.
    fn wait(&self) -> Result<Message, FabricError> {
        let mut pauses = Pauses::default();
        loop {
            match self.receive()? {
                Some(message) => return Ok(message),
                None => pauses.sleep(),
            }
        }
    }
}

impl Mailbox for Arc<dyn Mailbox> {
    fn send(&self, rank: usize, number: u64, bytes: Vec<u8>) -> Result<(), FabricError> {
        (**self).send(rank, number, bytes)
    }

    fn receive(&self) -> Result<Option<Message>, FabricError> {
        (**self).receive()
    }
}

/// The sleeps of a thread that waits for a message: short at first.
pub(crate) struct Pauses(Duration);

impl Default for Pauses {
    fn default() -> Pauses {
        Pauses(PAUSES[0])
    }
}

impl Pauses {
    pub(crate) fn sleep(&mut self) {
        thread::sleep(self.0);
        self.0 = PAUSES[1].min(2 * self.0);
    }
}

/// Many mailboxes in one, for some of the processes that have it.
pub(crate) struct Switch {
    mailbox: Arc<dyn Mailbox>,
    /// What those processes are called there, by their number here.
    members: Vec<usize>,
    /// What arrived, by channel.
    arrived: Mutex<HashMap<u64, VecDeque<Message>>>,
}

/// One of the mailboxes.
pub(crate) struct Channel {
    switch: Arc<Switch>,
    number: u64,
}

impl Switch {
    pub(crate) fn new(mailbox: Arc<dyn Mailbox>, members: Vec<usize>) -> Arc<Switch> {
        Arc::new(Switch {
            mailbox,
            members,
            arrived: Mutex::default(),
        })
    }

    /// The mailbox of that number: each is asked for once.
    pub(crate) fn channel(self: &Arc<Switch>, number: u64) -> Arc<Channel> {
        Arc::new(Channel {
            switch: Arc::clone(self),
            number,
        })
    }

    /// Takes in what arrived, and the first message of a channel out.
    fn take(&self, channel: u64) -> Result<Option<Message>, FabricError> {
        let mut arrived = self
            .arrived
            .lock()
            .expect("no thread panics while it holds the messages");
        while let Some((number, mut bytes)) = self.mailbox.receive()? {
            let channel = bytes.split_off(bytes.len().saturating_sub(8));
            let channel = u64::from_le_bytes(channel.try_into().expect("a channel in eight bytes"));
            arrived
                .entry(channel)
                .or_default()
                .push_back((number, bytes));
        }
        Ok(arrived.get_mut(&channel).and_then(VecDeque::pop_front))
    }
}

impl Mailbox for Channel {
    fn send(&self, rank: usize, number: u64, mut bytes: Vec<u8>) -> Result<(), FabricError> {
        bytes.extend_from_slice(&self.number.to_le_bytes());
        let rank = self.switch.members[rank];
        self.switch.mailbox.send(rank, number, bytes)
    }

    fn receive(&self) -> Result<Option<Message>, FabricError> {
        self.switch.take(self.number)
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // A thread that panicked leaves what it held to nobody.
        if let Ok(mut arrived) = self.switch.arrived.lock() {
            arrived.remove(&self.number);
        }
    }
}

/// The mailbox of a process that is alone.
#[derive(Debug, Default)]
pub(crate) struct Own(Mutex<VecDeque<Message>>);

impl Own {
    fn messages(&self) -> std::sync::MutexGuard<'_, VecDeque<Message>> {
        self.0
            .lock()
            .expect("no thread panics while it holds the messages")
    }
}

impl Mailbox for Own {
    fn send(&self, _: usize, number: u64, bytes: Vec<u8>) -> Result<(), FabricError> {
        self.messages().push_back((number, bytes));
        Ok(())
    }

    fn receive(&self) -> Result<Option<Message>, FabricError> {
        Ok(self.messages().pop_front())
    }
}
