//! An opened database: features, targets, taxonomy, parameters.

use std::ops::Deref;
use std::path::Path;

use gyrase_kmer::{Choice, SketchShape};
use gyrase_table::gydb::{Database, GydbError};
use serde::{Deserialize, Serialize};

use crate::catalogue::Catalogue;

/// The sections of a database.
pub(crate) const PARAMETERS: &str = "parameters";
pub(crate) const TARGETS: &str = "targets";
pub(crate) const TAXONOMY: &str = "taxonomy";
pub(crate) const DISTINCT: &str = "distinct";
pub(crate) const FULL: &str = "full";

/// How the windows of a database are sketched, and how many locations a feature keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Length of k-mers, length and stride of windows, and which k-mers become features.
    pub sketch: SketchShape,
    /// The most locations that a feature keeps, 1 to 254.
    pub locations: u8,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            sketch: SketchShape::default(),
            locations: 254,
        }
    }
}

/// The parameters as they are stored: either the features of a sketch, or of how many k-mers one is
/// chosen.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    k: usize,
    window: usize,
    stride: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    features: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    one_in: Option<usize>,
    locations: u8,
}

impl Parameters {
    /// Their JSON.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let Parameters { sketch, locations } = self;
        let (features, one_in) = match sketch.choice() {
            Choice::Smallest(features) => (Some(features), None),
            Choice::OneIn(one_in) => (None, Some(one_in)),
        };
        let (window, stride) = (sketch.window(), sketch.stride());
        let stored = Stored {
            k: sketch.k(),
            window,
            stride,
            features,
            one_in,
            locations,
        };
        serde_json::to_vec(&stored).expect("numbers are valid JSON")
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Parameters> {
        let Stored {
            k,
            window,
            stride,
            features,
            one_in,
            locations,
        } = serde_json::from_slice(bytes).ok()?;
        let sketch = match (features, one_in) {
            (Some(features), None) => SketchShape::new(k, window, stride, features),
            (None, Some(one_in)) => SketchShape::sampled(k, window, stride, one_in),
            _ => return None,
        };
        (1..=254).contains(&locations).then_some(Parameters {
            sketch: sketch.ok()?,
            locations,
        })
    }
}

/// Why a database cannot be classified with.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// It cannot be opened, or is damaged.
    #[error(transparent)]
    Database(#[from] GydbError),
    /// What one of its sections says makes no sense, though its checksum is right.
    #[error(
        "{path}: the section \"{section}\" makes no sense; the database was written by another program or version"
    )]
    Section {
        /// The database.
        path: String,
        /// The section.
        section: &'static str,
    },
}

/// An opened database and what its sections say.
#[derive(Debug)]
pub struct Index {
    /// Features and their locations.
    pub features: Database,
    catalogue: Catalogue,
    full: u64,
}

impl Deref for Index {
    type Target = Catalogue;

    fn deref(&self) -> &Catalogue {
        &self.catalogue
    }
}

impl Index {
    /// How many features have as many locations as a feature may have: of some of them, others were
    /// left out.
    pub fn full_features(&self) -> u64 {
        self.full
    }

    /// Opens a database.
    ///
    /// # Errors
    /// When it is missing, damaged, or of another version.
    pub fn open(path: &Path) -> Result<Index, IndexError> {
        Index::of(Database::open(path)?)
    }

    /// Reads the sections of an opened database.
    ///
    /// # Errors
    /// When they are damaged.
    pub fn of(features: Database) -> Result<Index, IndexError> {
        let senseless = |section| IndexError::Section {
            path: features.path().display().to_string(),
            section,
        };
        let catalogue = Catalogue::of_sections(|name| Ok(features.section(name)?), senseless)?;
        let full = features
            .section(FULL)?
            .try_into()
            .map_err(|_| senseless(FULL))?;
        if features.summary().windows > u64::from(catalogue.targets.all_windows()) {
            return Err(senseless(TARGETS));
        }
        Ok(Index {
            features,
            catalogue,
            full: u64::from_le_bytes(full),
        })
    }

    /// What is said of the references.
    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The features, and what is said of the references.
    pub(crate) fn into_parts(self) -> (Database, Catalogue) {
        (self.features, self.catalogue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_either_choice_are_read_back() {
        let sampled = SketchShape::sampled(32, 200, 90, 7).unwrap();
        let smallest = SketchShape::new(16, 127, 112, 16).unwrap();
        for (sketch, text) in [
            (
                sampled,
                r#"{"k":32,"window":200,"stride":90,"one_in":7,"locations":9}"#,
            ),
            (
                smallest,
                r#"{"k":16,"window":127,"stride":112,"features":16,"locations":9}"#,
            ),
        ] {
            let parameters = Parameters {
                sketch,
                locations: 9,
            };
            assert_eq!(str::from_utf8(&parameters.to_bytes()).unwrap(), text);
            assert_eq!(Parameters::from_bytes(text.as_bytes()), Some(parameters));
        }
        let default = Parameters::default();
        assert_eq!(Parameters::from_bytes(&default.to_bytes()), Some(default));
    }

    #[test]
    fn senseless_parameters_are_refused() {
        for text in [
            r#"{"k":24,"window":135,"stride":112,"one_in":5,"locations":0}"#,
            r#"{"k":24,"window":135,"stride":112,"one_in":5,"locations":255}"#,
            r#"{"k":24,"window":135,"stride":112,"one_in":0,"locations":9}"#,
            r#"{"k":24,"window":135,"stride":112,"features":16,"locations":9}"#,
            r#"{"k":16,"window":135,"stride":112,"features":16,"one_in":5,"locations":9}"#,
            r#"{"k":16,"window":135,"stride":112,"locations":9}"#,
            r#"{"k":24,"window":135,"stride":112,"one_in":5,"locations":9,"seeds":2}"#,
            "",
        ] {
            assert_eq!(Parameters::from_bytes(text.as_bytes()), None, "{text}");
        }
    }
}
