//! Signals: the first asks the run to stop and clean up, the second ends it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::SeqCst};
use std::thread;

use gyrase_work::Progress;
use gyrase_work::machine;
use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::failure::Code;

/// The signal that asked this run to stop, if one did.
#[derive(Clone, Default)]
pub struct Asked(Arc<AtomicI32>);

impl Asked {
    /// The exit code of that signal.
    pub fn code(&self) -> Option<Code> {
        exit_code(self.0.load(SeqCst))
    }
}

fn exit_code(signal: i32) -> Option<Code> {
    match signal {
        SIGHUP => Some(Code::HangUp),
        SIGINT => Some(Code::Interrupted),
        SIGTERM => Some(Code::Terminated),
        _ => None,
    }
}

/// Listens from now on.
/// Where MPI runs in this process, `exit` must not wait for others.
pub fn listen(progress: Arc<Progress>, exit: fn(i32) -> !) -> io::Result<Asked> {
    // With a handler in place a write beyond `ulimit -f` is an error that we can name, not a sudden
    // death.
    flag::register(SIGXFSZ, Arc::default())?;
    // The allocator aborts when it gets no memory; it has said how much it wanted by then.
    flag::register_conditional_shutdown(
        SIGABRT,
        Code::Memory as i32,
        Arc::new(AtomicBool::new(true)),
    )?;
    // Who starts a run with `nohup` wants it to outlive the terminal.
    let hang_up = (!machine::ignores(SIGHUP)).then_some(SIGHUP);
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hang_up))?;
    let asked = Asked::default();
    let heard = asked.clone();
    thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for signal in signals.forever() {
                let first = heard.0.swap(signal, SeqCst) == 0;
                // Nothing that could stop by itself has begun, or the person insists.
                if !first || progress.stages().is_empty() {
                    gyrase_files::remove_unfinished();
                    exit(exit_code(signal).map_or(1, |code| code as i32));
                }
                progress.cancel();
                tracing::info!("stopping and removing temporary files (once more to stop at once)");
            }
        })?;
    Ok(asked)
}
