//! Who started this process, how many of its kind, and which shim serves them.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use crate::StartError;

/// The kinds of MPI that one compiled shim serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Open MPI and what is made of it.
    OpenMpi,
    /// MPICH and what is made of it: Intel MPI, MVAPICH, Cray MPICH.
    Mpich,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 2] = [Family::OpenMpi, Family::Mpich];

    /// Its name in names of files.
    pub fn name(self) -> &'static str {
        match self {
            Family::OpenMpi => "openmpi",
            Family::Mpich => "mpich",
        }
    }

    /// The name of its shim.
    pub fn file(self) -> String {
        format!("libgyrase-mpi-{}.so", self.name())
    }
}

impl fmt::Display for Family {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Family::OpenMpi => "Open MPI",
            Family::Mpich => "MPICH",
        })
    }
}

/// What the environment says of the launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Which MPI's launcher it is; `None` where it serves several (`srun`).
    pub family: Option<Family>,
    /// How many processes it started, where it says so.
    pub ranks: Option<usize>,
}

/// Reads the environment; a function, so that tests bring their own.
pub(crate) type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

impl Launch {
    /// The launcher of this process; `None` when there is none, or when `GYRASE_MPI=off` says that each process is by itself.
    ///
    /// # Errors
    /// A launcher without MPI started several.
    pub fn of_this_process() -> Result<Option<Launch>, StartError> {
        Launch::of(&|name| std::env::var_os(name))
    }

    pub(crate) fn of(environment: Environment) -> Result<Option<Launch>, StartError> {
        let there = |name| environment(name).is_some();
        let number = |name| environment(name)?.to_str()?.parse::<usize>().ok();
        if environment("GYRASE_MPI").is_some_and(|value| value == "off") {
            return Ok(None);
        }
        // Only the launched process of a step has both; a batch script has neither tasks of a step nor a launcher.
        let tasks = number("SLURM_STEP_NUM_TASKS").filter(|_| there("SLURM_PROCID"));
        let (family, ranks) = match () {
            () if there("OMPI_COMM_WORLD_SIZE") => (Some(Family::OpenMpi), number("OMPI_COMM_WORLD_SIZE")),
            () if there("MPI_LOCALNRANKS") || there("HYDI_CONTROL_FD") => (Some(Family::Mpich), number("PMI_SIZE")),
            () if there("PMI_RANK") || there("PMI_FD") => (None, number("PMI_SIZE").or(tasks)),
            () if there("PMIX_RANK") => (tasks.is_none().then_some(Family::OpenMpi), tasks),
            () => return without(tasks),
        };
        Ok((ranks != Some(1)).then_some(Launch { family, ranks }))
    }

    /// The shim for this launcher.
    ///
    /// # Errors
    /// There is none.
    pub fn shim(&self) -> Result<PathBuf, StartError> {
        self.find(&|name| std::env::var_os(name))
    }

    pub(crate) fn find(&self, environment: Environment) -> Result<PathBuf, StartError> {
        if let Some(path) = environment("GYRASE_MPI_SHIM") {
            return Ok(path.into());
        }
        let families = self.family.map_or(Family::ALL.to_vec(), |family| vec![family]);
        let folders = folders(environment);
        let shims = || folders.iter().flat_map(|folder| families.iter().map(|family| folder.join(family.file())));
        let missing = || StartError::Missing { family: families[0], places: shims().collect() };
        shims().find(|path| path.is_file()).ok_or_else(missing)
    }
}

/// The shims that are installed here: the one of each family that a launcher of it would get.
pub fn installed() -> Vec<(Family, PathBuf)> {
    let shim = |family| Launch { family: Some(family), ranks: None }.shim().ok().filter(|path| path.is_file());
    Family::ALL.into_iter().filter_map(|family| Some((family, shim(family)?))).collect()
}

/// Not under a launcher that knows MPI.
fn without(tasks: Option<usize>) -> Result<Option<Launch>, StartError> {
    match tasks {
        Some(tasks) if tasks > 1 => Err(StartError::WithoutMpi { tasks }),
        _ => Ok(None),
    }
}

/// Where shims may be, the first first.
pub(crate) fn folders(environment: Environment) -> Vec<PathBuf> {
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(|program| Some(program.parent()?.parent()?.join("lib/gyrase")));
    installing(environment).into_iter().chain(beside).collect()
}

/// Where a person's shims are installed, the first first.
pub(crate) fn installing(environment: Environment) -> Vec<PathBuf> {
    let folder = |name| environment(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let named = folder("GYRASE_MPI_DIR");
    let data = folder("XDG_DATA_HOME").map(|data| data.join("gyrase"));
    let home = folder("HOME").map(|home| home.join(".local/share/gyrase"));
    named.into_iter().chain(data.or(home)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> {
        move |name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.into())
    }

    fn launch(pairs: &'static [(&str, &str)]) -> Option<Launch> {
        Launch::of(&environment(pairs)).expect("a launcher that knows MPI, or none")
    }

    #[test]
    fn launchers_are_known_by_their_environment() {
        let of = |family, ranks| Some(Launch { family, ranks });
        assert_eq!(launch(&[]), None);
        assert_eq!(launch(&[("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "1")]), of(Some(Family::OpenMpi), Some(4)));
        assert_eq!(launch(&[("OMPI_COMM_WORLD_SIZE", "1")]), None);
        assert_eq!(
            launch(&[("MPI_LOCALNRANKS", "2"), ("PMI_RANK", "0"), ("PMI_SIZE", "3")]),
            of(Some(Family::Mpich), Some(3))
        );
        assert_eq!(
            launch(&[("PMI_RANK", "0"), ("PMI_SIZE", "3"), ("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "3")]),
            of(None, Some(3))
        );
        assert_eq!(
            launch(&[("PMIX_RANK", "0"), ("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "3")]),
            of(None, Some(3))
        );
        assert_eq!(launch(&[("PMIX_RANK", "0")]), of(Some(Family::OpenMpi), None));
        assert_eq!(launch(&[("OMPI_COMM_WORLD_SIZE", "4"), ("GYRASE_MPI", "off")]), None);
    }

    #[test]
    fn several_tasks_without_mpi_are_refused() {
        let alone = launch(&[("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "1")]);
        assert_eq!(alone, None);
        let refused = Launch::of(&environment(&[("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "8")]));
        assert!(refused.expect_err("no PMI").to_string().contains("srun started 8 tasks without MPI"));
    }

    #[test]
    fn a_shim_is_looked_for_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        let environment = |name: &str| match name {
            "GYRASE_MPI_DIR" => Some(first.clone().into_os_string()),
            "XDG_DATA_HOME" => Some(second.clone().into_os_string()),
            "HOME" => Some("/nowhere".into()),
            _ => None,
        };
        let launch = Launch { family: Some(Family::Mpich), ranks: Some(2) };
        let message = launch.find(&environment).expect_err("nothing is there").to_string();
        assert!(message.contains("first/libgyrase-mpi-mpich.so") && message.contains("gyrase mpi-setup"), "{message}");
        for folder in [second.join("gyrase"), first.clone()] {
            std::fs::create_dir_all(&folder).expect("a folder");
            let shim = folder.join("libgyrase-mpi-mpich.so");
            std::fs::write(&shim, "").expect("a file");
            assert_eq!(launch.find(&environment).expect("it is there"), shim);
        }
        let both = Launch { family: None, ranks: Some(2) };
        assert_eq!(both.find(&environment).expect("one is there"), first.join("libgyrase-mpi-mpich.so"));
        let named = |name: &str| (name == "GYRASE_MPI_SHIM").then(|| OsString::from("/x/y.so"));
        assert_eq!(both.find(&named).expect("it is named"), PathBuf::from("/x/y.so"));
    }
}
