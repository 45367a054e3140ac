//! Finds a rank that is silent: its process is stopped, its machine hangs, or the network is cut.
//!
//! Each rank pings the next one and listens to the one before, in a ring. A thread of its own does
//! so: a slow disk, or a look-up that takes long, silences nobody. Who has heard nothing for the
//! patience of the job tells all others who is silent, and the job ends.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use gyrase_fabric::FabricError;

use crate::awake::Awake;
use crate::heartbeat::Failed;
use crate::shim::{Channel, Elsewhere, Operation, Shim};
use crate::tasks::{Own, Shared};

/// Seconds that a rank may be silent; 0 for ever.
const VARIABLE: &str = "GYRASE_MPI_PATIENCE";
/// The same where nobody sets it.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a rank looks for pings.
const LOOK: Duration = Duration::from_millis(100);
/// How long it waits for its turn to call MPI, at a time.
const TURN: Duration = Duration::from_secs(1);
/// How often it pings.
const PING: Duration = Duration::from_millis(500);
/// The same while the job ends.
const ENDING: Duration = Duration::from_millis(1);
/// See [`Ring::grace`].
const LEAST_GRACE: Duration = Duration::from_secs(3);
/// How long a process that is caught in a call may take to clean up.
const CLEANING: Duration = Duration::from_secs(2);
/// How long a rank waits for the last ping, and for its own end once another one is silent.
const LEAVING: Duration = Duration::from_secs(10);

/// What a message between watchdogs says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// "I live", with the name of the machine.
    Ping,
    /// "I live, and ping no more: the job is over."
    Last,
    /// "One is silent", with the rank that found it.
    Silent,
}

/// How long a rank may be silent; `None` where nobody is to look.
fn patience(set: Option<&str>) -> Option<Duration> {
    let patience = match set.map(|text| text.parse::<f64>()) {
        Some(Ok(seconds)) if (0.0..=1e9).contains(&seconds) => Duration::from_secs_f64(seconds),
        _ => PATIENCE,
    };
    (!patience.is_zero()).then_some(patience)
}

/// The thread that looks after the rank before this one.
pub(crate) struct Watchdog {
    thread: JoinHandle<()>,
    /// Dropped when this rank ends without the others.
    over: SyncSender<()>,
}

impl Watchdog {
    /// Looks after the other ranks from now on, if anybody wants it.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(
        shim: &Shim,
        (rank, ranks): (usize, usize),
        code: u8,
        shared: Arc<Shared>,
    ) -> io::Result<Option<Watchdog>> {
        let set = std::env::var(VARIABLE).ok();
        let Some(patience) = patience(set.as_deref()).filter(|_| ranks > 1) else {
            return Ok(None);
        };
        let (over, is_over) = sync_channel(1);
        let library = shim.elsewhere(TURN);
        let thread = thread::Builder::new().name("watchdog".into());
        let thread = thread.spawn(move || {
            let mut ring = Ring::new(library, rank, ranks, patience);
            let watched = ring.watch(&is_over);
            if let Watched::Silent { by } | Watched::Caught { by } = watched {
                shared.silent(Failed { rank: by, code }, by == rank);
                if matches!(watched, Watched::Caught { .. }) {
                    ring.end_caught(&shared, code);
                }
                end_at_last(&shared, code);
            }
        })?;
        Ok(Some(Watchdog { thread, over }))
    }

    /// All ranks are done, as all know: waits until the pings of this ring have come.
    pub(crate) fn finish(self) {
        // The thread may have ended by itself.
        let _ = self.over.send(());
        let _ = self.thread.join();
    }
}

/// Sees to the end of this process, which should come by itself.
fn end_at_last(shared: &Shared, code: u8) {
    thread::sleep(LEAVING);
    if let Some(stuck) = shared.stuck() {
        stuck(code);
    }
}

/// How the watch ended.
enum Watched {
    /// The job is over.
    Over,
    /// A rank is silent: who found it.
    Silent { by: usize },
    /// The same, and a call of MPI of this process waits for it.
    Caught { by: usize },
}

/// This rank's place among the others.
struct Ring {
    shim: Shim,
    rank: usize,
    ranks: usize,
    patience: Duration,
    /// The machine of the rank before this one, once it has pinged.
    machine: Option<String>,
    pinged: Option<Instant>,
    out: VecDeque<Operation<Vec<u8>>>,
    inward: VecDeque<(i32, Operation<Vec<u8>>)>,
}

impl Ring {
    fn new(library: Elsewhere, rank: usize, ranks: usize, patience: Duration) -> Ring {
        Ring {
            shim: library.here(),
            rank,
            ranks,
            patience,
            machine: None,
            pinged: None,
            out: VecDeque::new(),
            inward: VecDeque::new(),
        }
    }

    /// Pings and listens until the job is over or a rank is silent.
    fn watch(&mut self, over: &Receiver<()>) -> Watched {
        // Where MPI fails, the thread that does the work has the same trouble, and says so.
        self.listen(over).unwrap_or(Watched::Over)
    }

    fn listen(&mut self, over: &Receiver<()>) -> Result<Watched, FabricError> {
        let (mut silent, mut no_turn) = (Awake::new(), Awake::new());
        loop {
            match self.ping_and_hear() {
                Ok(heard) => {
                    no_turn = Awake::new();
                    for (says, text) in heard {
                        match says {
                            Says::Ping => self.note_machine(&text),
                            Says::Last => return self.last(over),
                            Says::Silent => return Ok(found_by(&text)),
                        }
                        silent = Awake::new();
                    }
                    if silent.passed() > self.patience + self.grace() {
                        return Ok(self.name());
                    }
                }
                Err(FabricError::Elsewhere) => {
                    if self.is_caught(no_turn.passed(), silent.passed()) {
                        return Ok(self.name_awaited());
                    }
                }
                Err(error) => return Err(error),
            }
            match over.recv_timeout(LOOK) {
                Ok(()) => return self.leave(),
                Err(RecvTimeoutError::Disconnected) => return Ok(Watched::Over),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Pings when it is time, and takes what others said since the last look.
    ///
    /// # Errors
    /// [`FabricError::Elsewhere`]: it was not this thread's turn.
    fn ping_and_hear(&mut self) -> Result<Vec<(Says, Vec<u8>)>, FabricError> {
        if self.pinged.is_none_or(|pinged| pinged.elapsed() >= PING) {
            self.tell(self.next(), Says::Ping, machine().into_bytes())?;
            self.pinged = Some(Instant::now());
        }
        self.heard()
    }

    fn note_machine(&mut self, text: &[u8]) {
        self.machine = Some(String::from_utf8_lossy(text).into_owned());
    }

    /// Whether a call of the other thread is one that nobody answers. If it waits for the rank
    /// before this one, the time counts in which that did not ping.
    fn is_caught(&self, no_turn: Duration, silent: Duration) -> bool {
        let by_before = self.shim.waits_for() == Some(self.before());
        no_turn > self.patience || by_before && silent > self.patience + self.grace()
    }

    /// Names the rank that the call of the other thread waits for.
    fn name_awaited(&self) -> Watched {
        let rank = self.shim.waits_for().filter(|&rank| rank != self.rank);
        let machine = self.machine.as_deref();
        let machine = machine.filter(|_| rank == Some(self.before()));
        let what = rank.map(|rank| self.sentence(rank, machine));
        tracing::error!("{}", what.unwrap_or_else(|| self.caught()));
        Watched::Caught { by: self.rank }
    }

    /// Ends the job, once this process has cleaned up: the thread that would is caught in a call,
    /// and others may wait for it here.
    fn end_caught(&self, shared: &Shared, code: u8) {
        let since = Instant::now();
        while since.elapsed() < CLEANING && shared.own().0 != Own::Done {
            thread::sleep(LOOK);
        }
        match shared.stuck().filter(|_| shared.own().0 != Own::Done) {
            Some(stuck) => stuck(code),
            None => self.shim.abort(),
        }
    }

    /// The rank before has left: so does this one, as soon as it is told.
    fn last(&mut self, over: &Receiver<()>) -> Result<Watched, FabricError> {
        if over.recv().is_ok() {
            self.tell(self.next(), Says::Last, Vec::new())?;
            self.await_sent()?;
        }
        Ok(Watched::Over)
    }

    /// Pings for the last time, and takes what comes until the rank before does the same.
    fn leave(&mut self) -> Result<Watched, FabricError> {
        self.tell(self.next(), Says::Last, Vec::new())?;
        let since = Instant::now();
        while since.elapsed() < LEAVING {
            if self.heard()?.iter().any(|(says, _)| *says == Says::Last) {
                break;
            }
            thread::sleep(ENDING);
        }
        self.await_sent()?;
        Ok(Watched::Over)
    }

    fn await_sent(&mut self) -> Result<(), FabricError> {
        let since = Instant::now();
        while !self.out.is_empty() && since.elapsed() < LEAVING {
            self.settle()?;
            thread::sleep(ENDING);
        }
        Ok(())
    }

    /// Names the rank before this one, and tells all others.
    fn name(&mut self) -> Watched {
        tracing::error!("{}", self.sentence(self.before(), self.machine.as_deref()));
        // Who cannot be told is told by the launcher, when this process ends the job.
        let _ = self.tell_others();
        Watched::Silent { by: self.rank }
    }

    fn tell_others(&mut self) -> Result<(), FabricError> {
        let (own, before) = (self.rank, self.before());
        for rank in (0..self.ranks).filter(|&rank| rank != own && rank != before) {
            self.tell(rank, Says::Silent, (own as u64).to_le_bytes().to_vec())?;
        }
        // What is on its way needs this thread, if the other one is busy.
        thread::sleep(ENDING);
        self.settle()
    }

    fn sentence(&self, rank: usize, machine: Option<&str>) -> String {
        let on = machine.map_or(String::new(), |machine| format!(" on {machine}"));
        format!(
            "rank {rank}{on} has given no sign of life for {} s: its process was stopped or killed, \
             its machine hangs, or the network to it is cut; so the job ends ({VARIABLE}=SECONDS \
             sets another patience, 0 waits for ever)",
            self.patience.as_secs_f64()
        )
    }

    /// How much longer a rank waits for the one before: that may be caught in a call that waits for
    /// a silent one, and is to name it first.
    fn grace(&self) -> Duration {
        (self.patience / 4).max(LEAST_GRACE)
    }

    fn caught(&self) -> String {
        let seconds = self.patience.as_secs_f64();
        format!("a call of MPI has not returned for {seconds} s, so the job ends")
    }

    fn next(&self) -> usize {
        (self.rank + 1) % self.ranks
    }

    fn before(&self) -> usize {
        (self.rank + self.ranks - 1) % self.ranks
    }

    fn tell(&mut self, rank: usize, says: Says, text: Vec<u8>) -> Result<(), FabricError> {
        self.settle()?;
        // To a rank that takes none, further pings say nothing new.
        if says != Says::Ping || self.out.len() < 8 {
            let sent = self.shim.send(Channel::Pings, rank, says as i32, text)?;
            self.out.push_back(sent);
        }
        Ok(())
    }

    /// Forgets what was sent and arrived.
    fn settle(&mut self) -> Result<(), FabricError> {
        while let Some(first) = self.out.front_mut() {
            if !self.shim.has_ended(first)? {
                break;
            }
            self.out.pop_front();
        }
        Ok(())
    }

    /// What others said since the last look.
    fn heard(&mut self) -> Result<Vec<(Says, Vec<u8>)>, FabricError> {
        while let Some(arrived) = self.shim.arrived(Channel::Pings)? {
            let tag = arrived.tag;
            self.inward.push_back((tag, self.shim.receive(arrived)?));
        }
        let mut heard = Vec::new();
        while let Some((_, first)) = self.inward.front_mut() {
            if !self.shim.has_ended(first)? {
                break;
            }
            if let Some((tag, operation)) = self.inward.pop_front() {
                heard.push((says(tag), operation.held()));
            }
        }
        Ok(heard)
    }
}

fn says(tag: i32) -> Says {
    let all = [Says::Ping, Says::Last, Says::Silent];
    let same = all.into_iter().find(|&says| says as i32 == tag);
    same.unwrap_or(Says::Ping)
}

/// Another rank found that one is silent, and says so.
fn found_by(text: &[u8]) -> Watched {
    let rank = text
        .first_chunk()
        .map_or(0, |rank| u64::from_le_bytes(*rank));
    Watched::Silent { by: rank as usize }
}

/// The name of this machine.
fn machine() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_is_set_in_seconds() {
        assert_eq!(patience(None), Some(PATIENCE));
        assert_eq!(patience(Some("2.5")), Some(Duration::from_millis(2500)));
        assert_eq!(patience(Some("0")), None);
        for wrong in ["", "soon", "-3", "NaN"] {
            assert_eq!(patience(Some(wrong)), Some(PATIENCE), "{wrong}");
        }
    }

    #[test]
    fn messages_are_known_by_their_tags() {
        for one in [Says::Ping, Says::Last, Says::Silent] {
            assert_eq!(says(one as i32), one);
        }
    }
}
