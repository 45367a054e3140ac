//! Tells the program which commit it is built from: of the checkout, else of the archive.
//!
//! No build fails for want of it: `--version` then tells the version alone.

use std::path::Path;
use std::process::Command;

/// What `git archive`, and so the archives of GitHub, fill in.
const ARCHIVED: &str = "commit.txt";

/// What `cargo package` leaves in a crate.
const PACKAGED: &str = ".cargo_vcs_info.json";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let told = match checkout().or_else(archive).or_else(package) {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    };
    println!("cargo::rustc-env=GYRASE_VERSION={told}");
}

/// The commit of this checkout, and its day; of no other repository that happens to lie around it.
fn checkout() -> Option<String> {
    if git(&["rev-parse", "--show-prefix"])? != "crates/cli/" {
        return None;
    }
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    for file in ["HEAD", "logs/HEAD"] {
        // One that is missing would have everything built again each time.
        if let Some(path) = git(&["rev-parse", "--git-path", file]).filter(|path| is_there(path)) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["log", "-1", "--format=%h, %cs", "--abbrev=7"])
}

fn is_there(path: &str) -> bool {
    Path::new(path).exists()
}

fn git(args: &[&str]) -> Option<String> {
    let done = Command::new("git").args(args).output().ok()?;
    let said = String::from_utf8(done.stdout).ok()?;
    done.status.success().then(|| said.trim().to_string())
}

/// The commit of the archive that this was unpacked from.
fn archive() -> Option<String> {
    println!("cargo::rerun-if-changed={ARCHIVED}");
    let said = std::fs::read_to_string(ARCHIVED).ok()?;
    let commit = said.lines().next()?.trim();
    (!commit.starts_with('$')).then(|| commit.to_string())
}

/// The commit of the crate as it was published, which says no day.
fn package() -> Option<String> {
    let said = std::fs::read_to_string(PACKAGED).ok()?;
    let (_, behind) = said.split_once("\"sha1\"")?;
    let commit = behind.split('"').nth(1)?;
    commit.get(..7).map(String::from)
}
