//! The thread that makes the calls of MPI, from the start of a job to its end.
//!
//! It does what other threads ask, steps what is under way, and keeps the heartbeat. It never waits
//! for long in a call, so that a thread of this process that is blocked in a read stops no other
//! process; and it sleeps between its turns, the longer the less moves. Beside it only the watchdog
//! calls, in turn with it.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use gyrase_fabric::{Exchange, FabricError};

use crate::ExitCodes;
use crate::collectives::Collectives;
use crate::heartbeat::{Beat, Failed, Heartbeat, Rounds};
use crate::messages::Messages;
use crate::mpi::Mpi;
use crate::shim::Channel;
use crate::tasks::{Own, Shared, Task};
use crate::watchdog::Watchdog;

/// Turns without any movement that only let other threads run, before the first sleep.
const YIELDS: u32 = 8;
/// The first sleep.
const SHORTEST: Duration = Duration::from_micros(20);
/// The longest sleep while something is under way.
const ACTIVE: Duration = Duration::from_millis(1);
/// The longest sleep while nothing is here, but others may wait for this process's numbers.
const SERVING: Duration = Duration::from_millis(2);
/// The longest sleep while nothing is but the heartbeat.
const IDLE: Duration = Duration::from_millis(5);

/// How long a process may take to end once it knows that another failed. After it, what it was told
/// to do then is done.
const CLEANING: Duration = Duration::from_secs(2);
/// How long the others wait for it.
const LEAVING: Duration = Duration::from_millis(2500);
/// How long a process that ends lets MPI go on with what is under way.
const LINGERING: Duration = Duration::from_millis(20);
/// How long a process that failed waits until all know it, if they can still be reached.
const TELLING: Duration = Duration::from_secs(5);
/// The same for one that was stopped by a signal: whoever sent it soon kills.
const STOPPING: Duration = Duration::from_millis(800);

/// How a job ended, as far as this process knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All are done.
    Well,
    /// All know who failed.
    Failed(Failed),
    /// The others could not be told, or reached.
    Lost,
}

/// What the thread works with.
pub(crate) struct Engine {
    mpi: Mpi,
    shared: Arc<Shared>,
    codes: ExitCodes,
    watchdog: Option<Watchdog>,
    heartbeat: Heartbeat,
    told: Beat,
    /// Who failed, as all know, and since when.
    failed: Option<(Failed, Instant)>,
    cancelled: Option<Instant>,
    collectives: Collectives,
    messages: Messages,
    exchange: Option<Box<Exchange>>,
    /// How many there were, that one too.
    exchanges: u64,
}

impl Engine {
    /// An engine on the thread that started MPI.
    pub(crate) fn new(
        mpi: Mpi,
        shared: Arc<Shared>,
        codes: ExitCodes,
        watchdog: Option<Watchdog>,
    ) -> Engine {
        Engine {
            mpi,
            shared,
            codes,
            watchdog,
            heartbeat: Heartbeat::new(),
            told: Beat {
                stays: true,
                ..Beat::default()
            },
            failed: None,
            cancelled: None,
            collectives: Collectives::default(),
            messages: Messages::default(),
            exchange: None,
            exchanges: 0,
        }
    }

    /// Works until the job is over.
    pub(crate) fn run(mut self) -> Outcome {
        let outcome = self.work().unwrap_or_else(|error| {
            self.shared.over(error);
            // Whoever waits for it waits no more.
            self.exchange = None;
            self.await_own_end();
            Outcome::Lost
        });
        self.shared.over(FabricError::Elsewhere);
        match outcome {
            Outcome::Well => self.finish(),
            Outcome::Failed(_) | Outcome::Lost => {
                self.linger();
                self.part();
                outcome
            }
        }
    }

    /// Leaves MPI without its end. A silent process would never end: who found it has the launcher
    /// kill it, once the others have had the time to clean up.
    fn part(&self) {
        if self.shared.found_silent() {
            self.mpi.shim.abort();
        }
        self.mpi.shim.abandon();
    }

    /// What this process sent for the last heartbeat may not be on its way yet, and others wait for
    /// it.
    fn linger(&self) {
        let since = Instant::now();
        while since.elapsed() < LINGERING && self.mpi.shim.arrived(Channel::Messages).is_ok() {
            thread::sleep(ACTIVE);
        }
    }

    fn work(&mut self) -> Result<Outcome, FabricError> {
        let mut still = 0;
        loop {
            let tasks = self.shared.take(self.pause(still));
            still = if self.turn(tasks)? { 0 } else { still + 1 };
            if let Some(outcome) = self.outcome() {
                return Ok(outcome);
            }
        }
    }

    /// How long to sleep after so many turns in which nothing moved.
    fn pause(&self, still: u32) -> Duration {
        let longest = match self.is_idle() {
            true if self.exchange.is_none() => IDLE,
            true => SERVING,
            false => ACTIVE,
        };
        match still.checked_sub(YIELDS) {
            None => {
                thread::yield_now();
                Duration::ZERO
            }
            Some(sleeps) => longest.min(SHORTEST * (1 << sleeps.min(16))),
        }
    }

    fn is_idle(&self) -> bool {
        let exchange_is_idle = self
            .exchange
            .as_ref()
            .is_none_or(|exchange| exchange.is_idle());
        self.collectives.is_idle()
            && self.messages.is_idle()
            && self.mpi.is_idle()
            && exchange_is_idle
    }

    /// Does what was asked and steps what is under way; whether anything moved.
    fn turn(&mut self, tasks: Vec<Task>) -> Result<bool, FabricError> {
        let mut moved = !tasks.is_empty();
        for task in tasks {
            self.begin(task)?;
        }
        if self.failed.is_none() {
            moved |= self.collectives.step(&self.mpi)?;
            moved |= self.messages.step(&self.mpi, &self.shared.inbox)?;
            moved |= self.step_exchange()?;
        }
        if let Some(told) = self.step_heartbeat()? {
            self.heed(told);
        }
        Ok(moved)
    }

    fn begin(&mut self, task: Task) -> Result<(), FabricError> {
        match task {
            Task::Fetch {
                window,
                what,
                place,
                number,
                reply,
            } => {
                self.one_sided();
                let window = self.collectives.windows.get(window);
                let before = self.mpi.shim.fetch(window, what, place, number)?;
                // Who asked may have given up, or wants no answer.
                let _ = reply.send(before);
            }
            Task::Swap {
                window,
                place,
                expected,
                new,
                reply,
            } => {
                self.one_sided();
                let window = self.collectives.windows.get(window);
                let shim = &self.mpi.shim;
                let _ = reply.send(shim.compare_and_swap(window, place, expected, new)?);
            }
            Task::Leave(window) => self.collectives.windows.leave(window),
            Task::Send(message) => self.messages.send(&self.mpi, message)?,
            Task::Exchange(exchange) => {
                self.exchanges += 1;
                self.exchange = Some(exchange);
            }
            collective => self.collectives.push(collective),
        }
        Ok(())
    }

    fn step_heartbeat(&mut self) -> Result<Option<Beat>, FabricError> {
        // Whoever ends, or fails, keeps others waiting.
        let quick = self.exchange.is_some() || self.shared.own().0 != Own::Working;
        let mine = self.mine();
        self.heartbeat.step(&self.mpi, quick, mine)
    }

    /// Moves records; whether any moved.
    fn step_exchange(&mut self) -> Result<bool, FabricError> {
        let Some(exchange) = &mut self.exchange else {
            return Ok(false);
        };
        let moved = exchange.step(&mut self.mpi, self.told.rounds.of(self.exchanges))?;
        if let Some(why) = exchange.failure() {
            // Workers that wait for anything but a buffer hear of it here.
            self.shared.over(why);
        }
        if exchange.is_over() {
            self.exchange = None;
        }
        Ok(moved)
    }

    fn one_sided(&self) {
        crate::counters::add(&self.mpi.counting.one_sided, 1);
    }

    /// What this process tells the others.
    fn mine(&self) -> Beat {
        let own = self.shared.own().0;
        let failed = match own {
            Own::Failed { code, .. } => Some(Failed {
                rank: self.mpi.rank,
                code,
            }),
            Own::Working | Own::Left | Own::Done => None,
        };
        let started = self
            .exchange
            .as_ref()
            .map_or(0, |exchange| exchange.started());
        let rounds = Rounds {
            exchange: self.exchanges,
            started,
        };
        let stays = match own {
            Own::Working | Own::Failed { .. } => true,
            Own::Left => !self.messages.is_idle(),
            Own::Done => false,
        };
        Beat {
            failed,
            rounds,
            stays,
        }
    }

    /// Takes in what all told.
    fn heed(&mut self, told: Beat) {
        self.told = told;
        if let (Some(failed), None) = (told.failed, self.failed) {
            self.shared.all_know(failed);
            self.all_know(failed);
        }
    }

    /// One failed: what is under way is left to itself.
    fn all_know(&mut self, failed: Failed) {
        self.failed = Some((failed, Instant::now()));
        self.collectives.forget();
        self.exchange = None;
    }

    /// How the job ended, once it has.
    fn outcome(&mut self) -> Option<Outcome> {
        if let (Some(failed), None) = (self.shared.known(), self.failed) {
            // The watchdog found it.
            self.all_know(failed);
        }
        if self.failed.is_none() && self.shared.is_cancelled() {
            self.stop();
        }
        let aborted = self.mpi.shim.aborted();
        if aborted && self.shared.own().0 == Own::Working {
            let code = self.codes.memory;
            self.shared.leave(Own::Failed {
                code,
                stopped: false,
            });
        }
        let (own, since) = self.shared.own();
        match (self.failed, own) {
            (Some((failed, _)), _) if !self.told.stays => Some(Outcome::Failed(failed)),
            (None, _) if !self.told.stays => Some(Outcome::Well),
            (Some((failed, known)), _) => {
                if (own == Own::Working || aborted) && known.elapsed() > CLEANING {
                    self.is_stuck(failed.code);
                }
                (known.elapsed() > LEAVING).then_some(Outcome::Failed(failed))
            }
            (None, Own::Failed { stopped, .. }) => {
                let patience = if stopped { STOPPING } else { TELLING };
                (since.elapsed() > patience).then_some(Outcome::Lost)
            }
            (None, _) => None,
        }
    }

    /// The run was stopped: the rest of this process should come to its end by itself.
    fn stop(&mut self) {
        if self.cancelled.is_none() {
            // Workers that wait for others wait no more.
            self.exchange = None;
            self.collectives.forget();
            self.shared.over(FabricError::Elsewhere);
        }
        let since = *self.cancelled.get_or_insert_with(Instant::now);
        let code = self.codes.stopped;
        match self.shared.own().0 {
            Own::Working if since.elapsed() > STOPPING => self.is_stuck(code),
            Own::Left if self.failed.is_none() => {
                self.shared.leave(Own::Failed {
                    code,
                    stopped: true,
                });
            }
            _ => {}
        }
    }

    /// This process does not come to its end.
    fn is_stuck(&self, code: u8) {
        if let Some(stuck) = self.shared.stuck() {
            if !self.shared.found_silent() {
                self.mpi.shim.abandon();
            }
            stuck(code);
        }
    }

    /// MPI failed under this process: the others cannot be told, so that only its own end is waited
    /// for.
    fn await_own_end(&self) {
        let known = Instant::now();
        while self.shared.own().0 == Own::Working && known.elapsed() < CLEANING {
            thread::sleep(ACTIVE);
        }
        if self.shared.own().0 == Own::Working {
            self.is_stuck(self.codes.mpi);
        }
    }

    /// All have left and nothing is under way.
    fn finish(self) -> Outcome {
        if let Some(watchdog) = self.watchdog {
            watchdog.finish();
        }
        let Mpi { shim, .. } = self.mpi;
        let freed = self.collectives.windows.free_all(&shim);
        match freed.and_then(|()| shim.finish()) {
            Ok(()) => Outcome::Well,
            // Every process has done its part: how the library ends is no failure of the job.
            Err(error) => {
                tracing::error!("the job is done, but MPI did not end well: {error}");
                Outcome::Well
            }
        }
    }
}
