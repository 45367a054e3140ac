//! Why a database was not changed, said so that it can be mended.

use gyrase_kmer::Choice;
use gyrase_table::gydb::GydbError;
use gyrase_tabulate::TabulateError;

use crate::build::BuildError;
use crate::index::{Index, Parameters};
use crate::taxonomy::{Disunity, Flaw};

/// Why a database was not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// A database or a reference cannot be read or written, or the run was cancelled.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Databases of different parameters.
    #[error(
        "{first} was built with {of_first}, and {other} with {of_other}; build one of them again with the options of the other"
    )]
    Parameters {
        /// A database.
        first: String,
        /// Its parameters, as options of `db build`.
        of_first: String,
        /// Another database.
        other: String,
        /// Its parameters.
        of_other: String,
    },
    /// Databases with contradicting taxonomies.
    #[error("taxid {taxid} is {here} in {first} and {there} in {second}; {help}")]
    Taxonomies {
        /// The taxid that they do not agree on.
        taxid: u32,
        /// A database.
        first: String,
        /// What that one says of the taxid.
        here: String,
        /// Another database, or what is added to it.
        second: String,
        /// What that one says of it.
        there: String,
        /// What can be done.
        help: &'static str,
    },
    /// Taxonomies that together are no tree.
    #[error("the taxonomies do not fit together: {0}")]
    Tree(#[from] Flaw),
    /// There would be more windows than a location can name.
    #[error("{paths} have more than 4,294,967,295 windows together; merge fewer of them")]
    TooManyWindows {
        /// The databases.
        paths: String,
    },
    /// Nothing is called so.
    #[error("{path} has no {names}; `gyrase db targets` lists the references of a database, `gyrase db taxa` its taxa")]
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

pub(super) fn parameters(first: &Index, other: &Index) -> EditError {
    let (of_first, of_other) = (options(&first.parameters), options(&other.parameters));
    EditError::Parameters { first: path(first), of_first, other: path(other), of_other }
}

fn options(parameters: &Parameters) -> String {
    let sketch = &parameters.sketch;
    let choice = match sketch.choice() {
        Choice::Below(one_in) => format!("--one-in {one_in}"),
        Choice::Smallest(smallest) => format!("--smallest {smallest}"),
    };
    let (k, window, stride, locations) = (sketch.k(), sketch.window(), sketch.stride(), parameters.locations);
    format!("-k {k} --window {window} --stride {stride} {choice} --locations {locations}")
}

pub(super) fn of_parts(parts: &[Index], disunity: Disunity) -> EditError {
    contradiction(disunity, |place| path(&parts[place]), "build both with one taxonomy")
}

pub(super) fn of_addition(base: &Index, disunity: Disunity) -> EditError {
    let name = |place| if place == 0 { path(base) } else { "--taxonomy".to_owned() };
    let help = "name the taxonomy that the database was built with, or none where the taxa of the database suffice";
    contradiction(disunity, name, help)
}

fn contradiction(disunity: Disunity, name: impl Fn(usize) -> String, help: &'static str) -> EditError {
    match disunity {
        Disunity::Contradiction { taxid, first, here, second, there } => {
            EditError::Taxonomies { taxid, first: name(first), here, second: name(second), there, help }
        }
        Disunity::Flaw(flaw) => EditError::Tree(flaw),
    }
}

pub(super) fn too_many_windows(parts: &[Index]) -> EditError {
    EditError::TooManyWindows { paths: parts.iter().map(path).collect::<Vec<_>>().join(", ") }
}

/// Names that a message gives.
const NAMED: usize = 3;

pub(super) fn unknown(base: &Index, names: Vec<String>) -> EditError {
    let (all, mut named) = (names.len(), names);
    named.truncate(NAMED);
    let more = if all > NAMED { format!(" and {} more", all - NAMED) } else { String::new() };
    EditError::Unknown { path: path(base), names: format!("{}{more}", named.join(", ")) }
}
