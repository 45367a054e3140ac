//! Runs of verbs in this process.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use gyrase_cli::{Failure, exit_code, run_within};
use gyrase_work::Progress;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde_json::Value;

use crate::failure::raised;

/// How soon Ctrl-C is heard.
const LISTEN: Duration = Duration::from_millis(20);

/// How often progress is told.
const TELL: Duration = Duration::from_millis(100);

type Done = Result<Value, Failure>;

/// Runs the command line as the program would, and gives its exit code.
#[pyfunction]
pub fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| exit_code(args))
}

/// Runs a verb and gives its report as JSON. `tell` is called with finished units, all units (0
/// where that is not known) and what they are; what it raises stops the run, as Ctrl-C does. Ctrl-C
/// once more leaves it behind.
#[pyfunction]
pub fn run(py: Python<'_>, args: Vec<OsString>, tell: Option<Py<PyAny>>) -> PyResult<String> {
    let progress = Arc::new(Progress::default());
    let (sender, receiver) = mpsc::channel();
    let heard = Arc::clone(&progress);
    let worker = thread::Builder::new()
        .name("gyrase".into())
        .spawn(move || {
            // Nobody leaves before it is received.
            let _ = sender.send(run_within(args, heard));
        })?;
    let watched = watch(py, receiver, &progress, tell.as_ref());
    if watched.is_err() {
        progress.cancel();
        // What waits for a silent pipe does not hear: Ctrl-C once more leaves it behind.
        while !worker.is_finished() && py.check_signals().is_ok() {
            py.detach(|| thread::sleep(LISTEN));
        }
    }
    match watched? {
        Ok(report) => Ok(report.to_string()),
        Err(failure) => Err(raised(py, failure)),
    }
}

/// Waits for the end of the run, listens to signals, and tells how far it is.
fn watch(
    py: Python<'_>,
    mut receiver: Receiver<Done>,
    progress: &Progress,
    tell: Option<&Py<PyAny>>,
) -> PyResult<Done> {
    let mut told = Instant::now();
    loop {
        // It goes along, since threads cannot share it.
        let (back, waited) = py.detach(move || {
            let waited = receiver.recv_timeout(LISTEN);
            (receiver, waited)
        });
        receiver = back;
        py.check_signals()?;
        if let Some(tell) = tell
            && (told.elapsed() >= TELL || waited.is_ok())
        {
            told = Instant::now();
            let (stage, done, all) = progress.now();
            if !stage.is_empty() {
                tell.call1(py, (done, all, unit(stage)))?;
            }
        }
        match waited {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the thread of the run died"));
            }
        }
    }
}

/// What the units of a stage are.
fn unit(stage: &str) -> &'static str {
    match stage {
        "read" | "look up" | "cover" | "classify" => "bytes",
        "count" => "partitions",
        _ => "steps",
    }
}
