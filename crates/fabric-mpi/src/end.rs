//! The end of a job: well everywhere, or failed everywhere, with one message.

use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use crate::Job;
use crate::engine::Outcome;
use crate::heartbeat;
use crate::tasks::Own;

/// How often a process that ends looks for news.
const LOOK: Duration = Duration::from_millis(10);
/// How long a failed job waits for the thread that calls MPI, which may be caught in a call.
const ENDING: Duration = Duration::from_secs(6);

/// A failure of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The exit code.
    pub code: u8,
    /// Whether somebody asked the process to stop.
    pub stopped: bool,
    /// What a person needs to know.
    pub message: String,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Well, in every process; MPI has ended.
    Well,
    /// One process failed, and all end with its exit code. MPI has not ended: the process must end
    /// without running exit handlers (`_exit`), which would wait for it.
    Failed {
        /// The exit code.
        code: u8,
    },
}

/// What a process that ends hears.
enum News {
    /// One failed, and all know it.
    Failed(heartbeat::Failed),
    /// The job is over.
    Over(Outcome),
}

impl Job {
    /// Ends the job, once this process has cleaned up. Collective unless this process failed: then
    /// the others get to know it, from whatever they wait for. `tell` is called in one process of a
    /// failed job, that of the lowest rank of those that failed at first, with what a person needs
    /// to know, and before any process ends.
    pub fn end(self, result: Result<(), Failed>, tell: impl FnOnce(&str)) -> Ended {
        let (own, message) = match result {
            Ok(()) => (Own::Left, "stopped before the others were done".into()),
            Err(Failed {
                code,
                stopped,
                message,
            }) => (Own::Failed { code, stopped }, message),
        };
        self.shared.leave(own);
        let tell = |message: &str| tell(&format!("rank {}: {message}", self.rank));
        match self.news(true) {
            News::Over(Outcome::Well) => Ended::Well,
            News::Over(Outcome::Failed(by)) | News::Failed(by) => {
                // A silent rank was named when it was found.
                if by.rank == self.rank && !self.shared.found_silent() {
                    tell(&message);
                }
                self.shared.leave(Own::Done);
                // Whoever ends first has the others killed by the launcher.
                self.news(false);
                Ended::Failed { code: by.code }
            }
            News::Over(Outcome::Lost) => self.lost(own, &message, tell),
        }
    }

    /// The others cannot be reached.
    fn lost(&self, own: Own, message: &str, tell: impl FnOnce(&str)) -> Ended {
        if let Own::Failed { code, stopped } = own {
            // A launcher that stops all of them has said why; one of them is enough.
            if !stopped || self.rank == 0 {
                tell(message);
            }
            return Ended::Failed { code };
        }
        tell(&self.shared.error().to_string());
        Ended::Failed {
            code: self.codes.mpi,
        }
    }

    /// Waits for the end, or for a failure if that is news: as long as it takes while all is well,
    /// for a while once something failed.
    fn news(&self, failures: bool) -> News {
        let mut failing: Option<Instant> = None;
        let outcome = self.outcome.lock().expect("nobody else waits for the end");
        loop {
            match outcome.recv_timeout(LOOK) {
                Ok(outcome) => return News::Over(outcome),
                Err(RecvTimeoutError::Disconnected) => return News::Over(Outcome::Lost),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(failed) = self.shared.known().filter(|_| failures) {
                return News::Failed(failed);
            }
            if self.shared.own().0 != Own::Left || self.shared.is_cancelled() {
                failing.get_or_insert_with(Instant::now);
            }
            if failing.is_some_and(|since| since.elapsed() > ENDING) {
                return News::Over(Outcome::Lost);
            }
        }
    }
}
