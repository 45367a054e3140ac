//! Runs of a verb inside another program.

use std::cell::LazyCell;
use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::sleep;
use std::time::Duration;

use clap::Parser;
use gyrase_work::Progress;
use serde_json::Value;

use crate::cmd::{self, Cli};
use crate::failure::{self, Code, Failure, Result};
use crate::session::Session;
use crate::{habits, logs};

/// Runs of one process take turns: each may take the memory and the threads of the machine.
static TURN: Mutex<()> = Mutex::new(());

/// How soon a run that waits for its turn hears that it is cancelled.
const PATIENCE: Duration = Duration::from_millis(10);

/// Runs a verb of the command line within this program; the first of `args` is ignored. Gives what
/// `--report` would write: parameters, inputs, counts, stages, warnings.
///
/// It does what the program does, with the same bytes in the same files, but prints no messages,
/// installs no handler of signals, never ends the process, and joins no job of MPI. Another thread
/// may look at `progress`, and cancel it. Verbs that print their result print it here too. Runs of
/// one process wait for each other. The first run installs a logger that keeps warnings, unless
/// there is one.
///
/// # Errors
/// What the program would say, with its exit code: [`Code::Interrupted`] when `progress` was
/// cancelled, [`Code::Internal`] after a panic. Outputs appear whole or not at all, as ever.
///
/// ```
/// use std::ffi::OsString;
/// use std::sync::Arc;
///
/// use gyrase_cli::{Code, run_within};
/// use gyrase_work::Progress;
///
/// let folder = tempfile::tempdir()?;
/// let [reads, counted] = ["reads.fa", "sample.gyk"].map(|name| folder.path().join(name));
/// std::fs::write(&reads, ">r1\nGATTACA\n>r2\nTGTAATC\n")?;
/// let words = |k: &str| -> Vec<OsString> {
///     let files = ["-o".into(), counted.clone().into(), reads.clone().into()];
///     ["gyrase", "count", "-k", k].map(OsString::from).into_iter().chain(files).collect()
/// };
/// let report = run_within(words("5"), Arc::new(Progress::default()))?;
/// assert_eq!(report["counts"]["distinct"], 3);
/// let failure = run_within(words("200"), Arc::new(Progress::default())).unwrap_err();
/// assert_eq!(failure.code, Code::Usage);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run_within(
    args: impl IntoIterator<Item = OsString>,
    progress: Arc<Progress>,
) -> Result<Value> {
    let args: Vec<OsString> = args.into_iter().collect();
    let _turn = turn(&progress)?;
    match panic::catch_unwind(AssertUnwindSafe(|| verb(&args, Arc::clone(&progress)))) {
        Ok(Err(_)) if progress.is_cancelled() => Err(stopped()),
        Ok(done) => done,
        Err(panic) => Err(fault(&*panic)),
    }
}

fn verb(args: &[OsString], progress: Arc<Progress>) -> Result<Value> {
    let warnings = logs::keep();
    warnings.forget();
    let understood = habits::understood(args.iter().cloned());
    let cli = Cli::try_parse_from(&understood)
        .map_err(|error| failure::misuse(&error, habits::instead(&error, &understood)))?;
    let mut session = Session::within(&cli.common, progress, warnings)?;
    session.options = LazyCell::new(Box::new(move || habits::given(&understood)));
    let words: Vec<_> = args.iter().map(|word| word.to_string_lossy()).collect();
    session.note("command", words);
    let done = cmd::run(cli.command, &session);
    session.finish(done)?;
    session.report()
}

fn turn(progress: &Progress) -> Result<MutexGuard<'static, ()>> {
    loop {
        match TURN.try_lock() {
            Ok(turn) => return Ok(turn),
            Err(TryLockError::Poisoned(turn)) => return Ok(PoisonError::into_inner(turn)),
            Err(TryLockError::WouldBlock) if progress.is_cancelled() => return Err(stopped()),
            Err(TryLockError::WouldBlock) => sleep(PATIENCE),
        }
    }
}

fn stopped() -> Failure {
    let message = "stopped as asked; nothing unfinished was published";
    Failure::new(Code::Interrupted, message)
}

fn fault(panic: &(dyn std::any::Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().copied();
    let what = text
        .or_else(|| panic.downcast_ref().map(String::as_str))
        .unwrap_or("no message");
    let who = "Gyrase itself is at fault, not your data";
    Failure::new(
        Code::Internal,
        format!(
            "{who}: {what}; please report this at {}/issues",
            env!("CARGO_PKG_REPOSITORY")
        ),
    )
}
