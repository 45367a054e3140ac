//! Counting with the MPIs of PyPI, on this machine and on two hosts that are made of namespaces.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, steps};

/// An MPI that PyPI has.
struct Packaged {
    name: &'static str,
    packages: &'static [&'static str],
    /// Whose launcher it has.
    launcher: Launcher,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Launcher {
    OpenMpi,
    Hydra,
}

const PACKAGED: [Packaged; 3] = [
    Packaged {
        name: "Open MPI 5",
        packages: &["openmpi>=5"],
        launcher: Launcher::OpenMpi,
    },
    Packaged {
        name: "MPICH 5",
        packages: &["mpich>=5"],
        launcher: Launcher::Hydra,
    },
    Packaged {
        name: "Intel MPI",
        packages: &["impi-rt", "impi-devel"],
        launcher: Launcher::Hydra,
    },
];

/// What makes the hosts.
pub const HOSTS: &str = include_str!("hosts.sh");
const RANKS: [usize; 2] = [2, 4];

/// Counts with each MPI that can be installed; the databases must be that of one process.
pub fn run() -> Result<()> {
    println!("== MPIs of PyPI");
    steps::succeed(steps::cargo(&["build", "--package", "gyrase"]), "build")?;
    let site = Site {
        folder: steps::target().join("mpi-hosts"),
        gyrase: steps::target().join("debug/gyrase"),
    };
    site.prepare()?;
    for packaged in &PACKAGED {
        match site.install(packaged) {
            Ok(prefix) => site.count(packaged, &prefix)?,
            Err(why) => println!("{} is skipped: {why}", packaged.name),
        }
    }
    Ok(())
}

/// Where all of it happens.
struct Site {
    folder: PathBuf,
    gyrase: PathBuf,
}

impl Site {
    /// Makes reads, and counts them in one process.
    fn prepare(&self) -> Result<()> {
        std::fs::create_dir_all(self.folder.join("scratch")).map_err(|error| error.to_string())?;
        std::fs::write(self.folder.join("hosts.sh"), HOSTS).map_err(|error| error.to_string())?;
        for words in [
            "simulate genome -q -o g.fa --length 300000",
            "simulate reads -q g.fa -o r.fq --coverage 20",
            "count -q r.fq -o one.gyk",
        ] {
            let mut command = Command::new(&self.gyrase);
            command.args(words.split(' ')).current_dir(&self.folder);
            steps::succeed(command, words)?;
        }
        Ok(())
    }

    /// The folder of an MPI with its shim.
    fn install(&self, packaged: &Packaged) -> Result<PathBuf> {
        let prefix = self.folder.join(packaged.packages[0].replace(">=", "-"));
        if !prefix.join("bin/mpicc").exists() {
            let mut venv = Command::new("python3");
            venv.args(["-m", "venv"]).arg(&prefix);
            steps::succeed(venv, "a virtual environment")?;
            let mut pip = Command::new(prefix.join("bin/pip"));
            pip.args(["install", "-q"]).args(packaged.packages);
            steps::succeed(pip, "pip")?;
        }
        let mut setup = self.in_site(&prefix, &self.gyrase);
        let mpicc = prefix.join("bin/mpicc");
        setup.args(["mpi-setup", "--mpicc"]).arg(mpicc);
        steps::succeed(setup, "mpi-setup")?;
        Ok(prefix)
    }

    /// A program with the environment of an MPI.
    fn in_site(&self, prefix: &Path, program: &Path) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .current_dir(&self.folder)
            .env("PATH", format!("{}/bin:{path}", prefix.display()))
            .env("LD_LIBRARY_PATH", prefix.join("lib"))
            .env("I_MPI_ROOT", prefix)
            .env("FI_PROVIDER_PATH", prefix.join("lib"))
            .env("TMPDIR", self.folder.join("scratch"))
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("GYRASE_MPI_DIR", prefix.join("gyrase"));
        command
    }

    fn count(&self, packaged: &Packaged, prefix: &Path) -> Result<()> {
        let root = steps::works(steps::command(
            "unshare",
            &["--net", "--uts", "--mount", "true"],
        ));
        for hosts in [false, true] {
            if hosts && !root {
                println!(
                    "{} on two hosts is skipped: namespaces want root",
                    packaged.name
                );
                continue;
            }
            for ranks in RANKS {
                self.one(packaged, prefix, ranks, hosts)?;
            }
        }
        Ok(())
    }

    /// One job, whose database must be that of one process.
    fn one(&self, packaged: &Packaged, prefix: &Path, ranks: usize, hosts: bool) -> Result<()> {
        let output = self.folder.join("many.gyk");
        // There is none before the first job.
        let _ = std::fs::remove_file(&output);
        let shell = PathBuf::from(if hosts { "bash" } else { "env" });
        let mut command = self.in_site(prefix, &shell);
        if hosts {
            command.arg("hosts.sh").arg(&self.folder);
        }
        command.arg(prefix.join("bin/mpirun"));
        command.args(words(packaged.launcher, &self.folder, ranks, hosts));
        command.arg(&self.gyrase);
        command.args(["count", "-q", "-t", "1", "r.fq", "-o", "many.gyk"]);
        let on = if hosts { "two hosts" } else { "one machine" };
        let what = format!("{}, {ranks} ranks, {on}", packaged.name);
        steps::succeed(command, &what)?;
        let read = |name| std::fs::read(self.folder.join(name)).map_err(|error| error.to_string());
        if read("one.gyk")? != read("many.gyk")? {
            return Err(format!("{what}: other bytes than those of one process"));
        }
        println!("{what}: the bytes of one process");
        Ok(())
    }
}

/// What a launcher is told.
fn words(launcher: Launcher, folder: &Path, ranks: usize, hosts: bool) -> Vec<String> {
    let ssh = folder.join("ssh").display().to_string();
    let each = (ranks / 2).to_string();
    let told: Vec<String> = match (launcher, hosts) {
        (Launcher::OpenMpi, false) => {
            vec!["--oversubscribe".into(), "--bind-to".into(), "none".into()]
        }
        (Launcher::OpenMpi, true) => {
            let slots = format!("node1:{each},node2:{each}");
            let exports = ["TMPDIR", "GYRASE_MPI_DIR"].map(|name| ["-x".into(), name.into()]);
            [
                "--prtemca",
                "plm_ssh_agent",
                &ssh,
                "--host",
                &slots,
                "--bind-to",
                "none",
            ]
            .map(String::from)
            .into_iter()
            .chain(exports.concat())
            .collect()
        }
        (Launcher::Hydra, false) => Vec::new(),
        (Launcher::Hydra, true) => {
            let names = ["-bootstrap", "ssh", "-bootstrap-exec", &ssh];
            let hosts = ["-hosts", "node1,node2", "-ppn", &each];
            names.into_iter().chain(hosts).map(String::from).collect()
        }
    };
    told.into_iter()
        .chain(["-n".into(), ranks.to_string()])
        .collect()
}
