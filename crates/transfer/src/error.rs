//! What can go wrong between two machines.

use std::io;
use std::path::PathBuf;

use gyrase_files::OutputError;

use crate::key::{KeyError, PublicKey};

/// Why files are not there.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// A file that is to be sent cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something that cannot be sent.
    #[error("{} cannot be sent: {why}", path.display())]
    Unfit {
        /// What was to be sent.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A file that changed while it was sent.
    #[error("{} changed while it was sent", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A key that cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// An address where nobody can listen.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// An address that cannot be reached.
    #[error("cannot reach {address}: {source}")]
    Unreachable {
        /// The address.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// The other end is somebody else.
    #[error("{peer} has the key {found}, which was not named")]
    OtherKey {
        /// Where the other end is.
        peer: String,
        /// Its key.
        found: PublicKey,
    },
    /// The receiver does not know this sender.
    #[error("{peer} does not take what comes from the key {own}")]
    NotLetIn {
        /// Where the other end is.
        peer: String,
        /// The key of this end.
        own: PublicKey,
    },
    /// The connection ended too early, or what came was changed on its way.
    #[error("the connection with {peer} broke {place}: {source}")]
    Broken {
        /// Where the other end is.
        peer: String,
        /// How far it was.
        place: String,
        /// What the system, or TLS, said.
        source: io::Error,
    },
    /// The other end does not understand, or says what nobody understands.
    #[error("{peer} speaks another language {place}: {what}")]
    Garbled {
        /// Where the other end is.
        peer: String,
        /// How far it was.
        place: String,
        /// What was wrong.
        what: &'static str,
    },
    /// The other end does not want it.
    #[error("{peer} refuses: {why}")]
    Refused {
        /// Where the other end is.
        peer: String,
        /// What it said.
        why: String,
    },
    /// A chunk that is not what it was.
    #[error("{chunk} is not what was sent")]
    Damaged {
        /// Which chunk of which file.
        chunk: String,
    },
    /// A file that must not be replaced.
    #[error("another file is there with the name {name}")]
    Taken {
        /// The name.
        name: String,
    },
    /// What arrives cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// Somebody asked to stop.
    #[error("cancelled")]
    Cancelled,
}

impl TransferError {
    /// True where the same again may go further.
    pub fn is_of_the_line(&self) -> bool {
        matches!(
            self,
            TransferError::Broken { .. } | TransferError::Unreachable { .. }
        )
    }
}
