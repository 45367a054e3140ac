//! A job of several processes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use gyrase_fabric::{FabricError, Steal};
use gyrase_work::Progress;
use tracing::info_span;

use crate::counters::Counters;
use crate::engine::{Engine, Outcome};
use crate::launch::{Launch, others};
use crate::mpi::Mpi;
use crate::tasks::{Heed, Reply, Shared, Task};
use crate::watchdog::Watchdog;
use crate::{ExitCodes, StartError, clock, setup, shim};

/// How often a process looks whether MPI has started.
const LOOK: Duration = Duration::from_millis(20);

/// One process among several, and the thread that calls MPI for it.
pub struct Job {
    pub(crate) rank: usize,
    pub(crate) ranks: usize,
    pub(crate) steal: Steal,
    library: String,
    shim: PathBuf,
    clock_offset: i64,
    pub(crate) codes: ExitCodes,
    pub(crate) shared: Arc<Shared>,
    pub(crate) outcome: Mutex<Receiver<Outcome>>,
    /// Collectives so far: the same number in every process.
    calls: AtomicU64,
    /// Mailboxes so far: the same number in every process.
    pub(crate) mailboxes: AtomicU64,
}

/// What the thread that calls MPI found when it had started.
struct Started {
    rank: usize,
    ranks: usize,
    clock_offset: i64,
}

/// Starts the job that this process is part of; `None` when it is the only process, and MPI is not
/// touched. MPI starts once all processes have come to it: until then `waiting` is called many
/// times a second, with the time so far.
///
/// # Errors
/// The launcher's MPI cannot be reached ([`StartError`]).
pub fn start(
    codes: ExitCodes,
    mut waiting: impl FnMut(Duration),
) -> Result<Option<Job>, StartError> {
    match Launch::of_this_process()? {
        Some(launch) => Job::start(&launch, codes, &mut waiting),
        None => Ok(None),
    }
}

impl Job {
    fn start(
        launch: &Launch,
        codes: ExitCodes,
        waiting: &mut dyn FnMut(Duration),
    ) -> Result<Option<Job>, StartError> {
        let path = launch.shim()?;
        let mismatch = |launched, found, library| mismatch(launched, found, library, &path);
        // Known before it is started: processes that meet no launcher of theirs each start one, and
        // may be in each other's way.
        if let (&[family], Some(launched)) = (launch.families, launch.ranks)
            && setup::family_of(&path).is_some_and(|other| other != family)
        {
            return Err(mismatch(launched, 1, shim::library(&path)?));
        }
        let shared = Arc::new(Shared::new());
        let (started, found) = sync_channel(1);
        let (ended, outcome) = sync_channel(1);
        let thread = thread::Builder::new().name("mpi".into());
        let (of_thread, shim) = (Arc::clone(&shared), path.clone());
        thread
            .spawn(move || call(shim, codes, of_thread, started, ended))
            .map_err(StartError::Thread)?;
        let lost = || StartError::Init {
            what: "its thread ended".into(),
        };
        let Started {
            rank,
            ranks,
            clock_offset,
        } = met(&found, &shared, waiting).unwrap_or_else(|| Err(lost()))?;
        let library = shim::library(&path)?;
        if let Some(launched) = launch.ranks.filter(|&launched| launched != ranks) {
            return Err(mismatch(launched, ranks, library));
        }
        let job = Job {
            rank,
            ranks,
            steal: Steal::On,
            library,
            shim: path,
            clock_offset,
            codes,
            shared,
            outcome: outcome.into(),
            calls: AtomicU64::new(0),
            mailboxes: AtomicU64::new(0),
        };
        if ranks == 1 {
            job.end(Ok(()), |_| ());
            return Ok(None);
        }
        Ok(Some(job))
    }

    /// Settles whom this process heeds: where `progress` is cancelled, what waits for other
    /// processes is given up. `stuck` is called, on another thread, when this process does not come
    /// to its end although the job has failed or was cancelled: it cleans up and exits with the
    /// code that it is given.
    pub fn heed(&self, progress: Arc<Progress>, stuck: impl FnOnce(u8) + Send + 'static) {
        self.shared.heed(Heed {
            progress: Some(progress),
            stuck: Some(Box::new(stuck)),
        });
    }

    /// Settles whose chunks this process takes, the same in all processes; [`Steal::On`] until
    /// then.
    pub fn steal(&mut self, steal: Steal) {
        self.steal = steal;
    }

    /// What the MPI calls itself.
    pub fn library(&self) -> &str {
        &self.library
    }

    /// The shim that was loaded.
    pub fn shim(&self) -> &Path {
        &self.shim
    }

    /// This process's monotonic clock minus that of rank 0, in nanoseconds.
    pub fn clock_offset(&self) -> i64 {
        self.clock_offset
    }

    /// What this process did through MPI so far.
    pub fn counters(&self) -> Counters {
        self.shared.counting.now()
    }

    /// Asks for a collective and waits for it.
    pub(crate) fn collective<T>(
        &self,
        call: &'static str,
        task: impl FnOnce(Reply<T>) -> Task,
    ) -> Result<T, FabricError> {
        let instance = self.calls.fetch_add(1, Relaxed);
        let _waits = info_span!(target: "gyrase::trace", "wait", at = "collective", call, instance)
            .entered();
        self.shared.ask(task)
    }
}

/// The launcher and the library at `path` are of different MPIs.
fn mismatch(launched: usize, found: usize, library: String, path: &Path) -> StartError {
    StartError::Mismatch {
        launched,
        found,
        path: path.to_path_buf(),
        library,
        others: others(path, &|name| std::env::var_os(name)),
    }
}

/// What the thread that calls MPI found; `None` if it ended before.
fn met(
    found: &Receiver<Result<Started, StartError>>,
    shared: &Shared,
    waiting: &mut dyn FnMut(Duration),
) -> Option<Result<Started, StartError>> {
    let since = Instant::now();
    loop {
        match found.recv_timeout(LOOK) {
            Ok(found) => return Some(found),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if shared.known().is_some() {
            let what = "a rank of the job is silent".into();
            return Some(Err(StartError::Init { what }));
        }
        waiting(since.elapsed());
    }
}

/// Looks after the other ranks, where the library lets a second thread call it.
fn watchdog(
    mpi: &Mpi,
    codes: ExitCodes,
    shared: &Arc<Shared>,
) -> Result<Option<Watchdog>, StartError> {
    if !mpi.takes_turns {
        return Ok(None);
    }
    let place = (mpi.rank, mpi.ranks);
    Watchdog::start(&mpi.shim, place, codes.mpi, Arc::clone(shared)).map_err(StartError::Thread)
}

/// The thread that calls MPI.
fn call(
    shim: PathBuf,
    codes: ExitCodes,
    shared: Arc<Shared>,
    started: SyncSender<Result<Started, StartError>>,
    ended: SyncSender<Outcome>,
) {
    let start = || Mpi::start(&shim, codes, Arc::clone(&shared.counting));
    let mpi = match info_span!(target: "gyrase::trace", "init").in_scope(start) {
        Ok(mpi) => mpi,
        Err(error) => {
            // Whoever started this thread waits for it.
            let _ = started.send(Err(error));
            return;
        }
    };
    let (rank, ranks) = (mpi.rank, mpi.ranks);
    let watchdog = match watchdog(&mpi, codes, &shared) {
        Ok(watchdog) => watchdog,
        Err(error) => {
            let _ = started.send(Err(error));
            return;
        }
    };
    let offset = clock::offset(&mpi).map_err(|error| StartError::Init {
        what: error.to_string(),
    });
    let works = offset.is_ok();
    let _ = started.send(offset.map(|clock_offset| Started {
        rank,
        ranks,
        clock_offset,
    }));
    if works {
        let outcome = Engine::new(mpi, shared, codes, watchdog).run();
        // Nobody waits for it where the process is about to exit.
        let _ = ended.send(outcome);
    }
}
