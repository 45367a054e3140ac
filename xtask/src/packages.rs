//! Packages of a distribution of Debian's family, installed where that is possible.

use std::process::Command;

use crate::steps;

/// Seconds that an installation may take: a mirror that does not answer must not hold the tests up.
const PATIENCE: &str = "180";

/// Tries to, for the purpose that is named; nobody depends on whether it worked.
pub fn install(packages: &[&str], purpose: &str) {
    let update = apt(&["update", "-q"]);
    let tries = [
        update,
        apt(&[
            &["install", "-y", "-q", "--no-install-recommends"],
            packages,
        ]
        .concat()),
    ];
    for command in tries {
        if let Err(why) = steps::succeed(command, &format!("apt-get, for {purpose}")) {
            return println!("{why}");
        }
    }
}

/// `apt-get`, as root, that asks nothing and gives up in time.
fn apt(args: &[&str]) -> Command {
    let root = steps::works(steps::command("sh", &["-c", "test \"$(id -u)\" -eq 0"]));
    let mut words = vec![
        "env",
        "DEBIAN_FRONTEND=noninteractive",
        "timeout",
        PATIENCE,
        "apt-get",
    ];
    if !root {
        words.splice(0..0, ["sudo", "-n"]);
    }
    words.extend([
        "-o",
        "Acquire::Retries=0",
        "-o",
        "Acquire::http::Timeout=20",
        "-o",
        "DPkg::Lock::Timeout=60",
    ]);
    let mut command = steps::command(words[0], &words[1..]);
    command.args(args);
    command
}
