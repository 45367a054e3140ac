//! Why databases cannot be used as one, said so that it can be mended.

use std::path::Path;

use gyrase_kmer::Choice;

use crate::parameters::Parameters;
use gyrase_taxonomy::{Disunity, Flaw};

/// Why databases cannot be used as one.
#[derive(Debug, thiserror::Error)]
pub enum Mismatch {
    /// Databases of different parameters.
    #[error(
        "{first} was built with {}, and {other} with {}",
        said(of_first),
        said(of_other)
    )]
    Parameters {
        /// A database.
        first: String,
        /// Its parameters.
        of_first: Box<Parameters>,
        /// Another database.
        other: String,
        /// Its parameters.
        of_other: Box<Parameters>,
    },
    /// Databases with contradicting taxonomies.
    #[error("{of} is {here} in {first} and {there} in {second}; {help}")]
    Taxonomies {
        /// The taxid or domain that they do not agree on.
        of: Box<str>,
        /// A database.
        first: String,
        /// What that one says of the taxid.
        here: Box<str>,
        /// Another database, or what is added to it.
        second: String,
        /// What that one says of it.
        there: Box<str>,
        /// What can be done.
        help: &'static str,
    },
    /// Taxonomies that together are no tree.
    #[error("the taxonomies do not fit together: {0}")]
    Tree(#[from] Flaw),
    /// There would be more windows than a location can name.
    #[error("{paths} have more than 4,294,967,295 windows together; use fewer of them at once")]
    TooManyWindows {
        /// The databases.
        paths: String,
    },
}

/// A database by its name and its parameters.
type Named<'p> = (&'p Path, Parameters);

pub(crate) fn parameters(first: Named<'_>, other: Named<'_>) -> Mismatch {
    let [(first, of_first), (other, of_other)] =
        [first, other].map(|(path, parameters)| (name(path), Box::new(parameters)));
    Mismatch::Parameters {
        first,
        of_first,
        other,
        of_other,
    }
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

fn said(parameters: &Parameters) -> String {
    let sketch = &parameters.sketch;
    let choice = match sketch.choice() {
        Choice::OneIn(one_in) => format!("one k-mer in {one_in}"),
        Choice::Smallest(smallest) => format!("the smallest {smallest}"),
    };
    let (k, window, stride) = (sketch.k(), sketch.window(), sketch.stride());
    let locations = parameters.locations;
    format!("k = {k}, window {window}, stride {stride}, {choice}, {locations} locations")
}

/// The taxonomies of databases that lie at `paths` contradict each other.
pub(crate) fn of_parts(paths: &[&Path], disunity: Disunity) -> Mismatch {
    contradiction(
        disunity,
        |place| name(paths[place]),
        "build both with one taxonomy",
    )
}

/// The taxonomy of references contradicts that of the database at `base` that they are added to.
pub(crate) fn of_addition(base: &Path, disunity: Disunity) -> Mismatch {
    let name = |place| {
        if place == 0 {
            name(base)
        } else {
            "what is added".to_owned()
        }
    };
    let help = "name the taxonomy that the database was built with, or none where the taxa of the \
                database suffice";
    contradiction(disunity, name, help)
}

fn contradiction(
    disunity: Disunity,
    name: impl Fn(usize) -> String,
    help: &'static str,
) -> Mismatch {
    match disunity {
        Disunity::Contradiction {
            of,
            first,
            here,
            second,
            there,
        } => {
            let [of, here, there] = [of, here, there].map(String::into_boxed_str);
            Mismatch::Taxonomies {
                of,
                first: name(first),
                here,
                second: name(second),
                there,
                help,
            }
        }
        Disunity::Flaw(flaw) => Mismatch::Tree(flaw),
    }
}

pub(crate) fn too_many_windows(paths: &[&Path]) -> Mismatch {
    Mismatch::TooManyWindows {
        paths: paths
            .iter()
            .map(|path| name(path))
            .collect::<Vec<_>>()
            .join(", "),
    }
}
