//! The command line of Gyrase: arguments become a library's `Config`, the library runs, the result
//! is printed.
//!
//! [`run_within`] is a run of a verb inside another program, such as a Python interpreter: nothing
//! is printed, no signal is caught, and failures are values. [`run`] is a whole run of the program.
//! What a verb does is in the libraries: whoever wants the counts, and not the words about them,
//! calls `gyrase_count::run`.
//!
//! ```
//! use std::ffi::OsString;
//! use std::process::ExitCode;
//!
//! let folder = tempfile::tempdir()?;
//! let [reads, counted] = ["reads.fa", "sample.gyk"].map(|name| folder.path().join(name));
//! std::fs::write(&reads, ">r1\nGATTACA\n>r2\nTGTAATC\n")?;
//! let words = ["gyrase", "count", "-k", "5", "--quiet", "-o"].map(OsString::from);
//! let files = [counted.clone(), reads].map(OsString::from);
//! let code = gyrase_cli::run(words.into_iter().chain(files));
//! assert_eq!(code, ExitCode::SUCCESS);
//! assert!(counted.exists());
//! # Ok::<(), std::io::Error>(())
//! ```
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is the one crate that talks to people"
)]

mod args;
mod cmd;
mod errors;
mod failure;
mod gpu;
mod guard;
mod habits;
mod logs;
mod multiqc;
mod places;
mod ranks;
mod report;
mod session;
mod show;
mod signals;
mod sink;
mod size;
mod texts;
mod trace;
mod within;

use std::cell::LazyCell;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use gyrase_fabric_mpi::clock;
use gyrase_trace::Tracer;

pub use failure::{Code, Failure};
pub use within::run_within;

/// Runs the program once with `args`, whose first is its name.
///
/// It installs the logger of the process and listens to its signals, so a process runs it once.
/// What went wrong is said on standard error; `docs/errors.md` lists the exit codes.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    exit_code(args).into()
}

/// [`run`], for a process that is not ours: it gives the exit code as a number, and leaves nothing
/// unsaid on standard output.
pub fn exit_code(args: impl IntoIterator<Item = OsString>) -> u8 {
    let code = end_of_run(args);
    // Whoever closed the pipe has seen enough.
    let _ = std::io::stdout().flush();
    code
}

fn end_of_run(args: impl IntoIterator<Item = OsString>) -> u8 {
    gyrase_work::give_back_what_is_freed();
    let args = habits::understood(args);
    let cli = match cmd::Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => {
            let json = habits::ask_for_json(&args);
            if json {
                logs::install_objects(ranks::rank());
            }
            return failure::usage(&error, habits::instead(&error, &args), json);
        }
    };
    let (rank, tracer) = (
        ranks::rank(),
        cli.common
            .trace
            .is_some()
            .then(|| Tracer::new(clock::now())),
    );
    let warnings = logs::install(&cli.common, tracer.as_ref(), rank);
    let job = match ranks::start(cli.command.processes()) {
        Ok(job) => job,
        Err(failure) => return ranks::refuse(rank, &failure),
    };
    guard::guard(job.clone(), || {
        let mut session = session::Session::start(&cli.common, tracer, warnings, job)?;
        session.options = LazyCell::new(Box::new(move || habits::given(&args)));
        let done = cmd::run(cli.command, &session);
        session.finish(done)
    })
}
