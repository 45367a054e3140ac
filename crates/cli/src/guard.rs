//! How a run ends: its exit code, and what is said of a failure or a panic.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use gyrase_fabric_mpi::Job;

use crate::failure::{Code, Result};
use crate::ranks;

/// Runs everything, says what went wrong, gives the exit code; a panic becomes an internal error. A
/// job ends in all its processes.
pub fn guard(job: Option<Arc<Job>>, run: impl FnOnce() -> Result<()>) -> u8 {
    panic::set_hook(Box::new(say_panic));
    let done = panic::catch_unwind(AssertUnwindSafe(run));
    if let Some(job) = job {
        return ranks::end(job, done);
    }
    let failure = match done {
        Ok(Ok(())) => return Code::Done as u8,
        Ok(Err(failure)) => failure,
        Err(_) => return Code::Internal as u8,
    };
    if failure.code != Code::Done {
        tracing::error!(exit_code = failure.code as u8, "{}", failure.message);
    }
    failure.code as u8
}

fn say_panic(info: &panic::PanicHookInfo<'_>) {
    let place = info.location().map_or_else(String::new, |place| {
        format!(" ({}:{})", place.file(), place.line())
    });
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let what = text
        .or_else(|| payload.downcast_ref().map(String::as_str))
        .unwrap_or("no message");
    tracing::error!(
        "Gyrase itself is at fault, not your data: {what}{place}. No output was published. Please \
         report this line at {}/issues.",
        env!("CARGO_PKG_REPOSITORY")
    );
}
