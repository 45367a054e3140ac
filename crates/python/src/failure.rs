//! Failures as exceptions.

use gyrase_cli::Failure;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::{create_exception, intern};

create_exception!(
    gyrase,
    Error,
    PyException,
    "What stopped a run, in the words of the command line; `exit_code` is the code it would end with."
);

/// The exception of a failure.
pub fn raised(py: Python<'_>, failure: impl Into<Failure>) -> PyErr {
    let failure = failure.into();
    let error = Error::new_err(failure.message);
    let code = failure.code as u8;
    match error.value(py).setattr(intern!(py, "exit_code"), code) {
        Ok(()) => error,
        Err(other) => other,
    }
}
