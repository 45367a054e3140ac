//! What keeps the processes of a job from finding one another.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use gyrase_fabric::FabricError;

use crate::family::Family;

/// A job that could not start. The exit code of each is 8.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Nobody ran `gyrase mpi-setup` here.
    #[error(
        "this is one process of several, started for {}, but no library for that MPI was found ({}); run `gyrase mpi-setup` once on this machine{}, or set GYRASE_MPI=off if each process is meant to run by itself",
        either(families),
        looked(places),
        setup_with(families[0])
    )]
    Missing {
        /// Which MPI the launcher is of, the likeliest first; at least one.
        families: &'static [Family],
        /// Where one was looked for.
        places: Vec<PathBuf>,
    },
    /// A program that is linked statically loads no library.
    #[error(
        "this gyrase is the static build, which runs on any Linux and can load no MPI; for jobs of several processes take the build for glibc (its archive is named linux-gnu), or set GYRASE_MPI=off if each process is meant to run by itself"
    )]
    Static,
    /// The system cannot load the library, or it is none of ours.
    #[error(
        "cannot load {}: {source}; load the modules that were loaded when `gyrase mpi-setup` ran, or run it again",
        path.display()
    )]
    Load {
        /// The library.
        path: PathBuf,
        /// What the system said.
        source: libloading::Error,
    },
    /// The library was made by another version of Gyrase.
    #[error(
        "{} was made by another version of Gyrase (its functions are of version {found}, this one calls version {expected}); run `gyrase mpi-setup` again",
        path.display()
    )]
    Version {
        /// The library.
        path: PathBuf,
        /// Its version.
        found: i32,
        /// What this program calls.
        expected: i32,
    },
    /// MPI did not start.
    #[error("MPI did not start: {what}")]
    Init {
        /// What it said.
        what: String,
    },
    /// The launcher is of one MPI, the library of another: every process believes that it is alone.
    #[error(
        "the launcher started {launched} processes, but {} sees {found}: the launcher and that library are of different MPIs; start with the launcher of {library},{} or run `gyrase mpi-setup --mpicc PATH` with the compiler of the launcher's MPI",
        path.display(), instead(others)
    )]
    Mismatch {
        /// Processes by the launcher's word.
        launched: usize,
        /// Processes by the library's.
        found: usize,
        /// The shim.
        path: PathBuf,
        /// What the MPI behind it calls itself.
        library: String,
        /// The other shims that are installed.
        others: Vec<PathBuf>,
    },
    /// A launcher without any MPI started several processes.
    #[error(
        "srun started {tasks} tasks without MPI, so that each would do all the work and write the same output; use srun --mpi=pmix (`srun --mpi=list` shows what there is), or set GYRASE_MPI=off if each task is meant to run by itself"
    )]
    WithoutMpi {
        /// Tasks of the step.
        tasks: usize,
    },
    /// The system gives no thread.
    #[error("cannot start the thread that calls MPI: {0}")]
    Thread(io::Error),
}

/// A shim that could not be made. The exit code of each is 8, but for what cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// This program could not load what would be made.
    #[error(transparent)]
    Static(StartError),
    /// There is no such compiler.
    #[error(
        "cannot run {}: {source}",
        mpicc.display()
    )]
    Compiler {
        /// What was to be run.
        mpicc: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The compiler failed.
    #[error("{} cannot compile for MPI; it said:\n{said}", mpicc.display())]
    Compile {
        /// What was run.
        mpicc: PathBuf,
        /// Its messages.
        said: String,
    },
    /// It is neither Open MPI nor MPICH nor akin to it.
    #[error(
        "{} compiles for an MPI that is neither Open MPI nor of the family of MPICH",
        mpicc.display()
    )]
    Family {
        /// What was run.
        mpicc: PathBuf,
    },
    /// What was made does not load.
    #[error("what {} made does not work: {source}", mpicc.display())]
    Made {
        /// What was run.
        mpicc: PathBuf,
        /// Why.
        source: StartError,
    },
    /// No folder is known.
    #[error("no folder to install to is known: HOME is not set")]
    Nowhere,
    /// The library or a temporary file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// MPI has windows in `/dev/shm`, and does not say so where there is no room; Open MPI 5 has none
/// without the component that users of Open MPI 4 leave out.
pub(crate) fn without_room(error: FabricError) -> FabricError {
    match error {
        FabricError::Mpi { call, what } => FabricError::Mpi {
            call,
            what: format!(
                "{what}; /dev/shm may be too small for the ranks of this machine (containers: \
                 --shm-size=1g), or OMPI_MCA_osc is set: `gyrase doctor`, started as this was, says"
            ),
        },
        error => error,
    }
}

fn either(families: &[Family]) -> String {
    families
        .iter()
        .map(Family::to_string)
        .collect::<Vec<_>>()
        .join(" or ")
}

/// How to have another shim, where there is one.
fn instead(others: &[PathBuf]) -> String {
    let settings: Vec<_> = others
        .iter()
        .map(|other| format!("GYRASE_MPI_SHIM={}", other.display()))
        .collect();
    match settings.is_empty() {
        true => String::new(),
        false => format!(
            " or set {} for another that is installed,",
            settings.join(" or ")
        ),
    }
}

fn looked(places: &[PathBuf]) -> String {
    let places: Vec<_> = places
        .iter()
        .map(|place| place.display().to_string())
        .collect();
    if places.is_empty() {
        "there is no place to look: HOME is not set".into()
    } else {
        format!("not {}", places.join(", not "))
    }
}

fn setup_with(family: Family) -> impl Display {
    match family {
        Family::OpenMpi => " (`--mpicc mpicc.openmpi` if `mpicc` is another's)",
        Family::Mpich => " (`--mpicc mpicc.mpich` if `mpicc` is another's)",
    }
}

impl SetupError {
    /// What a file error becomes.
    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> SetupError {
        move |source| SetupError::Write {
            path: path.to_path_buf(),
            source,
        }
    }
}
