//! Candidates that were stored: reads and their hits, of one database or of several that were asked
//! apart.

use std::ops::Range;
use std::path::{Path, PathBuf};

use gyrase_table::gydb::Location;

use crate::catalogue::Catalogue;
use crate::mismatch::Mismatch;
use crate::stored::{Stored, StoredError};

/// Stored reads and hits, merged to what the databases would have given together. They need neither
/// the reads nor the databases.
#[derive(Debug)]
pub struct Candidates {
    pub(super) catalogue: Catalogue,
    /// The files, and the windows of each.
    pub(super) files: Vec<(Stored, Range<Location>)>,
}

/// Why stored candidates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CandidatesError {
    /// A file is damaged, or no such file, or of other reads.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// The databases that they are of do not fit together.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
}

impl Candidates {
    /// Opens files that [`Hits::keep`](crate::Hits::keep) wrote, of databases in that order.
    ///
    /// # Errors
    /// When they are damaged or do not fit together.
    ///
    /// # Panics
    /// Without any.
    pub fn open(paths: &[PathBuf]) -> Result<Candidates, CandidatesError> {
        let (mut files, mut catalogues): (Vec<(Stored, Range<Location>)>, _) =
            (Vec::new(), Vec::new());
        let mut first = Location(0);
        for path in paths {
            let (stored, bytes) = Stored::open(path)?;
            let catalogue = from_bytes(&bytes).ok_or_else(|| senseless(path))?;
            if let Some((first, _)) = files
                .first()
                .filter(|(first, _)| first.rows() != stored.rows())
            {
                let what = format!("the one has {}, the other {}", first.rows(), stored.rows());
                let [first, second] = [first, &stored].map(|stored| stored.path().to_path_buf());
                return Err(StoredError::OtherReads {
                    first,
                    second,
                    what,
                }
                .into());
            }
            let end = Location(first.0.saturating_add(catalogue.targets.all_windows()));
            files.push((stored, first..end));
            first = end;
            catalogues.push(catalogue);
        }
        let parts: Vec<_> = paths
            .iter()
            .map(PathBuf::as_path)
            .zip(&catalogues)
            .collect();
        Ok(Candidates {
            catalogue: Catalogue::unite(&parts)?,
            files,
        })
    }

    /// What they say of the references.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// How many reads there are; a pair is one.
    pub fn reads(&self) -> u64 {
        self.files[0].0.rows()
    }

    /// The files, each with a checksum of all of it: what tells it from others of its name.
    pub fn checksums(&self) -> impl Iterator<Item = (&Path, u64)> {
        let files = self.files.iter();
        files.map(|(stored, _)| (stored.path(), stored.checksum()))
    }

    /// The error that a file has another read than the first.
    pub(super) fn other_reads(&self, file: usize, read: u64) -> StoredError {
        let [first, second] = [0, file].map(|file| self.files[file].0.path().to_path_buf());
        StoredError::OtherReads {
            first,
            second,
            what: format!("read {} differs", read + 1),
        }
    }
}

fn senseless(path: &Path) -> StoredError {
    let what = "what it says of the references makes no sense".to_owned();
    StoredError::Corrupt {
        path: path.to_path_buf(),
        what,
    }
}

/// The sections of a catalogue: for each the length of its name, its name, its length (u64), its
/// bytes.
pub(super) fn to_bytes(catalogue: &Catalogue) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, section) in catalogue.sections() {
        bytes.push(name.len() as u8);
        bytes.extend(name.as_bytes());
        bytes.extend((section.len() as u64).to_le_bytes());
        bytes.extend(section);
    }
    bytes
}

fn from_bytes(mut bytes: &[u8]) -> Option<Catalogue> {
    let mut sections = Vec::new();
    while let Some(&length) = bytes.split_off_first() {
        let name = bytes.split_off(..usize::from(length))?;
        let (length, _) = bytes.split_off(..8)?.as_chunks();
        sections.push((
            name,
            bytes.split_off(..usize::try_from(u64::from_le_bytes(length[0])).ok()?)?,
        ));
    }
    let section = |wanted: &str| {
        sections
            .iter()
            .find(|(name, _)| *name == wanted.as_bytes())
            .map(|found| found.1)
            .ok_or(())
    };
    Catalogue::of_sections(section, |_| ()).ok()
}
