//! What CI and CONTRIBUTING call: `cargo xtask tidy | test | mpi-matrix | bench`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for the terminal"
)]

mod levels;
mod mpi;
mod sources;
mod steps;
mod suite;
mod tidy;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask tidy          check the house rules, the format and the lints
cargo xtask test          tidy, every test, and the 60-second fuzz smoke run; what CI calls
cargo xtask mpi-matrix    every combination of ranks, threads, MPI libraries and inputs: a quarter of an hour
cargo xtask bench [ARGS]  compare with rivals (see bench/README.md)";

/// What went wrong, for a person.
type Result<T> = std::result::Result<T, String>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.first().map(String::as_str) {
        Some("tidy") => tidy::run(),
        Some("test") => suite::run(),
        Some("mpi-matrix") => mpi::matrix(),
        Some("bench") => steps::bench(&args[1..]),
        _ => Err(HELP.to_string()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
