//! Starts jobs of several ranks, and sees to their end.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::place::Place;

/// The library that a job is started with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mpi {
    Open,
    Mpich,
}

/// The variable by which `cargo xtask test` says which libraries must be there, or `none`.
const WANTED: &str = "GYRASE_TEST_MPI";

/// How long a job with a fault may take on a busy machine, its work before the fault included.
pub const SOON: Duration = Duration::from_secs(60);

/// Whether every combination is tested, or a few in which all is once.
pub fn full() -> bool {
    std::env::var("GYRASE_MPI_MATRIX").is_ok_and(|value| value == "full")
}

impl Mpi {
    /// The libraries to test with; says which tests are skipped.
    pub fn all() -> Vec<Mpi> {
        let wanted = std::env::var(WANTED).unwrap_or_default();
        if wanted == "none" {
            return Vec::new();
        }
        let (there, missing): (Vec<_>, Vec<_>) = [Mpi::Open, Mpi::Mpich]
            .into_iter()
            .partition(|mpi| mpi.is_there());
        for mpi in missing {
            assert!(
                !wanted.split(',').any(|name| name == mpi.name()),
                "{} is wanted and not there",
                mpi.name()
            );
            eprintln!(
                "skipped with {}: {} or {} is missing",
                mpi.name(),
                mpi.compiler(),
                mpi.launcher()
            );
        }
        there
    }

    /// Each of some ways to test with a library: with all of them in the full matrix, else with
    /// one of them in turn.
    pub fn with_each<W: Copy>(ways: &[W]) -> Vec<(Mpi, W)> {
        let all = Mpi::all();
        let libraries = |number: usize| match (full(), all.len()) {
            (true, _) | (_, 0) => all.clone(),
            (false, there) => vec![all[number % there]],
        };
        let ways = ways.iter().enumerate();
        ways.flat_map(|(number, &way)| libraries(number).into_iter().map(move |mpi| (mpi, way)))
            .collect()
    }

    pub fn name(self) -> &'static str {
        match self {
            Mpi::Open => "openmpi",
            Mpi::Mpich => "mpich",
        }
    }

    pub fn compiler(self) -> String {
        format!("mpicc.{}", self.name())
    }

    pub fn launcher(self) -> String {
        format!("mpirun.{}", self.name())
    }

    fn is_there(self) -> bool {
        [self.compiler(), self.launcher()].iter().all(|program| {
            let mut command = Command::new(program);
            command
                .arg("--version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|end| end.success())
        })
    }

    /// Where the shim of this library is, built by `gyrase mpi-setup` once.
    pub fn shims(self) -> &'static Path {
        static SHIMS: [OnceLock<PathBuf>; 2] = [OnceLock::new(), OnceLock::new()];
        SHIMS[self as usize].get_or_init(|| {
            let folder =
                Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("shim-{}", self.name()));
            let _ = fs::remove_dir_all(&folder);
            let mut setup = Command::new(env!("CARGO_BIN_EXE_gyrase"));
            setup
                .args(["mpi-setup", "--mpicc", &self.compiler()])
                .env("GYRASE_MPI_DIR", &folder);
            let done = setup.output().unwrap();
            assert!(
                done.status.success(),
                "{}",
                String::from_utf8_lossy(&done.stderr)
            );
            folder
        })
    }

    /// The launcher for so many ranks of what follows, more than there are cores.
    pub fn run(self, ranks: usize) -> Command {
        let mut command = Command::new(self.launcher());
        if self == Mpi::Open {
            command.args(["--oversubscribe", "--bind-to", "none"]);
            command.envs([
                ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
                ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ]);
        }
        command
            .args(["-n", &ranks.to_string()])
            .env("GYRASE_MPI_DIR", self.shims());
        command
    }
}

/// A job of several ranks to be started in a place.
pub struct Job<'a> {
    place: &'a Place,
    mpi: Mpi,
    ranks: usize,
    /// Shell text for single ranks, run in the process that becomes the rank.
    before: Vec<(usize, String)>,
    /// Variables for all of them.
    variables: Vec<(&'static str, String)>,
    is_alone: bool,
}

/// Jobs that only have to end well run beside each other. One that is watched while it runs, or
/// whose ranks wait for each other for so long, runs alone: others would try its patience.
static TURNS: RwLock<()> = RwLock::new(());

/// How a job runs.
enum Turn {
    Alone(#[allow(dead_code, reason = "it is held")] RwLockWriteGuard<'static, ()>),
    Beside(#[allow(dead_code, reason = "it is held")] RwLockReadGuard<'static, ()>),
}

impl Turn {
    fn alone() -> Turn {
        Turn::Alone(TURNS.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn beside() -> Turn {
        Turn::Beside(TURNS.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<'a> Job<'a> {
    pub fn new(place: &'a Place, mpi: Mpi, ranks: usize) -> Job<'a> {
        Job {
            place,
            mpi,
            ranks,
            before: Vec::new(),
            variables: Vec::new(),
            is_alone: false,
        }
    }

    /// Has a rank run shell text first, such as `ulimit -f 8` or `cd elsewhere`.
    pub fn on(mut self, rank: usize, shell: impl Into<String>) -> Job<'a> {
        self.before.push((rank, shell.into()));
        self
    }

    /// Has every rank run shell text first.
    pub fn on_all(mut self, shell: &str) -> Job<'a> {
        self.before
            .extend((0..self.ranks).map(|rank| (rank, shell.to_owned())));
        self
    }

    /// Sets a variable of the environment of all ranks.
    pub fn variable(mut self, name: &'static str, value: impl Into<String>) -> Job<'a> {
        self.variables.push((name, value.into()));
        self
    }

    /// Has nothing run beside it: ranks are compared.
    pub fn alone(mut self) -> Job<'a> {
        self.is_alone = true;
        self
    }

    /// Starts the job, alone.
    pub fn start(self, args: &[&str]) -> Running {
        self.begin(args, Turn::alone())
    }

    fn begin(self, args: &[&str], turn: Turn) -> Running {
        let notes = tempfile::tempdir().unwrap();
        fs::write(notes.path().join("rank.sh"), self.script()).unwrap();
        let mut command = self.mpi.run(self.ranks);
        command
            .arg("bash")
            .arg(notes.path().join("rank.sh"))
            .arg(notes.path())
            .args(args);
        command
            .current_dir(self.place.path(""))
            .env("TMPDIR", self.place.path("tmp"));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let log = |name: &str| File::create(notes.path().join(name)).unwrap();
        command
            .stdin(Stdio::null())
            .stdout(log("stdout"))
            .stderr(log("stderr"))
            .process_group(0);
        let child = command.spawn().unwrap();
        Running {
            child,
            notes,
            since: Instant::now(),
            ranks: self.ranks,
            _turn: turn,
        }
    }

    /// Runs the job to its end, which must come in a minute or two even on a busy machine.
    pub fn run(self, args: &[&str]) -> Ended {
        let turn = if self.is_alone {
            Turn::alone()
        } else {
            Turn::beside()
        };
        let running = self.begin(args, turn);
        running.end_within(Duration::from_secs(120))
    }

    /// Runs the job, which must succeed.
    pub fn ok(self, args: &[&str]) -> String {
        let ended = self.run(args);
        assert_eq!(ended.code, 0, "{args:?}: {}", ended.stderr);
        ended.stderr
    }

    /// A script that notes the process of each rank, does what is asked of it, and becomes the
    /// program.
    fn script(&self) -> String {
        let mut script =
            String::from("notes=$1; shift\nrank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}\n");
        script += "echo $$ > \"$notes/pid-$rank\"\n";
        for (rank, shell) in &self.before {
            script += &format!("if [ $rank = {rank} ]; then {shell}\nfi\n");
        }
        format!("{script}exec {} \"$@\"\n", env!("CARGO_BIN_EXE_gyrase"))
    }
}

/// A job that runs.
pub struct Running {
    child: Child,
    notes: tempfile::TempDir,
    since: Instant,
    ranks: usize,
    _turn: Turn,
}

/// What a job said and how it ended.
#[derive(Debug)]
pub struct Ended {
    /// The launcher's exit code, or 128 and the number of the signal that ended it.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Running {
    /// The process of a rank, once it has one.
    pub fn process(&self, rank: usize) -> Option<String> {
        let text = fs::read_to_string(self.notes.path().join(format!("pid-{rank}"))).ok()?;
        Some(text.trim().to_owned()).filter(|process| !process.is_empty())
    }

    /// Sends a signal to a rank.
    pub fn signal_rank(&self, rank: usize, name: &str) {
        signal(&self.process(rank).expect("the rank runs"), name);
    }

    /// Sends a signal to the launcher.
    pub fn signal_launcher(&self, name: &str) {
        signal(&self.child.id().to_string(), name);
    }

    /// Waits until `ready`; false where the job ended before it was.
    pub fn wait_until(&mut self, ready: impl Fn() -> bool) -> bool {
        while self.child.try_wait().unwrap().is_none() {
            if ready() {
                return true;
            }
            assert!(
                self.since.elapsed() < Duration::from_secs(120),
                "neither ready nor at its end: {}",
                self.said()
            );
            sleep(Duration::from_millis(2));
        }
        false
    }

    fn said(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.notes.path().join("stderr")).unwrap()).into_owned()
    }

    /// Waits for the end, which must come in time: of the launcher and of every rank.
    pub fn end_within(mut self, time: Duration) -> Ended {
        let deadline = Instant::now() + time;
        while self.child.try_wait().unwrap().is_none() || self.alive() > 0 {
            assert!(
                Instant::now() < deadline,
                "did not end in {time:?}: {}",
                self.said()
            );
            sleep(Duration::from_millis(5));
        }
        let status = self.child.wait().unwrap();
        let stdout = fs::read_to_string(self.notes.path().join("stdout")).unwrap();
        let code = status.code().unwrap_or_else(|| {
            128 + std::os::unix::process::ExitStatusExt::signal(&status).unwrap()
        });
        Ended {
            code,
            stdout,
            stderr: self.said(),
        }
    }

    /// Ranks whose process is still there. One that is dead and not yet waited for has no command
    /// line.
    fn alive(&self) -> usize {
        let processes = (0..self.ranks).filter_map(|rank| self.process(rank));
        let lines =
            processes.filter_map(|process| fs::read(format!("/proc/{process}/cmdline")).ok());
        lines.filter(|line| !line.is_empty()).count()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Only a failed test leaves processes: none of them may outlive it.
        if self.alive() > 0 {
            let ranks = (0..self.ranks).filter_map(|rank| self.process(rank));
            ranks.for_each(|process| drop(Command::new("kill").args(["-KILL", &process]).status()));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn signal(process: &str, name: &str) {
    // The process may be gone already: then there is nothing to be told.
    let _ = Command::new("kill")
        .args([&format!("-{name}"), process])
        .stderr(Stdio::null())
        .status()
        .unwrap();
}

impl Ended {
    /// The messages of faults.
    pub fn errors(&self) -> Vec<&str> {
        self.stderr
            .lines()
            .filter(|line| line.starts_with("gyrase: error: "))
            .collect()
    }

    /// Checks that a fault ended the job with this code and one message, which has all of `words`.
    pub fn check(&self, code: i32, words: &[&str]) {
        let errors = self.errors();
        assert!(
            errors.len() == 1,
            "not one message but {}: {}",
            errors.len(),
            self.stderr
        );
        self.check_each(code, words);
    }

    /// Checks that ranks which never met each ended with this code and a message that has all of
    /// `words`.
    pub fn check_each(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}", self.stderr);
        let errors = self.errors();
        assert!(!errors.is_empty(), "no message: {}", self.stderr);
        for error in errors {
            for word in words {
                assert!(error.contains(word), "expected {word:?} in: {error}");
            }
        }
    }
}
