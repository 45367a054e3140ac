//! The MPI libraries that the tests want: installed where that is possible, named where it is not.

use crate::{Result, hosts, nfs, packages, steps};

/// An MPI and what a distribution of Debian's family calls it.
struct Library {
    /// As the tests know it.
    name: &'static str,
    compiler: &'static str,
    launcher: &'static str,
    packages: [&'static str; 2],
}

const LIBRARIES: [Library; 2] = [
    Library {
        name: "openmpi",
        compiler: "mpicc.openmpi",
        launcher: "mpirun.openmpi",
        packages: ["libopenmpi-dev", "openmpi-bin"],
    },
    Library {
        name: "mpich",
        compiler: "mpicc.mpich",
        launcher: "mpirun.mpich",
        packages: ["libmpich-dev", "mpich"],
    },
];

/// The tests that need an MPI that is named here fail where it is missing; without the variable
/// they are skipped.
pub const WANTED: &str = "GYRASE_TEST_MPI";

/// What it says where jobs are not to be started.
pub const NONE: &str = "none";

/// Installs what is missing where that is possible, and says which tests are skipped where it is
/// not. What is there is named to the tests, which then must find it.
pub fn wanted() -> (&'static str, String) {
    println!("== MPI");
    let missing: Vec<&str> = LIBRARIES
        .iter()
        .filter(|library| !library.is_there())
        .flat_map(|library| library.packages)
        .collect();
    if !missing.is_empty() {
        packages::install(&missing, "MPI");
    }
    let (there, missing): (Vec<_>, Vec<_>) =
        LIBRARIES.iter().partition(|library| library.is_there());
    for library in missing {
        let Library { name, packages, .. } = library;
        println!(
            "{name} is not there ({}): its tests are skipped",
            packages.join(" ")
        );
    }
    let names: Vec<&str> = there.iter().map(|library| library.name).collect();
    println!(
        "tested on: {}",
        if names.is_empty() {
            "none".into()
        } else {
            names.join(", ")
        }
    );
    (WANTED, names.join(","))
}

/// Every combination of ranks, threads, libraries, inputs and ways to steal, then several hosts,
/// which takes an hour.
pub fn matrix() -> Result<()> {
    let (name, mpis) = wanted();
    let mut command = steps::cargo(&[
        "test",
        "--package",
        "gyrase",
        "--test",
        "mpi",
        "--",
        "matrix",
        "stops",
        "--nocapture",
    ]);
    command.env(name, &mpis).env("GYRASE_MPI_MATRIX", "full");
    steps::succeed(command, "MPI matrix")?;
    hosts::run()?;
    nfs::run(&mpis)
}

impl Library {
    fn is_there(&self) -> bool {
        [self.compiler, self.launcher]
            .iter()
            .all(|program| steps::works(steps::command(program, &["--version"])))
    }
}
