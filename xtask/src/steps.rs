//! Commands that other programs carry out.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What went wrong, for a person.
pub type Result<T> = std::result::Result<T, String>;

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(PathBuf::from).unwrap_or(here)
}

/// Where cargo puts what it makes, for both workspaces: what they have in common is built once.
pub fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    root().join(target)
}

/// A command that runs in the root of the repository.
pub fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command
}

/// The `cargo` that runs this.
pub fn cargo(args: &[&str]) -> Command {
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut command = command(&program, args);
    command.env("CARGO_TARGET_DIR", target());
    command
}

/// Runs a command to its end; its failure is named by `what`.
pub fn succeed(mut command: Command, what: &str) -> Result<()> {
    println!("== {what}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what} failed ({status})")),
        Err(error) => Err(format!("{what} could not start: {error}")),
    }
}

/// True when a command can be run and succeeds, without showing what it says.
pub fn works(mut command: Command) -> bool {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Compares with rivals.
pub fn bench(args: &[String]) -> Result<()> {
    let mut script = command("bash", &["bench/run"]);
    script.args(args);
    succeed(script, "bench")
}
