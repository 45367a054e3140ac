//! An opened database: features, targets, taxonomy, parameters.

use std::path::Path;

use gyrase_kmer::SketchShape;
use gyrase_table::gydb::{Database, GydbError};
use serde::{Deserialize, Serialize};

use crate::targets::Targets;
use crate::taxonomy::{Rank, Taxon, Taxonomy};

/// The sections of a database.
pub(crate) const PARAMETERS: &str = "parameters";
pub(crate) const TARGETS: &str = "targets";
pub(crate) const TAXONOMY: &str = "taxonomy";

/// How the windows of a database are sketched, and how many locations a feature keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Length of k-mers, length and stride of windows, features of a sketch.
    pub sketch: SketchShape,
    /// The most locations that a feature keeps, 1 to 254.
    pub locations: u8,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { sketch: SketchShape::default(), locations: 254 }
    }
}

/// The parameters as they are stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    k: usize,
    window: usize,
    stride: usize,
    features: usize,
    locations: u8,
}

impl Parameters {
    /// Their JSON.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let Parameters { sketch, locations } = self;
        let (window, stride, features) = (sketch.window(), sketch.stride(), sketch.features());
        let stored = Stored { k: sketch.k(), window, stride, features, locations };
        serde_json::to_vec(&stored).expect("numbers are valid JSON")
    }

    fn from_bytes(bytes: &[u8]) -> Option<Parameters> {
        let Stored { k, window, stride, features, locations } = serde_json::from_slice(bytes).ok()?;
        let sketch = SketchShape::new(k, window, stride, features).ok()?;
        (locations > 0).then_some(Parameters { sketch, locations })
    }
}

/// Why a database cannot be classified with.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// It cannot be opened, or is damaged.
    #[error(transparent)]
    Database(#[from] GydbError),
    /// What one of its sections says makes no sense, though its checksum is right.
    #[error("{path}: the section \"{section}\" makes no sense; the database was written by another program or version")]
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
    /// The reference sequences.
    pub targets: Targets,
    /// The taxa that lead to them.
    pub taxonomy: Taxonomy,
    /// How windows are sketched.
    pub parameters: Parameters,
    /// The species of each target, or its own taxon where it has none above it.
    species: Vec<Option<Taxon>>,
}

impl Index {
    /// The species of a target, or its own taxon where that is of no species; `None` where the target has no taxon.
    ///
    /// # Panics
    /// When there is no such target.
    #[inline]
    pub fn species_of(&self, target: u32) -> Option<Taxon> {
        self.species[target as usize]
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
        let senseless = |section| IndexError::Section { path: features.path().display().to_string(), section };
        let parameters = Parameters::from_bytes(features.section(PARAMETERS)?);
        let parameters = parameters.ok_or_else(|| senseless(PARAMETERS))?;
        let targets = Targets::from_bytes(features.section(TARGETS)?).map_err(|_| senseless(TARGETS))?;
        let taxonomy = Taxonomy::from_bytes(features.section(TAXONOMY)?).map_err(|_| senseless(TAXONOMY))?;
        let known = |taxon| taxonomy.taxa().contains(&taxon);
        if !targets.iter().all(|target| target.taxon.is_none_or(known)) {
            return Err(senseless(TARGETS));
        }
        let above = |taxon| taxonomy.ancestor_at(taxon, Rank::Species).unwrap_or(taxon);
        let species = targets.iter().map(|target| target.taxon.map(above)).collect();
        Ok(Index { features, targets, taxonomy, parameters, species })
    }
}
