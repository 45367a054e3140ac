//! The program `gyrase`: its arguments go to the library, the library's exit code to the system.

use std::process::ExitCode;

fn main() -> ExitCode {
    gyrase_cli::run(std::env::args_os())
}
