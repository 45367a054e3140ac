//! Who started this process, how many of its kind, and which shim serves them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::StartError;
use crate::family::Family;

/// What the environment says of the launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Whose launcher it is, the likeliest first where it serves several (`srun`); at least one.
    pub families: &'static [Family],
    /// How many processes it started, where it says so.
    pub ranks: Option<usize>,
}

/// Reads the environment; a function, so that tests bring their own.
pub(crate) type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

impl Launch {
    /// The launcher of this process; `None` when there is none, or when `GYRASE_MPI=off` says that
    /// each process is by itself.
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
        // Only the launched process of a step has both; a batch script has neither tasks of a step
        // nor a launcher.
        let tasks = number("SLURM_STEP_NUM_TASKS").filter(|_| there("SLURM_PROCID"));
        let (families, ranks): (&[Family], _) = match () {
            () if there("OMPI_COMM_WORLD_SIZE") => {
                (&[Family::OpenMpi], number("OMPI_COMM_WORLD_SIZE"))
            }
            () if there("MPI_LOCALNRANKS") || there("HYDI_CONTROL_FD") => {
                (&[Family::Mpich], number("PMI_SIZE"))
            }
            // Since version 5 Open MPI knows no other way than PMIx.
            () if there("PMI_RANK") || there("PMI_FD") => (
                &[Family::Mpich, Family::OpenMpi],
                number("PMI_SIZE").or(tasks),
            ),
            // Where nobody says how many processes there are, a library that meets none would not
            // be noticed.
            () if there("PMIX_RANK") && tasks.is_none() => (&[Family::OpenMpi], None),
            () if there("PMIX_RANK") => (&[Family::OpenMpi, Family::Mpich], tasks),
            () => return without(tasks),
        };
        Ok((ranks != Some(1)).then_some(Launch { families, ranks }))
    }

    /// The shim for this launcher.
    ///
    /// # Errors
    /// There is none.
    pub fn shim(&self) -> Result<PathBuf, StartError> {
        self.find(&|name| std::env::var_os(name))
    }

    pub(crate) fn find(&self, environment: Environment) -> Result<PathBuf, StartError> {
        if !loads_libraries() {
            return Err(StartError::Static);
        }
        if let Some(path) = environment("GYRASE_MPI_SHIM") {
            return Ok(path.into());
        }
        let places = places(self.families, environment);
        match places.iter().find(|path| path.is_file()) {
            Some(path) => Ok(path.clone()),
            None => Err(StartError::Missing {
                families: self.families,
                places,
            }),
        }
    }
}

/// False in a program that is linked statically: whatever MPI is installed, it cannot be loaded.
pub fn loads_libraries() -> bool {
    !cfg!(all(target_os = "linux", target_feature = "crt-static"))
}

/// The shims that are installed here besides the one at `path`.
pub(crate) fn others(path: &Path, environment: Environment) -> Vec<PathBuf> {
    let same = path.canonicalize().ok();
    let another = |place: &PathBuf| place.is_file() && place.canonicalize().ok() != same;
    places(Family::ALL, environment)
        .into_iter()
        .filter(another)
        .collect()
}

/// Where shims of these families may be: in every folder one of the first, then one of the next.
fn places(families: &[Family], environment: Environment) -> Vec<PathBuf> {
    let folders = folders(environment);
    families
        .iter()
        .flat_map(|family| folders.iter().map(|folder| folder.join(family.file())))
        .collect()
}

/// The shims that are installed here: the one of each family that a launcher of it would get.
pub fn installed() -> Vec<(Family, PathBuf)> {
    let launches = Family::ALL.iter().map(|family| Launch {
        families: std::slice::from_ref(family),
        ranks: None,
    });
    let shim = |launch: Launch| {
        Some((
            launch.families[0],
            launch.shim().ok().filter(|path| path.is_file())?,
        ))
    };
    launches.filter_map(shim).collect()
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
    let beside = program
        .as_deref()
        .and_then(|program| Some(program.parent()?.parent()?.join("lib/gyrase")));
    installing(environment).into_iter().chain(beside).collect()
}

/// Where a person's shims are installed, the first first.
pub(crate) fn installing(environment: Environment) -> Vec<PathBuf> {
    let folder = |name| {
        environment(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let named = folder("GYRASE_MPI_DIR");
    let data = folder("XDG_DATA_HOME").map(|data| data.join("gyrase"));
    let home = folder("HOME").map(|home| home.join(".local/share/gyrase"));
    named.into_iter().chain(data.or(home)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> {
        move |name| {
            pairs
                .iter()
                .find(|pair| pair.0 == name)
                .map(|pair| pair.1.into())
        }
    }

    fn launch(pairs: &'static [(&str, &str)]) -> Option<Launch> {
        Launch::of(&environment(pairs)).expect("a launcher that knows MPI, or none")
    }

    #[test]
    fn launchers_are_known_by_their_environment() {
        let of = |families, ranks| Some(Launch { families, ranks });
        let (openmpi, mpich): (&[Family], &[Family]) = (&[Family::OpenMpi], &[Family::Mpich]);
        assert_eq!(launch(&[]), None);
        assert_eq!(
            launch(&[("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "1")]),
            of(openmpi, Some(4))
        );
        assert_eq!(launch(&[("OMPI_COMM_WORLD_SIZE", "1")]), None);
        assert_eq!(
            launch(&[
                ("MPI_LOCALNRANKS", "2"),
                ("PMI_RANK", "0"),
                ("PMI_SIZE", "3")
            ]),
            of(mpich, Some(3))
        );
        assert_eq!(launch(&[("PMIX_RANK", "0")]), of(openmpi, None));
        assert_eq!(
            launch(&[("OMPI_COMM_WORLD_SIZE", "4"), ("GYRASE_MPI", "off")]),
            None
        );
    }

    #[test]
    fn srun_is_likeliest_of_the_mpi_that_its_pmi_is_of() {
        let of = |families, ranks| Some(Launch { families, ranks });
        assert_eq!(
            launch(&[
                ("PMI_RANK", "0"),
                ("PMI_SIZE", "3"),
                ("SLURM_PROCID", "0"),
                ("SLURM_STEP_NUM_TASKS", "3")
            ]),
            of(&[Family::Mpich, Family::OpenMpi], Some(3))
        );
        assert_eq!(
            launch(&[
                ("PMI_FD", "9"),
                ("SLURM_PROCID", "0"),
                ("SLURM_STEP_NUM_TASKS", "3")
            ]),
            of(&[Family::Mpich, Family::OpenMpi], Some(3))
        );
        assert_eq!(
            launch(&[
                ("PMIX_RANK", "0"),
                ("SLURM_PROCID", "0"),
                ("SLURM_STEP_NUM_TASKS", "3")
            ]),
            of(&[Family::OpenMpi, Family::Mpich], Some(3))
        );
    }

    #[test]
    fn several_tasks_without_mpi_are_refused() {
        let alone = launch(&[("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "1")]);
        assert_eq!(alone, None);
        let refused = Launch::of(&environment(&[
            ("SLURM_PROCID", "0"),
            ("SLURM_STEP_NUM_TASKS", "8"),
        ]));
        assert!(
            refused
                .expect_err("no PMI")
                .to_string()
                .contains("srun started 8 tasks without MPI")
        );
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
        let launch = Launch {
            families: &[Family::Mpich],
            ranks: Some(2),
        };
        let message = launch
            .find(&environment)
            .expect_err("nothing is there")
            .to_string();
        assert!(
            message.contains("first/libgyrase-mpi-mpich.so")
                && message.contains("gyrase mpi-setup"),
            "{message}"
        );
        for folder in [second.join("gyrase"), first.clone()] {
            let shim = install(&folder, Family::Mpich);
            assert_eq!(launch.find(&environment).expect("it is there"), shim);
        }
        let named = |name: &str| (name == "GYRASE_MPI_SHIM").then(|| OsString::from("/x/y.so"));
        assert_eq!(
            launch.find(&named).expect("it is named"),
            PathBuf::from("/x/y.so")
        );
    }

    #[test]
    fn the_likeliest_shim_comes_first_and_the_other_where_it_is_the_only_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let (own, site) = (folder.path().join("own"), folder.path().join("site/gyrase"));
        let environment = |name: &str| match name {
            "GYRASE_MPI_DIR" => Some(own.clone().into_os_string()),
            "XDG_DATA_HOME" => Some(folder.path().join("site").into_os_string()),
            _ => None,
        };
        let pmi = Launch {
            families: &[Family::Mpich, Family::OpenMpi],
            ranks: Some(2),
        };
        let pmix = Launch {
            families: &[Family::OpenMpi, Family::Mpich],
            ranks: Some(2),
        };
        let found = |launch: &Launch| launch.find(&environment).expect("one is there");
        let message = pmi
            .find(&environment)
            .expect_err("nothing is there")
            .to_string();
        assert!(
            message.contains("started for MPICH or Open MPI,"),
            "{message}"
        );
        let openmpi = install(&own, Family::OpenMpi);
        assert_eq!(
            [found(&pmi), found(&pmix)],
            [openmpi.clone(), openmpi.clone()]
        );
        assert!(others(&openmpi, &environment).is_empty());
        let mpich = install(&site, Family::Mpich);
        assert_eq!(
            [found(&pmi), found(&pmix)],
            [mpich.clone(), openmpi.clone()]
        );
        assert_eq!(others(&openmpi, &environment), std::slice::from_ref(&mpich));
        assert_eq!(
            others(Path::new("/elsewhere.so"), &environment),
            [openmpi, mpich]
        );
    }

    fn install(folder: &Path, family: Family) -> PathBuf {
        std::fs::create_dir_all(folder).expect("a folder");
        let shim = folder.join(family.file());
        std::fs::write(&shim, "").expect("a file");
        shim
    }
}
