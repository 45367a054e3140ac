//! `cargo xtask tidy`: the house rules, executed.

use crate::{Result, levels, sources, steps};

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
    let root = steps::root();
    println!("== house rules");
    let mut found = levels::breaches()?;
    found.extend(sources::breaches(&root)?);
    found.extend(
        NEEDED
            .iter()
            .filter(|name| !root.join(name).is_file())
            .map(|name| format!("{name} is missing")),
    );
    if !found.is_empty() {
        return Err(format!(
            "{}\n{} breaches of the house rules",
            found.join("\n"),
            found.len()
        ));
    }
    for manifest in ["Cargo.toml", "fuzz/Cargo.toml"] {
        let manifest = ["--manifest-path", manifest];
        steps::succeed(
            steps::cargo(&[&["fmt", "--all", "--check"], &manifest[..]].concat()),
            "format",
        )?;
        let lints = ["--all-targets", "--quiet", "--", "-D", "warnings"];
        steps::succeed(
            steps::cargo(&[&["clippy", "--workspace"], &manifest[..], &lints].concat()),
            "lints",
        )?;
    }
    Ok(())
}
