//! `gyrase mpi-setup`.

use std::path::PathBuf;

use clap::Args;
use gyrase_fabric_mpi::{folder, setup};

use crate::failure::Result;
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase mpi-setup                         for the MPI of `mpicc`
  gyrase mpi-setup --mpicc mpicc.mpich     for another one, beside it
  mpirun -n 4 gyrase count reads.fq -o s.gyk";

/// Let `gyrase count` run under mpirun and srun: compile a small library for the MPI that is
/// installed here.
///
/// Once for each MPI, on a machine that has its compiler. Gyrase loads the library when a launcher
/// starts it; nothing else changes.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct MpiSetup {
    /// The MPI's C compiler: a name or a path
    #[arg(long, value_name = "PATH", default_value = "mpicc")]
    mpicc: PathBuf,

    /// Where the library goes [default: $GYRASE_MPI_DIR, else $XDG_DATA_HOME/gyrase, else
    /// ~/.local/share/gyrase]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl MpiSetup {
    /// Makes the library and says how to try it.
    pub fn run(&self) -> Result<()> {
        let target = self.dir.clone().map_or_else(folder, Ok)?;
        let made = setup(&self.mpicc, &target)?;
        let is_found = folder().is_ok_and(|folder| folder == target);
        let setting = match is_found {
            true => String::new(),
            false => format!(
                "set for every run:  export GYRASE_MPI_DIR={}\n",
                target.display()
            ),
        };
        let text = format!(
            "installed {} for {} ({})\n{setting}try it:  mpirun -n 2 gyrase count reads.fq -o \
             sample.gyk\n",
            made.path.display(),
            made.family,
            made.library
        );
        sink::write_all(None, text.as_bytes())
    }
}
