//! Counting with several processes, as a user starts them: the bytes of one process, whatever the
//! ranks, and faults that end well.
//!
//! The tests use the MPI libraries that they find (`cargo xtask test` installs them); without one
//! they say that they are skipped.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a helper of a test is a test"
)]

mod classify;
mod environment;
mod faults;
mod inputs;
mod launch;
mod looking;
mod matrix;
mod network_files;
#[allow(dead_code, reason = "shared with the tests of one process")]
#[path = "../end_to_end/place.rs"]
mod place;
mod search;
mod stealing;
mod stops;
mod suffix;
mod unitigs;
