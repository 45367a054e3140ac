//! `cargo xtask tidy`: the house rules, executed.

use crate::{Result, crates, levels, sources, steps};

const NEEDED: [&str; 9] = [
    "README.md",
    "ARCHITECTURE.md",
    "VOCABULARY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "Cargo.lock",
];

/// Checks everything that can be checked without running the program.
pub fn run() -> Result<()> {
    rules()?;
    steps::succeed(steps::cargo(&["fmt", "--all", "--check"]), "format")?;
    // The tests under MPI run by their name alone, and so are not among all targets.
    for targets in ["--all-targets", "--test=mpi"] {
        let mut lints = steps::cargo(&["clippy", "--workspace", "--quiet", targets]);
        lints.args(["--", "-D", "warnings"]);
        steps::succeed(lints, "lints")?;
    }
    Ok(())
}

/// Checks what can be read off the sources.
pub fn rules() -> Result<()> {
    println!("== house rules");
    let root = steps::root();
    let files = sources::read(&root)?;
    let missing = NEEDED.iter().filter(|name| !root.join(name).is_file());
    let mut found: Vec<String> = missing.map(|name| format!("{name} is missing")).collect();
    found.extend(levels::breaches()?);
    found.extend(crates::breaches(&files));
    for (name, text) in &files {
        found.extend(sources::breaches(&root, name, text));
    }
    if found.is_empty() {
        return Ok(());
    }
    let count = found.len();
    found.push(format!("{count} breaches of the house rules"));
    Err(found.join("\n"))
}
