//! `cargo xtask python`: the wheel is built, installed in a fresh environment, and tested there.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Result, steps};

/// What frames of results are made with; their tests are skipped where one cannot be installed.
const FRAMES: [&str; 3] = ["pyarrow", "pandas", "polars"];

/// Builds and tests the wheel.
pub fn run() -> Result<()> {
    let (passed, failed) = test(&builder()?)?;
    if failed > 0 {
        return Err(format!("{passed} tests of Python passed, {failed} failed"));
    }
    println!("{passed} tests of Python passed");
    Ok(())
}

/// The interpreter that builds the wheel; the error says what is missing here.
pub fn builder() -> Result<PathBuf> {
    // Debian has `venv` without what it needs.
    let venv = steps::command("python3", &["-c", "import venv, ensurepip"]);
    if !steps::works(venv) {
        return Err("python3 with venv is missing: install python3 and python3-venv".into());
    }
    let python = environment(&folder().join("build"), false)?;
    install(&python, &["maturin>=1.9.4,<2"])?;
    Ok(python)
}

fn folder() -> PathBuf {
    steps::target().join("python")
}

/// Builds the wheel and tests it; gives how many tests passed and failed.
pub fn test(builder: &Path) -> Result<(u64, u64)> {
    let wheel = build(builder)?;
    let python = environment(&folder().join("fresh"), true)?;
    let with_tests = format!("{}[test]", wheel.display());
    install(&python, &[with_tests.as_str()])?;
    for package in FRAMES {
        if let Err(why) = install(&python, &[package]) {
            println!("{why}; the tests that need {package} are skipped");
        }
    }
    tests(&python)
}

/// The wheel, of the profile of tests: what cargo has built for those is not built again.
fn build(python: &Path) -> Result<PathBuf> {
    let wheels = folder().join("wheels");
    // Of an older version there may be one.
    let _ = std::fs::remove_dir_all(&wheels);
    let mut maturin = Command::new(python);
    maturin.args(["-m", "maturin", "build", "--locked", "--profile", "dev"]);
    maturin
        .arg("--manifest-path")
        .arg(steps::root().join("crates/python/Cargo.toml"));
    maturin
        .arg("--out")
        .arg(&wheels)
        .arg("--interpreter")
        .arg(python);
    maturin.env("CARGO_TARGET_DIR", steps::target());
    steps::succeed(maturin, "the wheel")?;
    let listed = std::fs::read_dir(&wheels).map_err(|error| error.to_string())?;
    let mut files = listed.filter_map(|entry| Some(entry.ok()?.path()));
    files.next().ok_or_else(|| "maturin made no wheel".into())
}

/// The interpreter of an environment below `target/`, made where there is none or it is to be
/// `fresh`.
pub fn environment(folder: &Path, fresh: bool) -> Result<PathBuf> {
    let python = folder.join("bin/python");
    if fresh
        || !steps::works(steps::command(
            &python.to_string_lossy(),
            &["-m", "pip", "-V"],
        ))
    {
        let mut venv = steps::command("python3", &["-m", "venv", "--clear"]);
        venv.arg(folder);
        steps::succeed(venv, "a virtual environment")?;
    }
    Ok(python)
}

pub fn install(python: &Path, packages: &[&str]) -> Result<()> {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "-q", "--disable-pip-version-check"]);
    pip.args(packages);
    steps::succeed(pip, &format!("pip install {}", packages.join(" ")))
}

/// Runs pytest where no source of the package is in the way of the installed one.
fn tests(python: &Path) -> Result<(u64, u64)> {
    println!("== tests of Python");
    let failed = |error: std::io::Error| format!("pytest: {error}");
    let mut pytest = Command::new(python);
    pytest
        .args(["-m", "pytest", "-p", "no:cacheprovider"])
        .current_dir(crate_folder());
    let mut child = pytest.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let stdout = child.stdout.take().ok_or("pytest has no output")?;
    let mut last = String::new();
    for line in BufReader::new(stdout).lines() {
        last = line.map_err(failed)?;
        println!("{last}");
    }
    let status = child.wait().map_err(failed)?;
    let (passed, mut failed) = sums(&last);
    if !status.success() {
        // One that could not even begin is in no sum.
        failed = failed.max(1);
    }
    Ok((passed, failed))
}

fn crate_folder() -> PathBuf {
    steps::root().join("crates/python")
}

/// Passed, and failed or ended by an error, of the last line of pytest.
fn sums(line: &str) -> (u64, u64) {
    let number = |word: &str| {
        let words: Vec<&str> = line
            .split([' ', ','])
            .filter(|word| !word.is_empty())
            .collect();
        let pairs = words.windows(2);
        let mut found = pairs.filter(|pair| pair[1] == word).map(|pair| pair[0]);
        found
            .next()
            .and_then(|number| number.parse().ok())
            .unwrap_or(0)
    };
    (
        number("passed"),
        number("failed") + number("error") + number("errors"),
    )
}

#[cfg(test)]
mod tests {
    use super::sums;

    #[test]
    fn reads_the_last_line_of_pytest() {
        assert_eq!(sums("61 passed in 12.30s"), (61, 0));
        assert_eq!(
            sums("1 failed, 60 passed, 2 skipped, 1 error in 9.00s"),
            (60, 2)
        );
        assert_eq!(sums("no tests ran in 0.01s"), (0, 0));
    }
}
