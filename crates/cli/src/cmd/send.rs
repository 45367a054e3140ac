//! `gyrase send`.

use std::path::PathBuf;

use clap::Args;
use gyrase_picture::words::{self, bytes, things};
use gyrase_transfer::{PublicKey, Sending, TransferError, send};
use serde_json::json;

use super::key::OwnKey;
use crate::failure::{Failure, Result};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase key                                            here, for them
  gyrase send hits.gym proteins.faa far.example.org --key 64DIGITS

64DIGITS is what `gyrase key` prints at the other end, where `gyrase receive`
waits. What arrived before a cut is not sent again, also by the same command
later. The last argument is an address, with its port unless that is 9741.";

/// The port of those who name none.
pub const PORT: u16 = 9741;

/// Send files to a machine where `gyrase receive` waits: encrypted, checked, resumed after a cut.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Send {
    /// Files to send
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Where `gyrase receive` waits
    #[arg(value_name = "HOST[:PORT]", required = true)]
    to: String,

    /// Their key: what `gyrase key` prints there
    #[arg(long, value_name = "64DIGITS")]
    key: PublicKey,

    #[command(flatten)]
    own: OwnKey,

    /// How often to go on by itself after a cut, a little later each time
    #[arg(long, value_name = "N", default_value_t = 5)]
    retries: u32,
}

/// Who sends to whom, and goes on so often after a cut.
pub fn sending(to: &str, receiver: PublicKey, own: &OwnKey, retries: u32) -> Result<Sending> {
    Ok(Sending {
        key: own.open()?,
        receiver,
        to: with_port(to),
        retries,
    })
}

/// An address with a port, of which IPv6 has many colons.
fn with_port(address: &str) -> String {
    let has_port = address
        .rsplit_once(':')
        .is_some_and(|(host, _)| !host.contains(':') || host.ends_with(']'));
    match address.contains(':') && !address.starts_with('[') {
        _ if has_port => address.into(),
        true => format!("[{address}]:{PORT}"),
        false => format!("{address}:{PORT}"),
    }
}

impl Send {
    /// Sends them.
    pub fn run(&self, session: &Session) -> Result<()> {
        session.keep_apart(&self.files, [])?;
        let sending = sending(&self.to, self.key, &self.own, self.retries)?;
        let sent = session
            .shown(|progress| send(&sending, &self.files, progress))
            .map_err(advised)?;
        session.note("bytes", json!({"files": sent.bytes, "sent": sent.sent}));
        session.note("cuts", sent.cuts);
        let there = match sent.bytes.saturating_sub(sent.sent) {
            0 => String::new(),
            there => format!(", {} of it there before", bytes(there)),
        };
        tracing::info!(
            "{} with {} to {}{there}, {}",
            things(self.files.len() as u64, "file"),
            bytes(sent.bytes),
            sending.to,
            words::time(session.elapsed())
        );
        Ok(())
    }
}

/// The failure of a transfer of files, and what goes on with it.
fn advised(error: TransferError) -> Failure {
    let goes_on = error.is_of_the_line();
    let mut failure = Failure::from(error);
    if goes_on {
        failure.message += "; what arrived is kept there, and the same command goes on";
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::with_port;

    #[test]
    fn an_address_without_a_port_gets_ours() {
        for (given, expected) in [
            ("far.example.org", "far.example.org:9741"),
            ("far.example.org:1", "far.example.org:1"),
            ("10.0.0.7", "10.0.0.7:9741"),
            ("::1", "[::1]:9741"),
            ("[::1]", "[::1]:9741"),
            ("[::1]:80", "[::1]:80"),
        ] {
            assert_eq!(with_port(given), expected);
        }
    }
}
