//! The MPIs of this machine: their shims, made for the test, and their launchers.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use gyrase_fabric_mpi::setup;

/// Names the part that a process of a job plays.
pub const PART: &str = "GYRASE_TEST_PART";

/// How often a run is looked at.
const LOOK: Duration = Duration::from_millis(10);
/// No run is looked at as often unless it hangs. Times would count while the machine sleeps.
const HANGS: usize = 6000;

/// Compiler and launcher by the names that they have where several MPIs are installed, then those
/// of the only one.
const NAMES: [(&str, &str); 3] = [
    ("mpicc.openmpi", "mpirun.openmpi"),
    ("mpicc.mpich", "mpirun.mpich"),
    ("mpicc", "mpirun"),
];

/// An MPI with its shim.
pub struct Site {
    /// Its launcher.
    pub name: &'static str,
    /// In one folder with that of the others.
    pub shim: PathBuf,
}

/// What a job printed, and how it ended.
pub struct Run {
    /// The exit code of the launcher.
    pub code: Option<i32>,
    /// Everything that it printed.
    pub all: String,
}

impl Run {
    /// How many lines have `text`.
    pub fn lines(&self, text: &str) -> usize {
        self.all.lines().filter(|line| line.contains(text)).count()
    }
}

/// The MPIs of this machine.
pub fn sites(folder: &Path) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::new();
    if std::env::var("GYRASE_TEST_MPI").is_ok_and(|wanted| wanted == "none") {
        println!("jobs of several processes are not wanted");
        return sites;
    }
    for (mpicc, mpirun) in NAMES {
        if mpicc == "mpicc" && !sites.is_empty() {
            continue;
        }
        match setup(Path::new(mpicc), folder) {
            Ok(installed) if is_there(mpirun) => {
                println!("{mpirun}: {}", installed.library);
                sites.push(Site {
                    name: mpirun,
                    shim: installed.path,
                });
            }
            Ok(_) => println!("{mpirun} is skipped: it is not installed"),
            Err(error) => println!("{mpicc} is skipped: {error}"),
        }
    }
    sites
}

fn is_there(program: &str) -> bool {
    let mut version = Command::new(program);
    version
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}

impl Site {
    /// Plays a part on so many ranks.
    pub fn run(&self, part: &str, ranks: usize) -> Run {
        self.start(part, ranks, &self.shim)
    }

    /// Plays a part with the shim of another MPI.
    pub fn with_shim_of(&self, other: &Site, ranks: usize) -> Run {
        self.start("everything", ranks, &other.shim)
    }

    /// Plays a part where nobody ran `gyrase mpi-setup`.
    pub fn without_shim(&self, ranks: usize) -> Run {
        let mut command = self.command("everything", ranks);
        command
            .env_remove("GYRASE_MPI_SHIM")
            .env("GYRASE_MPI_DIR", "/nowhere")
            .env("XDG_DATA_HOME", "/nowhere");
        finish(command)
    }

    /// Plays a part where the launcher does not say of which MPI it is, and the shims of all are
    /// installed.
    pub fn as_under_srun(&self, part: &str, ranks: usize) -> Run {
        let mut command = self.launcher(part, ranks);
        command.arg("env");
        for name in ["OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS", "HYDI_CONTROL_FD"] {
            command.args(["-u", name]);
        }
        command
            .args(["SLURM_PROCID=0", &format!("SLURM_STEP_NUM_TASKS={ranks}")])
            .arg(this_program());
        finish(command)
    }

    fn start(&self, part: &str, ranks: usize, shim: &Path) -> Run {
        let mut command = self.command(part, ranks);
        command.env("GYRASE_MPI_SHIM", shim);
        finish(command)
    }

    fn command(&self, part: &str, ranks: usize) -> Command {
        let mut command = self.launcher(part, ranks);
        command.arg(this_program());
        command
    }

    fn launcher(&self, part: &str, ranks: usize) -> Command {
        let mut command = Command::new(self.name);
        // Open MPI refuses more ranks than cores, and the administrator, unless it is told.
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
            command.env(name, "1");
        }
        command
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
            .env(PART, part);
        command.env(
            "GYRASE_MPI_DIR",
            self.shim.parent().expect("a shim is in a folder"),
        );
        command.args(["-n", &ranks.to_string()]);
        command
    }
}

fn this_program() -> PathBuf {
    std::env::current_exe().expect("this program has a path")
}

fn finish(mut command: Command) -> Run {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .expect("a launcher that is installed starts");
    let texts = [reader(child.stdout.take()), reader(child.stderr.take())];
    let code = wait(&mut child);
    let all: Vec<_> = texts
        .map(|text| text.join().expect("a reader does not panic"))
        .into();
    Run {
        code,
        all: all.concat(),
    }
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut text = Vec::new();
        // What a killed launcher leaves unsaid is missing, and the test says so.
        pipe.map(|mut pipe| pipe.read_to_end(&mut text));
        String::from_utf8_lossy(&text).into_owned()
    })
}

fn wait(child: &mut Child) -> Option<i32> {
    for _ in 0..HANGS {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return status.code();
        }
        thread::sleep(LOOK);
    }
    child.kill().expect("a child that hangs can be killed");
    None
}
