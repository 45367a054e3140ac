//! `cargo xtask test`: what CI runs.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::{Result, mpi, python, steps, tidy};

/// Seconds for which the fuzz targets' invariants are held against mutated input, all together.
const FUZZ_SECONDS: u32 = 15;

/// Cases of each random test, and in the fast lane.
const CASES: &str = "64";
const QUICK_CASES: &str = "16";

/// Tests that the fast lane leaves out, by parts of their names: they damage, kill, spill and
/// repeat with many threads, and take most of the time.
const LONG: [&str; 11] = [
    "skewed::",
    "resuming::",
    "ranks::",
    "sameness::",
    "spilling::",
    "stops::",
    "limits::",
    "foreign_databases",
    "keeps_the_contract",
    "what_does_not_fit_goes_to_disk",
    "every_flipped_bit",
];

/// Tests of the contract that run in a release build too: those in which a record may be lost where
/// no assertion looks.
const IN_RELEASE: [&str; 4] = [
    "keeps_the_contract_in_memory",
    "keeps_the_contract_on_disk",
    "keeps_the_contract_with_records_of_all_lengths",
    "keeps_the_contract_with_a_combiner",
];

/// Which tests to run.
pub enum Lane {
    /// All that CI runs.
    Whole,
    /// What tells most in the least time, while one works: no job of several processes.
    Quick,
}

/// Tidy and tests; ends with the line `N passed, N failed`.
pub fn run(lane: &Lane) -> Result<()> {
    prepare()?;
    let checks = match lane {
        Lane::Whole => vec![tidy::run(), contract()],
        Lane::Quick => vec![tidy::rules()],
    };
    let ([mut passed, mut failed], ended_well) = match lane {
        Lane::Whole => whole()?,
        Lane::Quick => tests(quick())?,
    };
    let mut complaints: Vec<String> = checks.into_iter().filter_map(|check| check.err()).collect();
    match of_python(lane) {
        Ok(sums) => (passed, failed) = (passed + sums.0, failed + sums.1),
        Err(complaint) => complaints.push(complaint),
    }
    if failed > 0 || !ended_well {
        complaints.push("not every test passed".into());
    }
    for complaint in &complaints {
        println!("{complaint}");
    }
    println!("{passed} passed, {failed} failed");
    if complaints.is_empty() {
        Ok(())
    } else {
        Err(complaints.join("; "))
    }
}

/// All tests: jobs of several processes wait for each other, and run beside the rest.
fn whole() -> Result<([u64; 2], bool)> {
    let build = steps::cargo(&["test", "--workspace", "--no-run"]);
    steps::succeed(build, "build of the tests")?;
    let (name, libraries) = mpi::wanted();
    let mut rest = steps::cargo(&["test", "--workspace", "--no-fail-fast"]);
    rest.env(name, &libraries);
    rest.env("GYRASE_FUZZ_SECONDS", FUZZ_SECONDS.to_string());
    rest.env("GYRASE_FUZZ_WITH", fuzzer());
    rest.env("PROPTEST_CASES", CASES);
    let mut jobs = steps::cargo(&["test", "--workspace", "--test", "mpi"]);
    jobs.env(name, libraries);
    let jobs = std::thread::spawn(|| tests(jobs));
    let (rest, rest_ended_well) = tests(rest)?;
    let (jobs, jobs_ended_well) = jobs.join().map_err(|_| "the tests under MPI panicked")??;
    let sums = [0, 1].map(|at| rest[at] + jobs[at]);
    Ok((sums, rest_ended_well && jobs_ended_well))
}

/// The short tests, without jobs of several processes.
fn quick() -> Command {
    let mut command = steps::cargo(&["test", "--workspace", "--no-fail-fast"]);
    command.args(["--lib", "--bins", "--tests", "--"]);
    command.args(LONG.iter().flat_map(|name| ["--skip", name]));
    command.env("PROPTEST_CASES", QUICK_CASES);
    command.env(mpi::WANTED, mpi::NONE);
    command
}

/// The tests of the package for Python, behind those of cargo: they take what those have built.
fn of_python(lane: &Lane) -> Result<(u64, u64)> {
    if matches!(lane, Lane::Quick) {
        return Ok((0, 0));
    }
    match python::builder() {
        Ok(builder) => python::test(&builder),
        Err(missing) => {
            println!("{missing}; the tests of Python are skipped");
            Ok((0, 0))
        }
    }
}

/// Installs what is missing where that is possible and names the package where it is not.
fn prepare() -> Result<()> {
    for part in ["fmt", "clippy"] {
        if !steps::works(steps::cargo(&[part, "--version"])) {
            let component = if part == "fmt" { "rustfmt" } else { part };
            steps::succeed(
                steps::command("rustup", &["component", "add", component]),
                component,
            )?;
        }
    }
    if !steps::works(steps::command("cc", &["--version"])) {
        return Err(
            "a C compiler is missing (zstd, bzip2 and xz need it): install gcc or clang".into(),
        );
    }
    Ok(())
}

/// What the fuzz targets' invariants are held against: libFuzzer's inputs where it is installed,
/// else those that the tests make themselves.
fn fuzzer() -> &'static str {
    if steps::works(steps::command("cargo", &["+nightly", "fuzz", "--version"])) {
        return "libfuzzer";
    }
    println!(
        "cargo-fuzz is not installed (cargo install cargo-fuzz); \
         the fuzz targets' tests mutate input by themselves"
    );
    "mutations"
}

/// The contract of the fabrics as it is shipped, without the assertions of a test build.
fn contract() -> Result<()> {
    println!("== the contract of the fabrics, in a release build");
    let mut command = steps::cargo(&["test", "--release", "-p", "gyrase-fabric"]);
    command.args(["--test", "fabric", "--test", "exchange", "--"]);
    command.args(IN_RELEASE);
    // What matters is that no assertion is left; the rest only takes longer to build.
    command.env("CARGO_PROFILE_RELEASE_LTO", "off");
    command.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
    steps::succeed(command, "the contract in a release build")
}

/// Runs tests; gives how many passed and how many failed, and whether cargo was content.
fn tests(mut command: Command) -> Result<([u64; 2], bool)> {
    println!("== tests");
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cargo test: {error}"))?;
    let stdout = child.stdout.take().ok_or("cargo test has no output")?;
    let (mut passed, mut failed) = (0, 0);
    for line in BufReader::new(stdout).lines() {
        let line = line.map_err(|error| format!("cargo test: {error}"))?;
        println!("{line}");
        if let Some(counts) = line.strip_prefix("test result: ") {
            passed += number_before(counts, " passed");
            failed += number_before(counts, " failed");
        }
    }
    let status = child
        .wait()
        .map_err(|error| format!("cargo test: {error}"))?;
    Ok(([passed, failed], status.success()))
}

/// The whole number that stands right before `word`.
fn number_before(text: &str, word: &str) -> u64 {
    let before = text.split(word).next().unwrap_or_default();
    before
        .rsplit(' ')
        .next()
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::number_before;

    #[test]
    fn reads_the_lines_of_cargo_test() {
        let line =
            "ok. 8 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        assert_eq!(
            (
                number_before(line, " passed"),
                number_before(line, " failed")
            ),
            (8, 2)
        );
    }
}
