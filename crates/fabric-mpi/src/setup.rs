//! `gyrase mpi-setup`: compiles the shim for the MPI of a site.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::Builder;

use crate::family::Family;
use crate::launch::{installing, loads_libraries};
use crate::{SetupError, StartError, shim};

const SOURCE: &str = include_str!("shim.c");
/// What stands before the family in the bytes of a shim.
const MARK: &[u8] = b"gyrase-mpi-family:";

/// What was installed.
#[derive(Debug)]
pub struct Installed {
    /// The shim.
    pub path: PathBuf,
    /// Which launchers it serves.
    pub family: Family,
    /// What the MPI behind it calls itself.
    pub library: String,
}

/// Where shims are installed unless a folder is named.
///
/// # Errors
/// No home is known.
pub fn folder() -> Result<PathBuf, SetupError> {
    installing(&|name| std::env::var_os(name))
        .into_iter()
        .next()
        .ok_or(SetupError::Nowhere)
}

/// Compiles the shim with `mpicc`, sees that it loads, and installs it in `folder`, which is made
/// where it is missing. Nothing is installed unless it works; a shim of the same family is
/// replaced.
///
/// # Errors
/// There is no such compiler, it fails, the folder cannot be written, or this program loads no
/// library.
pub fn setup(mpicc: &Path, folder: &Path) -> Result<Installed, SetupError> {
    if !loads_libraries() {
        return Err(SetupError::Static(StartError::Static));
    }
    std::fs::create_dir_all(folder).map_err(SetupError::write(folder))?;
    // Beside the target, so that it can be renamed; removed again whatever happens.
    let work = Builder::new()
        .prefix(".mpi-setup-")
        .tempdir_in(folder)
        .map_err(SetupError::write(folder))?;
    let made = compile(mpicc, work.path())?;
    let bytes = std::fs::read(&made).map_err(SetupError::write(&made))?;
    let family = family(&bytes).ok_or_else(|| SetupError::Family {
        mpicc: mpicc.to_path_buf(),
    })?;
    let library = shim::library(&made).map_err(|source| SetupError::Made {
        mpicc: mpicc.to_path_buf(),
        source,
    })?;
    let path = folder.join(family.file());
    publish(&made, &path).map_err(SetupError::write(&path))?;
    Ok(Installed {
        path,
        family,
        library,
    })
}

/// What the MPI behind the shim at `path` calls itself, in one line. MPI is not started.
///
/// # Errors
/// The shim does not load, or was made by another version of Gyrase.
pub fn library(path: &Path) -> Result<String, StartError> {
    shim::library(path)
}

fn compile(mpicc: &Path, folder: &Path) -> Result<PathBuf, SetupError> {
    let (source, made) = (folder.join("shim.c"), folder.join("shim.so"));
    std::fs::write(&source, SOURCE).map_err(SetupError::write(&source))?;
    let arguments = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-o"].map(OsStr::new);
    let mut command = Command::new(mpicc);
    command.args(arguments).args([&made, &source]);
    let done = command.output().map_err(|source| SetupError::Compiler {
        mpicc: mpicc.to_path_buf(),
        source,
    })?;
    let said =
        [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).trim().to_string());
    if !done.status.success() {
        return Err(SetupError::Compile {
            mpicc: mpicc.to_path_buf(),
            said: said.join("\n").trim().to_string(),
        });
    }
    Ok(made)
}

fn publish(made: &Path, path: &Path) -> std::io::Result<()> {
    std::fs::File::open(made)?.sync_all()?;
    std::fs::rename(made, path)
}

/// Which MPI the shim at `path` was compiled for, where it can be read and says so.
pub(crate) fn family_of(path: &Path) -> Option<Family> {
    family(&std::fs::read(path).ok()?)
}

/// Which MPI a shim was compiled for.
fn family(bytes: &[u8]) -> Option<Family> {
    let at = bytes
        .windows(MARK.len())
        .position(|window| window == MARK)?;
    let rest = &bytes[at + MARK.len()..];
    let name = rest.split(|&byte| byte == b';').next()?;
    Family::ALL
        .iter()
        .copied()
        .find(|family| family.name().as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shim_tells_its_family() {
        assert_eq!(
            family(b"ELF..gyrase-mpi-family:openmpi;.."),
            Some(Family::OpenMpi)
        );
        assert_eq!(family(b"gyrase-mpi-family:mpich;"), Some(Family::Mpich));
        assert_eq!(family(b"gyrase-mpi-family:other;"), None);
        assert_eq!(family(b"gyrase-mpi-famil"), None);
        assert!(SOURCE.contains(std::str::from_utf8(MARK).expect("letters")));
    }

    #[test]
    fn nothing_is_installed_unless_it_works() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a/b");
        let message = setup(Path::new("/nowhere/mpicc"), &target)
            .expect_err("no compiler")
            .to_string();
        assert!(message.contains("cannot run /nowhere/mpicc"), "{message}");
        let failing = setup(Path::new("false"), &target).expect_err("it fails");
        assert!(matches!(failing, SetupError::Compile { .. }), "{failing}");
        assert_eq!(
            std::fs::read_dir(&target)
                .expect("the folder was made")
                .count(),
            0
        );
    }
}
