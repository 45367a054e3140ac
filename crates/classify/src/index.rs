//! An opened database: features, targets, taxonomy, parameters.

use std::ops::Deref;
use std::path::Path;

use gyrase_table::gydb::{Database, GydbError};

use crate::catalogue::Catalogue;
pub(crate) use crate::parameters::{DISTINCT, FULL, PARAMETERS, Parameters, TARGETS, TAXONOMY};

/// Why a database cannot be classified with.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// It cannot be opened, or is damaged.
    #[error(transparent)]
    Database(#[from] GydbError),
    /// What one of its sections says makes no sense, though its checksum is right.
    #[error(
        "{path}: the section \"{section}\" makes no sense; the database was written by another \
         program or version"
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
