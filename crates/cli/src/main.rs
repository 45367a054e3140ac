//! The command line of Gyrase: arguments become a library's `Config`, the library runs, the result
//! is printed.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is the one crate that talks to people"
)]

mod args;
mod cmd;
mod errors;
mod failure;
mod logs;
mod machine;
mod places;
mod ranks;
mod report;
mod session;
mod show;
mod signals;
mod sink;
mod size;
mod trace;
mod words;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::usage(&error),
    };
    let (rank, tracer) = (
        ranks::rank(),
        cli.common.trace.is_some().then(trace::Tracer::new),
    );
    logs::install(&cli.common, tracer.as_ref(), rank);
    let job = match ranks::start(cli.command.processes()) {
        Ok(job) => job,
        Err(failure) => return ranks::refuse(rank, &failure),
    };
    failure::guard(job.clone(), || {
        let session = session::Session::start(&cli.common, tracer, job)?;
        let done = cmd::run(cli.command, &session);
        session.finish(done)
    })
}
