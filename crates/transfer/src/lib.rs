//! Files on their way to another machine: between two who know each other's keys, in chunks that
//! are checked, and resumed after a cut.
//!
//! Sender and receiver have a key pair each ([`SecretKey`], Ed25519) and name the other's public
//! half. Nobody else is asked: the keys are those of the TLS 1.3 handshake itself, as they are
//! (raw public keys, RFC 7250), and certificates do not occur. Whoever has another key learns
//! nothing, neither names nor sizes.
//!
//! A file is chunks of [`CHUNK_BYTES`]. The receiver tells the BLAKE3 hashes of those that it has
//! of an earlier try, and gets the others with theirs. What has not arrived as a whole has no name
//! (`gyrase_files::OutputFile`).
//!
//! # Example
//!
//! ```
//! use gyrase_transfer::{Event, Receiver, Receiving, SecretKey, Sending, TransferError, send};
//! use gyrase_work::Progress;
//!
//! let [here, there] = [tempfile::tempdir()?, tempfile::tempdir()?];
//! let file = here.path().join("hits.gym");
//! std::fs::write(&file, "which subjects queries have")?;
//! let [sender, receiver] = [SecretKey::generate(), SecretKey::generate()];
//! let known = receiver.public();
//! let listening = Receiver::bind(Receiving {
//!     listen: "127.0.0.1:0".into(),
//!     folder: there.path().into(),
//!     key: receiver,
//!     senders: vec![sender.public()],
//!     replace: false,
//! })?;
//! let to = listening.address().to_string();
//! let sending = Sending { key: sender, receiver: known, to, retries: 0 };
//! let progress = Progress::default();
//! let goes_on = |event| Ok::<_, TransferError>(!matches!(event, Event::Arrived(_)));
//! std::thread::scope(|threads| {
//!     threads.spawn(|| listening.run(&progress, goes_on).unwrap());
//!     send(&sending, &[file], &Progress::default()).unwrap();
//! });
//! let arrived = std::fs::read_to_string(there.path().join("hits.gym"))?;
//! assert_eq!(arrived, "which subjects queries have");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrival;
mod cause;
mod claims;
mod error;
mod key;
mod line;
mod link;
mod patient;
mod receive;
mod send;
mod tls;
mod wire;

pub use error::TransferError;
pub use key::{KeyError, PublicKey, SecretKey};
pub use link::{Link, probe};
pub use receive::{Arrived, Event, Receiver, Receiving};
pub use send::{Sending, Sent, send};
pub use wire::CHUNK_BYTES;
