//! Gyrase as a module of Python: what `python/gyrase/` is written on.
//!
//! It opens databases, looks k-mers up in arrays of numpy without a copy, and runs verbs of the
//! command line in this process. Names, frames and documentation for people are in Python;
//! `docs/python.md` shows them.

mod database;
mod failure;
mod letters;
mod runs;
mod table;

use pyo3::prelude::*;

/// The native half of the package `gyrase`.
#[pymodule]
mod _gyrase {
    #[pymodule_export]
    use crate::database::Database;
    #[pymodule_export]
    use crate::failure::Error;
    #[pymodule_export]
    use crate::letters::{decode, encode};
    #[pymodule_export]
    use crate::runs::{main, run};
    #[pymodule_export]
    use crate::table::Table;

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
