//! What CI and CONTRIBUTING call: `cargo xtask rules | tidy | test | mpi-matrix | mpi-hosts |
//! mpi-nfs | python | gpu | gpu-test | dist | bench`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for the terminal"
)]

mod crates;
mod dist;
mod functions;
mod gpu;
mod hosts;
mod levels;
mod masked;
mod modules;
mod mpi;
mod names;
mod nfs;
mod packages;
mod paths;
mod python;
mod scripts;
mod sources;
mod steps;
mod suite;
mod tidy;
mod widths;

use std::process::ExitCode;

use steps::Result;
use suite::Lane;

const HELP: &str = "\
cargo xtask rules         check the house rules alone: a second
cargo xtask tidy          check the house rules, the format and the lints
cargo xtask test          tidy and every test, 60 seconds of mutated input among them; what CI calls
cargo xtask test --quick  the house rules and the short tests, under 3 minutes: without lints,
                          mutated input, MPI, examples in comments; 16 cases of each random test
cargo xtask mpi-matrix    ranks, threads, MPI libraries, inputs, and the next two: an hour
cargo xtask mpi-hosts     MPIs of PyPI, and two hosts of namespaces
cargo xtask mpi-nfs       two hosts that write one output on NFS, in a user-mode kernel:
                          half an hour
cargo xtask python        the wheel: built, installed in a fresh environment, tested there
cargo xtask gpu           the library for GPUs, for all of them; takes no GPU
cargo xtask gpu-test [ARGS]  that library, tested and measured; takes a GPU (see bench/gpu)
cargo xtask dist [TARGET]  archives for releases, checked: see docs/installing.md
cargo xtask bench [ARGS]  compare with rivals (see bench/README.md)";

fn test(args: &[String]) -> Result<()> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        [] => suite::run(&Lane::Whole),
        ["--quick"] => suite::run(&Lane::Quick),
        _ => Err(HELP.to_string()),
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.first().map(String::as_str) {
        Some("rules") => tidy::rules(),
        Some("tidy") => tidy::run(),
        Some("test") => test(&args[1..]),
        Some("mpi-matrix") => mpi::matrix(),
        Some("mpi-hosts") => hosts::run(),
        Some("mpi-nfs") => nfs::run(&mpi::wanted().1),
        Some("python") => python::run(),
        Some("gpu") => gpu::build(),
        Some("gpu-test") => gpu::test(&args[1..]),
        Some("dist") => dist::run(&args[1..]),
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
