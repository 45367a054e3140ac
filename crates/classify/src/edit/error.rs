//! Why a database was not changed, said so that it can be mended.

use gyrase_table::gydb::GydbError;
use gyrase_tabulate::TabulateError;

use crate::build::BuildError;
use crate::index::Index;
use crate::mismatch::Mismatch;

/// Why a database was not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// A database or a reference cannot be read or written, or the run was cancelled.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Databases, or what is added to one, do not fit together.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// Somebody else replaced a database meanwhile.
    #[error("{path} was replaced or removed after this run had opened it; run it again")]
    Replaced {
        /// The database.
        path: String,
    },
    /// Nothing is called so.
    #[error("{path} has no {names}")]
    Unknown {
        /// The database.
        path: String,
        /// What was asked for; some of it.
        names: String,
    },
    /// All targets would go.
    #[error("no reference of {path} would be left; remove the file instead")]
    NothingLeft {
        /// The database.
        path: String,
    },
}

impl From<GydbError> for EditError {
    fn from(error: GydbError) -> EditError {
        EditError::Build(error.into())
    }
}

impl From<TabulateError> for EditError {
    fn from(error: TabulateError) -> EditError {
        EditError::Build(error.into())
    }
}

/// The name of a database in messages.
pub(super) fn path(index: &Index) -> String {
    index.features.path().display().to_string()
}

/// Names that a message gives.
const NAMED: usize = 3;

pub(super) fn unknown(base: &Index, names: Vec<String>) -> EditError {
    let (all, mut named) = (names.len(), names);
    named.truncate(NAMED);
    let more = if all > NAMED {
        format!(" and {} more", all - NAMED)
    } else {
        String::new()
    };
    EditError::Unknown {
        path: path(base),
        names: format!("{}{more}", named.join(", ")),
    }
}
