//! What can be wrong with a file of a format.

use std::io;
use std::path::{Path, PathBuf};

use super::{Container, Unfit};

/// A file of a format that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    /// The file cannot be opened or mapped.
    #[error("cannot open the database {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file does not begin as one of the format does.
    #[error("{} is no {} file: it {found}; {}", path.display(), format.ending, format.makers)]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is instead, as far as its first bytes tell: "looks like a FASTA file".
        found: String,
        /// The format.
        format: &'static Container,
    },
    /// The file is of another version of the format.
    #[error(
        "{} is a {} database of version {found}, this program reads version {}; {} it again or \
         use the program that made it",
        path.display(), format.ending, format.version, format.verb
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The format.
        format: &'static Container,
    },
    /// The file is shorter or longer than its header says.
    #[error(
        "the database {} is truncated or was changed: its header says {expected} bytes, the file \
         has {found}; copy or {} it again",
        path.display(), format.verb
    )]
    Length {
        /// The file.
        path: PathBuf,
        /// Bytes that the header promises.
        expected: u64,
        /// Bytes of the file.
        found: u64,
        /// The format.
        format: &'static Container,
    },
    /// A checksum or a value contradicts the rest.
    #[error("the database {} is corrupt: {what}; copy or {verb} it again", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What was expected and what was found.
        what: String,
        /// What makes such a file.
        verb: &'static str,
    },
}

impl Container {
    /// The error of a file whose values contradict each other.
    pub fn corrupt(&self, path: &Path, what: String) -> ContainerError {
        ContainerError::Corrupt {
            path: path.to_path_buf(),
            what,
            verb: self.verb,
        }
    }

    /// The header of a file of these bytes.
    ///
    /// # Errors
    /// As [`Container::header`], with the name of the file.
    pub fn header_of<'a>(
        &'static self,
        path: &Path,
        bytes: &'a [u8],
    ) -> Result<&'a [u8], ContainerError> {
        let header = self.header(bytes);
        header.map_err(|unfit| self.unfit(path, bytes.len(), unfit))
    }

    /// The error of a file of so many bytes that does not fit.
    pub(super) fn unfit(&'static self, path: &Path, bytes: usize, unfit: Unfit) -> ContainerError {
        let path = path.to_path_buf();
        let format = self;
        match unfit {
            Unfit::Foreign(found) => ContainerError::Foreign {
                path,
                found,
                format,
            },
            Unfit::Short => ContainerError::Length {
                path,
                expected: self.header_bytes as u64,
                found: bytes as u64,
                format,
            },
            Unfit::Version(found) => ContainerError::Version {
                path,
                found,
                format,
            },
            Unfit::Corrupt(what) => self.corrupt(&path, what),
        }
    }

    /// Refuses a file of so many bytes whose header says `expected`.
    ///
    /// # Errors
    /// [`ContainerError::Length`].
    pub fn length(
        &'static self,
        path: &Path,
        expected: u64,
        bytes: usize,
    ) -> Result<(), ContainerError> {
        let found = bytes as u64;
        if found == expected {
            return Ok(());
        }
        Err(ContainerError::Length {
            path: path.to_path_buf(),
            expected,
            found,
            format: self,
        })
    }
}
