//! Runs what was built where nothing else is: in an empty root, with the program and its data.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::{Result, steps};

/// A program that runs those of another processor, where it is installed.
const EMULATOR: &str = "/usr/bin/qemu-aarch64-static";

/// Where Debian has the glibc of that processor (`libc6-arm64-cross`).
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";

/// What is run, and what standard output must have.
const RUNS: [(&str, &str); 6] = [
    ("--version", env!("CARGO_PKG_VERSION")),
    ("doctor", "Gyrase can be used here"),
    ("demo", "Checks"),
    ("count genome.fa -k 21 -o sample.gyk --histo - -q", "1 "),
    (
        "db build genome.fa --taxonomy lineages.tsv -o refs.gydb -q",
        "",
    ),
    ("classify --db refs.gydb genome.fa -q", "C\tgenome\t"),
];

/// A taxonomy of one species, as GTDB writes it.
const LINEAGES: &str = "genome\td__Bacteria;p__P;c__C;o__O;f__F;g__Genus;s__Genus species\n";

/// Letters of the genome.
const LETTERS: usize = 20_000;

/// The exit code of a job that cannot be.
const NO_MPI: i32 = 8;

/// Runs a program for a target, where this machine can: a static one as all that there is.
pub fn run(program: &Path, target: &str) -> Result<()> {
    let is_own = target.starts_with(std::env::consts::ARCH);
    let is_static = target.ends_with("-musl");
    let has_libraries = is_static || Path::new(LIBRARIES).is_dir();
    if !(is_own || has_libraries && Path::new(EMULATOR).is_file()) {
        println!("not tried: nothing here runs programs for {target}");
        return Ok(());
    }
    let place = Place::new(target)?;
    place.fill(program, is_own)?;
    let start = |words: &[&str]| match is_static {
        true => place.in_root(is_own, words),
        false => place.in_folder(is_own, words),
    };
    for (words, expected) in RUNS {
        let words: Vec<&str> = words.split(' ').collect();
        expect(&mut start(&words), 0, expected)?;
    }
    if is_static {
        let mut one_of_two = start(&["count", "genome.fa", "-o", "another.gyk"]);
        one_of_two.envs([("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_RANK", "0")]);
        expect(&mut one_of_two, NO_MPI, "")?;
    }
    println!("runs{}", if is_static { " in an empty root" } else { "" });
    Ok(())
}

/// A folder of its own, which is gone when this is dropped.
struct Place(PathBuf);

impl Place {
    fn new(target: &str) -> Result<Place> {
        let folder = steps::target().join(format!("archives/trial-{target}"));
        // An earlier trial may have been killed.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Place(folder))
    }

    fn fill(&self, program: &Path, is_own: bool) -> Result<()> {
        let filled = || -> std::io::Result<()> {
            std::fs::copy(program, self.0.join("gyrase"))?;
            if !is_own {
                std::fs::copy(EMULATOR, self.0.join("emulator"))?;
            }
            std::fs::write(
                self.0.join("genome.fa"),
                format!(">genome\n{}\n", letters()),
            )?;
            std::fs::write(self.0.join("lineages.tsv"), LINEAGES)
        };
        filled().map_err(|error| format!("{}: {error}", self.0.display()))
    }

    /// The program as all that there is.
    fn in_root(&self, is_own: bool, words: &[&str]) -> Command {
        let is_root = steps::works(steps::command("chroot", &["/", "true"]));
        let mut command = if is_root {
            steps::command("chroot", &[])
        } else {
            steps::command("unshare", &["--map-root-user", "--root"])
        };
        command.arg(&self.0);
        if !is_own {
            command.arg("/emulator");
        }
        command.arg("/gyrase").args(words);
        command
    }

    /// The program in this system.
    fn in_folder(&self, is_own: bool, words: &[&str]) -> Command {
        let program = self.0.join("gyrase");
        let mut command = if is_own {
            Command::new(program)
        } else {
            let mut emulator = Command::new(EMULATOR);
            emulator.args(["-L", LIBRARIES]).arg(program);
            emulator
        };
        command.args(words).current_dir(&self.0);
        command
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What stays is removed by the next trial.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Random letters, always the same.
fn letters() -> String {
    let mut state = 1u64;
    let letter = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        char::from(b"ACGT"[(state >> 62) as usize])
    };
    (0..LETTERS).map(letter).collect()
}

/// Runs a command, which must end with this code and print these words.
fn expect(command: &mut Command, code: i32, words: &str) -> Result<()> {
    let output = run_to_end(command)?;
    let (said, wrong) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    match output.status.code() == Some(code) && said.contains(words) {
        true => Ok(()),
        false => Err(format!(
            "{command:?}: {}, not {code}: {said}{wrong}",
            output.status
        )),
    }
}

fn run_to_end(command: &mut Command) -> Result<Output> {
    let ended = command.output();
    ended.map_err(|error| format!("{command:?} could not start: {error}"))
}

/// What a program prints.
pub fn said(words: &[&OsStr]) -> Result<String> {
    let mut command = Command::new(words[0]);
    let output = run_to_end(command.args(&words[1..]).current_dir(steps::root()))?;
    match output.status.success() {
        true => String::from_utf8(output.stdout).map_err(|error| format!("{command:?}: {error}")),
        false => Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}
