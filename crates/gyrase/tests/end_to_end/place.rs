//! A folder of a test, and the program run in it.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A folder that goes away with the test; temporary files of the program go to `tmp` in it.
pub struct Place {
    folder: tempfile::TempDir,
}

/// What a run said and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Place {
        let place = Place {
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(place.path("tmp")).unwrap();
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// Writes what nobody else may read.
    pub fn write_secret(&self, name: &str, bytes: impl AsRef<[u8]>) {
        use std::os::unix::fs::PermissionsExt;
        self.write(name, bytes);
        let own = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(self.path(name), own).unwrap();
    }

    /// Makes a named pipe.
    pub fn pipe(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let made = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        path
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    /// The files of the folder and of `tmp`, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = [self.path(""), self.path("tmp")]
            .iter()
            .flat_map(|folder| std::fs::read_dir(folder).unwrap())
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|name| name != "tmp")
            .collect();
        names.sort();
        names
    }

    /// The program, to be run in the folder.
    pub fn command(&self, args: &[&str]) -> Command {
        self.set_up(Command::new(env!("CARGO_BIN_EXE_gyrase")), args)
    }

    /// The program behind `shell` text such as `ulimit -f 8`.
    pub fn limited(&self, limit: &str, args: &[&str]) -> Ran {
        ran(self.behind(limit, args).output().unwrap())
    }

    /// The program behind such text, in the same process, to be run in the folder.
    pub fn behind(&self, shell: &str, args: &[&str]) -> Command {
        let mut command = Command::new("bash");
        command.args([
            "-c",
            &format!("{shell} && exec \"$@\""),
            "-",
            env!("CARGO_BIN_EXE_gyrase"),
        ]);
        self.set_up(command, args)
    }

    fn set_up(&self, mut command: Command, args: &[impl AsRef<OsStr>]) -> Command {
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("TMPDIR", self.path("tmp"))
            .stdin(Stdio::null());
        command
    }

    /// Runs the program as the first of so many processes that a launcher started on a machine
    /// where MPI was not set up.
    pub fn launched(&self, processes: usize, args: &[&str]) -> Ran {
        let mut command = self.command(args);
        command
            .env("OMPI_COMM_WORLD_SIZE", processes.to_string())
            .env("OMPI_COMM_WORLD_RANK", "0");
        for name in [
            "XDG_DATA_HOME",
            "GYRASE_MPI_DIR",
            "GYRASE_MPI_SHIM",
            "GYRASE_MPI",
        ] {
            command.env_remove(name);
        }
        ran(command.env("HOME", self.path("tmp")).output().unwrap())
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        ran(self.command(args).output().unwrap())
    }

    /// Runs the program, which must succeed; what it printed.
    pub fn ok(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        ran.stdout
    }

    /// Runs the program, which must end with `code` and say all of `words`, and leave `files`.
    pub fn fails(&self, args: &[&str], code: i32, words: &[&str]) {
        let before = self.files();
        self.check_failure(self.run(args), code, words, &before);
    }

    pub fn check_failure(&self, ran: Ran, code: i32, words: &[&str], files: &[String]) {
        assert_eq!(ran.code, code, "{}", ran.stderr);
        for word in words {
            assert!(
                ran.stderr.contains(word),
                "expected {word:?} in: {}",
                ran.stderr
            );
        }
        assert_eq!(self.files(), files, "{}", ran.stderr);
    }

    /// Two files of mates of a small genome `g.fa`: `r_1.fq`, `r_2.fq`.
    pub fn simulate(&self, length: &str, coverage: &str) {
        let repeats = [
            "--repeat-families",
            "2",
            "--repeat-copies",
            "4",
            "--repeat-length",
            "100",
        ];
        self.ok(&[
            &["-q", "simulate", "genome", "-o", "g.fa", "--length", length],
            &repeats[..],
        ]
        .concat());
        let reads = [
            "-o",
            "r_1.fq",
            "--out2",
            "r_2.fq",
            "--coverage",
            coverage,
            "--error-rate",
            "0.01",
        ];
        self.ok(&[&["-q", "simulate", "reads", "g.fa"], &reads[..]].concat());
    }

    /// Such files with more super-k-mers than a run with [`Place::least_memory`] holds in memory.
    pub fn simulate_much(&self) {
        self.simulate("500000", "60");
    }

    /// The least `--memory` that a count with so many threads accepts: it has to spill.
    pub fn least_memory(&self, threads: usize) -> String {
        let report = self.path("least.json");
        let args = [
            "plan",
            "count",
            "r_1.fq",
            "-t",
            &threads.to_string(),
            "--report",
            &report.to_string_lossy(),
        ];
        self.ok(&args);
        let least = self.json("least.json")["bytes"]["least_memory"]
            .as_u64()
            .unwrap();
        std::fs::remove_file(report).unwrap();
        least.to_string()
    }
}

pub fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// gzip in one member, as `gzip` writes it.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
