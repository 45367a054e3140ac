//! The kinds of MPI.

use std::fmt;

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
    pub const ALL: &'static [Family] = &[Family::OpenMpi, Family::Mpich];

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
