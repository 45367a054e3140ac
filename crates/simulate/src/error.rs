//! What can go wrong in a simulation.

use std::path::PathBuf;

/// A simulation that cannot be done, and what to change.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// A setting is out of its range: bad usage.
    #[error("{setting} is {found}, but it must be {expected}")]
    Setting {
        /// Its name, such as `error-rate`.
        setting: &'static str,
        /// What was given.
        found: String,
        /// What it may be.
        expected: String,
    },
    /// An input cannot be read, or is malformed: the error says which.
    #[error(transparent)]
    Input(#[from] gyrase_fastx::Error),
    /// An input holds no sequence to read from: malformed input.
    #[error(
        "{} holds no sequence: expected FASTA or FASTQ records with at least one base",
        path.display()
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// No sequence is long enough for one read: bad usage.
    #[error("the longest sequence of {genome} has {longest} bases, but a read needs {needed}")]
    Short {
        /// The genome.
        genome: String,
        /// Its longest sequence, in bases.
        longest: u64,
        /// Bases that a read needs.
        needed: u64,
    },
    /// An output could not be written.
    #[error(transparent)]
    Output(#[from] gyrase_files::OutputError),
    /// The run was asked to stop; nothing was published.
    #[error("the simulation was stopped before its end; no output was written")]
    Cancelled,
}

/// `Ok` when `holds`, else the error that names the setting.
pub(crate) fn check(
    holds: bool,
    setting: &'static str,
    found: impl ToString,
    expected: impl ToString,
) -> Result<(), SimulateError> {
    let refusal = || SimulateError::Setting {
        setting,
        found: found.to_string(),
        expected: expected.to_string(),
    };
    if holds { Ok(()) } else { Err(refusal()) }
}
