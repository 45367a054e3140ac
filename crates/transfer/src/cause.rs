//! Why connections break.

use std::io;

use gyrase_work::Cancelled;
use rustls::{AlertDescription, Error};

use crate::error::TransferError;
use crate::key::PublicKey;

/// An error of a connection; where the other end said that it does not know us, that.
pub(crate) fn broken(
    peer: String,
    place: String,
    source: io::Error,
    own: PublicKey,
) -> TransferError {
    use AlertDescription::{AccessDenied, CertificateUnknown};
    if source
        .get_ref()
        .is_some_and(|inner| inner.is::<Cancelled>())
    {
        return TransferError::Cancelled;
    }
    match of_tls(&source) {
        Some(Error::AlertReceived(AccessDenied | CertificateUnknown)) => {
            TransferError::NotLetIn { peer, own }
        }
        _ => TransferError::Broken {
            peer,
            place,
            source: in_our_words(source),
        },
    }
}

/// The same error, where TLS has words for those who know it.
fn in_our_words(source: io::Error) -> io::Error {
    use AlertDescription::{BadRecordMac, NoApplicationProtocol};
    let what = match of_tls(&source) {
        _ if source.kind() == io::ErrorKind::UnexpectedEof => "the other end is gone",
        Some(Error::DecryptError | Error::AlertReceived(BadRecordMac)) => {
            "something was changed on the way"
        }
        Some(Error::NoApplicationProtocol | Error::AlertReceived(NoApplicationProtocol)) => {
            "the other end is another version"
        }
        Some(Error::InvalidMessage(_)) => "the other end does not speak TLS",
        _ => return source,
    };
    io::Error::new(source.kind(), what)
}

/// What TLS said, if it did.
pub(crate) fn of_tls(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}
